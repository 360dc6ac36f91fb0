"""The finished work of a project: read once, and afterwards only what has changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from sqlalchemy import Connection, select

from alignkit.annotate.adjudication.adjudication_queue import settled_pairs
from alignkit.annotate.dashboard.tally import PairF1, TalliedPair, Tally
from alignkit.annotate.project import queries, schema
from alignkit.annotate.project.conversion import annotation_of
from alignkit.annotate.project.queries import has_assignments
from alignkit.model.annotation import Annotation
from alignkit.model.labels import Scheme, View, get_view
from alignkit.model.sentence_pair import SentencePair


class Compared(NamedTuple):
    """The annotators who are compared, by number, and the project's names for the others."""

    annotators: dict[str, int]
    initial: str | None
    gold: str  # the name of the gold standard
    scheme: str  # of the judgments


def compared(conn: Connection) -> Compared:
    """Return the annotators of a project who are compared."""
    info = queries.project_info(conn)
    initial = queries.suggesting(conn)
    having = set(conn.execute(select(schema.assignment.c.account).distinct()).scalars())
    others = {info.gold, *queries.sources(conn)}
    names = {
        name: number
        for number, name in enumerate(info.annotators, 1)
        if name not in others and (number in having or not having)
    }
    return Compared(names, initial, info.gold, info.scheme)


def label_view(scheme: Scheme | None) -> View | None:
    """Return the view of a scheme that shows its labels, without flags; None without a scheme."""
    if scheme is None:
        return None
    labels = {label.value for label in scheme.labels}
    views = [get_view(scheme, name) for name in scheme.views]
    return next((view for view in views if labels.issuperset(view.labels)), None)


_CHUNK = 250  # pairs that are counted at a time

Report = Callable[[float], None]
Words = tuple[str, ...]


class DoneLinks(NamedTuple):
    """The annotation of a pair that is done, and the links taken in bulk."""

    annotation: Annotation
    bulk: set[tuple[int, int]]
    judgment: Words  # the label, then the flags; empty without a label


