"""The projects of a lab that are open: those used last, with their counts for lists."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime
from functools import partial
from itertools import count, pairwise
from typing import NamedTuple

from sqlalchemy import Integer, and_, bindparam, cast, func, select

from alignkit.annotate.adjudication.adjudication_queue import Docket
from alignkit.annotate.lab.lab import Lab
from alignkit.annotate.lab.values import ProjectRow
from alignkit.annotate.project import names, queries, schema
from alignkit.annotate.project.events import GAP
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.child import Job, SuggestionPlan
from alignkit.annotate.server.desk import Desk
from alignkit.annotate.server.opening import Opening
from alignkit.annotate.server.security import RefusedError

_MOST = 20
_LARGE = 2000  # pairs of a project whose pairs to adjudicate are not looked for in a request
_WAIT = 10.0  # seconds that a request waits for a project to be open
_EVERY = 5.0  # seconds between two writings of counts
_SELDOM = 12  # writings between two times that what is old is removed

_name = schema.account.c.name
_event = schema.event_table.c
_stream = schema.stream.c
_row = schema.assignment.c
_count = schema.pair_counts.c
_MINE = _name == bindparam("name")
_counted = and_(_count.account == _row.account, _count.pair == _row.pair)
_assigned = schema.assignment.join(schema.account).outerjoin(schema.pair_counts, _counted)
_done = func.coalesce(func.sum(cast(_count.done, Integer)), 0)
_OWN = select(_name, func.count(), _done).select_from(_assigned).group_by(_name)
"""All pairs and done pairs of each annotator with assigned pairs."""

_events = schema.event_table.join(schema.stream, _stream.id == _event.stream)
_events = _events.join(schema.account, schema.account.c.id == _stream.account)
_PACE = select(_event.at, _stream.pair).select_from(_events).where(_MINE, _event.sent != "")
_PACE = _PACE.order_by(_event.n.desc()).limit(500)
"""The times of one's last events, and their pairs."""
_others = _events.join(
    schema.pair_counts, and_(_count.account == _stream.account, _count.pair == _stream.pair)
)
_REOPENED = (
    select(_stream.pair, func.max(_event.kind))
    .select_from(_others)
    .where(
        _MINE,
        _event.actor != bindparam("name"),
        _event.kind.in_(("text", "done")),
        _count.done.is_(False),
    )
    .group_by(_stream.pair)
    .limit(20)
)
_REASONS = {"text": "its words were corrected", "done": "it is to be aligned now"}
_LEAST = 5  # pairs from which a pace is told


class ListCounts(NamedTuple):
    """What lists show of a project after its event n."""

    n: int
    pairs: int
    done: int  # of gold, or of all annotators if nothing is decided
    ready: int | None  # pairs to adjudicate; None if it was not looked at
    assigned: bool
    own: dict[str, tuple[int, int]]  # by annotator: done pairs, and all
    last: float | None


