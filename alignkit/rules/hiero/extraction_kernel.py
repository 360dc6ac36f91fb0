"""Derive hiero rules from phrase pairs and write them as sequences of numbers: compiled loops.

A rule is a sequence of 32-bit numbers: the label of its left-hand side, the target side, 0, the
source side, 0, and its word alignment. A word w is 2 w + 2. A variable of label l is 2 l + 1 on the
target side, where its place is its number, and 2 (2 l + number) + 1 on the source side. The word
alignment is a set of bits, `BITS` to a number: bit s * symbols + t joins symbol s of the source
side and symbol t of the target side, where a side has at most `symbols`.
"""

from __future__ import annotations

import numpy as np

from alignkit._support.array_types import F8, I4, I8
from alignkit._support.jit import jit
from alignkit.rules.tables.runs_kernel import alike

BITS = 30
"""Bits of a word alignment to a number."""


@jit
def derive(
    spans: I4, phrase_ends: I8, links: I4, link_ends: I8, lengths: I4,
    most_symbols: int, least_hole: int, most_holes: int, pair: int, stop: int, rows: I4,
    ends: I8,
) -> int:  # fmt: skip
    """Write the derivations of the sentence pairs from number `pair` to before `stop`.

    spans, phrase_ends: As `spans` and `offsets` in `PhraseArrays`.
    links, link_ends, lengths: As `links`, `offsets` and `lengths` in `LinkArrays`.
    most_symbols, least_hole, most_holes: The most words and variables of a side, the least words of
        either side of a hole, and the most holes.
    pair, stop: Where to go on, and where to end; `rows` is filled from its beginning.
    rows: (C, 3): the phrase pair that is the whole, and the first and the second hole; -1 for none.
    ends: (P + 1,): `ends[k + 1]` is set to the number of rows up to pair k, `ends[pair]` to 0.
    Returns: The first sentence pair that did not fit; `stop` when all did.
    """
    most_n, most_phrases = 0, 0
    for k in range(pair, stop):
        most_n = max(most_n, lengths[k, 0])
        most_phrases = max(most_phrases, phrase_ends[k + 1] - phrase_ends[k])
    before = np.empty(most_n + 1, np.int64)  # links of the source words before each
    first = np.empty(most_n + 1, np.int64)  # the first phrase pair from each source start on
    holes = np.empty(most_phrases, np.int64)
    ends[pair] = 0
    written = int(ends[pair])  # not 0: parts would be compiled for a constant, too
    for k in range(pair, stop):
        n = lengths[k, 0]
        before[: n + 1] = 0
        # before[b] - before[a]: how many links the source words a .. b - 1 have
        for link in range(link_ends[k], link_ends[k + 1]):
            before[links[link, 0] + 1] += 1
        phrase = phrase_ends[k]
        for i in range(n):
            before[i + 1] += before[i]
            while phrase < phrase_ends[k + 1] and spans[phrase, 0] < i:
                phrase += 1
            first[i] = phrase
        first[n] = phrase_ends[k + 1]
        for whole in range(phrase_ends[k], phrase_ends[k + 1]):
            written = of_phrase(
                whole, spans, before, first, most_symbols, least_hole, most_holes, holes, rows,
                written,
            )  # fmt: skip
            if written < 0:
                return k
        ends[k + 1] = written
    return stop


@jit
def of_phrase(
    whole: int, spans: I4, before: I8, first: I8, most_symbols: int, least_hole: int,
    most_holes: int, holes: I8, rows: I4, written: int,
) -> int:  # fmt: skip
    """Write the derivations of one phrase pair; return the rows so far, -1 without room."""
    a, b, c, d = spans[whole, 0], spans[whole, 1], spans[whole, 2], spans[whole, 3]
    if written == len(rows):
        return -1
    if b - a <= most_symbols and d - c <= most_symbols:
        rows[written, 0], rows[written, 1], rows[written, 2] = whole, -1, -1
        written += 1
    count = 0
    if most_holes > 0:
        for start in range(a, b - least_hole + 1):
            for q in range(first[start], first[start + 1]):
                if spans[q, 1] > b:
                    break
                if (
                    spans[q, 1] - start >= least_hole
                    and spans[q, 2] >= c
                    and spans[q, 3] <= d
                    and spans[q, 3] - spans[q, 2] >= least_hole
                ):
                    holes[count] = q
                    count += 1
    total = before[b] - before[a]
    for x in range(count):
        h = holes[x]
        left = total - (before[spans[h, 1]] - before[spans[h, 0]])
        if left == 0:
            continue
        source_left = b - a - (spans[h, 1] - spans[h, 0]) + 1
        target_left = d - c - (spans[h, 3] - spans[h, 2]) + 1
        if source_left <= most_symbols and target_left <= most_symbols:
            if written == len(rows):
                return -1
            rows[written, 0], rows[written, 1], rows[written, 2] = whole, h, -1
            written += 1
        if most_holes < 2:
            continue
        for y in range(x + 1, count):
            g = holes[y]
            if (
                spans[g, 0] > spans[h, 1]
                and (spans[g, 2] >= spans[h, 3] or spans[g, 3] <= spans[h, 2])
                and source_left - (spans[g, 1] - spans[g, 0]) + 1 <= most_symbols
                and target_left - (spans[g, 3] - spans[g, 2]) + 1 <= most_symbols
                and left > before[spans[g, 1]] - before[spans[g, 0]]
            ):
                if written == len(rows):
                    return -1
                rows[written, 0], rows[written, 1], rows[written, 2] = whole, h, g
                written += 1
    return written


