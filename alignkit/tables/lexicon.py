"""Number words, and tell them again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from alignkit.arrays import Vocabulary


class Lexicon(Vocabulary):
    """Number words, as they are written, in the order in which they come."""

    def __init__(self) -> None:
        super().__init__(casefold=False)

    @property
    def words(self) -> Sequence[str]:
        """The words by their numbers."""
        return list(self._numbers)

    def ranks(self) -> NDArray[np.int32]:
        """Return the place of each word in the order of their characters' code points."""
        words = list(self._numbers)
        ranks = np.empty(len(words), np.int32)
        ranks[sorted(range(len(words)), key=words.__getitem__)] = np.arange(len(words))
        return ranks
