"""The audit log: who changed what, never texts or secrets."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

import sqlalchemy as sa
from msgspec import json

from alignkit.annotate.lab import schema
from alignkit.annotate.lab.bodies import AuditRow
from alignkit.annotate.lab.database import LabDatabase, LabStep
from alignkit.annotate.lab.values import DAY, Actor, BadValue, timestamp

_BLANKED = 90 * DAY  # seconds after which an address goes
_MOST = 1000
_AUDIT = schema.audit.c


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
        with self._database.reading() as step:
            return step.ask(sa.select(_AUDIT.n).limit(1), *same).first() is not None

    def rows(self, after: int = 0, limit: int = 100, **which: str) -> list[AuditRow]:
        """Return rows as in `lines`, the newest first; `after` is the number of the last seen."""
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
        with self._database.reading() as step:
            rows = step.ask(asked.limit(min(limit, _MOST)))
            return [AuditRow(**{**row._mapping, "at": timestamp(row.at)}) for row in rows]

    def tidy(self, step: LabStep) -> None:
        """Blank the addresses of old rows."""
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
            raise BadValue("Give a day as in 2026-11-27.", "day") from None
        asked = asked.where(_AUDIT.at.between(start, start + DAY - 1))
    return asked
