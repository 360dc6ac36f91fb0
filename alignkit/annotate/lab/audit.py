"""The audit log: who changed what, never texts or secrets."""

from __future__ import annotations

from collections.abc import Iterator

from alignkit.annotate.lab.bodies import AuditRow
from alignkit.annotate.lab.database import LabDatabase
from alignkit.annotate.lab.values import Actor


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
        raise NotImplementedError

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
        raise NotImplementedError

    def lines(self, *, project: str = "", person: str = "", day: str = "") -> Iterator[bytes]:
        """Yield all rows as JSON lines, the oldest first."""
        raise NotImplementedError
