"""Accounts: names, ranks, states and passwords."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from alignkit.annotate.lab import queries, schema
from alignkit.annotate.lab.bodies import AccountRow
from alignkit.annotate.lab.database import LabDatabase, LabStep
from alignkit.annotate.lab.passwords import PasswordCheck, check_new, hashed
from alignkit.annotate.lab.sessions import LabSessions
from alignkit.annotate.lab.values import (
    CLOSED,
    INVITED,
    MEMBER,
    OPEN,
    OWNER,
    RESET,
    Actor,
    BadValue,
    WrongPassword,
    WrongState,
    etag,
    timestamp,
)

_ACCOUNT = schema.account.c


class Accounts:
    """The accounts of a lab."""

    def __init__(self, database: LabDatabase, check: PasswordCheck, sessions: LabSessions) -> None:
        self._database, self._check, self._sessions = database, check, sessions

    def rows(self) -> list[AccountRow]:
        """Return all accounts by name."""
        with self._database.reading() as conn:
            return [_row(row) for row in conn.execute(_ROWS.order_by(_ACCOUNT.name))]

    def get(self, name: str) -> AccountRow:
        """Return an account, or raise `UnknownPerson`."""
        with self._database.reading() as conn:
            return _get(conn, name)

    def change(
        self,
        name: str,
        actor: Actor,
        *,
        rank: str | None = None,
        may_create: bool | None = None,
        state: str | None = None,
        etag: str = "",
    ) -> AccountRow:
        """Change an account; closing it (state closed) ends its sessions, tokens and links.

        Raises `UnknownPerson`, `ChangedMeanwhile` (if an etag is given), `LastOwner`, `WrongState`.
        """
        if rank not in (None, OWNER, MEMBER) or state not in (None, OPEN, CLOSED):
            raise BadValue("rank" if state in (None, OPEN, CLOSED) else "state", "Unknown value.")
        with self._database.change(actor) as step:
            account, before = queries.account_named(step.conn, name), _get(step.conn, name)
            step.check(etag, before.etag, account.name)
            wanted = {"rank": rank, "may_create": may_create, "state": state}
            new = {key: x for key, x in wanted.items() if x not in (None, getattr(before, key))}
            if new.get("state") == OPEN and not account.password:
                if before.state == INVITED:
                    raise WrongState(f"{before.name} has not joined yet.")
                new["state"] = INVITED
            if new:
                self._change(step, account, new)
                step.log(
                    "account changed",
                    account.name,
                    before={key: getattr(before, key) for key in new},
                    after=new,
                )
            return _get(step.conn, name)

    def _change(self, step: LabStep, account: sa.Row[Any], new: dict[str, Any]) -> None:
        closed, lowered = new.get("state") == CLOSED, new.get("rank") == MEMBER
        if account.state == OPEN and account.rank == OWNER and (closed or lowered):
            queries.check_other_owner(step.conn, account.id)
        mine = _ACCOUNT.id == account.id
        if closed:
            for project, role in queries.roles_of(step.conn, account.id).items():
                if role == OWNER and account.state == OPEN:
                    queries.check_other_owner(step.conn, account.id, project)
            self._end_access(step, account, "closed")
        step.conn.execute(sa.update(schema.account).where(mine).values(new))
        self._sessions.refresh(step, schema.session.c.account == account.id)

    def _end_access(self, step: LabStep, account: sa.Row[Any], why: str) -> None:
        """End all sessions, tokens and unused links of an account in a transaction."""
        self._sessions.close_all(step, account, why)
        links, tokens = schema.link.c, schema.token.c
        unused = links.account == account.id, links.used.is_(None)
        step.conn.execute(sa.delete(schema.link).where(*unused))
        mine = sa.delete(schema.token).where(tokens.account == account.id)
        if count := step.conn.execute(mine).rowcount:
            step.log("tokens withdrawn", account.name, after={"why": why, "tokens": count})

    def join(self, step: LabStep, account: sa.Row[Any], password: str, kind: str) -> None:
        """Open an account with a new password, by a link, in a transaction."""
        self._end_access(step, account, "new password")
        mine = sa.update(schema.account).where(_ACCOUNT.id == account.id)
        step.conn.execute(mine.values(password=password, state=OPEN))
        step.log("password changed" if kind == RESET else "joined", account.name, after=kind)

    def set_password(self, name: str, old: str, new: str, actor: Actor, *, keep: str = "") -> None:
        """Change the password of an open account; all sessions but that of a cookie end.

        Raises `BadValue`, `WrongPassword`, `TooManyTries`, `Busy`.
        """
        check_new(new)
        known = self._check.verify(name, old, actor.address)
        password = hashed(new)
        with self._database.change(actor) as step:
            account = queries.account_named(step.conn, name)
            if (account.state, account.password) != (OPEN, known.password):  # changed meanwhile
                raise WrongPassword
            mine = sa.update(schema.account).where(_ACCOUNT.id == account.id)
            step.conn.execute(mine.values(password=password))
            step.log("password changed", account.name)
            self._sessions.close_all(step, account, "new password", keep)

    def may_manage(self, actor: Actor, name: str) -> bool:
        """Return whether somebody may make password links for a person and sign them out.

        Lab owners may, and the owner of all projects in which the person (no lab owner) has a role.
        """
        with self._database.reading() as conn:
            account = queries.account_named(conn, name)
            return queries.may_manage(conn, actor.name, account)


_COUNT = sa.select(sa.func.count()).where(schema.role.c.account == _ACCOUNT.id).scalar_subquery()
_ROWS = sa.select(schema.account, _COUNT.label("projects"))


def _get(conn: sa.Connection, name: str) -> AccountRow:
    account = queries.account_named(conn, name)
    return _row(conn.execute(_ROWS.where(_ACCOUNT.id == account.id)).one())


def _row(row: sa.Row[Any]) -> AccountRow:
    return AccountRow(
        row.name,
        row.rank,
        bool(row.may_create),
        row.state,
        timestamp(row.made),
        timestamp(row.seen),
        row.projects,
        etag(row.name, row.rank, row.may_create, row.state),
    )
