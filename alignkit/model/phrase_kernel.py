"""Extract and match phrase pairs, from flat arrays of links: the loops behind `phrase_arrays`.

A phrase pair is a source span and a target span that links join only to each other (they are
*consistent*). It is *tight* if the four words at its ends have links; *loose* pairs may also end
with unaligned words. For example, with the links 0-0 2-1 2-3 3-2::

    they(0) did(1) not(2) go(3)      ils(0) ne(1) vont(2) pas(3)

    they / ils                            atomic
    go / vont                             atomic
    not go / ne vont pas                  atomic: "not" needs "ne" to "pas", and "vont" needs "go"
    they did not go / ils ne vont pas     composite: each of its links is in a pair above
    they did / ils                        loose: "they / ils" with an unaligned word after it

The *closure* of a word is the smallest consistent pair that has all links of the word: of "not" it
is "not go / ne vont pas". The closures are the *atomic* tight pairs; in any other tight pair, a
*composite* one, each link is in a smaller closure. Two closures are equal, or one contains the
other, or they share no word.

To list the pairs, each source word in turn is the start of a span, whose end moves to the right;
the target span is the smallest one with all links of the source span. The least and greatest source
word linked to this target span are kept (as in Zhang, Gildea & Chiang 2008, section 2). A span that
is linked to a word before its start can never become consistent, so the scan stops there. Time is
the output plus at most N (N + M) steps per pair; memory, without the output, is 32 N + 8 M bytes
for the longest N and M. There is no N x M table.
"""

from __future__ import annotations

from typing import NamedTuple, Union

import numpy as np

from alignkit._support.array_types import I4, I8, U1
from alignkit._support.jit import inlined, jit

ATOMIC = 1
COMPOSITE = 2
"""The kinds of phrase pairs to write: ATOMIC, COMPOSITE, or the sum of both."""

FULL = -1
"""What is returned instead of the number of phrase pairs if there is no room for more."""

FAR = np.int32(2**31 - 1)
"""The least partner of a word without links: beyond all words."""

HYP_ATOMIC = 0
REF_ATOMIC = 1
HYP_ATOMIC_IN_REF = 2
HYP_IN_REF_ATOMIC = 3
ATOMIC_IN_ATOMIC = 4
"""The columns of `match_phrases`: `alignkit.scoring.counts.PHRASE_COLUMNS`."""

Cells = Union[I4, I8]


class PairWords(NamedTuple):
    """The words of P sentence pairs, one sentence after the other."""

    source: I4  # (Ts,) the number of each source word; equal words of both sides have equal numbers
    source_offsets: I8  # (P + 1,) where each source sentence begins, and the last one ends
    target: I4  # (Tt,) the same for the target side
    target_offsets: I8  # (P + 1,)


class PairLinks(NamedTuple):
    """The links (or other cells) of P sentence pairs, as in `LinkArrays`."""

    links: I4  # (L, 2) source and target word, rising within each pair
    offsets: I8  # (P + 1,) where the links of each pair begin, and those of the last one end


class LinkedWords(NamedTuple):
    """What the links of one sentence pair say of its N source and M target words."""

    of_source: I4  # (N, 2) the least and the greatest partner of each word; FAR and -1: none
    of_target: I4  # (M, 2) the same for target words
    closures: I4  # (N, 4) the closures, as in `Box`, each at its first word; first is -1 elsewhere
    reach: I4  # (N,) the last word of the longest closure that begins at each word; -1: none


class Box(NamedTuple):
    """The words of both sides of a phrase pair, last words included."""

    first: int  # source words
    last: int
    low: int  # target words
    high: int


class PhraseChoice(NamedTuple):
    """Which phrase pairs are written."""

    kinds: int  # ATOMIC, COMPOSITE or their sum
    loose: bool  # whether they may begin or end with unaligned words
    longest: int  # the most words that a side may have


