"""Open a project in PostgreSQL: a schema in a database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from threading import Lock

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from alignkit.annotate.project import engines, schema
from alignkit.annotate.project.database import (
    VERSION,
    VERSIONS,
    away_or_faulty,
    check_version,
    first_fault,
    taken,
)
from alignkit.annotate.project.migrations import upgrade
from alignkit.annotate.project.names import DamagedProject, ProjectError, shown_place
from alignkit.annotate.project.transactions import Transactions

_OLDEST = 14  # of PostgreSQL
_REASONS = {
    "55P03": "another program is writing to it; try again",
    "53": "the database is out of room, memory or connections; nothing was changed",
    "42501": "the account of the database may not do this; allow it",
    "42P06": "exists already; name another schema",
}


class SchemaDatabase(Transactions):
    """The connections to a project's schema."""

    def __init__(self, place: str, *, log: bool = False, new: bool = False) -> None:
        super().__init__(place)
        self.renew: Callable[[], None] | None = None
        self._lost = self._started = False
        self.engine = engines.postgres_engine(*engines.parsed(place))
        with ExitStack() as undo:
            undo.callback(self.close)
            if not new:
                self._start(log)
            self._started = True
            undo.pop_all()

    def _start(self, log: bool) -> None:
        with self.reading() as conn:
            there = _there(conn, f"{engines.schema_of(conn)}.revision")
            version = _version(conn) if there else 0
        if not there:
            raise ProjectError(f"{shown_place(self.path)}: there is no alignkit project here")
        check_version(self.path, version)
        if version < VERSION:
            with self.writing() as conn:
                if (version := _version(conn)) < VERSION:
                    upgrade(conn, VERSIONS, version, VERSION)
                    conn.exec_driver_sql(f"UPDATE revision SET version = {VERSION}")
        with self.reading() as conn:
            if not log and (fault := first_fault(conn)):
                raise DamagedProject(self.path, fault)

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Open a connection that commits all of its work at once; one writer at a time."""
        if self._lost and self.renew is not None:
            with self._refusing():
                self.renew()
            self._lost = False
        with super().writing() as conn:
            yield conn

    def _refusal(self, problem: Exception) -> ProjectError:
        cause = getattr(problem, "orig", problem)
        state = getattr(cause, "sqlstate", None) or ""
        said = str(cause).partition("\n")[0]  # further lines may have values
        if state in ("3F000", "42P01"):
            return DamagedProject(self.path, said)
        reason = next((text for sign, text in _REASONS.items() if state.startswith(sign)), "")
        if getattr(problem, "connection_invalidated", False) or state[:2] in ("", "08", "57"):
            self._lost = True
            why = "" if self._started else f" ({said})"  # which is not for visitors
            reason = f"the database does not answer; try again{why}"
        return away_or_faulty(self.path, reason, said)


def _there(conn: sa.Connection, table: str) -> bool:
    return conn.execute(sa.select(sa.func.to_regclass(table))).scalar() is not None


def _version(conn: sa.Connection) -> int:
    engines.use_schema(conn)
    return int(conn.exec_driver_sql("SELECT version FROM revision").scalar() or 0)


def has_schema(place: str) -> bool:
    """Return whether the schema of a place exists."""
    database = SchemaDatabase(place, new=True)
    try:
        with database.reading() as conn:
            return engines.schema_of(conn) in sa.inspect(conn).get_schema_names()
    finally:
        database.close()


def drop_schema(place: str) -> None:
    """Delete the schema of a place."""
    database = SchemaDatabase(place, new=True)
    try:
        with database.writing() as conn:
            name = engines.schema_of(conn)
            conn.execute(sa.schema.DropSchema(name, cascade=True, if_exists=True))
    finally:
        database.close()


@contextmanager
def new_schema(place: str) -> Iterator[sa.Connection]:
    """Open a connection to a new project; its schema is there at the end, or not at all."""
    database = SchemaDatabase(place, new=True)
    try:
        with database.writing() as conn:
            version = int((conn.dialect.server_version_info or (0,))[0])
            encoding = conn.exec_driver_sql("SHOW server_encoding").scalar()
            if version < _OLDEST or encoding != "UTF8":
                need = f"PostgreSQL {_OLDEST} or newer with the encoding UTF8"
                held = f"has version {version} and {encoding}"
                raise ProjectError(f"{shown_place(place)}: the database {held}; needs {need}")
            conn.execute(sa.schema.CreateSchema(engines.schema_of(conn)))
            schema.METADATA.create_all(conn)
            engines.use_schema(conn)
            conn.exec_driver_sql(f"CREATE TABLE revision AS SELECT {VERSION} AS version")
            conn.exec_driver_sql("SET CONSTRAINTS ALL DEFERRED")
            yield conn
    finally:
        database.close()


class SchemaLock:
    """The lock of a schema, for as long as a server has it open."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._engine = engines.postgres_engine(*engines.parsed(place))
        self._conn: sa.Connection | None = None
        self._renewing = Lock()
        with ExitStack() as undo:
            undo.callback(engines.close, self._engine)
            self.renew()
            undo.pop_all()

    def renew(self) -> None:
        """Take the lock; again, if its connection was lost."""
        with self._renewing:
            if self._conn is not None:
                with suppress(DBAPIError):
                    self._conn.exec_driver_sql("SELECT 1")
                    return
                self._conn.close()
                self._conn = None
            conn = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            conn.detach()  # it is not for others
            number = engines.lock_number(engines.schema_of(self._engine), "serving")
            if not conn.execute(sa.select(sa.func.pg_try_advisory_lock(number))).scalar():
                conn.close()
                raise ProjectError(taken(shown_place(self._place)))
            self._conn = conn

    def release(self) -> None:
        """Release the project; a second call does nothing."""
        if self._conn is not None:
            self._conn.close()
            self._conn = None
            engines.close(self._engine)
