"""The tables of a project; nothing here is SQLite's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.schema import CreateColumn, CreateTable

from alignkit.annotate.project.names import GOLD

METADATA = MetaData()

project = Table(
    "project",
    METADATA,
    Column("key", String(36), primary_key=True),
    Column("name", Text, nullable=False),
    Column("scheme", Text, nullable=False),
    Column("threshold", Float, nullable=False),
    Column("suggestions", Text, nullable=False),
    Column("gold", Text, nullable=False, server_default=GOLD),
    Column("task", Text, nullable=False, server_default="align"),
    Column("assigning", Text, nullable=False, server_default=""),
    Column("blind", Integer, nullable=False, server_default="0"),
    Column("majority", Integer, nullable=False, server_default="0"),
)
"""One row: its key is the project's own, the same in every copy; `gold` names the gold standard,
`assigning` is the plan of assignment as JSON; `blind` and `majority` (0 or 1) say how
pairs are adjudicated."""

account = Table(
    "account",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False, unique=True),
)
"""The annotators; 0 is the project itself."""

pair = Table(
    "pair",
    METADATA,
    Column("k", Integer, primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False, index=True),
    Column("attributes", Text, nullable=False),
    Column("rev", Integer, nullable=False),
    Column("search", Text, nullable=False),
    Column("trees", Text, nullable=False, server_default="{}"),
    Column("suggested", Text, nullable=False, server_default=""),
)
"""The pairs, from 1 (0 is the project); `search` is id and words as they are searched, `trees` are
those with which the pair came, as JSON, `suggested` is the learned set that is shown in place of
the set that the project shows."""

pair_text = Table(
    "pair_text",
    METADATA,
    Column("pair", ForeignKey("pair.k"), primary_key=True),
    Column("rev", Integer, primary_key=True, autoincrement=False),
    Column("source", Text, nullable=False),
    Column("target", Text, nullable=False),
)
"""The words as JSON; a correction adds a row."""

stream = Table(
    "stream",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("pair", ForeignKey("pair.k"), nullable=False),
    Column("account", ForeignKey("account.id"), nullable=False),
    Column("seq", Integer, nullable=False),
    Column("undo_top", Integer, nullable=False),
    Column("redo_top", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("notes", Text, nullable=False),
    UniqueConstraint("account", "pair"),
    Index("stream_pair", "pair"),
)
"""The snapshot of each stream; `notes` are its comments as they are searched."""

event_table = Table(
    "event",
    METADATA,
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("id", String(64), nullable=False, unique=True),
    Column("stream", ForeignKey("stream.id"), nullable=False),
    Column("seq", Integer, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("v", Integer, nullable=False),
    Column("actor", Text, nullable=False),
    Column("at", String(32), nullable=False),
    Column("client_at", String(64), nullable=False),
    Column("below", Integer, nullable=False),
    Column("sent", String(64), nullable=False),
    Column("data", Text, nullable=False),
    UniqueConstraint("stream", "seq"),
)
"""The log, in the order of `n`; rows are added, never changed."""

suggestion = Table(
    "suggestion",
    METADATA,
    Column("set", Text, primary_key=True),
    Column("pair", ForeignKey("pair.k"), primary_key=True),
    Column("cells", Text, nullable=False),
)
"""The suggested cells of each pair as JSON, by set."""

learned_set = Table(
    "learned_set",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("set", Text, nullable=False, unique=True),
    Column("parent", Text, nullable=False),
    Column("pairs", Integer, nullable=False),
    Column("made", String(32), nullable=False),
    Column("before", Float, nullable=False),
    Column("after", Float, nullable=False),
)
"""What each learned set of suggestions was learned from; see `LearnedFrom`."""

pair_counts = Table(
    "pair_counts",
    METADATA,
    Column("account", ForeignKey("account.id"), primary_key=True),
    Column("pair", ForeignKey("pair.k"), primary_key=True),
    Column("links", Integer, nullable=False),
    Column("nulls", Integer, nullable=False),
    Column("comments", Integer, nullable=False),
    Column("done", Boolean, nullable=False),
    Index("pair_counts_done", "account", "done", "pair"),
)
"""What each stream holds, for lists and totals that look at no state."""

assignment = Table(
    "assignment",
    METADATA,
    Column("account", ForeignKey("account.id"), primary_key=True),
    Column("pair", ForeignKey("pair.k"), primary_key=True),
    Column("place", Integer, nullable=False),
    Column("shown", Boolean, nullable=False),
    Column("arm", String(16), nullable=False),
    Column("trial", Boolean, nullable=False),
    Index("assignment_place", "account", "place"),
)
"""Whose pairs are whose, and in what order; where there is no row at all, all are everybody's."""


def add_missing(conn: Connection, metadata: MetaData) -> None:
    """Add the tables and columns that there are not yet; columns get their defaults."""
    missing = list(_missing(conn, metadata))
    metadata.create_all(conn)
    for table, columns in missing:
        for column in columns:
            definition = CreateColumn(column).compile(dialect=conn.dialect)
            conn.exec_driver_sql(f"ALTER TABLE {_quoted(conn, table.name)} ADD COLUMN {definition}")


def stand_ins(conn: Connection, metadata: MetaData) -> list[str]:
    """Return the SQL of temporary tables and views that stand in for what there is not yet."""
    made = []
    for table, columns in _missing(conn, metadata):
        named = _quoted(conn, table.name)
        if not columns:
            new = str(CreateTable(table).compile(dialect=conn.dialect)).strip()
            made.append(new.replace("CREATE TABLE", "CREATE TEMP TABLE", 1))
        else:
            more = ", ".join(f"{_default(c)} AS {_quoted(conn, c.name)}" for c in columns)
            made.append(f"CREATE TEMP VIEW {named} AS SELECT *, {more} FROM main.{named}")
    return made


def _missing(conn: Connection, metadata: MetaData) -> Iterator[tuple[Table, list[Column[Any]]]]:
    """Yield the tables that lack columns, with these; no columns if the table is not there."""
    for table in metadata.sorted_tables:
        rows = conn.exec_driver_sql(f"PRAGMA main.table_info({table.name!r})").fetchall()
        known = {row[1] for row in rows}
        columns = [column for column in table.columns if known and column.name not in known]
        if columns or not known:
            yield table, columns


def _default(column: Column[Any]) -> str:
    default: Any = column.server_default
    if isinstance(column.type, Integer):
        return str(int(default.arg))
    return "'" + str(default.arg).replace("'", "''") + "'"


def _quoted(conn: Connection, name: str) -> str:
    return conn.dialect.identifier_preparer.quote(name)
