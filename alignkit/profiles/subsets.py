"""Tests of whether a measure differs on a subset of the sentence pairs."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan, nan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from alignkit.arguments import check_arguments
from alignkit.errors import OptionError
from alignkit.scoring.bootstrap import chunks
from alignkit.scoring.measures import Counts, Ratios

_TOLERANCE = 1e-12


def one_test_each(subsets: Mapping[str, NDArray[np.bool_]], *, complements: bool) -> dict[str, str]:
    """Return for each subset the first of those whose test is the same.

    Examples
    --------
    >>> news = np.array([True, True, False])
    >>> one_test_each({"news": news, "novel": ~news}, complements=True)
    {'news': 'news', 'novel': 'news'}
    """
    check_arguments(one_test_each, locals())
    first: dict[bytes, str] = {}
    found = {}
    for name, subset in subsets.items():
        sides = [subset.tobytes(), (~subset).tobytes()] if complements else [subset.tobytes()]
        found[name] = first.setdefault(min(sides), name)
    return found


def against_complement(
    systems: Mapping[str, Counts],
    subsets: Mapping[str, NDArray[np.bool_]],
    measure: Ratios,
    name: str,
    *,
    trials: int = 10_000,
    rng: np.random.Generator,
) -> dict[str, dict[str, float]]:
    """Return the p-value that each system is as good on each subset as on its complement.

    The statistic is abs(measure of the subset - measure of the complement), counts pooled. In each
    trial as many pairs as the subset has are drawn from all without replacement; p = (1 + hits) /
    (1 + trials), hits the trials whose statistic is at least the true one, or undefined. The same
    orders of pairs serve all systems and subsets.

    References
    ----------
    Good 2005, Permutation, Parametric, and Bootstrap Tests of Hypotheses, chapter 3.
    """
    check_arguments(against_complement, locals())
    if trials < 1:
        raise OptionError(f"trials are {trials}; give 1 or more")
    rows = np.concatenate([np.asarray(one, np.float64)[None] for one in systems.values()])
    total = rows.sum(axis=1)
    sizes = np.array([int(one.sum()) for one in subsets.values()], np.int64)
    truth = np.array(
        [_gaps(measure, name, rows[:, one].sum(axis=1), total) for one in subsets.values()]
    )
    hits = np.zeros(truth.shape, np.int64)
    wanted = np.unique(sizes)
    pairs = rows.shape[1]
    for size in chunks(trials, rows.size):
        orders = rng.permuted(np.tile(np.arange(pairs), (size, 1)), axis=1)
        for k, found in enumerate(_prefixes(rows, orders, wanted)):
            drawn = _gaps(
                measure, name, found.reshape(-1, rows.shape[2]), np.tile(total, (size, 1))
            ).reshape(size, -1)
            for place in np.flatnonzero(sizes == wanted[k]):
                below = drawn < truth[place] - _TOLERANCE
                hits[place] += np.count_nonzero(~below, axis=0)
    return {
        system: {
            subset: nan if isnan(truth[k, s]) else float((1 + hits[k, s]) / (1 + trials))
            for k, subset in enumerate(subsets)
        }
        for s, system in enumerate(systems)
    }


def against_whole(values: NDArray[np.float64], subset: NDArray[np.bool_]) -> float:
    """Return the p-value of Mann and Whitney's test of a subset against all pairs.

    One-sided, in the direction that the values show: with U how often, of all n m pairs of values,
    that of the subset is above that of the whole, a tie counting half,
    z = (abs(U - n m / 2) - 1/2) / sd, the variance n m / 12 (N + 1 - sum (t^3 - t) / (N (N - 1)))
    over the groups of t ties, N = n + m.

    References
    ----------
    Mann & Whitney 1947, Annals of Mathematical Statistics 18(1):50-60.

    Examples
    --------
    >>> values = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    >>> round(against_whole(values, np.array([1, 1, 0, 0, 0, 1], bool)), 4)
    0.1044
    """
    check_arguments(against_whole, locals(), apart=["values", "subset"])
    known = ~np.isnan(values)
    every, part = values[known], values[known & subset]
    if not 0 < len(part) < len(every) or every.min() == every.max():
        return nan
    from scipy.stats import mannwhitneyu  # takes a second to import

    middle = len(part) * len(every) / 2
    above = mannwhitneyu(part, every, method="asymptotic").statistic > middle
    side: Literal["greater", "less"] = "greater" if above else "less"
    return float(mannwhitneyu(part, every, alternative=side, method="asymptotic").pvalue)


def _prefixes(
    rows: NDArray[np.float64], orders: NDArray[np.int64], sizes: NDArray[np.int64]
) -> list[NDArray[np.float64]]:
    """Return for each size the (T, S, C) sums of the first pairs of each order."""
    found, start = list[NDArray[np.float64]](), 0
    sums = np.zeros((len(orders), len(rows), rows.shape[2]))
    for size in sizes:
        part = orders[:, start:size]
        sums = sums + rows[:, part].sum(axis=2).transpose(1, 0, 2)
        found.append(sums)
        start = int(size)
    return found


def _gaps(
    measure: Ratios, name: str, part: NDArray[np.float64], total: NDArray[np.float64]
) -> NDArray[np.float64]:
    gaps: NDArray[np.float64] = np.abs(measure(part)[name] - measure(total - part)[name])
    return gaps
