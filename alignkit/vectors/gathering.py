"""The vectors of wanted words, kept while a file goes by."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
from numpy.typing import NDArray

from alignkit.vectors.word_vectors import WordVectors

_EVERY = 4096  # words
_BLOCK = 1 << 22  # bytes of vectors


class Gathering:
    """Keep the vectors of the words that are wanted, while a file goes by."""

    def __init__(
        self, wanted: Collection[str] | None = None, progress: Callable[[], None] | None = None
    ) -> None:
        self._wanted = None if wanted is None else frozenset(wanted)
        self._folds = frozenset(word.casefold() for word in self._wanted or ())
        self._progress = progress
        self._met: set[str] = set()
        self._words: dict[str, None] = {}
        self._blocks: list[NDArray[np.float32]] = []
        self.seen = self.repeated = self.undecoded = 0

    def wants(self, raw: bytes) -> str | None:
        """Count a word that goes by; return it if its vector is wanted."""
        self.seen += 1
        if self._progress is not None and self.seen % _EVERY == 0:
            self._progress()
        try:
            word = raw.decode()
        except UnicodeDecodeError:
            self.undecoded += 1
            return None
        if word in self._words:
            self.repeated += 1
            return None
        if self._wanted is None:
            return word
        if word not in self._wanted:
            fold = word.casefold()
            if fold not in self._folds or fold in self._met:
                return None
        return word

    def take(self, word: str, vector: NDArray[np.float32]) -> None:
        """Keep the vector (d,) of a word that is wanted."""
        rows = max(1, _BLOCK // max(vector.nbytes, 1))
        row = len(self._words) % rows
        if row == 0:
            self._blocks.append(np.empty((rows, len(vector)), np.float32))
        self._blocks[-1][row] = vector
        self._words[word] = None
        if self._wanted is not None:
            self._met.add(word.casefold())

    def vectors(self, dimensions: int) -> WordVectors:
        """Return what was kept; once, for memory is given back while it is put together."""
        array = np.empty((len(self._words), dimensions), np.float32)
        begin, self._blocks = 0, self._blocks[::-1]
        while self._blocks:
            block = self._blocks.pop()[: len(array) - begin]
            array[begin : begin + len(block)] = block
            begin += len(block)
        return WordVectors(self._words, array)
