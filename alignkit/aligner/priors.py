"""Give the aligner what is known before: spelling, dictionaries, and words of the same stem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.bitext import Side
from alignkit.aligner.cooccurrence import Cooccurrence
from alignkit.aligner.priors_kernel import add_backing, add_similarity, sum_stems
from alignkit.errors import OptionError

__all__ = ["LEAST_PREFIX", "Backing", "add_dictionary", "letters", "spelling_prior"]

LEAST_PREFIX = 3
"""The fewest letters that a common prefix counts from."""


def letters(words: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
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
    """Return pseudo-counts for words that are spelled alike.

    `weight` for equal words, `weight` times the common prefix over the longer length where that
    prefix has `LEAST_PREFIX` letters, and `identity` more for equal words (the word-identity
    lexicon of Cohn, Callison-Burch & Lapata 2008).

    Returns
    -------
    (K,) float32 array
    """
    prior = np.zeros(len(index.columns), np.float32)
    if weight > 0 or identity > 0:
        add_similarity(
            index.rows, index.columns, *letters(source), *letters(target),
            LEAST_PREFIX, float(weight), float(identity), prior,
        )  # fmt: skip
    return prior


def add_dictionary(
    prior: NDArray[np.float32],
    index: Cooccurrence,
    source: Sequence[str],
    target: Sequence[str],
    dictionary: Mapping[tuple[str, str], float],
) -> int:
    """Add the pseudo-counts of a dictionary to a prior (K,); return how many entries occur.

    Raises
    ------
    OptionError
        If a pseudo-count is negative, or no number.
    """
    source_numbers = {word: number for number, word in enumerate(source)}
    target_numbers = {word: number for number, word in enumerate(target)}
    found = 0
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
            found += 1
    return found


class Backing:
    """Lend evidence between words that begin alike, as inflected forms of one word do.

    Word pairs that were rarely seen get pseudo-counts from the other pairs of the same two stems,
    a stem being the first `length` letters. So ``parlez ~ speak`` helps ``parlons ~ speaking``.

    Parameters
    ----------
    index
        The word pairs.
    source, target
        The words of both languages, with their frequencies.
    length
        Letters of a stem.
    strength
        The weight of the stems' evidence, in counts.
    """

    def __init__(
        self, index: Cooccurrence, source: Side, target: Side, *, length: int, strength: float
    ) -> None:
        self._index, self._strength = index, strength
        self._source, sources, share = _stems(source, length)
        self._source_share = share.astype(np.float32)
        self._target, targets, share = _stems(target, length)
        self._target_share = np.sqrt(share).astype(np.float32)
        members = np.argsort(self._source, kind="stable").astype(np.int32)
        starts = np.zeros(sources + 1, np.int64)
        np.cumsum(np.bincount(self._source, minlength=sources), out=starts[1:])
        self._pairs = np.empty(len(index.columns), np.int32)
        number = sum_stems(
            members, starts, index.rows, index.columns, self._target, targets, self._pairs
        )
        self._sums = np.empty(number, np.float32)
        self._source_sums = np.empty(sources)
        self._target_sums = np.empty(targets)

    def add(self, counts: NDArray[np.float32], weights: NDArray[np.float32]) -> None:
        """Add to `weights` (K,) what `counts` (K,) tell of the stems."""
        add_backing(
            self._index.rows,
            self._index.columns,
            counts,
            self._pairs,
            self._source,
            self._target,
            self._source_share,
            self._target_share,
            self._sums,
            self._source_sums,
            self._target_sums,
            self._strength,
            weights,
        )


def _stems(side: Side, length: int) -> tuple[NDArray[np.int32], int, NDArray[np.float64]]:
    """Find the stems; return that of each word, how many, and the word's share of it."""
    numbers: dict[str, int] = {}
    stems = np.array(
        [numbers.setdefault(word[:length], len(numbers)) for word in side.words], np.int32
    )
    totals = np.bincount(stems, weights=side.frequencies, minlength=len(numbers))
    return stems, len(numbers), side.frequencies / totals[stems]
