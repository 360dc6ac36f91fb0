"""Tokens: what programs send in place of a session."""

from __future__ import annotations

import secrets
from typing import Any

import sqlalchemy as sa

from alignkit.annotate.lab import queries, schema
from alignkit.annotate.lab.bodies import TokenRow
from alignkit.annotate.lab.database import LabDatabase
from alignkit.annotate.lab.values import (
    OPEN,
    Actor,
    BadValue,
    TokenVisitor,
    digest,
    public_id,
    timestamp,
)

_DAY = 24 * 3600
_MOST = 365  # days
_LENGTH = 100  # letters of a name
_TOKEN, _ACCOUNT = schema.token.c, schema.account.c


class Tokens:
    """The tokens of a lab."""

    def __init__(self, database: LabDatabase) -> None:
        self._database = database
        self._used: dict[str, int] = {}

    def create(
        self,
        account: str,
        name: str,
        actor: Actor,
        *,
        project: str = "",
        read_only: bool = False,
        days: int = 90,
    ) -> TokenRow:
        """Make a token; its text, `ak_...`, is in this row only.

        Raises `BadValue`, `UnknownProject` (also where the account has no role).
        """
        if not 1 <= days <= _MOST:
            raise BadValue("days", f"Give 1 to {_MOST} days.")
        if not name.strip() or len(name) > _LENGTH or not name.isprintable():
            raise BadValue("name", f"Give a name of 1 to {_LENGTH} letters.")
        text = f"ak_{secrets.token_urlsafe(32)}"
        with self._database.change(actor) as step:
            own = queries.account_named(step.conn, account)
            if project:
                queries.check_member(step.conn, own, project)
            row = {
                "hash": digest(text),
                "begins": text[:8],
                "account": own.id,
                "name": name.strip(),
            }
            row |= {"project": project, "read_only": int(read_only)}
            row |= {"expires": step.now + days * _DAY}
            step.conn.execute(sa.insert(schema.token).values(row))
            after = {"token": row["begins"], "read_only": read_only, "days": days}
            step.log("token made", own.name, project=project, after=after)
            made = step.conn.execute(sa.select(schema.token).where(_TOKEN.hash == digest(text)))
            return _row(made.one(), text)

    def rows(self, account: str) -> list[TokenRow]:
        """Return the tokens of an account."""
        asked = sa.select(schema.token).join(schema.account).where(_ACCOUNT.name == account)
        with self._database.reading() as conn:
            return [_row(row) for row in conn.execute(asked.order_by(_TOKEN.expires))]

    def withdraw(self, account: str, id: str, actor: Actor) -> None:
        """Make a token invalid; one that is gone is no error."""
        with self._database.change(actor) as step:
            own = queries.account_named(step.conn, account)
            mine = _TOKEN.account == own.id, queries.id_fits(_TOKEN.hash, id)
            if begins := step.conn.scalar(sa.select(_TOKEN.begins).where(*mine)):
                step.conn.execute(sa.delete(schema.token).where(*mine))
                step.log("token withdrawn", own.name, before={"token": begins})

    def visitor(self, bearer: str) -> TokenVisitor | None:
        """Return the token of a request; None if it is not valid (any more)."""
        hash, now = digest(bearer), self._database.now()
        valid = _TOKEN.hash == hash, _TOKEN.expires > now, _ACCOUNT.state == OPEN
        columns = _ACCOUNT.name, _ACCOUNT.rank, _ACCOUNT.may_create
        asked = sa.select(*columns, _TOKEN.project, _TOKEN.read_only).select_from(schema.token)
        with self._database.reading() as conn:
            row = conn.execute(asked.join(schema.account).where(*valid)).first()
        if row is None:
            return None
        self._used[hash] = now
        name, rank, may_create, project, read_only = row
        return TokenVisitor(public_id(hash), name, rank, bool(may_create), project, bool(read_only))

    def tidy(self) -> None:
        """Write when tokens were used; forget those that have expired."""
        used, self._used = self._used, {}
        with self._database.writing() as conn:
            for hash, at in list(used.items()):
                mine = sa.update(schema.token).where(_TOKEN.hash == hash)
                conn.execute(mine.values(used=at))
            old = _TOKEN.expires < self._database.now() - 30 * _DAY
            conn.execute(sa.delete(schema.token).where(old))


def _row(row: sa.Row[Any], text: str = "") -> TokenRow:
    return TokenRow(
        public_id(row.hash),
        row.name,
        row.begins,
        row.project,
        bool(row.read_only),
        timestamp(row.expires),
        timestamp(row.used),
        text,
    )
