"""Evaluation of link probabilities against gold: counts, measures, calibration, and gain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass
from math import floor

import numpy as np
from numpy.typing import NDArray

from alignkit._support.array_types import B1, F4, F8, I8
from alignkit.align.supervised.gold import Gold
from alignkit.align.supervised.learned import LEAST_WEIGHT, OBJECTIVES
from alignkit.model.arrays import LinkArrays, offsets_of
from alignkit.model.phrase_arrays import UNLIMITED, count_shared_phrases
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.result import TableResult
from alignkit.tables.table import Table

GRID = np.arange(2, 39) / 40  # the thresholds that are tried: from 0.05 to 0.95

_WINDOW = np.array([1, 2, 3, 4, 3, 2, 1]) / 16  # over which measures are smoothed
_PULL = 0.4  # of the threshold that theory expects
_BINS = 10
RESAMPLES = 2000
_LEAST = 1e-3  # measures nearer to 0 or 1 have the log odds of this


def rows_of(gold: Gold, probabilities: F4, threshold: float) -> I8:
    """Return the counts (P, 4) of each pair if cells above a threshold are links."""
    chosen = probabilities > np.float32(threshold)
    if gold.objective == "phrases":
        return _phrase_rows(gold, chosen)
    chosen &= gold.counted

    def by_pair(cells: B1) -> NDArray[np.intp]:
        return np.bincount(gold.cells.pair_of[cells], minlength=len(gold))

    hypothesis = by_pair(chosen)
    right = by_pair(chosen & (gold.levels > 0))
    recalled = by_pair(chosen & (gold.levels == 2))
    return np.stack([hypothesis, right, gold.reference, recalled], axis=1).astype(np.int64)


def _phrase_rows(gold: Gold, chosen: B1) -> I8:
    """Return the counts (P, 4) of phrase pairs if the chosen cells (K,) are links."""
    cells = gold.cells
    all_sure = np.ones(np.count_nonzero(chosen), np.uint8)
    offsets = offsets_of(chosen)[cells.ends]
    links = LinkArrays.trusted(cells.places[chosen], all_sure, offsets, cells.lengths)
    rows = count_shared_phrases(links, gold.links.sure_only(), UNLIMITED, gold.words)
    return rows[:, [0, 2, 1, 3]]


def measure(objective: str, sums: NDArray[np.generic]) -> F8:
    """Return F1, or 1 - AER, of sums (..., 4) of counts; F1 is 0 if nothing is right."""
    counts = np.asarray(sums, np.float64)
    hypothesis, right, reference, recalled = np.moveaxis(counts, -1, 0)
    if objective == "aer":
        links = hypothesis + reference
        agreement = (right + recalled) / np.maximum(links, 1)
        return np.where(links > 0, agreement, 1.0)
    precision = right / np.maximum(hypothesis, 1)
    recall = recalled / np.maximum(reference, 1)
    both = precision + recall
    f1 = 2 * precision * recall / np.where(both > 0, both, 1)
    return np.where(both > 0, f1, 0)


def best_threshold(objective: str, rows: I8, *, possible: bool) -> int:
    """Return the index of the best threshold of the grid for the counts (T, P, 4) of pairs."""
    values = measure(objective, rows.sum(axis=1))
    padded = np.pad(values, len(_WINDOW) // 2, mode="edge")
    smooth = np.convolve(padded, _WINDOW, mode="valid")  # of few pairs, the measure swings
    if objective == "aer" or (objective == "links" and not possible):
        # If probabilities are true, the best threshold for F1 is half of the greatest F1 (Lipton,
        # Elkan & Naryanaswamy 2014, theorem 1); those far from that must be better
        smooth -= _PULL * (GRID - values.max() / 2) ** 2
    return int(smooth.round(9).argmax())  # the first of equals, on any processor


def calibration_error(goals: F4, probabilities: F4) -> float:
    """Return the mean gap between probabilities above 0.1 and shares of links, over ten bins."""
    # as in Naeini, Cooper & Hauskrecht 2015, "Obtaining well calibrated probabilities", AAAI
    kept = (probabilities > 0.1) & (goals >= 0)
    expected = probabilities[kept].astype(np.float64)
    links = goals[kept].astype(np.float64)
    if not len(expected):
        return 0.0
    bins = np.minimum((expected * _BINS).astype(np.int64), _BINS - 1)
    gaps = np.bincount(bins, weights=expected - links, minlength=_BINS)
    return float(np.abs(gaps).sum() / len(expected))


@dataclass(frozen=True)
class GainInterval:
    """A measure, with the 95% interval of its value for as many new pairs."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class SystemMeasure:
    """How well a system or the vote does without learning; as the values of `LearningReport`."""

    kind: str  # one of KINDS, system:NAME, or vote
    measure: GainInterval
    threshold: float
    calibration: float


