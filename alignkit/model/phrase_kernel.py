"""Extract and match phrase pairs, from flat arrays of links: the loops behind `phrase_arrays`.

For each source start, the source end increases; the target span is the smallest one with all links
of the source span. The least and greatest source word linked to this target span are kept (as in
Zhang, Gildea & Chiang 2008, section 2). A span that is linked to a word before the source start can
never become consistent, so the scan stops there. Time is the output plus at most N (N + M) steps
per pair; memory, without the output, is 32 N + 8 M bytes for the longest N and M. There is no N x M
table.
"""

from __future__ import annotations

from typing import NamedTuple, Union

import numpy as np

from alignkit._support.array_types import I4, I8, U1
from alignkit._support.jit import inlined, jit

ATOMIC = 1
COMPOSITE = 2
"""The phrase pairs that `fill` keeps: ATOMIC, COMPOSITE, or the sum of both."""


Cells = Union[I4, I8]

FAR = np.int32(2**31 - 1)


class PairWords(NamedTuple):
    """The numbers of the words of P sentence pairs, and where each sentence begins."""

    source: I4
    source_offsets: I8
    target: I4
    target_offsets: I8


class PairLinks(NamedTuple):
    """The links (or other cells) of P sentence pairs, as in `LinkArrays`."""

    links: I4
    offsets: I8


@inlined
def ranges(links: I4, start: int, end: int, n: int, m: int, by_source: I4, by_target: I4) -> None:
    """Set the least and greatest partner of each word of a pair; FAR and -1 if it has none."""
    for i in range(n):
        by_source[i, 0] = FAR
        by_source[i, 1] = -1
    for j in range(m):
        by_target[j, 0] = FAR
        by_target[j, 1] = -1
    for k in range(start, end):
        i, j = links[k, 0], links[k, 1]
        by_source[i, 0] = min(by_source[i, 0], j)
        by_source[i, 1] = max(by_source[i, 1], j)
        by_target[j, 0] = min(by_target[j, 0], i)
        by_target[j, 1] = max(by_target[j, 1], i)


@inlined
def grown(
    i: int, by_source: Cells, by_target: Cells, last: Cells
) -> tuple[int, int, int, int, int]:
    """Grow the links of source word i to the smallest consistent pair around them, its closure.

    `last[k]` is the last word of the closure of each word k before i, -1 without links. Returns an
    earlier word that has the same closure (-1: none); then, if there is none, the first and last
    source word of the closure and its least and greatest target word.
    """
    known = -1
    first = i
    end = i
    low = by_source[i, 0]
    high = by_source[i, 1]
    # Grow the box [first, end] x [low, high] to a fixed point: take in what its target words are
    # linked to, then what the new source words are linked to, until nothing is added. Before each
    # round: all partners of the source words of the box lie in [low, high]; the partners of the
    # target words that were looked at, [done_low, done_high], lie in [first, end]. At the end the
    # two ranges of target words agree, so no link leaves the box: it is consistent.
    # If the box takes in an earlier word whose closure reaches word i, the two closures are equal:
    # each contains the word of the other.
    done_low = low
    done_high = low - 1
    while known < 0 and (done_low > low or done_high < high):
        need_first = first
        need_end = end
        for j in range(low, done_low):
            need_first = min(need_first, by_target[j, 0])
            need_end = max(need_end, by_target[j, 1])
        for j in range(done_high + 1, high + 1):
            need_end = max(need_end, by_target[j, 1])
            if by_target[j, 0] < need_first:
                need_first = by_target[j, 0]
                if last[need_first] >= i:
                    break
        done_low = low
        done_high = high
        for k in range(need_first, first):
            if last[k] >= i:
                known = k
                break
            low = min(low, by_source[k, 0])
            high = max(high, by_source[k, 1])
        if known < 0:
            for k in range(end + 1, need_end + 1):
                low = min(low, by_source[k, 0])
                high = max(high, by_source[k, 1])
            first = need_first
            end = need_end
    return known, first, end, low, high


@inlined
def closures(n: int, by_source: I4, by_target: I4, closure: I4, reach: I4) -> None:
    """Set the spans of the smallest consistent pair around the links of each source word.

    `closure[i]` becomes (first, last, low, high) of word i: the first and last source word and the
    least and greatest target word; first and last are -1 without links. `reach[a]` becomes the
    greatest last word of the closures that start at a (-1: none). These closures are the atomic
    pairs: every link in a composite pair is in a smaller closure.
    """
    last = closure[:, 1]
    for i in range(n):
        reach[i] = -1
    for i in range(n):
        low = by_source[i, 0]
        high = by_source[i, 1]
        if high < 0:
            closure[i, 0] = -1
            closure[i, 1] = -1
            continue
        if low == high and by_target[low, 0] == by_target[low, 1]:  # most words: no need to look on
            closure[i, 0] = i
            closure[i, 1] = i
            closure[i, 2] = low
            closure[i, 3] = low
            reach[i] = max(reach[i], i)
            continue
        known, first, end, low, high = grown(i, by_source, by_target, last)
        if known >= 0:
            closure[i] = closure[known]
            continue
        closure[i, 0] = first
        closure[i, 1] = end
        closure[i, 2] = low
        closure[i, 3] = high
        reach[first] = max(reach[first], end)


