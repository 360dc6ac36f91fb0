"""Static vectors of words, and functions that return the vectors of the words of a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from alignkit._support.arguments import check_arguments, check_callable, kind_of
from alignkit._support.arguments import words as checked_words
from alignkit._support.array_types import F4, I2
from alignkit.errors import AlignmentError, ArgumentError, OptionError


class WordVectors:
    """Word vectors, the same in every sentence.

    Parameters
    ----------
    words : The n words; if a word occurs again, the first vector is used.
    array : (n, d) numbers: the vector of each word; stored as float32.

    Raises
    ------
    ArgumentError : If the words are not texts, or the array has no numbers.
    AlignmentError : If the numbers of words and vectors differ, or a number is not finite.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "Dog"], [[1.0, 0.0], [0.5, 0.5]])
    >>> vectors.of(["dog", "cat", "horse"])
    array([[0.5, 0.5],
           [1. , 0. ],
           [0. , 0. ]], dtype=float32)
    """

    def __init__(self, words: Iterable[str], array: ArrayLike) -> None:
        self.words = checked_words("words", words)
        self.array = np.ascontiguousarray(_checked(array, self.words, "array is"))

    @property
    def dimensions(self) -> int:
        """The number of dimensions of the vectors."""
        return int(self.array.shape[1])

    def of(self, words: Sequence[str]) -> F4:
        """Return the vectors (n, d) of n words, as float32.

        A word that is not known as written gets the vector of the first word that differs only in
        case; an unknown word gets zeros.
        """
        words = checked_words("words", words)
        numbers = np.array([self._number(word) for word in words], np.int64)
        vectors = np.zeros((len(numbers), self.dimensions), np.float32)
        known = numbers >= 0
        vectors[known] = self.array[numbers[known]]
        return vectors

    def __call__(self, words: Sequence[str]) -> F4:
        """Return the vectors of some words; see `of`."""
        return self.of(words)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self._number(word) >= 0

    def __repr__(self) -> str:
        return f"WordVectors({len(self):,} words, {self.dimensions} dimensions)"

    def _number(self, word: str) -> int:
        """Return the row of a word, or of the first that differs only in case; -1 if unknown."""
        number = self._numbers.get(word)
        if number is None:
            return self._folded.get(word.casefold(), -1)
        return number

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """The row of each word."""
        return _first_places(self.words)

    @cached_property
    def _folded(self) -> dict[str, int]:
        """The row of the first word that is this one but for case."""
        return _first_places(map(str.casefold, self.words))


def _first_places(words: Iterable[str]) -> dict[str, int]:
    """Return where each word occurs first."""
    numbers: dict[str, int] = {}
    for number, word in enumerate(words):
        numbers.setdefault(word, number)
    return numbers


def _checked(given: object, words: Sequence[str], gave: str) -> F4:
    """Return vectors (n, d) of n words as float32; `gave` begins the errors."""
    try:
        array = np.asarray(given)
    except ValueError:  # rows of different lengths
        array = np.empty(0, object)
    if array.dtype.kind not in "fiu":
        what = f"{gave} {kind_of(given)} for {len(words)} words"
        raise ArgumentError(f"{what}; expected an array of numbers")
    if array.ndim != 2 or len(array) != len(words):
        what = f"{gave} an array of shape {array.shape} for {len(words)} words"
        raise AlignmentError(f"{what}; expected one row per word")
    with np.errstate(over="ignore"):
        vectors = array.astype(np.float32)
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        what = "a number that is not finite in 32 bits, for the word"
        raise AlignmentError(f"{gave} {what} {words[int(finite.argmin())][:40]!r}")
    return vectors


UNIT = 1 << 14
"""The length of vectors in integers. Cosines are sums of products over its square, below 2^31."""


def units_of(vectors: F4) -> I2:
    """Return vectors (n, d) scaled to length `UNIT`, as integers; zeros stay zeros."""
    units = vectors.astype(np.float64)
    lengths = np.sqrt((units * units).sum(axis=1, keepdims=True))
    units *= np.divide(UNIT, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return np.rint(units).astype(np.int16)


Vectors = Callable[[Sequence[str]], Any]
"""Returns an array (n, d) for a sentence of n words: `WordVectors`, or any function."""

TwoVectors = tuple[Vectors, Vectors]
"""The vectors for words of a source sentence, and those for a target sentence."""


def two_vectors(vectors: Vectors | None, target_vectors: Vectors | None) -> TwoVectors | None:
    """Return the vectors for both sides; `vectors` serves both if `target_vectors` is None."""
    for name, given in (("vectors", vectors), ("target_vectors", target_vectors)):
        if given is not None:
            check_callable(name, given)
    if vectors is None:
        if target_vectors is not None:
            raise OptionError("target_vectors need vectors for the source too; give both")
        return None
    if target_vectors is None:
        return vectors, vectors
    return vectors, target_vectors


def vectors_of(vectors: Vectors, words: Sequence[str], dimensions: int | None = None) -> F4:
    """Return the vectors (n, d) of the n words of a sentence, checked, as float32.

    Parameters
    ----------
    vectors : A function that returns an array (n, d) for a list of n words.
    words : The n words of the sentence.
    dimensions : The required number of dimensions d; None: any number.

    Raises
    ------
    ArgumentError : If the result is not an array of numbers.
    AlignmentError : If it does not have one vector of finite numbers per word.

    Examples
    --------
    >>> def letters(words):
    ...     return [[word.count(letter) for letter in "aeiou"] for word in words]
    >>> vectors_of(letters, ["the", "house"]).shape
    (2, 5)
    """
    check_arguments(vectors_of, locals())
    array = _checked(vectors(list(words)), words, "vectors gave")
    if dimensions is not None and array.shape[1] != dimensions:
        raise AlignmentError(
            f"vectors gave {array.shape[1]} dimensions, but {dimensions} before; both sides "
            "need vectors of the same space"
        )
    return array
