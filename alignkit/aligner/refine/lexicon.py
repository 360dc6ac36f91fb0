"""The lexicon of gold: how much more often gold links words than the aligner expects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.refine.cells import Cells, lexicon_columns
from alignkit.errors import AlignerError

F4 = NDArray[np.float32]
F8 = NDArray[np.float64]
I8 = NDArray[np.int64]

_SMOOTH = 0.5


def _log_odds(counts: F8) -> F8:
    """Return how far links (n, 3: linked, expected, cells) exceed what is expected, in log odds."""
    linked, expected, cells = np.maximum(counts, 0).T
    more = np.log((linked + _SMOOTH) / (expected + _SMOOTH))
    less = np.log(
        (np.maximum(cells - linked, 0) + _SMOOTH) / (np.maximum(cells - expected, 0) + _SMOOTH)
    )
    return np.asarray(more - less)


class GoldCounts:
    """Count links of gold by word pair and by word, so that any pairs can be left out."""

    def __init__(self, cells: Cells, labels: F4) -> None:
        self._pair_of = cells.pair_of
        self._values = values = _values(cells, labels)
        source, target = cells.words.astype(np.int64).T
        width = int(target.max(initial=0)) + 1
        self._ids: list[I8] = []
        self._own: list[F8] = []
        for key in (source * width + target, source, target):
            _, numbers = np.unique(key, return_inverse=True)
            numbers = numbers.reshape(-1).astype(np.int64)
            _, own = np.unique(
                self._pair_of * (numbers.max(initial=0) + 1) + numbers, return_inverse=True
            )
            own = own.reshape(-1)
            self._ids.append(numbers)
            self._own.append(_sums(own, values)[own])

    def set_features(self, features: F4, training: NDArray[np.bool_]) -> None:
        """Set the features of all cells to what the training pairs (P,) tell, but their own."""
        inside = training[self._pair_of]
        columns = lexicon_columns(features)
        odds = []
        known = np.zeros(0)
        for numbers, own in zip(self._ids, self._own, strict=True):
            totals = _sums(numbers, self._values * inside[:, None])[numbers]
            rest = totals - own * inside[:, None]
            if not len(known):
                known = np.log1p(np.maximum(rest[:, 2], 0))
            odds.append(_log_odds(rest))
        features[:, columns] = np.stack([*odds, known], axis=1)


def _values(cells: Cells, labels: F4) -> F8:
    columns = np.maximum(labels, 0), cells.features[:, 0], np.ones(len(labels))
    return np.stack(columns, axis=1).astype(np.float64)


def _sums(numbers: I8, values: F8) -> F8:
    count = int(numbers.max(initial=-1)) + 1
    return np.stack(
        [np.bincount(numbers, weights=column, minlength=count) for column in values.T], axis=1
    )


@dataclass(frozen=True, eq=False)
class GoldLexicon:
    """What gold tells of word pairs and of words."""

    source: tuple[str, ...]  # the words that it knows
    target: tuple[str, ...]
    pairs: NDArray[np.int32]  # (K, 2) int32: the word pairs, rising
    pair_counts: F8
    source_counts: F8
    target_counts: F8

    @classmethod
    def of(
        cls, cells: Cells, labels: F4, source: Sequence[str], target: Sequence[str]
    ) -> GoldLexicon:
        """Count the cells of gold pairs of a bitext of these distinct words."""
        values = _values(cells, labels)
        numbers, tables, names = [], [], []
        for column, words in ((0, source), (1, target)):
            kept, own = np.unique(cells.words[:, column], return_inverse=True)
            spelled = [words[number] for number in kept.tolist()]
            order = sorted(range(len(spelled)), key=spelled.__getitem__)
            rank = np.empty(len(kept), np.int64)
            rank[order] = np.arange(len(kept))
            numbers.append(rank[own.reshape(-1)])
            tables.append(_sums(numbers[-1], values))
            names.append(tuple(spelled[at] for at in order))
        keys = numbers[0] * max(1, len(names[1])) + numbers[1]
        kept, own = np.unique(keys, return_inverse=True)
        pairs = np.stack(np.divmod(kept, max(1, len(names[1]))), axis=1).astype(np.int32)
        return cls(names[0], names[1], pairs, _sums(own.reshape(-1), values), *tables)

    def numbers(self, source: Sequence[str], target: Sequence[str]) -> tuple[I8, I8]:
        """Return its numbers of the distinct words of a bitext, -1 for those it does not know."""
        mine, theirs = (
            np.array([known.get(word, -1) for word in words], np.int64)
            for known, words in zip(self._numbers, (source, target), strict=True)
        )
        return mine, theirs

    def set_features(self, cells: Cells, numbers: tuple[I8, I8]) -> None:
        """Set the features of cells of a bitext, of whose words these are the `numbers`."""
        mine, theirs = (numbers[column][cells.words[:, column]] for column in (0, 1))
        both = (mine >= 0) & (theirs >= 0)
        wanted = np.where(both, mine * max(1, len(self.target)) + theirs, -1)
        place = np.minimum(np.searchsorted(self._keys, wanted), max(0, len(self._keys) - 1))
        known_pair = np.zeros(len(wanted), bool)
        if len(self._keys):
            known_pair = self._keys[place] == wanted
        features, first = cells.features, lexicon_columns(cells.features).start
        for offset, table, rows, kept in (
            (0, self._odds[0], place, known_pair),
            (1, self._odds[1], mine, mine >= 0),
            (2, self._odds[2], theirs, theirs >= 0),
        ):
            features[:, first + offset] = np.where(kept, table[rows], 0) if len(table) else 0
        features[:, first + 3] = 0
        features[known_pair, first + 3] = np.log1p(self.pair_counts[place[known_pair], 2])

    @cached_property
    def _numbers(self) -> list[dict[str, int]]:
        return [{word: k for k, word in enumerate(words)} for words in (self.source, self.target)]

    @cached_property
    def _keys(self) -> I8:
        keys: I8 = self.pairs[:, 0].astype(np.int64) * max(1, len(self.target)) + self.pairs[:, 1]
        return keys

    @cached_property
    def _odds(self) -> list[F8]:
        return list(map(_log_odds, (self.pair_counts, self.source_counts, self.target_counts)))

    def check(self) -> None:
        """See that all fits together."""
        for name, words in (("source", self.source), ("target", self.target)):
            if list(words) != sorted(set(words)):
                raise AlignerError(f"the {name} words of the gold lexicon do not rise")
        if (self.pairs >= [len(self.source), len(self.target)]).any():
            raise AlignerError("a word pair of the gold lexicon has a word that is not there")
        if (np.diff(self._keys) <= 0).any():
            raise AlignerError("the word pairs of the gold lexicon do not rise")
