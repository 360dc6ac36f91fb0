"""The audit log of a lab: who changed what. Its lines are written by steps (`steps.LabStep`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import sqlalchemy as sa
from msgspec import json

from alignkit.annotate.lab import bodies, schema, values
from alignkit.annotate.lab.steps import LabDatabase, LabStep

_AUDIT = schema.audit.c
_BLANKED = 90 * values.DAY  # seconds after which an address goes
_MOST = 1000  # rows that are read at once


@dataclass(frozen=True)
class AuditLog:
    """The audit log of a lab; rows are only added, and addresses go after 90 days."""

    _database: LabDatabase

    def write(self, actor: values.Actor, action: str, target: str = "", **more: Any) -> None:
        """Add a row, for changes outside of the lab's database; see `LabStep.log`."""
        with self._database.change(actor) as step:
            step.log(action, target, **more)

    def rows(self, after: int = 0, limit: int = 100, **which: str) -> list[bodies.AuditRow]:
        """Return rows as in `lines`, the newest first; `after` is the number of the last seen."""
        query = _select_rows(**which).order_by(_AUDIT.n.desc())
        if after:
            query = query.where(_AUDIT.n < after)
        return self._read(query, limit)

    def lines(self, **which: str) -> Iterator[bytes]:
        """Yield rows as JSON lines, the oldest first: of a `project`, `person` or `day`."""
        query = _select_rows(**which).order_by(_AUDIT.n)
        rows = self._read(query, _MOST)
        while rows:
            for row in rows:
                yield json.encode(row) + b"\n"
            rows = self._read(query.where(_AUDIT.n > rows[-1].n), _MOST)

    def _read(self, query: sa.Select[Any], limit: int) -> list[bodies.AuditRow]:
        """Return the first rows of a query, with their times as text."""
        with self._database.reading() as step:
            rows = step.ask(query.limit(min(limit, _MOST))).mappings()
            return [bodies.AuditRow(**{**row, "at": values.timestamp(row["at"])}) for row in rows]

    def tidy(self, step: LabStep) -> None:
        """Blank the addresses of old rows."""
        is_old = _AUDIT.at < step.now - _BLANKED
        step.update(schema.audit, is_old, _AUDIT.address != "", address="")


def _select_rows(project: str = "", person: str = "", day: str = "") -> sa.Select[Any]:
    """Return the statement for the rows of a project, a person or a day; all three may be empty."""
    query = sa.select(schema.audit)
    if project:
        query = query.where(_AUDIT.project == project)
    if person:
        query = query.where(sa.or_(_AUDIT.actor == person, _AUDIT.target == person))
    if day:
        try:
            date = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=timezone.utc)
        except ValueError:
            raise values.LabError("Give a day as in 2026-11-27.", "invalid", "day") from None
        start = date.timestamp()
        query = query.where(_AUDIT.at.between(start, start + values.DAY - 1))
    return query
