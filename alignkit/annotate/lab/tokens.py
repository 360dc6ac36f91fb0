"""Tokens: what programs send in place of a session."""

from __future__ import annotations

import secrets
from typing import Any

import sqlalchemy as sa

from alignkit.annotate.lab import schema, values
from alignkit.annotate.lab.bodies import TokenRow
from alignkit.annotate.lab.database import LabDatabase, LabStep, id_fits
from alignkit.annotate.lab.values import DAY, Actor, TokenVisitor, digest, public_id, timestamp

_MOST = 365  # days
_TOKEN, _ACCOUNT = schema.token.c, schema.account.c
_VISITOR = sa.select(
    _ACCOUNT.name, _ACCOUNT.rank, _ACCOUNT.may_create, _TOKEN.project, _TOKEN.read_only
).join_from(schema.token, schema.account)


class Tokens:
    """The tokens of a lab."""

    def __init__(self, database: LabDatabase) -> None:
        self._database = database
        self._used: dict[str, int] = {}

    def create(
        self, account: str, name: str, actor: Actor, *, project: str = "", read_only: bool = False,
        days: int = 90,
    ) -> TokenRow:  # fmt: skip
        """Make a token; its text, `ak_...`, is in this row only.

        Raises `BadValue`, `UnknownProject`.
        """
        if not 1 <= days <= _MOST:
            raise values.BadValue(f"Give 1 to {_MOST} days.", "days")
        name, text = values.checked_title(name), f"ak_{secrets.token_urlsafe(32)}"
        with self._database.change(actor) as step:
            own = step.account(account)
            if project:
                step.check_member(own, project)
            step.insert(
                schema.token, hash=digest(text), account=own.id, begins=text[:8], name=name,
                project=project, read_only=read_only, expires=step.now + days * DAY,
            )  # fmt: skip
            after = {"token": text[:8], "read_only": read_only, "days": days}
            step.log("token made", own.name, project=project, after=after)
            return _row(step.ask(schema.token, _TOKEN.hash == digest(text)).one(), text)

    def rows(self, account: str) -> list[TokenRow]:
        """Return the tokens of an account."""
        asked = sa.select(schema.token).join(schema.account).order_by(_TOKEN.expires)
        with self._database.reading() as step:
            return [_row(row) for row in step.ask(asked, _ACCOUNT.name == account)]

    def withdraw(self, account: str, id: str, actor: Actor) -> None:
        """Make a token invalid; one that is gone is no error."""
        with self._database.change(actor) as step:
            own = step.account(account)
            if step.delete(schema.token, _TOKEN.account == own.id, id_fits(_TOKEN, id)):
                step.log("token withdrawn", own.name, before=id)

    def visitor(self, bearer: str) -> TokenVisitor | None:
        """Return the token of a request; None if it is not valid (any more)."""
        hash, now = digest(bearer), self._database.now()
        valid = _TOKEN.hash == hash, _TOKEN.expires > now, _ACCOUNT.state == values.OPEN
        with self._database.reading() as step:
            if (row := step.ask(_VISITOR, *valid).first()) is None:
                return None
        self._used[hash] = now
        return TokenVisitor(public_id(hash), *row)

    def tidy(self, step: LabStep) -> None:
        """Write when tokens were used; forget those that have expired long ago."""
        used, self._used = self._used, {}
        for hash, at in list(used.items()):
            step.update(schema.token, _TOKEN.hash == hash, used=at)
        step.delete(schema.token, _TOKEN.expires < step.now - 30 * DAY)


def _row(row: Any, text: str = "") -> TokenRow:
    known = row.name, row.begins, row.project, row.read_only
    return TokenRow(public_id(row.hash), *known, timestamp(row.expires), timestamp(row.used), text)
