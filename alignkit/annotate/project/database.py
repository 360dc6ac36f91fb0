"""Open the database of a project: SQLite now, by SQLAlchemy, so that PostgreSQL can follow.

What is SQLite's own is here: its pragmas, the marks by which a project is known, and how a
transaction begins. Readers go on while somebody writes (WAL); each commit is on the disk before it
is acknowledged (``synchronous=FULL``); writers come one after the other (``BEGIN IMMEDIATE``), so
that the numbers of events are committed in order.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
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
"""The tables from which all others can be made anew."""

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
    "an undo goes back to nothing": "SELECT 1 FROM stream WHERE max(undo_top, redo_top) > seq"
    " LIMIT 1",
    "an undo goes back to a later event": "SELECT 1 FROM event WHERE below >= seq LIMIT 1",
}
"""What is asked, by what is wrong where the answer is yes."""


def wrong_value(conn: sa.Connection, tables: Iterable[sa.Table]) -> str:
    """Return the column that holds a value of a wrong kind, in words; empty if none does."""
    for table in tables:
        cases = " ".join(
            f"WHEN NOT ({_is(column.type)}) THEN '{column.name}'".replace("?", f'"{column.name}"')
            for column in table.columns
        )
        asked = f'SELECT CASE {cases} END AS x FROM "{table.name}" WHERE x IS NOT NULL LIMIT 1'
        if (wrong := conn.exec_driver_sql(asked).scalar()) is not None:
            return f"{table.name}.{wrong} holds a value of another kind"
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
        return f"a row of {row[0]} belongs to a row of {row[2]} that is missing"
    faults = (fault for fault, asked in _RULES.items() if conn.exec_driver_sql(asked).scalar())
    return next(faults, "")


VERSION = 3
"""Of the tables; 2 has assignments, and names the gold standard and the task, 3 learned sets."""

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
    "locked": "another program keeps it locked; try again",
    "readonly": "is read-only; allow writing, or work on a copy",
    "disk is full": "the disk is full: make room there; nothing was changed",
}
_DAMAGE = "malformed", "not a database", "corrupt", "decode to UTF-8", "no such table"


def is_project(path: str) -> bool:
    """Return whether a file is a database of SQLite, as projects are."""
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
        raise ProjectError(f"{path}: is no project of alignkit; `alignkit annotate` makes one")
    version, mark = (int.from_bytes(head[at : at + 4], "big") for at in _PLACES)
    if mark != MARK:
        raise ProjectError(f"{path}: is a database, but no project of alignkit")
    if version > VERSION:
        raise ProjectError(
            f"{path}: is a project of a newer alignkit (version {version}; this one knows "
            f"{VERSION}); bring alignkit up to date"
        )
    folder = os.path.dirname(os.path.realpath(path))
    beside = "its folder is read-only, and a project keeps files beside it"
    for place, fault in {path: "is read-only", folder: beside}.items():
        if not readonly and not os.access(place, os.W_OK):
            raise ProjectError(f"{path}: {fault}; allow writing, or work on a copy")


def check_schema(conn: sqlite3.Connection, path: str) -> None:
    """Refuse a file with anything that acts when it is used: it holds tables and indexes alone."""
    conn.execute("PRAGMA trusted_schema=OFF")
    for (name,) in conn.execute(_ACTING):
        raise ProjectError(
            f"{path}: holds the {name[:80]!r}, and no project of alignkit has one: somebody else "
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
    """Return the annotators of a project, and so see whether it can be read at all."""
    return _asked(path, "SELECT CAST(name AS TEXT) FROM account WHERE id > 0")


def read_assigned(path: str) -> list[str]:
    """Return to whom pairs of a project are assigned; nobody, in one of an earlier version."""
    having = "SELECT DISTINCT account FROM assignment"
    asked = f"SELECT CAST(name AS TEXT) FROM account WHERE id IN ({having}) ORDER BY id"
    return _asked(path, asked, VERSION)


def read_task(path: str) -> str:
    """Return what is done in a project; see `names.TASKS`."""
    return next(iter(_asked(path, "SELECT CAST(task AS TEXT) FROM project", VERSION)), TASKS[0])


def refusal(path: str, text: str) -> ProjectError:
    """Return an error that says in plain words what SQLite said."""
    if any(sign in text for sign in _DAMAGE):
        return DamagedProject(path, text)
    reasons = (reason for sign, reason in _REASONS.items() if sign in text)
    error = ProjectError(f"{path}: {next(reasons, f'the database refuses: {text}')}")
    error.path = path
    return error


_held: set[str] = set()  # in this process, which its own locks would not keep out


class ServerLock:
    """The lock of a project, in the file ``PROJECT-lock`` beside it."""

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
                refused = f"{cannot} is no lock of alignkit; move it elsewhere"
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
        with self._refusing():
            if new:
                with self.engine.begin() as started:
                    schema.METADATA.create_all(started)
                    started.exec_driver_sql(f"PRAGMA application_id={MARK}")
                    started.exec_driver_sql(f"PRAGMA user_version={VERSION}")
                return
            with closing(sqlite3.connect(self._uri, uri=True)) as conn:
                check_schema(conn, path)
            self._update(readonly)
            self._check(log)

    def _engine(self, readonly: bool) -> sa.Engine:
        def connect() -> sqlite3.Connection:
            conn = sqlite3.connect(
                self._uri, uri=True, isolation_level=None, check_same_thread=False
            )
            pragmas = (f"PRAGMA {pragma}" for pragma in self._pragmas(readonly))
            last = ["PRAGMA query_only=ON"] if readonly else []
            for text in (*pragmas, *self._stand_ins, *last):
                conn.execute(text)
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
        """Close a database that was made as new, whole on the disk."""
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
        """Open a connection whose work is committed as a whole, one writer after the other."""
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
    """Insert rows, of as many values as columns and in their order, as quickly as can be."""
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
