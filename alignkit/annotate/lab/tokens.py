"""API tokens: secrets by which programs act for an account, with its rights or fewer."""

from __future__ import annotations

import secrets
from typing import Any

import sqlalchemy as sa

from alignkit.annotate.lab import bodies, schema, values
from alignkit.annotate.lab.steps import LabDatabase, LabStep, id_fits
from alignkit.annotate.lab.values import DAY, Actor, LabError, LabSession, digest

_TOKENS = 50  # of an account
_FORGOTTEN = 30 * DAY  # seconds after it expired until a token is forgotten
_TOKEN = schema.token.c
_ACCOUNT = schema.account.c
_SELECT_VISITOR = sa.select(
    _ACCOUNT.name, _ACCOUNT.rank, _ACCOUNT.may_create, _TOKEN.project, _TOKEN.read_only
).join_from(schema.token, schema.account)


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
    ) -> bodies.TokenRow:
        """Make a token; its text, `ak_...`, is in this row only."""
        name = values.checked_title(name)
        text = f"ak_{secrets.token_urlsafe(32)}"
        with self._database.change(actor) as step:
            owner = step.account(account)
            if project:
                step.check_member(owner, project)
            tokens = step.ask(schema.token, _TOKEN.account == owner.id).all()
            if len(tokens) >= _TOKENS:
                raise LabError(f"You have {_TOKENS} tokens. Withdraw one first.", "state")
            step.insert(
                schema.token,
                hash=digest(text),
                account=owner.id,
                begins=text[:8],
                name=name,
                project=project,
                read_only=read_only,
                expires=step.now + days * DAY,
            )
            after = {"token": text[:8], "read_only": read_only, "days": days}
            step.log("token made", owner.name, project=project, after=after)
            row = step.ask(schema.token, _TOKEN.hash == digest(text)).one()
            return _token_row(row, text)

    def rows(self, account: str) -> list[bodies.TokenRow]:
        """Return the tokens of an account."""
        tokens = sa.select(schema.token).join(schema.account).order_by(_TOKEN.expires)
        with self._database.reading() as step:
            return [_token_row(row) for row in step.ask(tokens, _ACCOUNT.name == account)]

    def withdraw(self, account: str, id: str, actor: Actor) -> None:
        """Make a token invalid; one that is gone is no error."""
        with self._database.change(actor) as step:
            owner = step.account(account)
            if step.delete(schema.token, _TOKEN.account == owner.id, id_fits(_TOKEN, id)):
                step.log("token withdrawn", owner.name, before=id)

    def visitor(self, bearer: str) -> LabSession | None:
        """Return the token of a request; None if it is not valid (any more)."""
        hash = digest(bearer)
        now = self._database.now()
        is_valid = sa.and_(_TOKEN.expires > now, _ACCOUNT.state == values.OPEN)
        with self._database.reading() as step:
            row = step.ask(_SELECT_VISITOR, _TOKEN.hash == hash, is_valid).first()
        if row is None:
            return None
        self._used[hash] = now
        return LabSession(
            id=values.public_id(hash),
            account=row.name,
            rank=row.rank,
            may_create=row.may_create,
            project=row.project,
            read_only=row.read_only,
        )

    def tidy(self, step: LabStep) -> None:
        """Write when tokens were used; forget those that have expired long ago."""
        used = self._used
        self._used = {}  # what is used from now on waits for the next time
        for hash, at in list(used.items()):
            step.update(schema.token, _TOKEN.hash == hash, used=at)
        step.delete(schema.token, _TOKEN.expires < step.now - _FORGOTTEN)


def _token_row(row: Any, text: str = "") -> bodies.TokenRow:
    """Return a row of the table of tokens for the page; only a new one has its text."""
    return bodies.TokenRow(
        id=values.public_id(row.hash),
        name=row.name,
        begins=row.begins,
        project=row.project,
        read_only=row.read_only,
        expires=values.timestamp(row.expires),
        used=values.timestamp(row.used),
        token=text,
    )
