"""The alternative annotator test: may a system replace an annotator, and at which epsilon."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan

import numpy as np

from alignkit._support.array_types import B1, F8, I8
from alignkit.agreement.replacement.comparison import OthersComparison, Units
from alignkit.stats.corrections import benjamini_yekutieli

EPSILONS = {"experts": 0.2, "trained annotators": 0.15, "crowds": 0.1}
"""The values of the authors, by who would be replaced."""

ALPHA = 0.05  # of the false discoveries among the annotators
LEAST_RATE = 0.5  # the winning rate from which on a system may replace an annotator
LEAST_PAIRS = 30  # an annotator with fewer pairs, or groups, is not tested


@dataclass(frozen=True)
class AnnotatorTest:
    """The system in place of one annotator.

    Parameters
    ----------
    annotator : The name.
    units : The number of pairs (or groups) that are compared; copies count once.
    advantage : The share of them in which the system is at least as much like the others as the
        annotator.
    difference : The mean of d: how much more often the annotator is at least as good.
    p_value : That of the hypothesis that the mean of d is epsilon or more.
    corrected : The same corrected for the number of annotators (Benjamini and Yekutieli).
    replaced : Whether the hypothesis is rejected.
    """

    annotator: str
    units: int
    advantage: float
    difference: float
    p_value: float
    corrected: float
    replaced: bool


@dataclass(frozen=True)
class Decision:
    """The answer of the test at one epsilon.

    Parameters
    ----------
    epsilon : How much less often the system may be at least as good.
    tests : The test of each annotator with enough pairs.
    few : The number of pairs of the annotators with too few.
    """

    epsilon: float
    tests: tuple[AnnotatorTest, ...]
    few: tuple[tuple[str, int], ...] = ()

    @property
    def advantage(self) -> float:
        """The mean advantage: the mean over annotators of the share of pairs."""
        if not self.tests:
            return nan
        return sum(test.advantage for test in self.tests) / len(self.tests)

    @property
    def winning_rate(self) -> float:
        """The share of annotators that the system may replace; NaN if nobody could be tested."""
        if not self.tests:
            return nan
        return self.replaced / len(self.tests)

    @property
    def replaced(self) -> int:
        """The number of annotators that the system may replace."""
        return sum(test.replaced for test in self.tests)

    @property
    def may_replace(self) -> bool | None:
        """Whether the system may replace an annotator; None if nobody could be tested."""
        rate = self.winning_rate
        return None if isnan(rate) else rate >= LEAST_RATE


def p_values(count: I8 | F8, mean: F8, deviation: F8, epsilon: float) -> F8:
    """Return the p-values of one-sided t-tests that the mean of d is epsilon or more.

    t = (mean - epsilon) / (deviation / sqrt(n)) with n - 1 degrees of freedom. If all d are the
    same, p is 0 below epsilon, else 1.

    Parameters
    ----------
    count, mean, deviation : The number of units, their mean, and their standard deviation (with
        n - 1); arrays of one shape.
    """
    from scipy.special import stdtr  # takes a while to import

    count = np.asarray(count, np.float64)
    enough = count > 1
    error = np.where(enough, deviation / np.sqrt(np.maximum(count, 1)), np.nan)
    t = np.divide(mean - epsilon, error, where=error > 0, out=np.zeros_like(error))
    p = stdtr(np.maximum(count - 1, 1), t)
    p = np.where(error > 0, p, np.where(mean < epsilon, 0.0, 1.0))
    return np.where(enough, p, np.nan)


def passes(p: F8) -> B1:
    """(...): whether the winning rate is high enough, for p-values (..., A) of A annotators."""
    tested = ~np.isnan(p)
    corrected = benjamini_yekutieli(p)
    replaced = np.where(tested, corrected <= ALPHA, False).sum(axis=-1)
    enough: B1 = (replaced >= LEAST_RATE * tested.sum(axis=-1)) & tested.any(axis=-1)
    return enough


def decide(
    comparison: OthersComparison,
    units: Units,
    epsilon: float,
    row: int = 0,
) -> Decision:
    """Return the decision for a row of a comparison; row 0 is everything."""
    won = units.means(comparison.system_wins[row])
    differences = units.means(comparison.differences[row])
    counts = (~np.isnan(differences)).sum(axis=1)
    kept = np.flatnonzero(counts >= LEAST_PAIRS)
    few = [k for k in range(len(counts)) if counts[k] < LEAST_PAIRS]
    means = np.array([np.nanmean(differences[k]) for k in kept])
    deviations = np.array([np.nanstd(differences[k], ddof=1) for k in kept])
    p = p_values(counts[kept], means, deviations, epsilon)
    corrected = benjamini_yekutieli(p)
    tests = []
    for at, k in enumerate(kept):
        tests.append(
            AnnotatorTest(
                annotator=comparison.annotators[k],
                units=int(counts[k]),
                advantage=float(np.nanmean(won[k])),
                difference=float(means[at]),
                p_value=float(p[at]),
                corrected=float(corrected[at]),
                replaced=bool(corrected[at] <= ALPHA),
            )
        )
    left_out = tuple((comparison.annotators[k], int(counts[k])) for k in few)
    return Decision(epsilon, tuple(tests), left_out)