class PhraseOutput(NamedTuple):
    """Room for C phrase pairs, where those of P sentence pairs are written."""

    spans: I4  # (C, 4) source start and end, target start and end; the ends are not included
    atomic: U1  # (C,) 1 atomic, 0 composite
    ends: I8  # (P + 1,) how many phrase pairs there are before each pair; those of k end at [k + 1]


@jit
def room_for(lengths: I4, begin: int) -> LinkedWords:
    """Return arrays for the longest of the sentence pairs from `begin` on."""
    n = 0
    m = 0
    for k in range(begin, len(lengths)):
        n = max(n, lengths[k, 0])
        m = max(m, lengths[k, 1])
    return LinkedWords(
        np.empty((n, 2), np.int32),
        np.empty((m, 2), np.int32),
        np.empty((n, 4), np.int32),
        np.empty(n, np.int32),
    )


@inlined
def linked_words(k: int, links: PairLinks, lengths: I4, room: LinkedWords) -> LinkedWords:
    """Return what the links of sentence pair k say of its words; the arrays are those of `room`."""
    n = lengths[k, 0]
    m = lengths[k, 1]
    words = LinkedWords(room.of_source[:n], room.of_target[:m], room.closures[:n], room.reach[:n])
    set_partners(links.links, links.offsets[k], links.offsets[k + 1], words)
    set_closures(words)
    return words


@inlined
def set_partners(links: I4, begin: int, end: int, words: LinkedWords) -> None:
    """Set the least and greatest partner of each word by the links from begin to before end."""
    of_source = words.of_source
    of_target = words.of_target
    for i in range(len(of_source)):
        of_source[i, 0] = FAR
        of_source[i, 1] = -1
    for j in range(len(of_target)):
        of_target[j, 0] = FAR
        of_target[j, 1] = -1
    for k in range(begin, end):
        i, j = links[k, 0], links[k, 1]
        of_source[i, 0] = min(of_source[i, 0], j)
        of_source[i, 1] = max(of_source[i, 1], j)
        of_target[j, 0] = min(of_target[j, 0], i)
        of_target[j, 1] = max(of_target[j, 1], i)


@inlined
def grown(i: int, of_source: Cells, of_target: Cells, last: Cells) -> tuple[int, Box]:
    """Grow the links of source word i to its closure.

    `last[k]` is the last source word of the closure of each word k before i, -1 without links.
    Returns an earlier word that has the same closure, its twin (-1: none), and the closure, which
    is only complete if there is no twin.

    Example: at "not" of the module's example, the box is first 2-2 x 1-3, from "ne" to "pas". The
    target word 2 brings source word 3, whose only link is in the box already: 2-3 x 1-3.
    """
    twin = -1
    first = i
    end = i
    low = of_source[i, 0]
    high = of_source[i, 1]
    # Grow the box [first, end] x [low, high] to a fixed point: take in what its target words are
    # linked to, then what the new source words are linked to, until nothing is added. Before each
    # round: all partners of the source words of the box lie in [low, high]; the partners of the
    # target words that were looked at, [done_low, done_high], lie in [first, end]. At the end the
    # two ranges of target words agree, so no link leaves the box: it is consistent.
    # If the box takes in an earlier word whose closure reaches word i, the two closures are equal:
    # each contains the word of the other.
    done_low = low  # no target word was looked at: an empty range
    done_high = low - 1
    while twin < 0 and (done_low > low or done_high < high):
        need_first = first
        need_end = end
        for j in range(low, done_low):
            need_first = min(need_first, of_target[j, 0])
            need_end = max(need_end, of_target[j, 1])
        for j in range(done_high + 1, high + 1):
            need_end = max(need_end, of_target[j, 1])
            if of_target[j, 0] < need_first:
                need_first = of_target[j, 0]
                if last[need_first] >= i:  # a twin, which the loop over the new words meets
                    break
        done_low = low
        done_high = high
        for k in range(need_first, first):
            if last[k] >= i:
                twin = k
                break
            low = min(low, of_source[k, 0])
            high = max(high, of_source[k, 1])
        if twin < 0:
            for k in range(end + 1, need_end + 1):
                low = min(low, of_source[k, 0])
                high = max(high, of_source[k, 1])
            first = need_first
            end = need_end
    return twin, Box(first, end, low, high)


