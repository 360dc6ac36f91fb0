"""Rank things within blocks, test whether the ranks differ (Friedman), and which do (Nemenyi)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import exp, inf, lgamma, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments
from alignkit.errors import OptionError

_DIGITS = 12
"""Values that differ beyond this decimal differ by rounding alone, and tie."""


@dataclass(frozen=True)
class Friedman:
    """Friedman's test of K things in N blocks, with Nemenyi's critical difference.

    Parameters
    ----------
    names
        The K things.
    blocks
        How many blocks, N.
    mean_ranks
        The mean rank of each; 1 is the best.
    statistic
        Chi-square, corrected for ties; NaN where undefined.
    uncorrected
        Without that correction.
    p_value
        Of `statistic`, by the chi-square distribution with K - 1 degrees of freedom.
    critical_difference
        Two things whose mean ranks differ by more are told apart, at `alpha`.
    alpha
        The chance of a false difference anywhere.
    reason
        Why there is no statistic; empty where there is.
    """

    names: tuple[str, ...]
    blocks: int
    mean_ranks: tuple[float, ...]
    statistic: float
    uncorrected: float
    p_value: float
    critical_difference: float
    alpha: float
    reason: str = ""

    @property
    def ranking(self) -> list[tuple[str, float]]:
        """The things with their mean ranks, the best first."""
        found = zip(self.names, self.mean_ranks, strict=True)
        return sorted(found, key=lambda one: one[1])

    def beyond(self) -> list[tuple[str, str, float]]:
        """Return the pairs that are told apart: the better, the other, and how far they are."""
        return [
            (better, other, gap)
            for (better, low), (other, high) in combinations(self.ranking, 2)
            if (gap := high - low) > self.critical_difference
        ]

    @property
    def pairs(self) -> int:
        """How many pairs of things there are."""
        return len(self.names) * (len(self.names) - 1) // 2

    @property
    def too_few(self) -> str:
        """Why no ranks, not even the same in every block, could tell anything; empty if some could.

        If all K! orders are as likely in a block, N blocks agree with probability K!^(1 - N); by
        the chi-square distribution it is that of N (K - 1).
        """
        if self.reason:
            return ""
        from scipy.stats import chi2

        k = len(self.names)
        least = max(exp((1 - self.blocks) * lgamma(k + 1)),
                    float(chi2.sf(self.blocks * (k - 1), k - 1)))  # fmt: skip
        if least > self.alpha:
            return f"the same ranks in every block would still have p {least:.2f}"
        if self.critical_difference >= k - 1:
            return (
                f"mean ranks can be {k - 1} apart at most, and the critical difference is "
                f"{self.critical_difference:.3f}"
            )
        return ""

    def groups(self) -> list[tuple[str, ...]]:
        """Return the largest runs of neighbours of which no two are told apart, two at least.

        They are the bars of a critical difference diagram (Demsar 2006).
        """
        ranking, found, last = self.ranking, list[tuple[str, ...]](), 0
        for start, (_, low) in enumerate(ranking):
            end = start
            while end < len(ranking) and not ranking[end][1] - low > self.critical_difference:
                end += 1
            if end > max(last, start + 1):
                found.append(tuple(name for name, _ in ranking[start:end]))
            last = max(last, end)
        return found


def friedman(
    values: NDArray[np.float64],
    names: Sequence[str],
    *,
    alpha: float = 0.05,
    lower_is_better: bool = False,
) -> Friedman:
    """Rank the columns within each row, and test whether their mean ranks differ.

    With N rows (blocks), K columns, and R(j) the sum of the ranks of column j, where ties share the
    mean of their ranks: chi2 = 12 / (N K (K + 1)) sum R(j)^2 - 3 N (K + 1), divided by
    1 - sum (t^3 - t) / (N K (K^2 - 1)) over all groups of t ties. Nemenyi's critical difference is
    q sqrt(K (K + 1) / (6 N)), q the upper quantile of the studentized range of K normal values,
    divided by the root of 2.

    Parameters
    ----------
    values
        (N, K), none missing.
    lower_is_better
        Rank the lowest first.

    Raises
    ------
    OptionError
        If the shape does not fit the names, a value is missing, or `alpha` is out of range.

    References
    ----------
    Friedman 1937, Journal of the American Statistical Association 32:675-701. Demsar 2006,
    Statistical comparisons of classifiers over multiple data sets, Journal of Machine Learning
    Research 7:1-30.

    Examples
    --------
    >>> found = friedman(np.array([[.8, .7, .6], [.9, .7, .8], [.7, .6, .5]]), ["a", "b", "c"])
    >>> found.mean_ranks[0], round(found.statistic, 3), round(found.critical_difference, 3)
    (1.0, 4.667, 1.914)
    """
    check_arguments(friedman, locals(), apart=["values"])
    table = _checked(np.asarray(values, np.float64), len(names))
    blocks, k = table.shape
    if blocks < 2 or k < 2:
        reason = f"{k} to rank in {blocks} blocks; two of both are needed"
        return Friedman(tuple(names), blocks, (nan,) * k, nan, nan, nan, nan, alpha, reason)
    from scipy.stats import chi2, rankdata  # takes a second to import

    table = np.round(table, _DIGITS)
    ranks = rankdata(table if lower_is_better else -table, axis=1)
    sums = ranks.sum(axis=0)
    plain = 12 / (blocks * k * (k + 1)) * float(sums @ sums) - 3 * blocks * (k + 1)
    ties = sum(float((n.astype(float) ** 3 - n).sum()) for n in map(_counts, table))
    left = 1 - ties / (blocks * k * (k * k - 1))
    alike = ties == blocks * (k**3 - k)
    statistic = nan if alike else plain / left
    return Friedman(
        tuple(names),
        blocks,
        tuple(float(mean) for mean in sums / blocks),
        statistic,
        plain,
        nan if alike else float(chi2.sf(statistic, k - 1)),
        critical_difference(k, blocks, alpha),
        alpha,
        "all tie in every block" if alike else "",
    )


def critical_difference(k: int, blocks: int, alpha: float = 0.05) -> float:
    """Return how far the mean ranks of two of `k` must be apart, by Nemenyi's test.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    check_arguments(critical_difference, locals())
    if not 0 < alpha < 1:
        raise OptionError(f"alpha is {alpha}; it must lie between 0 and 1, such as 0.05")
    if k < 2 or blocks < 1:
        raise OptionError(f"{k} in {blocks} blocks: give two at least, in one block at least")
    return _range(k, alpha) / sqrt(2) * sqrt(k * (k + 1) / (6 * blocks))


@cache
def _range(k: int, alpha: float) -> float:
    from scipy.stats import studentized_range

    return float(studentized_range.isf(alpha, k, inf))


def _counts(row: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.unique(row, return_counts=True)[1]


def _checked(table: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    if table.ndim != 2 or table.shape[1] != k:
        raise OptionError(f"values have the shape {table.shape}; give a row a block, {k} columns")
    if np.isnan(table).any():
        raise OptionError("a value is missing; leave its block out")
    return table
