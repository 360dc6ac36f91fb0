"""Sessions of people: who sends a request, by the secrets of a cookie and of a header."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from functools import partial
from typing import Any

import sqlalchemy as sa

from alignkit.annotate.lab import bodies, passwords, schema, values
from alignkit.annotate.lab.steps import LabDatabase, LabStep, id_fits
from alignkit.annotate.lab.values import DAY, Actor, Ended, LabError, LabSession, NewSession, digest
from alignkit.annotate.project.engines import Condition

LASTS = 30 * DAY
"""The longest time of a session in seconds."""
_UNUSED = 7 * DAY  # seconds without use, after which a session ends
_FORGOTTEN = 90 * DAY  # seconds after its last use until a session is forgotten
_PROVED = 600  # seconds for which a password holds for what matters
_SESSIONS = 50  # of an account
_SESSION = schema.session.c
_ACCOUNT = schema.account.c
_PERSON = _ACCOUNT.name, _ACCOUNT.rank, _ACCOUNT.may_create
_SELECT_SESSIONS = sa.select(schema.session, *_PERSON).join(schema.account)


class _Known:
    """A session in memory; `written` is the time of its last use in the database."""

    def __init__(self, row: Any, seen: int) -> None:
        self.row = row
        self.seen = max(row.seen, seen)
        self.written = row.seen
        self.session = LabSession(
            id=values.public_id(row.hash),
            account=row.name,
            rank=row.rank,
            may_create=row.may_create,
            proved=row.proved,
        )

    def ended(self, now: int) -> Ended | None:
        """Return how the session ended; None while it lasts."""
        if self.row.ended:
            return Ended(self.row.why)
        if now > min(self.row.made + LASTS, self.seen + _UNUSED):
            return Ended("expired")
        return None


class LabSessions:
    """The sessions of a lab: in the database, and all in memory, for there is one server."""

    def __init__(self, database: LabDatabase) -> None:
        self._database = database
        self._known: dict[str, _Known] = {}
        with database.reading() as step:
            self._take(step.ask(_SELECT_SESSIONS).all())

    def _take(self, rows: Sequence[Any]) -> None:
        """Keep sessions in memory; their last use is at least that of before."""
        for row in rows:
            before = self._known.get(row.hash)
            self._known[row.hash] = _Known(row, before.seen if before else 0)

    def refresh(self, step: LabStep, *which: Condition) -> None:
        """Keep sessions in memory as they are now in the transaction, once it has ended."""
        rows = step.ask(_SELECT_SESSIONS, *which).all()
        step.after.append(partial(self._take, rows))

    def _lasting(self, cookie: str) -> _Known | None:
        """Return the session with this cookie, if it has not ended."""
        known = self._known.get(digest(cookie))
        if known is None or known.ended(self._database.now()):
            return None
        return known

    def sign_in(
        self, name: str, password: str, *, address: str, agent: str = "", taking_over: str = ""
    ) -> NewSession:
        """Start a session; the one with the cookie `taking_over` ends."""
        known = passwords.verify(self._database, name, password, address)
        other = self._lasting(taking_over)
        with self._database.change(Actor(known.name, address=address)) as step:
            account = step.still_open(known)
            if other is not None:
                owner = step.account(other.row.name)
                if other.row.name == account.name:
                    why = "signed in again"
                else:
                    why = f"taken over by {account.name}"
                self.close(step, owner, why, _SESSION.hash == other.row.hash)
            return self.start(step, account.id, agent)

    def start(self, step: LabStep, account: int, agent: str) -> NewSession:
        """Start a session for the actor, who has just given the password."""
        too_old = (
            sa.select(_SESSION.hash)
            .where(_SESSION.account == account, _SESSION.ended.is_(None))
            .order_by(_SESSION.made.desc())
            .offset(_SESSIONS - 1)  # the newest stay; with the new session they are `_SESSIONS`
        )
        hashes = step.ask(too_old).scalars().all()
        if hashes:
            owner = step.account(step.actor.name)
            self.close(step, owner, "signed in too often", _SESSION.hash.in_(hashes))
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

    def close(self, step: LabStep, account: Any, why: str, *which: Condition) -> int:
        """End sessions of an account in a transaction; return how many."""
        chosen = sa.and_(_SESSION.account == account.id, *which)
        lasts = _SESSION.ended.is_(None)
        count = step.update(schema.session, chosen, lasts, ended=step.now, why=why)
        if count:
            step.log("session ended", account.name, after={"why": why, "sessions": count})
            self.refresh(step, chosen)
        return count

    def visitor(self, cookie: str) -> LabSession | Ended | None:
        """Return the session with this cookie; a matter of microseconds."""
        known = self._known.get(digest(cookie))
        if known is None:
            return None
        now = self._database.now()
        ended = known.ended(now)
        if ended is not None:
            return ended
        known.seen = now
        return known.session

    def fits(self, cookie: str, csrf: str) -> bool:
        """Return whether two secrets belong to one session."""
        known = self._known.get(digest(cookie))
        return hmac.compare_digest(known.row.csrf if known else "", digest(csrf))

    def prove(self, cookie: str, password: str, *, address: str) -> None:
        """Note that the person of a session gave the password again."""
        known = self._lasting(cookie)
        if known is None:
            raise LabError(*values.WRONG)
        account = passwords.verify(self._database, known.row.name, password, address)
        with self._database.change(Actor(account.name, address=address)) as step:
            is_session = _SESSION.hash == known.row.hash
            step.update(schema.session, is_session, proved=step.now)
            step.log("password given again")
            self.refresh(step, is_session)

    def proved_lately(self, session: LabSession) -> bool:
        """Return whether the password was given in the last 10 minutes, or it is a token."""
        if session.proved is None:  # a token: it has no password to give again
            return True
        return self._database.now() - session.proved <= _PROVED

    def rows(self, name: str, cookie: str = "") -> list[bodies.SessionRow]:
        """Return the sessions of an account; that of the cookie is the current one."""
        now = self._database.now()
        current = digest(cookie)
        rows = []
        for hash, known in list(self._known.items()):
            if known.row.name == name and not known.ended(now):
                row = bodies.SessionRow(
                    id=known.session.id,
                    device=known.row.agent,
                    address=known.row.address,
                    made=values.timestamp(known.row.made),
                    seen=values.timestamp(known.seen),
                    current=hash == current,
                )
                rows.append(row)
        return rows

    def sign_out(self, cookie: str, *, address: str = "") -> None:
        """End the session with this cookie."""
        known = self._lasting(cookie)
        if known is None:
            return
        with self._database.change(Actor(known.row.name, address=address)) as step:
            account = step.account(known.row.name)
            self.close(step, account, "signed out", _SESSION.hash == known.row.hash)

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
            else:  # no session has the hash of an empty cookie: without `keep`, all end
                which = _SESSION.hash != digest(keep)
            return self.close(step, account, why, which)

    def tidy(self, step: LabStep) -> None:
        """Write when sessions were used; forget those of long ago."""
        for hash, known in list(self._known.items()):
            is_session = _SESSION.hash == hash
            if known.seen > known.written:
                is_account = _ACCOUNT.id == known.row.account
                is_earlier = _ACCOUNT.seen < known.seen  # not if another session was used later
                step.update(schema.account, is_account, is_earlier, seen=known.seen)
                step.update(schema.session, is_session, seen=known.seen)
                known.written = known.seen
            if known.seen < step.now - _FORGOTTEN:
                step.delete(schema.session, is_session)
                del self._known[hash]
