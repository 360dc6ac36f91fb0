"""The projects of a lab that are open: those used last, with their counts for lists."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from itertools import count, pairwise
from typing import NamedTuple

from sqlalchemy import Connection, Integer, and_, bindparam, cast, func, select, union

from alignkit.annotate import training
from alignkit.annotate.adjudication.adjudication_queue import Docket
from alignkit.annotate.lab.lab import Lab
from alignkit.annotate.lab.values import ProjectRow
from alignkit.annotate.project import names, queries, schema
from alignkit.annotate.project.events import GAP
from alignkit.annotate.project.store import Store
from alignkit.annotate.project.training import training_pairs
from alignkit.annotate.server.child import Job, SuggestionPlan
from alignkit.annotate.server.desk import Desk
from alignkit.annotate.server.opening import Opening
from alignkit.annotate.server.security import RefusedError
from alignkit.errors import AlignkitError

_MOST = 20
_LARGE = 2000  # pairs of a project whose pairs to adjudicate are not looked for in a request
_WAIT = 10.0  # seconds that a request waits for a project to be open
_EVERY = 5.0  # seconds between two writings of counts
_SELDOM = 12  # writings between two times that what is old is removed

_account = schema.account.c
_assignment = schema.assignment.c
_counts = schema.pair_counts.c
_event = schema.event_table.c
_stream = schema.stream.c

_ASSIGNED_COUNTS = and_(_counts.account == _assignment.account, _counts.pair == _assignment.pair)
_NUMBER_DONE = func.coalesce(func.sum(cast(_counts.done, Integer)), 0)
_SELECT_ASSIGNED = (
    select(_account.name, func.count(), _NUMBER_DONE)
    .select_from(
        schema.assignment.join(schema.account).outerjoin(schema.pair_counts, _ASSIGNED_COUNTS)
    )
    .group_by(_account.name)
)
"""All pairs and done pairs of each annotator with assigned pairs."""

_FINISHED_BY_ALL = (
    select(_assignment.pair)
    .select_from(schema.assignment.outerjoin(schema.pair_counts, _ASSIGNED_COUNTS))
    .group_by(_assignment.pair)
    .having(func.count() == _NUMBER_DONE)
)
_FINISHED_GOLD = select(_counts.pair).where(
    _counts.account == bindparam("gold"), _counts.done.is_(True)
)
_FINISHED = union(_FINISHED_BY_ALL, _FINISHED_GOLD).subquery()
_COUNT_FINISHED = select(func.count()).select_from(_FINISHED)
"""How many pairs need no annotator any more: the same before, during and after adjudication."""

_EVENTS = schema.event_table.join(schema.stream, _stream.id == _event.stream).join(
    schema.account, _account.id == _stream.account
)
_SELECT_LAST_SENT = (
    select(_event.at, _stream.pair)
    .select_from(_EVENTS)
    .where(_account.name == bindparam("name"), _event.sent != "")
    .order_by(_event.n.desc())
    .limit(500)
)
"""The times of an annotator's last events, and their pairs."""

_STREAM_COUNTS = and_(_counts.account == _stream.account, _counts.pair == _stream.pair)
_WAS_REWORDED = func.max(cast(_event.kind == "text", Integer))
_SELECT_REOPENED = (
    select(_stream.pair, _WAS_REWORDED)
    .select_from(_EVENTS.join(schema.pair_counts, _STREAM_COUNTS))
    .where(_account.name == bindparam("name"), _event.actor != bindparam("name"))
    .where(_event.kind.in_(("text", "done")), _counts.done.is_(False))
    .group_by(_stream.pair)
    .limit(20)
)
"""The pairs of an annotator that others have opened again, and whether the words were
corrected (1 or 0)."""
_COUNT_HIDDEN = (
    select(func.count())
    .select_from(schema.assignment.join(schema.account))
    .where(_account.name == bindparam("name"), _assignment.shown.is_(False))
)
"""How many of an annotator's pairs are without suggestions."""
_LEAST = 5  # pairs from which a pace is told


def _work_time(times: list[float]) -> float:
    """Return the seconds between times of events, in order, without the breaks."""
    return sum(after - before for before, after in pairwise(times) if after - before < GAP)


def _only_for_training(conn: Connection, gold_account: int) -> int:
    """Return how many pairs wait for nobody: they are for training, and not finished."""
    trained = training_pairs(conn)
    if not trained:
        return 0
    finished = conn.execute(select(_FINISHED.c.pair), {"gold": gold_account}).scalars()
    return len(trained.difference(finished))


def _reopened_reason(was_reworded: int) -> str:
    """Return why a pair is open again; its new words are the reason if there are several."""
    if was_reworded:
        return "its words were corrected"
    return "it is to be aligned now"


