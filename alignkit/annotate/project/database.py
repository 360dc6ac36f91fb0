"""Open the file of a project, an SQLite database: its pragmas, marks, checks and copies.

`first_fault`, `check_version` and `away_or_faulty` serve projects in PostgreSQL too (`places`).
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterable
from contextlib import ExitStack, closing, suppress
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.types import TypeEngine

from alignkit.annotate.project import engines, schema, seals, transactions
from alignkit.annotate.project.names import (
    TASKS,
    DamagedProject,
    DatabaseAway,
    OldProject,
    ProjectError,
    is_url,
    shown_place,
)

LOG = schema.account, schema.stream, schema.event_table
"""The tables from which all others can be rebuilt."""

_LARGEST_INTEGER = 2**53 - 1
_TASKS = ", ".join(f"'{task}'" for task in TASKS)
# true if the table {0} is empty, or the column {1} does not start at 0, or has holes
_GAPS = 'SELECT count(*) = 0 OR min({1}) <> 0 OR max({1}) <> count(*) - 1 FROM "{0}"'
# the rows of the project have pair 0 or account 0: there must be just one, and it has 0 in both
_ONE_STREAM = "count(*) <> 1 OR max(pair + account) <> 0"
_RULES = {
    "the settings are missing, or name no task": f"""
        SELECT count(*) <> 1 OR count(CASE WHEN task IN ({_TASKS}) THEN 1 END) <> 1
        FROM project""",
    "an annotator is missing": _GAPS.format("account", "id"),
    "a pair is missing": _GAPS.format("pair", "k"),
    "a pair has no words": """
        SELECT 1
        FROM pair LEFT JOIN pair_text ON pair_text.pair = k AND pair_text.rev = pair.rev
        WHERE k > 0 AND pair_text.rev IS NULL LIMIT 1""",
    "the stream of the project is missing": f"""
        SELECT {_ONE_STREAM}
        FROM stream WHERE pair = 0 OR account = 0""",
    "a stream has no counts": """
        SELECT 1
        FROM stream LEFT JOIN pair_counts USING (account, pair)
        WHERE pair > 0 AND links IS NULL LIMIT 1""",
    "an undo points to a missing event": """
        SELECT 1 FROM stream WHERE undo_top > seq OR redo_top > seq LIMIT 1""",
    "an undo points to a later event": "SELECT 1 FROM event WHERE below >= seq LIMIT 1",
}
"""The checks: the query that finds a fault, by the text of the fault."""


def wrong_value(conn: sa.Connection, tables: Iterable[sa.Table]) -> str:
    """Return the column that has a value of the wrong type, in words; empty if there is none."""
    for table in tables:
        cases = []
        for column in table.columns:
            fits = _type_check(column.type, f'"{column.name}"')
            cases.append(f"WHEN NOT ({fits}) THEN '{column.name}'")
        # in SQLite alone a condition may use the name `wrong` that SELECT gives
        query = (
            f"SELECT CASE {' '.join(cases)} END AS wrong "
            f'FROM "{table.name}" WHERE wrong IS NOT NULL LIMIT 1'
        )
        wrong = conn.exec_driver_sql(query).scalar()
        if wrong is not None:
            return f"{table.name}.{wrong} has a value of the wrong type"
    return ""


def _type_check(kind: TypeEngine[object], column: str) -> str:
    """Return the condition in SQL that the values of a column have a type."""
    if isinstance(kind, sa.Boolean):
        return f"typeof({column}) = 'integer' AND {column} IN (0, 1)"
    if isinstance(kind, sa.Integer):
        return f"typeof({column}) = 'integer' AND {column} BETWEEN 0 AND {_LARGEST_INTEGER}"
    if isinstance(kind, sa.Float):
        return f"typeof({column}) IN ('integer', 'real') AND abs({column}) < 1e300"
    return f"typeof({column}) = 'text'"


def first_fault(conn: sa.Connection) -> str:
    """Return the first fault of the tables of a project, in words; empty if there is none."""
    if not engines.schema_of(conn):  # PostgreSQL checks these two itself
        fault = wrong_value(conn, schema.METADATA.sorted_tables)
        if fault:
            return fault
        row = conn.exec_driver_sql("PRAGMA foreign_key_check").first()
        if row is not None:
            return f"a row of {row[0]} belongs to a missing row of {row[2]}"
    engines.use_schema(conn)
    for fault, query in _RULES.items():
        if conn.exec_driver_sql(query).scalar():
            return fault
    return ""


VERSION = 6
"""The version of the tables. The log is the same in all versions: from a project of an earlier one
only the log is read, and the project is built anew from it."""

MARK = 0x414C4B54  # the application id in the head of the file, "ALKT"

_HEAD = b"SQLite format 3\0"
_VERSION_BYTES = slice(60, 64)  # of the user version in the head
_MARK_BYTES = slice(68, 72)  # of the application id
_ACTING = """
SELECT type || ' ' || name FROM sqlite_master WHERE type IN ('trigger', 'view')
UNION ALL SELECT 'virtual table ' || name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%'
UNION ALL SELECT 'generated column ' || one.name || '.' || part.name
FROM sqlite_master AS one, pragma_table_xinfo(one.name) AS part
WHERE one.type = 'table' AND part.hidden
"""
_REASONS = {
    "locked": "another program has locked it; try again",
    "readonly": "is read-only; allow writing, or work on a copy",
    "disk is full": "the disk is full: free some space; nothing was changed",
}
_DAMAGE = "malformed", "not a database", "corrupt", "decode to UTF-8", "no such table"


def is_project(path: str) -> bool:
    """Return whether a place is in PostgreSQL, or an SQLite database, as projects are."""
    if is_url(path):
        return True
    with suppress(OSError), open(path, "rb") as file:
        return file.read(len(_HEAD)) == _HEAD
    return False


def check_file(path: str, *, readonly: bool = False, log: bool = False) -> int:
    """Check by its first bytes that a file is a project that can be opened; return its version.

    If only the log is read, it may be of an earlier version.
    """
    try:
        with open(path, "rb") as file:
            head = file.read(100)
    except OSError as problem:
        raise ProjectError(f"{path}: cannot be read: {problem.strerror}") from None
    if not head.startswith(_HEAD):
        raise ProjectError(f"{path}: is not an alignkit project; `alignkit annotate` makes one")
    if int.from_bytes(head[_MARK_BYTES], "big") != MARK:
        raise ProjectError(f"{path}: is a database, but not an alignkit project")
    version = int.from_bytes(head[_VERSION_BYTES], "big")
    check_version(path, version, log=log)
    if not readonly:
        _check_writable(path)
    return version


def _check_writable(path: str) -> None:
    """Check that a project and its folder can be written."""
    fault = ""
    if not os.access(path, os.W_OK):
        fault = "is read-only"
    elif not os.access(os.path.dirname(os.path.realpath(path)), os.W_OK):
        fault = "its folder is read-only, and a project writes files next to itself"
    if fault:
        raise ProjectError(f"{path}: {fault}; allow writing, or work on a copy")


def check_version(path: str, version: int, *, log: bool) -> None:
    """Refuse a project of a later version, and one of an earlier version unless `log`."""
    if version > VERSION:
        raise ProjectError(
            f"{shown_place(path)}: was made by a newer alignkit (project version {version}; this "
            f"alignkit reads up to {VERSION}); upgrade alignkit"
        )
    if version < VERSION and not log:
        raise OldProject(path)


def check_schema(conn: sqlite3.Connection, path: str) -> None:
    """Refuse a file with triggers, views or the like: a project has only tables and indexes."""
    conn.execute("PRAGMA trusted_schema=OFF")
    first = conn.execute(_ACTING).fetchone()
    if first is not None:
        name = first[0]
        raise ProjectError(
            f"{path}: contains the {name[:80]!r}, which no alignkit project has: somebody else "
            "made or changed this file; do not use it, and ask for another copy"
        )


def _first_column(path: str, query: str) -> list[Any]:
    """Return the first column of a query."""
    try:
        with closing(_connect(path, "rw")) as conn:
            check_schema(conn, path)
            return [row[0] for row in conn.execute(query)]
    except sqlite3.Error as problem:
        raise refusal(path, str(problem)) from None


def read_annotators(path: str) -> list[str]:
    """Return the annotators of a project; this also checks that it can be read."""
    return _first_column(path, "SELECT CAST(name AS TEXT) FROM account WHERE id > 0")


def read_assigned(path: str) -> list[str]:
    """Return the annotators with assigned pairs."""
    query = """
        SELECT CAST(name AS TEXT) FROM account
        WHERE id IN (SELECT DISTINCT account FROM assignment) ORDER BY id
    """
    return _first_column(path, query)


def read_task(path: str) -> str:
    """Return the task of a project; see `names.TASKS`."""
    tasks = _first_column(path, "SELECT CAST(task AS TEXT) FROM project")
    return tasks[0] if tasks else TASKS[0]


def refusal(path: str, text: str) -> ProjectError:
    """Return an error that explains SQLite's message in plain words."""
    if any(sign in text for sign in _DAMAGE):
        return DamagedProject(path, text)
    for sign, reason in _REASONS.items():
        if sign in text:
            return away_or_faulty(path, reason, text)
    return away_or_faulty(path, "", text)


