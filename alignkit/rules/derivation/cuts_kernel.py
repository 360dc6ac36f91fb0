"""Write rules from the places where they are cut out of two trees: the fragments of both sides.

A fragment goes from its root down to the variables, where it is cut. It is written as *symbols*;
those of ``NP(DT("the") x0:NN)`` are::

    OPEN NP   OPEN DT   WORD the   CLOSE   VARIABLE NN   0   CLOSE

A symbol is 8 times the number of a label or word, plus what it is (`OPEN` and so on). Behind a
variable stands its number. Of a side that is a string, the fragment is words and variables alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import F8, I4, I8
from alignkit._support.jit import jit
from alignkit.rules.derivation.nodes_kernel import AFTER, END, START

# the lowest three bits of a symbol; the others number a label or a word
CLOSE = 0
OPEN = 1
WORD = 2
VARIABLE = 3
DELETED = 4
INSERTED = 5
BITS = 3

VARIABLE_COUNT = 0
SOURCE_NODES = 1
TARGET_NODES = 2
SOURCE_DEPTH = 3
TARGET_DEPTH = 4
"""The columns of the figures of a rule: the number of its variables, the nodes of each side (with
variables), and the depth of each side."""

_NODE = 0
_NEXT_WORD = 1  # the columns of the stack of `write_side`


class Cuts(NamedTuple):
    """The nodes at the borders of R rules, which define a rule apart from labels and words.

    roots: (R, 2) int32: source and target node of each rule.
    variables: (V, 2) int32: the nodes of all variables, rule after rule, left to right in the
        source.
    offsets: (R + 1,) int64: where the variables of each rule begin.
    pairs: (R,) int32: the sentence pair of each rule, in rising order.
    counts: (R,) float64: 1, or a fraction in the rules of all consistent nodes.
    """

    roots: I4
    variables: I4
    offsets: I8
    pairs: I4
    counts: F8


class Fragments(NamedTuple):
    """R rules as sequences of numbers.

    symbols: (S,) int32: what rules consist of, source and target side in turn.
    offsets: (2 R + 1,) int64: where each side begins.
    links: The positions i, j of linked words among the words and variables of each side, one pair
        after the other.
    link_offsets: (R + 1,) int64: where those of each rule begin.
    figures: (R, 5) int32: by `VARIABLE_COUNT` and the other columns.
    """

    symbols: I4
    offsets: I8
    links: I4
    link_offsets: I8
    figures: I4


class TreeSide(NamedTuple):
    """The trees and words of one side of all pairs.

    nodes: (4, n) int32: see `alignkit.rules.derivation.nodes_kernel.PARENT` and the other rows.
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
    rules: Cuts, source: TreeSide, target: TreeSide, far: I4, deletions: bool
) -> Fragments:
    """Write both fragments of some rules.

    far: (L,) int32: target positions of the links of all pairs, sorted as in `LinkArrays`.
    deletions: Whether highest nodes without links are variables of their own kind, `DELETED` or
        `INSERTED`.
    """
    count = len(rules.roots)
    symbols = np.empty(1024, np.int32)
    ends = np.zeros(2 * count + 1, np.int64)
    links = np.empty(1024, np.int32)
    link_ends = np.zeros(count + 1, np.int64)
    figures = np.zeros((count, 5), np.int32)
    source_marks = no_marks(source)
    target_marks = no_marks(target)
    stack = np.empty((1024, 2), np.int32)
    deleted = DELETED if deletions else 0
    inserted = INSERTED if deletions else 0
    at = 0
    link_at = 0
    for r in range(count):
        k = rules.pairs[r]
        source_root = rules.roots[r, 0]
        target_root = rules.roots[r, 1]
        first_source = source.offsets[k]
        first_target = target.offsets[k]
        low = rules.offsets[r]
        high = rules.offsets[r + 1]
        for i in range(low, high):
            source_marks.variables[first_source + rules.variables[i, 0]] = i - low
            target_marks.variables[first_target + rules.variables[i, 1]] = i - low
        # arrays are widened before a side is written, never within
        needed = at + most_symbols(source, first_source, source_root)
        needed += most_symbols(target, first_target, target_root)
        if needed > len(symbols):
            symbols = widened(symbols, at, needed)
        source_nodes = source.nodes[AFTER, first_source + source_root] - source_root
        target_nodes = target.nodes[AFTER, first_target + target_root] - target_root
        deepest = max(source_nodes, target_nodes) + 1
        if deepest > len(stack):
            stack = np.empty((2 * deepest, 2), np.int32)
        at, nodes, depth = write_side(
            symbols, at, source_root, source, k, source_marks, stack, deleted
        )
        ends[2 * r + 1] = at
        figures[r, SOURCE_NODES] = nodes
        figures[r, SOURCE_DEPTH] = depth
        at, nodes, depth = write_side(
            symbols, at, target_root, target, k, target_marks, stack, inserted
        )
        ends[2 * r + 2] = at
        figures[r, TARGET_NODES] = nodes
        figures[r, TARGET_DEPTH] = depth
        figures[r, VARIABLE_COUNT] = high - low
        for i in range(low, high):
            source_marks.variables[first_source + rules.variables[i, 0]] = -1
            target_marks.variables[first_target + rules.variables[i, 1]] = -1
        # the links of the words that were written: both their ends were
        first_word = source.word_offsets[k]
        target_places = target_marks.places[target.word_offsets[k] :]
        begin = source.nodes[START, first_source + source_root]
        end = source.nodes[END, first_source + source_root]
        for word in range(begin, end):
            place = source_marks.places[first_word + word]
            if place < 0:
                continue
            source_marks.places[first_word + word] = -1
            first_link = source.before[first_word + k + word]
            after_link = source.before[first_word + k + word + 1]
            links_needed = link_at + 2 * (after_link - first_link)
            if links_needed > len(links):
                links = widened(links, link_at, links_needed)
            for link in range(first_link, after_link):
                links[link_at] = place
                links[link_at + 1] = target_places[far[link]]
                link_at += 2
        link_ends[r + 1] = link_at
    return Fragments(symbols[:at], ends, links[:link_at], link_ends, figures)