@dataclass(frozen=True)
class LearningReport(TableResult):
    """The gain from learning on gold links, by cross-validation.

    Returned by `Refiner.validate`.

    Parameters
    ----------
    objective : The goal of learning; one of `OBJECTIVES`.
    ignore_identical : Whether equal words were left out of the measure.
    pairs, different, left_out : The pairs used for learning, the number of different ones, and the
        annotated pairs left out: with an empty side, more than 400 words, or after the first
        million cells.
    before, after, gain : The measure of the aligner alone, of what was learned, and the difference.
    calibration : Calibration error of the probabilities, before and after.
    threshold_before, threshold : Links have a higher probability than this, before and after.
    kind : The way of learning that did best; one of `alignkit.align.supervised.learned.KINDS`.
    losses : For each way that was tried, the log-loss of a cell in bits.
    prior : The prior that learning started from.
    vectors : Whether vectors are used.
    gaining : The share of the resamples with a gain.
    weight : The weight of what was learned in the mean of log odds by which the model aligns; the
        rest is the weight of `base`.
    used : Whether the weight is large enough; if not, the model aligns by `base` alone.
    base : The best other way to align the pairs: ``aligner``, or with evidence also
        ``system:NAME``, ``vote`` or ``without``.
    mean : How well the mean does, by cross-validation; None if it is not used.
    systems : With evidence, each system and the vote; `gain` and `gaining` are against the best of
        these, the aligner and `without`, which is `base`.
    without : With evidence, the report of learning without it.

    Examples
    --------
    >>> from alignkit import Aligner, read_corpus
    >>> from alignkit.align.supervised import Refiner
    >>> corpus = read_corpus("samples/paraphrases.jsonl")[:12]
    >>> report = Refiner.train(Aligner.train(corpus), corpus).report
    >>> report.objective, report.pairs
    ('links', 12)
    """

    objective: str
    ignore_identical: bool
    pairs: int
    different: int
    left_out: int
    before: GainInterval
    after: GainInterval
    gain: GainInterval
    calibration: tuple[float, float]
    threshold_before: float
    threshold: float
    kind: str
    losses: Mapping[str, float]
    prior: str
    vectors: bool
    gaining: float
    weight: float
    used: bool
    base: str = "aligner"
    mean: SystemMeasure | None = None
    systems: tuple[SystemMeasure, ...] = ()
    without: LearningReport | None = None

    def table(self) -> Table:
        """Return the report as a table."""
        objective = OBJECTIVES[self.objective]
        columns = [
            Column("", key="aligner"),
            Column(objective.measure, "percent"),
            Column("calibration error", "decimal", digits=3),
            Column("threshold", "decimal", digits=3),
        ]
        rows: list[list[Cell]] = []

        def add_row(name: str, way: SystemMeasure) -> None:
            rows.append([name, Value(*astuple(way.measure)), way.calibration, way.threshold])

        before = self.before, self.threshold_before, self.calibration[0]
        add_row("before", SystemMeasure("aligner", *before))
        for system in self.systems:
            add_row(system.kind.removeprefix("system:"), system)
        if self.without is not None:
            add_row("learned without evidence", self.without.outcome)
        add_row("learned", self._learned)
        name = "difference to the best" if self.systems else "difference"
        rows.append([name, Value(*astuple(self.gain)), None, None])
        if self.mean is not None:
            add_row("weighted mean", self.mean)
        title = f"{objective.text}, by cross-validation on {self.pairs:,} pairs"
        if self.different < self.pairs:
            title += f", {self.different:,} different"
        return Table(title, columns, rows, note=self.verdict)

    @property
    def outcome(self) -> SystemMeasure:
        """The measure of the mean if it is used, else that of what was learned."""
        return self.mean or self._learned

    @property
    def _learned(self) -> SystemMeasure:
        """The measure of what was learned."""
        return SystemMeasure(self.kind, self.after, self.threshold, self.calibration[1])

    @property
    def verdict(self) -> str:
        """The outcome in a sentence."""
        how = f"{self.kind}, prior {self.prior}"
        if self.vectors:
            how += ", with vectors"
        if self.systems:
            how += ", with evidence"
        kinds = {"aligner": "the aligner alone", "without": "what was learned without evidence"}
        base = kinds.get(self.base, self.base)
        # rounded down: 99.9% are not all, and .099 is not enough where .10 is
        percent = floor(100 * self.gaining + 1e-9)
        weight = floor(100 * self.weight + 1e-9) / 100
        share = f"better in {percent}% of the resamples: weight {weight:.2f}"
        if self.used:
            return f"learned: {how} ({share}, the rest for {base})"
        needed = f"{LEAST_WEIGHT:.2f} is needed"
        verdict = f"not used: no gain that is certain enough ({how}; {share}, {needed})"
        if not self.systems:
            return verdict
        return f"{verdict}; instead: {base}"

    def to_json(self) -> dict[str, object]:
        """Return the report as JSON values."""
        record = asdict(self)
        record["calibration"] = list(self.calibration)
        if self.without is None:
            for key in ("systems", "without"):
                del record[key]
        else:
            record["without"] = self.without.to_json()
        return record


