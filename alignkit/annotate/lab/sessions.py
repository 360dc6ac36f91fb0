"""Sessions: signing in, and who sends a request."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import sqlalchemy as sa

from alignkit.annotate.lab import queries, schema, values
from alignkit.annotate.lab.audit import LabDatabase, LabStep
from alignkit.annotate.lab.bodies import SessionRow
from alignkit.annotate.lab.passwords import PasswordCheck
from alignkit.annotate.lab.values import DAY, Actor, Ended, LabSession, NewSession, digest

LASTS = 30 * DAY
"""The longest time of a session in seconds."""
_UNUSED = 7 * DAY
_PROVED = 600  # seconds for which a password holds for what matters
_FORGOTTEN = 90 * DAY
_SESSION, _ACCOUNT = schema.session.c, schema.account.c


@dataclass
class _Known:
    """A session in memory; `written` is the time of its last use in the database."""

    session: LabSession
    csrf: str
    made: int
    seen: int
    written: int
    ended: Ended | None

    def ends(self, now: int) -> Ended | None:
        """Return how the session ended; None while it lasts."""
        last = min(self.made + LASTS, self.seen + _UNUSED)
        if self.ended is None and now > last:
            self.ended = Ended(self.session.account, "expired", values.timestamp(last))
        return self.ended


class LabSessions:
    """The sessions of a lab: in the database, and all in memory, for there is one server."""

    def __init__(self, database: LabDatabase, check: PasswordCheck) -> None:
        self._database, self._check = database, check
        self._known: dict[str, _Known] = {}
        with database.reading() as conn:
            self._take(_rows(conn))

    def _take(self, rows: Sequence[sa.Row[Any]]) -> None:
        for row in rows:
            session = LabSession(
                values.public_id(row.hash), row.name, row.rank, row.may_create, row.proved
            )
            seen = max(row.seen, self._known[row.hash].seen if row.hash in self._known else 0)
            ended = Ended(row.name, row.why, values.timestamp(row.ended)) if row.ended else None
            known = _Known(session, row.csrf, row.made, seen, row.seen, ended)
            self._known[row.hash] = known

    def refresh(self, step: LabStep, which: sa.ColumnElement[bool]) -> None:
        """Keep sessions in memory as they are now in the transaction, once it has ended."""
        step.after.append(partial(self._take, _rows(step.conn, which)))

    def _lasting(self, cookie: str) -> _Known | None:
        known = self._known.get(digest(cookie))
        return None if known is None or known.ends(self._database.now()) else known

    def sign_in(
        self, name: str, password: str, *, address: str, agent: str = "", taking_over: str = ""
    ) -> NewSession:
        """Start a session; the one with the cookie `taking_over` ends.

        Raises `WrongPassword` (the same for unknown and closed names), `TooManyTries`, `Busy`.
        """
        known, other = self._check.verify(name, password, address), self._lasting(taking_over)
        with self._database.change(Actor(known.name, address=address)) as step:
            account = queries.still_open(step.conn, known)
            if other is not None:
                who, why = other.session.account, f"taken over by {account.name}"
                why = "signed in again" if who == account.name else why
                self.close(step, _SESSION.hash == digest(taking_over), why, who)
            return self.start(step, account.id, agent)

    def start(self, step: LabStep, account: int, agent: str) -> NewSession:
        """Start a session for the actor, who has just given the password."""
        cookie, csrf = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        row = {"hash": digest(cookie), "csrf": digest(csrf), "account": account, "why": ""}
        row |= {"address": step.actor.address, "agent": agent[:300]}
        row |= dict.fromkeys(("made", "seen", "proved"), step.now)
        step.insert(schema.session, **row)
        step.update(schema.account, _ACCOUNT.id == account, seen=step.now)
        step.log("signed in")
        self.refresh(step, _SESSION.hash == digest(cookie))
        return NewSession(cookie, csrf, step.actor.name)

    def close(self, step: LabStep, which: sa.ColumnElement[bool], why: str, name: str) -> int:
        """End sessions of an account in a transaction; return how many."""
        lasting = _SESSION.ended.is_(None)
        if count := step.update(schema.session, which, lasting, ended=step.now, why=why):
            step.log("session ended", name, after={"why": why, "sessions": count})
            self.refresh(step, which)
        return count

    def visitor(self, cookie: str) -> LabSession | Ended | None:
        """Return the session with this cookie; a matter of microseconds."""
        known, now = self._known.get(digest(cookie)), self._database.now()
        if known is None:
            return None
        if (ended := known.ends(now)) is None:
            known.seen = now
        return ended or known.session

    def fits(self, cookie: str, csrf: str) -> bool:
        """Return whether two secrets belong to one session."""
        known = self._known.get(digest(cookie))
        return hmac.compare_digest(known.csrf if known else "", digest(csrf))

    def prove(self, cookie: str, password: str, *, address: str) -> None:
        """Note that the person of a session gave the password again; raises like `sign_in`."""
        if (known := self._lasting(cookie)) is None:
            raise values.WrongPassword
        account = self._check.verify(known.session.account, password, address)
        with self._database.change(Actor(account.name, address=address)) as step:
            mine = _SESSION.hash == digest(cookie)
            step.update(schema.session, mine, proved=step.now)
            step.log("password given again")
            self.refresh(step, mine)

    def proved_lately(self, session: LabSession) -> bool:
        """Return whether the password was given in the last 10 minutes."""
        return self._database.now() - session.proved <= _PROVED

    def rows(self, name: str, cookie: str = "") -> list[SessionRow]:
        """Return the sessions of an account; that of the cookie is the current one."""
        with self._database.reading() as conn:
            rows = _rows(conn, _ACCOUNT.name == name, _SESSION.ended.is_(None))
        own, now, listed = digest(cookie), self._database.now(), []
        for row in rows:
            known = self._known.get(row.hash)
            if known is not None and not known.ends(now):
                times = values.timestamp(row.made), values.timestamp(known.seen)
                device = row.agent, row.address
                listed.append(
                    SessionRow(values.public_id(row.hash), *device, *times, row.hash == own)
                )
        return listed

    def sign_out(self, cookie: str, *, address: str = "") -> None:
        """End the session with this cookie."""
        if (known := self._lasting(cookie)) is not None:
            name = known.session.account
            with self._database.change(Actor(name, address=address)) as step:
                self.close(step, _SESSION.hash == digest(cookie), "signed out", name)

    def end(self, name: str, actor: Actor, *, id: str = "", keep: str = "") -> int:
        """End a session of an account, or all but that of the cookie `keep`; return how many.

        Raises `NotAllowed` if the actor is somebody else who may not; see `queries.may_manage`.
        """
        with self._database.change(actor) as step:
            account, why = queries.account_named(step.conn, name), "signed out elsewhere"
            if actor.name != account.name:
                queries.check_manager(step.conn, actor, account)
                why = f"signed out by {actor.name}"
            which = queries.id_fits(_SESSION, id) if id else _SESSION.hash != digest(keep)
            mine = sa.and_(_SESSION.account == account.id, which)
            return self.close(step, mine, why, account.name)

    def tidy(self) -> None:
        """Write when sessions were used; forget those of long ago."""
        with self._database.change() as step:
            for hash, known in list(self._known.items()):
                if known.seen > known.written:
                    mine = _ACCOUNT.name == known.session.account, _ACCOUNT.seen < known.seen
                    step.update(schema.account, *mine, seen=known.seen)
                    step.update(schema.session, _SESSION.hash == hash, seen=known.seen)
                    known.written = known.seen
                if known.seen < step.now - _FORGOTTEN:
                    step.delete(schema.session, _SESSION.hash == hash)
                    del self._known[hash]


def _rows(conn: sa.Connection, *which: sa.ColumnElement[bool]) -> Sequence[sa.Row[Any]]:
    asked = sa.select(schema.session, _ACCOUNT.name, _ACCOUNT.rank, _ACCOUNT.may_create)
    return conn.execute(asked.join(schema.account).where(*which)).all()
