"""Count linked words of a corpus, for lexical weights: w(target word | source word) and back.

w(t | s) is the share of the links of s that go to t; a word without links is taken as linked to
NULL on the other side [1]_.

References
----------
.. [1] Koehn, Och & Marcu 2003, Statistical phrase-based translation, NAACL, section 4.4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alignkit.arrays import LinkArrays, TokenArrays

_PENDING = 1 << 20


@dataclass(frozen=True, eq=False)
class Weights:
    """Translation weights of words."""

    keys: NDArray[np.int64]  # (W,) int64: source word << 32 | target word, rising
    weights: NDArray[np.float64]  # (W, 2): w(target | source), w(source | target)
    lone: NDArray[np.float64]

    @classmethod
    def nothing(cls) -> Weights:
        """Return no weights."""
        return cls(np.zeros(0, np.int64), np.zeros((0, 2)), np.zeros((0, 2)))


class Lexicon:
    """Count links between words, and words without links, by the numbers of words."""

    def __init__(self) -> None:
        self._keys, self._counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._pending: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._size = 0
        self._lone = [np.zeros(0, np.int64), np.zeros(0, np.int64)]

    def add(self, links: LinkArrays, source: TokenArrays, target: TokenArrays) -> None:
        """Count the links of some sentence pairs, and their words without links."""
        pair = np.repeat(np.arange(len(links)), np.diff(links.offsets))
        places = [
            side.offsets[pair] + links.links[:, column]
            for column, side in enumerate((source, target))
        ]
        sources = source.ids[places[0]].astype(np.int64)
        keys, counts = np.unique(sources << 32 | target.ids[places[1]], return_counts=True)
        self._pending.append((keys, counts))
        self._size += len(keys)
        if self._size > max(_PENDING, len(self._keys)):
            self._settle()
        for column, side in ((0, target), (1, source)):
            free = np.ones(len(side.ids), bool)
            free[places[1 - column]] = False
            lone = np.bincount(side.ids[free], minlength=len(self._lone[column]))
            lone[: len(self._lone[column])] += self._lone[column]
            self._lone[column] = lone

    def _settle(self) -> None:
        keys = np.concatenate([self._keys, *(keys for keys, _ in self._pending)])
        counts = np.concatenate([self._counts, *(counts for _, counts in self._pending)])
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
        first = np.flatnonzero(
            np.concatenate([np.ones(min(1, len(keys)), bool), np.diff(keys) > 0])
        )
        self._keys = keys[first]
        self._counts = np.add.reduceat(counts, first) if len(first) else counts
        self._pending, self._size = [], 0

    def weights(self, words: int) -> Weights:
        """Return the weights of words that are numbered below `words`."""
        self._settle()
        columns = []
        for word in (self._keys >> 32, self._keys & 0xFFFFFFFF):
            totals = np.bincount(word, weights=self._counts, minlength=words)
            columns.append(self._counts / totals[word])
        lone = np.zeros((words, 2))
        for column, counts in enumerate(self._lone):
            lone[: len(counts), column] = counts / max(1, counts.sum())
        return Weights(self._keys, np.stack(columns, axis=1), lone)
