"""The database of a lab: each read or change is a step, a transaction of somebody.

A step reads and writes rows, checks what its actor may do, and adds lines to the audit log: who
changed what, never texts or secrets.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import sqlalchemy as sa
from msgspec import json
from sqlalchemy.exc import DBAPIError

from alignkit.annotate.lab import schema, values
from alignkit.annotate.lab.values import INVITED, NOBODY, OPEN, OWNER, Actor, LabError, timestamp
from alignkit.annotate.project import engines, names
from alignkit.annotate.project.engines import Condition

_ACCOUNT = schema.account.c
_AUDIT = schema.audit.c
_LINK = schema.link.c
_PROJECT = schema.project.c
_ROLE = schema.role.c
_RULES = {schema.account, schema.role, schema.project}
"""The tables that say who may do what; they are kept in memory."""
_CHANGES = "account changed", "role set", "project changed"
_Opened = Callable[[sa.Engine], AbstractContextManager[sa.Connection]]
LIVE = _PROJECT.state != values.DELETED
"""The condition for projects that are not deleted."""


def id_fits(columns: Any, id: str) -> Condition:
    """Return the condition for the row with this public id."""
    return sa.func.substr(columns.hash, 1, len(values.public_id("0" * 64))) == id


@dataclass
class LabStep:
    """A transaction in which an actor reads or changes something."""

    conn: sa.Connection
    actor: Actor
    now: int
    rules: bool = False  # whether accounts, roles or projects change
    # what is called after the commit, before the next writer begins
    after: list[Callable[[], None]] = field(default_factory=list)

    def ask(self, what: sa.Table | sa.Select[Any], *which: Condition) -> Any:
        """Return rows."""
        query = sa.select(what) if isinstance(what, sa.Table) else what
        return self.conn.execute(query.where(*which))

    def insert(self, table: sa.Table, **values: object) -> None:
        """Add a row."""
        self.rules |= table in _RULES
        self.conn.execute(sa.insert(table).values(values))

    def update(self, table: sa.Table, *which: Condition, **values: object) -> int:
        """Change rows; return how many."""
        self.rules |= table in _RULES and set(values) != {"seen"}
        return self.conn.execute(sa.update(table).where(*which).values(values)).rowcount

    def delete(self, table: sa.Table, *which: Condition) -> int:
        """Delete rows; return how many."""
        self.rules |= table in _RULES
        return self.conn.execute(sa.delete(table).where(*which)).rowcount

    def log(
        self, action: str, target: str = "", *, project: str = "", before: Any = "", after: Any = ""
    ) -> None:
        """Add a line to the audit log; `before` and `after` are short texts, or become JSON."""
        name, by, address, lab_owner = self.actor
        if lab_owner and project:
            by += " (lab owner)"
        self.insert(
            schema.audit,
            at=self.now,
            actor=name,
            by=by,
            address=address,
            project=project,
            action=action,
            target=target,
            before=_logged(before),
            after=_logged(after),
        )

    def check(self, etag: str, now: str, target: str, project: str = "") -> None:
        """Refuse a change of a row that changed after it was read; an empty etag fits."""
        if etag in ("", now):
            return
        last_change = (
            sa.select(_AUDIT.actor, _AUDIT.at)
            .where(_AUDIT.target == target, _AUDIT.project == project)
            .where(_AUDIT.action.in_(_CHANGES))
            .order_by(_AUDIT.n.desc())
            .limit(1)
        )
        actor, at = self.ask(last_change).first() or ("", 0)
        hour = timestamp(at)[11:16]
        raise LabError(
            f"{actor or 'A command'} changed this at {hour}. Nothing was saved.", "changed"
        )

    def find(self, name: str) -> Any:
        """Return the row of an account; None if there is none."""
        return self.ask(schema.account, _ACCOUNT.name == values.folded(name)).first()

    def account(self, name: str) -> Any:
        """Return the row of an account."""
        row = self.find(name)
        if row is None:
            raise LabError(f"There is no account {name[:40]!r}.", "unknown")
        return row

    def still_open(self, known: Any) -> Any:
        """Return the row of an account; refuse one that was closed or has another password now."""
        row = self.account(known.name)
        if row.state != OPEN or not hmac.compare_digest(row.password, known.password):
            raise LabError(*values.WRONG)
        return row

    def project(self, slug: str) -> Any:
        """Return the row of a project that is not deleted."""
        row = self.ask(schema.project, _PROJECT.slug == slug, LIVE).first()
        if row is None:
            raise LabError(f"There is no project {slug[:40]!r}.", "unknown")
        return row

    def roles(self, account: Any) -> dict[str, str]:
        """Return the roles of an account, by project."""
        return {row.project: row.role for row in self.ask(schema.role, _ROLE.account == account.id)}

    def check_member(self, account: Any, slug: str) -> None:
        """Refuse a project in which an account has no role, as if it did not exist."""
        if self.project(slug) and account.rank != OWNER and slug not in self.roles(account):
            raise LabError(f"There is no project {slug[:40]!r}.", "unknown")

    def check_other_owner(self, account: Any, project: str = "") -> None:
        """Refuse to lose the last open owner of a project, or without one, of the lab."""
        role = self.roles(account).get(project) if project else account.rank
        if account.state != OPEN or role != OWNER:
            return
        others = sa.select(_ACCOUNT.id).where(_ACCOUNT.state == OPEN, _ACCOUNT.id != account.id)
        last = "The last owner"
        if project:
            others = others.join(schema.role).where(_ROLE.project == project, _ROLE.role == OWNER)
            last += f" of {project}"
        else:
            others = others.where(_ACCOUNT.rank == OWNER)
        if self.ask(others).first() is None:
            raise LabError(f"{last} cannot leave. Make somebody else owner first.", "last")

    def may_manage(self, manager: str, account: Any) -> bool:
        """Return whether somebody may make links for an account and end its sessions.

        Commands, which have no name, may. The owner of one project may not take over a lab owner, a
        person of other projects, or one who was invited elsewhere and only added to this project.
        """
        if not manager:
            return True
        own = self.find(manager)
        if own is None or own.state != OPEN:
            return False
        if own.rank == OWNER:
            return True
        if account.rank == OWNER:
            return False
        own_roles = self.roles(own)
        their_roles = self.roles(account)
        if not their_roles:  # an invitation that was taken back: the name is free for another
            links = self.ask(schema.link, _LINK.account == account.id, _LINK.used.is_(None))
            return account.state == INVITED and links.first() is None
        owns_all = all(own_roles.get(project) == OWNER for project in their_roles)
        if not owns_all or account.may_create > own.may_create:
            return False
        return account.state == INVITED or self._was_invited(account, their_roles)

    def _was_invited(self, account: Any, projects: Iterable[str]) -> bool:
        """Return whether an account was invited to one of some projects."""
        invitation = (
            sa.select(_AUDIT.n)
            .where(_AUDIT.action == "link made", _AUDIT.target == account.name)
            .where(_AUDIT.after == values.INVITE, _AUDIT.project.in_(projects))
            .limit(1)
        )
        return self.ask(invitation).first() is not None

    def check_manager(self, account: Any) -> None:
        """Refuse an actor who may not manage an account."""
        if not self.may_manage(self.actor.name, account):
            raise LabError(f"Only a lab owner can do this for {account.name}.", "forbidden")


def _logged(value: Any) -> str:
    """Return a value as the audit log holds it."""
    return value if isinstance(value, str) else json.encode(value).decode()


class LabDatabase:
    """The connections to the database of a lab."""

    def __init__(self, engine: sa.Engine, place: str) -> None:
        self.place = names.shown_place(place)
        self.clock: Callable[[], float] = time.time
        self.changes = 0
        """How often this process has written."""
        self.rules = 0
        """How often it has written accounts, roles or projects, which are kept in memory."""
        self._engine = engine
        self._writing = Lock()

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
            self.rules += step.rules
            for done in step.after:
                done()

    @contextmanager
    def _step(self, opened: _Opened, actor: Actor) -> Iterator[LabStep]:
        """Open a step in a connection for reading or writing."""
        try:
            with opened(self._engine) as conn:
                yield LabStep(conn, actor, self.now())
        except DBAPIError as problem:
            text = f"The database reports an error: {problem.orig}. Nothing was changed."
            raise LabError(text) from None
