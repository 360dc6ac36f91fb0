"""The projects of a lab that are open: those used last, with their counts for lists."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from itertools import count

from alignkit.annotate.adjudication.adjudication_queue import Docket
from alignkit.annotate.lab.lab import Lab
from alignkit.annotate.lab.list_counts import (
    NO_WORK,
    ListCounts,
    OwnWork,
    read_list_counts,
    read_own_work,
)
from alignkit.annotate.lab.values import ProjectRow
from alignkit.annotate.project import names, queries
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.child import Job, Note, SuggestionPlan
from alignkit.annotate.server.desk import Desk
from alignkit.annotate.server.opening import Opening
from alignkit.annotate.server.security import RefusedError
from alignkit.errors import AlignkitError

_MOST = 20  # projects that are open at once
_LARGE = 2000  # pairs of a project whose pairs to adjudicate are not looked for in a request
_WAIT = 10.0  # seconds that a request waits for a project to be open
_LOOK = 0.01  # seconds from one look whether it is open to the next
_EVERY = 5.0  # seconds between two writings of counts
_SELDOM = 12  # writings between two times that what is old is removed


class Desks:
    """The open projects, at most 20: to open another, the one that was used longest ago is closed.

    A thread writes their counts into the lab's database now and then, and reads those of all other
    projects once. A thread that needs both locks takes `_opening` first.
    """

    def __init__(self, lab: Lab, note: Note, tidy: Callable[[], object]) -> None:
        self._lab = lab
        self._note = note
        self._tidy = tidy
        self._open: OrderedDict[str, Desk] = OrderedDict()  # by key, the one used last at the end
        self._rows: dict[str, ProjectRow] = {}
        # as they were read last; `ready` is None where nobody looked for the pairs to adjudicate,
        # which takes long: then they are read again for those who want that number
        self._counts: dict[str, ListCounts] = {}
        self._written: dict[str, int] = {}  # the events after which counts were written
        self._lock = threading.Lock()  # of `_open`, `_rows`, `_counts` and `_written`
        # one project is opened or closed at a time; to open one may close another
        self._opening = threading.RLock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self._thread.start()

    def get(self, project: ProjectRow) -> Desk:
        """Return the desk of a project, opened if necessary."""
        desk = self._find(project.key)
        if desk is not None:
            return desk
        with self._opening:
            desk = self._find(project.key)  # somebody else has opened it meanwhile
            if desk is not None:
                return desk
            with self._lock:
                too_many = max(0, len(self._open) + 1 - _MOST)
                used_longest_ago = list(self._open)[:too_many]
            for key in used_longest_ago:
                self.close(key)
            desk = self._open_desk(project)
        self.read_counts(project, desk.store)  # without the lock: others may open meanwhile
        return desk

    def _find(self, key: str) -> Desk | None:
        """Return the desk of an open project as the one that is used last; None if it is closed."""
        with self._lock:
            desk = self._open.get(key)
            if desk is not None:
                self._open.move_to_end(key)
            return desk

    def _open_desk(self, project: ProjectRow) -> Desk:
        """Open a project, and keep its desk."""
        opening = self._opening_done(project)
        with ExitStack() as undo:
            # after an error, or its file stays locked, and it never opens again
            undo.callback(opening.stop)
            desk = Desk(opening, only_assigned=True, file=f"{project.slug}.alignkit")
            # gold becomes an annotator, where something is adjudicated and may be written
            if project.task != "extract" and project.state == "open":
                desk.enter(desk.store.project().gold, 0)
            with self._lock:
                self._open[project.key] = desk
                self._rows[project.key] = project
            undo.pop_all()  # all went well: it stays open
        return desk

    def know(self, key: str, name: str) -> bool:
        """Return whether a project is open, and knows somebody.

        The event loop asks, which must not wait for a lock; a single look-up needs none.
        """
        desk = self._open.get(key)
        return desk is not None and desk.knows(name)

    def _opening_done(self, project: ProjectRow) -> Opening:
        """Open a project without suggestions, and wait until it is open."""
        place = self._lab.project_place(project.key)
        job = Job(place, annotator="", turn=str(self._lab.folder / "training"))
        opening = Opening(job, None, fallback=SuggestionPlan("none"), note=self._note)
        opening.start(failed=lambda: None)
        until = time.monotonic() + _WAIT
        while time.monotonic() <= until:
            if opening.opened is not None or opening.problem is not None:
                break
            time.sleep(_LOOK)
        if opening.opened is not None:
            return opening
        opening.stop()
        if opening.problem is not None:
            raise opening.problem
        raise RefusedError(503, "The project is not open yet. Try again.")

    def close(self, key: str) -> None:
        """Close a project, with its counts in the list."""
        with self._opening:  # nobody opens it again before it is closed
            with self._lock:
                desk = self._open.pop(key, None)
            if desk is not None:
                try:
                    self._try(partial(self._write_counts, key, desk))
                finally:  # else its file stays locked, and it never opens again
                    desk.opening.stop()

    def stop(self) -> None:
        """Close all projects."""
        self._stopped.set()
        self._thread.join(_EVERY)
        with self._lock:
            keys = list(self._open)
        for key in keys:
            self.close(key)

    # Counts

    def known_counts(self, key: str) -> ListCounts | None:
        """Return the counts of a project that were read last; None if there are none yet."""
        with self._lock:
            return self._counts.get(key)

    def own_work(self, key: str, name: str) -> OwnWork:
        """Return one's work; of projects that are not open, nothing."""
        with self._lock:
            desk = self._open.get(key)
            known = self._counts.get(key)
        if desk is None or known is None:  # closed, or just opened and not counted yet
            return NO_WORK
        with desk.store.reading() as conn:
            return read_own_work(conn, name, known.own.get(name))

    def present_counts(self, project: ProjectRow) -> ListCounts | None:
        """Return the counts of a project: of now if it is open and small, else of lately."""
        with self._lock:
            desk = self._open.get(project.key)
            known = self._counts.get(project.key)
        if desk is None or (known is not None and known.pairs > _LARGE):
            return known
        return self.read_counts(project, desk.store, desk.pairs_to_decide)

    def read_counts(
        self, project: ProjectRow, store: Store, make_docket: Callable[[], Docket] | None = None
    ) -> ListCounts:
        """Read the counts of a project, unless nothing has changed.

        Without `make_docket`, the pairs to adjudicate are not looked for.
        """
        with store.reading() as conn:
            n = queries.last_n(conn)
            known = self.known_counts(project.key)
            if known is not None and known.n == n:  # no event since
                has_ready = known.ready is not None
                if has_ready or make_docket is None:
                    return known
            people = self._lab.projects.people(project.slug)
            annotators = {person.name for person in people if person.annotates}
            counts = read_list_counts(conn, annotators, n)
            task = queries.task_of(conn)
        if task == "extract":
            counts = counts._replace(ready=0)
        elif make_docket is not None:
            counts = counts._replace(ready=make_docket().count_ready())
        with self._lock:
            self._counts[project.key] = counts
        return counts

    def _write_counts(self, key: str, desk: Desk) -> None:
        """Write the counts of an open project for lists, if they have changed."""
        with self._lock:
            row = self._rows[key]
            written = self._written.get(key)
        counts = self.read_counts(row, desk.store, desk.pairs_to_decide)
        if counts.n != written:
            self._lab.projects.save_counts(key, counts.n, counts.pairs, counts.done, counts.last)
            with self._lock:
                self._written[key] = counts.n

    # In the thread

    def _keep(self) -> None:
        """Write the counts of open projects now and then, and read those of all others once."""
        self._try(self._read_counts_of_closed)
        for tick in count(1):
            if self._stopped.wait(_EVERY):
                return
            with self._lock:
                desks = list(self._open.items())
            for key, desk in desks:
                self._try(partial(self._write_counts, key, desk))
            if tick % _SELDOM == 0:
                self._try(self._lab.tidy)
                self._try(self._tidy)

    def _read_counts_of_closed(self) -> None:
        """Read the counts of all projects that are not open."""
        for project in self._lab.projects.rows():
            if self._stopped.is_set():
                return
            has_store = project.state in ("open", "archived")
            if not has_store or self.known_counts(project.key) is not None:
                continue
            try:
                with Store.open(self._lab.project_place(project.key), readonly=True) as store:
                    self.read_counts(project, store, partial(Docket, store))
            except names.ProjectError as problem:
                self._note(f"{project.slug}: {problem}")

    def _try(self, step: Callable[[], object]) -> None:
        """Do something in the background; only note it if it fails: the next time may be better.

        A database that is away raises an `AlignkitError`, too.
        """
        try:
            step()
        except (AlignkitError, RefusedError) as problem:
            self._note(str(problem))
