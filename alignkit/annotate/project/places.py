"""Open, make, lock and delete a project at a place: a file, or a schema in PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from alignkit.annotate.project import database, engines, schema, transactions
from alignkit.annotate.project.names import DamagedProject, ProjectError, is_url, shown_place
from alignkit.annotate.project.server_lock import ServerLock, already_served
from alignkit.io.atomic_files import replacing_file


def open_database(
    place: str, *, readonly: bool = False, log: bool = False, accept_copy: bool = False
) -> transactions.Transactions:
    """Open the database of a project."""
    if is_url(place):
        return SchemaDatabase(place, log=log)
    return database.Database(place, readonly=readonly, log=log, accept_copy=accept_copy)


def take_lock(place: str) -> ServerLock | SchemaLock:
    """Take the lock with which a server has a project for itself."""
    if is_url(place):
        return SchemaLock(place)
    return ServerLock(place)


def refuse_existing(place: str) -> None:
    """Refuse a place where something is."""
    if is_url(place):
        with SchemaDatabase(place, unchecked=True).reading() as conn:
            exists = engines.schema_of(conn) in sa.inspect(conn).get_schema_names()
    else:
        exists = os.path.lexists(place)
    if exists:
        raise ProjectError(f"{shown_place(place)}: exists already; open it, or name another place")


def remove_project(place: str) -> None:
    """Delete a project; nobody may have it open."""
    if is_url(place):
        with SchemaDatabase(place, unchecked=True).writing() as conn:
            name = engines.schema_of(conn)
            conn.execute(sa.schema.DropSchema(name, cascade=True, if_exists=True))
        return
    for end in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.unlink(f"{place}{end}")


def beside(place: str) -> AbstractContextManager[str]:
    """Return where a new project is written: a file that gets its name at the end, or a schema."""
    if is_url(place):
        return nullcontext(place)
    return replacing_file(place)


@contextmanager
def new_project(place: str) -> Iterator[sa.Connection]:
    """Open a connection to the empty tables of a new project, written completely or not at all."""
    if is_url(place):
        with SchemaDatabase(place, unchecked=True).writing() as conn:
            conn.execute(sa.schema.CreateSchema(engines.schema_of(conn)))
            schema.METADATA.create_all(conn)
            engines.use_schema(conn)
            conn.exec_driver_sql(f"CREATE TABLE revision AS SELECT {database.VERSION} AS version")
            conn.exec_driver_sql("SET CONSTRAINTS ALL DEFERRED")  # events come first
            yield conn
        return
    file = database.Database(place, new=True)
    try:
        with file.writing() as conn:
            yield conn
    except BaseException:
        file.close()
        raise
    file.finish()


# PostgreSQL

# the states that PostgreSQL reports, and classes of states: their first two characters
_NO_SCHEMA = "3F000"
_NO_TABLE = "42P01"
_SCHEMA_EXISTS = "42P06"
_NOT_ALLOWED = "42501"
_LOCKED = "55P03"
_CLASS_OUT_OF_RESOURCES = "53"
_CLASS_NO_CONNECTION = "08"
_CLASS_ENDED_BY_SERVER = "57"

_REASONS = {
    _LOCKED: "another program is writing to it; try again",
    _CLASS_OUT_OF_RESOURCES: (
        "the database is out of room, memory or connections; nothing was changed"
    ),
    _NOT_ALLOWED: "the account of the database may not do this; allow it",
    _SCHEMA_EXISTS: "exists already; name another schema",
}
_LOST_CONNECTIONS = {
    _CLASS_NO_CONNECTION: "the connection failed",
    _CLASS_ENDED_BY_SERVER: "the server ended the connection or the statement",
}
"""The classes of states after which the database counts as away, and what they mean."""
_NO_ANSWER = (
    sa.exc.OperationalError,
    sa.exc.InterfaceError,
    sa.exc.TimeoutError,
    sa.exc.PendingRollbackError,
)
"""The errors without a state that are about the connection: it was never made, broke, or none was
free. Others without a state are faults of a statement, which may fail before it is sent."""


class SchemaDatabase(transactions.Transactions):
    """The connections to a project's schema in PostgreSQL.

    If `unchecked`, the schema need not have a project: it is looked for, made or deleted. With
    `log`, nothing but the log is read.
    """

    def __init__(self, place: str, *, log: bool = False, unchecked: bool = False) -> None:
        super().__init__(place)
        # takes the lock of the server again, `SchemaLock.renew`; None if nothing is served
        self.renew: Callable[[], None] | None = None
        self._lost = False  # whether the database did not answer
        self._show_cause = True  # in messages: visitors, who come later, do not see it
        self.engine = engines.postgres_engine(*engines.parsed(place))
        if not unchecked:
            self._start(log)
            self._show_cause = False

    def _start(self, log: bool) -> None:
        """Check the version and the tables, or only that the log can be read."""
        with self.reading() as conn:
            table = sa.func.to_regclass(f"{engines.schema_of(conn)}.revision")
            if conn.execute(sa.select(table)).scalar() is None:
                raise ProjectError(f"{shown_place(self.path)}: there is no alignkit project here")
            engines.use_schema(conn)
            version = conn.exec_driver_sql("SELECT version FROM revision").scalar() or 0
        database.check_version(self.path, version, log=log)
        self.is_old = version < database.VERSION
        if log:
            return
        with self.reading() as conn:
            fault = database.first_fault(conn)
        if fault:
            raise DamagedProject(self.path, fault)

    def _prepare(self) -> None:
        """Take the lock again if the database did not answer."""
        if self._lost and self.renew is not None:
            self.renew()
        self._lost = False

    def _refusal(self, problem: Exception) -> ProjectError:
        """Return the error for what PostgreSQL reports, by its state; see its appendix A.

        If it does not answer, that is kept for `_prepare`, before the next transaction.
        """
        cause = getattr(problem, "orig", problem)
        state = getattr(cause, "sqlstate", None) or ""
        said = str(cause).partition("\n")[0]  # further lines may have values
        if state in (_NO_SCHEMA, _NO_TABLE):
            return DamagedProject(self.path, said)
        state_class = state[:2]
        reason = _REASONS.get(state) or _REASONS.get(state_class, "")
        if _is_away(problem, state_class):
            self._lost = True
            reason = "the database does not answer; try again"
            if self._show_cause:
                reason += f" ({said})"
        return database.away_or_faulty(self.path, reason, said)


def _is_away(problem: Exception, state_class: str) -> bool:
    """Return whether an error says that the database cannot be reached, or not any more."""
    if getattr(problem, "connection_invalidated", False):
        return True
    if state_class:
        return state_class in _LOST_CONNECTIONS
    return isinstance(problem, _NO_ANSWER)


class SchemaLock:
    """The lock of a schema, for as long as a server has it open."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._engine = engines.postgres_engine(*engines.parsed(place))
        self._conn: sa.Connection | None = None
        self.renew()

    def renew(self) -> None:
        """Take the lock, unless its connection still has it."""
        if self._conn is not None:
            try:
                self._conn.exec_driver_sql("SELECT 1")
            except DBAPIError:
                self._conn.close()
                self._conn = None
            else:
                return
        conn = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        conn.detach()  # it is not for others
        number = engines.lock_number(engines.schema_of(self._engine), "serving")
        if not conn.execute(sa.select(sa.func.pg_try_advisory_lock(number))).scalar():
            conn.close()
            raise ProjectError(already_served(shown_place(self._place)))
        self._conn = conn

    def release(self) -> None:
        """Release the project; a second call does nothing."""
        if self._conn is not None:
            self._conn.close()
            self._conn = None
