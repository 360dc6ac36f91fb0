"""Put minimal rules together: find all connected sets of nodes of derivations.

The nodes of a derivation are the matched pairs of nodes of two trees, and each has a minimal rule.
A rule of `size` minimal rules is a *connected set* of so many nodes: the highest is its root, and
every other node is right below another one of the set. What is right below a node of the set, but
not in the set, is a variable. For example, a root with the children A and B, of which A has the
child C, has the connected sets of two nodes root + A (variables C, B) and root + B (variable A);
A + C is another one, with the root A.

Nodes are in preorder, and the *after* of a node is the next one that is not below it.
"""

from __future__ import annotations

import numpy as np

from alignkit._support.array_types import F8, I4, I8
from alignkit._support.jit import jit
from alignkit.rules.derivation.cuts_kernel import widened


@jit
def count_composed(parents: I4, begins: I8, size: int) -> F8:
    """Return how many connected sets of so many nodes the derivation of each pair has."""
    counts = np.zeros(len(begins) - 1, np.float64)
    for k in range(len(begins) - 1):
        first = begins[k]
        after = begins[k + 1]
        # sets[i, s]: connected sets of s nodes with the root i, below those of its children that
        # were looked at so far; children come before their parents
        sets = np.zeros((after - first, size + 1), np.float64)
        sets[:, 1] = 1
        for i in range(after - first - 1, -1, -1):
            counts[k] += sets[i, size]
            p = parents[first + i]
            if p >= 0:
                # a set below p joins one of i: larger sizes first, so that i joins once
                for s in range(size, 1, -1):
                    for below in range(1, s):
                        sets[p, s] += sets[p, s - below] * sets[i, below]
    return counts


@jit
def compose(matched: I4, afters: I4, begins: I8, size: int, room: int) -> tuple[I4, I4, I8, I4]:
    """Return the rules of all connected sets of one size.

    matched: (R, 2) int32: the matched nodes, in preorder of the derivations.
    afters: (R,) int32: the first that is not below each, counted within its pair.
    begins: (P + 1,) int64: where the derivation of each pair begins.
    size: How many nodes a set has.
    room: How many sets there are; see `count_composed`.
    Returns: Roots (room, 2); variables (V, 2); where the variables of each rule begin, (room + 1,);
        the pair of each rule.
    """
    roots = np.empty((room, 2), np.int32)
    pairs = np.empty(room, np.int32)
    offsets = np.zeros(room + 1, np.int64)
    variables = np.empty((max(16, len(matched)), 2), np.int32)
    chosen = np.empty(size, np.int64)
    made = 0
    filled = 0
    for k in range(len(begins) - 1):
        first = begins[k]
        count = begins[k + 1] - first
        for root in range(count):
            # chosen[:depth] is the set so far, in preorder; `candidate` may be chosen next: it is
            # right below the set, as nodes that were not chosen are skipped with all below them
            chosen[0] = root
            depth = 1
            candidate = root + 1
            while depth:
                if depth == size:
                    if filled + count > len(variables):
                        variables = widened(variables, filled, filled + count)
                    filled = write_variables(matched, afters, first, chosen, variables, filled)
                    roots[made, 0] = matched[first + root, 0]
                    roots[made, 1] = matched[first + root, 1]
                    pairs[made] = k
                    made += 1
                    offsets[made] = filled
                elif afters[first + root] - candidate >= size - depth:
                    # enough nodes are left below the root to fill the set
                    chosen[depth] = candidate
                    depth += 1
                    candidate += 1
                    continue
                # back: the node chosen last is skipped with all below it
                depth -= 1
                candidate = afters[first + chosen[depth]]
    return roots, variables[:filled], offsets, pairs


@jit
def write_variables(
    matched: I4, afters: I4, first: int, chosen: I8, variables: I4, filled: int
) -> int:
    """Write the variables of a set behind the `filled` ones; return how many there are then."""
    taken = 1
    i = chosen[0] + 1
    while i < afters[first + chosen[0]]:
        if taken < len(chosen) and chosen[taken] == i:
            taken += 1
            i += 1
        else:
            variables[filled, 0] = matched[first + i, 0]
            variables[filled, 1] = matched[first + i, 1]
            filled += 1
            i = afters[first + i]
    return filled
