"""Intervals and tests if observations of one sampling unit depend on each other.

The unit is what was drawn: a sentence pair, or a group of pairs. Links, words, phrase pairs or
pairs of one unit (a *cluster*) are alike, so they say less than as many independent ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import nan, sqrt
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments
from alignkit._support.array_types import F8
from alignkit.errors import OptionError
from alignkit.stats.defaults import CONFIDENCE
from alignkit.stats.resampling import check_confidence, chunks, distinct
from alignkit.stats.shares import wilson_interval

_SAME = 1e-9  # sums that differ by no more than this differ by rounding alone

Numbers = Union[Sequence[int], NDArray[np.integer[Any]]]


def share_interval(
    counts: Numbers, totals: Numbers, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Return the interval of a share of observations that come in clusters; NaN if there are none.

    With `counts` x(k) of `totals` n(k) observations in m clusters, N = sum n(k), p = sum x(k) / N:
    the design effect is d = m / (m - 1) sum (x(k) - p n(k))^2 / (N p (1 - p)), and 1 at least; if p
    is 0 or 1, d = sum n(k)^2 / N, as if the observations of a cluster were all the same. The
    interval is Wilson's for N / d observations, with the quantile of Student's t instead of the
    normal one; its degrees of freedom are N^2 / sum n(k)^2 - 1, the number of clusters of equal
    size that are as informative, less 1. If each cluster has one observation, the interval is that
    of `wilson_interval`. With one cluster alone there are no bounds.

    Parameters
    ----------
    counts, totals : (m,) counts of each cluster, and their totals; clusters with the total 0 do
        not count.
    confidence : Between 0 and 1.

    Raises
    ------
    OptionError : If the counts are not 0 to the totals, or the confidence is out of range.

    References
    ----------
    Korn & Graubard 1998, Confidence intervals for proportions with small expected number of
    positive counts estimated from survey data, Survey Methodology 24(2):193-201, with Wilson's
    interval instead of Clopper and Pearson's; Dean & Pagano 2015, Evaluating confidence interval
    methods for binomial proportions in clustered surveys, Journal of Survey Statistics and
    Methodology 3:484-503, for the least design effect of 1.

    Examples
    --------
    >>> low, high = share_interval([3, 0, 4, 0, 2], [3, 3, 4, 4, 2])
    >>> round(low, 3), round(high, 3)
    (0.107, 0.933)
    """
    check_arguments(share_interval, locals(), apart=["counts", "totals"])
    check_confidence(confidence)
    x = np.asarray(counts, np.float64)
    n = np.asarray(totals, np.float64)
    same_shape = x.shape == n.shape and x.ndim == 1
    if not same_shape or (x < 0).any() or (x > n).any():
        raise OptionError("expected a count and a total for each cluster, 0 <= count <= total")
    x = x[n > 0]
    n = n[n > 0]
    clusters = len(n)
    total = float(n.sum())
    if clusters == total:
        return wilson_interval(int(x.sum()), int(total), confidence)
    if clusters < 2:
        return nan, nan
    share = float(x.sum()) / total
    sizes = float((n**2).sum())
    effect = sizes / total
    if 0 < share < 1:
        between = float(((x - share * n) ** 2).sum())
        expected = total * share * (1 - share)
        effect = clusters / (clusters - 1) * between / expected
    degrees = total**2 / sizes - 1
    return _score_interval(share, total / max(effect, 1.0), degrees, confidence)


def jackknife_interval(
    value: float, left_out: F8, sizes: F8, confidence: float
) -> tuple[float, float]:
    """Return the interval of a statistic from 0 to 1 of m clusters, such as F1; NaN if none.

    `left_out` are the m values of the statistic without each cluster, which give its variance by
    the jackknife, v = (m - 1) / m sum (value(k) - mean)^2. The interval is Wilson's for as many
    observations as are as informative, value (1 - value) / v, with the quantile of Student's t;
    its degrees of freedom are N^2 / sum n(k)^2 - 1 for clusters of the sizes n(k), N = sum n(k).
    For the share of observations in clusters, it is nearly that of `share_interval`. There are no
    bounds if the value is 0 or 1, if it is undefined without some cluster, or if it does not depend
    on which clusters there are.

    References
    ----------
    Efron & Tibshirani 1993, An Introduction to the Bootstrap, chapter 11; Korn & Graubard 1998, see
    `share_interval`.
    """
    clusters = len(left_out)
    if clusters < 2 or not 0 < value < 1 or np.isnan(left_out).any():
        return nan, nan
    deviations = left_out - left_out.mean()
    variance = (clusters - 1) / clusters * float((deviations**2).sum())
    total = float(sizes.sum())
    degrees = total**2 / float((sizes**2).sum()) - 1
    if variance <= 0 or degrees <= 0:
        return nan, nan
    return _score_interval(value, value * (1 - value) / variance, degrees, confidence)


def _score_interval(
    share: float, total: float, degrees: float, confidence: float
) -> tuple[float, float]:
    """Return Wilson's interval for a number of observations that need not be whole.

    Student's t with so many degrees of freedom takes the place of the normal distribution.
    """
    from scipy.special import stdtrit

    z = float(stdtrit(degrees, (1 + confidence) / 2))
    middle = share * total + z * z / 2
    below = total + z * z
    variance = total * share * (1 - share)
    reach = z * sqrt(variance + z * z / 4)
    low = 0.0 if share == 0 else (middle - reach) / below
    high = 1.0 if share == 1 else (middle + reach) / below
    return low, high


