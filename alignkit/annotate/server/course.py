"""Learn while pairs are annotated, and suggest links for those that come next: a child's work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from alignkit.aligner import Aligner
from alignkit.aligner.refine.validation import FOLDS
from alignkit.annotate.learning.ahead import pairs_ahead
from alignkit.annotate.learning.done_work import DoneWork
from alignkit.annotate.learning.learner import Learner
from alignkit.annotate.log.lessons import Lesson
from alignkit.annotate.server.job import Plan, Row
from alignkit.annotate.server.suggestions import Tell, aligner_of, posteriors
from alignkit.annotate.store import Store
from alignkit.annotate.tables.queries import PairRow, pair_rows

_NEXT = 20
_MANY = 2000
_AT_ONCE = 250


class Course:
    """Learn from what is done in a project, as often as it is asked.

    Suggested is for the next pairs of each annotator; for many, whenever twice as many are done.
    """

    def __init__(self, store: Store, plan: Plan, tell: Tell) -> None:
        self._store, self._plan, self._tell = store, plan, tell
        self._work = DoneWork()
        self._learner: Learner | None = None
        self._many = 0  # done pairs when many were suggested for
        self._stays = False

    def go_on(self) -> tuple[Lesson | None, Iterator[Row]]:
        """Learn what is new; return what came of it, None where nothing is, and suggestions."""
        if self._stays:
            return None, iter(())
        with self._store.database.reading() as conn:
            self._work.refresh(conn)
        pairs = self._work.pairs
        if self._learner is None:
            if len(pairs) < FOLDS:
                return None, iter(())
            aligner = self._aligner()
            learned = aligner.parameters.learned
            if learned is not None and learned.used:
                self._stays = True
                told = f"{self._plan.name} has learned from gold already: suggestions stay"
                return Lesson(len(pairs), told=told), iter(())
            self._learner = Learner(aligner)
        lesson = self._learner.learn(pairs)
        if lesson is None or not lesson.used:
            return lesson, iter(())
        most = _NEXT
        if len(pairs) >= 2 * self._many:
            most, self._many = _MANY, len(pairs)
        closed = self._work.opened | pairs.keys()
        with self._store.database.reading() as conn:
            numbers = pairs_ahead(conn, self._work.last, closed, most)
            rows = list(pair_rows(conn, numbers))
        lesson.revs = {row.k: row.rev for row in rows}
        return lesson, self._suggested(rows)

    def _aligner(self) -> Aligner:
        with self._store.database.reading() as conn:
            words = [(row.source, row.target) for row in pair_rows(conn)]
        return aligner_of(self._plan, words, self._tell)

    def _suggested(self, rows: Sequence[PairRow]) -> Iterator[Row]:
        assert self._learner is not None
        for start in range(0, len(rows), _AT_ONCE):
            some = rows[start : start + _AT_ONCE]
            words = [(row.source, row.target) for row in some]
            yield from posteriors(self._learner.aligner, words, [row.k for row in some], threads=1)