class Desks:
    """The open projects; at most 20, and who comes back to another waits until it is open."""

    def __init__(self, lab: Lab, note: Callable[[str], None], tidy: Callable[[], object]) -> None:
        self._lab = lab
        self._note = note
        self._tidy = tidy
        self._open: OrderedDict[str, Desk] = OrderedDict()
        self._rows: dict[str, ProjectRow] = {}
        self._counts: dict[str, ListCounts] = {}
        self._lock = threading.Lock()  # of the three
        self._opening = threading.RLock()  # one project is opened at a time
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self._thread.start()

    def get(self, project: ProjectRow) -> Desk:
        """Return the desk of a project, opened if necessary."""
        with self._lock:
            if (desk := self._open.get(project.key)) is not None:
                self._open.move_to_end(project.key)
                return desk
        with self._opening:
            with self._lock:
                if (desk := self._open.get(project.key)) is not None:
                    return desk
                idle = [*self._open][: max(0, len(self._open) + 1 - _MOST)]
            for key in idle:
                self.close(key)
            desk = Desk(self._opened(project), only_assigned=True, file=f"{project.slug}.alignkit")
            if project.task != "extract" and project.state == "open":
                desk.enter(desk.store.project().gold, 0)
            with self._lock:
                self._open[project.key], self._rows[project.key] = desk, project
        self.count(project, desk.store)
        return desk

    def know(self, key: str, name: str) -> bool:
        """Return whether a project is open, and knows somebody."""
        desk = self._open.get(key)
        return desk is not None and desk.knows(name)

    def _opened(self, project: ProjectRow) -> Opening:
        place = self._lab.project_place(project.key)
        turn = self._lab.folder / "training"
        job = Job(place, annotator="", turn=str(turn))
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
                self._save(key, desk)
                desk.opening.stop()

    def stop(self) -> None:
        """Close all projects."""
        self._stopped.set()
        self._thread.join(_EVERY)
        for key in list(self._open):
            self.close(key)

    def counts(self, key: str) -> ListCounts | None:
        """Return what is known of a project; None if it was not read yet."""
        with self._lock:
            return self._counts.get(key)

    def own(self, key: str, name: str) -> tuple[list[tuple[int, str]], float | None]:
        """Return one's pairs that were opened again, and the minutes left; of open projects."""
        with self._lock:
            desk = self._open.get(key)
        if desk is None or name not in (done := self._counts[key].own):
            return [], None
        with desk.store.database.reading() as conn:
            mine = conn.execute(_PACE, {"name": name}).all()
            reopened = conn.execute(_REOPENED, {"name": name}).all()
        times = [datetime.fromisoformat(at).timestamp() for at, _ in reversed(mine)]
        spent = sum(step for a, b in pairwise(times) if (step := b - a) < GAP)
        pairs = len({k for _, k in mine})
        left = done[name][1] - done[name][0]
        reasons = [(k, _REASONS[kind]) for k, kind in reopened]
        return reasons, spent / 60 / pairs * left if pairs >= _LEAST else None

    def now(self, project: ProjectRow) -> ListCounts | None:
        """Return the counts of a project: of now if it is open and small, else of lately."""
        with self._lock:
            desk = self._open.get(project.key)
            known = self._counts.get(project.key)
        if desk is None or (known is not None and known.pairs > _LARGE):
            return known
        return self.count(project, desk.store, desk.pairs_to_decide)

    def count(
        self, project: ProjectRow, store: Store, docket: Callable[[], Docket] | None = None
    ) -> ListCounts:
        """Read the counts of a project, unless nothing has changed."""
        with store.database.reading() as conn:
            n = queries.last_n(conn)
            known = self.counts(project.key)
            if known is not None and known.n == n and (not docket or known.ready is not None):
                return known
            people = {x.name for x in self._lab.projects.people(project.slug) if x.annotates}
            info = queries.project_info(conn)
            rows = conn.execute(_OWN).all()
            own = {name: (int(done), pairs) for name, pairs, done in rows if name in people}
            accounts = {name: account for account, name in enumerate(info.annotators, 1)}
            account = accounts.get(info.gold, -1)
            gold = queries.PairList(conn, account, everything=True).count_done()
            event = schema.event_table.c
            at = conn.execute(select(event.at).where(event.n == n)).scalar()
        if info.task == "extract":
            ready = 0
        elif docket:
            ready = docket().count_ready()
        else:
            ready = None
        finished, all_pairs = (sum(x) for x in zip(*own.values(), strict=True)) if own else (0, 1)
        done = gold or finished * info.pairs // all_pairs
        last = None
        if at:
            last = datetime.fromisoformat(at).timestamp()
        counts = ListCounts(n, info.pairs, done, ready, bool(rows), own, last)
        with self._lock:
            self._counts[project.key] = counts
        return counts

    def _save(self, key: str, desk: Desk) -> None:
        before = self.counts(key)
        row = self._rows[key]
        counts = self.count(row, desk.store, desk.pairs_to_decide)
        if before is None or counts.n != before.n:
            self._lab.projects.save_counts(key, counts.n, counts.pairs, counts.done, counts.last)

    def _keep(self) -> None:
        """Write the counts of open projects now and then, and read those of all others once."""
        for project in self._lab.projects.rows():
            if self._stopped.is_set() or project.state not in ("open", "archived"):
                continue
            if self.counts(project.key) is None:
                try:
                    with Store.open(self._lab.project_place(project.key), readonly=True) as store:
                        self.count(project, store, partial(Docket, store))
                except names.ProjectError as problem:
                    self._note(f"{project.slug}: {problem}")
        for tick in count(1):
            if self._stopped.wait(_EVERY):
                return
            with self._lock:
                desks = list(self._open.items())
            for key, desk in desks:
                try:
                    self._save(key, desk)
                except (names.ProjectError, RefusedError) as problem:
                    self._note(str(problem))
            if tick % _SELDOM == 0:
                self._lab.tidy()
                self._tidy()
