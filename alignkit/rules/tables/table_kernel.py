"""Make records of phrase pairs, exchange their sides, and write them: compiled loops.

A record is two phrases with 0 between them. Words are given as *symbols*, their numbers plus 1: if
``the``, ``house`` and ``haus`` have the numbers 0, 1 and 2, ``haus, the house`` is 3 0 1 2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import F8, I4, I8, U1
from alignkit._support.jit import inlined, jit
from alignkit.model.phrase_kernel import PairWords
from alignkit.rules.tables.runs_kernel import Records


@jit
def pack(spans: I4, pairs: I8, words: PairWords, offsets: I8, symbols: I4) -> None:
    """Write phrase pairs as records, the target phrase first.

    spans: (Q, 4): source start and end, target start and end.
    pairs: (Q,): the sentence pair of each.
    offsets, symbols: (Q + 1,) and (S,): where each record begins, and where to write.
    """
    for q in range(len(spans)):
        at = offsets[q]
        # target words, 0, source words
        begin = words.target_offsets[pairs[q]]
        for k in range(begin + spans[q, 2], begin + spans[q, 3]):
            symbols[at] = words.target[k] + 1
            at += 1
        symbols[at] = 0
        at += 1
        begin = words.source_offsets[pairs[q]]
        for k in range(begin + spans[q, 0], begin + spans[q, 1]):
            symbols[at] = words.source[k] + 1
            at += 1


@jit
def number_groups(symbols: I4, offsets: I8, before: I4, group: int) -> I8:
    """Return the group of each of some sorted records: those with the same first phrase.

    symbols, offsets: The records.
    before, group: The first phrase, with its 0, and the group of the record before; empty and -1 if
        there is none.
    Returns: (R,): the group of each record.
    """
    groups = np.empty(len(offsets) - 1, np.int64)
    # the record before: other[begin:end]
    other = before
    begin = 0
    end = len(before)
    for k in range(len(groups)):
        start = offsets[k]
        i = 0
        # equal so far, and not yet at the 0
        while begin + i < end and other[begin + i] == symbols[start + i] and other[begin + i] != 0:
            i += 1
        # another first phrase, or no record before
        if begin + i == end or other[begin + i] != symbols[start + i]:
            group += 1
        groups[k] = group
        other = symbols
        begin = start
        end = offsets[k + 1]
    return groups


@jit
def exchange(symbols: I4, offsets: I8, kept: U1, ranks: I4) -> tuple[I4, I8]:
    """Exchange the phrases of records, and number their words anew.

    symbols, offsets: The records.
    kept: (R,): 0 leaves out the first phrase, so the new record ends with the 0 behind the other.
    ranks: The new number of each word, from 0 on.
    """
    new_offsets = np.zeros(len(offsets), np.int64)
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
        new_offsets[k + 1] = at
    return made[:at].copy(), new_offsets


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
    """Write records as lines of tab-separated columns: two phrases, and C numbers.

    symbols, offsets: The records.
    shown: (E,): which of them.
    words, word_ends: The text of all words, and (V + 1,) where each ends, from 0 on.
    numbers, number_ends: The text of all different numbers likewise.
    places: (E, C): which of these numbers stand in each line.
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
"""A probability is held as `LIMBS` whole numbers of 2^-28, 2^-56 and 2^-84: up to 2^25 of them add
up without rounding, so that a sum does not depend on its order."""

_UNIT = 2.0**BITS


@inlined
def alike(symbols: I4, start: int, other: int, size: int) -> bool:
    """Return whether two stretches hold the same numbers."""
    same = 0
    while same < size and symbols[start + same] == symbols[other + same]:
        same += 1
    return same == size


class SymbolNames(NamedTuple):
    """What each of C symbols becomes in a path.

    Symbols that are variables of rules, such as ``x1:NP``, get new numbers there: 0, 1, ... from
    left to right in the first phrase of the path.
    """

    ranks: I4  # (C,) the symbol by which the path has it: from 1 on, in the order of texts
    numbers: I4  # (C,) the number of the variable that it is; -1 for words
    renamed: I4  # (C, N) the symbol of the variable with the same label and each number

    @classmethod
    def without_variables(cls, count: int) -> SymbolNames:
        """Return the names of symbols that are words, and stay as they are."""
        ranks = np.arange(count, dtype=np.int32)
        return cls(ranks, np.full(count, -1, np.int32), np.zeros((count, 1), np.int32))


@inlined
def rename(symbol: int, names: SymbolNames, new_numbers: I4) -> int:
    """Return what a symbol becomes; `new_numbers` has those of variables by their old ones."""
    number = names.numbers[symbol]
    if number >= 0:
        symbol = names.renamed[symbol, new_numbers[number]]
    return int(names.ranks[symbol])


class Partners(NamedTuple):
    """The records that each of R records is joined with: those of the same pivot, in a range."""

    phrases: I8  # (R,) where the phrase behind the pivot begins
    first: I8  # (R,) the first partner
    after: I8  # (R,) the record after the last partner


@jit
def join(
    records: Records, partners: Partners, state: I8, identity: bool, names: SymbolNames, to: Records
) -> int:
    """Write the paths from phrases over their pivots to other phrases.

    records: The entries of the tables; their values are p(pivot | phrase) and p(phrase | pivot).
    state: The record and its partner to go on with; the next call does so if there was no room.
    identity: Whether to keep the paths from a phrase to itself.
    to: Where to write a record for each path: a phrase, 0, the other phrase. The values are the
        limbs of the probability of the path in both directions, and 1.
    Returns: How many were written.
    """
    symbols, offsets, values = records
    out, out_offsets, out_values = to
    written = 0
    new_numbers = np.zeros(names.renamed.shape[1], np.int32)
    first = state[0]
    other = state[1]
    while first < len(partners.phrases):
        begin = partners.phrases[first]
        end = offsets[first + 1]
        other = max(other, partners.first[first])
        # variables of the first phrase are called 0, 1 .. from left to right
        numbered = 0
        for k in range(begin, end):
            number = names.numbers[symbols[k]]
            if number >= 0:
                new_numbers[number] = numbered
                numbered += 1
        while other < partners.after[first]:
            start = partners.phrases[other]
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
    """Write a number from 0 to 1 as limbs, from column `first` on; it is rounded down."""
    for k in range(LIMBS):
        # the next 28 bits of the number
        number *= _UNIT
        whole = np.floor(number)
        out[row, first + k] = whole
        number -= whole
