"""Verdicts on annotators by gold questions, and the gold questions that are suspicious."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from alignkit.agreement.judgments.consensus import Labels
from alignkit.errors import OptionError
from alignkit.scoring.wilson import wilson_interval

LEAST_JUDGED = 10  # nobody is rejected before so many gold questions


@dataclass(frozen=True)
class GoldVerdict:
    """How an annotator answers gold questions."""

    judged: int  # how many he has judged, and how many as the gold has it
    right: int
    accuracy: float  # the share that is right, with Wilson's interval; NaN without judgments
    low: float
    high: float
    verdict: str  # "keep", "reject", or "too few" where fewer than 10 are judged
    rejected_at: int | None = None
    commonest: int = 0  # how many of the questions judged have their commonest right label

    @property
    def baseline(self) -> float:
        """The accuracy of who always gives the commonest right label; NaN without judgments."""
        return self.commonest / self.judged if self.judged else float("nan")


def answer_gold(
    values: Labels, gold: Labels, *, sequential: bool = False, confidence: float = 0.95
) -> tuple[GoldVerdict, ...]:
    """Judge each annotator by the gold questions: below 50% after 10 is rejected."""
    verdicts = []
    for row in values:
        asked = (gold >= 0) & (row >= 0)
        rights = np.cumsum(row[asked] == gold[asked])
        judged = len(rights)
        right = int(rights[-1]) if judged else 0
        number = np.arange(1, judged + 1)
        below = (2 * rights < number) & (number >= LEAST_JUDGED)
        when = np.flatnonzero(below) if sequential else np.flatnonzero(below[-1:]) + judged - 1
        commonest = int(np.bincount(gold[asked]).max(initial=0))
        verdict = "reject" if len(when) else "keep" if judged >= LEAST_JUDGED else "too few"
        at = int(when[0]) + 1 if len(when) else None
        low, high = wilson_interval(right, judged, confidence)
        accuracy = right / judged if judged else float("nan")
        verdicts.append(GoldVerdict(judged, right, accuracy, low, high, verdict, at, commonest))
    return tuple(verdicts)


@cache
def rejection_chance(judged: int, labels: int, *, sequential: bool = False) -> float:
    """Return how probably an annotator who guesses is rejected by so many gold questions."""
    if judged < 0 or labels < 2:
        raise OptionError(f"give 0 questions or more and 2 labels or more, not {judged}, {labels}")
    if judged < LEAST_JUDGED:
        return 0.0
    chance = 1 / labels
    if not sequential:
        from scipy.special import bdtr

        return float(bdtr((judged - 1) // 2, judged, chance))
    kept = np.zeros(judged + 1)
    kept[0] = 1.0
    for number in range(1, judged + 1):
        kept[1:] = kept[1:] * (1 - chance) + kept[:-1] * chance
        kept[0] *= 1 - chance
        if number >= LEAST_JUDGED:
            kept[: (number + 1) // 2] = 0
    return 1 - float(kept.sum())


def suspicious_gold(values: Labels, gold: Labels, verdicts: tuple[GoldVerdict, ...]) -> list[int]:
    """Return the places of gold questions that most annotators not rejected answer otherwise."""
    kept = values[[verdict.verdict != "reject" for verdict in verdicts]]
    judged = (kept >= 0).sum(axis=0)
    against = ((kept >= 0) & (kept != gold)).sum(axis=0)
    places: list[int] = np.flatnonzero((gold >= 0) & (2 * against > judged)).tolist()
    return places
