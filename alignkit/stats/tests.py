"""Test by resampling and by exchanging whether two systems differ on the same sentence pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, isnan, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments
from alignkit.errors import OptionError
from alignkit.stats.ratios import LOWER_IS_BETTER, Counts, Ratios
from alignkit.stats.resampling import chunks, distinct, resample

_TOLERANCE = 1e-12


def paired_bootstrap(
    system: Counts, baseline: Counts, measure: Ratios, *, resamples: int, rng: np.random.Generator
) -> dict[str, NDArray[np.float64]]:
    """Return the differences system minus baseline over resamples of the sentence pairs.

    Both systems are always measured on the same resample (Koehn 2004).
    """
    check_arguments(paired_bootstrap, locals())
    width = system.shape[1]
    sums = np.concatenate(list(resample(np.hstack([system, baseline]), resamples, rng)))
    return _differences(measure, sums[:, :width], sums[:, width:])


def paired_randomization(
    system: Counts, baseline: Counts, measure: Ratios, *, trials: int, rng: np.random.Generator
) -> dict[str, float]:
    """Return the two-sided p-value of approximate randomization for each measure.

    In each trial the two outputs of each sentence pair are exchanged with probability 1/2.
    p = (c + 1) / (R + 1), c the number of the R trials whose difference is at least as large in
    absolute value as the true one (Riezler & Maxwell 2005; Noreen 1989). A trial whose difference
    is undefined counts as that large; p is NaN where the true difference is undefined.

    Notes
    -----
    Exchanging the rows of a pair adds the difference of its rows to one total and takes it off the
    other, so pairs with the same difference are drawn together and those without are not drawn.
    """
    check_arguments(paired_randomization, locals())
    change = baseline - system
    kinds, numbers = distinct(change[change.any(axis=1)])
    totals = system.sum(0).astype(np.float64), baseline.sum(0).astype(np.float64)
    truth = _differences(measure, totals[0][None], totals[1][None])
    reached = dict.fromkeys(truth, 0)
    for size in chunks(trials, len(kinds)):
        moved = rng.binomial(numbers, 0.5, size=(size, len(kinds))).astype(np.float64) @ kinds
        drawn = _differences(measure, totals[0] + moved, totals[1] - moved)
        for name, values in drawn.items():
            below = np.abs(values) < np.abs(truth[name]) - _TOLERANCE
            reached[name] += int(np.count_nonzero(~below))
    return {
        name: np.nan if np.isnan(truth[name][0]) else (count + 1) / (trials + 1)
        for name, count in reached.items()
    }


def of_corpus(measure: Ratios, rows: Counts) -> dict[str, float]:
    """Return each measure of the whole corpus."""
    return {name: float(values[0]) for name, values in measure(rows.sum(0, keepdims=True)).items()}


def _differences(
    measure: Ratios, system: NDArray[np.float64], baseline: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    mine, other = measure(system), measure(baseline)
    return {name: mine[name] - other[name] for name in mine}


def wins(name: str, truth: float, drawn: NDArray[np.float64]) -> tuple[float, float]:
    """Return the share of resamples that the system wins, and the two-sided p-value.

    p = min(1, 2 (c + 1) / (B + 1)), c the number of the B resamples in which the system that is
    better on the whole corpus is not better; so p agrees with the percentile interval. A resample
    whose difference is undefined shows no system better, and counts in both.
    """
    if np.isnan(truth) or np.isnan(drawn).all():
        return np.nan, np.nan
    sign = -1 if name in LOWER_IS_BETTER else 1
    won = np.count_nonzero(sign * drawn > _TOLERANCE)
    lasting = np.count_nonzero(np.sign(truth) * drawn > _TOLERANCE)
    chance = 2 * (len(drawn) - lasting + 1) / (len(drawn) + 1)
    return won / len(drawn), min(1.0, chance)


@dataclass(frozen=True)
class AloneRight:
    """On how many pairs one system alone is right, and the other alone."""

    system: int
    baseline: int


def alone_right(system: NDArray[np.bool_], baseline: NDArray[np.bool_]) -> AloneRight:
    """Count on how many of the same pairs one of two systems alone is right."""
    return AloneRight(int((system & ~baseline).sum()), int((baseline & ~system).sum()))


def mcnemar(first: int, second: int, *, exact: bool = True) -> float:
    """Return the two-sided p-value of McNemar's test; NaN where nothing differs.

    Of the pairs in which one of two systems alone is right, half should be each one's. Exact:
    p = min(1, 2 P(X <= min)), X binomial with as many tries and the chance 1/2. Else the
    chi-square of one degree of freedom, (first - second)^2 / (first + second), without correction
    for continuity.

    Parameters
    ----------
    first, second
        In how many pairs the one alone, and the other alone, is right.

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
        raise OptionError(f"counts are {first} and {second}; give 0 or more")
    if not first + second:
        return nan
    if not exact:
        return erfc(abs(first - second) / sqrt(2 * (first + second)))
    from scipy.stats import binom  # takes a second to import

    return min(1.0, 2 * float(binom.cdf(min(first, second), first + second, 0.5)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's corrected p-values, in the order of the given ones.

    With the m defined p-values in rising order p(1), ..., p(m), the k-th becomes the largest of
    min(1, (m - j + 1) p(j)) for j = 1, ..., k. To reject where it is at most alpha keeps the
    chance of any false rejection at most alpha, however the tests depend on each other. NaN stays
    NaN, and counts for nothing.

    References
    ----------
    Holm 1979, Scandinavian Journal of Statistics 6(2):65-70.

    Examples
    --------
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03, 0.005])]
    [0.03, 0.06, 0.06, 0.02]
    """
    check_arguments(holm, locals())
    order = sorted((k for k, p in enumerate(p_values) if not isnan(p)), key=lambda k: p_values[k])
    found = [nan] * len(p_values)
    largest = 0.0
    for rank, k in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p_values[k]))
        found[k] = largest
    return found
