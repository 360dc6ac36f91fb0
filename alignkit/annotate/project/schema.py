"""The tables of a project."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.schema import CreateTable

from alignkit.annotate.project.engines import INTEGER, TEXT
from alignkit.annotate.project.names import GOLD

METADATA = sa.MetaData()


def _filled(**kinds: Any) -> list[sa.Column[Any]]:
    """Return columns of these names and kinds that cannot be null."""
    return [sa.Column(name, kind, nullable=False) for name, kind in kinds.items()]


project = sa.Table(
    "project",
    METADATA,
    sa.Column("key", TEXT, primary_key=True),
    *_filled(name=TEXT, scheme=TEXT, threshold=sa.Float, suggestions=TEXT),
    sa.Column("gold", TEXT, nullable=False, server_default=GOLD),
    sa.Column("task", TEXT, nullable=False, server_default="align"),
    sa.Column("assigning", TEXT, nullable=False, server_default=""),
    sa.Column("blind", INTEGER, nullable=False, server_default="0"),
    sa.Column("majority", INTEGER, nullable=False, server_default="0"),
)
"""One row: its key is the project's own, the same in every copy; `gold` names the gold standard,
`assigning` is the plan of assignment as JSON; `blind` and `majority` (0 or 1) are the rules of
adjudication."""

account = sa.Table(
    "account",
    METADATA,
    sa.Column("id", INTEGER, primary_key=True, autoincrement=False),
    sa.Column("name", TEXT, nullable=False, unique=True),
)
"""The annotators; 0 is the project itself."""

pair = sa.Table(
    "pair",
    METADATA,
    sa.Column("k", INTEGER, primary_key=True, autoincrement=False),
    sa.Column("id", TEXT, nullable=False, index=True),
    *_filled(attributes=TEXT, rev=INTEGER, search=TEXT),
    sa.Column("trees", TEXT, nullable=False, server_default="{}"),
    sa.Column("suggested", TEXT, nullable=False, server_default=""),
)
"""The pairs, from 1 (0 is the project); `search` is id and words for searching, `trees` are those
with which the pair was imported, as JSON, `suggested` is the learned set that is shown instead of
the project's own set."""

pair_text = sa.Table(
    "pair_text",
    METADATA,
    sa.Column("pair", sa.ForeignKey("pair.k"), primary_key=True),
    sa.Column("rev", INTEGER, primary_key=True, autoincrement=False),
    *_filled(source=TEXT, target=TEXT),
)
"""The words as JSON; a correction adds a row."""

stream = sa.Table(
    "stream",
    METADATA,
    sa.Column("id", INTEGER, primary_key=True, autoincrement=False),
    sa.Column("pair", sa.ForeignKey("pair.k"), nullable=False),
    sa.Column("account", sa.ForeignKey("account.id"), nullable=False),
    *_filled(seq=INTEGER, undo_top=INTEGER, redo_top=INTEGER, state=TEXT),
    *_filled(notes=TEXT),
    sa.UniqueConstraint("account", "pair"),
    sa.Index("stream_pair", "pair"),
)
"""The snapshot of each stream; `notes` are its comments for searching."""

event_table = sa.Table(
    "event",
    METADATA,
    sa.Column("n", INTEGER, primary_key=True, autoincrement=False),
    sa.Column("id", TEXT, nullable=False, unique=True),
    sa.Column("stream", sa.ForeignKey("stream.id", deferrable=True), nullable=False),
    *_filled(seq=INTEGER, kind=TEXT, v=INTEGER, actor=TEXT, at=TEXT),
    *_filled(client_at=TEXT, below=INTEGER, sent=TEXT, data=TEXT),
    sa.UniqueConstraint("stream", "seq"),
)
"""The log, in the order of `n`; rows are added, never changed."""

suggestion = sa.Table(
    "suggestion",
    METADATA,
    sa.Column("set", TEXT, primary_key=True),
    sa.Column("pair", sa.ForeignKey("pair.k"), primary_key=True),
    *_filled(cells=TEXT),
)
"""The suggested cells of each pair as JSON, by set."""

learned_set = sa.Table(
    "learned_set",
    METADATA,
    sa.Column("number", INTEGER, primary_key=True, autoincrement=False),
    sa.Column("set", TEXT, nullable=False, unique=True),
    *_filled(parent=TEXT, pairs=INTEGER, made=TEXT, before=sa.Float, after=sa.Float),
)
"""The data from which each learned set of suggestions was learned; see `LearnedFrom`."""

pair_counts = sa.Table(
    "pair_counts",
    METADATA,
    sa.Column("account", sa.ForeignKey("account.id"), primary_key=True),
    sa.Column("pair", sa.ForeignKey("pair.k"), primary_key=True),
    *_filled(links=INTEGER, nulls=INTEGER, comments=INTEGER, done=sa.Boolean),
    sa.Index("pair_counts_done", "account", "done", "pair"),
)
"""The counts of each stream, for lists and totals that need no state."""

assignment = sa.Table(
    "assignment",
    METADATA,
    sa.Column("account", sa.ForeignKey("account.id"), primary_key=True),
    sa.Column("pair", sa.ForeignKey("pair.k"), primary_key=True),
    *_filled(place=INTEGER, shown=sa.Boolean, arm=TEXT, trial=sa.Boolean),
    sa.Index("assignment_place", "account", "place"),
)
"""The order of each annotator's pairs; without a plan, everybody has all pairs."""

in_use = sa.Table("in_use", METADATA, sa.Column("inode", TEXT, primary_key=True))
"""The inode of the file while a server has it open: a plain copy has another."""


def stand_ins(conn: sa.Connection, metadata: sa.MetaData) -> list[str]:
    """Return the SQL of temporary tables and views that replace missing ones."""
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


def _missing(
    conn: sa.Connection, metadata: sa.MetaData
) -> Iterator[tuple[sa.Table, list[sa.Column[Any]]]]:
    """Yield the tables that lack columns, with these; no columns if the table is missing."""
    for table in metadata.sorted_tables:
        rows = conn.exec_driver_sql(f"PRAGMA main.table_info({table.name!r})").fetchall()
        known = {row[1] for row in rows}
        columns = [column for column in table.columns if known and column.name not in known]
        if columns or not known:
            yield table, columns


def _default(column: sa.Column[Any]) -> str:
    default: Any = column.server_default
    number = isinstance(column.type, sa.Integer)
    return str(int(default.arg)) if number else "'" + str(default.arg).replace("'", "''") + "'"


def _quoted(conn: sa.Connection, name: str) -> str:
    return conn.dialect.identifier_preparer.quote(name)
