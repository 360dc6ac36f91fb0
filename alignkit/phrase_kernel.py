"""Extract phrase pairs from flat arrays of links: the compiled loops behind `phrases`.

For each source start the source end rises, the target span follows as the least that holds all
links of the source span, and the least and greatest source word that this target span is linked
to are kept (as in Zhang, Gildea & Chiang 2008, section 2). A span that is linked to a word before
the source start can never become consistent, so the scan stops there. Time is the output plus at
most N (N + M) steps a pair; memory beside the output is 24 N + 8 M bytes for the longest N and M.
There is no N x M table.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.jit import jit

__all__ = ["ATOMIC", "COMPOSITE", "drop_identical", "fill"]

ATOMIC, COMPOSITE = 1, 2
"""What `fill` keeps: ATOMIC, COMPOSITE, or the sum of both."""

Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]

FAR = np.int32(2**31 - 1)


@jit
def ranges(
    links: Ints, start: int, end: int, n: int, m: int, by_source: Ints, by_target: Ints
) -> None:
    """Set the least and greatest partner of each word of one pair; FAR and -1 where it has none."""
    by_source[:n, 0] = FAR
    by_source[:n, 1] = -1
    by_target[:m, 0] = FAR
    by_target[:m, 1] = -1
    for k in range(start, end):
        i, j = links[k, 0], links[k, 1]
        by_source[i, 0] = min(by_source[i, 0], j)
        by_source[i, 1] = max(by_source[i, 1], j)
        by_target[j, 0] = min(by_target[j, 0], i)
        by_target[j, 1] = max(by_target[j, 1], i)


@jit
def closures(n: int, by_source: Ints, by_target: Ints, closure: Ints, reach: Ints) -> None:
    """Set the source span of the smallest consistent pair around the links of each source word.

    `closure[i]` becomes (first, last) of word i, and `reach[a]` the greatest last word of the
    closures that start at a (-1: none does). These are the atomic pairs (METHOD section 3).
    """
    for i in range(n):
        reach[i] = -1
    for i in range(n):
        closure[i, 0] = -1
        if by_source[i, 1] < 0:
            continue
        first, last = i, i
        low, high = by_source[i, 0], by_source[i, 1]
        done_low, done_high = low, low - 1  # the target words that were looked at
        while done_low > low or done_high < high:
            need_first, need_last = first, last
            for j in range(low, done_low):
                need_first = min(need_first, by_target[j, 0])
                need_last = max(need_last, by_target[j, 1])
            for j in range(done_high + 1, high + 1):
                need_first = min(need_first, by_target[j, 0])
                need_last = max(need_last, by_target[j, 1])
            done_low, done_high = low, high
            for k in range(need_first, first):
                low = min(low, by_source[k, 0])
                high = max(high, by_source[k, 1])
            for k in range(last + 1, need_last + 1):
                low = min(low, by_source[k, 0])
                high = max(high, by_source[k, 1])
            first, last = need_first, need_last
        closure[i, 0], closure[i, 1] = first, last
        reach[first] = max(reach[first], last)


@jit
def fill(
    links: Ints,
    offsets: Offsets,
    lengths: Ints,
    keep: int,
    loose: bool,
    longest: int,
    pair: int,
    spans: Ints,
    atomic: Bytes,
    ends: Offsets,
) -> int:
    """Write the phrase pairs of the sentence pairs from number `pair` on.

    Parameters
    ----------
    links, offsets, lengths
        As in `LinkArrays`.
    keep
        ATOMIC, COMPOSITE or the sum of both.
    loose
        Whether to extend over unaligned words at the boundaries.
    longest
        The most words of a span.
    pair
        The sentence pair to go on with; `ends[pair]` phrase pairs are there already.
    spans, atomic
        (C, 4) and (C,): where to write.
    ends
        (P + 1,): `ends[k + 1]` is set to the number of phrase pairs up to pair k.

    Returns
    -------
    int
        The first sentence pair that did not fit; P when all did.
    """
    most_n, most_m = 0, 0
    for k in range(pair, len(lengths)):
        most_n = max(most_n, lengths[k, 0])
        most_m = max(most_m, lengths[k, 1])
    by_source = np.empty((most_n, 2), np.int32)
    by_target = np.empty((most_m, 2), np.int32)
    closure = np.empty((most_n, 2), np.int32)
    reach = np.empty(most_n, np.int32)
    mark = np.empty(most_n, np.int32)
    for k in range(pair, len(lengths)):
        n, m = lengths[k, 0], lengths[k, 1]
        if offsets[k] == offsets[k + 1]:
            ends[k + 1] = ends[k]
            continue
        ranges(links, offsets[k], offsets[k + 1], n, m, by_source, by_target)
        closures(n, by_source, by_target, closure, reach)
        written = ends[k]
        mark[:n] = -1
        core = -1  # the first aligned word from `start` on
        for start in range(n):
            if start > core:
                core = start
                while core < n and by_source[core, 1] < 0:
                    core += 1
            if core == n:
                break
            if start < core and not loose:
                continue
            written = from_start(
                start, core, n, m, keep, loose, longest,
                by_source, by_target, closure, reach, mark, spans, atomic, written,
            )  # fmt: skip
            if written < 0:
                return k
        ends[k + 1] = written
    return len(lengths)


@jit
def from_start(
    start: int,
    core: int,
    n: int,
    m: int,
    keep: int,
    loose: bool,
    longest: int,
    by_source: Ints,
    by_target: Ints,
    closure: Ints,
    reach: Ints,
    mark: Ints,
    spans: Ints,
    atomic: Bytes,
    written: int,
) -> int:
    """Write the phrase pairs whose source span starts at `start` and whose tight core at `core`.

    Returns the number written so far, or -1 when the room does not suffice.
    """
    stop = min(n, start + longest)
    if keep == ATOMIC:
        stop = min(stop, reach[core] + 1)
    if not loose and written + stop - core > len(spans):
        return -1
    low, high = by_source[core, 0], by_source[core, 0] - 1
    first, last = core, core
    for end in range(core, stop):
        if by_source[end, 1] < 0:
            continue
        if closure[end, 0] == core:
            mark[closure[end, 1]] = core
        for j in range(by_source[end, 0], low):
            first = min(first, by_target[j, 0])
            last = max(last, by_target[j, 1])
        low = min(low, by_source[end, 0])
        for j in range(high + 1, by_source[end, 1] + 1):
            first = min(first, by_target[j, 0])
            last = max(last, by_target[j, 1])
        high = max(high, by_source[end, 1])
        if first < core or high - low >= longest:
            break
        if last > end:
            continue
        kind = ATOMIC if mark[end] == core else COMPOSITE
        if not keep & kind:
            continue
        if loose:
            written = around(
                start, end, low, high, n, m, longest, kind == ATOMIC,
                by_source, by_target, spans, atomic, written,
            )  # fmt: skip
            if written < 0:
                return -1
        else:
            spans[written, 0] = start
            spans[written, 1] = end + 1
            spans[written, 2] = low
            spans[written, 3] = high + 1
            atomic[written] = kind == ATOMIC
            written += 1
    return written


@jit
def around(
    start: int,
    end: int,
    low: int,
    high: int,
    n: int,
    m: int,
    longest: int,
    is_atomic: bool,
    by_source: Ints,
    by_target: Ints,
    spans: Ints,
    atomic: Bytes,
    written: int,
) -> int:
    """Write the loose phrase pairs from `start` around one tight core, last words included.

    Returns the number written so far, or -1 when the room does not suffice.
    """
    free_low, free_high, free_end = low, high, end
    while free_low > 0 and by_target[free_low - 1, 1] < 0 and high - free_low + 1 < longest:
        free_low -= 1
    while free_high + 1 < m and by_target[free_high + 1, 1] < 0 and free_high + 1 - low < longest:
        free_high += 1
    while free_end + 1 < n and by_source[free_end + 1, 1] < 0 and free_end + 1 - start < longest:
        free_end += 1
    for last in range(end, free_end + 1):
        for left in range(free_low, low + 1):
            right_stop = min(free_high + 1, left + longest)
            if written + right_stop - high > len(spans):
                return -1
            for right in range(high, right_stop):
                spans[written, 0] = start
                spans[written, 1] = last + 1
                spans[written, 2] = left
                spans[written, 3] = right + 1
                atomic[written] = is_atomic
                written += 1
    return written


@jit
def drop_identical(
    spans: Ints,
    atomic: Bytes,
    ends: Offsets,
    source_ids: Ints,
    source_offsets: Offsets,
    target_ids: Ints,
    target_offsets: Offsets,
) -> None:
    """Move the phrase pairs whose two word sequences differ to the front, and set their `ends`."""
    written, begin = 0, 0
    for k in range(len(ends) - 1):
        stop = ends[k + 1]
        for q in range(begin, stop):
            size = spans[q, 1] - spans[q, 0]
            same = size == spans[q, 3] - spans[q, 2]
            if same:
                i, j = source_offsets[k] + spans[q, 0], target_offsets[k] + spans[q, 2]
                for d in range(size):
                    if source_ids[i + d] != target_ids[j + d]:
                        same = False
                        break
            if not same:
                spans[written] = spans[q]
                atomic[written] = atomic[q]
                written += 1
        begin = stop
        ends[k + 1] = written
