"""Accounts: names, ranks, states and passwords."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from alignkit.annotate.lab import schema, values
from alignkit.annotate.lab.bodies import AccountRow
from alignkit.annotate.lab.database import LabDatabase, LabStep
from alignkit.annotate.lab.passwords import check_new, hashed, verify
from alignkit.annotate.lab.sessions import LabSessions
from alignkit.annotate.lab.values import CLOSED, INVITED, OPEN, OWNER, Actor, timestamp

_ACCOUNT, _LINK, _SESSION = schema.account.c, schema.link.c, schema.session.c
_COUNT = sa.select(sa.func.count()).where(schema.role.c.account == _ACCOUNT.id).scalar_subquery()
_ROWS = sa.select(schema.account, _COUNT.label("projects")).order_by(_ACCOUNT.name)
_FREE = {"rank": (OWNER, values.MEMBER), "state": (OPEN, CLOSED), "may_create": (True, False)}


class Accounts:
    """The accounts of a lab."""

    def __init__(self, database: LabDatabase, sessions: LabSessions) -> None:
        self._database, self._sessions = database, sessions

    def rows(self) -> list[AccountRow]:
        """Return all accounts by name."""
        with self._database.reading() as step:
            return [_row(row) for row in step.ask(_ROWS)]

    def get(self, name: str) -> AccountRow:
        """Return an account, or raise `UnknownPerson`."""
        with self._database.reading() as step:
            return _get(step, name)

    def change(self, name: str, actor: Actor, *, etag: str = "", **new: Any) -> AccountRow:
        """Change `rank`, `state` (open or closed) or `may_create`.

        Closing an account ends its sessions, tokens and links; one that nobody joined opens as
        invited. Raises `UnknownPerson`, `ChangedMeanwhile` (if an etag is given), `LastOwner`,
        `WrongState`, `BadValue`.
        """
        for field, value in new.items():
            if value not in _FREE[field]:
                raise values.BadValue("This value is not possible.", field)
        with self._database.change(actor) as step:
            account, before = step.account(name), _get(step, name)
            step.check(etag, before.etag, account.name)
            if new.get("state") == OPEN and not account.password:
                if new == {"state": OPEN} and before.state == INVITED:
                    raise values.WrongState(f"{account.name} has not joined yet.")
                new["state"] = INVITED
            old = {field: getattr(before, field) for field in new}
            if new != old:
                self._change(step, account, new)
                step.log("account changed", account.name, before=old, after=new)
            return _get(step, name)

    def _change(self, step: LabStep, account: Any, new: dict[str, Any]) -> None:
        closed = new.get("state") == CLOSED
        if account.state == OPEN and (closed or new.get("rank", OWNER) != OWNER):
            roles = step.roles(account) if closed else {}
            for project, role in {"": account.rank, **roles}.items():
                if role == OWNER:
                    step.check_other_owner(account, project)
        if closed:
            self._end_access(step, account, "closed")
        step.update(schema.account, _ACCOUNT.id == account.id, **new)
        self._sessions.refresh(step, _SESSION.account == account.id)

    def _end_access(self, step: LabStep, account: Any, why: str) -> None:
        """End all sessions, tokens and unused links of an account in a transaction."""
        self._sessions.close(step, account, why)
        step.delete(schema.link, _LINK.account == account.id, _LINK.used.is_(None))
        if count := step.delete(schema.token, schema.token.c.account == account.id):
            step.log("tokens withdrawn", account.name, after={"why": why, "tokens": count})

    def join(self, step: LabStep, account: Any, password: str, kind: str) -> None:
        """Open an account with a new password, by a link of this kind, in a transaction."""
        self._end_access(step, account, "new password")
        step.update(schema.account, _ACCOUNT.id == account.id, password=password, state=OPEN)
        step.log("password changed" if account.password else "joined", account.name, after=kind)

    def set_password(self, name: str, old: str, new: str, actor: Actor, *, keep: str = "") -> None:
        """Change the password of an open account; all sessions but that of a cookie end.

        Raises `BadValue`, `WrongPassword`, `TooManyTries`, `Busy`.
        """
        check_new(new)
        known, password = verify(self._database, name, old, actor.address), hashed(new)
        with self._database.change(actor) as step:
            account = step.still_open(known)
            step.update(schema.account, _ACCOUNT.id == account.id, password=password)
            step.log("password changed", account.name)
            others = _SESSION.hash != values.digest(keep)
            self._sessions.close(step, account, "new password", others)


def _get(step: LabStep, name: str) -> AccountRow:
    return _row(step.ask(_ROWS, _ACCOUNT.name == step.account(name).name).one())


def _row(row: Any) -> AccountRow:
    known = row.name, row.rank, row.may_create, row.state
    times = timestamp(row.made), timestamp(row.seen)
    return AccountRow(*known, *times, row.projects, values.etag(*known))