class ListCounts(NamedTuple):
    """What lists show of a project after its event n."""

    n: int
    pairs: int
    done: int  # pairs that all their annotators have finished, or whose gold is finished
    decided: int | None  # pairs whose gold is finished; None if it was not looked at
    ready: int | None  # pairs to adjudicate; None if it was not looked at
    assigned: bool
    own: dict[str, tuple[int, int]]  # by annotator: done pairs, and all
    last: float | None


class OwnWork(NamedTuple):
    """What the first page shows of somebody's work in a project."""

    reopened: list[tuple[int, str]]  # pairs that were opened again: number, reason
    left: float | None  # minutes, by one's pace; None where unknown
    hidden: int  # pairs without suggestions
    trains: bool = False  # whether the training round comes first


class Desks:
    """The open projects; at most 20, and who comes back to another waits until it is open."""

    def __init__(self, lab: Lab, note: Callable[[str], None], tidy: Callable[[], object]) -> None:
        self._lab = lab
        self._note = note
        self._tidy = tidy
        self._open: OrderedDict[str, Desk] = OrderedDict()
        self._rows: dict[str, ProjectRow] = {}
        self._counts: dict[str, ListCounts] = {}
        self._written: dict[str, int] = {}  # the events after which counts were written
        self._lock = threading.Lock()  # of `_open`, `_rows`, `_counts` and `_written`
        self._opening = threading.RLock()  # one project is opened at a time
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self._thread.start()

    def get(self, project: ProjectRow) -> Desk:
        """Return the desk of a project, opened if necessary."""
        with self._lock:
            desk = self._open.get(project.key)
            if desk is not None:
                self._open.move_to_end(project.key)
                return desk
        with self._opening:
            with self._lock:
                desk = self._open.get(project.key)
                if desk is not None:
                    return desk
                too_many = max(0, len(self._open) + 1 - _MOST)
                idle = list(self._open)[:too_many]
            for key in idle:
                self.close(key)
            opening = self._opened(project)
            with ExitStack() as undo:
                undo.callback(opening.stop)  # a project that stays locked could not be opened again
                desk = Desk(opening, only_assigned=True, file=f"{project.slug}.alignkit")
                if project.task != "extract" and project.state == "open":
                    desk.enter(desk.store.project().gold, 0)
                with self._lock:
                    self._open[project.key] = desk
                    self._rows[project.key] = project
                undo.pop_all()
        self.count(project, desk.store)
        return desk

    def know(self, key: str, name: str) -> bool:
        """Return whether a project is open, and knows somebody.

        The event loop asks, which must not wait for a lock; a single look-up needs none.
        """
        desk = self._open.get(key)
        return desk is not None and desk.knows(name)

    def _opened(self, project: ProjectRow) -> Opening:
        """Open a project, and wait until it is open."""
        place = self._lab.project_place(project.key)
        job = Job(place, annotator="", turn=str(self._lab.folder / "training"))
        opening = Opening(job, None, fallback=SuggestionPlan("none"), note=self._note)
        opening.start(failed=lambda: None)
        until = time.monotonic() + _WAIT
        while opening.opened is None and opening.problem is None:
            if time.monotonic() > until:
                opening.stop()
                raise RefusedError(503, "The project is not open yet. Try again.")
            time.sleep(0.01)
        if opening.opened is None:
            opening.stop()
            raise opening.problem or RefusedError(503, "The project cannot be opened.")
        return opening

    def close(self, key: str) -> None:
        """Close a project, with its counts in the list."""
        with self._opening:  # nobody opens it again before it is closed
            with self._lock:
                desk = self._open.pop(key, None)
            if desk is not None:
                try:
                    self._try(partial(self._save, key, desk))
                finally:  # a project that stays locked could not be opened again
                    desk.opening.stop()

    def stop(self) -> None:
        """Close all projects."""
        self._stopped.set()
        self._thread.join(_EVERY)
        with self._lock:
            keys = list(self._open)
        for key in keys:
            self.close(key)

    def counts(self, key: str) -> ListCounts | None:
        """Return what is known of a project; None if it was not read yet."""
        with self._lock:
            return self._counts.get(key)

    def own(self, key: str, name: str) -> OwnWork:
        """Return one's work; of projects that are not open, nothing."""
        with self._lock:
            desk = self._open.get(key)
            known = self._counts.get(key)
        if desk is None or known is None:  # closed, or just opened and not counted yet
            return OwnWork([], None, 0)
        with desk.store.database.reading() as conn:
            trains = training.summary(conn, name) is not None
            if name not in known.own:
                return OwnWork([], None, 0, trains)
            last_sent = conn.execute(_SELECT_LAST_SENT, {"name": name}).all()
            reopened = conn.execute(_SELECT_REOPENED, {"name": name}).all()
            hidden = int(conn.execute(_COUNT_HIDDEN, {"name": name}).scalar_one())
        reasons = [(k, _reopened_reason(was_reworded)) for k, was_reworded in reopened]
        pairs = len({k for _, k in last_sent})
        if pairs < _LEAST:
            return OwnWork(reasons, None, hidden, trains)
        times = [datetime.fromisoformat(at).timestamp() for at, _ in reversed(last_sent)]
        minutes_per_pair = _work_time(times) / 60 / pairs
        done, all_pairs = known.own[name]
        left = minutes_per_pair * (all_pairs - done)
        return OwnWork(reasons, left, hidden, trains)

    def now(self, project: ProjectRow) -> ListCounts | None:
        """Return the counts of a project: of now if it is open and small, else of lately."""
        with self._lock:
            desk = self._open.get(project.key)
            known = self._counts.get(project.key)
        if desk is None or (known is not None and known.pairs > _LARGE):
            return known
        return self.count(project, desk.store, desk.pairs_to_decide)

    def count(
        self, project: ProjectRow, store: Store, make_docket: Callable[[], Docket] | None = None
    ) -> ListCounts:
        """Read the counts of a project, unless nothing has changed.

        Without `make_docket`, the pairs to adjudicate are not looked for.
        """
        with store.database.reading() as conn:
            n = queries.last_n(conn)
            known = self.counts(project.key)
            if known is not None and known.n == n:
                is_enough = make_docket is None or known.ready is not None
                if is_enough:
                    return known
            people = self._lab.projects.people(project.slug)
            annotators = {person.name for person in people if person.annotates}
            info = queries.project_info(conn)
            rows = conn.execute(_SELECT_ASSIGNED).all()
            own = {name: (int(done), pairs) for name, pairs, done in rows if name in annotators}
            gold_account = -1  # no account: nothing is decided
            if info.gold in info.annotators:  # accounts are numbered from 1, as they entered
                gold_account = info.annotators.index(info.gold) + 1
            decided = queries.PairList(conn, gold_account, everything=True).count_done()
            done = int(conn.execute(_COUNT_FINISHED, {"gold": gold_account}).scalar_one())
            pairs = info.pairs - _only_for_training(conn, gold_account)
            at = conn.execute(select(_event.at).where(_event.n == n)).scalar()
        ready = None
        if info.task == "extract":
            ready = 0
        elif make_docket is not None:
            ready = make_docket().count_ready()
        last = datetime.fromisoformat(at).timestamp() if at else None
        counts = ListCounts(n, pairs, done, decided, ready, bool(rows), own, last)
        with self._lock:
            self._counts[project.key] = counts
        return counts

    def _save(self, key: str, desk: Desk) -> None:
        """Write the counts of an open project for lists, if they have changed."""
        with self._lock:
            row = self._rows[key]
            written = self._written.get(key)
        counts = self.count(row, desk.store, desk.pairs_to_decide)
        if counts.n != written:
            self._lab.projects.save_counts(key, counts.n, counts.pairs, counts.done, counts.last)
            with self._lock:
                self._written[key] = counts.n

    def _try(self, step: Callable[[], object]) -> None:
        """Do something in the background; only note it if it fails: the next time may be better."""
        try:
            step()
        except (AlignkitError, RefusedError) as problem:  # a database may be away for a while
            self._note(str(problem))

    def _read_counts(self, project: ProjectRow) -> None:
        """Read the counts of a project that is not open."""
        try:
            with Store.open(self._lab.project_place(project.key), readonly=True) as store:
                self.count(project, store, partial(Docket, store))
        except names.ProjectError as problem:
            self._note(f"{project.slug}: {problem}")

    def _read_all_counts(self) -> None:
        """Read the counts of all projects that are not open."""
        for project in self._lab.projects.rows():
            if self._stopped.is_set():
                return
            has_store = project.state in ("open", "archived")
            if has_store and self.counts(project.key) is None:
                self._read_counts(project)

    def _keep(self) -> None:
        """Write the counts of open projects now and then, and read those of all others once."""
        self._try(self._read_all_counts)
        for tick in count(1):
            if self._stopped.wait(_EVERY):
                return
            with self._lock:
                desks = list(self._open.items())
            for key, desk in desks:
                self._try(partial(self._save, key, desk))
            if tick % _SELDOM == 0:
                self._try(self._lab.tidy)
                self._try(self._tidy)
