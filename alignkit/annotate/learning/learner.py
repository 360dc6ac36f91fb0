"""Learn from done pairs what is to be suggested for others."""

from __future__ import annotations

from collections.abc import Mapping

from alignkit.aligner import Aligner, Refiner
from alignkit.aligner.refine.gold import different, is_learnable
from alignkit.aligner.refine.report import LearningReport
from alignkit.aligner.refine.validation import FOLDS
from alignkit.annotate.learning.done_work import TAUGHT
from alignkit.annotate.log.lessons import Lesson
from alignkit.sentence_pair import SentencePair

_STEPS = ((10, 5), (100, 10))
_STEP = 20


class Learner:
    """Refine an aligner by the pairs that are done."""

    def __init__(self, aligner: Aligner) -> None:
        self._refiner = Refiner.begin(aligner, TAUGHT)
        self._known: dict[int, SentencePair] = {}
        self._new = 0  # pairs since the last cross-validation
        self._due = True

    @property
    def aligner(self) -> Aligner:
        """The aligner as it is refined now."""
        return self._refiner.aligner

    def learn(self, pairs: Mapping[int, SentencePair]) -> Lesson | None:
        """Learn from all these; return what came of it, None where nothing has changed."""
        given = {k: pair for k, pair in pairs.items() if is_learnable(pair)}
        changed = [pair for k, pair in given.items() if _differs(pair, self._known.get(k))]
        gone = self._known.keys() - given.keys()
        if not changed and not gone:
            return None
        self._known = given
        self._new += len(changed)
        if gone:
            self._due = True
            self._refiner.forget([str(k) for k in gone])
        if changed:
            self._refiner.update(changed)
        if different(given.values()) < FOLDS:
            self._due = True
            return Lesson(len(given), told=f"learning begins with {FOLDS} done pairs")
        if self._due or self._new >= _step(len(given)):
            self._new, self._due = 0, False
            self._refiner.validate(threads=1)
        return _lesson(len(given), self._refiner.report)


def _step(pairs: int) -> int:
    return next((step for below, step in _STEPS if pairs < below), _STEP)


def _differs(pair: SentencePair, known: SentencePair | None) -> bool:
    if known is None or pair.words != known.words:
        return True
    return pair.alignment(TAUGHT) != known.alignment(TAUGHT)


def _lesson(pairs: int, report: LearningReport | None) -> Lesson:
    assert report is not None
    return Lesson(pairs, report.used, report.verdict, report.before.value, report.after.value)
