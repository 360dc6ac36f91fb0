"""The database of a lab: where it is, its transactions, and the lines of the audit log in them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

import sqlalchemy as sa
from msgspec import json
from sqlalchemy.exc import DBAPIError

from alignkit.annotate.lab import schema
from alignkit.annotate.lab.values import Actor, ChangedMeanwhile, LabUnavailable, timestamp
from alignkit.annotate.project import engines, names


class LabStep:
    """A transaction in which an actor changes something."""

    def __init__(self, conn: sa.Connection, actor: Actor, now: int) -> None:
        self.conn, self.actor, self.now = conn, actor, now
        self.after: list[Callable[[], None]] = []
        """What is called after the commit, before the next writer begins."""

    def log(
        self,
        action: str,
        target: str = "",
        *,
        project: str = "",
        before: object = None,
        after: object = None,
    ) -> None:
        """Add a line to the audit log."""
        actor = self.actor
        by = f"{actor.by} (lab owner)" if actor.lab_owner and project else actor.by
        row = {
            "at": self.now,
            "actor": actor.name,
            "by": by,
            "address": actor.address,
            "project": project,
        }
        row |= {"action": action, "target": target, "before": _text(before), "after": _text(after)}
        self.conn.execute(sa.insert(schema.audit).values(row))

    def check(self, etag: str, now: str, target: str, project: str = "") -> None:
        """Refuse a change of a row that changed after it was read; an empty etag fits."""
        if etag not in ("", now):
            table = schema.audit.c
            same = sa.select(table.actor, table.at).where(
                table.target == target, table.project == project
            )
            last = self.conn.execute(same.order_by(table.n.desc()).limit(1)).first()
            raise ChangedMeanwhile(*(last[0], timestamp(last[1])) if last else ("", timestamp(0)))


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.encode(value).decode()


class LabDatabase:
    """The connections to the database of a lab."""

    def __init__(self, engine: sa.Engine, place: str) -> None:
        self.place = names.shown_place(place)
        self.clock: Callable[[], float] = time.time
        self._engine = engine
        self._writing = Lock()

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
        with self.change(Actor("")) as step:
            yield step.conn

    @contextmanager
    def change(self, actor: Actor) -> Iterator[LabStep]:
        """Open a transaction for an actor, which adds lines to the audit log."""
        with self._refusing(), self._writing:
            with engines.writing(self._engine) as conn:
                step = LabStep(conn, actor, self.now())
                yield step
            for done in step.after:
                done()

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as problem:
            text = f"{self.place}: the database reports an error: {problem.orig}"
            raise LabUnavailable(f"{text}; nothing was changed") from None

    def close(self) -> None:
        """Close all connections."""
        engines.close(self._engine)
