"""Who sends a request: sessions, and the tokens of programs."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from functools import partial
from typing import Any

import sqlalchemy as sa

from alignkit.annotate.lab import schema, values
from alignkit.annotate.lab.audit import LabDatabase, LabStep, id_fits
from alignkit.annotate.lab.bodies import SessionRow, TokenRow
from alignkit.annotate.lab.passwords import verify
from alignkit.annotate.lab.values import DAY, Actor, Ended, LabError, LabSession, NewSession, digest

LASTS = 30 * DAY
"""The longest time of a session in seconds."""
_UNUSED = 7 * DAY
_FORGOTTEN = 90 * DAY
_PROVED = 600  # seconds for which a password holds for what matters
_MOST = 365  # days of a token
_SESSIONS = _TOKENS = 50  # of an account
_SESSION = schema.session.c
_TOKEN = schema.token.c
_ACCOUNT = schema.account.c
_OWN = _ACCOUNT.name, _ACCOUNT.rank, _ACCOUNT.may_create
_ROWS = sa.select(schema.session, *_OWN).join(schema.account)
_VISITOR = sa.select(*_OWN, _TOKEN.project, _TOKEN.read_only).join_from(
    schema.token, schema.account
)


class _Known:
    """A session in memory; `written` is the time of its last use in the database."""

    def __init__(self, row: Any, seen: int) -> None:
        self.row, self.seen, self.written = row, max(row.seen, seen), row.seen
        known = row.name, row.rank, row.may_create, row.proved
        self.session = LabSession(values.public_id(row.hash), *known)

    def ended(self, now: int) -> Ended | None:
        """Return how the session ended; None while it lasts."""
        last = min(self.row.made + LASTS, self.seen + _UNUSED)
        if self.row.ended:
            why = self.row.why
        elif now > last:
            why = "expired"
        else:
            why = ""
        return Ended(self.row.name, why) if why else None


class LabSessions:
    """The sessions of a lab: in the database, and all in memory, for there is one server."""

    def __init__(self, database: LabDatabase) -> None:
        self._database = database
        self._known: dict[str, _Known] = {}
        with database.reading() as step:
            self._take(step.ask(_ROWS).all())

    def _take(self, rows: Sequence[Any]) -> None:
        for row in rows:
            before = self._known.get(row.hash)
            self._known[row.hash] = _Known(row, before.seen if before else 0)

    def refresh(self, step: LabStep, *which: sa.ColumnElement[bool]) -> None:
        """Keep sessions in memory as they are now in the transaction, once it has ended."""
        step.after.append(partial(self._take, step.ask(_ROWS, *which).all()))

    def _lasting(self, cookie: str) -> _Known | None:
        known = self._known.get(digest(cookie))
        if known is None or known.ended(self._database.now()):
            return None
        return known

    def sign_in(
        self, name: str, password: str, *, address: str, agent: str = "", taking_over: str = ""
    ) -> NewSession:
        """Start a session; the one with the cookie `taking_over` ends."""
        known = verify(self._database, name, password, address)
        other = self._lasting(taking_over)
        with self._database.change(Actor(known.name, address=address)) as step:
            account = step.still_open(known)
            if other is not None:
                own = other.row.name == account.name
                if own:
                    why = "signed in again"
                else:
                    why = f"taken over by {account.name}"
                self.close(step, step.account(other.row.name), why, _SESSION.hash == other.row.hash)
            return self.start(step, account.id, agent)

    def start(self, step: LabStep, account: int, agent: str) -> NewSession:
        """Start a session for the actor, who has just given the password."""
        mine = sa.select(_SESSION.hash).where(_SESSION.account == account, _SESSION.ended.is_(None))
        old = step.ask(mine.order_by(_SESSION.made.desc()).offset(_SESSIONS - 1)).scalars().all()
        if old:
            own = step.account(step.actor.name)
            self.close(step, own, "signed in too often", _SESSION.hash.in_(old))
        cookie = secrets.token_urlsafe(32)
        csrf = secrets.token_urlsafe(32)
        step.insert(
            schema.session,
            hash=digest(cookie),
            csrf=digest(csrf),
            account=account,
            why="",
            address=step.actor.address,
            agent=agent[:300],
            made=step.now,
            seen=step.now,
            proved=step.now,
        )
        step.update(schema.account, _ACCOUNT.id == account, seen=step.now)
        step.log("signed in")
        self.refresh(step, _SESSION.hash == digest(cookie))
        return NewSession(cookie, csrf, step.actor.name)

    def close(self, step: LabStep, account: Any, why: str, *which: sa.ColumnElement[bool]) -> int:
        """End sessions of an account in a transaction; return how many."""
        mine = _SESSION.account == account.id, *which
        new = {"ended": step.now, "why": why}
        if count := step.update(schema.session, *mine, _SESSION.ended.is_(None), **new):
            step.log("session ended", account.name, after={"why": why, "sessions": count})
            self.refresh(step, *mine)
        return count

    def visitor(self, cookie: str) -> LabSession | Ended | None:
        """Return the session with this cookie; a matter of microseconds."""
        known = self._known.get(digest(cookie))
        now = self._database.now()
        if known is None:
            return None
        if (ended := known.ended(now)) is None:
            known.seen = now
        return ended or known.session

    def fits(self, cookie: str, csrf: str) -> bool:
        """Return whether two secrets belong to one session."""
        known = self._known.get(digest(cookie))
        return hmac.compare_digest(known.row.csrf if known else "", digest(csrf))

    def prove(self, cookie: str, password: str, *, address: str) -> None:
        """Note that the person of a session gave the password again."""
        if (known := self._lasting(cookie)) is None:
            raise LabError(*values.WRONG)
        account = verify(self._database, known.row.name, password, address)
        with self._database.change(Actor(account.name, address=address)) as step:
            mine = _SESSION.hash == known.row.hash
            step.update(schema.session, mine, proved=step.now)
            step.log("password given again")
            self.refresh(step, mine)

    def proved_lately(self, session: LabSession) -> bool:
        """Return whether the password was given in the last 10 minutes, or it is a token."""
        return session.proved is None or self._database.now() - session.proved <= _PROVED

    def rows(self, name: str, cookie: str = "") -> list[SessionRow]:
        """Return the sessions of an account; that of the cookie is the current one."""
        now = self._database.now()
        rows = []
        for hash, known in list(self._known.items()):
            if known.row.name == name and not known.ended(now):
                times = values.timestamp(known.row.made), values.timestamp(known.seen)
                device = known.row.agent, known.row.address
                rows.append(SessionRow(known.session.id, *device, *times, hash == digest(cookie)))
        return rows

    def sign_out(self, cookie: str, *, address: str = "") -> None:
        """End the session with this cookie."""
        if (known := self._lasting(cookie)) is not None:
            with self._database.change(Actor(known.row.name, address=address)) as step:
                mine = _SESSION.hash == known.row.hash
                self.close(step, step.account(known.row.name), "signed out", mine)

    def end(self, name: str, actor: Actor, *, id: str = "", keep: str = "") -> int:
        """End a session of an account, or all but that of the cookie `keep`; return how many."""
        with self._database.change(actor) as step:
            account = step.account(name)
            why = "signed out elsewhere"
            if actor.name != account.name:
                step.check_manager(account)
                why = f"signed out by {actor.name}"
            if id:
                which = id_fits(_SESSION, id)
            else:
                which = _SESSION.hash != digest(keep)
            return self.close(step, account, why, which)

    def tidy(self, step: LabStep) -> None:
        """Write when sessions were used; forget those of long ago."""
        for hash, known in list(self._known.items()):
            mine = _SESSION.hash == hash
            if known.seen > known.written:
                own = _ACCOUNT.id == known.row.account, _ACCOUNT.seen < known.seen
                step.update(schema.account, *own, seen=known.seen)
                step.update(schema.session, mine, seen=known.seen)
                known.written = known.seen
            if known.seen < step.now - _FORGOTTEN:
                step.delete(schema.session, mine)
                del self._known[hash]


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
        """Make a token; its text, `ak_...`, is in this row only."""
        if not 1 <= days <= _MOST:
            raise LabError(f"Give 1 to {_MOST} days.", "invalid", "days")
        name = values.checked_title(name)
        text = f"ak_{secrets.token_urlsafe(32)}"
        with self._database.change(actor) as step:
            own = step.account(account)
            if project:
                step.check_member(own, project)
            if len(step.ask(schema.token, _TOKEN.account == own.id).all()) >= _TOKENS:
                raise LabError(f"You have {_TOKENS} tokens. Withdraw one first.", "state")
            step.insert(
                schema.token,
                hash=digest(text),
                account=own.id,
                begins=text[:8],
                name=name,
                project=project,
                read_only=read_only,
                expires=step.now + days * DAY,
            )
            after = {"token": text[:8], "read_only": read_only, "days": days}
            step.log("token made", own.name, project=project, after=after)
            return _token(step.ask(schema.token, _TOKEN.hash == digest(text)).one(), text)

    def rows(self, account: str) -> list[TokenRow]:
        """Return the tokens of an account."""
        asked = sa.select(schema.token).join(schema.account).order_by(_TOKEN.expires)
        with self._database.reading() as step:
            return [_token(row) for row in step.ask(asked, _ACCOUNT.name == account)]

    def withdraw(self, account: str, id: str, actor: Actor) -> None:
        """Make a token invalid; one that is gone is no error."""
        with self._database.change(actor) as step:
            own = step.account(account)
            if step.delete(schema.token, _TOKEN.account == own.id, id_fits(_TOKEN, id)):
                step.log("token withdrawn", own.name, before=id)

    def visitor(self, bearer: str) -> LabSession | None:
        """Return the token of a request; None if it is not valid (any more)."""
        hash = digest(bearer)
        now = self._database.now()
        valid = _TOKEN.hash == hash, _TOKEN.expires > now, _ACCOUNT.state == values.OPEN
        with self._database.reading() as step:
            if (row := step.ask(_VISITOR, *valid).first()) is None:
                return None
        self._used[hash] = now
        name, rank, may_create, project, read_only = row
        known = values.public_id(hash), name, rank, may_create
        return LabSession(*known, None, project, read_only)

    def tidy(self, step: LabStep) -> None:
        """Write when tokens were used; forget those that have expired long ago."""
        used = self._used
        self._used = {}
        for hash, at in list(used.items()):
            step.update(schema.token, _TOKEN.hash == hash, used=at)
        step.delete(schema.token, _TOKEN.expires < step.now - 30 * DAY)


def _token(row: Any, text: str = "") -> TokenRow:
    known = row.name, row.begins, row.project, row.read_only
    times = values.timestamp(row.expires), values.timestamp(row.used)
    return TokenRow(values.public_id(row.hash), *known, *times, text)
