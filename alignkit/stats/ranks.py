"""Tests of mean ranks: Friedman's, with Nemenyi's critical difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import exp, inf, lgamma, nan, sqrt

import numpy as np

from alignkit._support.arguments import check_arguments
from alignkit._support.array_types import F8
from alignkit.errors import OptionError

_DIGITS = 12
"""Values that are equal up to this decimal are ties; smaller differences are rounding errors."""


@dataclass(frozen=True)
class Friedman:
    """Friedman's test of K items in N blocks, with Nemenyi's critical difference.

    Returned by `friedman`.

    Parameters
    ----------
    names : The names of the K items.
    blocks : The number of blocks, N.
    mean_ranks : The mean rank of each item; 1 is best.
    statistic : Chi-square, corrected for ties; NaN if undefined.
    uncorrected : Chi-square without that correction.
    p_value : Of `statistic`, by the chi-square distribution with K - 1 degrees of freedom.
    critical_difference : Items differ significantly at `alpha` if their mean ranks differ by more.
    alpha : The probability of any false difference.
    reason : Why there is no statistic, or "".

    Examples
    --------
    >>> import numpy as np
    >>> from alignkit.stats import friedman
    >>> test = friedman(np.array([[.8, .7, .6], [.9, .7, .8], [.7, .6, .5]]), ["a", "b", "c"])
    >>> test.ranking[0], test.blocks
    (('a', 1.0), 3)
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
        """The items with their mean ranks, best first."""
        return sorted(zip(self.names, self.mean_ranks, strict=True), key=lambda pair: pair[1])

    def beyond(self) -> list[tuple[str, str, float]]:
        """Return the pairs that differ significantly: the better, the other, and their distance.

        Examples
        --------
        >>> import numpy as np
        >>> from alignkit.stats import friedman
        >>> test = friedman(np.array([[.9, .5, .1]] * 8), ["a", "b", "c"])
        >>> [(better, other) for better, other, difference in test.beyond()]
        [('a', 'c')]
        """
        rows = []
        for (better, low), (other, high) in combinations(self.ranking, 2):
            distance = high - low
            if distance > self.critical_difference:
                rows.append((better, other, distance))
        return rows

    @property
    def pairs(self) -> int:
        """The number of pairs of items."""
        return len(self.names) * (len(self.names) - 1) // 2

    @property
    def too_few(self) -> str:
        """Why no ranks at all could be significant with so few blocks, or ""."""
        if self.reason:
            return ""
        from scipy.stats import chi2

        # if all K! orders are as likely in a block, N blocks agree with probability K!^(1 - N);
        # by the chi-square distribution it is that of N (K - 1)
        k = len(self.names)
        exact = exp((1 - self.blocks) * lgamma(k + 1))
        approximate = float(chi2.sf(self.blocks * (k - 1), k - 1))
        least = max(exact, approximate)
        if least > self.alpha:
            return f"the same ranks in every block would still have p {least:.2f}"
        if self.critical_difference >= k - 1:
            return (
                f"mean ranks can differ by {k - 1} at most, but the critical difference is "
                f"{self.critical_difference:.3f}"
            )
        return ""

    def groups(self) -> list[tuple[str, ...]]:
        """Return the largest runs of two or more neighbours that do not differ significantly.

        Examples
        --------
        >>> import numpy as np
        >>> from alignkit.stats import friedman
        >>> friedman(np.array([[.9, .5, .1]] * 8), ["a", "b", "c"]).groups()
        [('a', 'b'), ('b', 'c')]
        """
        names = [name for name, _ in self.ranking]
        ranks = [rank for _, rank in self.ranking]
        groups = list[tuple[str, ...]]()
        last = 0
        for start, low in enumerate(ranks):
            end = start
            while end < len(ranks) and not ranks[end] - low > self.critical_difference:
                end += 1
            if end > max(last, start + 1):
                groups.append(tuple(names[start:end]))
            last = max(last, end)
        return groups


