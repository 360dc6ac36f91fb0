"""Say which pairs of nodes the rules of derivations have: roots, and where they are cut."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit._support.jit import jit

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]


@jit
def cut_minimal(matched: Ints, parents: Ints, begins: Longs) -> tuple[Ints, Longs, Ints]:
    """Cut below each matched pair of nodes at the next ones.

    matched, parents, begins: As `compose` has them.
    Returns: Variables (V, 2); where the variables of each rule begin, (R + 1,); the pair of each
        rule.
    """
    count = len(matched)
    # a counting sort of the nodes by their parents: the children of a node are its variables
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
    counts = np.zeros(len(begins) - 1, np.float64)
    for k in range(len(begins) - 1):
        first, after = begins[k], begins[k + 1]
        # sets[i, s]: connected sets of s nodes whose highest is i; of those looked at so far
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
def compose(
    matched: Ints, parents: Ints, afters: Ints, begins: Longs, size: int, room: int
) -> tuple[Ints, Ints, Longs, Ints, Ints]:
    """Put connected sets of nodes of derivations together: rules of one size.

    matched: (R, 2) int32: the matched nodes, in preorder of the derivations.
    parents, afters: (R,) int32: of each in its derivation, counted within its pair.
    begins: (P + 1,) int64: where the derivation of each pair begins.
    size: How many nodes a set has.
    room: How many sets there are; see `count_composed`.
    Returns: Roots (room, 2); variables (V, 2); where the variables of each rule begin, (room + 1,);
        the pair of each rule; the sets, (room, size), counted within the pair.
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
            # depth first over connected sets that hold the root: chosen[:depth] in preorder,
            # and `next_one` is the next node that may be taken in
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
                    # a set is whole: what lies below it and was not chosen is a variable
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
                # back: the node chosen last is skipped with all below it
                depth -= 1
                next_one = afters[first + chosen[depth]]
    return roots, variables[:filled], offsets, pairs, sets


