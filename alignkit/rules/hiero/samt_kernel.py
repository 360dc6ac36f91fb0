"""Label spans of words by the constituents of a tree: the compiled loops behind `samt`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.jit import jit

Ints = NDArray[np.int32]
Codes = NDArray[np.int64]

CONSTITUENT, BESIDE, RIGHT, LEFT, THREE = 1, 2, 3, 4, 5
"""The forms of a label: A, A+B, A/B, A\\B, A+B+C."""


@jit
def chart(
    labels: Ints, parents: Ints, starts: Ints, ends: Ints, n: int, longest: int, codes: Codes
) -> None:
    """Write the label of each span of one sentence.

    Parameters
    ----------
    labels, parents, starts, ends
        (V,): the nodes of the tree, as in `Tree`; labels are numbers below 2^19.
    n
        The number of words.
    longest
        The most words of a span.
    codes
        (n longest,): set to form << 57 | A << 38 | B << 19 | C for the span of each word and of
        each length from 1; 0 where there is no label.
    """
    by_start, from_start = ordered(parents, starts, ends, n, True)
    by_end, to_end = ordered(parents, starts, ends, n, False)
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
def ordered(parents: Ints, starts: Ints, ends: Ints, n: int, at_start: bool) -> tuple[Codes, Codes]:
    """Return the highest node of each span by first (or last) word, and where each word's begin.

    The nodes of a word come from the shortest to the longest.
    """
    offsets = np.zeros(n + 1, np.int64)
    order = np.empty(len(starts), np.int64)
    for counting in (True, False):
        for node in range(len(starts) - 1, -1, -1):  # below, then above: ancestors come first
            start, end, parent = starts[node], ends[node], parents[node]
            if start == end:
                continue
            if parent >= 0 and starts[parent] == start and ends[parent] == end:
                continue
            word = start if at_start else end - 1
            if counting:
                offsets[word + 1] += 1
            else:
                order[offsets[word]] = node
                offsets[word] += 1
        if counting:
            for word in range(n):
                offsets[word + 1] += offsets[word]
    for word in range(n, 0, -1):
        offsets[word] = offsets[word - 1]
    offsets[0] = 0
    return order, offsets


@jit
def of_span(
    start: int,
    end: int,
    tops: Ints,
    labels: Ints,
    starts: Ints,
    ends: Ints,
    by_start: Codes,
    from_start: Codes,
    by_end: Codes,
    to_end: Codes,
) -> int:
    """Return the label of a span: the first form that exists."""
    size = end - start
    if tops[start, size - 1] >= 0:
        return coded(CONSTITUENT, tops[start, size - 1], 0, 0)
    for middle in range(start + 1, end):
        a, b = tops[start, middle - start - 1], tops[middle, end - middle - 1]
        if a >= 0 and b >= 0:
            return coded(BESIDE, a, b, 0)
    n = len(from_start) - 1
    if end < n:  # A begins here and goes on over B, the shortest
        x, y = from_start[start], from_start[end]
        while x < from_start[start + 1] and y < from_start[end + 1]:
            a, b = by_start[x], by_start[y]
            if ends[a] == ends[b]:
                return coded(RIGHT, labels[a], labels[b], 0)
            if ends[a] < ends[b]:
                x += 1
            else:
                y += 1
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
