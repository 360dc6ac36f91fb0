"""Test whether systems do as well on some sentence pairs as on others.

The pairs with a phenomenon are a subset of all pairs. `against_complement` compares the measure on
them with that on all other pairs by permutation, `against_whole` the measures of single pairs with
those of all pairs, as in a paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import nan
from typing import Literal

import numpy as np

from alignkit._support.array_types import B1, F8, I8
from alignkit.stats import resampling
from alignkit.stats.resampling import Counts, Ratios

Systems = Mapping[str, Counts]  # the (P, C) counts of the sentence pairs, by system

Subsets = Mapping[str, B1]  # (P,) masks of sentence pairs, by name

_TOLERANCE = 1e-12  # a trial this much below the true statistic is as large: rounding


def one_test_each(subsets: Subsets, *, complements: bool) -> dict[str, str]:
    """Return for each subset the first subset with the same test.

    Two subsets have the same test if they are the same pairs; with `complements`, also if one has
    exactly the pairs that the other lacks.
    """
    first: dict[bytes, str] = {}
    tests = {}
    for name, subset in subsets.items():
        sides = [subset.tobytes()]
        if complements:
            sides.append((~subset).tobytes())
        tests[name] = first.setdefault(min(sides), name)
    return tests


def against_complement(
    systems: Systems,
    subsets: Subsets,
    measure: Ratios,
    name: str,
    *,
    trials: int = 10_000,
    rng: np.random.Generator,
) -> dict[str, dict[str, float]]:
    """Return the p-values that each system has the same score on each subset and its complement.

    The statistic is abs(measure of the subset - measure of the complement), counts pooled. Each
    trial draws as many pairs as the subset has from all, without replacement. p = (1 + hits) /
    (1 + trials); hits are the trials with a statistic at least as large as the true one, or
    undefined. All systems and subsets use the same orders of pairs (Good 2005, Permutation,
    Parametric, and Bootstrap Tests of Hypotheses, chapter 3).
    """
    resampling.check_trials(trials)
    rows = np.array(list(systems.values()), np.float64)  # (S, P, C)
    total = rows.sum(axis=1)  # (S, C)
    pairs = rows.shape[1]

    def statistic(part: F8, whole: F8) -> F8:
        """Return the statistic from (R, C) counts of subsets, and of all pairs."""
        distance: F8 = np.abs(measure(part)[name] - measure(whole - part)[name])
        return distance

    sizes = np.array([int(subset.sum()) for subset in subsets.values()], np.int64)
    different_sizes = np.unique(sizes)
    # (K, S): of each subset and system
    truth = np.array([statistic(rows[:, s].sum(axis=1), total) for s in subsets.values()])
    hits = np.zeros(truth.shape, np.int64)
    for count in resampling.chunks(trials, rows.size):
        # a trial is an order of all pairs: its first ones are a subset of any size
        orders = rng.permuted(np.tile(np.arange(pairs), (count, 1)), axis=1)
        prefixes = _prefixes(rows, orders, different_sizes)
        for size, sums in zip(different_sizes, prefixes, strict=True):
            totals = np.tile(total, (count, 1))
            drawn = statistic(sums.reshape(totals.shape), totals).reshape(count, -1)
            for place in np.flatnonzero(sizes == size):
                below = drawn < truth[place] - _TOLERANCE  # not where it is undefined, NaN
                hits[place] += np.count_nonzero(~below, axis=0)
    chances = np.where(np.isnan(truth), nan, (1 + hits) / (1 + trials))
    return {
        system: dict(zip(subsets, of_system.tolist(), strict=True))
        for system, of_system in zip(systems, chances.T, strict=True)
    }


def _prefixes(rows: F8, orders: I8, sizes: I8) -> Iterator[F8]:
    """Yield for each size, in rising order, the (T, S, C) sums of the first pairs of each order."""
    start = 0
    sums = np.zeros((len(orders), len(rows), rows.shape[2]))
    for size in sizes.tolist():
        sums = sums + rows[:, orders[:, start:size]].sum(axis=2).transpose(1, 0, 2)
        yield sums
        start = size


def against_whole(values: F8, subset: B1) -> float:
    """Return the p-value of Mann and Whitney's test of a subset against all pairs.

    The test is one-sided, in the direction of the values. U counts, among all n m pairs of values,
    those with a higher value in the subset than in the whole; a tie counts half.
    z = (abs(U - n m / 2) - 1/2) / sd with variance n m / 12 (N + 1 - sum (t^3 - t) / (N (N - 1)))
    over the groups of t ties, N = n + m.
    """
    known = ~np.isnan(values)
    every = values[known]
    part = values[known & subset]
    if not 0 < len(part) < len(every) or every.min() == every.max():
        return nan
    from scipy.stats import mannwhitneyu  # takes a second to import

    middle = len(part) * len(every) / 2
    above = mannwhitneyu(part, every, method="asymptotic").statistic > middle
    side: Literal["greater", "less"] = "greater" if above else "less"
    return float(mannwhitneyu(part, every, alternative=side, method="asymptotic").pvalue)