def away_or_faulty(path: str, reason: str, text: str) -> ProjectError:
    """Return an error for a reason why the database cannot be used, or else with its own words."""
    path = shown_place(path)
    error: ProjectError
    if reason:
        error = DatabaseAway(f"{path}: {reason}")
    else:
        error = ProjectError(f"{path}: the database reports an error: {text}")
    error.path = path
    return error


_CACHE = 128 * 1024  # kB, of a new database: its index of ids is filled at random
_COPY = (
    "this is a copy of a file in use; newer edits may be missing. To copy a project in use: "
    "`alignkit project backup`. To go on with this copy: --accept-copy"
)
_ACCEPT = "Use another backup, or go on with this one: --accept-copy"


class Database(transactions.Transactions):
    """The connections to a project's file."""

    def __init__(
        self,
        path: str,
        *,
        readonly: bool = False,
        log: bool = False,
        new: bool = False,
        accept_copy: bool = False,
    ) -> None:
        super().__init__(path)
        self._new = new
        self._readonly = readonly
        if not new:
            version = check_file(path, readonly=readonly, log=log)
            self.is_old = version < VERSION
        mode = _mode(path, readonly)
        self.engine = engines.sqlite_engine(path, mode=mode, setup=self._setup)
        with ExitStack() as undo:
            undo.callback(self.close)
            with self._refusing():
                self._start(log)
                if not new and not self.is_old:
                    self._find_copy(accept_copy)
            undo.pop_all()

    def _start(self, log: bool) -> None:
        """Make the tables of a new project, or check those of another."""
        if self._new:
            with self.engine.begin() as started:
                schema.METADATA.create_all(started)
                started.exec_driver_sql(f"PRAGMA application_id={MARK}")
                started.exec_driver_sql(f"PRAGMA user_version={VERSION}")
            return
        mode = _mode(self.path, self._readonly)
        with closing(_connect(self.path, mode)) as conn:
            check_schema(conn, self.path)
        self._check(log)

    def _setup(self) -> list[str]:
        """Return the statements with which each connection begins."""
        return [f"PRAGMA {pragma}" for pragma in self._pragmas()]

    def _pragmas(self) -> list[str]:
        """Return the settings of a connection."""
        if self._new:
            return ["synchronous=OFF", "journal_mode=MEMORY", f"cache_size=-{_CACHE}"]
        if self._readonly:
            return [*engines.CHECKED, "temp_store=MEMORY", "query_only=ON"]
        return [*engines.CHECKED, *engines.SAFE]

    def finish(self) -> None:
        """Close a new database after writing it completely to the disk."""
        with self._refusing():
            self.close()
            with closing(sqlite3.connect(self.path)) as conn:
                conn.execute("PRAGMA journal_mode=WAL")
            with open(self.path, "rb+") as file:
                os.fsync(file.fileno())

    def _find_copy(self, accept: bool) -> None:
        """Find out whether the file is a plain copy of a project in use; refuse one."""
        with self.engine.connect() as conn:
            inode = conn.execute(sa.select(schema.in_use.c.inode)).scalar()
        self.copied = inode not in (None, str(os.stat(self.path).st_ino))
        if self.copied and not accept:
            raise ProjectError(f"{self.path}: {_COPY}")
        self._find_missing(accept)

    def _find_missing(self, accept: bool) -> None:
        """Find out whether the last events of a backup are missing; refuse such a backup."""
        with self.engine.connect() as conn:
            last = conn.execute(sa.select(sa.func.max(schema.EVENT.n))).scalar() or 0
            missing = seals.missing_events(seals.read_seal(conn), int(last))
        if missing and not accept:
            raise ProjectError(f"{self.path}: {missing}. {_ACCEPT}")
        self.copied = self.copied or bool(missing)

    def mark(self) -> None:
        """Write the file's inode into it, so that a plain copy of it is known as such."""
        inode = str(os.stat(self.path).st_ino)
        with self.writing() as conn:
            conn.execute(sa.delete(schema.in_use))
            conn.execute(sa.insert(schema.in_use).values(inode=inode))
        with self._refusing(), closing(_connect(self.path, "rw")) as conn:
            conn.execute("PRAGMA wal_checkpoint(FULL)")  # a copy may be of this file alone

    def unmark(self) -> None:
        """Remove the mark."""
        with self.writing() as conn:
            conn.execute(sa.delete(schema.in_use))

    def accept(self) -> None:
        """Remove what says that the file is a copy that may lack edits."""
        with self.writing() as conn:
            seals.break_seal(conn)
        self.unmark()

    def faults(self) -> list[str]:
        """Return what is damaged in the file, as SQLite tells."""
        with self.reading() as conn:
            lines = conn.exec_driver_sql("PRAGMA quick_check(20)").scalars().all()
        return [line for line in lines if line != "ok"]

    def _check(self, log: bool) -> None:
        """Check that the tables are there and sound; if `log`, only the log is looked at."""
        needed = LOG if self.is_old else schema.METADATA.sorted_tables
        with self.engine.connect() as conn:
            names = conn.exec_driver_sql("SELECT name FROM sqlite_master").scalars().all()
            missing = {table.name for table in needed}.difference(names)
            if missing:
                raise DamagedProject(self.path, f"it has no table {min(missing)!r}")
            fault = wrong_value(conn, LOG) if log else first_fault(conn)
            if fault:
                raise DamagedProject(self.path, fault)

    def _refusal(self, problem: Exception) -> ProjectError:
        return refusal(self.path, str(getattr(problem, "orig", problem)))