@jit
def fill(
    links: I4,
    offsets: I8,
    lengths: I4,
    keep: int,
    loose: bool,
    longest: int,
    pair: int,
    spans: I4,
    atomic: U1,
    ends: I8,
) -> int:
    """Write the phrase pairs of the sentence pairs from number `pair` on.

    `loose` pairs extend over unaligned words. `spans` (C, 4) and `atomic` (C,) already hold
    `ends[pair]` phrase pairs; `ends[k + 1]` becomes their number up to pair k. Returns the first
    sentence pair that did not fit; P when all did.
    """
    most_n = 0
    most_m = 0
    for k in range(pair, len(lengths)):
        most_n = max(most_n, lengths[k, 0])
        most_m = max(most_m, lengths[k, 1])
    by_source = np.empty((most_n, 2), np.int32)
    by_target = np.empty((most_m, 2), np.int32)
    closure = np.empty((most_n, 4), np.int32)
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
                start,
                core,
                n,
                m,
                keep,
                loose,
                longest,
                by_source,
                by_target,
                closure,
                reach,
                mark,
                spans,
                atomic,
                written,
            )
            if written < 0:
                return k
        ends[k + 1] = written
    return len(lengths)


@inlined
def from_start(
    start: int,
    core: int,
    n: int,
    m: int,
    keep: int,
    loose: bool,
    longest: int,
    by_source: I4,
    by_target: I4,
    closure: I4,
    reach: I4,
    mark: I4,
    spans: I4,
    atomic: U1,
    written: int,
) -> int:
    """Write the phrase pairs with source span from `start` and tight core from `core`.

    Returns the number written so far, or -1 if there is not enough space.
    """
    stop = min(n, start + longest)
    if keep == ATOMIC:  # no atomic pair that starts at the core ends beyond its reach
        stop = min(stop, reach[core] + 1)
    if not loose and written + stop - core > len(spans):
        return -1
    # The source span is [core, end]. After each step: [low, high] is the least target span that
    # holds all its links, and [first, last] the source words that this target span is linked to.
    # So [core, end] x [low, high] is consistent if and only if core <= first and last <= end. As
    # `first` only falls, first < core ends the scan; `last` > end waits for a longer source span.
    low = by_source[core, 0]
    high = by_source[core, 0] - 1
    first = core
    last = core
    for end in range(core, stop):
        if by_source[end, 1] < 0:
            continue
        if closure[end, 0] == core:  # there is an atomic pair [core, closure[end, 1]]
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
                start,
                end,
                low,
                high,
                n,
                m,
                longest,
                kind == ATOMIC,
                by_source,
                by_target,
                spans,
                atomic,
                written,
            )
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
    by_source: I4,
    by_target: I4,
    spans: I4,
    atomic: U1,
    written: int,
) -> int:
    """Write the loose phrase pairs from `start` around one tight core, including last words.

    Returns the number written so far, or -1 if there is not enough space.
    """
    # The unaligned words next to the core, as far as `longest` allows: any of them may be taken.
    free_low = low
    free_high = high
    free_end = end
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
def drop_identical(spans: I4, atomic: U1, ends: I8, words: PairWords) -> None:
    """Move the phrase pairs with different word sequences to the front, and set `ends`."""
    source_ids, source_offsets, target_ids, target_offsets = words
    # In place: `written` never passes the phrase pair q that is read, and `begin` is the old
    # `ends[k]`, which has been overwritten by the new one.
    written = 0
    begin = 0
    for k in range(len(ends) - 1):
        stop = ends[k + 1]
        for q in range(begin, stop):
            size = spans[q, 1] - spans[q, 0]
            i = source_offsets[k] + spans[q, 0]
            j = target_offsets[k] + spans[q, 2]
            same = size == spans[q, 3] - spans[q, 2]
            if not (same and same_words(source_ids, i, target_ids, j, size)):
                spans[written] = spans[q]
                atomic[written] = atomic[q]
                written += 1
        begin = stop
        ends[k + 1] = written


@jit
def same_words(source_ids: I4, i: int, target_ids: I4, j: int, size: int) -> bool:
    """Return whether `size` source words from i equal the target words from j."""
    same = 0
    while same < size and source_ids[i + same] == target_ids[j + same]:
        same += 1
    return same == size


