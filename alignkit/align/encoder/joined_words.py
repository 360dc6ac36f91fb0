"""Join words to the text that an encoder reads, and find the words' characters in its pieces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import F4, I4

_UNSPACED = (
    "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    "\u3005-\u3007\u2e80-\u2fdf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u0e00-\u0e7f\u0e80-\u0eff"  # Thai, Lao
    "\u1780-\u17ff\u19e0-\u19ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff"  # Khmer, Burmese
)
"""Characters of scripts that are written without spaces between words."""


@cache  # compiled at the first text: aligners without an encoder import this too
def _unspaced_character() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


class JoinedWords(NamedTuple):
    """A sentence as text, and the word of each of its characters."""

    text: str
    owners: I4  # (L,) the word that each character belongs to; -1 for a space
    words: int  # how many words there are

    @classmethod
    def of(cls, words: Sequence[str]) -> JoinedWords:
        """Join words by spaces, but for words of scripts that are written without them."""
        parts: list[str] = []
        owners: list[int] = []
        before = ""
        unspaced = _unspaced_character()
        for number, word in enumerate(words):
            if number and not (unspaced.match(before[-1:]) and unspaced.match(word)):
                parts.append(" ")
                owners.append(-1)
            parts.append(word)
            owners += [number] * len(word)
            before = word
        return cls("".join(parts), np.array(owners, np.int32), len(words))

    def vectors(self, pieces: Sequence[tuple[int, int]], states: F4) -> F4:
        """Return the unit vectors (N, d) of the words, from the states (n, d) of the pieces.

        The vector of a word is the sum of the states of its pieces, each times the number of its
        characters in the piece, scaled to length 1. A word without pieces has zeros.

        Parameters
        ----------
        pieces : (n,) where each piece begins and ends in the text.
        """
        weights = np.zeros((self.words, len(pieces)), np.float32)
        for number, (begin, end) in enumerate(pieces):
            for word in self.owners[begin:end].tolist():
                if word >= 0:
                    weights[word, number] += 1
        return unit_vectors(weights @ states)


def unit_vectors(vectors: F4) -> F4:
    """Return vectors (n, d) scaled to length 1; zeros stay zeros."""
    lengths = np.sqrt((vectors.astype(np.float64) ** 2).sum(axis=1, keepdims=True))
    scaled: F4 = np.zeros_like(vectors, np.float32)
    np.divide(vectors, lengths, out=scaled, where=lengths > 0, casting="same_kind")
    return scaled