@jit
def encode(
    rows: I4, row_ends: I8, spans: I4, links: I4, link_ends: I8, lengths: I4,
    source_ids: I4, source_ends: I8, target_ids: I4, target_ends: I8, labels: I4,
    most_length: int, by_source: bool, most_symbols: int, pair: int, stop: int, symbols: I4,
    ends: I8, values: F8, firsts: I8,
) -> int:  # fmt: skip
    """Write the rules of derivations as sequences, those of a sentence pair each once.

    rows, row_ends: As `derive` wrote them for the sentence pairs from `pair` to before `stop`.
    spans, links, link_ends, lengths: As `derive` takes them.
    source_ids, source_ends, target_ids, target_ends: As in `TokenArrays`.
    labels: (T most_length,): the label of the span of each token of the labelled side and of each
        length from 1; empty where all have label 0.
    most_length: The most words of a phrase.
    by_source: Whether the source side is the labelled one.
    most_symbols: The most symbols of a side.
    pair, stop: The sentence pairs.
    symbols, ends, values, firsts: Where to write, with room for all: the sequences; where they end,
        after a leading 0; how often the sentence pair has each, and 1 for the first alignment of a
        rule in it, 0 for others; the row of each.
    Returns: How many sequences were written.
    """
    most_n, most_m, most_rows = 0, 0, 1
    for k in range(pair, stop):
        most_n = max(most_n, lengths[k, 0])
        most_m = max(most_m, lengths[k, 1])
        most_rows = max(most_rows, row_ends[k + 1] - row_ends[k])
    # a power of two, at least twice the rules of a pair: at most half of the slots are taken
    size = 4
    while size < 2 * most_rows:
        size *= 2
    slots = np.empty(size, np.int64)  # the first sequence of a rule, by its hash
    stamps = np.full(size, -1, np.int64)  # the sentence pair that filled a slot
    others = np.empty(most_rows, np.int64)  # the next alignment of the same rule
    link_starts = np.empty(most_n + 1, np.int64)
    places = np.empty(most_m, np.int64)  # of each target word among the symbols
    masks = (most_symbols * most_symbols + BITS - 1) // BITS
    ends[0] = 0
    written = int(ends[0])
    for k in range(pair, stop):
        link = link_ends[k]
        # link_starts[i]: the first link of source word i
        for i in range(lengths[k, 0] + 1):
            while link < link_ends[k + 1] and links[link, 0] < i:
                link += 1
            link_starts[i] = link
        begin = written
        for row in range(row_ends[k], row_ends[k + 1]):
            at = write_rule(
                rows, row, spans, links, link_starts,
                source_ids, source_ends[k], target_ids, target_ends[k],
                labels, most_length, by_source, most_symbols, masks, places,
                symbols, ends[written],
            )  # fmt: skip
            known = written
            written = once(symbols, ends, at, masks, slots, stamps, others, k, begin, known, values)
            if written > known:
                firsts[known] = row
    return written


