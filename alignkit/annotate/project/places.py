"""Open, make and lock a project at a place: a file, or a schema in PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress

import sqlalchemy as sa

from alignkit.annotate.project.database import Database, ServerLock
from alignkit.annotate.project.names import ProjectError, is_url, shown_place
from alignkit.annotate.project.postgres import (
    SchemaDatabase,
    SchemaLock,
    drop_schema,
    has_schema,
    new_schema,
)
from alignkit.annotate.project.transactions import Transactions
from alignkit.io.atomic_files import replacing_file


def open_database(
    place: str, *, readonly: bool = False, log: bool = False, accept_copy: bool = False
) -> Transactions:
    """Open the database of a project."""
    if is_url(place):
        return SchemaDatabase(place, log=log)
    return Database(place, readonly=readonly, log=log, accept_copy=accept_copy)


def take_lock(place: str) -> ServerLock | SchemaLock:
    """Take the lock with which a server has a project for itself."""
    return SchemaLock(place) if is_url(place) else ServerLock(place)


def refuse_existing(place: str) -> None:
    """Refuse a place where something is."""
    if has_schema(place) if is_url(place) else os.path.lexists(place):
        raise ProjectError(f"{shown_place(place)}: exists already; open it, or name another place")


def remove_project(place: str) -> None:
    """Delete a project; nobody may have it open."""
    if is_url(place):
        drop_schema(place)
        return
    for end in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.unlink(f"{place}{end}")


def beside(place: str) -> AbstractContextManager[str]:
    """Return where a new project is written: a file that gets its name at the end, or a schema."""
    return nullcontext(place) if is_url(place) else replacing_file(place)


@contextmanager
def new_project(place: str) -> Iterator[sa.Connection]:
    """Open a connection to the empty tables of a new project, written completely or not at all."""
    if is_url(place):
        with new_schema(place) as conn:
            yield conn
        return
    database = Database(place, new=True)
    try:
        with database.writing() as conn:
            yield conn
    except BaseException:
        database.close()
        raise
    database.finish()
