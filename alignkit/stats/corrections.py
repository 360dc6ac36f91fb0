"""Corrections of p-values for the number of tests: Holm's, and Benjamini and Yekutieli's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan, nan

import numpy as np

from alignkit._support.arguments import check_arguments
from alignkit._support.array_types import F8


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's corrected p-values, in the given order.

    With the m defined p-values in rising order p(1), ..., p(m), the k-th becomes the largest of
    min(1, (m - j + 1) p(j)) for j = 1, ..., k. Rejecting if it is at most alpha keeps the
    probability of any false rejection at or below alpha, even if the tests depend on each other.
    NaN stays NaN, and does not count.

    Parameters
    ----------
    p_values : The p-values, NaN if undefined.

    References
    ----------
    Holm 1979, Scandinavian Journal of Statistics 6(2):65-70.

    Examples
    --------
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03, 0.005])]
    [0.03, 0.06, 0.06, 0.02]
    """
    check_arguments(holm, locals())
    corrected = [nan] * len(p_values)
    largest = 0.0
    for k, value in _multiplied(p_values):
        largest = max(largest, value)
        corrected[k] = largest
    return corrected


def _multiplied(p_values: Sequence[float]) -> Iterator[tuple[int, float]]:
    """Yield the places of defined p-values, rising, and each times the number of those left."""
    defined = [k for k, p in enumerate(p_values) if not isnan(p)]
    for rank, k in enumerate(sorted(defined, key=lambda k: p_values[k])):
        yield k, min(1.0, (len(defined) - rank) * p_values[k])


def holm_bounds(p_values: Sequence[float], bounds: Sequence[bool]) -> list[bool]:
    """Return which of Holm's corrected p-values are upper bounds, in the given order.

    A corrected p-value is a bound if the p-value that decides it is one (see `holm`).

    Parameters
    ----------
    p_values, bounds : The p-values, and whether each is an upper bound, because no draw reached the
        difference.

    Examples
    --------
    >>> holm_bounds([0.01, 0.011, 0.5], [True, False, False])
    [True, True, False]
    """
    check_arguments(holm_bounds, locals())
    corrected = [False] * len(p_values)
    largest = 0.0
    decided_by_bound = False
    for k, value in _multiplied(p_values):
        if value > largest:
            decided_by_bound = bounds[k]
        elif value == largest:
            decided_by_bound = decided_by_bound and bounds[k]
        largest = max(largest, value)
        corrected[k] = decided_by_bound and largest < 1
    return corrected


def benjamini_yekutieli(p_values: F8) -> F8:
    """Return Benjamini and Yekutieli's corrected p-values, in the given order.

    With the m p-values in rising order p(1), ..., p(m), the k-th becomes the smallest of
    min(1, (1 + 1/2 + ... + 1/m) m p(j) / j) for j = k, ..., m. Rejecting if it is at most alpha
    keeps the expected share of false rejections at or below alpha, even if the tests depend on each
    other.

    Parameters
    ----------
    p_values : (..., m) p-values; each row is corrected by itself. NaN stays NaN, does not count.

    References
    ----------
    Benjamini and Yekutieli 2001, The Annals of Statistics 29(4):1165-1188.

    Examples
    --------
    >>> benjamini_yekutieli(np.array([0.01, 0.04, 0.02])).round(4).tolist()
    [0.055, 0.0733, 0.055]
    """
    defined = ~np.isnan(p_values)
    m = defined.sum(axis=-1, keepdims=True)
    order = np.argsort(p_values, axis=-1)  # NaN comes last
    rising = np.take_along_axis(p_values, order, axis=-1)
    ranks = np.arange(1, p_values.shape[-1] + 1)
    harmonic = np.concatenate([np.zeros(1), np.cumsum(1 / ranks)])[m]
    scaled = np.where(np.isnan(rising), np.inf, rising * m * harmonic / ranks)
    least = np.minimum.accumulate(scaled[..., ::-1], axis=-1)[..., ::-1]
    corrected = np.empty_like(rising)
    np.put_along_axis(corrected, order, np.minimum(least, 1.0), axis=-1)
    return np.where(defined, corrected, nan)
