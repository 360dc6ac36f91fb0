"""The report of learning: what cross-validation found before and after, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass
from math import floor

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri, stdtrit

from alignkit.aligner.refine.measures import OBJECTIVES, measure
from alignkit.aligner.settings import THRESHOLD
from alignkit.report.columns import Cell, Column, Value
from alignkit.report.table import Table

RESAMPLES = 2000
_LEAST = 1e-3  # measures nearer to 0 or 1 have the log odds of this


@dataclass(frozen=True)
class Interval:
    """A measure, and the 95% interval of that of as many new pairs."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class LearningReport:
    """What learning from gold gained, by cross-validation.

    Parameters
    ----------
    objective
        What was learned for; one of `OBJECTIVES`.
    ignore_identical
        Whether equal words were left out of the measure.
    pairs, different, left_out
        The pairs that were learned from, the different ones among them, and the annotated ones
        left out: with an empty side, more than 400 words, or after the first million cells.
    before, after, gain
        The measure of the aligner alone, of what was learned, and the difference.
    calibration
        Calibration error of the probabilities, before and after.
    threshold
        Links are more probable than this.
    kind
        What was learned, or would have been; one of `alignkit.aligner.refine.fitting.KINDS`.
    losses
        For each kind that was tried, the log-loss of a cell in bits.
    prior
        What it started from.
    vectors
        Whether it looks at vectors.
    gaining
        The share of the resamples that gain.
    used
        Whether there was a gain, and in enough resamples; see `Objective`.
    """

    objective: str
    ignore_identical: bool
    pairs: int
    different: int
    left_out: int
    before: Interval
    after: Interval
    gain: Interval
    calibration: tuple[float, float]
    threshold: float
    kind: str
    losses: Mapping[str, float]
    prior: str
    vectors: bool
    gaining: float
    used: bool

    def table(self) -> Table:
        """Return the table."""
        name = OBJECTIVES[self.objective].measure
        columns = [
            Column("", key="aligner"),
            Column(name, "percent"),
            Column("calibration error", "decimal", digits=3),
            Column("threshold", "decimal", digits=3),
        ]
        rows: list[list[Cell]] = [
            ["before", Value(*astuple(self.before)), self.calibration[0], THRESHOLD],
            ["learned", Value(*astuple(self.after)), self.calibration[1], self.threshold],
            ["gain", Value(*astuple(self.gain)), None, None],
        ]
        title = f"{OBJECTIVES[self.objective].text}, by cross-validation on {self.pairs:,} pairs"
        if self.different < self.pairs:
            title += f", {self.different:,} different"
        return Table(title, columns, rows, note=self.verdict)

    @property
    def verdict(self) -> str:
        """What became of it, in a sentence."""
        how = f"{self.kind}, prior {self.prior}{', with vectors' if self.vectors else ''}"
        if self.used:
            return f"learned: {how}"
        percent = floor(100 * self.gaining + 1e-9)  # 59.9% are not enough where 60% are
        share = f"{percent}% of the resamples gain"
        needed = OBJECTIVES[self.objective].evidence(self.different)
        if self.gaining < needed:
            share += f", {needed:.0%} would do"
        return f"not used: no gain that is sure enough ({how}; {share})"

    def __str__(self) -> str:
        return self.show()

    def show(self, medium: str = "text") -> str:
        """Return the table in a medium."""
        return self.table().show(medium)

    def csv(self) -> str:
        """Return the table as CSV."""
        return self.table().csv()

    def to_json(self) -> dict[str, object]:
        """Return all of it as JSON takes it."""
        return asdict(self) | {"calibration": list(self.calibration), "losses": dict(self.losses)}


def resampled(
    objective: str, before: NDArray[np.int64], after: NDArray[np.int64]
) -> tuple[Interval, Interval, Interval, float]:
    """Return before, after and the gain, from counts (P, 4), and the share of resamples that gain.

    Intervals hold 95% of the differences between two resamples, since both these pairs and as many
    new ones are samples; they are wider for few pairs, as Student's are, and even in log odds.
    """
    sign, shift = (-1.0, 1.0) if objective == "aer" else (1.0, 0.0)
    pairs = len(before)
    rng = np.random.default_rng(0)
    draws = rng.integers(0, pairs, (2, RESAMPLES, pairs))
    ones, others = (measure(objective, rows[draws].sum(axis=2)) for rows in (before, after))
    one, other = (float(measure(objective, rows.sum(axis=0))) for rows in (before, after))
    wider = float(stdtrit(pairs - 1, 0.975) / ndtri(0.975) * np.sqrt(pairs / (pairs - 1)))

    def reach(values: NDArray[np.float64]) -> float:
        return wider * float(np.quantile(np.abs(values[1] - values[0]), 0.95))

    intervals = []
    for value, values in ((one, ones), (other, others)):
        inner = min(max(value, _LEAST), 1 - _LEAST)
        away = reach(values) / (inner * (1 - inner))
        figure = shift + sign * value
        ends = [shift + sign * float(expit(logit(inner) + x)) for x in (-away, away)]
        intervals.append(Interval(figure, min(figure, *ends), max(figure, *ends)))
    first, second = intervals
    gain, away = sign * (other - one), reach(others - ones)
    gaining = float((others > ones).mean())
    return first, second, Interval(gain, gain - away, gain + away), gaining
