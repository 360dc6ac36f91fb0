"""Settle counted hiero rules: their alignments, lexical weights and other order; compiled loops.

Rules come as `extraction_kernel` writes them, target side first. They go source side first: the
label of the left-hand side, the source side, 0, the target side, 0, and the word alignment. There a
variable of label l is l + 1 on the source side, where its place is its number, and
2 l + number + 1 on the target side; words follow.
"""

from __future__ import annotations

import numpy as np

from alignkit._support.array_types import F8, I4, I8
from alignkit._support.jit import jit
from alignkit.rules.hiero.extraction_kernel import BITS
from alignkit.rules.scores_kernel import weigh


@jit
def settle(
    symbols: I4, offsets: I8, values: F8, masks: int, most_symbols: int, keys: I8,
    weights: F8, lone: F8, best: I8, out: F8,
) -> int:  # fmt: skip
    """Make one rule of the sequences that differ in their alignments alone.

    symbols, offsets, values: Sequences in order, with counts and numbers of sentence pairs.
    masks: How many numbers an alignment takes.
    most_symbols: The most symbols of a side.
    keys, weights: (W,) and (W, 2): source word << 32 | target word, rising, and w(target | source)
        and w(source | target); empty where lexical weights are not wanted.
    lone: (V, 2): w(word | NULL) of a target and of a source word.
    best, out: (R,) and (R, 4): set to the sequence that holds the most frequent alignment, and to
        count, sentence pairs, lexical weight of the target and of the source side.
    Returns: How many rules there are.
    """
    source, target = np.empty(most_symbols, np.int32), np.empty(most_symbols, np.int32)
    links = np.empty(2 * most_symbols * most_symbols, np.int32)
    rules = 0
    for r in range(len(offsets) - 1):
        start, size = offsets[r], offsets[r + 1] - offsets[r]
        # sequences are in order: those that differ in alignments alone stand together
        same = r > 0 and offsets[r] - offsets[r - 1] == size
        if same:
            x = 0
            while x < size - masks and symbols[start + x] == symbols[start - size + x]:
                x += 1
            same = x == size - masks
        if same:
            rule = rules - 1
            out[rule, 0] += values[r, 0]
            out[rule, 1] += values[r, 1]
            # the most frequent alignment; of equal ones the first
            if values[r, 0] > values[best[rule], 0]:
                best[rule] = r
        else:
            rule = rules
            rules += 1
            out[rule, 0], out[rule, 1] = values[r, 0], values[r, 1]
            out[rule, 2], out[rule, 3] = 0.0, 0.0
            best[rule] = r
        if len(keys) == 0 and len(lone) == 0:
            continue
        n, m, end = unfold(
            symbols, start, start + size - masks - 1, most_symbols, source, target, links
        )
        # the greatest weight over the alignments of the rule (Koehn et al. 2003)
        for way in range(2):
            of_words = weigh(source[:n], target[:m], links[:end], way, keys, weights, lone)
            out[rule, 2 + way] = max(out[rule, 2 + way], of_words)
    return rules


