"""Consensus labels, gold questions, and what is to be judged again.

- The label that most annotators give an item, and what becomes of ties.
- The verdict on an annotator by gold questions, and how likely it rejects somebody who guesses.
- The items of annotators who agree too little, and who should judge these again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from alignkit._support.array_types import B1, I4
from alignkit.errors import OptionError
from alignkit.stats.defaults import CONFIDENCE
from alignkit.stats.shares import wilson_interval

Labels = NDArray[np.int8]  # numbers of labels; -1 where there is none

LEAST = 2  # how many judgments of an item a consensus needs: one alone is none
LEAST_JUDGED = 10  # nobody is rejected before so many gold questions
DOUBT = "in doubt"  # not rejected, but no better than always giving the most common label
_WEAK = 0.4  # what annotators with a lower kappa judged is judged again
_STRONG = 0.75  # annotators with a higher kappa judge it


@dataclass(frozen=True)
class Consensus:
    """The majority label of each item."""

    labels: Labels  # (P,) numbers of labels; -1 where there is no consensus
    items: int  # how many items have judgments enough, two or more
    tied: int  # for how many of them several labels have most votes, whatever became of these

    @property
    def settled(self) -> int:
        """The number of items with a consensus."""
        return int((self.labels >= 0).sum())


def label_counts(values: Labels, size: int) -> I4:
    """Count how many annotators give each item each label."""
    counts = np.zeros((values.shape[1], size), np.int32)
    for row in values:
        judged = np.flatnonzero(row >= 0)
        counts[judged, row[judged]] += 1
    return counts


def majority_labels(
    values: Labels, size: int, *, ties: str = "leave-out", adjudicated: Labels | None = None
) -> Consensus:
    """Return the label that most annotators give each item."""
    counts = label_counts(values, size)
    best, tied = _most(counts)
    enough = counts.sum(axis=1) >= LEAST
    tied &= enough
    if ties == "error" and tied.any():
        raise OptionError(
            f"{int(tied.sum())} items have no majority because several labels have most votes; "
            "leave them out (`ties='leave-out'`), or settle them (`ties='lowest'`)"
        )
    labels = np.where(enough, best, -1).astype(np.int8)
    if ties == "adjudicated" and adjudicated is not None:
        labels[tied] = adjudicated[tied]
    elif ties != "lowest":
        labels[tied] = -1
    return Consensus(labels, int(enough.sum()), int(tied.sum()))


def others_label(values: Labels, size: int, annotator: int) -> tuple[Labels, int]:
    """Return the majority label of the others for each item that an annotator judged.

    The second result is the number of these items on which the others are tied.
    """
    counts = label_counts(np.delete(values, annotator, axis=0), size)
    best, tied = _most(counts)
    # one other annotator is enough: with the label compared, these are `LEAST` judgments
    compared = (values[annotator] >= 0) & (counts.sum(axis=1) > 0)
    labels = np.where(compared & ~tied, best, -1).astype(np.int8)
    return labels, int((compared & tied).sum())


def _most(counts: I4) -> tuple[NDArray[np.intp], B1]:
    """Return the lowest label with most votes, and whether several have most."""
    best: NDArray[np.intp] = counts.argmax(axis=1)
    has_most = counts == counts.max(axis=1, keepdims=True)
    tied: B1 = has_most.sum(axis=1) > 1
    return best, tied


@dataclass(frozen=True)
class GoldVerdict:
    """The result of an annotator on gold questions."""

    judged: int  # how many of the questions are answered
    right: int  # how many of these as the gold says
    accuracy: float  # the share that is right; NaN without judgments
    low: float  # the lower bound of Wilson's interval of it
    high: float  # the upper bound
    verdict: str  # "keep", "reject", "too few" if fewer than `after` are judged, or `DOUBT`
    rejected_at: int | None = None  # after how many questions
    commonest: int = 0  # how many of the questions judged have their commonest right label

    @property
    def baseline(self) -> float:
        """The accuracy of always giving the most common right label; NaN without judgments."""
        if self.judged:
            return self.commonest / self.judged
        return float("nan")


def answer_gold(
    given: Labels,
    gold: Labels,
    *,
    sequential: bool = False,
    after: int = LEAST_JUDGED,
    confidence: float = CONFIDENCE,
) -> GoldVerdict:
    """Judge an annotator by gold questions: below 50% of `after` or more means rejected.

    `given` and `gold` are (P,), -1 where there is no label. With `sequential`, they are in the
    order of time, and the share is looked at after each question; otherwise only at the end.
    """
    asked = (gold >= 0) & (given >= 0)
    rights = np.cumsum(given[asked] == gold[asked])
    judged = len(rights)
    right = int(rights[-1]) if judged else 0
    number = np.arange(1, judged + 1)
    looked = number >= after
    if not sequential:
        looked &= number == judged
    below = looked & (2 * rights < number)
    rejected_at = None
    if below.any():
        verdict = "reject"
        rejected_at = int(below.argmax()) + 1
    elif judged >= after:
        verdict = "keep"
    else:
        verdict = "too few"
    low, high = wilson_interval(right, judged, confidence)
    return GoldVerdict(
        judged=judged,
        right=right,
        accuracy=right / judged if judged else float("nan"),
        low=low,
        high=high,
        verdict=verdict,
        rejected_at=rejected_at,
        commonest=int(np.bincount(gold[asked]).max(initial=0)),
    )


@cache
def rejection_chance(
    judged: int, labels: int, *, sequential: bool = False, after: int = LEAST_JUDGED
) -> float:
    """Return the probability that gold questions reject an annotator who guesses."""
    if judged < 0 or labels < 2:
        raise OptionError(f"give 0 or more questions and 2 or more labels, not {judged}, {labels}")
    if judged < after:
        return 0.0
    # rejected if 2 * right < number: up to (number - 1) // 2 right, fewer than (number + 1) // 2
    chance = 1 / labels
    if not sequential:
        from scipy.special import bdtr

        return float(bdtr((judged - 1) // 2, judged, chance))
    # by how many are right: the probability of that, without having been rejected before
    chance_right = np.zeros(judged + 1)
    chance_right[0] = 1.0
    for number in range(1, judged + 1):
        chance_right[1:] = chance_right[1:] * (1 - chance) + chance_right[:-1] * chance
        chance_right[0] *= 1 - chance
        if number >= after:
            chance_right[: (number + 1) // 2] = 0
    return 1 - float(chance_right.sum())


def judge_again(
    values: Labels,
    kappas: Sequence[float],
    *,
    most: int = 5,
    may_judge: Sequence[bool] | None = None,
) -> Mapping[int, tuple[int, ...]]:
    """List the items of annotators who agree too little, and who should judge them again.

    These are up to `most` annotators each, of those who `may_judge` (None: all).
    """
    weak = [k for k, kappa in enumerate(kappas) if kappa < _WEAK]
    strong = [k for k, kappa in enumerate(kappas) if kappa > _STRONG]
    if may_judge is not None:
        strong = [k for k in strong if may_judge[k]]
    given = dict.fromkeys(strong, 0)
    asked = {}
    for item in np.flatnonzero((values[weak] >= 0).any(axis=0)).tolist():
        free = [k for k in strong if values[k, item] < 0]
        # the best; of those with exactly the same kappa, who was given fewer items so far
        chosen = sorted(free, key=lambda k: (-kappas[k], given[k], k))[:most]
        for k in chosen:
            given[k] += 1
        asked[item] = tuple(sorted(chosen))
    return asked
