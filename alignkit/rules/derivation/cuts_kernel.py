"""Say which pairs of nodes the rules of derivations have: roots, and where they are cut."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import F8, I4, I8
from alignkit._support.jit import jit


@jit
def count_composed(parents: I4, begins: I8, size: int) -> F8:
    """Return how many connected sets of so many nodes the derivation of each pair has."""
    counts = np.zeros(len(begins) - 1, np.float64)
    for k in range(len(begins) - 1):
        first = begins[k]
        after = begins[k + 1]
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
def compose(matched: I4, afters: I4, begins: I8, size: int, room: int) -> tuple[I4, I4, I8, I4]:
    """Put connected sets of nodes of derivations together: rules of one size.

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
            depth = 1
            next_one = root + 1
            chosen[0] = root
            # depth first over connected sets that hold the root: chosen[:depth] in preorder,
            # and `next_one` is the next node that may be taken in
            while depth:
                if depth == size:
                    if filled + count > len(variables):
                        wider = np.empty((2 * (filled + count), 2), np.int32)
                        for i in range(filled):  # compiles in less time than slices
                            wider[i, 0] = variables[i, 0]
                            wider[i, 1] = variables[i, 1]
                        variables = wider
                    roots[made, 0] = matched[first + root, 0]
                    roots[made, 1] = matched[first + root, 1]
                    pairs[made] = k
                    # a set is whole: what lies below it and was not chosen is a variable
                    taken = 1
                    i = root + 1
                    while i < afters[first + root]:
                        if taken < size and chosen[taken] == i:
                            taken += 1
                            i += 1
                        else:
                            variables[filled, 0] = matched[first + i, 0]
                            variables[filled, 1] = matched[first + i, 1]
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
    return roots, variables[:filled], offsets, pairs


# the lowest three bits of a symbol; the others number a label or a word
CLOSE = 0
OPEN = 1
WORD = 2
VARIABLE = 3
DELETED = 4
INSERTED = 5
BITS = 3


class CutRules(NamedTuple):
    """R rules as nodes.

    roots: (R, 2) int32: source and target node of each rule.
    variables: (V, 2) int32: the nodes of all variables, rule after rule, left to right in the
        source.
    offsets: (R + 1,) int64: where the variables of each rule begin.
    pairs: (R,) int32: the sentence pair of each rule, in rising order.
    """

    roots: I4
    variables: I4
    offsets: I8
    pairs: I4


class TreeSide(NamedTuple):
    """The trees and words of one side of all pairs.

    nodes: (4, n) int32: parents, starts, ends and afters.
    offsets, word_offsets: (P + 1,) int64: where the nodes and the words of each pair begin.
    labels, words: The numbers of labels and words.
    before: How many links come before each word, and before the end of each sentence: those of word
        w of pair k are at ``word_offsets[k] + k + w``.
    is_string: Whether the side is a string: no nodes are written, and no labels.
    """

    nodes: I4
    offsets: I8
    labels: I4
    words: I4
    word_offsets: I8
    before: I8
    is_string: bool


class RuleMarks(NamedTuple):
    """What is known of the nodes and words of a side while a rule is written.

    variables: The number of the variable that a node is in this rule; -1: none.
    places: The place of a word among words and variables of its side; -1: not written.
    """

    variables: I4
    places: I4


