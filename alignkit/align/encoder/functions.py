"""Functions from words to vectors, and word vectors, in the place of an encoder.

An encoder reads the words of a sentence together. A function may do so too (`FunctionEncoder`);
word vectors are the case where a word has the same vector in every sentence (`VectorEncoder`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from os import PathLike
from typing import Union

import numpy as np

from alignkit._support.arguments import kind_of
from alignkit._support.array_types import F4
from alignkit.align.encoder.joined_words import unit_vectors
from alignkit.align.encoder.word_encoder import Progress, WordEncoder
from alignkit.align.vectors.word_vectors import UNIT, Vectors, WordVectors, units_of, vectors_of
from alignkit.errors import ArgumentError


class FunctionEncoder:
    """A function from the words of a sentence to their vectors, with a name.

    Nothing that it returns is kept, and a saved model holds its name alone.

    Parameters
    ----------
    function : Returns an array (n, d) for a list of n words.
    name : What reports and saved models call it. None: the name of the function.

    Examples
    --------
    >>> def letters(words):
    ...     return [[word.count(letter) for letter in "aeiou"] for word in words]
    >>> FunctionEncoder(letters)
    FunctionEncoder('letters')
    """

    layer = 0
    layers = 0
    digest = ""
    progress: Progress | None = None

    def __init__(self, function: Vectors, name: str | None = None) -> None:
        if not callable(function):
            raise ArgumentError(
                f"an encoder is a name, a folder or a function, not {kind_of(function)}"
            )
        self._function = function
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self._dimensions: int | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __str__(self) -> str:
        return self.name

    def vectors(self, sentences: Sequence[Sequence[str]]) -> list[F4]:
        """Return the vectors (n, d) of the words of each sentence, of length 1 or zeros."""
        return [unit_vectors(self._vectors_of(words)) for words in sentences]

    def _vectors_of(self, words: Sequence[str]) -> F4:
        """Return what the function gives for a sentence, after a check."""
        vectors = vectors_of(self._function, list(words), self._dimensions)
        self._dimensions = vectors.shape[1]
        return vectors


class VectorEncoder(FunctionEncoder):
    """Word vectors in the place of an encoder: `WordVectors`, or a function given as `vectors`.

    The numbers of its vectors are whole multiples of 1 / `UNIT`. Their cosines are then sums of
    numbers that floating point holds exactly, and the same on every machine.
    """

    def __init__(self, function: Vectors) -> None:
        super().__init__(function, "word vectors")

    @property
    def is_static(self) -> bool:
        """Whether a word has the same vector in every sentence."""
        return isinstance(self._function, WordVectors)

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has; 0 as long as the function was not called."""
        return self._dimensions or 0

    def vectors(self, sentences: Sequence[Sequence[str]]) -> list[F4]:
        """Return the vectors (n, d) of the words of each sentence, of length 1 or zeros."""
        if not self.is_static:
            return [_rounded(self._vectors_of(words)) for words in sentences]
        # all words at once: a word has the same vector wherever it stands
        vectors = _rounded(self._vectors_of(list(chain.from_iterable(sentences))))
        ends = np.cumsum([len(words) for words in sentences])
        return np.split(vectors, ends[:-1])


def _rounded(vectors: F4) -> F4:
    """Return vectors (n, d) of length 1, or zeros, in multiples of 1 / `UNIT`."""
    return units_of(vectors).astype(np.float32) / np.float32(UNIT)


EncoderLike = Union[str, "PathLike[str]", WordEncoder, Vectors]
"""An `Encoder`, its folder or name, or any function from words to vectors."""


def encoder_of(given: EncoderLike) -> WordEncoder:
    """Return the encoder that is given as a folder, a name, a function, or itself."""
    if isinstance(given, (str, os.PathLike)):
        from alignkit.align.encoder.transformer import Encoder  # others do not need it

        return Encoder(given)
    if isinstance(given, WordEncoder):
        return given
    return FunctionEncoder(given)
