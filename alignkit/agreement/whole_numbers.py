"""Take tables of counts from callers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.errors import ArgumentError

__all__ = ["whole_numbers"]


def whole_numbers(name: str, value: object, dimensions: int) -> NDArray[np.int64]:
    """Return an array of whole numbers.

    Raises
    ------
    ArgumentError
        If it has another shape, or holds other things.
    """
    try:
        found = np.asarray(value)
    except ValueError:  # rows of different lengths
        found = np.empty(())
    whole = found.dtype.kind in "iu" or (found.dtype.kind == "f" and (found == found // 1).all())
    if found.size and not (whole and found.ndim == dimensions):
        shape = {1: "a sequence", 2: "a table"}[dimensions]
        raise ArgumentError(f"{name} must be {shape} of whole numbers")
    return found.astype(np.int64)
