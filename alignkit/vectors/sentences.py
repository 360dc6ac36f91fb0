"""Ask for the vectors of a sentence: of its words wherever they stand, or in their context."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alignkit.arguments import check_arguments, kind_of
from alignkit.errors import AlignmentError, ArgumentError, OptionError

Vectors = Callable[[Sequence[str]], Any]
"""What gives an array (n, d) for a sentence of n words: `WordVectors`, or any function."""

TwoVectors = tuple[Vectors, Vectors]
"""What gives vectors of the words of a source sentence, and of a target sentence."""


def two_vectors(vectors: Vectors | None, target_vectors: Vectors | None) -> TwoVectors | None:
    """Return what gives the vectors of both sides, the target's by `vectors` too where None."""
    if vectors is not None:
        return vectors, vectors if target_vectors is None else target_vectors
    if target_vectors is not None:
        raise OptionError("target_vectors stand beside vectors; give those of the source too")
    return None


def vectors_of(
    vectors: Vectors, words: Sequence[str], dimensions: int | None = None
) -> NDArray[np.float32]:
    """Return the vectors of a sentence, checked.

    Parameters
    ----------
    vectors
        What gives them.
    words
        The n words of the sentence.
    dimensions
        How many numbers a vector must have; None: any number.

    Returns
    -------
    (n, d) float32 array

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
        found = np.asarray(given)
    except ValueError:  # rows of different lengths
        found = np.empty(0, object)
    if found.dtype.kind not in "fiu":
        raise ArgumentError(
            f"vectors gave {kind_of(given)} for {len(words)} words; it must give an array of "
            "numbers"
        )
    if found.ndim != 2 or len(found) != len(words):
        raise AlignmentError(
            f"vectors gave an array of the shape {found.shape} for {len(words)} words; it must "
            "give a row for each word"
        )
    if dimensions is not None and found.shape[1] != dimensions:
        raise AlignmentError(
            f"vectors gave {found.shape[1]} dimensions where it gave {dimensions} before; "
            "both sides need vectors of one space"
        )
    with np.errstate(over="ignore"):
        found = found.astype(np.float32)
    if not np.isfinite(found).all():
        row = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
        raise AlignmentError(
            f"vectors gave a number that is not finite in 32 bits, for the word {words[row][:40]!r}"
        )
    return found
