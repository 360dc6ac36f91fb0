"""Tests of differences between systems: paired, right or wrong, and ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import ceil, erfc, exp, inf, isnan, lgamma, nan, sqrt

import numpy as np

from alignkit._support.arguments import check_arguments
from alignkit._support.array_types import B1, F8
from alignkit.errors import OptionError
from alignkit.stats.defaults import DRAWS_EACH
from alignkit.stats.resampling import (
    ALIKE_PAIRS,
    LOWER_IS_BETTER,
    Counts,
    Ratios,
    chunks,
    distinct,
    resample,
)

_TOLERANCE = 1e-12

MOST_DRAWS = 100_000
"""The largest number of resamples or trials that alignkit takes by itself."""


def enough_draws(tests: int, least: int = DRAWS_EACH, *, each: int = DRAWS_EACH) -> int:
    """Return the number of resamples or trials for tests with Holm's correction.

    A p-value from N draws is at least about 1 / N, and Holm's correction multiplies the smallest of
    m p-values by m. With N in proportion to m, the smallest corrected p-value is the same for any
    number of tests, up to `MOST_DRAWS`.

    Examples
    --------
    >>> [enough_draws(tests) for tests in (1, 36, 1000)]
    [1000, 36000, 100000]
    """
    return min(max(least, each * tests), MOST_DRAWS)


def bootstrap_floor(resamples: int) -> float:
    """Return the smallest p-value that `wins` can give, 2 / (B + 1)."""
    return min(1.0, 2 / (resamples + 1))


def randomization_floor(trials: int) -> float:
    """Return the smallest p-value of randomization or permutation, 1 / (R + 1)."""
    return 1 / (trials + 1)


def joint_bootstrap(
    systems: Sequence[Counts], measure: Ratios, *, resamples: int, rng: np.random.Generator
) -> dict[str, F8]:
    """Return each measure of S systems on the same B resamples, (S, B).

    The same resamples serve all pairs of systems (Koehn 2004), so the time does not grow with the
    number of pairs.
    """
    width = systems[0].shape[1]
    drawn = resample(np.hstack(systems), resamples, rng)
    parts = [measure(sums.reshape(-1, width)) for sums in drawn]
    joint = {}
    for name in parts[0]:
        values = np.concatenate([part[name] for part in parts])
        joint[name] = values.reshape(-1, len(systems)).T
    return joint


def joint_randomization(
    systems: Sequence[Counts],
    pairs: Sequence[tuple[int, int]],
    measure: Ratios,
    *,
    trials: int,
    rng: np.random.Generator,
) -> list[dict[str, float]]:
    """Return the two-sided p-values of approximate randomization, for pairs of systems (places)."""
    # p = (c + 1) / (R + 1), c the number of the R trials, which exchange the outputs of each
    # sentence pair with probability 1/2, whose difference is as large at least as the true one, or
    # undefined (Riezler & Maxwell 2005; Noreen 1989). All pairs of systems share what is exchanged:
    # `moved` sums the rows of the exchanged sentence pairs, a row for each trial and system
    totals = np.array([rows.sum(0) for rows in systems], np.float64)
    truths = [_differences(measure, totals[[a]], totals[[b]]) for a, b in pairs]
    reached = [dict.fromkeys(truth, 0) for truth in truths]
    differ = np.any([(rows != systems[0]).any(axis=1) for rows in systems], axis=0)
    joint = np.hstack([rows[differ] for rows in systems]).astype(np.float64)
    for chosen, kinds in _exchanges(joint, trials, rng):
        moved = (chosen @ kinds).reshape(len(chosen), len(systems), -1)
        for (a, b), truth, counts in zip(pairs, truths, reached, strict=True):
            change = moved[:, b] - moved[:, a]
            drawn = _differences(measure, totals[a] + change, totals[b] - change)
            for name, values in drawn.items():
                below = np.abs(values) < np.abs(truth[name]) - _TOLERANCE
                counts[name] += int(np.count_nonzero(~below))
    p_values = []
    for truth, counts in zip(truths, reached, strict=True):
        of_pair = {name: (count + 1) / (trials + 1) for name, count in counts.items()}
        undefined = [name for name, values in truth.items() if np.isnan(values[0])]
        p_values.append({**of_pair, **dict.fromkeys(undefined, nan)})
    return p_values


def _exchanges(rows: F8, trials: int, rng: np.random.Generator) -> Iterator[tuple[F8, F8]]:
    """Yield for chunks of trials how many of each kind of row are exchanged, and the kinds."""
    kinds, numbers = distinct(rows)
    if len(rows) < ALIKE_PAIRS * len(kinds):
        kinds = rows  # a bit for each pair is faster than a binomial number for each kind
    for size in chunks(trials, len(kinds) + rows.shape[1]):
        if kinds is rows:
            count = size * len(rows)
            octets = np.frombuffer(rng.bytes(ceil(count / 8)), np.uint8)
            bits = np.unpackbits(octets, count=count)
            chosen = bits.reshape(size, len(rows)).astype(np.float64)
        else:
            chosen = rng.binomial(numbers, 0.5, size=(size, len(kinds))).astype(np.float64)
        yield chosen, kinds


def paired_randomization(
    system: Counts, baseline: Counts, measure: Ratios, *, trials: int, rng: np.random.Generator
) -> dict[str, float]:
    """Return the two-sided p-value of approximate randomization for each measure."""
    both = (system, baseline)
    (p_values,) = joint_randomization(both, [(0, 1)], measure, trials=trials, rng=rng)
    return p_values


def of_corpus(measure: Ratios, rows: Counts) -> dict[str, float]:
    """Return each measure of the whole corpus."""
    measures = measure(rows.sum(0, keepdims=True))
    return {name: float(values[0]) for name, values in measures.items()}


def _differences(measure: Ratios, system: F8, baseline: F8) -> dict[str, F8]:
    """Return the difference of each measure, (R,), for two systems with (R, C) sums of counts."""
    measures = measure(system)
    others = measure(baseline)
    return {name: measures[name] - others[name] for name in measures}


def wins(name: str, truth: float, drawn: F8) -> tuple[float, float]:
    """Return the share of resamples in which the system wins, and the two-sided p-value."""
    # p = min(1, 2 (c + 1) / (B + 1)), c the number of the B resamples in which the system that is
    # better on the whole corpus is not, or the difference is undefined; as the percentile interval
    if np.isnan(truth) or np.isnan(drawn).all():
        return np.nan, np.nan
    sign = -1 if name in LOWER_IS_BETTER else 1
    won = np.count_nonzero(sign * drawn > _TOLERANCE)
    lasting = np.count_nonzero(np.sign(truth) * drawn > _TOLERANCE)
    chance = 2 * (len(drawn) - lasting + 1) / (len(drawn) + 1)
    return won / len(drawn), min(1.0, chance)


@dataclass(frozen=True)
class AloneRight:
    """The numbers of pairs that only one of two systems has right."""

    system: int
    baseline: int


def alone_right(system: B1, baseline: B1) -> AloneRight:
    """Count the pairs that only one of two systems has right."""
    of_system = int((system & ~baseline).sum())
    of_baseline = int((baseline & ~system).sum())
    return AloneRight(of_system, of_baseline)


def mcnemar(first: int, second: int, *, exact: bool = True) -> float:
    """Return the two-sided p-value of McNemar's test; NaN if nothing differs.

    By chance, each system should have half of the pairs that only one of them has right. Exact:
    p = min(1, 2 P(X <= min)), where X is binomial with n = first + second and probability 1/2.
    Otherwise: chi-square with one degree of freedom, (first - second)^2 / (first + second),
    without correction for continuity.

    Parameters
    ----------
    first, second : Numbers of pairs that only the first, or only the second, has right.
    exact : Use the binomial distribution; otherwise chi-square.

    Raises
    ------
    OptionError : If a count is negative.

    References
    ----------
    McNemar 1947, Psychometrika 12(2):153-157.

    Examples
    --------
    >>> mcnemar(1, 7), round(mcnemar(1, 7, exact=False), 4)
    (0.0703125, 0.0339)
    """
    check_arguments(mcnemar, locals())
    if min(first, second) < 0:
        raise OptionError(f"counts are {first} and {second}; expected 0 or more")
    if not first + second:
        return nan
    if not exact:
        return erfc(abs(first - second) / sqrt(2 * (first + second)))
    from scipy.stats import binom  # takes a second to import

    tail = float(binom.cdf(min(first, second), first + second, 0.5))
    return min(1.0, 2 * tail)


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
    order = _rising(p_values)
    corrected = [nan] * len(p_values)
    largest = 0.0
    for rank, k in enumerate(order):
        value = min(1.0, (len(order) - rank) * p_values[k])
        largest = max(largest, value)
        corrected[k] = largest
    return corrected


def _rising(p_values: Sequence[float]) -> list[int]:
    """Return the places of the defined p-values, the smallest first."""
    defined = [k for k, p in enumerate(p_values) if not isnan(p)]
    return sorted(defined, key=lambda k: p_values[k])


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
    order = _rising(p_values)
    corrected = [False] * len(p_values)
    largest = 0.0
    decided_by_bound = False
    for rank, k in enumerate(order):
        value = min(1.0, (len(order) - rank) * p_values[k])
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
