"""Vectors of the words of a sentence: static, or in their context."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alignkit.arguments import check_arguments, check_callable, kind_of
from alignkit.errors import AlignmentError, ArgumentError, OptionError

Vectors = Callable[[Sequence[str]], Any]
"""What gives an array (n, d) for a sentence of n words: `WordVectors`, or any function."""

TwoVectors = tuple[Vectors, Vectors]
"""What gives vectors of the words of a source sentence, and of a target sentence."""


def two_vectors(vectors: Vectors | None, target_vectors: Vectors | None) -> TwoVectors | None:
    """Return what gives the vectors of both sides, the target's by `vectors` too where None."""
    for name, given in (("vectors", vectors), ("target_vectors", target_vectors)):
        if given is not None:
            check_callable(name, given)
    if vectors is not None:
        return vectors, vectors if target_vectors is None else target_vectors
    if target_vectors is not None:
        raise OptionError("target_vectors stand beside vectors; give those of the source too")
    return None


def vectors_of(
    vectors: Vectors, words: Sequence[str], dimensions: int | None = None
) -> NDArray[np.float32]:
    """Return the vectors (n, d) of the n words of a sentence, checked, as float32.

    `dimensions` is how many numbers a vector must have; None: any number.

    Raises
    ------
    ArgumentError
        If what was given is no array of numbers.
    AlignmentError
        If it does not hold a vector of finite numbers for each word.
    """
    check_arguments(vectors_of, locals())
    given = vectors(list(words))
    try:
        array = np.asarray(given)
    except ValueError:  # rows of different lengths
        array = np.empty(0, object)
    if array.dtype.kind not in "fiu":
        raise ArgumentError(
            f"vectors gave {kind_of(given)} for {len(words)} words; it must give an array of "
            "numbers"
        )
    if array.ndim != 2 or len(array) != len(words):
        raise AlignmentError(
            f"vectors gave an array of the shape {array.shape} for {len(words)} words; it must "
            "give a row for each word"
        )
    if dimensions is not None and array.shape[1] != dimensions:
        raise AlignmentError(
            f"vectors gave {array.shape[1]} dimensions where it gave {dimensions} before; "
            "both sides need vectors of one space"
        )
    with np.errstate(over="ignore"):
        array = array.astype(np.float32)
    finite = np.isfinite(array).all(axis=1)
    if not finite.all():
        word = words[finite.argmin()]
        raise AlignmentError(
            f"vectors gave a number that is not finite in 32 bits, for the word {word[:40]!r}"
        )
    return array
