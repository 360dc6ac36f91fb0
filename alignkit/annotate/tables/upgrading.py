"""Bring the tables of a project of an earlier version up to date: what is missing is added.

The log needs nothing: its events have defaults for what came later. Where a project must not be
written to, what is missing stands in beside the file, for this connection alone.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, Connection, Integer, MetaData, Table
from sqlalchemy.schema import CreateColumn, CreateTable


def add_missing(link: Connection, metadata: MetaData) -> None:
    """Add the tables and columns that there are not yet; columns get their defaults."""
    known = _columns(link, metadata)
    metadata.create_all(link)
    for table in metadata.sorted_tables:
        for column in _missing(table, known):
            told = CreateColumn(column).compile(dialect=link.dialect)
            link.exec_driver_sql(f"ALTER TABLE {_quoted(link, table.name)} ADD COLUMN {told}")


def stand_ins(link: Connection, metadata: MetaData) -> list[str]:
    """Return the SQL of temporary tables and views that stand in for what there is not yet."""
    known = _columns(link, metadata)
    made = []
    for table in metadata.sorted_tables:
        named = _quoted(link, table.name)
        if not known[table.name]:
            made.append(str(CreateTable(table).compile(dialect=link.dialect)))
            made[-1] = made[-1].strip().replace("CREATE TABLE", "CREATE TEMP TABLE", 1)
        elif missing := _missing(table, known):
            more = ", ".join(f"{_default(c)} AS {_quoted(link, c.name)}" for c in missing)
            made.append(f"CREATE TEMP VIEW {named} AS SELECT *, {more} FROM main.{named}")
    return made


def _columns(link: Connection, metadata: MetaData) -> dict[str, set[str]]:
    """Return the columns that each table of `metadata` has in the file; none, if it is missing."""
    return {
        name: {row[1] for row in link.exec_driver_sql(f"PRAGMA main.table_info({name!r})")}
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


def _quoted(link: Connection, name: str) -> str:
    return link.dialect.identifier_preparer.quote(name)
