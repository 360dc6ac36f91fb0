"""The sessions of a server: who has entered, the plan for suggestions, and who may be let in.

They are not part of the work: a project rebuilt from its log has none.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time

import sqlalchemy as sa
from msgspec import json

from alignkit.annotate.project import names, pair_lists, queries, transactions
from alignkit.annotate.project.appending import enrolled, reopen_judged
from alignkit.annotate.project.database import wrong_value
from alignkit.annotate.project.engines import INTEGER, TEXT, not_null, primary, schema_of
from alignkit.annotate.project.project_events import Setting
from alignkit.annotate.project.schema import (
    ACCOUNT,
    ASSIGNMENT,
    EVENT,
    EVENT_IS_IN_STREAM,
    STREAM_IS_OF_ACCOUNT,
)
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.child import SuggestionPlan

_METADATA = sa.MetaData()
_SESSIONS = sa.Table(
    "session",
    _METADATA,
    primary("hash", TEXT),
    not_null("second", TEXT),
    not_null("annotator", TEXT),
    not_null("since", INTEGER),
    not_null("role", TEXT, server_default=names.ANNOTATOR),
)
_PLANS = sa.Table("plan", _METADATA, not_null("plan", TEXT))
LASTS = 30 * 24 * 3600  # the length of a session in seconds


class Sessions:
    """The sessions of a project, kept as hashes, and its plan for suggestions."""

    def __init__(self, database: transactions.Transactions) -> None:
        self._database = database
        table = _SESSIONS.c
        with database.writing() as conn:
            known = sa.inspect(conn)
            if not schema_of(conn) and known.has_table("session"):
                columns = {column["name"] for column in known.get_columns("session")}
                if columns != set(table.keys()):
                    _SESSIONS.drop(conn)  # sessions of earlier versions had one secret
            _METADATA.create_all(conn)
            if not schema_of(conn):
                fault = wrong_value(conn, _METADATA.sorted_tables)
                if fault:
                    raise names.DamagedProject(database.path, fault)
            conn.execute(sa.delete(_SESSIONS).where(table.since < time.time() - LASTS))
            rows = conn.execute(sa.select(_SESSIONS)).all()
        self._sessions: dict[str, tuple[names.Visitor, str]] = {}
        for row in rows:
            self._sessions[row.hash] = names.Visitor(row.annotator, row.role), row.second

    def admit(self, visitor: names.Visitor) -> tuple[str, str]:
        """Start a session; return its two secrets, for the cookie and for the header."""
        cookie = secrets.token_urlsafe(32)
        second = secrets.token_urlsafe(32)
        row = sa.insert(_SESSIONS).values(
            hash=_hash(cookie),
            second=_hash(second),
            annotator=visitor.name,
            since=int(time.time()),
            role=visitor.role,
        )
        with self._database.writing() as conn:
            conn.execute(row)
        self._sessions[_hash(cookie)] = visitor, _hash(second)
        return cookie, second

    def visitor(self, cookie: str) -> names.Visitor | None:
        """Return the visitor with this cookie."""
        known = self._sessions.get(_hash(cookie))
        if known is None:
            return None
        visitor, _ = known
        return visitor

    def fits(self, cookie: str, second: str) -> bool:
        """Return whether two secrets belong to one session."""
        hash = ""
        known = self._sessions.get(_hash(cookie))
        if known is not None:
            _, hash = known
        return hmac.compare_digest(hash, _hash(second))

    def dismiss(self, cookie: str) -> None:
        """End a session."""
        self._sessions.pop(_hash(cookie), None)
        with self._database.writing() as conn:
            conn.execute(sa.delete(_SESSIONS).where(_SESSIONS.c.hash == _hash(cookie)))

    @property
    def plan(self) -> SuggestionPlan | None:
        """The source of suggestions; None if it was never set."""
        with self._database.reading() as conn:
            text = conn.execute(sa.select(_PLANS.c.plan)).scalar()
            if text is None:
                return None
            return json.decode(text, type=SuggestionPlan)

    @plan.setter
    def plan(self, plan: SuggestionPlan) -> None:
        with self._database.writing() as conn:
            conn.execute(sa.delete(_PLANS))
            conn.execute(sa.insert(_PLANS).values(plan=json.encode(plan).decode()))


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def admit(store: Store, visitor: names.Visitor, gold: str = "", **rules: bool) -> None:
    """Let somebody in, and register the name of their work."""
    if visitor.role == names.ADJUDICATOR:
        names.check_name(visitor.name)
        wanted = check_adjudicator(store, visitor.name, gold)
        store.settings(
            Setting(gold=wanted, blind=rules.get("blind"), majority=rules.get("majority"))
        )
        store.enrol(wanted)
        return
    with store.writing() as conn:
        gold = "" if gold_status(conn) == "taken" else queries.gold_name(conn)
        names.check_annotator(visitor.name, gold, queries.sources(conn))
        account = enrolled(conn, visitor.name)
        if queries.has_assignments(conn) and not pair_lists.PairList(conn, account).count():
            known = queries.annotators(conn)
            rows = conn.execute(sa.select(ASSIGNMENT.account).distinct()).scalars()
            assigned = [known[account - 1] for account in sorted(rows)]
            raise names.ProjectError(names.not_assigned(visitor.name, assigned))


def check_adjudicator(store: Store, name: str, gold: str = "") -> str:
    """Return the name of the gold standard that an adjudicator may make."""
    with store.reading() as conn:
        names.check_adjudicable(queries.task_of(conn))
        known = queries.gold_name(conn)
        status = gold_status(conn)
        wanted = gold or known
        if wanted == known:
            taken = status == "taken"
        else:
            taken = wanted in queries.annotators(conn)
    if wanted != known and status == "begun":
        raise names.ProjectError(
            f"the decisions so far are under {known!r}; leave out --gold {gold}"
        )
    names.check_gold(wanted, name, taken=taken)
    return wanted


def change_task(store: Store, task: str) -> None:
    """Change the task of a project from now on: judged pairs are opened again to be aligned."""
    now = store.project().task
    if task in ("", now):
        return
    if "extract" in (task, now):
        raise names.ProjectError(
            f"{store.path}: is a project to {now}, not to {task}; make another (--project FILE)"
        )
    if now == "judge":
        with store.writing() as conn:
            reopen_judged(conn)
    store.settings(Setting(task=task))


def gold_status(conn: sa.Connection) -> str:
    """Return whether the name of the gold standard is free, begun, or taken by an annotator."""
    name = queries.gold_name(conn)
    actors = (
        sa.select(EVENT.actor)
        .where(EVENT_IS_IN_STREAM, STREAM_IS_OF_ACCOUNT, ACCOUNT.name == name)
        .limit(1)
    )
    if conn.execute(actors).first() is None:
        return "free"
    acted = actors.where(EVENT.actor.not_in(("", name)))
    return "taken" if conn.execute(acted).first() is None else "begun"
