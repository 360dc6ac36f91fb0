"""Open the database of a project: SQLite now, by SQLAlchemy, so that PostgreSQL can follow.

What is SQLite's own is here: its pragmas, the marks by which a project is known, and how a
transaction begins. Readers go on while somebody writes (WAL); each commit is on the disk before it
is acknowledged (``synchronous=FULL``); writers come one after the other (``BEGIN IMMEDIATE``), so
that the numbers of events are committed in order.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from threading import Lock
from typing import Any
from urllib.parse import quote

import msgspec
from sqlalchemy import Connection, Engine, Table, create_engine, event, insert
from sqlalchemy.exc import DBAPIError, NoResultFound, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from alignkit.annotate.errors import DamagedProject
from alignkit.annotate.tables.checking import LOG, first_fault, wrong_value
from alignkit.annotate.tables.project_file import MARK, VERSION, check_file, check_schema, refusal
from alignkit.annotate.tables.schema import METADATA
from alignkit.annotate.tables.upgrading import add_missing, stand_ins

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
        with self._told():
            if new:
                self._prepare()
                return
            with closing(sqlite3.connect(self._uri, uri=True)) as conn:
                check_schema(conn, path)
            self._update(readonly)
            self._check(log)

    def _engine(self, readonly: bool) -> Engine:
        def connect() -> sqlite3.Connection:
            conn = sqlite3.connect(
                self._uri, uri=True, isolation_level=None, check_same_thread=False
            )
            for pragma in self._pragmas(readonly):
                conn.execute(f"PRAGMA {pragma}")
            for text in self._stand_ins:
                conn.execute(text)
            if readonly:
                conn.execute("PRAGMA query_only=ON")
            return conn

        engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool)
        event.listen(engine, "begin", _begin)
        return engine

    def _pragmas(self, readonly: bool) -> list[str]:
        if self._new:
            return ["synchronous=OFF", "journal_mode=MEMORY", f"cache_size=-{_CACHE}"]
        common = [f"busy_timeout={_BUSY}", "foreign_keys=ON", "cell_size_check=ON"]
        common += ["trusted_schema=OFF"]
        if readonly:
            return [*common, "temp_store=MEMORY"]
        return [*common, "journal_mode=WAL", "synchronous=FULL"]

    def _prepare(self) -> None:
        with self.engine.begin() as conn:
            METADATA.create_all(conn)
            conn.exec_driver_sql(f"PRAGMA application_id={MARK}")
            conn.exec_driver_sql(f"PRAGMA user_version={VERSION}")

    def finish(self) -> None:
        """Close a database that was made as new, whole on the disk."""
        with self._told():
            self.close()
            conn = sqlite3.connect(self.path)
            conn.execute("PRAGMA journal_mode=WAL")
            conn.close()
            with open(self.path, "rb+") as file:
                os.fsync(file.fileno())

    def _update(self, readonly: bool) -> None:
        with self.engine.connect() as conn:
            if _version(conn) >= VERSION:
                return
            if readonly:
                self._stand_ins = stand_ins(conn, METADATA)
        if readonly:
            self.engine.dispose()  # the next connections have them
            return
        with self.writing() as conn:
            if _version(conn) < VERSION:  # nobody else was quicker
                add_missing(conn, METADATA)
                conn.exec_driver_sql(f"PRAGMA user_version={VERSION}")

    def _check(self, log: bool) -> None:
        with self.engine.connect() as conn:
            names = {
                row[0]
                for row in conn.exec_driver_sql(
                    "SELECT name FROM sqlite_master UNION SELECT name FROM sqlite_temp_master"
                ).fetchall()
            }
            missing = sorted(METADATA.tables.keys() - names)
            if missing:
                raise DamagedProject(self.path, f"it has no table {missing[0]!r}")
            if fault := wrong_value(conn, LOG) if log else first_fault(conn):
                raise DamagedProject(self.path, fault)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection that sees one state of the project."""
        with self._told(), self.engine.connect() as conn:
            yield conn

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a connection whose work is committed as a whole, one writer after the other."""
        with self._told(), self._writing, self.engine.connect() as conn:
            chosen = conn.execution_options(begin="BEGIN IMMEDIATE")
            with chosen.begin():
                yield chosen

    @contextmanager
    def _told(self) -> Iterator[None]:
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


def insert_tuples(conn: Connection, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows, of as many values as columns and in their order, as quickly as can be."""
    if rows:
        conn.exec_driver_sql(str(insert(table).compile(dialect=conn.dialect)), list(rows))


def _mode(path: str, readonly: bool) -> str:
    if not readonly:
        return "rw"
    beside = os.path.realpath(path)
    folder = os.path.dirname(beside)
    if os.access(folder, os.W_OK) and os.access(path, os.W_OK):
        return "ro"
    waiting = os.path.exists(beside + "-wal") and os.path.getsize(beside + "-wal")
    return "ro" if waiting else "ro&immutable=1"


def _version(conn: Connection) -> int:
    return int(conn.exec_driver_sql("PRAGMA user_version").scalar() or 0)


def _begin(conn: Connection) -> None:
    conn.exec_driver_sql(conn.get_execution_options().get("begin", "BEGIN"))
