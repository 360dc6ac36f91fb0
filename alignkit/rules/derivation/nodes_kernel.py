"""Find the nodes of two trees that have the same links, and match them one to one.

Trees and links of all pairs lie one after the other; nodes, words and positions in a derivation are
counted within their pair.
"""

from __future__ import annotations

import numpy as np

from alignkit._support.array_types import I4, I8
from alignkit._support.jit import jit

FAR = 2**31 - 1


@jit
def before(positions: I4, words: int) -> I4:
    """Return how many links lie before each of the words, and before their end."""
    counts = np.zeros(words + 1, np.int32)
    for k in range(len(positions)):
        counts[positions[k] + 1] += 1
    for k in range(words):
        counts[k + 1] += counts[k]
    return counts


@jit
def linked(parents: I4, starts: I4, ends: I4, near: I4, far: I4) -> I4:
    """Return the least and greatest positions that words below each node are linked to, (n, 2)."""
    nodes = len(parents)
    words = ends[0] if len(ends) else 0
    range_of = np.empty((words, 2), np.int32)
    # first the positions of each word by itself
    for word in range(words):
        range_of[word, 0] = FAR
        range_of[word, 1] = -1
    for k in range(len(near)):
        range_of[near[k], 0] = min(range_of[near[k], 0], far[k])
        range_of[near[k], 1] = max(range_of[near[k], 1], far[k])
    ranges = np.empty((nodes, 2), np.int32)
    for u in range(nodes):
        ranges[u, 0] = FAR
        ranges[u, 1] = -1
    done = starts.copy()  # words of each node that were looked at
    # words of a node that lie before and between its children
    for u in range(1, nodes):
        p = parents[u]
        for word in range(done[p], starts[u]):
            ranges[p, 0] = min(ranges[p, 0], range_of[word, 0])
            ranges[p, 1] = max(ranges[p, 1], range_of[word, 1])
        done[p] = max(done[p], ends[u])
    # from the last node up: the words behind the last child, and then all to the parent
    for u in range(nodes - 1, -1, -1):
        for word in range(done[u], ends[u]):
            ranges[u, 0] = min(ranges[u, 0], range_of[word, 0])
            ranges[u, 1] = max(ranges[u, 1], range_of[word, 1])
        if u:
            p = parents[u]
            ranges[p, 0] = min(ranges[p, 0], ranges[u, 0])
            ranges[p, 1] = max(ranges[p, 1], ranges[u, 1])
    return ranges


@jit
def closed(parents: I4, starts: I4, ends: I4, near: I4, far: I4, far_words: int) -> tuple[I4, I4]:
    """Return the links of each node as a range of those that are sorted by their far ends, (n, 2).

    It is empty if a node has no links, or if they are not all links of what they span. Also return
    the far positions that the links of each node span, (n, 2).
    """
    nodes = len(parents)
    words = ends[0] if len(ends) else 0
    near_before = before(near, words)
    far_before = before(far, far_words)
    spans = linked(parents, starts, ends, near, far)
    ranges = np.zeros((nodes, 2), np.int32)
    for u in range(nodes):
        count = near_before[ends[u]] - near_before[starts[u]]
        # far links within the range of the near ones: as many exactly where they are the same links
        if count:
            first = far_before[spans[u, 0]]
            last = far_before[spans[u, 1] + 1]
            if last - first == count:
                ranges[u, 0] = first
                ranges[u, 1] = last
    return ranges, spans


