"""Sessions: signing in, and who sends a request."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import sqlalchemy as sa

from alignkit.annotate.lab import queries, schema
from alignkit.annotate.lab.bodies import SessionRow
from alignkit.annotate.lab.database import LabDatabase, LabStep
from alignkit.annotate.lab.passwords import PasswordCheck
from alignkit.annotate.lab.values import (
    OPEN,
    Actor,
    Ended,
    LabSession,
    NewSession,
    WrongPassword,
    digest,
    public_id,
    timestamp,
)

LASTS = 30 * 24 * 3600
"""The longest time of a session in seconds."""
UNUSED = 7 * 24 * 3600
"""The longest time without use in seconds."""
PROVED = 600
"""The time in seconds for which a password holds for what matters."""
_FORGOTTEN = 90 * 24 * 3600
_SESSION, _ACCOUNT = schema.session.c, schema.account.c


@dataclass
class _Known:
    """A session in memory; `written` is the time of the last use in the database."""

    session: LabSession
    csrf: str
    made: int
    seen: int
    written: int
    ended: Ended | None

    def ends(self, now: int) -> Ended | None:
        """Return how the session ended; None while it lasts."""
        last = min(self.made + LASTS, self.seen + UNUSED)
        if self.ended is None and now > last:
            self.ended = Ended(self.session.account, "expired", timestamp(last))
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
            old = self._known.get(row.hash)
            self._known[row.hash] = _Known(
                LabSession(
                    public_id(row.hash), row.name, row.rank, bool(row.may_create), row.proved
                ),
                row.csrf,
                row.made,
                max(row.seen, old.seen if old else 0),
                row.seen,
                Ended(row.name, row.why, timestamp(row.ended)) if row.ended else None,
            )

    def refresh(self, step: LabStep, which: sa.ColumnElement[bool]) -> None:
        """Keep sessions in memory as they are now in the transaction, once it has ended."""
        step.after.append(partial(self._take, _rows(step.conn, which)))

    def sign_in(
        self, name: str, password: str, *, address: str, agent: str = "", taking_over: str = ""
    ) -> NewSession:
        """Start a session; the one with the cookie `taking_over` ends.

        Raises `WrongPassword` (the same for unknown and closed names), `TooManyTries`, `Busy`.
        """
        account = self._check.verify(name, password, address)
        with self._database.change(Actor(account.name, address=address)) as step:
            now = queries.account_named(step.conn, account.name)
            if (now.state, now.password) != (OPEN, account.password):  # changed meanwhile
                raise WrongPassword
            other = self._known.get(digest(taking_over))
            if other is not None and other.ends(step.now) is None:
                who = other.session.account
                again = who == account.name
                why = "signed in again" if again else f"taken over by {account.name}"
                self.close(step, _SESSION.hash == digest(taking_over), why, who)
            return self.start(step, account.id, agent)

    def start(self, step: LabStep, account: int, agent: str) -> NewSession:
        """Start a session for the actor, who has just given the password."""
        cookie, csrf = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        row = {
            "hash": digest(cookie),
            "csrf": digest(csrf),
            "account": account,
            "agent": agent[:300],
        }
        row |= dict.fromkeys(("made", "seen", "proved"), step.now)
        row |= {"address": step.actor.address, "why": ""}
        step.conn.execute(sa.insert(schema.session).values(row))
        seen = sa.update(schema.account).where(_ACCOUNT.id == account)
        step.conn.execute(seen.values(seen=step.now))
        step.log("signed in")
        self.refresh(step, _SESSION.hash == row["hash"])
        return NewSession(cookie, csrf, step.actor.name)

    def close(self, step: LabStep, which: sa.ColumnElement[bool], why: str, name: str) -> int:
        """End sessions of an account in a transaction; return how many."""
        ended = sa.update(schema.session).where(which, _SESSION.ended.is_(None))
        count = step.conn.execute(ended.values(ended=step.now, why=why)).rowcount
        if count:
            step.log("session ended", name, after={"why": why, "sessions": count})
        self.refresh(step, which)
        return count

    def close_all(self, step: LabStep, account: sa.Row[Any], why: str, keep: str = "") -> int:
        """End all sessions of an account but that of a cookie."""
        which = sa.and_(_SESSION.account == account.id, _SESSION.hash != digest(keep))
        return self.close(step, which, why, account.name)

    def visitor(self, cookie: str) -> LabSession | Ended | None:
        """Return the session with this cookie; a matter of microseconds."""
        known = self._known.get(digest(cookie))
        if known is None:
            return None
        now = self._database.now()
        ended = known.ends(now)
        if ended is None:
            known.seen = now
        return ended or known.session

    def fits(self, cookie: str, csrf: str) -> bool:
        """Return whether two secrets belong to one session."""
        known = self._known.get(digest(cookie))
        return hmac.compare_digest(known.csrf if known else "", digest(csrf))

    def prove(self, cookie: str, password: str, *, address: str) -> None:
        """Note that the person of a session gave the password again; raises like `sign_in`."""
        known = self._known.get(digest(cookie))
        if known is None or known.ends(self._database.now()):
            raise WrongPassword
        account = self._check.verify(known.session.account, password, address)
        with self._database.change(Actor(account.name, address=address)) as step:
            mine = _SESSION.hash == digest(cookie)
            step.conn.execute(sa.update(schema.session).where(mine).values(proved=step.now))
            step.log("password given again")
            self.refresh(step, mine)

    def proved_lately(self, session: LabSession) -> bool:
        """Return whether the password was given in the last 10 minutes."""
        return self._database.now() - session.proved <= PROVED

    def rows(self, name: str, cookie: str = "") -> list[SessionRow]:
        """Return the sessions of an account; that of the cookie is the current one."""
        with self._database.reading() as conn:
            mine = _ACCOUNT.name == name, _SESSION.ended.is_(None)
            asked = sa.select(schema.session).join(schema.account).where(*mine)
            rows = conn.execute(asked.order_by(_SESSION.made.desc())).all()
        now, own = self._database.now(), digest(cookie)
        return [
            SessionRow(
                public_id(row.hash),
                row.agent,
                row.address,
                timestamp(row.made),
                timestamp(known.seen),
                row.hash == own,
            )
            for row in rows
            if (known := self._known.get(row.hash)) and known.ends(now) is None
        ]

    def sign_out(self, cookie: str, *, address: str = "") -> None:
        """End the session with this cookie."""
        if (known := self._known.get(digest(cookie))) is not None:
            name = known.session.account
            with self._database.change(Actor(name, address=address)) as step:
                self.close(step, _SESSION.hash == digest(cookie), "signed out", name)

    def end(self, name: str, actor: Actor, *, id: str = "", keep: str = "") -> int:
        """End a session of an account, or all but that of the cookie `keep`; return how many.

        Raises `NotAllowed` if the actor is somebody else who may not; see `Accounts.may_manage`.
        """
        with self._database.change(actor) as step:
            account = queries.account_named(step.conn, name)
            why = "signed out elsewhere"
            if actor.name != account.name:
                queries.check_manager(step.conn, actor, account)
                why = f"signed out by {actor.name}"
            if not id:
                return self.close_all(step, account, why, keep)
            which = queries.id_fits(_SESSION.hash, id), _SESSION.account == account.id
            return self.close(step, sa.and_(*which), why, account.name)

    def tidy(self) -> None:
        """Write when sessions were used; forget those of long ago."""
        used = [(hash, x) for hash, x in list(self._known.items()) if x.seen > x.written]
        with self._database.writing() as conn:
            for hash, known in used:
                seen = {"seen": known.seen}
                conn.execute(sa.update(schema.session).where(_SESSION.hash == hash).values(seen))
                mine = _ACCOUNT.name == known.session.account, _ACCOUNT.seen < known.seen
                conn.execute(sa.update(schema.account).where(*mine).values(seen))
                known.written = known.seen
            old = _SESSION.seen < self._database.now() - _FORGOTTEN
            forgotten = conn.scalars(sa.select(_SESSION.hash).where(old)).all()
            conn.execute(sa.delete(schema.session).where(old))
            for hash in forgotten:
                self._known.pop(hash, None)


def _rows(conn: sa.Connection, *where: sa.ColumnElement[bool]) -> Sequence[sa.Row[Any]]:
    asked = sa.select(schema.session, _ACCOUNT.name, _ACCOUNT.rank, _ACCOUNT.may_create)
    return conn.execute(asked.join(schema.account).where(*where)).all()
