"""Make records of phrase pairs, exchange their sides, and write them: compiled loops.

A record is two phrases of words, each numbered from 1 on, with 0 between them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.jit import jit

Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]


@jit
def pack(
    spans: Ints,
    pairs: Offsets,
    source: Ints,
    source_offsets: Offsets,
    target: Ints,
    target_offsets: Offsets,
    offsets: Offsets,
    symbols: Ints,
) -> None:
    """Write phrase pairs as records, the target phrase first.

    Parameters
    ----------
    spans
        (Q, 4): source start and end, target start and end.
    pairs
        (Q,): the sentence pair of each.
    source, source_offsets, target, target_offsets
        As in `TokenArrays`.
    offsets, symbols
        (Q + 1,) and (S,): where each record begins, and where to write.
    """
    for q in range(len(spans)):
        at = offsets[q]
        begin = target_offsets[pairs[q]]
        for k in range(begin + spans[q, 2], begin + spans[q, 3]):
            symbols[at] = target[k] + 1
            at += 1
        symbols[at] = 0
        at += 1
        begin = source_offsets[pairs[q]]
        for k in range(begin + spans[q, 0], begin + spans[q, 1]):
            symbols[at] = source[k] + 1
            at += 1


@jit
def number_groups(symbols: Ints, offsets: Offsets, before: Ints, last: int) -> Offsets:
    """Return the group of each of some sorted records: those with the same first phrase.

    Parameters
    ----------
    symbols, offsets
        The records.
    before, last
        The first phrase, with its 0, and the number of the group before; empty and -1 where there
        is none.

    Returns
    -------
    numbers
        (R,): the group of each record.
    """
    numbers = np.empty(len(offsets) - 1, np.int64)
    known, at, stop = before, 0, len(before)
    for k in range(len(numbers)):
        start = offsets[k]
        i = 0
        while at + i < stop and known[at + i] == symbols[start + i] and known[at + i] != 0:
            i += 1
        if at + i == stop or known[at + i] != symbols[start + i]:
            last += 1
        numbers[k] = last
        known, at, stop = symbols, start, offsets[k + 1]
    return numbers


@jit
def exchange(symbols: Ints, offsets: Offsets, kept: Bytes, ranks: Ints) -> tuple[Ints, Offsets]:
    """Exchange the phrases of records, and number words anew; of what is not kept one phrase stays.

    Parameters
    ----------
    symbols, offsets
        The records.
    kept
        (R,): 0 leaves out what was the first phrase.
    ranks
        The new number of each word, from 0 on.
    """
    new = np.zeros(len(offsets), np.int64)
    made = np.empty(len(symbols), np.int32)
    at = 0
    for k in range(len(offsets) - 1):
        middle = offsets[k]
        while symbols[middle] != 0:
            middle += 1
        for i in range(middle + 1, offsets[k + 1]):
            made[at] = ranks[symbols[i] - 1] + 1
            at += 1
        made[at] = 0
        at += 1
        if kept[k]:
            for i in range(offsets[k], middle):
                made[at] = ranks[symbols[i] - 1] + 1
                at += 1
        new[k + 1] = at
    return made[:at].copy(), new


@jit
def write(
    symbols: Ints,
    offsets: Offsets,
    shown: Offsets,
    words: Bytes,
    word_ends: Offsets,
    numbers: Bytes,
    number_ends: Offsets,
    places: Offsets,
) -> Bytes:
    """Write records as lines of tab-separated columns: two phrases, and what belongs to each.

    Parameters
    ----------
    symbols, offsets
        The records.
    shown
        Which of them.
    words, word_ends
        The text of all words, and (V + 1,) where each ends, from 0 on.
    numbers, number_ends, places
        Other texts likewise; (shown, C): which of them stand in the C columns behind the phrases.
    """
    size = 0
    for row in range(len(shown)):
        k = shown[row]
        for i in range(offsets[k], offsets[k + 1]):
            if symbols[i] > 0:
                size += word_ends[symbols[i]] - word_ends[symbols[i] - 1] + 1
        for c in range(places.shape[1]):
            size += number_ends[places[row, c] + 1] - number_ends[places[row, c]] + 1
    text = np.empty(size, np.uint8)
    at = 0
    for row in range(len(shown)):
        k = shown[row]
        for i in range(offsets[k], offsets[k + 1]):
            if symbols[i] == 0:
                text[at - 1] = 9
                continue
            for j in range(word_ends[symbols[i] - 1], word_ends[symbols[i]]):
                text[at] = words[j]
                at += 1
            text[at] = 32
            at += 1
        text[at - 1] = 9
        for c in range(places.shape[1]):
            for j in range(number_ends[places[row, c]], number_ends[places[row, c] + 1]):
                text[at] = numbers[j]
                at += 1
            text[at] = 9
            at += 1
        text[at - 1] = 10
    return text
