"""Have suggestions learned in a child process, and store them while annotators work."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from alignkit.align.aligner import Aligner
from alignkit.align.supervised.validation import FOLDS
from alignkit.annotate.exporting import exported
from alignkit.annotate.learning import DoneWork, Learner, pairs_ahead
from alignkit.annotate.project.events import Lesson
from alignkit.annotate.project.fold import Suggestion
from alignkit.annotate.project.queries import PairRow, pair_rows
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.child import ChildProcess, Job, Row, SuggestionPlan
from alignkit.errors import AlignkitError

if TYPE_CHECKING:
    from alignkit.annotate.project.events import Sent
    from alignkit.annotate.server.sessions import Desk
    from alignkit.model.alignment import Alignment


_TEACHING = {"done", "undo", "redo"}
_CHUNK = 250  # pairs whose suggestions are stored at a time
_MOST_FAILURES = 3
_CLOSING = 5.0


def learns(plan: SuggestionPlan) -> bool:
    """Return whether suggestions of a plan are to be learned: what suggests is an aligner."""
    return plan.learning and plan.kind in ("trained", "model")


class Learning:
    """Learn in a child process whenever a pair is done.

    It has one child at a time, which begins when the first pair is done and stays. While that
    learns, what is done further waits, and is learned together.
    """

    def __init__(
        self,
        store: Store,
        desk: Desk,
        plan: SuggestionPlan,
        *,
        shelf: threading.Lock,
        taken: Collection[int],
        note: Callable[[str], None],
    ) -> None:
        self._store, self._desk, self._plan = store, desk, plan
        self._shelf, self._taken, self._note = shelf, taken, note
        self.told = ""
        self._failures = 0
        self._used: bool | None = None
        self._child: ChildProcess | None = None
        self._stopping = False
        self._wanted = threading.Event()
        self._handing = threading.Lock()  # of `_child`
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def heard(self, events: Iterable[Sent]) -> None:
        """Learn anew where events may have made a pair done, or open again."""
        if not _TEACHING.isdisjoint(event.kind for event in events):
            self.wake()

    def wake(self) -> None:
        """Learn from what is done now."""
        with self._handing:
            if self._child is not None:
                self._child.ring()
            else:
                self._wanted.set()

    def stop(self) -> None:
        """End it."""
        self._stopping = True
        with self._handing:
            if self._child is not None:
                self._child.stop()
            self._wanted.set()
        self._thread.join(_CLOSING)

    def _run(self) -> None:
        while self._failures < _MOST_FAILURES:
            self._wanted.wait()
            with self._handing:
                self._wanted.clear()
                if self._stopping:
                    return
                job = Job(self._store.path, plan=self._plan, learn=True)
                child = self._child = ChildProcess(job, lambda *_: None, self._note, self._take)
            try:
                child.run()
            except AlignkitError as problem:
                self._failed(str(problem))
            except Exception as fault:  # annotators go on without
                self._failed(f"this is a fault in alignkit: {type(fault).__name__}: {fault}")
            finally:
                with self._handing:
                    self._child = None
                child.close()

    def _failed(self, problem: str) -> None:
        if self._stopping:
            return
        self._failures += 1
        again = self._failures < _MOST_FAILURES
        rest = "; it goes on when the next pair is done" if again else ""
        self.told = f"learning stopped: {problem}"
        self._note(f"{self.told}; suggestions stay as they are{rest}")

    def _take(self, lesson: Lesson, rows: Iterator[Row]) -> None:
        """Store what was learned, but for pairs that somebody has opened meanwhile."""
        self._failures = 0
        name = ""
        while some := list(islice(rows, _CHUNK)):
            name = self._put(name, lesson, some)
        self.told = _told(lesson)
        if lesson.used != self._used:
            self._used = lesson.used
            self._note(f"suggestions: {self.told}")

    def _put(self, name: str, lesson: Lesson, rows: Sequence[Row]) -> str:
        with self._shelf:
            closed = self._desk.opened([k for k, _ in rows])
            fresh = [(k, cells) for k, cells in rows if k not in closed and k not in self._taken]
            return self._store.add_learned(name, fresh, lesson)


def _told(lesson: Lesson) -> str:
    if not lesson.used:
        return f"{lesson.told} ({lesson.pairs} done pairs)"
    before, after = (f"{100 * f1:.1f}" for f1 in (lesson.before, lesson.after))
    return f"learned from {lesson.pairs} done pairs; F1 by cross-validation {before}, now {after}"


LEAST = 0.05
"""The least probability of a link that is suggested."""

_BLOCK = 2000  # pairs that are aligned at a time
_IDENTITY = 3.0  # pseudo-count for equal words where both sides are of one language
_SHARED = 0.2  # of the words of both sides, from which on they are taken to be

Tell = Callable[[str, "float | None"], None]
Words = tuple[Sequence[str], Sequence[str]]


def suggest(store: Store, plan: SuggestionPlan, tell: Tell) -> Iterator[Row]:
    """Yield the suggestions for each pair: its number, and its cells in order."""
    if plan.kind == "initial":
        for k, pair in enumerate(exported(store, annotator=plan.name), 1):
            alignment = pair.alignments.get(plan.name)
            if alignment is not None:
                yield k, _cells(alignment)
    elif plan.kind != "none":
        yield from _aligned(store, plan, tell)


def _cells(alignment: Alignment) -> list[Suggestion]:
    """Return the links of an alignment; weights that are probabilities are taken for these."""
    cells: list[Suggestion] = []
    for link, sure in alignment.items():
        weight = alignment.weights.get(link)
        p = None if weight is None or not 0 <= weight <= 1 else _rounded(weight)
        if p is None or p >= LEAST:
            cells.append((link.i, link.j, p, 2 if sure else 1))
    return cells


def _aligned(store: Store, plan: SuggestionPlan, tell: Tell) -> Iterator[Row]:
    annotator = next(iter(store.project().annotators))
    pairs = [pair.words for pair in exported(store, annotator=annotator)]
    aligner = aligner_of(plan, pairs, tell)
    for start in range(0, len(pairs), _BLOCK):
        tell("aligning", start / len(pairs))
        some = pairs[start : start + _BLOCK]
        yield from posteriors(aligner, some, range(start + 1, start + 1 + len(some)))


def aligner_of(plan: SuggestionPlan, pairs: Sequence[Words], tell: Tell) -> Aligner:
    """Return the aligner of a plan: loaded, or trained on all pairs of the project."""
    from alignkit.align.aligner import Aligner
    from alignkit.align.bitext import Bitext

    if plan.kind == "model":
        tell("loading the model", None)
        return Aligner.load(plan.name)
    identity = _IDENTITY if _shared(pairs) >= _SHARED else 0.0

    def progress(done: int, total: int, text: str) -> None:
        tell(f"training: {text}" if text else "training", done / max(total, 1))

    return Aligner.train(Bitext.pack(pairs), identity=identity, progress=progress)


def posteriors(
    aligner: Aligner, pairs: Sequence[Words], numbers: Sequence[int], *, threads: int | None = None
) -> Iterator[Row]:
    """Yield what an aligner suggests for pairs of some numbers."""
    from alignkit.align.bitext import Bitext

    bitext = Bitext.pack(pairs, casefold=aligner.parameters.casefold)
    links = aligner.align_bitext(bitext, threshold=LEAST, threads=threads)
    offsets = links.arrays.offsets.tolist()
    for pair, k in enumerate(numbers):
        begin, end = offsets[pair], offsets[pair + 1]
        places = links.arrays.links[begin:end].tolist()
        weights = links.probabilities[begin:end].tolist()
        cells = zip(places, weights, strict=True)
        yield k, [(i, j, _rounded(min(p, 1.0)), 2) for (i, j), p in cells]


def _shared(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> float:
    """Return the share of words that stand on both sides of their pair; names are few."""
    shared = total = 0
    for source, target in pairs:
        first, second = ({word.casefold() for word in side} for side in (source, target))
        shared += len({word for word in first & second if word.isalpha()})
        total += min(len(first), len(second))
    return shared / max(total, 1)


def _rounded(p: float) -> float:
    return float(f"{p:.4f}")


_NEXT = 20
_MANY = 2000
_AT_ONCE = 250


class Course:
    """Learn from what is done in a project, as often as it is asked.

    Suggested is for the next pairs of each annotator; for many, whenever twice as many are done.
    """

    def __init__(self, store: Store, plan: SuggestionPlan, tell: Tell) -> None:
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
