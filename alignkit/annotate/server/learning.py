"""Have suggestions learned in a child process, and store them while annotators work."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from alignkit.annotate.server.child import Child
from alignkit.annotate.server.job import Job, Plan
from alignkit.errors import AlignkitError

if TYPE_CHECKING:
    from alignkit.annotate.log.events import Sent
    from alignkit.annotate.log.lessons import Lesson
    from alignkit.annotate.server.desk import Desk
    from alignkit.annotate.server.job import Row
    from alignkit.annotate.store import Store

_TEACHING = {"done", "undo", "redo"}
_CHUNK = 250  # pairs whose suggestions are stored at a time
_MOST_FAILURES = 3
_CLOSING = 5.0


def learns(plan: Plan) -> bool:
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
        plan: Plan,
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
        self._child: Child | None = None
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
                child = self._child = Child(job, lambda *_: None, self._note, self._take)
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
