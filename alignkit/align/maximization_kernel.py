"""Number the word pairs of a text, and sum expected links by them: the M-step of word pairs.

A *word pair* is a source word and a target word that occur in some sentence pair together; the
*cell* (i, j) of a sentence pair is the word pair of its source word i and its target word j. For
example, with the sentence pairs "a b / x" and "a / x y"::

    word pairs   0: a x    1: a y    2: b x     row by row: a has two, b one
    cells        0 2                            of "a b / x"
                 0 1                            of "a / x y"

`sort_words`, `count_columns` and `fill_columns` make this index (`Cooccurrence`); the functions
behind them add up numbers of cells by word pair.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import F4, F8, I4, I8, U1
from alignkit._support.jit import inlined, jit

# Sums are whole numbers of units of 2^-32, which add up to the same in any order, over any parts
UNITS = 2.0**32
LARGEST = 2.0**30  # the most that a sum holds; what is beyond is cut, so that no sum overflows
MOST = 2**62 - 1  # the same in units
LIKELIHOOD_UNITS = 2.0**16  # those of log-likelihoods


@inlined
def plus(total: int, number: float) -> int:
    """Return a sum of units with a number, at least 0, added to it."""
    more = total + np.int64(min(np.float64(number), LARGEST) * UNITS + 0.5)
    return min(int(more), MOST)


def add_up(sums: Iterable[I8]) -> I8:
    """Return the sum of arrays of units."""
    left = iter(sums)
    total = next(left).copy()
    for other in left:
        total += other
        np.minimum(total, MOST, out=total)
    return total


class Occurrences(NamedTuple):
    """The places of the words of P target sentences, word by word, in their order in the text."""

    first: I8  # (Vt + 1,) the places of target word w are from first[w] to before first[w + 1]
    pair_of: I4  # (Tt,) the sentence pair of each place
    position: I4  # (Tt,) the position in the sentence


class IndexedText(NamedTuple):
    """The text of an index: P sentence pairs, and where their words and cells begin."""

    source: I4  # (Ts,) the number of each source word
    source_starts: I8  # (P + 1,)
    target_starts: I8  # (P + 1,)
    cell_starts: I8  # (P + 1,) cell (i, j) of pair p, with M target words, is at start + i * M + j


class IndexOutput(NamedTuple):
    """Where an index of word pairs is written."""

    free: I8  # (Vs,) where the next word pair of each source word goes; moves on with each
    columns: I4  # (K,) the target word of each word pair
    cells: I4  # (C,) the word pair of each cell


@jit
def sort_words(target: I4, target_starts: I8, words: int) -> Occurrences:
    """Return where each of so many target words occurs.

    A counting sort, linear in the number of target words.
    """
    first = np.zeros(words + 1, np.int64)
    for word in target:
        first[word + 1] += 1
    for word in range(words):
        first[word + 1] += first[word]
    pair_of = np.empty(len(target), np.int32)
    position = np.empty(len(target), np.int32)
    free = first[:-1].copy()
    for pair in range(len(target_starts) - 1):
        for at in range(target_starts[pair], target_starts[pair + 1]):
            slot = free[target[at]]
            free[target[at]] += 1
            pair_of[slot] = pair
            position[slot] = at - target_starts[pair]
    return Occurrences(first, pair_of, position)


@jit
def count_columns(begin: int, end: int, target: Occurrences, text: IndexedText, counts: I4) -> None:
    """Count how many target words from begin to before end each source word meets (Vs,)."""
    latest = np.full(len(counts), -1, np.int32)  # the target word that each source word met last
    for word in range(begin, end):
        for slot in range(target.first[word], target.first[word + 1]):
            pair = target.pair_of[slot]
            for at in range(text.source_starts[pair], text.source_starts[pair + 1]):
                other = text.source[at]
                # met for the first time with this target word
                if latest[other] != word:
                    latest[other] = word
                    counts[other] += 1


@jit
def fill_columns(
    begin: int, end: int, target: Occurrences, text: IndexedText, to: IndexOutput
) -> None:
    """Give numbers to the word pairs of the target words from begin to before end, and set cells.

    Target word by target word, in their order: so the columns of each row rise without sorting.
    """
    source = text.source
    free, columns, cells = to
    latest = np.full(len(free), -1, np.int32)  # the target word that each source word met last
    for word in range(begin, end):
        for slot in range(target.first[word], target.first[word + 1]):
            pair = target.pair_of[slot]
            length = text.target_starts[pair + 1] - text.target_starts[pair]
            # down the column of this target word: cells (0, j), (1, j), ...
            cell = text.cell_starts[pair] + target.position[slot]
            for at in range(text.source_starts[pair], text.source_starts[pair + 1]):
                other = source[at]
                if latest[other] != word:
                    latest[other] = word
                    columns[free[other]] = word
                    free[other] += 1
                # the latest word pair of this source word is that with this target word
                cells[cell] = free[other] - 1
                cell += length


@jit
def add_chances(starts: I8, cells: I4, sums: I8) -> None:
    """Add 1 / (N M) for each cell to the sums (K,) of their word pairs: all links alike."""
    for pair in range(len(starts) - 1):
        begin, end = starts[pair], starts[pair + 1]
        # end - begin = N M
        chance = plus(0, 1.0 / max(end - begin, 1))
        # a pair adds about 1 at most to a sum: the cap of `plus` only matters beyond 2^30 pairs
        for cell in range(begin, end):
            sums[cells[cell]] += chance


@jit
def add_levels(cells: I4, evidence: U1, sums: I8) -> None:
    """Add the evidence (C,) of all cells to the sums (K,) of their word pairs."""
    for cell in range(len(cells)):
        if evidence[cell] > 0:
            sums[cells[cell]] += evidence[cell]


@jit
def add_posteriors(cells: I4, posteriors: F4, sums: F8) -> None:
    """Add the posteriors (C,) of all cells to the sums (K,) of their word pairs."""
    for cell in range(len(cells)):
        sums[cells[cell]] += posteriors[cell]


@jit
def add_nulls(ids: I4, posteriors: F4, sums: I8) -> None:
    """Add the posteriors (T,) of the empty word to the sums (V,) of the words it is linked to."""
    for at in range(len(ids)):
        sums[ids[at]] = plus(sums[ids[at]], posteriors[at])


@jit
def sum_totals(rows: I8, columns: I4, weights: F4, source_totals: I8, target_totals: I8) -> None:
    """Set the totals (Vs,) of the source words, and add to those (Vt,) of the target words."""
    for word in range(len(rows) - 1):
        total = 0
        for place in range(rows[word], rows[word + 1]):
            column = columns[place]
            total = plus(total, weights[place])
            target_totals[column] = plus(target_totals[column], weights[place])
        source_totals[word] = total


@jit
def add_positions(places: I8, starts: I8, posteriors: F4, sums: F8) -> None:
    """Add the posteriors (C,) to the position tables (S,) of the sentence lengths."""
    for pair in range(len(places)):
        start = starts[pair]
        for cell in range(start, starts[pair + 1]):
            sums[places[pair] + cell - start] += posteriors[cell]
