"""Bring the tables of a project of an earlier version up to date: what is missing is added.

The log needs nothing: its events have defaults for what came later. Where a project must not be
written to, what is missing stands in beside the file, for this connection alone.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, Connection, Integer, MetaData, Table
from sqlalchemy.schema import CreateColumn, CreateTable


def add_missing(conn: Connection, metadata: MetaData) -> None:
    """Add the tables and columns that there are not yet; columns get their defaults."""
    known = _columns(conn, metadata)
    metadata.create_all(conn)
    for table in metadata.sorted_tables:
        for column in _missing(table, known):
            definition = CreateColumn(column).compile(dialect=conn.dialect)
            conn.exec_driver_sql(f"ALTER TABLE {_quoted(conn, table.name)} ADD COLUMN {definition}")


def stand_ins(conn: Connection, metadata: MetaData) -> list[str]:
    """Return the SQL of temporary tables and views that stand in for what there is not yet."""
    known = _columns(conn, metadata)
    made = []
    for table in metadata.sorted_tables:
        named = _quoted(conn, table.name)
        if not known[table.name]:
            made.append(str(CreateTable(table).compile(dialect=conn.dialect)))
            made[-1] = made[-1].strip().replace("CREATE TABLE", "CREATE TEMP TABLE", 1)
        elif missing := _missing(table, known):
            more = ", ".join(f"{_default(c)} AS {_quoted(conn, c.name)}" for c in missing)
            made.append(f"CREATE TEMP VIEW {named} AS SELECT *, {more} FROM main.{named}")
    return made


def _columns(conn: Connection, metadata: MetaData) -> dict[str, set[str]]:
    return {
        name: {row[1] for row in conn.exec_driver_sql(f"PRAGMA main.table_info({name!r})")}
        for name in metadata.tables
    }


def _missing(table: Table, known: dict[str, set[str]]) -> list[Column[Any]]:
    there = known[table.name]
    return [column for column in table.columns if there and column.name not in there]


def _default(column: Column[Any]) -> str:
    default: Any = column.server_default
    if isinstance(column.type, Integer):
        return str(int(default.arg))
    return "'" + str(default.arg).replace("'", "''") + "'"


def _quoted(conn: Connection, name: str) -> str:
    return conn.dialect.identifier_preparer.quote(name)
