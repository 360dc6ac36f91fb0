"""Open a project and find its suggestions, in a thread; the server answers meanwhile."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from itertools import chain
from typing import NamedTuple

from msgspec import structs

from alignkit.annotate.project import appending, database, file_systems, names, server_lock
from alignkit.annotate.project.events import Sent
from alignkit.annotate.project.places import SchemaLock, take_lock
from alignkit.annotate.project.project_events import Setting
from alignkit.annotate.project.store import Store
from alignkit.annotate.project.suggestions import suggested_cells
from alignkit.annotate.server.child import ChildProcess, Job, Note, SuggestionPlan
from alignkit.annotate.server.learning_thread import Learning, learns
from alignkit.annotate.server.sessions import Sessions, admit, change_task
from alignkit.errors import AlignkitError


class OpeningProgress(NamedTuple):
    """The present step, and its finished share if known."""

    text: str
    share: float | None = None


class OpenProject(NamedTuple):
    """An open project with its sessions."""

    store: Store
    sessions: Sessions
    key: str  # of the project


class Opening:
    """A thread that makes and opens a project, then finds its suggestions."""

    def __init__(
        self,
        job: Job,
        plan: SuggestionPlan | None,
        *,
        fallback: SuggestionPlan,
        note: Note,
        learning: bool | None = None,
        role: str = names.ANNOTATOR,
        gold: str = "",
        rules: Mapping[str, bool] = {},
    ) -> None:
        self.job = job
        self.visitor = names.Visitor(job.annotator, role)
        self._gold = gold
        self.plan = plan
        self._fallback = fallback
        self._note = note
        self._rules = rules
        self._learns = learning
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
        self._lock: server_lock.ServerLock | SchemaLock | None = None
        self._endings: list[Callable[[], None]] = []

    def start(self, failed: Callable[[], None], opened: Callable[[], None] = lambda: None) -> None:
        """Start: take the project's lock, then continue in a thread."""
        path = self.job.project
        try:
            if os.path.exists(path):
                database.check_file(path)  # what is no project gets no lock beside it
            self._lock = take_lock(path)
            opened()
        except AlignkitError as problem:
            self.problem = problem
            failed()
            return
        self._thread = threading.Thread(target=self._run, args=[failed], daemon=True)
        self._thread.start()

    def at_end(self, ending: Callable[[], None]) -> None:
        """Register a function to call before the project is closed."""
        self._endings.append(ending)

    def stop(self) -> None:
        """Stop the work, and close the project."""
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
        """The task of the project; known before it is open."""
        if self._task is None:
            known = names.TASKS[0]
            if os.path.exists(self.job.project):
                known = database.read_task(self.job.project)
            self._task = self.job.task or known
        return self._task

    def take(self, k: int) -> None:
        """Mark a pair as opened, so it gets no later suggestions."""
        if k not in self._taken:
            with self._shelf:
                self._taken.add(k)

    def learned(self) -> str:
        """Return the outcome of learning; empty if nothing is learned."""
        return "" if self.learning is None else self.learning.outcome

    def heard(self, events: Iterable[Sent] | None = None) -> None:
        """Learn again if stored events require it; None: any events may be stored."""
        if self.learning is not None:
            self.learning.heard(events)

    def _run(self, failed: Callable[[], None]) -> None:
        """Open the project, find its suggestions, and begin to learn.

        Without a model that was named, a project is not opened; without other suggestions it is.
        """
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
        """Make the project if there is none, open it, and let its first visitor in."""
        path = self.job.project
        if not (os.path.exists(path) or names.is_url(path)):
            self._note(f"{path}: the project is being made; the URL follows")
            with closing(self._work(structs.replace(self.job, plan=self.plan))) as work:
                work.run()
        store = Store.open(path, lock=self._lock, accept_copy=self.job.accept_copy)
        try:
            if self.plan is not None:
                self.plan = self.plan.checked(store.project().annotators, self.visitor.name)
            if self.visitor.name:  # in a lab, whose folder was checked, people come later
                if not names.is_url(path):
                    file_systems.check_locks(path, store.writing())
                admit(store, self.visitor, self._gold, **self._rules)
            change_task(store, self.job.task)
            store.settings(Setting(doubt=self.job.doubt))
            sessions = Sessions(store.database)
            project = store.project()
            before = sessions.plan
            plan = self._settled(before, project.task)
            if plan != before:
                sessions.plan = plan
        except BaseException:
            store.close()
            raise
        return OpenProject(store, sessions, project.key)

    def _settled(self, before: SuggestionPlan | None, task: str) -> SuggestionPlan:
        """Return the plan for suggestions: the wanted one, that of before, or the usual one."""
        plan = self.plan or before
        if plan is None:
            plan = self._fallback if task == "align" else SuggestionPlan("none")
        learning = before is None or before.learning
        if self._learns is not None:
            learning = self._learns
        return structs.replace(plan, learning=learning)

    def _learn(self, opened: OpenProject) -> None:
        """Start to learn while pairs are annotated, if an aligner makes the suggestions."""
        plan = opened.sessions.plan
        project = opened.store.project()
        draws = project.task == "align" and project.suggestions
        if plan is not None and draws and learns(plan) and not self.stopping:
            self.learning = Learning(
                opened.store,
                plan,
                shelf=self._shelf,
                taken=self._taken,
                note=self._note,
                turn=self.job.turn,
            )
            self.at_end(self.learning.stop)
        elif self._learns and not self.stopping:
            self._note("--learning: has no effect, because no aligner makes the suggestions")

    def _suggest(self, opened: OpenProject) -> None:
        """Find the suggestions of the plan, unless they are there."""
        store, sessions, _ = opened
        plan = sessions.plan
        if plan is None or not plan.pending:
            return
        plan.checked(store.project().annotators, self.visitor.name)
        if plan.kind == "none":
            store.settings(Setting(suggestions=""))
        else:
            self.progress = OpeningProgress("looking for suggestions")
            job = Job(self.job.project, plan=plan, turn=self.job.turn)
            with closing(self._work(job)) as work:
                work.run()
                self._store(opened, plan, work)
        sessions.plan = structs.replace(plan, pending=False)

    def _store(self, opened: OpenProject, plan: SuggestionPlan, child: ChildProcess) -> None:
        """Store suggestions; a pair that was already opened keeps its suggestions."""
        store = opened.store
        name = plan.name if plan.kind in ("initial", names.VOTE) else plan.kind
        with self._shelf:
            with store.reading() as conn:
                shown = appending.opened(conn)
                suggested = suggested_cells(conn).items()
            kept = [(k, cells) for k, (_, cells) in suggested if k in shown]
            closed = shown | self._taken
            new = ((k, cells) for k, cells in child.rows() if k not in closed)
            store.set_suggestions(name, chain(new, kept))

    def _work(self, job: Job) -> ChildProcess:
        """Return the child process for a job, which `stop` ends."""
        if self.stopping:
            raise names.ProjectError("stopped")
        self._child = ChildProcess(job, self._report, self._note)
        return self._child

    def _report(self, text: str, share: float | None) -> None:
        self.progress = OpeningProgress(text, share)