def halves_test(
    counts: Numbers, totals: Numbers, halves: Numbers, *, orders: int, seed: int
) -> list[float]:
    """Return the p-values of V shares of clusters being the same in two halves of the clusters.

    With `counts` x(v, k) of `totals` n(k) observations in cluster k, and p(v) the share in all
    clusters, a cluster has r(v, k) = x(v, k) - p(v) n(k) more than its part; T(v) is the sum of
    r(v, k) over the clusters of the first half, divided by the square root of the sum of
    r(v, k)^2 over all clusters. If the order of the clusters means nothing, each choice of as many
    clusters for the first half is as likely: p(v) is (c + 1) / (R + 1), where in c of R random
    choices the largest abs(T) of all V shares is at least abs(T(v)). So the probability that any of
    the V shares has p <= alpha is alpha at most. NaN if one of the halves has no observation.

    Parameters
    ----------
    counts : (V, m) counts of each cluster.
    totals : (m,) their totals; clusters with the total 0 do not count.
    halves : (m,) 0 for clusters of the first half, 1 for the others.
    orders : R.

    References
    ----------
    Fisher 1935, The Design of Experiments, section 21. Westfall & Young 1993, Resampling-Based
    Multiple Testing, section 2.3, for the largest of several.

    Examples
    --------
    >>> counts, totals = [[4, 3, 4, 5, 0, 1, 0, 0]], [5, 4, 4, 5, 4, 3, 5, 4]
    >>> [p] = halves_test(counts, totals, [0, 0, 0, 0, 1, 1, 1, 1], orders=9999, seed=1)
    >>> round(p, 2)  # 2 of the 70 choices are as extreme
    0.03
    """
    check_arguments(halves_test, locals(), apart=["counts", "totals", "halves"])
    x = np.asarray(counts, np.float64)
    n = np.asarray(totals, np.float64)
    first = np.asarray(halves)[n > 0] == 0
    x = x[:, n > 0]
    n = n[n > 0]
    if not 0 < int(first.sum()) < len(n):
        return [nan] * len(x)
    shares = x.sum(axis=1, keepdims=True) / n.sum()
    rest = x - shares * n
    spread = np.sqrt((rest**2).sum(axis=1, keepdims=True))
    rest /= np.where(spread > _SAME, spread, np.inf)  # a share that never differs: T is 0
    truth = np.abs(rest[:, first].sum(axis=1))
    kinds, numbers = distinct(np.vstack((rest, n)).T)
    reached = np.zeros(len(x), np.int64)
    rng = np.random.default_rng(seed)
    half = int(first.sum())
    for size in chunks(orders, len(numbers)):
        drawn = rng.multivariate_hypergeometric(numbers, half, size, method="marginals")
        most = np.abs(drawn @ kinds[:, :-1]).max(axis=1)
        reached += (most[:, None] >= truth - _SAME).sum(axis=0)
    return [float(p) for p in (reached + 1) / (orders + 1)]


def cluster_error(values: F8, clusters: NDArray[np.integer[Any]]) -> float:
    """Return the standard error of the mean of (P,) values that come in clusters.

    It is sqrt(sum over clusters of (sum of values - mean)^2) / P; if each cluster has one value,
    the standard deviation / sqrt(P).

    Examples
    --------
    >>> values = np.array([1.0, 1.0, 3.0, 3.0])
    >>> cluster_error(values, np.arange(4)), round(cluster_error(values, np.array([0, 0, 1, 1])), 3)
    (0.5, 0.707)
    """
    _, cluster_of = np.unique(clusters, return_inverse=True)
    deviations = values - values.mean()
    sums = np.bincount(cluster_of.reshape(-1), deviations)
    return float(np.sqrt((sums**2).sum()) / len(values))


def mcnemar_clusters(differences: Numbers) -> float:
    """Return the two-sided p-value of McNemar's test for pairs in clusters; NaN if nothing differs.

    By chance, the results of two systems could be exchanged in each cluster. So the difference d(k)
    between the numbers of pairs that only one or only the other has right has either sign with
    probability 1/2: p is the probability that abs(sum +-d(k)) is at least abs(sum d(k)), computed
    exactly. If each cluster has one pair, this is McNemar's exact test (`mcnemar`).

    Parameters
    ----------
    differences : (m,) differences of the clusters.

    References
    ----------
    Fisher 1935, The Design of Experiments, section 21. McNemar 1947, Psychometrika 12(2):153-157.

    Examples
    --------
    >>> round(mcnemar_clusters([1, -1, -1, -1, -1, -1, -1, -1]), 4)
    0.0703
    >>> round(mcnemar_clusters([1, -3, -4]), 4)
    0.5
    """
    check_arguments(mcnemar_clusters, locals(), apart=["differences"])
    given = np.asarray(differences, np.int64)
    differing = given[given != 0]
    sizes, numbers = np.unique(np.abs(differing), return_counts=True)
    if not len(sizes):
        return nan
    from scipy.stats import binom  # takes a second to import

    chances = np.ones(1)  # of the sums from -reach to reach, in steps of 2
    for size, number in zip(sizes.tolist(), numbers.tolist(), strict=True):
        of_size = np.zeros(size * number + 1)
        of_size[::size] = binom.pmf(np.arange(number + 1), number, 0.5)
        chances = np.convolve(chances, of_size)
    reach = len(chances) - 1
    sums = 2 * np.arange(reach + 1) - reach
    as_large = np.abs(sums) >= abs(int(given.sum()))
    return min(1.0, float(chances[as_large].sum()))
