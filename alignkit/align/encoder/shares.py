"""Shares: how far the vectors of two words of a sentence pair fit each other and no others.

The cosines (N, M) of a pair become probabilities by a softmax over each row and over each column;
the share of a cell is the geometric mean of both. A word without a vector has no share in any.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from alignkit._support.array_types import B1, F4, F8, U2

UNITS = 4095
"""Shares are stored as whole numbers of this fraction."""

SHARPNESS = 7.0  # the cosine counts so many times in standard deviations
FIRST_PAIRS = 200  # the pairs whose cosines give the standard deviation
_FEWEST_CELLS = 1000  # fewer say too little of it
_USUAL_SPREAD = 0.17  # between those measured of two encoders, .15 and .195
_STEP = 0.005  # to which it is rounded, so that a few other pairs change nothing
_MATCHED = 0.25  # the least share of a best match


def cosines_of(source: F4, target: F4) -> F8:
    """Return the cosines (N, M) of unit vectors (N, d) and (M, d); NaN for a word without one."""
    # not a product of matrices, whose threads take long to meet on a busy machine
    cosines: F8 = np.einsum("id,jd->ij", source.astype(np.float64), target.astype(np.float64))
    cosines[~source.any(axis=1)] = np.nan
    cosines[:, ~target.any(axis=1)] = np.nan
    return cosines


def spread_of(cosines: Iterable[F8]) -> float:
    """Return the standard deviation of all cosines of some pairs, rounded to .005."""
    known = [cells[~np.isnan(cells)] for cells in cosines]
    values = np.concatenate(known) if known else np.empty(0)
    if len(values) < _FEWEST_CELLS:
        return _USUAL_SPREAD
    return max(round(round(float(values.std()) / _STEP) * _STEP, 3), _STEP)


def shares_of(cosines: F8, spread: float) -> U2:
    """Return the shares (N, M) of the cells, in units; see the module."""
    if not cosines.size:
        return np.zeros(cosines.shape, np.uint16)
    scores = np.where(np.isnan(cosines), -np.inf, SHARPNESS * cosines / spread)
    by_row = _softmax(scores, axis=1)
    by_column = _softmax(scores, axis=0)
    shares: U2 = np.rint(np.sqrt(by_row * by_column) * UNITS).astype(np.uint16)
    return shares


def _softmax(scores: F8, axis: int) -> F8:
    """Return probabilities along an axis; zeros where all scores are minus infinity."""
    largest = scores.max(axis=axis, keepdims=True)
    powers = np.exp(scores - np.where(np.isinf(largest), 0, largest))
    totals = powers.sum(axis=axis, keepdims=True)
    probabilities: F8 = np.zeros_like(powers)
    np.divide(powers, totals, out=probabilities, where=totals > 0)
    return probabilities


def mutual_best(values: NDArray[np.generic]) -> B1:
    """Return which cells (N, M) are the best of their row and of their column."""
    best_of_row = values == values.max(axis=1, keepdims=True)
    best_of_column = values == values.max(axis=0, keepdims=True)
    return np.asarray(best_of_row & best_of_column)


def matched_words(shares: U2) -> int:
    """Return how many source words have a best match: a cell that is best in its row and column."""
    if not shares.size:
        return 0
    return int((mutual_best(shares) & (shares > _MATCHED * UNITS)).any(axis=1).sum())