@jit
def find_classes(
    sources: I4,
    source_offsets: I8,
    targets: I4,
    target_offsets: I8,
    links: I4,
    offsets: I8,
) -> tuple[I4, I4, I8]:
    """Find the classes: chains of nodes of both sides that have the same links.

    sources, targets: (4, n) int32: parents, starts, ends and afters of the nodes of all trees.
    source_offsets, target_offsets: (P + 1,) int64: where the nodes of each pair begin.
    links: (2, L) int32: source and target positions, sorted within a pair.
    offsets: (P + 1,) int64: where the links of each pair begin.
    Returns: The class of each source and of each target node, -1 for none, counted within the pair
        in the order of the source nodes; and where the classes of each pair begin.
    """
    pairs = len(offsets) - 1
    source_class = np.full(sources.shape[1], -1, np.int32)
    target_class = np.full(targets.shape[1], -1, np.int32)
    begins = np.zeros(pairs + 1, np.int64)
    for k in range(pairs):
        a = source_offsets[k]
        b = source_offsets[k + 1]
        c = target_offsets[k]
        d = target_offsets[k + 1]
        near = links[0, offsets[k] : offsets[k + 1]]
        far = links[1, offsets[k] : offsets[k + 1]]
        begins[k + 1] = begins[k]
        if a == b or c == d or len(near) == 0:
            continue
        # the links of a source node are a range of links sorted by source position, those of a
        # target node too once `closed` has shown that they are: so ranges can be compared
        starts = sources[1, a:b]
        ends = sources[2, a:b]
        link_before = before(near, ends[0])
        ranges, _ = closed(targets[0, c:d], targets[1, c:d], targets[2, c:d], far, near, ends[0])
        # target chains by their range of links: open addressing
        room = 4
        while room < 2 * (d - c):
            room *= 2
        heads = np.full(room, -1, np.int32)
        for v in range(d - c):
            p = targets[0, c + v]
            first = ranges[v, 0]
            last = ranges[v, 1]
            # not consistent, or not the top of its chain
            if first == last or (p >= 0 and ranges[p, 0] == first and ranges[p, 1] == last):
                continue
            at = place(first, last, room)
            while heads[at] >= 0:
                at = (at + 1) & (room - 1)
            heads[at] = v
        count = 0
        for u in range(b - a):
            p = sources[0, a + u]
            first = link_before[starts[u]]
            last = link_before[ends[u]]
            if first == last:
                continue
            # below the top of its chain: it has the class of its parent
            if p >= 0 and link_before[starts[p]] == first and link_before[ends[p]] == last:
                source_class[a + u] = source_class[a + p]
                continue
            at = place(first, last, room)
            # look for the target chain with the same range
            while heads[at] >= 0:
                v = heads[at]
                if ranges[v, 0] == first and ranges[v, 1] == last:
                    source_class[a + u] = target_class[c + v] = count
                    count += 1
                    break
                at = (at + 1) & (room - 1)
        # target nodes below the top take over the class of their parents
        for v in range(1, d - c):
            p = targets[0, c + v]
            first = ranges[v, 0]
            last = ranges[v, 1]
            if first < last and ranges[p, 0] == first and ranges[p, 1] == last:
                target_class[c + v] = target_class[c + p]
        begins[k + 1] += count
    return source_class, target_class, begins


@jit
def place(first: int, last: int, room: int) -> int:
    """Return where the search for a range begins, in a table of as many places as a power of 2."""
    mixed = first * 73856093 ^ last * 19349669
    return (mixed ^ mixed >> 15) & (room - 1)


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
    ends = np.zeros(begins[pairs] + 2, np.int64)  # of class c at c + 2, then at c + 1
    # a counting sort by class; nodes come in preorder, so that the top of a chain is first
    for k in range(pairs):
        for u in range(offsets[k], offsets[k + 1]):
            if classes[u] >= 0:
                ends[begins[k] + classes[u] + 2] += 1
    for c in range(begins[pairs]):
        ends[c + 2] += ends[c + 1]
    chains = np.empty(ends[begins[pairs] + 1], np.int32)
    for k in range(pairs):
        for u in range(offsets[k], offsets[k + 1]):
            if classes[u] >= 0:
                at = begins[k] + classes[u] + 1
                chains[ends[at]] = u - offsets[k]
                ends[at] += 1
    return chains, ends[: begins[pairs] + 1]


