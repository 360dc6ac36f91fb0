"""Probabilities of links measured against gold: counts, measures, calibration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.refine.gold import Gold
from alignkit.jit import readonly
from alignkit.phrase_kernel import match_phrases

F4 = NDArray[np.float32]
F8 = NDArray[np.float64]
I8 = NDArray[np.int64]

GRID = np.arange(2, 39) / 40  # the thresholds that are tried: from 0.05 to 0.95

_WINDOW = np.array([1, 2, 3, 4, 3, 2, 1]) / 16
_PULL = 0.4
_FEW, _EVIDENCE = 30, 0.6
_BINS = 10
_UNLIMITED = 2**31 - 1


class Objective(NamedTuple):
    """What a refiner is learned for."""

    measure: str  # what the measure is called
    text: str  # what it is
    evidence_of_few: float

    def evidence(self, pairs: int) -> float:
        """Return the share of resamples of so many pairs that must gain."""
        return self.evidence_of_few if pairs < _FEW else _EVIDENCE


OBJECTIVES: Mapping[str, Objective] = {
    "links": Objective("F1", "F1 of the links", 0.7),
    "aer": Objective("AER", "alignment error rate", 0.7),
    "phrases": Objective("phrase F1", "F1 of the sure, non-identical phrase pairs", 0.9),
}
"""What a refiner can be learned for, by name."""


def rows_of(objective: str, gold: Gold, probabilities: F4, threshold: float) -> I8:
    """Return the counts (P, 4) of each pair when links are the cells above a threshold."""
    chosen = probabilities > np.float32(threshold)
    if objective == "phrases":
        return _phrase_rows(gold, chosen)
    pairs, levels = gold.cells.pair_of, gold.levels
    chosen &= gold.counted
    return np.stack(
        [
            np.bincount(pairs[chosen], minlength=len(gold)),
            np.bincount(pairs[chosen & (levels > 0)], minlength=len(gold)),
            gold.reference,
            np.bincount(pairs[chosen & (levels == 2)], minlength=len(gold)),
        ],
        axis=1,
    ).astype(np.int64)


def _phrase_rows(gold: Gold, chosen: NDArray[np.bool_]) -> I8:
    cells = gold.cells
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(chosen)])
    reference = gold.links.sure_only()
    source, target = gold.words
    rows = match_phrases(
        readonly(cells.places[chosen]), readonly(before[cells.ends]),
        readonly(reference.links), readonly(reference.offsets), readonly(cells.lengths),
        _UNLIMITED, True,
        readonly(source.ids), readonly(source.offsets), readonly(target.ids),
        readonly(target.offsets),
    )  # fmt: skip
    return rows[:, [0, 2, 1, 3]]


def measure(objective: str, sums: NDArray[np.generic]) -> F8:
    """Return F1, or 1 - AER, of sums (..., 4) of counts; F1 is 0 if nothing is right."""
    hypothesis, right, reference, found = np.moveaxis(np.asarray(sums, np.float64), -1, 0)
    if objective == "aer":
        below = hypothesis + reference
        return np.asarray(np.where(below > 0, (right + found) / np.maximum(below, 1), 1.0))
    precision, recall = right / np.maximum(hypothesis, 1), found / np.maximum(reference, 1)
    both = precision + recall
    return np.asarray(np.where(both > 0, 2 * precision * recall / np.where(both > 0, both, 1), 0))


def best_of(objective: str, rows: I8, *, possible: bool) -> int:
    """Return which threshold of the grid is best for the counts (T, P, 4) of some pairs.

    By the measure, each value the mean of those around it: of few pairs it swings. If probabilities
    are true, half of the greatest F1 is the best threshold for it (Lipton, Elkan & Naryanaswamy
    2014, "Optimal thresholding of classifiers to maximize F1 measure", theorem 1); so thresholds
    far from that must be better, unless `possible` links or phrase pairs are counted.
    """
    values = measure(objective, rows.sum(axis=1))
    padded = np.pad(values, len(_WINDOW) // 2, mode="edge")
    smooth = np.convolve(padded, _WINDOW, mode="valid")
    if objective == "aer" or (objective == "links" and not possible):
        smooth -= _PULL * (GRID - values.max() / 2) ** 2
    return int(smooth.round(9).argmax())  # the first of equals, on any processor


def calibration_error(goals: F4, probabilities: F4) -> float:
    """Return how far probabilities above 0.1 are from shares of links, the mean over ten bins.

    Naeini, Cooper & Hauskrecht 2015, "Obtaining well calibrated probabilities using Bayesian
    binning", AAAI.
    """
    kept = (probabilities > 0.1) & (goals >= 0)
    x, y = probabilities[kept].astype(np.float64), goals[kept].astype(np.float64)
    if not len(x):
        return 0.0
    bins = np.minimum((x * _BINS).astype(np.int64), _BINS - 1)
    gaps = np.bincount(bins, weights=x - y, minlength=_BINS)
    return float(np.abs(gaps).sum() / len(x))
