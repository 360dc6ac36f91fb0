"""The database of a lab, and the audit log: who changed what, never texts or secrets.

Each change is a `LabStep`: a transaction with the lines that it adds to the log.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from threading import Lock
from typing import Any

import sqlalchemy as sa
from msgspec import json
from sqlalchemy.exc import DBAPIError

from alignkit.annotate.lab import schema, values
from alignkit.annotate.lab.bodies import AuditRow
from alignkit.annotate.lab.values import DAY, Actor, timestamp
from alignkit.annotate.project import engines, names

_BLANKED = 90 * DAY  # seconds after which an address goes
_MOST = 1000
_AUDIT = schema.audit.c
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
            raise values.ChangedMeanwhile(who, timestamp(when))


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
            raise values.LabUnavailable(text) from None


class AuditLog:
    """The audit log of a lab; rows are only added, and addresses go after 90 days."""

    def __init__(self, database: LabDatabase) -> None:
        self._database = database

    def write(self, actor: Actor, action: str, target: str = "", **more: Any) -> None:
        """Add a row, for changes outside of the lab's database; see `LabStep.log`."""
        with self._database.change(actor) as step:
            step.log(action, target, **more)

    def has(self, **values: str) -> bool:
        """Return whether there is a row with these values."""
        same = (_AUDIT[name] == value for name, value in values.items())
        with self._database.reading() as conn:
            return conn.execute(sa.select(_AUDIT.n).where(*same).limit(1)).first() is not None

    def rows(self, after: int = 0, limit: int = 100, **which: str) -> list[AuditRow]:
        """Return rows, the newest first; `after` is the number of the last row seen.

        `which` is as for `lines`.
        """
        asked = _asked(**which).order_by(_AUDIT.n.desc())
        return self._read(asked.where(_AUDIT.n < after) if after else asked, limit)

    def lines(self, **which: str) -> Iterator[bytes]:
        """Yield all rows of a `project`, `person` or `day` as JSON lines, the oldest first.

        A person is the actor or the target; a day is as in 2026-11-27.
        """
        asked, last = _asked(**which).order_by(_AUDIT.n), 0
        while rows := self._read(asked.where(_AUDIT.n > last), _MOST):
            yield from (json.encode(row) + b"\n" for row in rows)
            last = rows[-1].n

    def _read(self, asked: sa.Select[Any], limit: int) -> list[AuditRow]:
        with self._database.reading() as conn:
            rows = conn.execute(asked.limit(min(limit, _MOST)))
            return [AuditRow(**{**row._mapping, "at": timestamp(row.at)}) for row in rows]

    def tidy(self) -> None:
        """Blank the addresses of old rows."""
        with self._database.change() as step:
            old = _AUDIT.at < step.now - _BLANKED, _AUDIT.address != ""
            step.update(schema.audit, *old, address="")


def _asked(project: str = "", person: str = "", day: str = "") -> sa.Select[Any]:
    asked = sa.select(schema.audit)
    if project:
        asked = asked.where(_AUDIT.project == project)
    if person:
        asked = asked.where(sa.or_(_AUDIT.actor == person, _AUDIT.target == person))
    if day:
        try:
            start = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=timezone.utc).timestamp()
        except ValueError:
            raise values.BadValue("day", "Give a day as in 2026-11-27.") from None
        asked = asked.where(_AUDIT.at.between(start, start + DAY - 1))
    return asked
