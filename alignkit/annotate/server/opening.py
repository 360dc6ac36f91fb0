"""Open a project while the server already answers: make it where there is none, add suggestions.

The store and its libraries are imported when the server listens: they take half a second.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs

from alignkit.annotate.project.database import ServerLock, check_file, read_task
from alignkit.annotate.project.names import ANNOTATOR, TASKS, ProjectError, Visitor
from alignkit.annotate.server.child import ChildProcess, Job, SuggestionPlan
from alignkit.annotate.server.learning import Learning, learns
from alignkit.annotate.server.serving import check_plan
from alignkit.errors import AlignkitError

if TYPE_CHECKING:
    from alignkit.annotate.project.events import Sent
    from alignkit.annotate.project.store import Store
    from alignkit.annotate.server.sessions import Desk


class OpeningProgress(NamedTuple):
    """What is done now, and the share that is done where that is known."""

    text: str
    share: float | None = None


class OpenProject(NamedTuple):
    """What is asked when a project is open."""

    store: Store
    desk: Desk


class Opening:
    """Make and open a project, then find its suggestions, in a thread."""

    def __init__(
        self,
        job: Job,
        plan: SuggestionPlan | None,
        *,
        fallback: SuggestionPlan,
        note: Callable[[str], None],
        learning: bool | None = None,
        role: str = ANNOTATOR,
        gold: str = "",
        rules: Mapping[str, bool] | None = None,
    ) -> None:
        self.job, self.visitor, self._gold = job, Visitor(job.annotator, role), gold
        self.plan, self._fallback = plan, fallback
        self._note, self._rules, self._learns = note, rules or {}, learning
        self.learning: Learning | None = None
        self.opened: OpenProject | None = None
        self.progress: OpeningProgress | None = OpeningProgress("opening the project")
        self.problem: AlignkitError | None = None
        self.stopping = False
        self._child: ChildProcess | None = None
        self._shelf = threading.Lock()  # who opens a pair while suggestions are stored waits
        self._taken: set[int] = set()  # pairs that were asked for while there are none yet
        self._thread: threading.Thread | None = None
        self._task: str | None = None
        self._lock: ServerLock | None = None
        self._endings: list[Callable[[], None]] = []

    def start(self, failed: Callable[[], None], opened: Callable[[], None] | None = None) -> None:
        """Begin: take the project's lock, then go on in a thread."""
        path = self.job.project
        try:
            if os.path.exists(path):
                check_file(path)  # what is no project gets no lock beside it
            self._lock = ServerLock(path)
            if opened is not None:
                opened()
        except AlignkitError as problem:
            self.problem = problem
            failed()
            return
        self._thread = threading.Thread(target=self._run, args=[failed], daemon=True)
        self._thread.start()

    def at_end(self, ending: Callable[[], None]) -> None:
        """Have something ended before the project is closed."""
        self._endings.append(ending)

    def stop(self) -> None:
        """End what is being done, and close the project."""
        self.stopping = True
        for ending in self._endings:
            ending()
        if self._child is not None:
            self._child.stop()
        if self._thread is not None:
            self._thread.join(1)
        if self.opened is not None:
            self.opened.store.close()
        elif self._lock is not None:
            self._lock.release()

    @property
    def task(self) -> str:
        """What is done in the project: known before it is open."""
        if self._task is None:
            there = os.path.exists(self.job.project)
            self._task = self.job.task or (read_task(self.job.project) if there else TASKS[0])
        return self._task

    def take(self, k: int) -> None:
        """Tell that a pair is opened: suggestions that come later are not for it."""
        if k not in self._taken:
            with self._shelf:
                self._taken.add(k)

    def learned(self) -> str:
        """Return what came of learning what to suggest; empty where nothing is learned."""
        return "" if self.learning is None else self.learning.told

    def heard(self, events: Iterable[Sent] | None = None) -> None:
        """Tell which events were stored, or that any may have been: there may be more to learn."""
        if self.learning is None:
            return
        if events is None:
            self.learning.wake()
        else:
            self.learning.heard(events)

    def _run(self, failed: Callable[[], None]) -> None:
        try:
            self.opened = self._open()
        except AlignkitError as problem:
            if not self.stopping:
                self.problem = problem
            failed()
            return
        try:
            self._suggest(self.opened)
        except AlignkitError as problem:
            if self.stopping:
                pass
            elif self.plan is not None and self.plan.kind == "model":
                self.problem = problem
                failed()
            else:
                self._note(f"no suggestions: {problem}")
        self.progress = None
        self._learn(self.opened)

    def _open(self) -> OpenProject:
        from alignkit.annotate.project.store import Store
        from alignkit.annotate.server.sessions import Desk, admit, change_task

        path = self.job.project
        if not os.path.exists(path):
            self._make()
        store = Store.open(path, serve=True, lock=self._lock)
        try:
            if self.plan is not None:
                check_plan(self.plan, store.project().annotators, self.visitor.name)
            admit(store, self.visitor, self._gold, **self._rules)
            change_task(store, self.job.task)
            desk = Desk(store.database)
            self._settle(store, desk)
        except BaseException:
            store.close()
            raise
        return OpenProject(store, desk)

    def _settle(self, store: Store, desk: Desk) -> None:
        """Decide where suggestions come from, and whether they are learned from what is done."""
        before = desk.plan
        plan = self.plan or before
        if plan is None:
            plan = self._fallback if store.project().task == "align" else SuggestionPlan("none")
        learning = before is None or before.learning
        plan = structs.replace(plan, learning=learning if self._learns is None else self._learns)
        if plan != before:
            desk.plan = plan

    def _learn(self, opened: OpenProject) -> None:
        """Begin to learn while pairs are annotated, where an aligner suggests."""
        plan = opened.desk.plan
        project = opened.store.project()
        draws = project.task == "align" and project.suggestions
        if plan is not None and draws and learns(plan) and not self.stopping:
            self.learning = Learning(
                *opened, plan, shelf=self._shelf, taken=self._taken, note=self._note
            )
            self.at_end(self.learning.stop)
        elif self._learns and not self.stopping:
            self._note("--learning: nothing is learned here, as no aligner suggests links")

    def _make(self) -> None:
        self._note(f"{self.job.project}: the project is being made; the URL follows")
        with closing(self._work(structs.replace(self.job, plan=self.plan))) as work:
            work.run()

    def _suggest(self, opened: OpenProject) -> None:
        store, desk = opened
        plan = desk.plan
        if plan is None or not plan.pending:
            return
        check_plan(plan, store.project().annotators, self.visitor.name)
        if plan.kind == "none":
            store.settings(suggestions="")
        else:
            self.progress = OpeningProgress("looking for suggestions")
            with closing(self._work(Job(self.job.project, plan=plan))) as work:
                work.run()
                self._store(opened, plan, work)
        desk.plan = structs.replace(plan, pending=False)

    def _store(self, opened: OpenProject, plan: SuggestionPlan, child: ChildProcess) -> None:
        """Store what was found; a pair that somebody has opened keeps what it shows."""
        store, desk = opened
        name = plan.name if plan.kind == "initial" else plan.kind
        with self._shelf:
            kept = desk.suggested()
            closed = desk.opened() | self._taken
            rows = (row for row in child.rows() if row[0] not in closed)
            store.set_suggestions(name, chain(rows, kept.items()))

    def _work(self, job: Job) -> ChildProcess:
        if self.stopping:
            raise ProjectError("stopped")
        self._child = ChildProcess(job, self._tell, self._note)
        return self._child

    def _tell(self, text: str, share: float | None) -> None:
        self.progress = OpeningProgress(text, share)
