"""Test by resampling and by exchanging whether two systems differ on the same sentence pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.arguments import check_arguments
from alignkit.scoring.bootstrap import chunks, distinct, resample
from alignkit.scoring.measures import LOWER_IS_BETTER, Counts, Ratios

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