def _connect(path: str, mode: str) -> sqlite3.Connection:
    """Connect to a file directly, without SQLAlchemy."""
    uri = f"file:{quote(os.path.abspath(path))}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=1)


def copy_database(path: str, copy: str, *statements: str) -> None:
    """Copy a database that may be in use into an empty file; run statements in the copy."""
    mode = _mode(path, True)
    with closing(_connect(path, mode)) as conn, closing(_connect(copy, "rw")) as new:
        conn.backup(new)
        for text in ("PRAGMA journal_mode=DELETE", "PRAGMA secure_delete=ON", *statements):
            new.execute(text)
        new.commit()
    os.chmod(copy, stat.S_IMODE(os.stat(path).st_mode))
    with open(copy, "rb+") as file:
        os.fsync(file.fileno())


def _mode(path: str, readonly: bool) -> str:
    """Return the mode of a connection in an URI.

    Where it may not write, SQLite reads a file only as immutable, which overlooks what waits in
    the log next to it. So if something waits there, the mode is `ro` all the same: SQLite then
    reads the log or refuses the file, which is better than to show an older state.
    """
    if not readonly:
        return "rw"
    log = os.path.realpath(path) + "-wal"
    writable = os.access(os.path.dirname(log), os.W_OK) and os.access(path, os.W_OK)
    waiting = os.path.exists(log) and os.path.getsize(log)
    return "ro" if writable or waiting else "ro&immutable=1"
