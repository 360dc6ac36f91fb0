"""The seal of a backup: how many events its log had when it was made, and a digest of them.

Without it, a backup whose last events are missing would look like an older one. The number is
compared whenever the file is opened, the digest whenever its log is checked. Work that goes on in
the file adds events after the sealed ones; only renaming an annotator changes those, and breaks the
seal. Projects that are no backups, and those in PostgreSQL, have none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import sqlalchemy as sa

from alignkit._support.wording import how_many
from alignkit.annotate.project.events import LogEvent, encode
from alignkit.annotate.project.names import ProjectError

TABLE = "backup"
DROP_SEAL = f"DROP TABLE IF EXISTS {TABLE}"
_IS_SEALED = f"SELECT name FROM sqlite_master WHERE type = 'table' AND name = '{TABLE}'"
_CREATE = f"CREATE TABLE {TABLE} (events INTEGER NOT NULL, digest TEXT NOT NULL)"
_INSERT = f"INSERT INTO {TABLE} VALUES (?, ?)"
_READ = f"SELECT events, digest FROM {TABLE}"


class Seal(NamedTuple):
    """The number of events of a log, and the SHA-256 of these events, in order."""

    events: int
    digest: str


def seal_of(log: Iterable[LogEvent]) -> Seal:
    """Return the seal of a log."""
    digest = hashlib.sha256()
    count = 0
    for event in log:
        digest.update(encode(event) + b"\n")
        count += 1
    return Seal(count, digest.hexdigest())


def write_seal(conn: sa.Connection, seal: Seal) -> None:
    """Write a seal into a backup that has none."""
    conn.exec_driver_sql(_CREATE)
    conn.exec_driver_sql(_INSERT, tuple(seal))


def read_seal(conn: sa.Connection) -> Seal | None:
    """Return the seal of a project's file; None if it is no backup."""
    if conn.dialect.name != "sqlite" or conn.exec_driver_sql(_IS_SEALED).first() is None:
        return None
    events, digest = conn.exec_driver_sql(_READ).first() or (None, None)
    if not isinstance(events, int) or not isinstance(digest, str):
        raise ProjectError("what this backup says of its own log is damaged; use another copy")
    return Seal(events, digest)


def break_seal(conn: sa.Connection) -> None:
    """Remove the seal of a file, if it has one."""
    if conn.dialect.name == "sqlite":
        conn.exec_driver_sql(DROP_SEAL)


def missing_events(seal: Seal | None, last: int) -> str:
    """Return what is missing of a backup whose last event has this number; empty if nothing is."""
    if seal is None or last >= seal.events:
        return ""
    missing = seal.events - last
    events = how_many(missing, "event", commas=True)
    verb = "is" if missing == 1 else "are"
    return (
        f"the last {events} of this backup {verb} missing: it was made with "
        f"{seal.events:,} and has {last:,}"
    )


def broken_seal(seal: Seal | None, log: Iterable[LogEvent]) -> str:
    """Return how the log of a backup differs from the one that was sealed; empty if it does not."""
    if seal is None:
        return ""
    now = seal_of(islice(log, seal.events))
    if now == seal:
        return ""
    return missing_events(seal, now.events) or (
        f"the first {seal.events:,} events are not those with which this backup was made"
    )
