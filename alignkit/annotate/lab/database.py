"""The database of a lab; each read or change is a step: a transaction with its lines of the log."""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock
from typing import Any

import sqlalchemy as sa
from msgspec import json
from sqlalchemy.exc import DBAPIError

from alignkit.annotate.lab import schema, values
from alignkit.annotate.lab.values import INVITED, NOBODY, OPEN, OWNER, Actor, timestamp
from alignkit.annotate.project import engines, names

_ACCOUNT, _ROLE, _LINK, _PROJECT, _AUDIT = (
    table.c for table in (schema.account, schema.role, schema.link, schema.project, schema.audit)
)
_CHANGES = "account changed", "role set", "project changed"
LIVE = _PROJECT.state != values.DELETED
"""The condition for projects that are not deleted."""


def id_fits(columns: Any, id: str) -> sa.ColumnElement[bool]:
    """Return the condition for the row with this public id."""
    return sa.func.substr(columns.hash, 1, len(values.public_id("0" * 64))) == id


class LabStep:
    """A transaction in which an actor reads or changes something."""

    def __init__(self, conn: sa.Connection, actor: Actor, now: int) -> None:
        self.conn, self.actor, self.now = conn, actor, now
        self.after: list[Callable[[], None]] = []
        """What is called after the commit, before the next writer begins."""

    def ask(self, what: sa.Table | sa.Select[Any], *which: sa.ColumnElement[bool]) -> Any:
        """Return rows."""
        asked = sa.select(what) if isinstance(what, sa.Table) else what
        return self.conn.execute(asked.where(*which))

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
        self.insert(
            schema.audit, at=self.now, actor=name, by=by, address=address, project=project,
            action=action, target=target, before=old, after=new,
        )  # fmt: skip

    def check(self, etag: str, now: str, target: str, project: str = "") -> None:
        """Refuse a change of a row that changed after it was read; an empty etag fits."""
        if etag not in ("", now):
            asked = sa.select(_AUDIT.actor, _AUDIT.at).order_by(_AUDIT.n.desc()).limit(1)
            mine = _AUDIT.target == target, _AUDIT.project == project, _AUDIT.action.in_(_CHANGES)
            who, at = self.ask(asked, *mine).first() or ("", 0)
            text = f"{who or 'A command'} changed this at {timestamp(at)[11:16]}."
            raise values.ChangedMeanwhile(f"{text} Nothing was saved.")

    def find(self, name: str) -> Any:
        """Return the row of an account; None if there is none."""
        return self.ask(schema.account, _ACCOUNT.name == values.folded(name)).first()

    def account(self, name: str) -> Any:
        """Return the row of an account."""
        if (row := self.find(name)) is None:
            raise values.UnknownPerson(f"There is no account {name[:40]!r}.")
        return row

    def still_open(self, known: Any) -> Any:
        """Return the row of an account; refuse one that was closed or has another password now."""
        row = self.account(known.name)
        if row.state != OPEN or not hmac.compare_digest(row.password, known.password):
            raise values.WrongPassword
        return row

    def project(self, slug: str) -> Any:
        """Return the row of a project that is not deleted."""
        if (row := self.ask(schema.project, _PROJECT.slug == slug, LIVE).first()) is None:
            raise values.UnknownProject(f"There is no project {slug[:40]!r}.")
        return row

    def roles(self, account: Any) -> dict[str, str]:
        """Return the roles of an account, by project."""
        return {row.project: row.role for row in self.ask(schema.role, _ROLE.account == account.id)}

    def check_member(self, account: Any, slug: str) -> None:
        """Refuse a project in which an account has no role, as if it did not exist."""
        if self.project(slug) and account.rank != OWNER and slug not in self.roles(account):
            raise values.UnknownProject(f"There is no project {slug[:40]!r}.")

    def check_other_owner(self, account: Any, project: str) -> None:
        """Refuse to lose the last open owner of a project, or of the lab (empty)."""
        owners = sa.select(_ACCOUNT.id).where(_ACCOUNT.state == OPEN, _ACCOUNT.id != account.id)
        which = [_ACCOUNT.rank == OWNER]
        if project:
            owners, which = (
                owners.join(schema.role),
                [_ROLE.project == project, _ROLE.role == OWNER],
            )
        if self.ask(owners, *which).first() is None:
            text = f"The last owner{' of ' * bool(project)}{project} cannot leave."
            raise values.LastOwner(f"{text} Make somebody else owner first.")

    def may_manage(self, manager: str, account: Any) -> bool:
        """Return whether somebody may make links for an account and end its sessions.

        Else the owner of one project could take over a lab owner, or a person of other projects.
        Commands on the server's machine, which have no name, may.
        """
        own = self.find(manager) if manager else None
        if own is None or own.state != OPEN:
            return not manager
        if OWNER in (own.rank, account.rank):
            return bool(own.rank == OWNER)
        mine, theirs = self.roles(own), self.roles(account)
        if not theirs:  # an invitation that was taken back: the name is free for another
            return account.state == INVITED and not self.ask(
                schema.link, _LINK.account == account.id).first()  # fmt: skip
        return all(mine.get(project) == OWNER for project in theirs)

    def check_manager(self, account: Any) -> None:
        """Refuse an actor who may not manage an account."""
        if not self.may_manage(self.actor.name, account):
            raise values.NotAllowed(f"Only a lab owner can do this for {account.name}.")


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

    def reading(self) -> AbstractContextManager[LabStep]:
        """Open a step that sees one state of the lab."""
        return self._step(engines.reading, NOBODY)

    @contextmanager
    def change(self, actor: Actor = NOBODY) -> Iterator[LabStep]:
        """Open a step of an actor that commits all of its work at once; one writer at a time."""
        with self._writing:
            with self._step(engines.writing, actor) as step:
                yield step
            self.changes += 1
            for done in step.after:
                done()

    @contextmanager
    def _step(
        self, opened: Callable[[sa.Engine], AbstractContextManager[sa.Connection]], actor: Actor
    ) -> Iterator[LabStep]:
        try:
            with opened(self._engine) as conn:
                yield LabStep(conn, actor, self.now())
        except DBAPIError as problem:
            text = f"The database reports an error: {problem.orig}. Nothing was changed."
            raise values.LabError(text) from None
