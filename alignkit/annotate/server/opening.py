"""Check and open a project, find its suggestions, and learn new ones while annotators work.

The server already answers while this runs in threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain, islice
from typing import NamedTuple

from msgspec import structs

from alignkit.annotate.creation import open_pairs
from alignkit.annotate.documents import read_documents
from alignkit.annotate.project import appending, database, names
from alignkit.annotate.project.events import Lesson, Sent
from alignkit.annotate.project.file_systems import check_locks
from alignkit.annotate.project.places import SchemaLock, take_lock
from alignkit.annotate.project.server_lock import ServerLock
from alignkit.annotate.project.store import Store
from alignkit.annotate.project.suggestions import suggested_cells
from alignkit.annotate.server.child import ChildProcess, Job, Row, SuggestionPlan
from alignkit.annotate.server.sessions import Sessions, admit, change_task, check_adjudicator
from alignkit.errors import AlignkitError, OptionError
from alignkit.io.options import ReadOptions
from alignkit.model.corpus import Corpus

_SMALL = 1 << 18  # bytes of a corpus that is read in a tenth of a second
_TEACHING = {"done", "undo", "redo"}
_CHUNK = 250  # pairs whose suggestions are stored at a time
_MOST_FAILURES = 3
_CLOSING = 5.0  # seconds to wait for the end of learning


def check_beforehand(
    job: Job, plan: SuggestionPlan | None, role: str = names.ANNOTATOR, gold: str = ""
) -> Sequence[str]:
    """Check a project; if there is none yet, check its folder, and its corpus if that is quick."""
    known: Sequence[str] | None
    if os.path.exists(job.project):
        known = _check_existing(job, role, gold)
    else:
        known = _check_new(job, role, gold or names.GOLD)
    if plan is not None and plan.kind == "model":
        from alignkit.align.model_contents import encoder_of_model

        used = encoder_of_model(plan.name)
        if used is not None and not plan.encoder:
            raise used.missing(plan.name)
    elif plan is not None and known is not None:
        plan.checked(known, job.annotator)
    return known or ()


def _check_existing(job: Job, role: str, gold: str) -> Sequence[str]:
    """Check a project, and that somebody may be let in; return its annotators."""
    database.check_file(job.project)
    ServerLock(job.project).release()
    known = database.read_annotators(job.project)
    assigned = database.read_assigned(job.project)
    if role == names.ANNOTATOR and assigned and job.annotator not in assigned:
        raise names.ProjectError(names.not_assigned(job.annotator, assigned))
    if role == names.ADJUDICATOR:
        # not read-only, which leaves files beside it
        with Store.open(job.project, accept_copy=job.accept_copy) as store:
            check_adjudicator(store, job.annotator, gold)
    return known


def _check_new(job: Job, role: str, gold: str) -> Sequence[str] | None:
    """Check what a project is to be made of; return its annotators, None if that takes long."""
    folder = os.path.dirname(os.path.realpath(job.project))
    if not os.path.isdir(folder):
        raise OptionError(
            f"{job.project}: there is no folder {folder}; make it, or give another file"
        )
    ServerLock(job.project).release()
    known: Sequence[str] | None = ()
    if job.documents:
        encoding = job.reading.get("encoding", "utf-8")
        documents = read_documents(job.documents, tokenize=job.tokenize, encoding=encoding)
        if next(documents, None) is None:
            named = " and ".join(job.documents)
            raise names.ProjectError(f"{named}: no documents; there is nothing to extract")
    else:
        known = annotators_of(job)
    if role == names.ADJUDICATOR:
        names.check_adjudicable(job.task)
        names.check_gold(gold, job.annotator, taken=gold in (known or ()))
    return known


def annotators_of(job: Job) -> tuple[str, ...] | None:
    """Return the annotators of the corpus; None if it is too large to read now."""
    options = ReadOptions(**job.reading)
    files = [path for path in (job.corpus, options.source, options.target) if path is not None]
    for path in files:
        try:
            if os.path.isdir(path):
                os.scandir(path).close()
            else:
                open(path, "rb").close()
        except OSError as problem:
            raise OptionError(f"{path}: cannot be read: {problem.strerror or problem}") from None
    if not all(map(os.path.isfile, files)) or sum(map(os.path.getsize, files)) > _SMALL:
        return None
    _, pairs = open_pairs(job.corpus, job.format, options)
    corpus = Corpus(pairs)
    if not len(corpus):
        raise names.ProjectError(
            f"{job.corpus}: contains no sentence pairs; there is nothing to annotate"
        )
    return corpus.annotators


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
        note: Callable[[str], None],
        learning: bool | None = None,
        role: str = names.ANNOTATOR,
        gold: str = "",
        rules: Mapping[str, bool] | None = None,
    ) -> None:
        self.job = job
        self.visitor = names.Visitor(job.annotator, role)
        self._gold = gold
        self.plan = plan
        self._fallback = fallback
        self._note = note
        self._rules = rules or {}
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
        self._lock: ServerLock | SchemaLock | None = None
        self._endings: list[Callable[[], None]] = []

    def start(self, failed: Callable[[], None], opened: Callable[[], None] | None = None) -> None:
        """Start: take the project's lock, then continue in a thread."""
        path = self.job.project
        try:
            if os.path.exists(path):
                database.check_file(path)  # what is no project gets no lock beside it
            self._lock = take_lock(path)
            if opened is not None:
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
                    check_locks(path, store.database.writing())
                admit(store, self.visitor, self._gold, **self._rules)
            change_task(store, self.job.task)
            store.settings(doubt=self.job.doubt)
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
            store.settings(suggestions="")
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
            with store.database.reading() as conn:
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
        note: Callable[[str], None],
        turn: str = "",
    ) -> None:
        self._store = store
        self._plan = plan
        self._turn = turn
        self._shelf = shelf
        self._taken = taken
        self._note = note
        self.outcome = ""
        self._failures = 0
        self._used: bool | None = None
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
        chunk = list(islice(rows, _CHUNK))
        while chunk:
            with self._shelf:
                with self._store.database.reading() as conn:
                    shown = appending.opened(conn, [k for k, _ in chunk]).union(self._taken)
                fresh = [(k, cells) for k, cells in chunk if k not in shown]
                name = self._store.add_learned(name, fresh, lesson)
            chunk = list(islice(rows, _CHUNK))
        self.outcome = f"{lesson.verdict} ({lesson.pairs} done pairs)"
        if lesson.used:
            self.outcome = (
                f"learned from {lesson.pairs} done pairs; F1 by cross-validation "
                f"{100 * lesson.before:.1f}, now {100 * lesson.after:.1f}"
            )
        if lesson.used != self._used:
            self._used = lesson.used
            self._note(f"suggestions: {self.outcome}")
