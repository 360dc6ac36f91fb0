"""Open databases for projects and the lab: an SQLite file, or a schema of a PostgreSQL database.

A place is a path, or ``postgresql+psycopg://user@host/database#schema``. Both are used alike::

    engine = sqlite_engine(path)          # or postgres_engine(*parsed(place))
    with reading(engine) as conn: ...     # sees one state of the database
    with writing(engine) as conn: ...     # commits all of its work at once; one writer at a time
    close(engine)

Columns have the types TEXT and INTEGER, which keep all that SQLite keeps. Statements of SQLAlchemy
name no schema; plain SQL does, except after `use_schema`.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cache, partial
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite
from sqlalchemy.pool import QueuePool

from alignkit._support.extras import missing_libraries
from alignkit.annotate.project.names import ProjectError, shown_place

_ESCAPE = "\U0010ffff"  # no character, so hardly any text has it


class _NulText(sa.types.TypeDecorator[str]):
    """Text in the order of its bytes; NUL, which PostgreSQL cannot keep, is escaped."""

    impl = sa.Text(collation="C")
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> Any:
        return _escaped(value)

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> Any:
        return _unescaped(value)


def _escaped(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return value.replace(_ESCAPE, f"{_ESCAPE}1").replace("\0", f"{_ESCAPE}0")


def _unescaped(value: Any) -> Any:
    if not isinstance(value, str) or _ESCAPE not in value:
        return value
    return value.replace(f"{_ESCAPE}0", "\0").replace(f"{_ESCAPE}1", _ESCAPE)


TEXT = sa.Text().with_variant(_NulText(), "postgresql")
INTEGER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
primary = partial(sa.Column, primary_key=True)
not_null = partial(sa.Column, nullable=False)
"""Declare a column of the primary key, and one in which each row has a value."""

Condition = sa.ColumnElement[bool]
"""What a query asks of rows."""

BUSY = 10_000  # ms to wait for another writer
CHECKED = f"busy_timeout={BUSY}", "foreign_keys=ON", "cell_size_check=ON", "trusted_schema=OFF"
SAFE = "journal_mode=WAL", "synchronous=FULL"
WRITING = tuple(f"PRAGMA {x}" for x in (*CHECKED, *SAFE))
"""The statements with which a connection to an SQLite file begins."""


def sqlite_engine(
    path: str, *, mode: str = "rw", setup: Callable[[], Iterable[str]] = lambda: WRITING
) -> sa.Engine:
    """Return an engine for a file; mode rwc makes a missing one."""
    uri = f"file:{quote(os.path.abspath(path))}?mode={mode}"

    def connect() -> sqlite3.Connection:
        conn = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
        with ExitStack() as undo:
            undo.callback(conn.close)
            for text in setup():
                conn.execute(text)
            undo.pop_all()
        return conn

    engine = sa.create_engine(
        "sqlite://", creator=connect, poolclass=QueuePool, hide_parameters=True
    )
    sa.event.listen(engine, "begin", _begin)
    return engine


def _begin(conn: sa.Connection) -> None:
    """Begin a transaction in SQLite, with the statement that `writing` chooses for its own."""
    statement = conn.get_execution_options().get("begin", "BEGIN")
    conn.exec_driver_sql(statement)


_MOST_CONNECTIONS = 10  # to a database, that stay open
_SETTINGS = f"-c lock_timeout={BUSY} -c synchronous_commit=on"


def parsed(place: str) -> tuple[str, str]:
    """Return the URL of the database and the schema of a place in PostgreSQL."""
    url, _, schema = place.partition("#")
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", schema) or schema.startswith("pg_"):
        raise ProjectError(
            f"{shown_place(place)}: needs the name of a schema at its end: #p_NAME, with small "
            "letters, digits and _"
        )
    return re.sub(r"^postgresql(\+psycopg)?", "postgresql+psycopg", url), schema


def postgres_engine(url: str, schema: str) -> sa.Engine:
    """Return an engine for a schema; all schemas of a database share its connections."""
    try:
        base = _base_engine(url)
    except ImportError:
        message = missing_libraries(f"{shown_place(url)}:", ["psycopg"], "postgres")
        raise ProjectError(message) from None
    except sa.exc.ArgumentError:
        raise ProjectError(f"{shown_place(url)}: is no address of a database") from None
    return base.execution_options(schema_translate_map={None: schema})


@cache
def _base_engine(url: str) -> sa.Engine:
    settings = {"options": _SETTINGS, "connect_timeout": 10, "client_encoding": "utf8"}
    engine = sa.create_engine(
        url, pool_size=_MOST_CONNECTIONS, connect_args=settings, hide_parameters=True
    )
    atexit.register(engine.dispose)
    return engine


@contextmanager
def in_memory(metadata: sa.MetaData) -> Iterator[sa.Connection]:
    """Open a connection to empty tables in memory, which are gone at the end."""
    engine = sa.create_engine("sqlite://", hide_parameters=True)
    with engine.connect() as conn:
        metadata.create_all(conn)
        yield conn
    engine.dispose()


def close(engine: sa.Engine) -> None:
    """Close the connections; those to PostgreSQL, which others share, at the end of the process."""
    if not schema_of(engine):
        engine.dispose()


def schema_of(conn: sa.Engine | sa.Connection) -> str:
    """Return the schema in PostgreSQL; empty for an SQLite file."""
    names: dict[Any, str] = conn.get_execution_options().get("schema_translate_map") or {}
    return names.get(None, "")


def use_schema(conn: sa.Connection) -> None:
    """Let plain SQL find the tables of the schema, too, until the end of the transaction."""
    schema = schema_of(conn)
    if schema:
        conn.exec_driver_sql(f'SET LOCAL search_path TO "{schema}"')


def lock_number(schema: str, what: str) -> int:
    """Return the number of an advisory lock."""
    digest = hashlib.sha256(f"alignkit {what} {schema}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


class Prepared:
    """A statement whose SQL is kept: to make it takes SQLAlchemy ten times as long as to run it.

    The SQL depends on the schema and on the names of the values: an INSERT has the columns that it
    gets values for.
    """

    def __init__(self, statement: Any) -> None:
        self._statement = statement
        self._sql: dict[tuple[str, ...], tuple[str, Mapping[str, Any]]] = {}

    def __call__(self, conn: sa.Connection, **values: object) -> list[Any]:
        """Return the rows, which are tuples."""
        with _driver(conn) as cursor:
            cursor.execute(*self._bound(conn, values))
            rows = cursor.fetchall() if cursor.description else []
        if schema_of(conn):
            return [tuple(map(_unescaped, row)) for row in rows]
        return rows

    def first(self, conn: sa.Connection, **values: object) -> Any:
        """Return the first row; None if there is none."""
        return next(iter(self(conn, **values)), None)

    def write(self, conn: sa.Connection, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write rows with the same columns."""
        text = ""
        bound = []
        for row in rows:
            text, values = self._bound(conn, row)
            bound.append(values)
        with _driver(conn) as cursor:
            cursor.executemany(text, bound)

    def _bound(self, conn: sa.Connection, values: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the SQL, and all values that it is executed with."""
        schema = schema_of(conn)
        key = (schema, *values)
        if key not in self._sql:
            self._sql[key] = self._make(conn, schema, list(values))
        text, fixed = self._sql[key]
        bound = {**fixed, **values}
        if schema:
            bound = {name: _escaped(value) for name, value in bound.items()}
        return text, bound

    def _make(
        self, conn: sa.Connection, schema: str, names: list[str]
    ) -> tuple[str, Mapping[str, Any]]:
        """Return the SQL of the statement with values of some names, and those it has itself."""
        options: dict[str, Any] = {"column_keys": names}
        dialect: sa.Dialect = sqlite.dialect(paramstyle="named")
        if schema:
            dialect = conn.dialect
            options["schema_translate_map"] = {None: schema}
            options["render_schema_translate"] = True
        made = self._statement.compile(dialect=dialect, **options)
        return str(made), made.params


@contextmanager
def _driver(conn: sa.Connection) -> Iterator[Any]:
    """Give a cursor of the driver; its errors are those of SQLAlchemy."""
    if not conn.in_transaction():
        conn.begin()
    dialect = conn.dialect
    driver = conn.connection.dbapi_connection
    assert driver is not None
    kind: Any = dialect.loaded_dbapi.Error
    try:
        yield driver.cursor()
    except kind as problem:
        if dialect.is_disconnect(problem, driver, None):
            # SQLAlchemy has not seen this error. Ask it once: it notices the loss, drops all pooled
            # connections and raises its own error.
            conn.exec_driver_sql("SELECT 1")
        raise sa.exc.DBAPIError.instance("", None, problem, kind) from None


@contextmanager
def pipelined(conn: sa.Connection) -> Iterator[None]:
    """Send what is written here to PostgreSQL at once."""
    with (
        _driver(conn) as cursor,
        cursor.connection.pipeline() if schema_of(conn) else nullcontext(),
    ):
        yield


_LOCK = Prepared(sa.select(sa.func.pg_advisory_xact_lock(sa.bindparam("number", type_=INTEGER))))


@contextmanager
def reading(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Open a connection that sees one state of the database."""
    level: dict[str, Any] = {}
    if schema_of(engine):
        level = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    with engine.connect() as conn:
        yield conn.execution_options(**level)


@contextmanager
def writing(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Open a connection that commits all of its work at once; one writer at a time."""
    schema = schema_of(engine)
    if schema:
        # what we read once we have the lock includes what the last writer committed
        level = {"isolation_level": "READ COMMITTED"}
    else:
        level = {"begin": "BEGIN IMMEDIATE"}
    with engine.connect() as conn:
        chosen = conn.execution_options(**level)
        with chosen.begin():
            if schema:
                with pipelined(chosen):  # BEGIN and the lock go in one round trip
                    _LOCK(chosen, number=lock_number(schema, "writing"))
            yield chosen
