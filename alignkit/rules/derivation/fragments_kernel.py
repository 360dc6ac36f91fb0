"""Write the fragments of rules as sequences of numbers, by which equal rules are found."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.jit import jit

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Bools = NDArray[np.bool_]

# the lowest three bits of a symbol; the others number a label or a word
CLOSE, OPEN, WORD, VARIABLE, DELETED, INSERTED = 0, 1, 2, 3, 4, 5
BITS = 3


@jit
def write_fragments(
    roots: Ints,
    variables: Ints,
    variable_offsets: Longs,
    pairs: Ints,
    sources: Ints,
    source_offsets: Longs,
    source_labels: Ints,
    source_words: Ints,
    source_word_offsets: Longs,
    targets: Ints,
    target_offsets: Longs,
    target_labels: Ints,
    target_words: Ints,
    target_word_offsets: Longs,
    links: Ints,
    link_offsets: Longs,
    strings: tuple[bool, bool],
    deletions: bool,
) -> tuple[Ints, Longs, Ints, Longs, Ints]:
    """Write both fragments of some rules.

    A symbol is 8 times the number of a label or word, plus what it is: `OPEN` and `CLOSE` a node,
    `WORD`, or a variable, after which its number stands.

    Parameters
    ----------
    roots
        (R, 2) int32: source and target node of each rule.
    variables
        (V, 2) int32: the nodes of all variables, rule after rule, left to right in the source.
    variable_offsets
        (R + 1,) int64: where the variables of each rule begin.
    pairs
        (R,) int32: the sentence pair of each rule, in rising order.
    sources, targets
        (4, n) int32: parents, starts, ends and afters of the nodes of all pairs.
    source_labels, target_labels, source_words, target_words
        The numbers of labels and words.
    links
        (2, L) int32: of all pairs, sorted by source and target position within each.
    strings
        Whether the source, and the target, is a string: no nodes are written, and no labels.
    deletions
        Whether highest nodes without links are variables of their own kind.

    Returns
    -------
    tuple
        Symbols (S,); where each side begins, (2 R + 1,); the links between words, as positions of
        words and variables within each side, one after the other; where those of each rule begin,
        (R + 1,); for each rule how many variables, nodes of both sides, depths of both, (R, 5).
    """
    count = len(roots)
    symbols, ends = np.empty(1024, np.int32), np.zeros(2 * count + 1, np.int64)
    joined, joined_ends = np.empty(1024, np.int32), np.zeros(count + 1, np.int64)
    figures = np.zeros((count, 5), np.int32)
    source_mark = np.full(sources.shape[1], -1, np.int32)
    target_mark = np.full(targets.shape[1], -1, np.int32)
    source_before = words_before(links[0], link_offsets, source_word_offsets)
    target_before = words_before(links[1], link_offsets, target_word_offsets)
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
    found = np.empty(2 * needed, np.int32)
    for k in range(used):  # compiles in less time than a slice
        found[k] = array[k]
    return found


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
    symbols: Ints,
    at: int,
    root: int,
    trees: Ints,
    labels: Ints,
    base: int,
    words: Ints,
    first: int,
    marks: Ints,
    places: Ints,
    before: Ints,
    none_before: int,
    stack: Ints,
    string: bool,
    apart: int,
) -> tuple[int, int, int]:
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
        inside = node < trees[3, top]
        until = trees[1, base + node] if inside else trees[2, top]
        for word in range(stack[height - 1, 1], until):
            symbols[at] = words[first + word] << BITS | WORD
            at += 1
            places[first + word] = place
            place += 1
        if inside:
            start, end, mark = trees[1, base + node], trees[2, base + node], marks[base + node]
            stack[height - 1, 1] = max(until, end)
            without = start < end and before[none_before + start] == before[none_before + end]
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
