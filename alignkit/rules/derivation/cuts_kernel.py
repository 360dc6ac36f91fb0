"""Say which pairs of nodes the rules of derivations have: roots, and where they are cut."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.jit import jit

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]


@jit
def cut_minimal(matched: Ints, parents: Ints, begins: Longs) -> tuple[Ints, Longs, Ints]:
    """Cut below each matched pair of nodes at the next ones.

    Parameters
    ----------
    matched, parents, begins
        As `compose` has them.

    Returns
    -------
    tuple
        Variables (V, 2); where the variables of each rule begin, (R + 1,); the pair of each rule.
    """
    count = len(matched)
    pairs, below = np.empty(count, np.int32), np.zeros(count + 2, np.int64)
    for k in range(len(begins) - 1):
        for i in range(begins[k], begins[k + 1]):
            pairs[i] = k
            if parents[i] >= 0:
                below[begins[k] + parents[i] + 2] += 1
    for i in range(count):
        below[i + 2] += below[i + 1]
    variables = np.empty((below[count + 1], 2), np.int32)
    for i in range(count):
        if parents[i] >= 0:
            at = begins[pairs[i]] + parents[i] + 1
            variables[below[at], 0], variables[below[at], 1] = matched[i, 0], matched[i, 1]
            below[at] += 1
    return variables, below[: count + 1], pairs


@jit
def count_composed(parents: Ints, begins: Longs, size: int) -> Floats:
    """Return how many connected sets of so many nodes the derivation of each pair has."""
    found = np.zeros(len(begins) - 1, np.float64)
    for k in range(len(begins) - 1):
        first, after = begins[k], begins[k + 1]
        # sets[i, s]: connected sets of s nodes whose highest is i; of those looked at so far
        sets = np.zeros((after - first, size + 1), np.float64)
        sets[:, 1] = 1
        for i in range(after - first - 1, -1, -1):
            found[k] += sets[i, size]
            p = parents[first + i]
            if p >= 0:
                for s in range(size, 1, -1):
                    for below in range(1, s):
                        sets[p, s] += sets[p, s - below] * sets[i, below]
    return found


@jit
def compose(
    matched: Ints, parents: Ints, afters: Ints, begins: Longs, size: int, room: int
) -> tuple[Ints, Ints, Longs, Ints, Ints]:
    """Put connected sets of nodes of derivations together: rules of one size.

    Parameters
    ----------
    matched
        (R, 2) int32: the matched nodes, in preorder of the derivations.
    parents, afters
        (R,) int32: of each in its derivation, counted within its pair.
    begins
        (P + 1,) int64: where the derivation of each pair begins.
    size
        How many nodes a set has.
    room
        How many sets there are; see `count_composed`.

    Returns
    -------
    tuple
        Roots (room, 2); variables (V, 2); where the variables of each rule begin, (room + 1,); the
        pair of each rule; the sets, (room, size), counted within the pair.
    """
    roots, pairs = np.empty((room, 2), np.int32), np.empty(room, np.int32)
    offsets = np.zeros(room + 1, np.int64)
    sets = np.empty((room, size), np.int32)
    variables = np.empty((max(16, len(matched)), 2), np.int32)
    chosen = np.empty(size, np.int64)
    made, filled = 0, 0
    for k in range(len(begins) - 1):
        first = begins[k]
        count = begins[k + 1] - first
        for root in range(count):
            depth, next_one = 1, root + 1
            chosen[0] = root
            while depth:
                if depth == size:
                    if filled + count > len(variables):
                        wider = np.empty((2 * (filled + count), 2), np.int32)
                        for i in range(filled):  # compiles in less time than slices
                            wider[i, 0], wider[i, 1] = variables[i, 0], variables[i, 1]
                        variables = wider
                    roots[made, 0], roots[made, 1] = (
                        matched[first + root, 0],
                        matched[first + root, 1],
                    )
                    pairs[made] = k
                    for i in range(size):
                        sets[made, i] = chosen[i]
                    taken, i = 1, root + 1
                    while i < afters[first + root]:
                        if taken < size and chosen[taken] == i:
                            taken += 1
                            i += 1
                        else:
                            variables[filled, 0], variables[filled, 1] = (
                                matched[first + i, 0],
                                matched[first + i, 1],
                            )
                            filled += 1
                            i = afters[first + i]
                    made += 1
                    offsets[made] = filled
                elif afters[first + root] - next_one >= size - depth:
                    # all before it that was not chosen was skipped whole: its parent is chosen
                    chosen[depth] = next_one
                    depth += 1
                    next_one += 1
                    continue
                depth -= 1
                next_one = afters[first + chosen[depth]]
    return roots, variables[:filled], offsets, pairs, sets


@jit
def cut_everywhere(
    source_chains: Ints,
    source_begins: Longs,
    target_chains: Ints,
    target_begins: Longs,
    parents: Ints,
    afters: Ints,
    begins: Longs,
    room: int,
    most: int,
) -> tuple[Ints, Ints, Longs, Ints, Floats]:
    """Make the rule of every consistent pair of nodes, cut at the next consistent pairs.

    Parameters
    ----------
    source_chains, target_chains
        The nodes of each class, class after class, top first.
    source_begins, target_begins
        (C + 1,) int64: where each class begins.
    parents, afters
        (C,) int32: of each class among those of its pair, in preorder of the source.
    begins
        (P + 1,) int64: where the classes of each pair begin.
    room, most
        How many rules there are, and no fewer than they have variables.

    Returns
    -------
    tuple
        As `compose` does, with the count of each rule, (R,), instead of sets.
    """
    roots, pairs = np.empty((room, 2), np.int32), np.empty(room, np.int32)
    counts = np.empty(room, np.float64)
    offsets = np.zeros(room + 1, np.int64)
    variables = np.empty((most, 2), np.int32)
    made, filled = 0, 0
    for k in range(len(begins) - 1):
        for c in range(begins[k], begins[k + 1]):
            p = source_begins[c + 1] - source_begins[c]
            q = target_begins[c + 1] - target_begins[c]
            for i in range(source_begins[c], source_begins[c + 1]):
                for j in range(target_begins[c], target_begins[c + 1]):
                    roots[made, 0], roots[made, 1] = source_chains[i], target_chains[j]
                    pairs[made] = k
                    counts[made] = min(p, q) / (p * q)
                    if i + 1 < source_begins[c + 1] and j + 1 < target_begins[c + 1]:
                        variables[filled, 0] = source_chains[i + 1]
                        variables[filled, 1] = target_chains[j + 1]
                        filled += 1
                    else:
                        child = c + 1
                        while child < begins[k] + afters[c]:
                            variables[filled, 0] = source_chains[source_begins[child]]
                            variables[filled, 1] = target_chains[target_begins[child]]
                            filled += 1
                            child = begins[k] + afters[child]
                    made += 1
                    offsets[made] = filled
    return roots, variables[:filled], offsets, pairs, counts
