"""Make records of phrase pairs, exchange their sides, and write them: compiled loops.

A record is two phrases of words, each numbered from 1 on, with 0 between them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import F8, I4, I8, U1
from alignkit._support.jit import inlined, jit

Records = tuple[I4, I8, F8]
"""R records: symbols (S,), offsets (R + 1,) and values (R, K); see `alignkit.rules.tables.runs`."""


@jit
def pack(
    spans: I4,
    pairs: I8,
    source: I4,
    source_offsets: I8,
    target: I4,
    target_offsets: I8,
    offsets: I8,
    symbols: I4,
) -> None:
    """Write phrase pairs as records, the target phrase first.

    spans: (Q, 4): source start and end, target start and end.
    pairs: (Q,): the sentence pair of each.
    source, source_offsets, target, target_offsets: As in `TokenArrays`.
    offsets, symbols: (Q + 1,) and (S,): where each record begins, and where to write.
    """
    for q in range(len(spans)):
        at = offsets[q]
        # target words, 0, source words
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
def number_groups(symbols: I4, offsets: I8, before: I4, last: int) -> I8:
    """Return the group of each of some sorted records: those with the same first phrase.

    symbols, offsets: The records.
    before, last: The first phrase, with its 0, and the number of the group before; empty and -1
        where there is none.
    Returns: (R,): the group of each record.
    """
    numbers = np.empty(len(offsets) - 1, np.int64)
    known = before
    at = 0
    stop = len(before)
    for k in range(len(numbers)):
        start = offsets[k]
        i = 0
        # compare with the first phrase of the record before, up to its 0
        while at + i < stop and known[at + i] == symbols[start + i] and known[at + i] != 0:
            i += 1
        if at + i == stop or known[at + i] != symbols[start + i]:
            last += 1
        numbers[k] = last
        known = symbols
        at = start
        stop = offsets[k + 1]
    return numbers


@jit
def exchange(symbols: I4, offsets: I8, kept: U1, ranks: I4) -> tuple[I4, I8]:
    """Exchange the phrases of records, and number words anew; of what is not kept one phrase stays.

    symbols, offsets: The records.
    kept: (R,): 0 leaves out what was the first phrase.
    ranks: The new number of each word, from 0 on.
    """
    new = np.zeros(len(offsets), np.int64)
    made = np.empty(len(symbols), np.int32)
    at = 0
    for k in range(len(offsets) - 1):
        # the 0 between the phrases
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
    symbols: I4,
    offsets: I8,
    shown: I8,
    words: U1,
    word_ends: I8,
    numbers: U1,
    number_ends: I8,
    places: I8,
) -> U1:
    """Write records as lines of tab-separated columns: two phrases, and what belongs to each.

    symbols, offsets: The records.
    shown: Which of them.
    words, word_ends: The text of all words, and (V + 1,) where each ends, from 0 on.
    numbers, number_ends, places: Other texts likewise; (shown, C): which of them stand in the C
        columns behind the phrases.
    """
    # first how many bytes there will be, then the bytes
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
            # the space behind the last word becomes the tab
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
        # and the last tab the line feed
        text[at - 1] = 10
    return text


LIMBS = 3
BITS = 28
"""A probability is held as whole numbers of 2^-28, 2^-56 and 2^-84: up to 2^25 of them add up
without rounding, so that a sum does not depend on its order."""

_UNIT = 2.0**BITS


@inlined
def alike(symbols: I4, start: int, other: int, size: int) -> bool:
    """Return whether two stretches hold the same numbers."""
    same = 0
    while same < size and symbols[start + same] == symbols[other + same]:
        same += 1
    return same == size


class SymbolNames(NamedTuple):
    """What each of C symbols is called."""

    ranks: I4  # (C,) the name of each
    numbers: I4  # (C,) the number of the variable that it is; -1 for others
    renamed: I4  # (C, N) the symbol of the same variable with another number

    @classmethod
    def without_variables(cls, count: int) -> SymbolNames:
        """Return the names of symbols that keep their numbers, and are no variables."""
        ranks = np.arange(count, dtype=np.int32)
        return cls(ranks, np.full(count, -1, np.int32), np.zeros((count, 1), np.int32))


@inlined
def rename(symbol: int, names: SymbolNames, new_numbers: I4) -> int:
    """Return what a symbol is called once variables have their new numbers."""
    number = names.numbers[symbol]
    if number >= 0:
        symbol = names.renamed[symbol, new_numbers[number]]
    return int(names.ranks[symbol])


@jit
def join(
    records: Records, partners: I8, state: I8, identity: bool, names: SymbolNames, to: Records
) -> int:
    """Write the paths from phrases over their pivots to other phrases.

    records: The entries of the tables; their values are p(pivot | phrase) and p(phrase | pivot).
    partners: (R, 3): where the phrase begins, and the first and last record (half-open) to join it
        with.
    state: The record and the other one to go on with.
    identity: Whether to keep the paths from a phrase to itself.
    names: What symbols are called in the paths.
    to: Where to write: a phrase, 0, the other phrase; variables are numbered from left to right in
        the first. The values are the limbs of a path in both directions, and 1.
    Returns: How many were written; fewer than there is room for, where this was all.
    """
    symbols, offsets, values = records
    out, out_offsets, out_values = to
    written = 0
    new_numbers = np.zeros(names.renamed.shape[1], np.int32)
    first = state[0]
    other = state[1]
    while first < len(partners):
        begin = partners[first, 0]
        end = offsets[first + 1]
        other = max(other, partners[first, 1])
        # variables of the first phrase are called 0, 1 .. from left to right
        numbered = 0
        for k in range(begin, end):
            number = names.numbers[symbols[k]]
            if number >= 0:
                new_numbers[number] = numbered
                numbered += 1
        while other < partners[first, 2]:
            start = partners[other, 0]
            stop = offsets[other + 1]
            size = end - begin
            if not identity and stop - start == size and alike(symbols, begin, start, size):
                other += 1
                continue
            at = out_offsets[written]
            # full: the next call goes on with this path
            if written == len(out_values) or at + size + stop - start + 1 > len(out):
                state[0] = first
                state[1] = other
                return written
            for k in range(begin, end):
                out[at] = rename(symbols[k], names, new_numbers)
                at += 1
            out[at] = 0
            at += 1
            for k in range(start, stop):
                out[at] = rename(symbols[k], names, new_numbers)
                at += 1
            # p(other | first) = sum over pivots of p(pivot | first) p(other | pivot), and back
            divide(values[first, 0] * values[other, 1], out_values, written, 0)
            divide(values[other, 0] * values[first, 1], out_values, written, LIMBS)
            out_values[written, 2 * LIMBS] = 1.0
            written += 1
            out_offsets[written] = at
            other += 1
        first += 1
        other = 0
    state[0] = first
    state[1] = 0
    return written


@inlined
def divide(number: float, out: F8, row: int, first: int) -> None:
    """Write a number from 0 to 1 as limbs; what is below the last one is left out."""
    for k in range(LIMBS):
        # the next 28 bits of the number
        number *= _UNIT
        whole = np.floor(number)
        out[row, first + k] = whole
        number -= whole
