"""Align by the beginnings of words beside the words themselves, and take the mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.bitext import Bitext, Side
from alignkit.aligner.decoding import Decoding
from alignkit.aligner.decoding_kernel import best_positions
from alignkit.aligner.expectation_kernel import Pairs

F4 = NDArray[np.float32]
F8 = NDArray[np.float64]
I4 = NDArray[np.int32]

PREFIXES = (4, 5)  # the letters that words are cut to, where more than one model aligns


def cut_words(words: Sequence[str], letters: int) -> list[str]:
    """Return the beginnings of words."""
    return [word[:letters] for word in words]


def cut_bitext(bitext: Bitext, letters: int) -> Bitext:
    """Return a bitext with all words cut to so many letters."""
    source, target = (_cut(side, letters) for side in (bitext.source, bitext.target))
    return Bitext(source, target, bitext.casefold)


def _cut(side: Side, letters: int) -> Side:
    numbers: dict[str, int] = {}
    found = [numbers.setdefault(word, len(numbers)) for word in cut_words(side.words, letters)]
    ids = np.array(found, np.int32)[side.ids]
    return Side.by_frequency(list(numbers), ids, side.starts)


def cut_dictionary(
    dictionary: Mapping[tuple[str, str], float], letters: int, *, casefold: bool
) -> dict[tuple[str, str], float]:
    """Return a dictionary of word beginnings; of entries that become one, the greatest count."""
    found: dict[tuple[str, str], float] = {}
    for words, count in dictionary.items():
        folded = [word.casefold() for word in words] if casefold else words
        one, other = cut_words(folded, letters)
        found[one, other] = max(count, found.get((one, other), 0))
    return found


@dataclass(frozen=True, eq=False)
class Averaged:
    """Take the mean of what several models think of the links of the same pairs."""

    decoders: Sequence[Decoding]  # what aligns by each; the first by whole words

    @property
    def pairs(self) -> Pairs:
        """The pairs, by whole words."""
        return self.decoders[0].pairs

    def posteriors(self, begin: int, end: int, likelihoods: F8 | None = None) -> tuple[F4, F4]:
        """Return the mean posteriors of the cells of the pairs from begin to before end."""
        first, *others = self.decoders
        found = [first.posteriors(begin, end, likelihoods)]
        return _mean([*found, *(decoder.posteriors(begin, end) for decoder in others)])

    def lexical(self, begin: int, end: int) -> tuple[F4, F4]:
        """Return the mean posteriors by the words alone, wherever they stand."""
        return _mean([decoder.lexical(begin, end) for decoder in self.decoders])

    def viterbi(self, begin: int, end: int) -> tuple[F4, F4, I4, I4]:
        """Return the posteriors, and the most probable position of each word by them."""
        pairs = self.pairs
        forward, reverse = self.posteriors(begin, end)
        target_path = np.empty(int(pairs.target_starts[end] - pairs.target_starts[begin]), np.int32)
        source_path = np.empty(int(pairs.source_starts[end] - pairs.source_starts[begin]), np.int32)
        best_positions(
            begin, end, pairs.source_starts, pairs.target_starts, forward, reverse,
            target_path, source_path,
        )  # fmt: skip
        return forward, reverse, target_path, source_path


def _mean(found: Sequence[tuple[F4, F4]]) -> tuple[F4, F4]:
    (forward, reverse), *others = found
    for one, other in others:
        forward, reverse = forward + one, reverse + other
    share = np.float32(1 / len(found))
    return forward * share, reverse * share
