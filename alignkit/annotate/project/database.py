"""Open the database of a project: SQLite now, through SQLAlchemy so that PostgreSQL can follow.

Everything specific to SQLite is here: its pragmas, the marks of a project file, and how a
transaction begins. Readers go on while somebody writes (WAL); each commit is on the disk before it
is acknowledged (``synchronous=FULL``); writers come one after the other (``BEGIN IMMEDIATE``), so
the numbers of events are committed in order.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from threading import Lock
from typing import Any
from urllib.parse import quote

import msgspec
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, NoResultFound, SQLAlchemyError
from sqlalchemy.pool import QueuePool
from sqlalchemy.types import TypeEngine

from alignkit.annotate.project import schema
from alignkit.annotate.project.names import TASKS, DamagedProject, ProjectError
from alignkit.io.atomic_files import lock_alone

LOG = schema.account, schema.stream, schema.event_table
"""The tables from which all others can be rebuilt."""

_MOST = 2**53 - 1
_TASKS = ", ".join(f"'{task}'" for task in TASKS)
_GAPS = 'SELECT count(*) = 0 OR min({1}) <> 0 OR max({1}) <> count(*) - 1 FROM "{0}"'
_RULES = {
    "the settings are missing, or name no task": "SELECT count(*) <> 1 OR"
    f" max(task NOT IN ({_TASKS})) FROM project",
    "an annotator is missing": _GAPS.format("account", "id"),
    "a pair is missing": _GAPS.format("pair", "k"),
    "a pair has no words": "SELECT 1 FROM pair LEFT JOIN pair_text ON pair_text.pair = k"
    " AND pair_text.rev = pair.rev WHERE k > 0 AND pair_text.rev IS NULL LIMIT 1",
    "the stream of the project is missing": "SELECT count(*) <> 1 OR max(pair + account) <> 0"
    " FROM stream WHERE pair = 0 OR account = 0",
    "a stream has no counts": "SELECT 1 FROM stream LEFT JOIN pair_counts USING (account, pair)"
    " WHERE pair > 0 AND links IS NULL LIMIT 1",
    "an undo points to a missing event": "SELECT 1 FROM stream WHERE max(undo_top, redo_top) > seq"
    " LIMIT 1",
    "an undo points to a later event": "SELECT 1 FROM event WHERE below >= seq LIMIT 1",
}
"""The checks: the query that finds a fault, by the text of the fault."""


def wrong_value(conn: sa.Connection, tables: Iterable[sa.Table]) -> str:
    """Return the column that has a value of the wrong type, in words; empty if there is none."""
    for table in tables:
        cases = " ".join(
            f"WHEN NOT ({_is(column.type)}) THEN '{column.name}'".replace("?", f'"{column.name}"')
            for column in table.columns
        )
        asked = f'SELECT CASE {cases} END AS x FROM "{table.name}" WHERE x IS NOT NULL LIMIT 1'
        if (wrong := conn.exec_driver_sql(asked).scalar()) is not None:
            return f"{table.name}.{wrong} has a value of the wrong type"
    return ""


def _is(kind: TypeEngine[object]) -> str:
    if isinstance(kind, sa.Boolean):
        return "typeof(?) = 'integer' AND ? IN (0, 1)"
    if isinstance(kind, sa.Integer):
        return f"typeof(?) = 'integer' AND ? BETWEEN 0 AND {_MOST}"
    if isinstance(kind, sa.Float):
        return "typeof(?) IN ('integer', 'real') AND abs(?) < 1e300"
    return "typeof(?) = 'text'"


def first_fault(conn: sa.Connection) -> str:
    """Return the first fault of the tables of a project, in words; empty if there is none."""
    if fault := wrong_value(conn, schema.METADATA.sorted_tables):
        return fault
    row = conn.exec_driver_sql("PRAGMA foreign_key_check").first()
    if row is not None:
        return f"a row of {row[0]} belongs to a missing row of {row[2]}"
    faults = (fault for fault, asked in _RULES.items() if conn.exec_driver_sql(asked).scalar())
    return next(faults, "")


VERSION = 3
"""The version of the tables; 2 adds assignments, the gold standard and the task, 3 learned sets."""

MARK = 0x414C4B54
"""The application id in the head of the file, "ALKT"."""

_HEAD = b"SQLite format 3\0"
_PLACES = 60, 68  # of the user version and of the application id in the head
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
    """Return whether a file is an SQLite database, as projects are."""
    with suppress(OSError), open(path, "rb") as file:
        return file.read(len(_HEAD)) == _HEAD
    return False


def check_file(path: str, *, readonly: bool = False) -> None:
    """Check by its first bytes that a file is a project that can be opened."""
    try:
        with open(path, "rb") as file:
            head = file.read(100)
    except OSError as problem:
        raise ProjectError(f"{path}: cannot be read: {problem.strerror}") from None
    if not head.startswith(_HEAD):
        raise ProjectError(f"{path}: is not an alignkit project; `alignkit annotate` makes one")
    version, mark = (int.from_bytes(head[at : at + 4], "big") for at in _PLACES)
    if mark != MARK:
        raise ProjectError(f"{path}: is a database, but not an alignkit project")
    if version > VERSION:
        raise ProjectError(
            f"{path}: was made by a newer alignkit (project version {version}; this alignkit reads "
            f"up to {VERSION}); upgrade alignkit"
        )
    folder = os.path.dirname(os.path.realpath(path))
    beside = "its folder is read-only, and a project writes files next to itself"
    for place, fault in {path: "is read-only", folder: beside}.items():
        if not readonly and not os.access(place, os.W_OK):
            raise ProjectError(f"{path}: {fault}; allow writing, or work on a copy")


def check_schema(conn: sqlite3.Connection, path: str) -> None:
    """Refuse a file with triggers, views or the like: a project has only tables and indexes."""
    conn.execute("PRAGMA trusted_schema=OFF")
    for (name,) in conn.execute(_ACTING):
        raise ProjectError(
            f"{path}: contains the {name[:80]!r}, which no alignkit project has: somebody else "
            "made or changed this file; do not use it, and ask for another copy"
        )


def _asked(path: str, question: str, since: int = 0) -> list[Any]:
    uri = f"file:{quote(os.path.abspath(path))}?mode=rw"
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=1)) as conn:
            check_schema(conn, path)
            if conn.execute("PRAGMA user_version").fetchone()[0] < since:
                return []
            return [row[0] for row in conn.execute(question)]
    except sqlite3.Error as problem:
        raise refusal(path, str(problem)) from None


def read_annotators(path: str) -> list[str]:
    """Return the annotators of a project; this also checks that it can be read."""
    return _asked(path, "SELECT CAST(name AS TEXT) FROM account WHERE id > 0")


def read_assigned(path: str) -> list[str]:
    """Return the annotators with assigned pairs; none for a project of an earlier version."""
    having = "SELECT DISTINCT account FROM assignment"
    asked = f"SELECT CAST(name AS TEXT) FROM account WHERE id IN ({having}) ORDER BY id"
    return _asked(path, asked, VERSION)


def read_task(path: str) -> str:
    """Return the task of a project; see `names.TASKS`."""
    return next(iter(_asked(path, "SELECT CAST(task AS TEXT) FROM project", VERSION)), TASKS[0])


def refusal(path: str, text: str) -> ProjectError:
    """Return an error that explains SQLite's message in plain words."""
    if any(sign in text for sign in _DAMAGE):
        return DamagedProject(path, text)
    reasons = (reason for sign, reason in _REASONS.items() if sign in text)
    error = ProjectError(f"{path}: {next(reasons, f'the database reports an error: {text}')}")
    error.path = path
    return error


