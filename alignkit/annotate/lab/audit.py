"""The audit log: who changed what, never texts or secrets."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time, timezone

import sqlalchemy as sa
from msgspec import json

from alignkit.annotate.lab import schema
from alignkit.annotate.lab.bodies import AuditRow
from alignkit.annotate.lab.database import LabDatabase
from alignkit.annotate.lab.values import Actor, BadValue, timestamp

DAY = 24 * 3600
_BLANKED = 90 * DAY
_MOST = 1000


class AuditLog:
    """The audit log of a lab; rows are only added, and addresses go after 90 days."""

    def __init__(self, database: LabDatabase) -> None:
        self._database = database

    def write(
        self,
        actor: Actor,
        action: str,
        target: str = "",
        *,
        project: str = "",
        before: object = None,
        after: object = None,
    ) -> None:
        """Add a row, for changes outside of the lab's database; `project` is a slug.

        `before` and `after` are short texts or become JSON; None is an empty text.
        """
        with self._database.change(actor) as step:
            step.log(action, target, project=project, before=before, after=after)

    def rows(
        self,
        after: int = 0,
        limit: int = 100,
        *,
        project: str = "",
        person: str = "",
        day: str = "",
    ) -> list[AuditRow]:
        """Return rows, the newest first; `after` is the number of the last row seen.

        A person is the actor or the target; a day is as in 2026-11-27.
        """
        table = schema.audit.c
        asked = _asked(project, person, day).order_by(table.n.desc()).limit(min(limit, _MOST))
        if after:
            asked = asked.where(table.n < after)
        with self._database.reading() as conn:
            return [_row(row) for row in conn.execute(asked)]

    def lines(self, *, project: str = "", person: str = "", day: str = "") -> Iterator[bytes]:
        """Yield all rows as JSON lines, the oldest first."""
        table, last = schema.audit.c, 0
        asked = _asked(project, person, day).order_by(table.n).limit(_MOST)
        while True:
            with self._database.reading() as conn:
                rows = conn.execute(asked.where(table.n > last)).all()
            if not rows:
                return
            yield from (json.encode(_row(row)) + b"\n" for row in rows)
            last = rows[-1].n

    def tidy(self) -> None:
        """Blank the addresses of old rows."""
        table = schema.audit.c
        with self._database.writing() as conn:
            old = table.at < self._database.now() - _BLANKED, table.address != ""
            conn.execute(sa.update(schema.audit).where(*old).values(address=""))


def _asked(project: str, person: str, day: str) -> sa.Select[tuple[object, ...]]:
    table = schema.audit.c
    asked = sa.select(schema.audit)
    if project:
        asked = asked.where(table.project == project)
    if person:
        asked = asked.where(sa.or_(table.actor == person, table.target == person))
    if day:
        try:
            start = datetime.combine(date.fromisoformat(day), time(), timezone.utc).timestamp()
        except ValueError:
            raise BadValue("day", "Give a day as in 2026-11-27.") from None
        asked = asked.where(table.at >= start, table.at < start + DAY)
    return asked


def _row(row: sa.Row[tuple[object, ...]]) -> AuditRow:
    return AuditRow(**{**row._mapping, "at": timestamp(row.at)})