@jit
def write_fragments(
    rules: CutRules, source: TreeSide, target: TreeSide, far: I4, deletions: bool
) -> tuple[I4, I8, I4, I8, I4]:
    """Write both fragments of some rules.

    A symbol is 8 times the number of a label or word, plus what it is: `OPEN` and `CLOSE` a node,
    `WORD`, or a variable, after which its number stands.

    far: (L,) int32: target positions of the links of all pairs, sorted as in `LinkArrays`.
    deletions: Whether highest nodes without links are variables of their own kind.
    Returns: Symbols (S,); where each side begins, (2 R + 1,); the links between words, as positions
        of words and variables within each side, one after the other; where those of each rule
        begin, (R + 1,); for each rule how many variables, nodes of both sides, depths of both, (R,
        5).
    """
    roots = rules.roots
    variables = rules.variables
    count = len(roots)
    symbols = np.empty(1024, np.int32)
    ends = np.zeros(2 * count + 1, np.int64)
    joined = np.empty(1024, np.int32)
    joined_ends = np.zeros(count + 1, np.int64)
    figures = np.zeros((count, 5), np.int32)
    source_marks = RuleMarks(
        np.full(source.nodes.shape[1], -1, np.int32), np.full(len(source.words), -1, np.int32)
    )
    target_marks = RuleMarks(
        np.full(target.nodes.shape[1], -1, np.int32), np.full(len(target.words), -1, np.int32)
    )
    stack = np.empty((1024, 2), np.int32)
    at = 0
    joins = 0
    for r in range(count):
        k = rules.pairs[r]
        u = roots[r, 0]
        v = roots[r, 1]
        a = source.offsets[k]
        b = target.offsets[k]
        low = rules.offsets[r]
        high = rules.offsets[r + 1]
        for i in range(low, high):
            source_marks.variables[a + variables[i, 0]] = i - low
            target_marks.variables[b + variables[i, 1]] = i - low
        # no fragment is longer: two symbols for each node below, cut or not, and one a word
        source_below = source.nodes[3, a + u] - u
        target_below = target.nodes[3, b + v] - v
        source_span = source.nodes[2, a + u] - source.nodes[1, a + u]
        target_span = target.nodes[2, b + v] - target.nodes[1, b + v]
        size = 2 * (source_below + target_below) + source_span + target_span
        # arrays are widened before a side is written, never within
        if at + size > len(symbols):
            symbols = widened(symbols, at, at + size)
        deep = max(source_below, target_below) + 1
        if deep > len(stack):
            stack = np.empty((2 * deep, 2), np.int32)
        first = source.word_offsets[k]
        base = target.word_offsets[k]
        apart = DELETED if deletions else 0
        at, nodes, depth = write_side(symbols, at, u, source, k, source_marks, stack, apart)
        ends[2 * r + 1] = at
        figures[r, 0] = high - low
        figures[r, 1] = nodes
        figures[r, 3] = depth
        apart = INSERTED if deletions else 0
        at, nodes, depth = write_side(symbols, at, v, target, k, target_marks, stack, apart)
        ends[2 * r + 2] = at
        figures[r, 2] = nodes
        figures[r, 4] = depth
        for i in range(low, high):
            source_marks.variables[a + variables[i, 0]] = -1
            target_marks.variables[b + variables[i, 1]] = -1
        # the links of the words that were written: both their ends were
        for word in range(source.nodes[1, a + u], source.nodes[2, a + u]):
            place = source_marks.places[first + word]
            if place < 0:
                continue
            source_marks.places[first + word] = -1
            low = source.before[first + k + word]
            high = source.before[first + k + word + 1]
            if joins + 2 * (high - low) > len(joined):
                joined = widened(joined, joins, joins + 2 * (high - low))
            for link in range(low, high):
                joined[joins] = place
                joined[joins + 1] = target_marks.places[base + far[link]]
                joins += 2
        joined_ends[r + 1] = joins
    return symbols[:at], ends, joined[:joins], joined_ends, figures


@jit
def widened(array: I4, used: int, needed: int) -> I4:
    """Return a longer array that begins with what is used of this one."""
    larger = np.empty(2 * needed, np.int32)
    for k in range(used):  # compiles in less time than a slice
        larger[k] = array[k]
    return larger


@jit
def write_side(
    symbols: I4,
    at: int,
    root: int,
    side: TreeSide,
    pair: int,
    marks: RuleMarks,
    stack: I4,
    apart: int,
) -> tuple[int, int, int]:
    """Write one fragment of a pair; return where it ends, its nodes with its variables, its depth.

    `apart` is what nodes are whose words have no links, if they stand apart; else 0.
    """
    trees = side.nodes
    labels = side.labels
    words = side.words
    before = side.before
    string = side.is_string
    base = side.offsets[pair]
    first = side.word_offsets[pair]
    none_before = first + pair
    nodes = 0
    deepest = 1
    place = 0
    loose = 0
    if not string:
        symbols[at] = labels[base + root] << BITS | OPEN
        at += 1
        nodes = 1
    height = 1  # of the stack: nodes, and the next word of each
    stack[0, 0] = root
    stack[0, 1] = trees[1, base + root]
    node = root + 1
    while height:
        top = base + stack[height - 1, 0]
        # afters: the first node that is not below the top
        inside = node < trees[3, top]
        if inside:
            until = trees[1, base + node]
        else:
            until = trees[2, top]
        # words of the node at the top, up to its next child or its end
        for word in range(stack[height - 1, 1], until):
            symbols[at] = words[first + word] << BITS | WORD
            at += 1
            marks.places[first + word] = place
            place += 1
        if inside:
            start = trees[1, base + node]
            end = trees[2, base + node]
            mark = marks.variables[base + node]
            stack[height - 1, 1] = max(until, end)
            # it has words, and none of them is linked
            without = start < end and before[none_before + start] == before[none_before + end]
            # cut here: a variable, or what was deleted or inserted; all below is passed over
            if mark >= 0 or (apart and without):
                label = 0 if string else labels[base + node] << BITS
                if mark >= 0:
                    symbols[at] = label | VARIABLE
                    symbols[at + 1] = mark
                else:
                    symbols[at] = label | apart
                    symbols[at + 1] = loose
                    loose += 1
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
                stack[height, 0] = node
                stack[height, 1] = start
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