_held: set[str] = set()  # in this process, which its own locks would not keep out


class ServerLock:
    """The lock of a project: the file ``PROJECT-lock`` next to it."""

    def __init__(self, path: str) -> None:
        self._path = os.path.realpath(path) + "-lock"
        if self._path in _held:
            raise ProjectError(_taken(path))
        cannot = f"{path}: cannot be served: {self._path}"
        while True:
            try:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            except OSError as problem:
                raise ProjectError(f"{cannot}: {problem.strerror}") from None
            refused = _taken(path) if not lock_alone(self._file) else ""
            if not refused and os.fstat(self._file).st_size:  # a file of the user's: leave it
                refused = f"{cannot} is not a lock of alignkit; move it elsewhere"
            with suppress(FileNotFoundError):
                if not refused and os.path.samestat(os.fstat(self._file), os.stat(self._path)):
                    break
            os.close(self._file)
            if refused:
                raise ProjectError(refused)  # else its holder has just removed it: once more
        _held.add(self._path)

    def release(self) -> None:
        """Release the project; a second call does nothing."""
        if self._path in _held:
            _held.discard(self._path)
            if sys.platform != "win32":
                with suppress(OSError):
                    os.unlink(self._path)
            os.close(self._file)


def _taken(path: str) -> str:
    return f"{path}: another server has this project open; use that one, or stop it first"


_BUSY = 10_000  # ms to wait for another writer
_CACHE = 128 * 1024  # kB, of a new database: its index of ids is filled at random