@jit
def match_phrases(
    hyp: PairLinks,
    ref: PairLinks,
    lengths: I4,
    longest: int,
    ignore_identical: bool,
    words: PairWords,
) -> I8:
    """Count the tight phrase pairs that two alignments share, without listing them.

    The atomic pairs are the closures, at most one per source word, and a look at the words of two
    spans shows whether they are a tight phrase pair. So time is linear in words and links if
    closures are short; listing all phrase pairs would be quadratic. Memory, without the output, is
    52 N + 16 M bytes.

    Returns rows (P, 5): the columns `alignkit.scoring.counts.PHRASE_COLUMNS`.
    """
    source_ids, source_offsets, target_ids, target_offsets = words
    hyp_links, hyp_offsets = hyp
    ref_links, ref_offsets = ref
    rows = np.zeros((len(lengths), 5), np.int64)
    most_n = 0
    most_m = 0
    for k in range(len(lengths)):
        most_n = max(most_n, lengths[k, 0])
        most_m = max(most_m, lengths[k, 1])
    hyp_by_source = np.empty((most_n, 2), np.int32)
    ref_by_source = np.empty((most_n, 2), np.int32)
    hyp_by_target = np.empty((most_m, 2), np.int32)
    ref_by_target = np.empty((most_m, 2), np.int32)
    hyp_closure = np.empty((most_n, 4), np.int32)
    ref_closure = np.empty((most_n, 4), np.int32)
    room = np.empty(most_n, np.int32)
    for k in range(len(lengths)):
        n, m = lengths[k, 0], lengths[k, 1]
        ranges(hyp_links, hyp_offsets[k], hyp_offsets[k + 1], n, m, hyp_by_source, hyp_by_target)
        ranges(ref_links, ref_offsets[k], ref_offsets[k + 1], n, m, ref_by_source, ref_by_target)
        closures(n, hyp_by_source, hyp_by_target, hyp_closure, room)
        closures(n, ref_by_source, ref_by_target, ref_closure, room)
        rows[k, 0], rows[k, 2], rows[k, 4] = find(
            n,
            longest,
            hyp_closure,
            ref_closure,
            ref_by_source,
            ref_by_target,
            room,
            ignore_identical,
            source_ids,
            source_offsets[k],
            target_ids,
            target_offsets[k],
        )
        rows[k, 1], rows[k, 3], _ = find(
            n,
            longest,
            ref_closure,
            hyp_closure,
            hyp_by_source,
            hyp_by_target,
            room,
            ignore_identical,
            source_ids,
            source_offsets[k],
            target_ids,
            target_offsets[k],
        )
    return rows


@jit
def find(
    n: int,
    longest: int,
    closure: I4,
    other_closure: I4,
    by_source: I4,
    by_target: I4,
    around: I4,
    ignore_identical: bool,
    source_ids: I4,
    source: int,
    target_ids: I4,
    target: int,
) -> tuple[int, int, int]:
    """Count the atomic pairs of one alignment, those in the other, and those also atomic there.

    `closure` is from the alignment with the pairs to count; `other_closure`, `by_source` and
    `by_target` are from the other; `source` and `target` are the first words of the sentence pair.

    Two closures are disjoint, or one is inside the other. So the closures around a word,
    `around[:depth]`, are a chain, and one that was already counted is the innermost of it.
    """
    count = 0
    in_other = 0
    atomic_in_other = 0
    depth = 0
    for i in range(n):
        first = closure[i, 0]
        last = closure[i, 1]
        low = closure[i, 2]
        high = closure[i, 3]
        if first < 0:
            continue
        if first < last:  # a closure of one word cannot have been counted before
            while depth > 0 and closure[around[depth - 1], 1] < i:
                depth -= 1
            if depth > 0:
                inner = around[depth - 1]
                if closure[inner, 0] == first and closure[inner, 1] == last:
                    continue
            around[depth] = i
            depth += 1
        size = last - first + 1
        if max(size, high - low + 1) > longest:
            continue
        if (
            ignore_identical
            and size == high - low + 1
            and same_words(source_ids, source + first, target_ids, target + low, size)
        ):
            continue
        count += 1
        if is_closure(first, last, low, high, first, other_closure):
            in_other += 1
            atomic_in_other += 1
        elif size + high - low > 1 and is_tight(first, last, low, high, by_source, by_target):
            in_other += 1
            # atomic there if it is the closure of another of its words
            for word in range(first + 1, last + 1):
                if is_closure(first, last, low, high, word, other_closure):
                    atomic_in_other += 1
                    break
    return count, in_other, atomic_in_other


@jit
def is_tight(first: int, last: int, low: int, high: int, by_source: I4, by_target: I4) -> bool:
    """Return whether these words, first to last, are a tight phrase pair of an alignment."""
    if by_source[first, 1] < 0 or by_source[last, 1] < 0:
        return False
    if by_target[low, 1] < 0 or by_target[high, 1] < 0:
        return False
    # an unaligned word has the range (FAR, -1), which leaves no span
    for i in range(first, last + 1):
        if by_source[i, 0] < low or by_source[i, 1] > high:
            return False
    for j in range(low, high + 1):
        if by_target[j, 0] < first or by_target[j, 1] > last:
            return False
    return True


@jit
def is_closure(first: int, last: int, low: int, high: int, i: int, closure: I4) -> bool:
    """Return whether these words are the closure of source word i."""
    return bool(
        closure[i, 0] == first
        and closure[i, 1] == last
        and closure[i, 2] == low
        and closure[i, 3] == high
    )