class LiveWork:
    """The work in a project, up to event `n`."""

    def __init__(self) -> None:
        self.n = self.version = self.pairs = 0
        self.compared: Compared | None = None
        self.done: dict[str, set[int]] = {}
        self.settled: set[int] = set()
        self.assigned: dict[str, set[int]] | None = None
        self.tally = Tally()
        self.apart: dict[int, PairF1] = {}
        self.judged: dict[int, dict[str, Words]] = {}

    def ready(self, k: int) -> bool:
        """Return whether a pair can be adjudicated: all its annotators are done."""
        if self.assigned is None:
            return True
        return all(k in self.done[name] for name, own in self.assigned.items() if k in own)

    def anew(self, conn: Connection) -> bool:
        """Return whether everything must be read again, which takes a while."""
        if self.compared is None:
            return True
        old, new = self.compared, compared(conn)
        first = list(new.annotators)[: len(old.annotators)]  # others may have come behind them
        return first != list(old.annotators) or old[1:] != new[1:]

    def refresh(self, conn: Connection, report: Report | None = None) -> bool:
        """Read what has changed; return whether anything did."""
        last = queries.last_n(conn)
        if self.compared is not None and last == self.n:
            return False
        if self.anew(conn):
            self.tally = Tally()
            self.done = {}
            self.apart = {}
            self.judged = {}
            self.version += 1
            self._join(conn)
            self._read(conn, dict.fromkeys(range(1, self.pairs + 1)), report)
            self._settle(conn, None)
        else:
            changed, kinds = self._changed(conn)
            if kinds:
                self._join(conn)
            self._read(conn, changed, report)
            self._settle(conn, None if kinds - {"account"} else changed)
        self.n = last
        return True

    def _changed(self, conn: Connection) -> tuple[dict[int, set[int] | None], set[str]]:
        """Return who has changed each pair since, and the kinds of the project's own events."""
        event = schema.event_table.c
        stream = schema.stream.c
        asked = select(stream.pair, stream.account, event.kind).distinct()
        rows = conn.execute(asked.where(event.n > self.n, event.stream == stream.id))
        changed: dict[int, set[int] | None] = {}
        kinds = set()
        for k, account, kind in rows:
            if k == 0:
                kinds.add(kind)
            else:
                changed[k] = (changed.get(k) or set()) | {account}
        return changed, kinds

    def _join(self, conn: Connection) -> None:
        """Update the annotators, and what is assigned to them."""
        self.compared = now = compared(conn)
        for name in now.annotators:
            if name not in self.tally.names:
                self.tally.add(name)
        for name in filter(None, (*now.annotators, now.gold, now.initial)):
            self.done.setdefault(name, set())
        self.pairs = queries.count_pairs(conn)
        self.assigned = None
        if has_assignments(conn):
            names = {number: name for name, number in now.annotators.items()}
            self.assigned = {name: set() for name in now.annotators}
            table = schema.assignment.c
            for account, k in conn.execute(select(table.account, table.pair)):
                if account in names:
                    self.assigned[names[account]].add(k)

    def _read(
        self, conn: Connection, changed: Mapping[int, set[int] | None], report: Report | None
    ) -> None:
        numbers = sorted(changed)
        for start in range(0, len(numbers), _CHUNK):
            self._count(conn, {k: changed[k] for k in numbers[start : start + _CHUNK]})
            if report is not None:
                report(min(1.0, (start + _CHUNK) / len(numbers)))

    def _settle(self, conn: Connection, changed: Collection[int] | None) -> None:
        """Update which pairs are adjudicated, of those that have changed or of all."""
        assert self.compared is not None
        done = self.done[self.compared.gold]
        if changed is None:
            again = done
        else:
            again = done.intersection(changed)
        kept = () if changed is None else self.settled.difference(changed)
        self.settled = settled_pairs(conn, again).union(kept)

    def _count(self, conn: Connection, some: Mapping[int, set[int] | None]) -> None:
        """Count pairs again if their finished work has, or may have, changed."""
        numbers = enumerate(queries.annotators(conn), 1)
        names = {number: name for number, name in numbers if name in self.done}
        states = self._states(conn, some, names)
        touched: set[str] = set()
        moved = []
        for k, accounts in some.items():
            done = states.get(k, {})
            whose = {names[account] for account in names if accounts is None or account in accounts}
            whose = {name for name in whose if name in done or k in self.done[name]}
            for name in whose:
                (self.done[name].add if name in done else self.done[name].discard)(k)
            if whose:
                moved.append(k)
                touched |= whose
        if not moved:
            return
        self.version += 1
        tallied = []
        for row in queries.pair_rows(conn, moved):
            works = states.get(row.k, {})
            annotations = {name: work.annotation for name, work in works.items()}
            pair = SentencePair(row.id, row.source, row.target, annotations)
            bulk = {name: work.bulk for name, work in works.items()}
            tallied.append(TalliedPair(row.k, pair, bulk))
        self.tally.put(tallied, touched)
        for k in moved:
            self.apart.pop(k, None)
            done = states.get(k, {})
            self.judged[k] = {name: work.judgment for name, work in done.items() if work.judgment}
            value = self.tally.f1_of(k)
            if value is not None and any(f1 < 1 for f1 in value):  # not if it is NaN
                self.apart[k] = value

    def _states(
        self, conn: Connection, some: Collection[int], names: Mapping[int, str]
    ) -> dict[int, dict[str, DoneLinks]]:
        """Return by pair and name the finished annotation, and the links accepted in bulk."""
        assert self.compared is not None
        scheme = queries.known_scheme(self.compared.scheme)
        table = schema.stream.c
        own = table.pair.in_(sorted(some)), table.account.in_(list(names))
        states: dict[int, dict[str, DoneLinks]] = {}
        for k, account, state in queries.states(conn, *own):
            if state.done:
                annotation = annotation_of(state, scheme)
            else:
                annotation = None
            if annotation is not None:
                if state.judgment:
                    judgment = (state.judgment, *state.flags)
                else:
                    judgment = ()
                work = DoneLinks(annotation, state.bulk, judgment)
                states.setdefault(k, {})[names[account]] = work
        return states