class Database:
    """The connections to a project's database."""

    def __init__(
        self, path: str, *, readonly: bool = False, log: bool = False, new: bool = False
    ) -> None:
        self.path = path
        self._writing = Lock()
        self._new = new
        self._stand_ins: list[str] = []
        if not new:
            check_file(path, readonly=readonly)
        self._uri = f"file:{quote(os.path.abspath(path))}?mode={_mode(path, readonly)}"
        self.engine = self._engine(readonly)
        with ExitStack() as undo:
            undo.callback(self.close)
            with self._refusing():
                self._start(readonly, log)
            undo.pop_all()

    def _start(self, readonly: bool, log: bool) -> None:
        if self._new:
            with self.engine.begin() as started:
                schema.METADATA.create_all(started)
                started.exec_driver_sql(f"PRAGMA application_id={MARK}")
                started.exec_driver_sql(f"PRAGMA user_version={VERSION}")
            return
        with closing(sqlite3.connect(self._uri, uri=True)) as conn:
            check_schema(conn, self.path)
        self._update(readonly)
        self._check(log)

    def _engine(self, readonly: bool) -> sa.Engine:
        def connect() -> sqlite3.Connection:
            conn = sqlite3.connect(
                self._uri, uri=True, isolation_level=None, check_same_thread=False
            )
            pragmas = (f"PRAGMA {pragma}" for pragma in self._pragmas(readonly))
            last = ["PRAGMA query_only=ON"] if readonly else []
            with ExitStack() as undo:
                undo.callback(conn.close)
                for text in (*pragmas, *self._stand_ins, *last):
                    conn.execute(text)
                undo.pop_all()
            return conn

        engine = sa.create_engine("sqlite://", creator=connect, poolclass=QueuePool)
        sa.event.listen(engine, "begin", _begin)
        return engine

    def _pragmas(self, readonly: bool) -> list[str]:
        if self._new:
            return ["synchronous=OFF", "journal_mode=MEMORY", f"cache_size=-{_CACHE}"]
        common = [f"busy_timeout={_BUSY}", "foreign_keys=ON", "cell_size_check=ON"]
        more = ["temp_store=MEMORY"] if readonly else ["journal_mode=WAL", "synchronous=FULL"]
        return [*common, "trusted_schema=OFF", *more]

    def finish(self) -> None:
        """Close a new database after writing it completely to the disk."""
        with self._refusing():
            self.close()
            with closing(sqlite3.connect(self.path)) as conn:
                conn.execute("PRAGMA journal_mode=WAL")
            with open(self.path, "rb+") as file:
                os.fsync(file.fileno())

    def _update(self, readonly: bool) -> None:
        with self.engine.connect() as conn:
            if _version(conn) >= VERSION:
                return
            if readonly:
                self._stand_ins = schema.stand_ins(conn, schema.METADATA)
        if readonly:
            self.engine.dispose()  # the next connections have them
            return
        with self.writing() as conn:
            if _version(conn) < VERSION:  # nobody else was quicker
                schema.add_missing(conn, schema.METADATA)
                conn.exec_driver_sql(f"PRAGMA user_version={VERSION}")

    def _check(self, log: bool) -> None:
        both = "SELECT name FROM sqlite_master UNION SELECT name FROM sqlite_temp_master"
        with self.engine.connect() as conn:
            names = conn.exec_driver_sql(both).scalars().all()
            for missing in sorted(schema.METADATA.tables.keys() - set(names)):
                raise DamagedProject(self.path, f"it has no table {missing!r}")
            if fault := wrong_value(conn, LOG) if log else first_fault(conn):
                raise DamagedProject(self.path, fault)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Open a connection that sees one state of the project."""
        with self._refusing(), self.engine.connect() as conn:
            yield conn

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Open a connection that commits all of its work at once; one writer at a time."""
        with self._refusing(), self._writing, self.engine.connect() as conn:
            chosen = conn.execution_options(begin="BEGIN IMMEDIATE")
            with chosen.begin():
                yield chosen

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as problem:
            raise refusal(self.path, str(problem.orig)) from None
        except NoResultFound:
            raise DamagedProject(self.path, "a row is missing") from None
        except (SQLAlchemyError, sqlite3.Error) as problem:
            raise refusal(self.path, str(problem)) from None
        except msgspec.DecodeError as problem:  # what clients send is decoded elsewhere
            raise DamagedProject(self.path, str(problem)) from None

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def insert_tuples(conn: sa.Connection, table: sa.Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows quickly; each has as many values as columns, in their order."""
    if rows:
        conn.exec_driver_sql(str(sa.insert(table).compile(dialect=conn.dialect)), list(rows))


def _mode(path: str, readonly: bool) -> str:
    if not readonly:
        return "rw"
    log = os.path.realpath(path) + "-wal"
    writable = os.access(os.path.dirname(log), os.W_OK) and os.access(path, os.W_OK)
    waiting = os.path.exists(log) and os.path.getsize(log)
    return "ro" if writable or waiting else "ro&immutable=1"


def _version(conn: sa.Connection) -> int:
    return int(conn.exec_driver_sql("PRAGMA user_version").scalar() or 0)


def _begin(conn: sa.Connection) -> None:
    conn.exec_driver_sql(conn.get_execution_options().get("begin", "BEGIN"))
