"""Tokens: what programs send in place of a session."""

from __future__ import annotations

import secrets
from typing import Any

import sqlalchemy as sa

from alignkit.annotate.lab import queries, schema, values
from alignkit.annotate.lab.audit import LabDatabase
from alignkit.annotate.lab.bodies import TokenRow
from alignkit.annotate.lab.values import DAY, Actor, TokenVisitor, digest, public_id, timestamp

_MOST = 365  # days
_TOKEN, _ACCOUNT = schema.token.c, schema.account.c


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
            raise values.BadValue("days", f"Give 1 to {_MOST} days.")
        name, text = values.checked_title(name), f"ak_{secrets.token_urlsafe(32)}"
        with self._database.change(actor) as step:
            own, hash = queries.account_named(step.conn, account), digest(text)
            if project:
                queries.check_member(step.conn, own, project)
            row: dict[str, Any] = {"begins": text[:8], "name": name, "project": project}
            row |= {"account": own.id, "read_only": read_only, "expires": step.now + days * DAY}
            step.insert(schema.token, hash=hash, **row)
            after = {"token": text[:8], "read_only": read_only, "days": days}
            step.log("token made", own.name, project=project, after=after)
            asked = sa.select(schema.token).where(_TOKEN.hash == hash)
            return _row(step.conn.execute(asked).one(), text)

    def rows(self, account: str) -> list[TokenRow]:
        """Return the tokens of an account."""
        asked = sa.select(schema.token).join(schema.account).where(_ACCOUNT.name == account)
        with self._database.reading() as conn:
            return [_row(row) for row in conn.execute(asked.order_by(_TOKEN.expires))]

    def withdraw(self, account: str, id: str, actor: Actor) -> None:
        """Make a token invalid; one that is gone is no error."""
        with self._database.change(actor) as step:
            own = queries.account_named(step.conn, account)
            if step.delete(schema.token, _TOKEN.account == own.id, queries.id_fits(_TOKEN, id)):
                step.log("token withdrawn", own.name, before=id)

    def visitor(self, bearer: str) -> TokenVisitor | None:
        """Return the token of a request; None if it is not valid (any more)."""
        columns = (
            _ACCOUNT.name,
            _ACCOUNT.rank,
            _ACCOUNT.may_create,
            _TOKEN.project,
            _TOKEN.read_only,
        )
        hash, now = digest(bearer), self._database.now()
        asked = sa.select(*columns).join_from(schema.token, schema.account)
        valid = _TOKEN.hash == hash, _TOKEN.expires > now, _ACCOUNT.state == values.OPEN
        with self._database.reading() as conn:
            row = conn.execute(asked.where(*valid)).first()
        if row is None:
            return None
        self._used[hash] = now
        name, rank, may_create, project, read_only = row
        return TokenVisitor(public_id(hash), name, rank, may_create, project, read_only)

    def tidy(self) -> None:
        """Write when tokens were used; forget those that have expired long ago."""
        used, self._used = self._used, {}
        with self._database.change() as step:
            for hash, at in list(used.items()):
                step.update(schema.token, _TOKEN.hash == hash, used=at)
            step.delete(schema.token, _TOKEN.expires < step.now - 30 * DAY)


def _row(row: sa.Row[Any], text: str = "") -> TokenRow:
    times = timestamp(row.expires), timestamp(row.used)
    known = row.name, row.begins, row.project, row.read_only
    return TokenRow(public_id(row.hash), *known, *times, text)