@jit
def unfold(
    symbols: I4, start: int, end: int, most_symbols: int, source: I4, target: I4, links: I4
) -> tuple[int, int, int]:
    """Set the words of both sides, -1 for variables, and their links; return the lengths."""
    at = start + 1
    m = 0
    while symbols[at] != 0:
        # even symbols are words, 2 w + 2
        target[m] = symbols[at] // 2 - 1 if symbols[at] % 2 == 0 else -1
        m += 1
        at += 1
    at += 1
    n = 0
    while at < end:
        source[n] = symbols[at] // 2 - 1 if symbols[at] % 2 == 0 else -1
        n += 1
        at += 1
    last = 0
    for i in range(n):
        for j in range(m):
            # bit i * symbols + j joins source symbol i and target symbol j
            bit = i * most_symbols + j
            if symbols[end + 1 + bit // BITS] >> np.int32(bit % BITS) & 1:
                links[last], links[last + 1] = i, j
                last += 2
    return n, m, last


@jit
def turn(
    symbols: I4, offsets: I8, best: I8, counts: F8, least: float, masks: int,
    words: I4, labels: I4, turned: I4, ends: I8,
) -> None:  # fmt: skip
    """Write rules source side first; of one that is too rare, the source side alone.

    symbols, offsets, best, counts: As `settle` has them.
    least: The least count.
    masks: How many numbers an alignment takes.
    words, labels: The new number of each.
    turned, ends: Where to write; `ends` after a leading 0.
    """
    # words come behind 0 and the 2 L names of variables
    base = 2 * len(labels) + 1
    at = np.int64(0)
    ends[0] = 0
    for rule in range(len(best)):
        start, mask = offsets[best[rule]], offsets[best[rule] + 1] - masks
        turned[at] = labels[symbols[start]]
        at += 1
        middle = start + 1
        while symbols[middle] != 0:
            middle += 1
        variables, first_number = 0, 0
        for x in range(middle + 1, mask - 1):
            # the source side; a variable, 2 (2 l + number) + 1, becomes l + 1
            symbol = symbols[x]
            if symbol % 2 == 0:
                turned[at] = base + words[symbol // 2 - 1]
            else:
                turned[at] = 1 + labels[symbol // 4]
                if variables == 0:
                    first_number = symbol // 2 % 2  # the place on the target side
                variables += 1
            at += 1
        turned[at] = 0
        at += 1
        # a rare rule ends here: its source side still counts for p(target | source)
        if counts[rule] >= least:
            place = 0
            for x in range(start + 1, middle):
                symbol = symbols[x]
                if symbol % 2 == 0:
                    turned[at] = base + words[symbol // 2 - 1]
                else:
                    # 2 l + number + 1, numbered in the order of the source side
                    number = 0 if place == first_number else 1
                    turned[at] = 1 + 2 * labels[symbol // 2] + number
                    place += 1
                at += 1
            turned[at] = 0
            at += 1
            for x in range(mask, mask + masks):
                turned[at] = symbols[x]
                at += 1
        ends[rule + 1] = at


CONSTITUENT, BESIDE, RIGHT, LEFT, THREE = 1, 2, 3, 4, 5
"""The forms of a label: A, A+B, A/B, A\\B, A+B+C."""


@jit
def chart(
    labels: I4, starts: I4, ends: I4, by_start: I8, from_start: I8, by_end: I8,
    to_end: I8, longest: int, codes: I8,
) -> None:  # fmt: skip
    """Write the label of each span of one sentence.

    labels, starts, ends: (V,): the nodes of the tree, as in `Tree`; labels are numbers below 2^19.
    by_start, by_end: The highest node of each span, by its first or last word, the shortest first.
    from_start, to_end: (n + 1,): where the nodes of each word begin in these.
    longest: The most words of a span.
    codes: (n longest,): set to form << 57 | A << 38 | B << 19 | C for the span of each word and of
        each length from 1; 0 where there is no label.
    """
    # the highest node of each span: tops[start, length - 1], -1 where there is none
    n = len(from_start) - 1
    tops = np.full((n, longest), -1, np.int32)
    for start in range(n):
        for x in range(from_start[start], from_start[start + 1]):
            size = ends[by_start[x]] - start
            if size <= longest:
                tops[start, size - 1] = labels[by_start[x]]
    for start in range(n):
        for size in range(1, min(longest, n - start) + 1):
            codes[start * longest + size - 1] = of_span(
                start, start + size, tops, labels, starts, ends,
                by_start, from_start, by_end, to_end,
            )  # fmt: skip
        for size in range(n - start + 1, longest + 1):
            codes[start * longest + size - 1] = 0


@jit
def of_span(
    start: int, end: int, tops: I4, labels: I4, starts: I4, ends: I4, by_start: I8,
    from_start: I8, by_end: I8, to_end: I8,
) -> int:  # fmt: skip
    """Return the label of a span: the first form that exists."""
    size = end - start
    # A
    if tops[start, size - 1] >= 0:
        return coded(CONSTITUENT, tops[start, size - 1], 0, 0)
    # A+B: two constituents side by side
    for middle in range(start + 1, end):
        a, b = tops[start, middle - start - 1], tops[middle, end - middle - 1]
        if a >= 0 and b >= 0:
            return coded(BESIDE, a, b, 0)
    n = len(from_start) - 1
    if end < n:  # A begins here and goes on over B, the shortest
        x, y = from_start[start], from_start[end]
        # A/B: both lists rise by their ends; the first end that they share
        while x < from_start[start + 1] and y < from_start[end + 1]:
            a, b = by_start[x], by_start[y]
            if ends[a] == ends[b]:
                return coded(RIGHT, labels[a], labels[b], 0)
            if ends[a] < ends[b]:
                x += 1
            else:
                y += 1
    # A\B: likewise to the left
    if start > 0:
        x, y = to_end[end - 1], to_end[start - 1]
        while x < to_end[end] and y < to_end[start]:
            a, b = by_end[x], by_end[y]
            if starts[a] == starts[b]:
                return coded(LEFT, labels[a], labels[b], 0)
            if starts[a] > starts[b]:
                x += 1
            else:
                y += 1
    # A+B+C
    for first in range(start + 1, end - 1):
        a = tops[start, first - start - 1]
        if a < 0:
            continue
        for second in range(first + 1, end):
            b, c = tops[first, second - first - 1], tops[second, end - second - 1]
            if b >= 0 and c >= 0:
                return coded(THREE, a, b, c)
    return 0


@jit
def coded(form: int, a: int, b: int, c: int) -> int:
    """Return a label as one number."""
    return ((np.int64(form) << 19 | np.int64(a)) << 19 | np.int64(b)) << 19 | np.int64(c)  # type: ignore[return-value]
