"""Resample sentence pairs within strata, so that means keep the variance that they have there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from alignkit.scoring.bootstrap import chunks


def stratified_weights(
    strata: NDArray[np.int64], resamples: int, rng: np.random.Generator, *, width: int = 1
) -> Iterator[NDArray[np.float64]]:
    """Yield, chunk by chunk, (c, P) weights of pairs drawn with replacement within their strata.

    Notes
    -----
    Of the n pairs of a stratum n - 1 are drawn, and each counts n / (n - 1) times. So the variance
    of a mean over the resamples is, as it should be, the sum over strata of (n/P)^2 s^2 / n, with
    s^2 taken over n - 1; drawing n would make it (n - 1) / n of that, half in strata of two.

    References
    ----------
    Rao & Wu 1988, Resampling inference with complex survey data, Journal of the American
    Statistical Association 83(401):231-241.

    Examples
    --------
    >>> strata = np.array([0, 0, 1, 1, 1])
    >>> for weights in stratified_weights(strata, 4, np.random.default_rng(1)):
    ...     print(weights[:, :2].sum(axis=1), weights[:, 2:].sum(axis=1))
    [2. 2. 2. 2.] [3. 3. 3. 3.]
    """
    numbers = merged_strata(strata)
    members = [np.flatnonzero(numbers == k) for k in np.unique(numbers)]
    for size in chunks(resamples, len(strata) + 2 * width):
        weights = np.empty((size, len(strata)))
        for places in members:
            n = len(places)
            drawn = rng.integers(n, size=(size, n - 1)) + n * np.arange(size)[:, None]
            counts = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
            weights[:, places] = counts * (n / (n - 1))
        yield weights


def merged_strata(strata: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the strata of two pairs or more, by whole numbers, so that none has one pair alone.

    Examples
    --------
    >>> merged_strata(np.array([5, 5, 5, 7, 8])), merged_strata(np.array([5, 5, 7]))
    (array([0, 0, 0, 1, 1]), array([0, 0, 0]))
    """
    _, numbers, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    numbers = numbers.reshape(-1).astype(np.int64)
    single = sizes == 1
    if not single.any():
        return numbers
    home = np.flatnonzero(single)[0] if single.sum() > 1 else sizes.argmax()
    found: NDArray[np.int64] = np.where(single[numbers], home, numbers)
    return found


def expanded(confidence: float, degrees: int) -> float:
    """Return which share of the resamples an interval must span to hold as often as it says.

    Percentiles take the spread of the resamples for known, though it was estimated: with few pairs
    intervals are too short by as much as the normal distribution is narrower than Student's. So the
    normal quantile's place is taken by that of Student's: with t of so many degrees of freedom,
    2 Phi(t) - 1.

    References
    ----------
    Hesterberg 2015, What teachers should know about the bootstrap, The American Statistician
    69(4):371-386 (whose factor for the size of the sample the weights have already).

    Examples
    --------
    >>> [round(expanded(0.95, degrees), 4) for degrees in (5, 20, 100, 10_000)]
    [0.9898, 0.963, 0.9527, 0.95]
    """
    from scipy.special import ndtr, stdtrit

    return float(2 * ndtr(stdtrit(degrees, (1 + confidence) / 2)) - 1)
