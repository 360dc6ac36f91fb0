"""What the server needs beside the log: who has entered, and which suggestions are wanted.

It is no part of the work: a project that is rebuilt from its log does without.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Sequence

from msgspec import json
from sqlalchemy import (
    Column,
    Connection,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    delete,
    insert,
    inspect,
    select,
)

from alignkit.annotate.errors import DamagedProject
from alignkit.annotate.log.project_events import Suggestion
from alignkit.annotate.names import ANNOTATOR, Visitor
from alignkit.annotate.server.job import Plan
from alignkit.annotate.tables import queries
from alignkit.annotate.tables.checking import wrong_value
from alignkit.annotate.tables.database import Database
from alignkit.annotate.tables.suggesting import opened
from alignkit.annotate.tables.upgrading import add_missing

_METADATA = MetaData()
_SESSIONS = Table(
    "session",
    _METADATA,
    Column("hash", String(64), primary_key=True),
    Column("second", String(64), nullable=False),
    Column("annotator", Text, nullable=False),
    Column("since", Integer, nullable=False),
    Column("role", String(16), nullable=False, server_default=ANNOTATOR),
)
_PLANS = Table("plan", _METADATA, Column("plan", Text, nullable=False))
LASTS = 30 * 24 * 3600
"""How long somebody who has entered is known, in seconds."""


class Desk:
    """Know the sessions of a project, of which only hashes are kept, and its plan."""

    def __init__(self, database: Database) -> None:
        self._database = database
        table = _SESSIONS.c
        with database.writing() as conn:
            _drop_halves(conn)
            add_missing(conn, _METADATA)
            if fault := wrong_value(conn, _METADATA.sorted_tables):
                raise DamagedProject(database.path, fault)
            conn.execute(delete(_SESSIONS).where(table.since < time.time() - LASTS))
            rows = conn.execute(select(table.hash, table.annotator, table.role, table.second)).all()
        self._sessions = {row[0]: (Visitor(row[1], row[2]), row[3]) for row in rows}

    def admit(self, visitor: Visitor) -> tuple[str, str]:
        """Begin a session; return its two secrets, for the cookie and for the header."""
        cookie, second = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        row = {"hash": _hash(cookie), "second": _hash(second)}
        row |= {"annotator": visitor.name, "role": visitor.role}
        with self._database.writing() as conn:
            conn.execute(insert(_SESSIONS).values(**row, since=int(time.time())))
        self._sessions[_hash(cookie)] = visitor, _hash(second)
        return cookie, second

    def visitor(self, cookie: str) -> Visitor | None:
        """Return whose session a cookie belongs to."""
        known = self._sessions.get(_hash(cookie))
        return None if known is None else known[0]

    def fits(self, cookie: str, second: str) -> bool:
        """Return whether two secrets are those of one session."""
        known = self._sessions.get(_hash(cookie))
        return hmac.compare_digest("" if known is None else known[1], _hash(second))

    def dismiss(self, cookie: str) -> None:
        """End a session."""
        self._sessions.pop(_hash(cookie), None)
        with self._database.writing() as conn:
            conn.execute(delete(_SESSIONS).where(_SESSIONS.c.hash == _hash(cookie)))

    @property
    def plan(self) -> Plan | None:
        """Where suggestions come from; None where nobody said."""
        with self._database.reading() as conn:
            text = conn.execute(select(_PLANS.c.plan)).scalar()
            return None if text is None else json.decode(text, type=Plan)

    @plan.setter
    def plan(self, plan: Plan) -> None:
        with self._database.writing() as conn:
            conn.execute(delete(_PLANS))
            conn.execute(insert(_PLANS).values(plan=json.encode(plan).decode()))

    def opened(self, some: Sequence[int] | None = None) -> set[int]:
        """Return the pairs, or which of some, that any page has opened."""
        with self._database.reading() as conn:
            return opened(conn, some)

    def suggested(self) -> dict[int, list[Suggestion]]:
        """Return the suggestions that opened pairs show."""
        with self._database.reading() as conn:
            closed = opened(conn)
            found = queries.suggested_cells(conn).items()
            return {k: cells for k, (_, cells) in found if k in closed}


def _drop_halves(conn: Connection) -> None:
    """Drop sessions of earlier versions, which had one secret."""
    known = inspect(conn)
    if known.has_table(_SESSIONS.name):
        columns = {column["name"] for column in known.get_columns(_SESSIONS.name)}
        if _SESSIONS.c.second.name not in columns:
            _SESSIONS.drop(conn)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
