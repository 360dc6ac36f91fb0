"""Priors of alignment: spelling, dictionaries, what words mean, and words of the same stem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from numbers import Real
from unicodedata import combining, normalize

import numpy as np

from alignkit._support.arguments import words
from alignkit._support.array_types import F4, F8, I8, U2
from alignkit.align import priors_kernel as kernel
from alignkit.align.cooccurrence import Cooccurrence
from alignkit.align.priors_kernel import Similarity, Spellings, Stems, StemSums
from alignkit.errors import ArgumentError, OptionError

LEAST_PREFIX = 3  # the fewest letters that a common prefix counts from

_MARKS = {*range(10, 36), *range(200, 256)}
"""Unicode combining classes of the marks of Latin, Greek, Cyrillic, Hebrew and Arabic.

Marks that are part of a letter, such as the virama or the voiced sound mark, have other classes.
"""
_CELLS = 1 << 22  # cells whose shares are added at a time


def unmarked(word: str) -> str:
    """Return a word without its accents, breathings, points and vowel marks."""
    if word.isascii():
        return word
    parts = normalize("NFD", word)
    if not any(map(combining, parts)):
        return word
    letters = (letter for letter in parts if combining(letter) not in _MARKS)
    return normalize("NFC", "".join(letters)) or word


def letters(words: Sequence[str]) -> Spellings:
    """Return the spelling of words without their marks."""
    return code_points(list(map(unmarked, words)))


def code_points(words: Sequence[str]) -> Spellings:
    """Return the spelling of words."""
    starts = np.zeros(len(words) + 1, np.int64)
    np.cumsum([len(word) for word in words], out=starts[1:])
    data = "".join(words).encode("utf-32-le", "surrogatepass")
    return Spellings(np.frombuffer(data, np.uint32), starts)


def spelling_prior(
    index: Cooccurrence,
    source: Sequence[str],
    target: Sequence[str],
    weight: float,
    identity: float = 0.0,
) -> F4:
    """Return pseudo-counts for words with similar spelling, ignoring marks."""
    prior = np.zeros(len(index.columns), np.float32)
    if weight > 0 or identity > 0:
        similarity = Similarity(LEAST_PREFIX, float(weight), float(identity))
        kernel.add_similarity(index.pairs, letters(source), letters(target), similarity, prior)
    return prior


def check_dictionary(dictionary: Mapping[tuple[str, str], float]) -> None:
    """Raise an error unless the dictionary maps pairs of words to numbers."""
    for entry, count in dictionary.items():
        if not (isinstance(entry, tuple) and len(entry) == 2):
            raise ArgumentError(f"dictionary has {str(entry)[:40]!r}; its keys must be word pairs")
        words("the words of dictionary", entry)
        if isinstance(count, bool) or not isinstance(count, Real):
            raise ArgumentError(f"dictionary[{entry!r}] is {str(count)[:40]!r}, not a number")
        if isnan(count):
            raise OptionError(f"dictionary[{entry!r}] must be a number, not nan")


def folded_dictionary(
    dictionary: Mapping[tuple[str, str], float], *, casefold: bool
) -> dict[tuple[str, str], float]:
    """Return a dictionary with words as a bitext has them; of equal entries, the last is kept."""
    if not casefold:
        return dict(dictionary)
    folded = {}
    for (word, translation), count in dictionary.items():
        folded[word.casefold(), translation.casefold()] = count
    return folded


def add_dictionary(
    prior: F4,
    index: Cooccurrence,
    source: Sequence[str],
    target: Sequence[str],
    dictionary: Mapping[tuple[str, str], float],
) -> int:
    """Add the pseudo-counts of a dictionary to a prior (K,); return how many entries occur."""
    source_numbers = {word: k for k, word in enumerate(source)}
    target_numbers = {word: k for k, word in enumerate(target)}
    count = 0
    for (word, translation), weight in dictionary.items():
        if not 0 <= weight < 1e9:
            raise OptionError(
                f"{word} ~ {translation} has the pseudo-count {weight}; it must be at least 0"
            )
        row = source_numbers.get(word)
        column = target_numbers.get(translation)
        if row is None or column is None:
            continue
        begin = index.rows[row]
        end = index.rows[row + 1]
        place = begin + np.searchsorted(index.columns[begin:end], column)
        if place < end and index.columns[place] == column:
            prior[place] += weight
            count += 1
    return count


def cut_dictionary(
    dictionary: Mapping[tuple[str, str], float], letters: int, *, casefold: bool
) -> dict[tuple[str, str], float]:
    """Cut the words of a dictionary to prefixes; merged entries keep the greatest count."""
    cut: dict[tuple[str, str], float] = {}
    for entry, count in dictionary.items():
        source, target = entry
        if casefold:
            source = source.casefold()
            target = target.casefold()
        short = source[:letters], target[:letters]
        cut[short] = max(count, cut.get(short, 0))
    return cut


def stems_of_words(words: Sequence[str], frequencies: I8, length: int) -> Stems:
    """Return the stems of words, their first `length` letters without marks."""
    known: dict[str, int] = {}
    stems = [unmarked(word)[:length] for word in words]
    numbers = np.array([known.setdefault(stem, len(known)) for stem in stems], np.int32)
    totals = np.zeros(len(known), np.int64)
    np.add.at(totals, numbers, frequencies)
    shares = frequencies / totals[numbers]
    return Stems(numbers, len(known), shares.astype(np.float32))


class Backing:
    """Evidence shared by words with the same stem, such as inflected forms of one word."""

    def __init__(
        self, index: Cooccurrence, source: Stems, target: Stems, *, strength: float
    ) -> None:
        self._index = index
        self._strength = strength
        self._source = source
        self._target = target
        members = np.argsort(source.numbers, kind="stable").astype(np.int32)
        starts = np.zeros(source.size + 1, np.int64)
        np.cumsum(np.bincount(source.numbers, minlength=source.size), out=starts[1:])
        self._pairs = np.empty(len(index.columns), np.int32)
        self._number = kernel.sum_stems(index.pairs, members, starts, target, self._pairs)

    def sums(self, counts: F4) -> StemSums:
        """Return the sums of the counts (K,) of word pairs by their stems."""
        sums = StemSums(
            np.zeros(self._number, np.int64),
            np.zeros(self._source.size, np.int64),
            np.zeros(self._target.size, np.int64),
        )
        both = self._source, self._target
        kernel.add_to_stems(self._index.pairs, counts, self._pairs, *both, sums)
        return sums

    def add(self, counts: F4, sums: StemSums, weights: F4) -> None:
        """Add the evidence of stems, from `counts` (K,) and their sums, to `weights` (K,)."""
        both = self._source, self._target
        kernel.add_backing(
            self._index.pairs, counts, self._pairs, *both, sums, self._strength, weights
        )


def add_shares(prior: F4, index: Cooccurrence, shares: U2, weight: float) -> None:
    """Add to a prior (K,) the mean of the shares (C,) of the cells of each word pair x weight."""
    add_mean_shares(prior, *sums_of_shares(index, shares), weight)


def add_mean_shares(prior: F4, sums: F8, counts: I8, weight: float) -> None:
    """Add to a prior (K,) the mean shares x weight, given the results of `sums_of_shares`."""
    from alignkit.align.encoder.shares import UNITS

    means = sums / np.maximum(counts, 1) / UNITS
    prior += (weight * means).astype(np.float32)


def sums_of_shares(index: Cooccurrence, shares: U2) -> tuple[F8, I8]:
    """Return for each word pair the sum of the shares (C,) of its cells, and their number."""
    size = len(index.columns)
    sums = np.zeros(size)
    counts = np.zeros(size, np.int64)
    chunk = max(_CELLS, size)
    for begin in range(0, len(shares), chunk):
        cells = np.asarray(index.cells[begin : begin + chunk])
        # sums of whole numbers: exact, whatever the order
        sums += np.bincount(cells, weights=shares[begin : begin + chunk], minlength=size)
        counts += np.bincount(cells, minlength=size)
    return sums, counts