@jit
def match_nodes(
    sources: I4,
    source_offsets: I8,
    source_labels: I4,
    targets: I4,
    target_offsets: I8,
    target_labels: I4,
    links: I4,
    offsets: I8,
) -> tuple[I4, I4, I4, I8]:
    """Match the nodes of both sides that have the same links one to one.

    sources, source_offsets, targets, target_offsets, links, offsets: As `find_classes` has them.
    source_labels, target_labels: The labels of all nodes.
    Returns: The matched nodes, (M, 2), in preorder of the source; parents and afters of each, as
        `nest` returns them; and where those of each pair begin.
    """
    pairs = len(offsets) - 1
    source_class, target_class, classes = find_classes(
        sources, source_offsets, targets, target_offsets, links, offsets
    )
    chains, source_begins = find_chains(source_class, source_offsets, classes)
    others, target_begins = find_chains(target_class, target_offsets, classes)
    partners = np.full(sources.shape[1], -1, np.int32)
    count = 0
    for k in range(pairs):
        a = source_offsets[k]
        b = target_offsets[k]
        for c in range(classes[k], classes[k + 1]):
            count += match_chains(
                chains[source_begins[c] : source_begins[c + 1]],
                others[target_begins[c] : target_begins[c + 1]],
                source_labels[a:],
                target_labels[b:],
                partners[a:],
            )
    # in preorder of the source
    matched = np.empty((count, 2), np.int32)
    starts = np.empty(count, np.int32)
    ends = np.empty(count, np.int32)
    begins = np.zeros(pairs + 1, np.int64)
    made = 0
    for k in range(pairs):
        a = source_offsets[k]
        for u in range(source_offsets[k + 1] - a):
            if partners[a + u] >= 0:
                matched[made, 0] = u
                matched[made, 1] = partners[a + u]
                starts[made] = u
                ends[made] = sources[3, a + u]
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
    names = labels[chain[roots:][::-1]]
    other_names = other_labels[other[roots:][::-1]]
    # every node of the shorter chain gets a partner
    if len(names) <= len(other_names):
        taken = best_places(names, other_names)
        for i in range(len(taken)):
            partners[chain[len(chain) - 1 - i]] = other[len(other) - 1 - taken[i]]
    else:
        taken = best_places(other_names, names)
        for i in range(len(taken)):
            partners[chain[len(chain) - 1 - taken[i]]] = other[len(other) - 1 - i]
    return roots + len(taken)


@jit
def best_places(names: I4, others: I4) -> I4:
    """Return the places of the longer chain, from below, that the shorter one is matched to.

    Most equal labels; of those the lowest places, compared from below.
    """
    m = len(names)
    free = len(others) - len(names)
    places = np.arange(m).astype(np.int32)
    if free == 0 or m == 0:
        return places
    # best[i, s]: the most equal labels of places from i on, where i may go up by s or more
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


@jit
def find_frontiers(
    trees: I4,
    tree_offsets: I8,
    near: I4,
    far: I4,
    offsets: I8,
    far_words: I4,
) -> tuple[I4, I4, I8]:
    """Find the frontier nodes of trees whose other side is a string.

    trees: (4, n) int32: parents, starts, ends and afters of the nodes of all trees.
    tree_offsets: (P + 1,) int64: where the nodes of each pair begin.
    near, far: (L,) int32: the positions of links on the side of the trees, and on the other.
    offsets: (P + 1,) int64: where the links of each pair begin.
    far_words: (P,) int32: how many words the strings have.
    Returns: The frontier nodes, in preorder, pair after pair; their half-open spans in the string,
        of a root all of it, (F, 2); where those of each pair begin.
    """
    pairs = len(offsets) - 1
    nodes = np.empty(trees.shape[1], np.int32)
    frontier = np.empty((trees.shape[1], 2), np.int32)
    begins = np.zeros(pairs + 1, np.int64)
    count = 0
    for k in range(pairs):
        a = tree_offsets[k]
        b = tree_offsets[k + 1]
        mine = near[offsets[k] : offsets[k + 1]]
        others = far[offsets[k] : offsets[k + 1]]
        if len(mine) and b > a:
            ranges, spans = closed(
                trees[0, a:b], trees[1, a:b], trees[2, a:b], mine, others, far_words[k]
            )
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
