"""A lab: its place, its database, and its parts."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

import sqlalchemy as sa

from alignkit.annotate.lab.accounts import Accounts
from alignkit.annotate.lab.audit import AuditLog
from alignkit.annotate.lab.database import LabDatabase
from alignkit.annotate.lab.links import JoinLinks
from alignkit.annotate.lab.projects import Projects
from alignkit.annotate.lab.sessions import LabSessions
from alignkit.annotate.lab.tokens import Tokens


class Lab:
    """A lab that is open; all methods of its parts are synchronous and thread-safe."""

    key: str
    """The same as long as the lab exists; 16 hex digits."""
    place: str
    drafts: Path
    """The folder of uploaded files."""
    models: Path
    """The folder of trained models."""
    database: LabDatabase
    audit: AuditLog
    accounts: Accounts
    sessions: LabSessions
    links: JoinLinks
    tokens: Tokens
    projects: Projects

    @classmethod
    def open(cls, place: str, *, serve: bool = False) -> Lab:
        """Open a lab, or make it; only one process at a time may serve it."""
        raise NotImplementedError

    def close(self) -> None:
        """Write what waits, and close the database; a second call does nothing."""
        raise NotImplementedError

    def reading(self) -> AbstractContextManager[sa.Connection]:
        """Open a connection that sees one state of the lab."""
        raise NotImplementedError

    def writing(self) -> AbstractContextManager[sa.Connection]:
        """Open a connection that commits all of its work at once; one writer at a time."""
        raise NotImplementedError

    def project_place(self, key: str) -> str:
        """Return the place of a project, for `Store.open`."""
        raise NotImplementedError

    def tidy(self) -> None:
        """Write when sessions and tokens were used, log failures, forget what is old.

        The server calls this every minute; `close` calls it, too.
        """
        raise NotImplementedError
