"""Ratios of counts; 0/0 is undefined: NaN here and None in JSON."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Union

import numpy as np
from numpy.typing import NDArray

Counts = Union[NDArray[np.int64], NDArray[np.float64]]
"""Rows of counts, or sums of them."""

Ratios = Callable[[Counts], dict[str, NDArray[np.float64]]]
"""A function that turns (R, C) sums of counts into named measures, each an (R,) array."""

LOWER_IS_BETTER = frozenset({"aer"})
"""The measures for which smaller is better."""


def ratio(above: Counts, below: Counts) -> NDArray[np.float64]:
    """Divide, with NaN for 0/0."""
    quotient = np.full(np.shape(below), np.nan)
    np.divide(above, below, out=quotient, where=np.asarray(below) != 0)
    return quotient


def harmonic(precision: NDArray[np.float64], recall: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return F1, the harmonic mean; 0 if either is 0, even if the other is undefined."""
    mean = ratio(2 * precision * recall, precision + recall)
    return np.where((precision == 0) | (recall == 0), 0.0, mean)


def none_if_nan(value: float) -> float | None:
    """Return None for NaN, which JSON cannot represent."""
    return None if math.isnan(value) else value
