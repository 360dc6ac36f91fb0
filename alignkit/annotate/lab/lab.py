"""A lab: its place (a folder, or a database of PostgreSQL) and its parts."""

from __future__ import annotations

import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.schema import CreateColumn

from alignkit.annotate.lab import (
    accounts,
    audit,
    claims,
    join_links,
    passwords,
    projects,
    schema,
    sessions,
    steps,
    tokens,
)
from alignkit.annotate.lab.values import DAY, LabError
from alignkit.annotate.project import engines, file_systems, names, places

_FILE = "lab.db"
_SCHEMA = "alignkit"


class Lab:
    """A lab that is open; all methods of its parts are synchronous and thread-safe."""

    def __init__(self, place: str, engine: sa.Engine, folder: Path | None) -> None:
        self.database = steps.LabDatabase(engine, place)
        self.key = _prepare(self.database)
        """The same as long as the lab exists; 16 hex digits."""
        self.folder = folder or _private_folder(names.own_folder() / f"lab-{self.key}")
        """The folder of the files that are not in the database."""
        self.drafts = _private_folder(self.folder / "drafts")
        self.models = _private_folder(self.folder / "models")
        self._place = place
        self._project_files = _private_folder(self.folder / "projects") if folder else None
        self.audit = audit.AuditLog(self.database)
        self.sessions = sessions.LabSessions(self.database)
        self.accounts = accounts.Accounts(self.database, self.sessions)
        self.tokens = tokens.Tokens(self.database)
        self.projects = projects.Projects(self.database)
        self.claims = claims.Claims(self.database, self.projects)
        self.links = join_links.JoinLinks(
            self.database, self.accounts, self.sessions, self.projects
        )
        self._opened = ExitStack()

    @classmethod
    def open(cls, place: str, *, serve: bool = False) -> Lab:
        """Open a lab, or make it; only one process may serve it, which keeps sessions in memory."""
        with ExitStack() as undo:
            folder = None if names.is_url(place) else _folder(place)
            if folder is None:
                database = f"{place}#{_SCHEMA}"
                engine = engines.postgres_engine(*engines.parsed(database))
            else:
                database = str(folder / _FILE)
                engine = engines.sqlite_engine(database)
            undo.callback(engines.close, engine)
            if serve:
                with _refusing():
                    undo.callback(places.take_lock(database).release)
            lab = cls(place, engine, folder)
            if serve and folder:
                with _refusing():
                    file_systems.check_locks(database, lab.database.change())
            lab._opened = undo.pop_all()
            lab._opened.callback(lab.tidy)
        return lab

    def close(self) -> None:
        """Write what waits, and close the database; a second call does nothing."""
        self._opened.close()

    def project_place(self, key: str) -> str:
        """Return the place of a project, for `Store.open`."""
        if self._project_files is None:
            return f"{self._place}#p_{key}"
        return str(self._project_files / f"{key}.alignkit")

    def tidy(self) -> None:
        """Write when sessions and tokens were used, log failures, forget what is old."""
        with self.database.change() as step:
            for part in (passwords, self.audit, self.sessions, self.tokens, self.links):
                part.tidy(step)
            step.delete(schema.answer, schema.answer.c.made <= step.now - DAY)


def _private_folder(folder: Path) -> Path:
    """Make a folder that only its owner can read, unless it exists."""
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _folder(place: str) -> Path:
    """Return the folder of a lab; make it with an empty database, or check it."""
    path = Path(os.path.realpath(place))
    try:
        contents = {entry.name for entry in _private_folder(path).iterdir()}
        status = path.stat()
        if contents and _FILE not in contents:
            raise LabError(f"{place}: contains other files, but no lab; give a new folder")
        if sys.platform != "win32":
            if status.st_uid != os.geteuid():
                raise LabError(f"{place}: belongs to another user; run this command as that user")
            if stat.S_IMODE(status.st_mode) & 0o077:
                raise LabError(f"{place}: is open to other users; run: chmod 700 {place}")
        os.close(os.open(path / _FILE, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as problem:
        raise LabError(f"{place}: cannot be a lab: {problem.strerror}") from None
    return path


def _prepare(database: steps.LabDatabase) -> str:
    """Make the tables in an empty database, or check their version; return the key of the lab."""
    with database.change() as step:
        inner = engines.schema_of(step.conn)
        if inner:
            step.conn.exec_driver_sql(f'CREATE SCHEMA IF NOT EXISTS "{inner}"')
        tables = sa.inspect(step.conn).get_table_names(inner or None)
        if not tables:
            schema.METADATA.create_all(step.conn, [schema.lab])
            step.insert(schema.lab, key=secrets.token_hex(8), version=schema.VERSION)
        elif "lab" not in tables:
            raise LabError(f"{database.place}: the database is not that of a lab")
        key, version = step.ask(schema.lab).one()
        if version <= schema.VERSION:
            schema.METADATA.create_all(step.conn)  # what is missing
            _add_columns(step.conn, inner)
    if version > schema.VERSION:
        raise LabError(
            f"{database.place}: was made by a newer alignkit (version {version}; this "
            f"alignkit reads up to {schema.VERSION}); upgrade alignkit"
        )
    return str(key)


def _add_columns(conn: sa.Connection, inner: str) -> None:
    """Add the columns that tables of an earlier alignkit do not have; they have a default."""
    engines.use_schema(conn)
    inspector = sa.inspect(conn)
    for table in schema.METADATA.sorted_tables:
        known = {column["name"] for column in inspector.get_columns(table.name, inner or None)}
        for column in table.columns:
            if column.name not in known:
                definition = CreateColumn(column).compile(dialect=conn.dialect)
                conn.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {definition}")


@contextmanager
def _refusing() -> Iterator[None]:
    """Turn what keeps a project from being served into an error of the lab."""
    try:
        yield
    except names.ProjectError as problem:
        raise LabError(str(problem)) from None
