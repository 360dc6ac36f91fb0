"""The database of a lab: its transactions, with the lines that they add to the audit log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import sqlalchemy as sa
from msgspec import json
from sqlalchemy.exc import DBAPIError

from alignkit.annotate.lab import schema
from alignkit.annotate.lab.values import Actor, ChangedMeanwhile, LabUnavailable, timestamp
from alignkit.annotate.project import engines, names

_CHANGES = "account changed", "role set", "project changed"


class LabStep:
    """A transaction in which an actor changes something."""

    def __init__(self, conn: sa.Connection, actor: Actor, now: int) -> None:
        self.conn, self.actor, self.now = conn, actor, now
        self.after: list[Callable[[], None]] = []
        """What is called after the commit, before the next writer begins."""

    def insert(self, table: sa.Table, **values: object) -> None:
        """Add a row."""
        self.conn.execute(sa.insert(table).values(values))

    def update(self, table: sa.Table, *which: sa.ColumnElement[bool], **values: object) -> int:
        """Change rows; return how many."""
        return self.conn.execute(sa.update(table).where(*which).values(values)).rowcount

    def delete(self, table: sa.Table, *which: sa.ColumnElement[bool]) -> int:
        """Delete rows; return how many."""
        return self.conn.execute(sa.delete(table).where(*which)).rowcount

    def log(
        self, action: str, target: str = "", *, project: str = "", before: Any = "", after: Any = ""
    ) -> None:
        """Add a line to the audit log; `before` and `after` are short texts, or become JSON."""
        name, by, address, lab_owner = self.actor
        by += " (lab owner)" if lab_owner and project else ""
        old, new = (x if isinstance(x, str) else json.encode(x).decode() for x in (before, after))
        whom = {"actor": name, "by": by, "address": address, "target": target, "project": project}
        self.insert(schema.audit, at=self.now, action=action, before=old, after=new, **whom)

    def check(self, etag: str, now: str, target: str, project: str = "") -> None:
        """Refuse a change of a row that changed after it was read; an empty etag fits."""
        if etag not in ("", now):
            table = schema.audit.c
            asked = sa.select(table.actor, table.at).order_by(table.n.desc()).limit(1)
            mine = table.target == target, table.project == project, table.action.in_(_CHANGES)
            asked = asked.where(*mine)
            who, when = self.conn.execute(asked).first() or ("", 0)
            raise ChangedMeanwhile(who, timestamp(when))


class LabDatabase:
    """The connections to the database of a lab."""

    def __init__(self, engine: sa.Engine, place: str) -> None:
        self.place = names.shown_place(place)
        self.clock: Callable[[], float] = time.time
        self.changes = 0
        """How often this process has written, to know when values in memory are old."""
        self._engine, self._writing = engine, Lock()

    def now(self) -> int:
        """Return the time in seconds."""
        return int(self.clock())

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Open a connection that sees one state of the lab."""
        with self._refusing(), engines.reading(self._engine) as conn:
            yield conn

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Open a connection that commits all of its work at once; one writer at a time."""
        with self.change() as step:
            yield step.conn

    @contextmanager
    def change(self, actor: Actor = Actor("")) -> Iterator[LabStep]:  # noqa: B008 - frozen
        """Open a transaction for an actor, which adds lines to the audit log."""
        with self._refusing(), self._writing:
            with engines.writing(self._engine) as conn:
                step = LabStep(conn, actor, self.now())
                yield step
            self.changes += 1
            for done in step.after:
                done()

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as problem:
            text = f"The database reports an error: {problem.orig}. Nothing was changed."
            raise LabUnavailable(text) from None