@jit
def no_marks(side: TreeSide) -> RuleMarks:
    """Return marks of a side of which nothing is known."""
    variables = np.full(side.nodes.shape[1], -1, np.int32)
    places = np.full(len(side.words), -1, np.int32)
    return RuleMarks(variables, places)


@jit
def most_symbols(side: TreeSide, first_node: int, root: int) -> int:
    """Return the most symbols of a fragment: two for each node, cut or not, one for each word."""
    at = first_node + root
    nodes = side.nodes[AFTER, at] - root
    words = side.nodes[END, at] - side.nodes[START, at]
    return int(2 * nodes + words)


@jit
def widened(array: I4, used: int, needed: int) -> I4:
    """Return a longer array that begins with the rows that are used of this one."""
    larger = np.empty((2 * needed, *array.shape[1:]), np.int32)
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
    unlinked: int,
) -> tuple[int, int, int]:
    """Write one fragment of a pair; return where it ends, its nodes with its variables, its depth.

    unlinked: What a highest node without links becomes, `DELETED` or `INSERTED`; 0: its words are
        written as others.
    """
    nodes = side.nodes
    first_node = side.offsets[pair]
    first_word = side.word_offsets[pair]
    first_before = first_word + pair  # in `before`, sentences have a place for their ends too
    count = 0
    depth = 1
    place = 0
    number = 0  # of the next unlinked node
    if not side.is_string:
        symbols[at] = side.labels[first_node + root] << BITS | OPEN
        at += 1
        count = 1
    # the nodes that are open, and the next word of each
    height = 1
    stack[0, _NODE] = root
    stack[0, _NEXT_WORD] = nodes[START, first_node + root]
    node = root + 1  # the next one in preorder
    while height:
        top = first_node + stack[height - 1, _NODE]
        has_child = node < nodes[AFTER, top]
        # words of the node at the top, up to its next child or its end
        until = nodes[START, first_node + node] if has_child else nodes[END, top]
        for word in range(stack[height - 1, _NEXT_WORD], until):
            symbols[at] = side.words[first_word + word] << BITS | WORD
            at += 1
            marks.places[first_word + word] = place
            place += 1
        if not has_child:
            if not side.is_string:
                symbols[at] = CLOSE
                at += 1
            height -= 1
            continue
        start = nodes[START, first_node + node]
        end = nodes[END, first_node + node]
        stack[height - 1, _NEXT_WORD] = max(until, end)
        variable = marks.variables[first_node + node]
        # it has words, and none of them is linked
        no_links = side.before[first_before + start] == side.before[first_before + end]
        is_unlinked = unlinked > 0 and start < end and no_links
        if variable >= 0 or is_unlinked:
            # cut here: all below is passed over
            label = 0 if side.is_string else side.labels[first_node + node] << BITS
            if variable >= 0:
                symbols[at] = label | VARIABLE
                symbols[at + 1] = variable
            else:
                symbols[at] = label | unlinked
                symbols[at + 1] = number
                number += 1
            at += 2
            place += 1
            count += 1
            depth = max(depth, height + 1)
            node = nodes[AFTER, first_node + node]
        else:
            if not side.is_string:
                symbols[at] = side.labels[first_node + node] << BITS | OPEN
                at += 1
                count += 1
            stack[height, _NODE] = node
            stack[height, _NEXT_WORD] = start
            height += 1
            depth = max(depth, height)
            node += 1
    if side.is_string:  # no nodes but variables, however many spans were put together
        depth = 1 + (count > 0)
    return at, count, depth
