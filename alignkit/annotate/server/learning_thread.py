"""Learn suggestions from the pairs that are done, while annotators work."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator

from alignkit.annotate.project import appending, names
from alignkit.annotate.project.events import Lesson, Sent
from alignkit.annotate.project.queries import portions
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.child import ChildProcess, Job, Note, Row, SuggestionPlan
from alignkit.errors import AlignkitError

_TEACHING = {"done", "undo", "redo"}
"""The kinds of events that may mark a pair as done, or open it again."""
_CHUNK = 250  # pairs whose suggestions are stored at a time
_MOST_FAILURES = 3  # of children in a row, before learning ends
_CLOSING = 5.0  # seconds to wait for the end of learning


def learns(plan: SuggestionPlan) -> bool:
    """Return whether a plan's suggestions should be learned, because an aligner makes them."""
    return plan.learning and plan.kind in ("trained", "model", names.VOTE)


class Learning:
    """A thread that learns suggestions in a child process whenever pairs are done."""

    def __init__(
        self,
        store: Store,
        plan: SuggestionPlan,
        *,
        shelf: threading.Lock,
        taken: Collection[int],
        note: Note,
        turn: str = "",
    ) -> None:
        self._store = store
        self._plan = plan
        self._turn = turn
        self._shelf = shelf  # held while suggestions are stored
        self._taken = taken  # pairs that were opened
        self._note = note
        self.outcome = ""  # in words; empty before the first
        self._failures = 0
        self._used: bool | None = None  # whether the last lesson was used
        self._child: ChildProcess | None = None
        self._stopping = False
        self._wanted = threading.Event()
        self._handing = threading.Lock()  # of `_child`
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def heard(self, events: Iterable[Sent] | None) -> None:
        """Learn again if events may have marked a pair as done, or opened it again."""
        if events is None or not _TEACHING.isdisjoint(event.kind for event in events):
            with self._handing:
                if self._child is not None:
                    self._child.ring()
                else:
                    self._wanted.set()

    def stop(self) -> None:
        """Stop the thread."""
        self._stopping = True
        with self._handing:
            if self._child is not None:
                self._child.stop()
            self._wanted.set()
        self._thread.join(_CLOSING)

    def _run(self) -> None:
        """Start a child when pairs are done; again if it ends, until it has failed too often."""
        while self._failures < _MOST_FAILURES:
            self._wanted.wait()
            with self._handing:
                self._wanted.clear()
                if self._stopping:
                    return
                job = Job(self._store.path, plan=self._plan, learn=True, turn=self._turn)
                child = ChildProcess(job, lambda *_: None, self._note, self._take)
                self._child = child
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
        """Note that a child has failed."""
        if self._stopping:
            return
        self._failures += 1
        self.outcome = f"learning stopped: {problem}"
        note = f"{self.outcome}; suggestions stay unchanged"
        if self._failures < _MOST_FAILURES:
            note += "; it continues when the next pair is done"
        self._note(note)

    def _take(self, lesson: Lesson, rows: Iterator[Row]) -> None:
        """Store new suggestions, except for pairs that were opened in the meantime."""
        self._failures = 0
        name = ""
        for chunk in portions(rows, _CHUNK):
            with self._shelf:
                with self._store.reading() as conn:
                    shown = appending.opened(conn, [k for k, _ in chunk]).union(self._taken)
                fresh = [(k, cells) for k, cells in chunk if k not in shown]
                name = self._store.add_learned(name, fresh, lesson)
        self.outcome = f"{lesson.verdict} ({lesson.pairs} done pairs)"
        if lesson.used:
            self.outcome = (
                f"learned from {lesson.pairs} done pairs; F1 by cross-validation "
                f"{100 * lesson.before:.1f}, now {100 * lesson.after:.1f}"
            )
        if lesson.used != self._used:
            self._used = lesson.used
            self._note(f"suggestions: {self.outcome}")
