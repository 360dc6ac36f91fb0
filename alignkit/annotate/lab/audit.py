"""The database of a lab, and the audit log: who changed what, never texts or secrets.

Each read or change is a `LabStep`: a transaction with the lines that it adds to the log.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timezone
from threading import Lock
from typing import Any

import sqlalchemy as sa
from msgspec import json
from sqlalchemy.exc import DBAPIError

from alignkit.annotate.lab import schema, values
from alignkit.annotate.lab.bodies import AuditRow
from alignkit.annotate.lab.values import INVITED, NOBODY, OPEN, OWNER, Actor, LabError, timestamp
from alignkit.annotate.project import engines, names

_ACCOUNT, _ROLE, _LINK, _PROJECT, _AUDIT = (
    table.c for table in (schema.account, schema.role, schema.link, schema.project, schema.audit)
)
_RULES = {schema.account, schema.role, schema.project}
# seconds after which an address goes; rows at once
_BLANKED = 90 * values.DAY
_MOST = 1000
_CHANGES = "account changed", "role set", "project changed"
_Opened = Callable[[sa.Engine], AbstractContextManager[sa.Connection]]
LIVE = _PROJECT.state != values.DELETED
"""The condition for projects that are not deleted."""


def id_fits(columns: Any, id: str) -> sa.ColumnElement[bool]:
    """Return the condition for the row with this public id."""
    return sa.func.substr(columns.hash, 1, len(values.public_id("0" * 64))) == id


class LabStep:
    """A transaction in which an actor reads or changes something."""

    def __init__(self, conn: sa.Connection, actor: Actor, now: int) -> None:
        self.conn = conn
        self.actor = actor
        self.now = now
        self.rules = False  # whether accounts, roles or projects change
        self.after: list[Callable[[], None]] = []
        """What is called after the commit, before the next writer begins."""

    def ask(self, what: sa.Table | sa.Select[Any], *which: sa.ColumnElement[bool]) -> Any:
        """Return rows."""
        if isinstance(what, sa.Table):
            asked = sa.select(what)
        else:
            asked = what
        return self.conn.execute(asked.where(*which))

    def insert(self, table: sa.Table, **values: object) -> None:
        """Add a row."""
        self.rules |= table in _RULES
        self.conn.execute(sa.insert(table).values(values))

    def update(self, table: sa.Table, *which: sa.ColumnElement[bool], **values: object) -> int:
        """Change rows; return how many."""
        self.rules |= table in _RULES and set(values) != {"seen"}
        return self.conn.execute(sa.update(table).where(*which).values(values)).rowcount

    def delete(self, table: sa.Table, *which: sa.ColumnElement[bool]) -> int:
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
        old, new = (x if isinstance(x, str) else json.encode(x).decode() for x in (before, after))
        self.insert(
            schema.audit,
            at=self.now,
            actor=name,
            by=by,
            address=address,
            project=project,
            action=action,
            target=target,
            before=old,
            after=new,
        )

    def check(self, etag: str, now: str, target: str, project: str = "") -> None:
        """Refuse a change of a row that changed after it was read; an empty etag fits."""
        if etag not in ("", now):
            asked = sa.select(_AUDIT.actor, _AUDIT.at).order_by(_AUDIT.n.desc()).limit(1)
            mine = _AUDIT.target == target, _AUDIT.project == project, _AUDIT.action.in_(_CHANGES)
            who, at = self.ask(asked, *mine).first() or ("", 0)
            raise LabError(
                f"{who or 'A command'} changed this at {timestamp(at)[11:16]}. Nothing was saved.",
                "changed",
            )

    def find(self, name: str) -> Any:
        """Return the row of an account; None if there is none."""
        return self.ask(schema.account, _ACCOUNT.name == values.folded(name)).first()

    def account(self, name: str) -> Any:
        """Return the row of an account."""
        if (row := self.find(name)) is None:
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
        if (row := self.ask(schema.project, _PROJECT.slug == slug, LIVE).first()) is None:
            raise LabError(f"There is no project {slug[:40]!r}.", "unknown")
        return row

    def roles(self, account: Any) -> dict[str, str]:
        """Return the roles of an account, by project."""
        return {row.project: row.role for row in self.ask(schema.role, _ROLE.account == account.id)}

    def check_member(self, account: Any, slug: str) -> None:
        """Refuse a project in which an account has no role, as if it did not exist."""
        if self.project(slug) and account.rank != OWNER and slug not in self.roles(account):
            raise LabError(f"There is no project {slug[:40]!r}.", "unknown")

    def check_other_owner(self, account: Any, project: str) -> None:
        """Refuse to lose the last open owner of a project, or of the lab (empty)."""
        owns = (self.roles(account).get(project) if project else account.rank) == OWNER
        if account.state != OPEN or not owns:
            return
        others = sa.select(_ACCOUNT.id).where(_ACCOUNT.state == OPEN, _ACCOUNT.id != account.id)
        if project:
            others = others.join(schema.role).where(_ROLE.project == project)
        if self.ask(others, (_ROLE.role if project else _ACCOUNT.rank) == OWNER).first() is None:
            raise LabError(
                f"The last owner{' of ' * bool(project)}{project} cannot leave. Make "
                "somebody else owner first.",
                "last",
            )

    def may_manage(self, manager: str, account: Any) -> bool:
        """Return whether somebody may make links for an account and end its sessions.

        Commands, which have no name, may. The owner of one project may not take over a lab owner, a
        person of other projects, or one who was invited elsewhere and only added to this project.
        """
        own = self.find(manager) if manager else None
        if own is None or own.state != OPEN:
            return not manager
        if OWNER in (own.rank, account.rank):
            return bool(own.rank == OWNER)
        mine = self.roles(own)
        theirs = self.roles(account)
        if not theirs:  # an invitation that was taken back: the name is free for another
            links = self.ask(schema.link, _LINK.account == account.id)
            return account.state == INVITED and links.first() is None
        if any(mine.get(x) != OWNER for x in theirs) or account.may_create > own.may_create:
            return False
        made = _AUDIT.action == "link made", _AUDIT.target == account.name
        here = _AUDIT.after == values.INVITE, _AUDIT.project.in_(theirs)
        invited = self.ask(sa.select(_AUDIT.n).limit(1), *made, *here).first()
        return account.state == INVITED or invited is not None

    def check_manager(self, account: Any) -> None:
        """Refuse an actor who may not manage an account."""
        if not self.may_manage(self.actor.name, account):
            raise LabError(f"Only a lab owner can do this for {account.name}.", "forbidden")


class LabDatabase:
    """The connections to the database of a lab."""

    def __init__(self, engine: sa.Engine, place: str) -> None:
        self.place = names.shown_place(place)
        self.clock: Callable[[], float] = time.time
        self.changes = self.rules = 0
        """How often this process has written, and accounts, roles or projects, which are kept."""
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
        try:
            with opened(self._engine) as conn:
                yield LabStep(conn, actor, self.now())
        except DBAPIError as problem:
            text = f"The database reports an error: {problem.orig}. Nothing was changed."
            raise LabError(text) from None


class AuditLog:
    """The audit log of a lab; rows are only added, and addresses go after 90 days."""

    def __init__(self, database: LabDatabase) -> None:
        self._database = database

    def write(self, actor: Actor, action: str, target: str = "", **more: Any) -> None:
        """Add a row, for changes outside of the lab's database; see `LabStep.log`."""
        with self._database.change(actor) as step:
            step.log(action, target, **more)

    def rows(self, after: int = 0, limit: int = 100, **which: str) -> list[AuditRow]:
        """Return rows as in `lines`, the newest first; `after` is the number of the last seen."""
        asked = _asked(**which).order_by(_AUDIT.n.desc())
        return self._read(asked.where(_AUDIT.n < after) if after else asked, limit)

    def lines(self, **which: str) -> Iterator[bytes]:
        """Yield rows as JSON lines, the oldest first: of a `project`, `person` or `day`."""
        asked = _asked(**which).order_by(_AUDIT.n)
        last = 0
        while rows := self._read(asked.where(_AUDIT.n > last), _MOST):
            for row in rows:
                yield json.encode(row) + b"\n"
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
            raise LabError("Give a day as in 2026-11-27.", "invalid", "day") from None
        asked = asked.where(_AUDIT.at.between(start, start + values.DAY - 1))
    return asked
