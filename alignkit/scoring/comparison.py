"""Test whether one system scores better than another on the same sentence pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alignkit.arguments import check_arguments
from alignkit.errors import JoinError, OptionError, UnknownNameError
from alignkit.scoring.bootstrap import (
    Interval,
    check_drawing,
    chunks,
    distinct,
    resample,
    summarize,
)
from alignkit.scoring.counts import LINK_COLUMNS, PHRASE_COLUMNS, Rows
from alignkit.scoring.measures import LOWER_IS_BETTER, Ratios, none_if_nan

__all__ = ["Comparison", "compare", "paired_bootstrap", "paired_randomization"]

_TOLERANCE = 1e-12

# by the number of columns, those that the reference alone decides
_OF_REFERENCE = {
    len(columns): [k for k, name in enumerate(columns) if name.startswith("ref_")]
    for columns in (LINK_COLUMNS, PHRASE_COLUMNS)
}


@dataclass(frozen=True)
class Comparison:
    """Hold one measure of a system beside that of the baseline.

    Parameters
    ----------
    measure
        The name of the measure.
    system, baseline
        The names of the two.
    system_value, baseline_value
        The measure of each on the whole corpus.
    difference
        System minus baseline.
    interval
        The bootstrap interval of the difference.
    wins
        In which share of the resamples the system is better (AER: lower); Koehn's figure.
    bootstrap_p
        Two-sided p-value of the paired bootstrap.
    randomization_p
        Two-sided p-value of the paired approximate randomization.
    """

    measure: str
    system: str
    baseline: str
    system_value: float
    baseline_value: float
    difference: float
    interval: Interval
    wins: float
    bootstrap_p: float
    randomization_p: float

    def to_json(self) -> dict[str, object]:
        """Return the comparison as JSON takes it: NaN is None."""
        ratios = ("system_value", "baseline_value", "difference", "wins")
        p_values = ("bootstrap_p", "randomization_p")
        return {
            "measure": self.measure,
            "system": self.system,
            "baseline": self.baseline,
            **{name: none_if_nan(getattr(self, name)) for name in ratios + p_values},
            "interval": self.interval.to_json(),
        }


def compare(
    systems: Mapping[str, Rows],
    measure: Ratios,
    *,
    baseline: str | None = None,
    samples: int = 1000,
    trials: int = 10000,
    confidence: float = 0.95,
    rng: np.random.Generator | int | None = None,
) -> list[Comparison]:
    """Compare each system with the baseline by paired bootstrap and approximate randomization.

    Parameters
    ----------
    systems
        For each system (P, C) rows of counts of the same sentence pairs against one reference.
    measure
        `link_ratios` or `phrase_ratios`.
    baseline
        The system that the others are compared with; None takes the first.
    samples
        Resamples of the bootstrap.
    trials
        Shuffles of the randomization.
    confidence
        Of the interval of the difference.
    rng
        A generator or its seed; None takes a fresh one.

    Returns
    -------
    list of Comparison
        System by system, measure by measure.

    Raises
    ------
    OptionError
        If there are less than two systems or a number is out of range.
    UnknownNameError
        If `baseline` is none of the systems.
    JoinError
        If the rows do not come from the same reference.

    Notes
    -----
    The p-values are not corrected for comparing many systems or many measures.

    References
    ----------
    Koehn 2004, EMNLP, W04-3250. Riezler & Maxwell 2005, ACL workshop, W05-0908.
    """
    check_arguments(compare, locals())
    check_drawing(samples, confidence)
    if trials < 1:
        raise OptionError(f"trials must be at least 1, not {trials}")
    if len(systems) < 2:
        raise OptionError(f"a comparison needs two systems or more, not {len(systems)}")
    chosen = next(iter(systems)) if baseline is None else baseline
    if chosen not in systems:
        raise UnknownNameError("system", chosen, systems)
    others = [name for name in systems if name != chosen]
    streams = np.random.default_rng(rng).spawn(len(others))
    found: list[Comparison] = []
    for name, stream in zip(others, streams, strict=True):
        both = systems[name], systems[chosen]
        _check_same_reference(name, both[0], chosen, both[1])
        values = [_corpus(measure, rows) for rows in both]
        drawn = paired_bootstrap(*both, measure, samples=samples, rng=stream)
        chances = paired_randomization(*both, measure, trials=trials, rng=stream)
        for key, chance in chances.items():
            wins, bootstrap_p = _wins(key, values[0][key] - values[1][key], drawn[key])
            found.append(
                Comparison(
                    measure=key,
                    system=name,
                    baseline=chosen,
                    system_value=values[0][key],
                    baseline_value=values[1][key],
                    difference=values[0][key] - values[1][key],
                    interval=summarize(drawn[key], confidence),
                    wins=wins,
                    bootstrap_p=bootstrap_p,
                    randomization_p=chance,
                )
            )
    return found


def paired_bootstrap(
    system: Rows, baseline: Rows, measure: Ratios, *, samples: int, rng: np.random.Generator
) -> dict[str, NDArray[np.float64]]:
    """Return the differences system minus baseline over resamples of the sentence pairs.

    Both systems are always measured on the same resample (Koehn 2004).

    Returns
    -------
    dict
        For each measure a (samples,) array, NaN where either is undefined.
    """
    check_arguments(paired_bootstrap, locals())
    width = system.shape[1]
    sums = np.concatenate(list(resample(np.hstack([system, baseline]), samples, rng)))
    return _differences(measure, sums[:, :width], sums[:, width:])


def paired_randomization(
    system: Rows, baseline: Rows, measure: Ratios, *, trials: int, rng: np.random.Generator
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


def _corpus(measure: Ratios, rows: Rows) -> dict[str, float]:
    return {name: float(values[0]) for name, values in measure(rows.sum(0, keepdims=True)).items()}


def _differences(
    measure: Ratios, system: NDArray[np.float64], baseline: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    mine, other = measure(system), measure(baseline)
    return {name: mine[name] - other[name] for name in mine}


def _wins(name: str, truth: float, drawn: NDArray[np.float64]) -> tuple[float, float]:
    """Return the share of resamples that the system wins, and the two-sided p-value.

    p = min(1, 2 (c + 1) / (B + 1)), c the number of the B resamples in which the system that is
    better on the whole corpus is not better; so p agrees with the percentile interval.
    """
    drawn = drawn[~np.isnan(drawn)]
    if np.isnan(truth) or not len(drawn):
        return np.nan, np.nan
    sign = -1 if name in LOWER_IS_BETTER else 1
    won = np.count_nonzero(sign * drawn > _TOLERANCE)
    lasting = np.count_nonzero(np.sign(truth) * drawn > _TOLERANCE)
    chance = 2 * (len(drawn) - lasting + 1) / (len(drawn) + 1)
    return won / len(drawn), min(1.0, chance)


def _check_same_reference(name: str, rows: Rows, baseline: str, others: Rows) -> None:
    if rows.shape != others.shape:
        raise JoinError(
            f"{name!r} was scored on {len(rows)} sentence pairs and {baseline!r} on {len(others)}; "
            "score both on the same pairs"
        )
    known = _OF_REFERENCE.get(rows.shape[1], [])
    differs = np.flatnonzero((rows[:, known] != others[:, known]).any(axis=1))
    if len(differs):
        raise JoinError(
            f"{name!r} and {baseline!r} were scored against different references (first at "
            f"pair {differs[0]}, counted from 0); a comparison needs one reference"
        )
