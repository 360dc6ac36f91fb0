"""Accounts: their names, ranks, states and passwords."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from alignkit.annotate.lab import bodies, schema, sessions, values
from alignkit.annotate.lab.passwords import check_new, hashed, verify
from alignkit.annotate.lab.steps import LabDatabase, LabStep
from alignkit.annotate.lab.values import CLOSED, INVITED, OPEN, OWNER, Actor, LabError

_ACCOUNT = schema.account.c
_LINK = schema.link.c
_SESSION = schema.session.c
_COUNT = sa.select(sa.func.count()).where(schema.role.c.account == _ACCOUNT.id).scalar_subquery()
_ROWS = sa.select(schema.account, _COUNT.label("projects")).order_by(_ACCOUNT.name)


@dataclass(frozen=True)
class Accounts:
    """The accounts of a lab."""

    _database: LabDatabase
    _sessions: sessions.LabSessions

    def rows(self) -> list[bodies.AccountRow]:
        """Return all accounts by name."""
        with self._database.reading() as step:
            return [_row(row) for row in step.ask(_ROWS)]

    def get(self, name: str) -> bodies.AccountRow:
        """Return an account."""
        with self._database.reading() as step:
            return _get(step, name)

    def change(self, name: str, actor: Actor, *, etag: str = "", **new: Any) -> bodies.AccountRow:
        """Change `rank`, `may_create`, `display` or `state`; to close ends sessions and tokens."""
        if "display" in new:
            stored_name = values.folded(name)  # here the name is as somebody wrote it
            new["display"] = stored_display(new["display"], stored_name)
        with self._database.change(actor) as step:
            account = step.account(name)
            before = _get(step, name)
            step.check(etag, before.etag, account.name)
            # without a password nobody can sign in: an account opened again must still join
            if new.get("state") == OPEN and not account.password:
                only_opened = new.keys() == {"state"}
                if only_opened and before.state == INVITED:
                    raise LabError(f"{account.name} has not joined yet.", code="state")
                new["state"] = INVITED
            old = {field: getattr(before, field) for field in new}
            if new != old:
                self._change(step, account, new)
                step.log("account changed", account.name, before=old, after=new)
            return _get(step, name)

    def _change(self, step: LabStep, account: Any, new: dict[str, Any]) -> None:
        """Change an account; one that is closed or loses its rank may not be the last owner."""
        closes = new.get("state") == CLOSED
        loses_rank = "rank" in new and new["rank"] != OWNER
        if closes or loses_rank:
            step.check_other_owner(account)
        if closes:
            for project in step.roles(account):
                step.check_other_owner(account, project)
            self._end_access(step, account, "closed")
        step.update(schema.account, _ACCOUNT.id == account.id, **new)
        self._sessions.refresh(step, _SESSION.account == account.id)

    def _end_access(self, step: LabStep, account: Any, why: str, keep: str = "") -> None:
        """End sessions, but that of the cookie `keep`, tokens and unused links of an account."""
        others = [_SESSION.hash != values.digest(keep)] if keep else []
        self._sessions.close(step, account, why, *others)
        step.delete(schema.link, _LINK.account == account.id, _LINK.used.is_(None))
        count = step.delete(schema.token, schema.token.c.account == account.id)
        if count:
            step.log("tokens withdrawn", account.name, after={"why": why, "tokens": count})

    def join(self, step: LabStep, account: Any, password: str, kind: str) -> None:
        """Open an account with a new password, by a link of this kind, in a transaction."""
        self._end_access(step, account, "new password")
        step.update(schema.account, _ACCOUNT.id == account.id, password=password, state=OPEN)
        step.log("password changed" if account.password else "joined", account.name, after=kind)

    def show_as(self, name: str, display: str, actor: Actor) -> None:
        """Change the name that pages show for an account."""
        shown = stored_display(display, name)
        with self._database.change(actor) as step:
            account = step.account(name)
            set_display(step, account, shown)

    def set_password(self, name: str, old: str, new: str, actor: Actor, *, keep: str = "") -> None:
        """Change the password of an open account; all else that lets somebody in ends."""
        check_new(new)
        # Both take a while, so no transaction is open; then the account may have changed.
        known = verify(self._database, name, old, actor.address)
        password = hashed(new)
        with self._database.change(actor) as step:
            account = step.still_open(known)
            step.update(schema.account, _ACCOUNT.id == account.id, password=password)
            step.log("password changed", account.name)
            self._end_access(step, account, "new password", keep)


def stored_display(display: str, name: str) -> str:
    """Return the name to show as it is stored: empty if it is that of the account."""
    display = values.checked_display(display)
    return "" if display == name else display


def set_display(step: LabStep, account: Any, display: str) -> None:
    """Change the name to show of an account in a transaction, and log it."""
    if display != account.display:
        step.update(schema.account, _ACCOUNT.id == account.id, display=display)
        step.log("name changed", account.name, before=account.display, after=display)


def _get(step: LabStep, name: str) -> bodies.AccountRow:
    """Return an account for the page."""
    account = step.account(name)
    return _row(step.ask(_ROWS, _ACCOUNT.name == account.name).one())


def _row(row: Any) -> bodies.AccountRow:
    """Return a row of `_ROWS` for the page."""
    return bodies.AccountRow(
        name=row.name,
        display=row.display,
        rank=row.rank,
        may_create=row.may_create,
        state=row.state,
        made=values.timestamp(row.made),
        seen=values.timestamp(row.seen),
        projects=row.projects,
        etag=values.etag(row.name, row.rank, row.may_create, row.state, row.display),
    )


def add_account(step: LabStep, name: str, rank: str, display: str = "") -> Any:
    """Add an account that has not joined yet, and return its row."""
    step.insert(
        schema.account,
        name=name,
        display=display,
        rank=rank,
        may_create=False,
        password="",
        state=INVITED,
        made=step.now,
    )
    step.log("account made", name, after={"rank": rank})
    return step.account(name)