def friedman(
    values: F8,
    names: Sequence[str],
    *,
    alpha: float = 0.05,
    lower_is_better: bool = False,
) -> Friedman:
    """Rank the columns within each row, and test whether their mean ranks differ.

    With N rows (blocks), K columns, and R(j) the sum of the ranks of column j (ties get their mean
    rank): chi2 = 12 / (N K (K + 1)) sum R(j)^2 - 3 N (K + 1), divided by
    1 - sum (t^3 - t) / (N K (K^2 - 1)) over all groups of t ties. Nemenyi's critical difference is
    q sqrt(K (K + 1) / (6 N)); q is the upper quantile of the studentized range of K normal values,
    divided by the square root of 2.

    Parameters
    ----------
    values : (N, K) values without missing ones.
    names : The K names.
    lower_is_better : Rank the lowest first.
    alpha : The probability of any false difference.

    Raises
    ------
    OptionError : If the shape does not fit the names, a value is missing, or `alpha` is out of
        range.

    References
    ----------
    Friedman 1937, Journal of the American Statistical Association 32:675-701. Demsar 2006,
    Statistical comparisons of classifiers over multiple data sets, Journal of Machine Learning
    Research 7:1-30.

    Examples
    --------
    >>> test = friedman(np.array([[.8, .7, .6], [.9, .7, .8], [.7, .6, .5]]), ["a", "b", "c"])
    >>> test.mean_ranks[0], round(test.statistic, 3), round(test.critical_difference, 3)
    (1.0, 4.667, 1.914)
    """
    check_arguments(friedman, locals(), apart=["values"])
    table = np.asarray(values, np.float64)
    if table.ndim != 2 or table.shape[1] != len(names):
        raise OptionError(f"values have the shape {table.shape}; expected {len(names)} columns")
    if np.isnan(table).any():
        raise OptionError("a value is missing; leave its block out")
    blocks, k = table.shape
    if blocks < 2 or k < 2:
        reason = f"{k} to rank in {blocks} blocks; at least two of both are needed"
        return Friedman(tuple(names), blocks, (nan,) * k, nan, nan, nan, nan, alpha, reason)
    from scipy.stats import chi2, rankdata  # takes a second to import

    table = np.round(table, _DIGITS)
    sums = rankdata(table if lower_is_better else -table, axis=1).sum(axis=0)
    squares = float(sums @ sums)
    uncorrected = 12 / (blocks * k * (k + 1)) * squares - 3 * blocks * (k + 1)
    ties = 0.0
    for row in table:
        _, counts = np.unique(row, return_counts=True)
        sizes = counts.astype(float)
        ties += float((sizes**3 - sizes).sum())
    statistic = nan
    p_value = nan
    reason = "all tie in every block"
    if ties != blocks * (k**3 - k):
        statistic = uncorrected / (1 - ties / (blocks * k * (k * k - 1)))
        p_value = float(chi2.sf(statistic, k - 1))
        reason = ""
    return Friedman(
        names=tuple(names),
        blocks=blocks,
        mean_ranks=tuple((sums / blocks).tolist()),
        statistic=statistic,
        uncorrected=uncorrected,
        p_value=p_value,
        critical_difference=critical_difference(k, blocks, alpha),
        alpha=alpha,
        reason=reason,
    )


def critical_difference(k: int, blocks: int, alpha: float = 0.05) -> float:
    """Return the difference of mean ranks that two of `k` need to differ by Nemenyi's test.

    Parameters
    ----------
    k : The number of items.
    blocks : The number of blocks in which all items were ranked.
    alpha : The probability of any false difference.

    Raises
    ------
    OptionError : If there are fewer than two items or no block, or `alpha` is not between 0 and 1.

    References
    ----------
    Nemenyi 1963, Distribution-free multiple comparisons, PhD thesis, Princeton. Demsar 2006,
    Statistical comparisons of classifiers over multiple data sets, Journal of Machine Learning
    Research 7:1-30; the example is its section 3.2.2.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    check_arguments(critical_difference, locals())
    if not 0 < alpha < 1:
        raise OptionError(f"`alpha` is {alpha}; expected a number between 0 and 1, such as 0.05")
    if k < 2 or blocks < 1:
        raise OptionError(f"{k} in {blocks} blocks; expected at least two, in at least one block")
    quantile = _range(k, alpha) / sqrt(2)
    return quantile * sqrt(k * (k + 1) / (6 * blocks))


@cache
def _range(k: int, alpha: float) -> float:
    """Return the upper quantile of the studentized range of k normal values."""
    from scipy.stats import studentized_range

    return float(studentized_range.isf(alpha, k, inf))