@inlined
def set_closures(words: LinkedWords) -> None:
    """Set the closures, each at the first word that has it, and the reach of each word."""
    of_source = words.of_source
    of_target = words.of_target
    closures = words.closures
    reach = words.reach
    last = closures[:, 1]
    for i in range(len(reach)):
        reach[i] = -1
    for i in range(len(reach)):
        low = of_source[i, 0]
        high = of_source[i, 1]
        if high < 0:
            closures[i, 0] = -1
            closures[i, 1] = -1
            continue
        if low == high and of_target[low, 0] == of_target[low, 1]:  # most words: no need to grow
            closures[i, 0] = i
            closures[i, 1] = i
            closures[i, 2] = low
            closures[i, 3] = low
            reach[i] = max(reach[i], i)
            continue
        twin, box = grown(i, of_source, of_target, last)
        if twin >= 0:
            closures[i, 0] = -1
            closures[i, 1] = last[twin]  # `grown` needs the last word of each closure
            continue
        closures[i, 0] = box.first
        closures[i, 1] = box.last
        closures[i, 2] = box.low
        closures[i, 3] = box.high
        reach[box.first] = max(reach[box.first], box.last)


@jit
def write_phrases(
    links: PairLinks, lengths: I4, wanted: PhraseChoice, begin: int, to: PhraseOutput
) -> int:
    """Write the phrase pairs of the sentence pairs from number `begin` on, while there is room.

    `to` already holds the `to.ends[begin]` phrase pairs of the sentence pairs before. Returns the
    first sentence pair that did not fit (P if all did), with which the caller goes on.
    """
    room = room_for(lengths, begin)
    marks = np.empty(len(room.reach), np.int32)
    for k in range(begin, len(lengths)):
        written = to.ends[k]
        if links.offsets[k] < links.offsets[k + 1]:
            words = linked_words(k, links, lengths, room)
            written = write_pair(words, marks, wanted, to, written)
        if written == FULL:
            return k
        to.ends[k + 1] = written
    return len(lengths)


class Scan(NamedTuple):
    """A source span from a fixed start, and what its links reach: the state of `write_pair`."""

    low: int  # [low, high]: the least target span that holds all links of the source span
    high: int
    first: int  # [first, last]: the least source span that holds all links of [low, high]
    last: int


@inlined
def widened(scan: Scan, end: int, of_source: I4, of_target: I4) -> Scan:
    """Return a scan with one more source word, which has links."""
    low = min(scan.low, of_source[end, 0])
    high = max(scan.high, of_source[end, 1])
    first = scan.first
    last = scan.last
    # only the target words that are new are looked at
    for j in range(low, scan.low):
        first = min(first, of_target[j, 0])
        last = max(last, of_target[j, 1])
    for j in range(scan.high + 1, high + 1):
        first = min(first, of_target[j, 0])
        last = max(last, of_target[j, 1])
    return Scan(low, high, first, last)