def resampled(
    objective: str, before: I8, after: I8
) -> tuple[GainInterval, GainInterval, GainInterval, float]:
    """Return before, after and gain for counts (P, 4), and the share of resamples that gain.

    Intervals hold 95% of the differences between two resamples, since both these pairs and as
    many new ones are samples. They are wider for few pairs, as Student's are. Those of a measure
    are symmetric in log odds. AER is 1 less what `measure` gives.
    """
    from scipy.special import expit, logit, ndtri, stdtrit  # what aligns does without scipy

    if objective == "aer":
        sign = -1.0
        shift = 1.0
    else:
        sign = 1.0
        shift = 0.0
    pairs = len(before)
    draws = np.random.default_rng(0).integers(0, pairs, (2, RESAMPLES, pairs))
    student = stdtrit(pairs - 1, 0.975) / ndtri(0.975)
    wider = float(student * np.sqrt(pairs / (pairs - 1)))

    def reach(sample: F8) -> float:
        """Return half the width of the interval, for a sample (2, RESAMPLES)."""
        return wider * float(np.quantile(np.abs(sample[1] - sample[0]), 0.95))

    def interval(value: float, sample: F8) -> GainInterval:
        inner = min(max(value, _LEAST), 1 - _LEAST)
        away = reach(sample) / (inner * (1 - inner))
        figure = shift + sign * value
        first = shift + sign * float(expit(logit(inner) - away))
        last = shift + sign * float(expit(logit(inner) + away))
        return GainInterval(figure, min(figure, first, last), max(figure, first, last))

    before_sample = measure(objective, before[draws].sum(axis=2))
    after_sample = measure(objective, after[draws].sum(axis=2))
    before_value = float(measure(objective, before.sum(axis=0)))
    after_value = float(measure(objective, after.sum(axis=0)))
    gain = sign * (after_value - before_value)
    away = reach(after_sample - before_sample)
    return (
        interval(before_value, before_sample),
        interval(after_value, after_sample),
        GainInterval(gain, gain - away, gain + away),
        float((after_sample > before_sample).mean()),
    )
