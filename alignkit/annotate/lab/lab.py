"""A lab: its place, its database, and its parts."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import sqlalchemy as sa

from alignkit.annotate.lab import place as places
from alignkit.annotate.lab.accounts import Accounts
from alignkit.annotate.lab.audit import AuditLog
from alignkit.annotate.lab.database import LabDatabase
from alignkit.annotate.lab.links import JoinLinks
from alignkit.annotate.lab.passwords import PasswordCheck
from alignkit.annotate.lab.projects import Projects
from alignkit.annotate.lab.sessions import LabSessions
from alignkit.annotate.lab.tokens import Tokens
from alignkit.annotate.project import engines, names


class Lab:
    """A lab that is open; all methods of its parts are synchronous and thread-safe."""

    def __init__(self, place: str, engine: sa.Engine, folder: Path | None) -> None:
        self.database = LabDatabase(engine, place)
        self.reading, self.writing = self.database.reading, self.database.writing
        self.key = places.prepare(self.database)
        """The same as long as the lab exists; 16 hex digits."""
        self.folder = folder or places.made(names.own_folder() / f"lab-{self.key}")
        """The folder of the files that are not in the database."""
        self.drafts, self.models, projects = (
            places.made(self.folder / name) for name in ("drafts", "models", "projects")
        )
        self._project = (f"{projects}{os.sep}", ".alignkit") if folder else (f"{place}#p_", "")
        check = PasswordCheck(self.database)
        self.audit = AuditLog(self.database)
        self.sessions = LabSessions(self.database, check)
        self.accounts = Accounts(self.database, check, self.sessions)
        self.tokens = Tokens(self.database)
        self.projects = Projects(self.database)
        self.links = JoinLinks(self.database, self.accounts, self.sessions, self.projects)
        self._parts = check, self.audit, self.sessions, self.tokens, self.links
        self._opened = ExitStack()

    @classmethod
    def open(cls, place: str, *, serve: bool = False) -> Lab:
        """Open a lab, or make it; only one process at a time may serve it.

        While it is served, other processes must leave its sessions alone: the server keeps them in
        memory.
        """
        with ExitStack() as undo:
            folder = None if names.is_url(place) else places.folder(place)
            engine = places.engine(place, folder)
            undo.callback(engines.close, engine)
            if serve:
                undo.enter_context(places.alone(place, folder, engine))
            lab = cls(place, engine, folder)
            if serve and folder:
                places.check_locks(lab.database, folder)
            lab._opened = undo.pop_all()
            lab._opened.callback(lab.tidy)
        return lab

    def close(self) -> None:
        """Write what waits, and close the database; a second call does nothing."""
        self._opened.close()

    def project_place(self, key: str) -> str:
        """Return the place of a project, for `Store.open`."""
        return key.join(self._project)

    def tidy(self) -> None:
        """Write when sessions and tokens were used, log failures, forget what is old.

        The server calls this every minute; `close` does, too.
        """
        for part in self._parts:
            part.tidy()