@inlined
def write_pair(
    words: LinkedWords, marks: I4, wanted: PhraseChoice, to: PhraseOutput, written: int
) -> int:
    """Write the phrase pairs of a sentence pair; return the number written so far, or FULL.

    marks: (N,) or longer, room to work in: `marks[e] == core` says that the source words from core
        to e are the source side of an atomic pair.
    """
    of_source = words.of_source
    of_target = words.of_target
    closures = words.closures
    longest = wanted.longest
    n = len(of_source)
    marks[:n] = -1
    core = -1  # the first aligned word from `start` on
    for start in range(n):
        if start > core:
            core = start
            while core < n and of_source[core, 1] < 0:
                core += 1
        if core == n:
            break
        if start < core and not wanted.loose:
            continue
        stop = min(n, start + longest)
        if wanted.kinds == ATOMIC:  # no atomic pair that begins at the core ends beyond its reach
            stop = min(stop, words.reach[core] + 1)
        if not wanted.loose and written + stop - core > len(to.spans):
            return FULL
        # [core, end] x [low, high] is consistent if and only if core <= first and last <= end. As
        # `first` only falls, first < core ends the scan; `last` > end waits for a longer span. In
        # the module's example, from "not" (2): at end 2, [low, high] is 1-3 and [first, last] 2-3,
        # so the scan waits; at end 3 the pair is consistent.
        low = of_source[core, 0]
        scan = Scan(low, low - 1, core, core)  # no target word was looked at yet
        for end in range(core, stop):
            if of_source[end, 1] < 0:
                continue
            # a closure is marked at its first word that is met, so in time for its last word
            if closures[end, 0] == core:
                marks[closures[end, 1]] = core
            scan = widened(scan, end, of_source, of_target)
            if scan.first < core or scan.high - scan.low >= longest:
                break
            if scan.last > end:
                continue
            kind = ATOMIC if marks[end] == core else COMPOSITE
            if not wanted.kinds & kind:
                continue
            box = Box(start, end, scan.low, scan.high)
            if wanted.loose:
                written = write_loose(box, kind == ATOMIC, words, longest, to, written)
                if written == FULL:
                    return FULL
            else:
                put(written, box, kind == ATOMIC, to)
                written += 1
    return written


@inlined
def put(place: int, box: Box, is_atomic: bool, to: PhraseOutput) -> None:
    """Write a phrase pair at a place."""
    to.spans[place, 0] = box.first
    to.spans[place, 1] = box.last + 1
    to.spans[place, 2] = box.low
    to.spans[place, 3] = box.high + 1
    to.atomic[place] = is_atomic


@jit
def write_loose(
    box: Box, is_atomic: bool, words: LinkedWords, longest: int, to: PhraseOutput, written: int
) -> int:
    """Write a pair, and those with more unaligned words: after its source side, around its target.

    Pairs with more unaligned words before the source side have another start (see `write_pair`).
    Returns the number written so far, or FULL.
    """
    start, end, low, high = box
    of_source = words.of_source
    of_target = words.of_target
    # The unaligned words next to the pair, as far as `longest` allows: any of them may be taken.
    free_low = low
    free_high = high
    free_end = end
    n = len(of_source)
    m = len(of_target)
    while free_low > 0 and of_target[free_low - 1, 1] < 0 and high - free_low + 1 < longest:
        free_low -= 1
    while free_high + 1 < m and of_target[free_high + 1, 1] < 0 and free_high + 1 - low < longest:
        free_high += 1
    while free_end + 1 < n and of_source[free_end + 1, 1] < 0 and free_end + 1 - start < longest:
        free_end += 1
    for last in range(end, free_end + 1):
        for left in range(free_low, low + 1):
            right_stop = min(free_high + 1, left + longest)
            if written + right_stop - high > len(to.spans):
                return FULL
            for right in range(high, right_stop):
                put(written, Box(start, last, left, right), is_atomic, to)
                written += 1
    return written


@jit
def drop_identical(phrases: PhraseOutput, words: PairWords) -> None:
    """Move the phrase pairs with different word sequences to the front, and set `phrases.ends`."""
    spans = phrases.spans
    ends = phrases.ends
    # In place: `written` never passes the phrase pair q that is read, and `begin` is the old
    # `ends[k]`, which has been overwritten by the new one.
    written = 0
    begin = 0
    for k in range(len(ends) - 1):
        stop = ends[k + 1]
        for q in range(begin, stop):
            size = spans[q, 1] - spans[q, 0]
            same = size == spans[q, 3] - spans[q, 2]
            if not (same and same_words(k, spans[q, 0], spans[q, 2], size, words)):
                spans[written] = spans[q]
                phrases.atomic[written] = phrases.atomic[q]
                written += 1
        begin = stop
        ends[k + 1] = written