@jit
def cut_everywhere(
    source_chains: Ints, source_begins: Longs, target_chains: Ints, target_begins: Longs,
    parents: Ints, afters: Ints, begins: Longs, room: int, most: int,
) -> tuple[Ints, Ints, Longs, Ints, Floats]:  # fmt: skip
    """Make the rule of every consistent pair of nodes, cut at the next consistent pairs.

    source_chains, target_chains: The nodes of each class, class after class, top first.
    source_begins, target_begins: (C + 1,) int64: where each class begins.
    parents, afters: (C,) int32: of each class among those of its pair, in preorder of the source.
    begins: (P + 1,) int64: where the classes of each pair begin.
    room, most: How many rules there are, and no fewer than they have variables.
    Returns: As `compose` does, with the count of each rule, (R,), instead of sets.
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
                    # of the p q pairs of the class at most min(p, q) are in one derivation
                    counts[made] = min(p, q) / (p * q)
                    # within the class: the next node of both chains is the one variable
                    if i + 1 < source_begins[c + 1] and j + 1 < target_begins[c + 1]:
                        variables[filled, 0] = source_chains[i + 1]
                        variables[filled, 1] = target_chains[j + 1]
                        filled += 1
                    else:
                        # at the end of a chain: the classes below are the variables
                        child = c + 1
                        while child < begins[k] + afters[c]:
                            variables[filled, 0] = source_chains[source_begins[child]]
                            variables[filled, 1] = target_chains[target_begins[child]]
                            filled += 1
                            child = begins[k] + afters[child]
                    made += 1
                    offsets[made] = filled
    return roots, variables[:filled], offsets, pairs, counts


Bools = NDArray[np.bool_]

# the lowest three bits of a symbol; the others number a label or a word
CLOSE, OPEN, WORD, VARIABLE, DELETED, INSERTED = 0, 1, 2, 3, 4, 5
BITS = 3


@jit
def write_fragments(
    roots: Ints, variables: Ints, variable_offsets: Longs, pairs: Ints, sources: Ints,
    source_offsets: Longs, source_labels: Ints, source_words: Ints, source_word_offsets: Longs,
    targets: Ints, target_offsets: Longs, target_labels: Ints, target_words: Ints,
    target_word_offsets: Longs, links: Ints, link_offsets: Longs, strings: tuple[bool, bool],
    deletions: bool,
) -> tuple[Ints, Longs, Ints, Longs, Ints]:  # fmt: skip
    """Write both fragments of some rules.

    A symbol is 8 times the number of a label or word, plus what it is: `OPEN` and `CLOSE` a node,
    `WORD`, or a variable, after which its number stands.

    roots: (R, 2) int32: source and target node of each rule.
    variables: (V, 2) int32: the nodes of all variables, rule after rule, left to right in the
        source.
    variable_offsets: (R + 1,) int64: where the variables of each rule begin.
    pairs: (R,) int32: the sentence pair of each rule, in rising order.
    sources, targets: (4, n) int32: parents, starts, ends and afters of the nodes of all pairs.
    source_labels, target_labels, source_words, target_words: The numbers of labels and words.
    links: (2, L) int32: of all pairs, sorted by source and target position within each.
    strings: Whether the source, and the target, is a string: no nodes are written, and no labels.
    deletions: Whether highest nodes without links are variables of their own kind.
    Returns: Symbols (S,); where each side begins, (2 R + 1,); the links between words, as positions
        of words and variables within each side, one after the other; where those of each rule
        begin, (R + 1,); for each rule how many variables, nodes of both sides, depths of both, (R,
        5).
    """
    count = len(roots)
    symbols, ends = np.empty(1024, np.int32), np.zeros(2 * count + 1, np.int64)
    joined, joined_ends = np.empty(1024, np.int32), np.zeros(count + 1, np.int64)
    figures = np.zeros((count, 5), np.int32)
    # the number of the variable that a node is in this rule; -1: none
    source_mark = np.full(sources.shape[1], -1, np.int32)
    target_mark = np.full(targets.shape[1], -1, np.int32)
    source_before = words_before(links[0], link_offsets, source_word_offsets)
    target_before = words_before(links[1], link_offsets, target_word_offsets)
    # the place of a word among words and variables of its side; -1: not written
    source_place = np.full(len(source_words), -1, np.int32)
    target_place = np.full(len(target_words), -1, np.int32)
    stack = np.empty((1024, 2), np.int32)
    at = 0
    joins = 0
    for r in range(count):
        k = pairs[r]
        u, v = roots[r, 0], roots[r, 1]
        a, b = source_offsets[k], target_offsets[k]
        low, high = variable_offsets[r], variable_offsets[r + 1]
        for i in range(low, high):
            source_mark[a + variables[i, 0]] = i - low
            target_mark[b + variables[i, 1]] = i - low
        # no fragment is longer: two symbols for each node below, cut or not, and one a word
        size = 2 * (sources[3, a + u] - u + targets[3, b + v] - v)
        size += sources[2, a + u] - sources[1, a + u] + targets[2, b + v] - targets[1, b + v]
        # arrays are widened before a side is written, never within
        if at + size > len(symbols):
            symbols = widened(symbols, at, at + size)
        deep = max(sources[3, a + u] - u, targets[3, b + v] - v) + 1
        if deep > len(stack):
            stack = np.empty((2 * deep, 2), np.int32)
        first, base = source_word_offsets[k], target_word_offsets[k]
        at, nodes, depth = write_side(
            symbols, at, u, sources, source_labels, a, source_words, first, source_mark,
            source_place, source_before, first + k, stack, strings[0], DELETED if deletions else 0,
        )  # fmt: skip
        ends[2 * r + 1] = at
        figures[r, 0], figures[r, 1], figures[r, 3] = high - low, nodes, depth
        at, nodes, depth = write_side(
            symbols, at, v, targets, target_labels, b, target_words, base, target_mark,
            target_place, target_before, base + k, stack, strings[1], INSERTED if deletions else 0,
        )  # fmt: skip
        ends[2 * r + 2] = at
        figures[r, 2], figures[r, 4] = nodes, depth
        for i in range(low, high):
            source_mark[a + variables[i, 0]] = -1
            target_mark[b + variables[i, 1]] = -1
        # the links of the words that were written: both their ends were
        for word in range(sources[1, a + u], sources[2, a + u]):
            place = source_place[first + word]
            if place < 0:
                continue
            source_place[first + word] = -1
            low, high = source_before[first + k + word], source_before[first + k + word + 1]
            if joins + 2 * (high - low) > len(joined):
                joined = widened(joined, joins, joins + 2 * (high - low))
            for link in range(link_offsets[k] + low, link_offsets[k] + high):
                joined[joins] = place
                joined[joins + 1] = target_place[base + links[1, link]]
                joins += 2
        joined_ends[r + 1] = joins
    return symbols[:at], ends, joined[:joins], joined_ends, figures


@jit
def widened(array: Ints, used: int, needed: int) -> Ints:
    """Return a longer array that begins with what is used of this one."""
    larger = np.empty(2 * needed, np.int32)
    for k in range(used):  # compiles in less time than a slice
        larger[k] = array[k]
    return larger


@jit
def words_before(positions: Ints, offsets: Longs, word_offsets: Longs) -> Ints:
    """Return for each word, and the end of each sentence, how many links of its pair come before.

    Those of word w of pair k are at ``word_offsets[k] + k + w``.
    """
    pairs = len(offsets) - 1
    counts = np.zeros(word_offsets[pairs] + pairs, np.int32)
    for k in range(pairs):
        first = word_offsets[k] + k
        for link in range(offsets[k], offsets[k + 1]):
            counts[first + positions[link] + 1] += 1
        for word in range(word_offsets[k + 1] - word_offsets[k]):
            counts[first + word + 1] += counts[first + word]
    return counts


@jit
def write_side(
    symbols: Ints, at: int, root: int, trees: Ints, labels: Ints, base: int, words: Ints,
    first: int, marks: Ints, places: Ints, before: Ints, none_before: int, stack: Ints,
    string: bool, apart: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Write one fragment; return where it ends, its nodes with its variables, and its depth.

    The nodes of the tree begin at `base`, its words at `first`, and what is before them at
    `none_before`.
    """
    nodes, deepest, place, loose = 0, 1, 0, 0
    if not string:
        symbols[at] = labels[base + root] << BITS | OPEN
        at += 1
        nodes = 1
    height = 1  # of the stack: nodes, and the next word of each
    stack[0, 0], stack[0, 1] = root, trees[1, base + root]
    node = root + 1
    while height:
        top = base + stack[height - 1, 0]
        # afters: the first node that is not below the top
        inside = node < trees[3, top]
        until = trees[1, base + node] if inside else trees[2, top]
        # words of the node at the top, up to its next child or its end
        for word in range(stack[height - 1, 1], until):
            symbols[at] = words[first + word] << BITS | WORD
            at += 1
            places[first + word] = place
            place += 1
        if inside:
            start, end, mark = trees[1, base + node], trees[2, base + node], marks[base + node]
            stack[height - 1, 1] = max(until, end)
            # it has words, and none of them is linked
            without = start < end and before[none_before + start] == before[none_before + end]
            # cut here: a variable, or what was deleted or inserted; all below is passed over
            if mark >= 0 or (apart and without):
                label = 0 if string else labels[base + node] << BITS
                symbols[at] = label | (VARIABLE if mark >= 0 else apart)
                symbols[at + 1] = mark if mark >= 0 else loose
                loose += mark < 0
                at += 2
                place += 1
                nodes += 1
                deepest = max(deepest, height + 1)
                node = trees[3, base + node]
            else:
                if not string:
                    symbols[at] = labels[base + node] << BITS | OPEN
                    at += 1
                    nodes += 1
                stack[height, 0], stack[height, 1] = node, start
                height += 1
                deepest = max(deepest, height)
                node += 1
        else:
            if not string:
                symbols[at] = CLOSE
                at += 1
            height -= 1
    if string:  # no nodes but variables, however many spans were put together
        deepest = 1 + (nodes > 0)
    return at, nodes, deepest
