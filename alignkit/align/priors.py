"""Priors of alignment: spelling, dictionaries, and words of the same stem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from numbers import Real
from typing import NamedTuple
from unicodedata import combining, normalize

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import words
from alignkit.align.cooccurrence import Cooccurrence
from alignkit.align.maximization_kernel import numbers_in
from alignkit.align.priors_kernel import add_backing, add_similarity, add_to_stems, sum_stems
from alignkit.errors import ArgumentError, OptionError

LEAST_PREFIX = 3  # the fewest letters that a common prefix counts from


SMOOTH = 0.5  # added to the count of a stem before it divides

_MARKS = {*range(10, 36), *range(200, 256)}
"""Unicode's classes of the marks of Latin, Greek, Cyrillic, Hebrew and Arabic.

Signs that belong to a letter, as the virama or the voiced sound mark, are in others.
"""

SMALL = 2000  # in texts of fewer pairs stems are shorter by a letter


def stem_length(pairs: int) -> int:
    """Return the letters of a stem where none are chosen: few words are seen often in few pairs."""
    return 3 if pairs < SMALL else 4


def unmarked(word: str) -> str:
    """Return a word without its accents, breathings, points and vowel marks."""
    if word.isascii():
        return word
    parts = normalize("NFD", word)
    if not any(map(combining, parts)):
        return word
    letters = (letter for letter in parts if combining(letter) not in _MARKS)
    return normalize("NFC", "".join(letters)) or word


def letters(words: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the code points of some words without their marks; see `code_points`."""
    return code_points(list(map(unmarked, words)))


def code_points(words: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the code points of some words one after the other, and where each word begins."""
    starts = np.zeros(len(words) + 1, np.int64)
    np.cumsum([len(word) for word in words], out=starts[1:])
    text = "".join(words).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(text, np.uint32), starts


def spelling_prior(
    index: Cooccurrence,
    source: Sequence[str],
    target: Sequence[str],
    weight: float,
    identity: float = 0.0,
) -> NDArray[np.float32]:
    """Return pseudo-counts for words that are spelled alike, whatever their marks."""
    prior = np.zeros(len(index.columns), np.float32)
    if weight > 0 or identity > 0:
        add_similarity(
            index.rows, index.columns, *letters(source), *letters(target),
            LEAST_PREFIX, float(weight), float(identity), prior,
        )  # fmt: skip
    return prior


def check_dictionary(dictionary: Mapping[tuple[str, str], float]) -> None:
    """Refuse a dictionary that does not hold numbers by pairs of words."""
    for entry, count in dictionary.items():
        if not (isinstance(entry, tuple) and len(entry) == 2):
            raise ArgumentError(f"dictionary has {str(entry)[:40]!r}; its keys are pairs of words")
        words("the words of dictionary", entry)
        if isinstance(count, bool) or not isinstance(count, Real):
            raise ArgumentError(f"dictionary[{entry!r}] is {str(count)[:40]!r}, not a number")
        if isnan(count):
            raise OptionError(f"dictionary[{entry!r}] must be a number, not nan")


def add_dictionary(
    prior: NDArray[np.float32],
    index: Cooccurrence,
    source: Sequence[str],
    target: Sequence[str],
    dictionary: Mapping[tuple[str, str], float],
) -> int:
    """Add the pseudo-counts of a dictionary to a prior (K,); return how many entries occur."""
    source_numbers = {word: number for number, word in enumerate(source)}
    target_numbers = {word: number for number, word in enumerate(target)}
    count = 0
    for (one, other), weight in dictionary.items():
        if not 0 <= weight < 1e9:
            raise OptionError(
                f"{one} ~ {other} has the pseudo-count {weight}; it must be at least 0"
            )
        row, column = source_numbers.get(one), target_numbers.get(other)
        if row is None or column is None:
            continue
        begin, end = index.rows[row], index.rows[row + 1]
        place = begin + np.searchsorted(index.columns[begin:end], column)
        if place < end and index.columns[place] == column:
            prior[place] += weight
            count += 1
    return count


class Stems(NamedTuple):
    """The stems of words: how they begin."""

    numbers: NDArray[np.int32]  # (V,) int32: the stem of each word
    size: int  # how many stems there are
    shares: NDArray[np.float32]

    @classmethod
    def of(cls, words: Sequence[str], frequencies: NDArray[np.int64], length: int) -> Stems:
        """Find the stems of words, their first `length` letters without marks."""
        known: dict[str, int] = {}
        numbers = np.array(
            [known.setdefault(unmarked(word)[:length], len(known)) for word in words], np.int32
        )
        totals = np.zeros(len(known), np.int64)
        np.add.at(totals, numbers, frequencies)
        shares = (frequencies / totals[numbers]).astype(np.float32)
        return cls(numbers, len(known), shares)


class StemSums(NamedTuple):
    """The counts of pairs of stems, of source stems and of target stems, in units."""

    pairs: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]


class Backing:
    """Lend evidence between words that begin alike, as inflected forms of one word do."""

    def __init__(
        self, index: Cooccurrence, source: Stems, target: Stems, *, strength: float
    ) -> None:
        self._index, self._strength = index, strength
        self._source, self._target = source, target
        members = np.argsort(source.numbers, kind="stable").astype(np.int32)
        starts = np.zeros(source.size + 1, np.int64)
        np.cumsum(np.bincount(source.numbers, minlength=source.size), out=starts[1:])
        self._pairs = np.empty(len(index.columns), np.int32)
        self._number = sum_stems(
            members, starts, index.rows, index.columns, target.numbers, target.size, self._pairs
        )

    def sums(self, counts: NDArray[np.float32]) -> StemSums:
        """Return the sums of the counts (K,) of the word pairs by their stems."""
        sizes = self._number, self._source.size, self._target.size
        sums = StemSums(*(np.zeros(size, np.int64) for size in sizes))
        add_to_stems(
            self._index.rows, self._index.columns, counts, self._pairs,
            self._source.numbers, self._target.numbers, *sums,
        )  # fmt: skip
        return sums

    def add(
        self, counts: NDArray[np.float32], sums: StemSums, weights: NDArray[np.float32]
    ) -> None:
        """Add to `weights` (K,) what `counts` (K,) and their sums tell of the stems."""
        source, target = self._source, self._target
        add_backing(
            self._index.rows, self._index.columns, counts, self._pairs,
            source.numbers, target.numbers, source.shares, np.sqrt(target.shares),
            sums.pairs, numbers_in(sums.source) + SMOOTH, numbers_in(sums.target) + SMOOTH,
            self._strength, weights,
        )  # fmt: skip