@jit
def same_words(k: int, source: int, target: int, size: int, words: PairWords) -> bool:
    """Return whether `size` words of sentence pair k are the same, from words source and target."""
    i = words.source_offsets[k] + source
    j = words.target_offsets[k] + target
    same = 0
    while same < size and words.source[i + same] == words.target[j + same]:
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
    56 N + 16 M bytes.

    Returns rows (P, 5): the columns `alignkit.scoring.counts.PHRASE_COLUMNS`.
    """
    rows = np.zeros((len(lengths), 5), np.int64)
    hyp_room = room_for(lengths, 0)
    ref_room = room_for(lengths, 0)
    for k in range(len(lengths)):
        of_hyp = linked_words(k, hyp, lengths, hyp_room)
        of_ref = linked_words(k, ref, lengths, ref_room)
        count = count_shared(k, of_hyp.closures, of_ref, longest, ignore_identical, words)
        rows[k, HYP_ATOMIC] = count.atomic
        rows[k, HYP_ATOMIC_IN_REF] = count.in_other
        rows[k, ATOMIC_IN_ATOMIC] = count.atomic_in_other
        count = count_shared(k, of_ref.closures, of_hyp, longest, ignore_identical, words)
        rows[k, REF_ATOMIC] = count.atomic
        rows[k, HYP_IN_REF_ATOMIC] = count.in_other
    return rows


class SharedCount(NamedTuple):
    """How many of the atomic pairs of one alignment another one has."""

    atomic: int  # all of this alignment
    in_other: int  # those that are tight pairs of the other, atomic or composite
    atomic_in_other: int  # those that are atomic there too


@jit
def count_shared(
    k: int,
    closures: I4,
    other: LinkedWords,
    longest: int,
    ignore_identical: bool,
    words: PairWords,
) -> SharedCount:
    """Count the atomic pairs of sentence pair k, `closures`, and those in the other alignment.

    longest: The most words that a side may have; longer pairs are not counted.
    ignore_identical: Whether pairs of equal words are not counted, either.
    """
    count = 0
    in_other = 0
    atomic_in_other = 0
    for i in range(len(closures)):
        box = Box(closures[i, 0], closures[i, 1], closures[i, 2], closures[i, 3])
        if box.first < 0:  # no closure, or one that was counted at an earlier word
            continue
        size = box.last - box.first + 1
        target_size = box.high - box.low + 1
        if max(size, target_size) > longest:
            continue
        may_be_same = ignore_identical and size == target_size
        if may_be_same and same_words(k, box.first, box.low, size, words):
            continue
        count += 1
        if is_closure(box, box.first, other.closures):
            in_other += 1
            atomic_in_other += 1
        # one word on each side would be the closure of its word, if it were a pair there
        elif size + target_size > 2 and is_tight(box, other):
            in_other += 1
            # atomic there if it is the closure of another of its words
            for word in range(box.first + 1, box.last + 1):
                if is_closure(box, word, other.closures):
                    atomic_in_other += 1
                    break
    return SharedCount(count, in_other, atomic_in_other)


@inlined
def is_tight(box: Box, words: LinkedWords) -> bool:
    """Return whether a box is a tight phrase pair of an alignment."""
    first, last, low, high = box
    of_source = words.of_source
    of_target = words.of_target
    # its four ends have links
    tight = of_source[first, 1] >= 0 and of_source[last, 1] >= 0
    tight = tight and of_target[low, 1] >= 0 and of_target[high, 1] >= 0
    # no link leaves it; a word without links has the range (FAR, -1), which leaves nothing
    for i in range(first, last + 1):
        tight &= low <= of_source[i, 0] and of_source[i, 1] <= high
    for j in range(low, high + 1):
        tight &= first <= of_target[j, 0] and of_target[j, 1] <= last
    return bool(tight)


@inlined
def is_closure(box: Box, i: int, closures: I4) -> bool:
    """Return whether a box is the closure that stands at source word i."""
    return bool(
        closures[i, 0] == box.first
        and closures[i, 1] == box.last
        and closures[i, 2] == box.low
        and closures[i, 3] == box.high
    )