@jit
def write_rule(
    rows: I4, row: int, spans: I4, links: I4, link_starts: I8, source_ids: I4,
    source: int, target_ids: I4, target: int, labels: I4, most_length: int, by_source: bool,
    most_symbols: int, masks: int, places: I8, symbols: I4, at: int,
) -> int:  # fmt: skip
    """Write one rule from `at` on; return where it ends."""
    start = at
    whole, h, g = rows[row, 0], rows[row, 1], rows[row, 2]
    base = source if by_source else target
    symbols[at] = label_of(spans, whole, base, labels, most_length, by_source)
    at += 1
    # the target side, where variables are numbered from left to right: h or g first
    h_number, g_number = 0, 1
    if g >= 0 and spans[g, 2] < spans[h, 2]:
        h_number, g_number = 1, 0
    j, place = spans[whole, 2], 0
    while j < spans[whole, 3]:
        if h >= 0 and j == spans[h, 2]:
            symbols[at] = 2 * label_of(spans, h, base, labels, most_length, by_source) + 1
            j = spans[h, 3]
        elif g >= 0 and j == spans[g, 2]:
            symbols[at] = 2 * label_of(spans, g, base, labels, most_length, by_source) + 1
            j = spans[g, 3]
        else:
            symbols[at] = 2 * target_ids[target + j] + 2
            places[j] = place
            j += 1
        at += 1
        place += 1
    symbols[at] = 0
    at += 1
    # where the source side ends: a hole takes one symbol instead of its words
    size = at - start + (spans[whole, 1] - spans[whole, 0])
    if h >= 0:
        size -= spans[h, 1] - spans[h, 0] - 1
    if g >= 0:
        size -= spans[g, 1] - spans[g, 0] - 1
    mask = start + size + 1
    for x in range(mask - 1, mask + masks):
        symbols[x] = 0
    i, place = spans[whole, 0], 0
    # the source side; each word sets the bits of its links to target words outside the holes
    while i < spans[whole, 1]:
        if h >= 0 and i == spans[h, 0]:
            label = label_of(spans, h, base, labels, most_length, by_source)
            symbols[at] = 2 * (2 * label + h_number) + 1
            i = spans[h, 1]
        elif g >= 0 and i == spans[g, 0]:
            label = label_of(spans, g, base, labels, most_length, by_source)
            symbols[at] = 2 * (2 * label + g_number) + 1
            i = spans[g, 1]
        else:
            symbols[at] = 2 * source_ids[source + i] + 2
            for link in range(link_starts[i], link_starts[i + 1]):
                # places[j] is that of target word j among the symbols
                bit = place * most_symbols + places[links[link, 1]]
                symbols[mask + bit // BITS] |= np.int32(1) << np.int32(bit % BITS)
            i += 1
        at += 1
        place += 1
    return int(mask + masks)


@jit
def label_of(
    spans: I4, phrase: int, base: int, labels: I4, most_length: int, by_source: bool
) -> int:
    """Return the label of a phrase pair."""
    if len(labels) == 0:
        return 0
    column = 0 if by_source else 2
    start, end = spans[phrase, column], spans[phrase, column + 1]
    return int(labels[(base + start) * most_length + end - start - 1])


@jit
def once(
    symbols: I4, ends: I8, at: int, masks: int, slots: I8, stamps: I8,
    others: I8, stamp: int, begin: int, written: int, values: F8,
) -> int:  # fmt: skip
    """Keep the sequence that was written last, to `at`, or count it for the same one before it.

    Returns how many sequences there are then.
    """
    start = ends[written]
    size = at - masks - start
    # FNV-1a over all but the alignment
    key = np.uint64(14695981039346656037)
    for x in range(start, start + size):
        key = (key ^ np.uint64(np.uint32(symbols[x]))) * np.uint64(1099511628211)
    key ^= key >> np.uint64(29)
    slot = np.int64(key & np.uint64(len(slots) - 1))
    # slots with another stamp are of earlier sentence pairs, and free
    while stamps[slot] == stamp:
        known = slots[slot]
        if ends[known + 1] - ends[known] == at - start and alike(symbols, ends[known], start, size):
            # the same rule: look for the same alignment in its chain
            while not alike(symbols, ends[known] + size, start + size, masks):
                # the chain ends: a new alignment of a rule that this pair has already
                if others[known - begin] < 0:
                    others[known - begin] = written
                    others[written - begin] = -1
                    values[written, 0], values[written, 1] = 1.0, 0.0
                    ends[written + 1] = at
                    return written + 1
                known = others[known - begin]
            values[known, 0] += 1.0
            return written
        slot = (slot + 1) & (len(slots) - 1)
    stamps[slot], slots[slot] = stamp, written
    others[written - begin] = -1
    values[written, 0], values[written, 1] = 1.0, 1.0
    ends[written + 1] = at
    return written + 1
