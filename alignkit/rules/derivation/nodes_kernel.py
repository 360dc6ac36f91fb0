"""Find the nodes of two trees that have the same links, and match them one to one.

A node has the links of the words below it. It is *consistent* if these are all links of the words
that they reach on the other side. Take two trees with the links 0-0 1-1 1-2::

    (S (NP he) (VP (VBD left)))        (S (NP he) (VP (VBD went) (RP off)))

The source nodes VP and VBD have the same links, 1-1 and 1-2; nodes of one tree with the same links
are a *chain*, each below the one before it. The target node VP has these links too, so both chains
make a *class*; VBD and RP of the target are not consistent, as ``left`` is linked to both. Of a
class, as many nodes are matched as the shorter chain has: here VP with VP, for their labels.

If the other side is a string instead of a tree, consistent nodes are called the *frontier* of the
tree; each has a span of the string.

Trees and links of all pairs lie one after the other. Nodes and words are counted within their pair,
nodes in preorder. *Near* words are those of the tree in question, *far* ones those of the other
side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import I4, I8
from alignkit._support.jit import jit

PARENT = 0
START = 1
END = 2
AFTER = 3
"""The rows of the array of nodes: the node above (-1: none), the half-open span of words, and the
next node in preorder that is not below."""

_NOWHERE = 2**31 - 1  # above all positions


class TreeNodes(NamedTuple):
    """The nodes of the trees of one side of all pairs.

    nodes: (4, n) int32: see `PARENT` and the other rows.
    offsets: (P + 1,) int64: where the nodes of each pair begin.
    labels: (n,) int32: the numbers of their labels.
    """

    nodes: I4
    offsets: I8
    labels: I4


# Consistent nodes


@jit
def links_before(positions: I4, words: int) -> I4:
    """Return how many links lie before each of the words, and before their end."""
    counts = np.zeros(words + 1, np.int32)
    for k in range(len(positions)):
        counts[positions[k] + 1] += 1
    for k in range(words):
        counts[k + 1] += counts[k]
    return counts


@jit
def reach(nodes: I4, near: I4, far: I4) -> I4:
    """Return the first and the last far word that each node is linked to, (n, 2).

    nodes: (4, n): the nodes of one tree. near, far: Both ends of each link.
    """
    count = nodes.shape[1]
    words = nodes[END, 0] if count else 0
    # the lowest node above each word
    lowest = np.empty(words, np.int32)
    word = 0
    node = -1
    for u in range(count + 1):
        # the words between the beginnings of two nodes are below the first one, or one above it
        until = nodes[START, u] if u < count else words
        while word < until:
            while nodes[END, node] <= word:
                node = nodes[PARENT, node]
            lowest[word] = node
            word += 1
        node = u
    spans = np.empty((count, 2), np.int32)
    for u in range(count):
        spans[u, 0] = _NOWHERE
        spans[u, 1] = -1
    for k in range(len(near)):
        u = lowest[near[k]]
        spans[u, 0] = min(spans[u, 0], far[k])
        spans[u, 1] = max(spans[u, 1], far[k])
    # from below: a node reaches what its children reach
    for u in range(count - 1, 0, -1):
        p = nodes[PARENT, u]
        spans[p, 0] = min(spans[p, 0], spans[u, 0])
        spans[p, 1] = max(spans[p, 1], spans[u, 1])
    return spans


@jit
def find_consistent(nodes: I4, near: I4, far: I4, far_words: int) -> tuple[I4, I4]:
    """Find the consistent nodes of one tree.

    Returns: For each node, the first link that it has and the one after its last link, (n, 2), in
        the order of far words; two equal numbers if it is not consistent. And what it reaches, see
        `reach`.
    """
    count = nodes.shape[1]
    words = nodes[END, 0] if count else 0
    near_before = links_before(near, words)
    far_before = links_before(far, far_words)
    spans = reach(nodes, near, far)
    ranges = np.zeros((count, 2), np.int32)
    for u in range(count):
        has = near_before[nodes[END, u]] - near_before[nodes[START, u]]
        if has == 0:
            continue
        # all links of a node are among those of the far words that it reaches: if both are equally
        # many, they are the same
        first = far_before[spans[u, 0]]
        after = far_before[spans[u, 1] + 1]
        if after - first == has:
            ranges[u, 0] = first
            ranges[u, 1] = after
    return ranges, spans


# Classes and chains


@jit
def find_classes(source: TreeNodes, target: TreeNodes, links: I4, offsets: I8) -> tuple[I4, I4, I8]:
    """Find the classes: nodes of both sides that have the same links.

    links: (2, L) int32: source and target positions, sorted within a pair.
    offsets: (P + 1,) int64: where the links of each pair begin.
    Returns: The class of each source and of each target node, -1 for none, counted within the pair
        in the order of the source nodes; and where the classes of each pair begin.
    """
    pairs = len(offsets) - 1
    source_class = np.full(source.nodes.shape[1], -1, np.int32)
    target_class = np.full(target.nodes.shape[1], -1, np.int32)
    begins = np.zeros(pairs + 1, np.int64)
    for k in range(pairs):
        a = source.offsets[k]
        b = source.offsets[k + 1]
        c = target.offsets[k]
        d = target.offsets[k + 1]
        source_ends = links[0, offsets[k] : offsets[k + 1]]
        target_ends = links[1, offsets[k] : offsets[k + 1]]
        count = 0
        if b > a and d > c and len(source_ends) > 0:
            # links are numbered in the order of source words, so each node has a range of numbers:
            # a source node has those of its words, a target node if it is consistent
            source_ranges = ranges_below(source.nodes[:, a:b], source_ends)
            target_ranges, _ = find_consistent(
                target.nodes[:, c:d], target_ends, source_ends, source.nodes[END, a]
            )
            count = number_classes(
                source.nodes[PARENT, a:b],
                source_ranges,
                source_class[a:b],
                target.nodes[PARENT, c:d],
                target_ranges,
                target_class[c:d],
            )
        begins[k + 1] = begins[k] + count
    return source_class, target_class, begins


@jit
def ranges_below(nodes: I4, near: I4) -> I4:
    """Return the first link of each node and the one after its last, (n, 2); `near` is sorted."""
    before = links_before(near, nodes[END, 0])
    ranges = np.empty((nodes.shape[1], 2), np.int32)
    for u in range(len(ranges)):
        ranges[u, 0] = before[nodes[START, u]]
        ranges[u, 1] = before[nodes[END, u]]
    return ranges


@jit
def goes_on(parents: I4, ranges: I4, u: int) -> bool:
    """Return whether a node has the same links as its parent, and so goes on its chain."""
    p = parents[u]
    if p < 0:
        return False
    return bool(ranges[p, 0] == ranges[u, 0] and ranges[p, 1] == ranges[u, 1])


@jit
def number_classes(
    source_parents: I4,
    source_ranges: I4,
    source_class: I4,
    target_parents: I4,
    target_ranges: I4,
    target_class: I4,
) -> int:
    """Write the class of each node of a pair, and return how many there are.

    Nodes with the same range of links are of one class, if there are such nodes on both sides.
    """
    # the tops of target chains by their first link; those that share it are linked in a list
    tops = np.full(source_ranges[0, 1] + 1, -1, np.int32)
    next_tops = np.full(len(target_parents), -1, np.int32)
    for v in range(len(target_parents)):
        first = target_ranges[v, 0]
        if first < target_ranges[v, 1] and not goes_on(target_parents, target_ranges, v):
            next_tops[v] = tops[first]
            tops[first] = v
    count = 0
    for u in range(len(source_parents)):
        first = source_ranges[u, 0]
        after = source_ranges[u, 1]
        if first == after:
            continue
        if goes_on(source_parents, source_ranges, u):
            source_class[u] = source_class[source_parents[u]]
            continue
        v = tops[first]
        while v >= 0 and target_ranges[v, 1] != after:
            v = next_tops[v]
        if v >= 0:
            source_class[u] = count
            target_class[v] = count
            count += 1
    for v in range(1, len(target_parents)):
        if goes_on(target_parents, target_ranges, v):
            target_class[v] = target_class[target_parents[v]]
    return count


@jit
def find_chains(classes: I4, offsets: I8, begins: I8) -> tuple[I4, I8]:
    """Sort the nodes of one side by their class.

    classes: (n,) int32: the class of each node, -1 for none, counted within its pair.
    offsets: (P + 1,) int64: where the nodes of each pair begin.
    begins: (P + 1,) int64: where the classes of each pair begin.
    Returns: The nodes of each class, class after class, top first, counted within their pairs; and
        where those of each class begin, (C + 1,).
    """
    pairs = len(offsets) - 1
    chain_begins = np.zeros(begins[pairs] + 1, np.int64)
    for k in range(pairs):
        for u in range(offsets[k], offsets[k + 1]):
            if classes[u] >= 0:
                chain_begins[begins[k] + classes[u] + 1] += 1
    for c in range(begins[pairs]):
        chain_begins[c + 1] += chain_begins[c]
    # nodes come in preorder, so the top of a chain is first
    chains = np.empty(chain_begins[begins[pairs]], np.int32)
    places = chain_begins.copy()  # where the next node of each class goes
    for k in range(pairs):
        for u in range(offsets[k], offsets[k + 1]):
            if classes[u] >= 0:
                c = begins[k] + classes[u]
                chains[places[c]] = u - offsets[k]
                places[c] += 1
    return chains, chain_begins


# Matching


@jit
def match_nodes(
    source: TreeNodes, target: TreeNodes, links: I4, offsets: I8
) -> tuple[I4, I4, I4, I8]:
    """Match the nodes of both sides that have the same links one to one.

    links, offsets: As `find_classes` has them.
    Returns: The matched nodes, (M, 2), in preorder of the source; parents and afters of each, as
        `nest` returns them; and where those of each pair begin.
    """
    pairs = len(offsets) - 1
    source_class, target_class, classes = find_classes(source, target, links, offsets)
    source_chains, source_begins = find_chains(source_class, source.offsets, classes)
    target_chains, target_begins = find_chains(target_class, target.offsets, classes)
    partners = np.full(source.nodes.shape[1], -1, np.int32)  # the target node of each source node
    count = 0
    for k in range(pairs):
        a = source.offsets[k]
        b = target.offsets[k]
        for c in range(classes[k], classes[k + 1]):
            count += match_chains(
                source_chains[source_begins[c] : source_begins[c + 1]],
                target_chains[target_begins[c] : target_begins[c + 1]],
                source.labels[a:],
                target.labels[b:],
                partners[a:],
            )
    matched = np.empty((count, 2), np.int32)
    starts = np.empty(count, np.int32)
    ends = np.empty(count, np.int32)
    begins = np.zeros(pairs + 1, np.int64)
    made = 0
    for k in range(pairs):
        a = source.offsets[k]
        for u in range(source.offsets[k + 1] - a):
            if partners[a + u] >= 0:
                matched[made, 0] = u
                matched[made, 1] = partners[a + u]
                # a node and all nodes below it are a span of numbers; such spans nest
                starts[made] = u
                ends[made] = source.nodes[AFTER, a + u]
                made += 1
        begins[k + 1] = made
    parents, afters = nest(starts, ends, begins)
    return matched, parents, afters, begins


@jit
def match_chains(chain: I4, other: I4, labels: I4, other_labels: I4, partners: I4) -> int:
    """Match two chains, top first; note the partner of each source node, and return how many."""
    # two roots are matched whatever their labels
    roots = 1 if chain[0] == 0 and other[0] == 0 else 0
    if roots:
        partners[0] = 0
    # the other nodes, from below
    nodes = chain[roots:][::-1]
    other_nodes = other[roots:][::-1]
    names = labels[nodes]
    other_names = other_labels[other_nodes]
    # every node of the shorter chain gets a partner
    if len(names) <= len(other_names):
        places = best_places(names, other_names)
        for i in range(len(places)):
            partners[nodes[i]] = other_nodes[places[i]]
    else:
        places = best_places(other_names, names)
        for i in range(len(places)):
            partners[nodes[places[i]]] = other_nodes[i]
    return roots + len(places)


@jit
def best_places(names: I4, others: I4) -> I4:
    """Return the place in the longer chain, `others`, that each node of the shorter one is put at.

    Places rise. The most labels are equal; if that leaves a choice, places are as low as possible,
    the first one above all. For example, the labels ``NN NP`` get the places 0 2 of ``NN NX NP``,
    and ``NN VP`` the places 0 1.
    """
    m = len(names)
    free = len(others) - len(names)
    places = np.arange(m).astype(np.int32)
    if free == 0 or m == 0:
        return places
    # a node i is put at place i + s; s never falls from node to node, and is at most `free`.
    # best[i, s]: the most equal labels of the nodes from i on, if they are put at s or more
    best = np.zeros((m + 1, free + 1), np.int32)
    for i in range(m - 1, -1, -1):
        for s in range(free, -1, -1):
            best[i, s] = best[i + 1, s] + (names[i] == others[i + s])
            if s < free:
                best[i, s] = max(best[i, s], best[i, s + 1])
    # the lowest places that still reach the most equal labels
    s = 0
    for i in range(m):
        while best[i + 1, s] + (names[i] == others[i + s]) < best[i, s]:
            s += 1
        places[i] = i + s
    return places


# Strings


@jit
def find_frontiers(
    tree: TreeNodes, near: I4, far: I4, offsets: I8, far_words: I4
) -> tuple[I4, I4, I8]:
    """Find the frontier nodes of trees whose other side is a string.

    near, far: (L,) int32: the positions of links on the side of the trees, and on the other.
    offsets: (P + 1,) int64: where the links of each pair begin.
    far_words: (P,) int32: how many words the strings have.
    Returns: The frontier nodes, in preorder, pair after pair; their half-open spans in the string,
        of a root all of it, (F, 2); where those of each pair begin.
    """
    pairs = len(offsets) - 1
    nodes = np.empty(tree.nodes.shape[1], np.int32)
    frontier = np.empty((tree.nodes.shape[1], 2), np.int32)
    begins = np.zeros(pairs + 1, np.int64)
    count = 0
    for k in range(pairs):
        a = tree.offsets[k]
        b = tree.offsets[k + 1]
        near_ends = near[offsets[k] : offsets[k + 1]]
        far_ends = far[offsets[k] : offsets[k + 1]]
        if len(near_ends) and b > a:
            ranges, spans = find_consistent(tree.nodes[:, a:b], near_ends, far_ends, far_words[k])
            for u in range(b - a):
                if ranges[u, 0] == ranges[u, 1]:
                    continue
                nodes[count] = u
                if u:
                    frontier[count, 0] = spans[u, 0]
                    frontier[count, 1] = spans[u, 1] + 1
                else:
                    frontier[count, 0] = 0
                    frontier[count, 1] = far_words[k]
                count += 1
        begins[k + 1] = count
    return nodes[:count], frontier[:count], begins


@jit
def nest(starts: I4, ends: I4, begins: I8) -> tuple[I4, I4]:
    """Return the parent of each of some spans that nest, -1 for none, and the first after it.

    starts, ends: (R,) int32: half-open spans, none of them empty, by their starts, outer ones
        first.
    begins: (P + 1,) int64: where those of each pair begin; parents and afters are counted from
        there.
    """
    parents = np.empty(len(starts), np.int32)
    afters = np.empty(len(starts), np.int32)
    for k in range(len(begins) - 1):
        first = begins[k]
        after = begins[k + 1]
        top = -1
        for i in range(after - first):
            # `top` is the innermost span that is still open; its parents are the stack
            while top >= 0 and ends[first + top] <= starts[first + i]:
                afters[first + top] = i
                top = parents[first + top]
            parents[first + i] = top
            top = i
        while top >= 0:
            afters[first + top] = after - first
            top = parents[first + top]
    return parents, afters
