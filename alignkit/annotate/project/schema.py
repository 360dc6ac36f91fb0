"""The tables of a project."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.schema import CreateTable

from alignkit.annotate.project.engines import columns
from alignkit.annotate.project.names import GOLD

METADATA = sa.MetaData()

project = sa.Table(
    "project",
    METADATA,
    *columns("key", "name scheme threshold~ suggestions"),
    *columns("", f"gold={GOLD} task=align assigning= blind#=0 majority#=0"),
)
"""One row: its key is the project's own, the same in every copy; `gold` names the gold standard,
`assigning` is the plan of assignment as JSON; `blind` and `majority` (0 or 1) are the rules of
adjudication."""

account = sa.Table("account", METADATA, *columns("id#", "name"), sa.UniqueConstraint("name"))
"""The annotators; 0 is the project itself."""

pair = sa.Table(
    "pair",
    METADATA,
    *columns("k#", "id attributes rev# search trees={} suggested="),
    sa.Index("ix_pair_id", "id"),
)
"""The pairs, from 1 (0 is the project); `search` is id and words for searching, `trees` are those
with which the pair was imported, as JSON, `suggested` is the learned set that is shown instead of
the project's own set."""

pair_text = sa.Table("pair_text", METADATA, *columns("pair.k rev#", "source target"))
"""The words as JSON; a correction adds a row."""

stream = sa.Table(
    "stream",
    METADATA,
    *columns("id#", "pair.k account.id seq# undo_top# redo_top# state notes"),
    sa.UniqueConstraint("account", "pair"),
    sa.Index("stream_pair", "pair"),
)
"""The snapshot of each stream; `notes` are its comments for searching."""

event_table = sa.Table(
    "event",
    METADATA,
    *columns("n#", "id"),
    sa.Column("stream", sa.ForeignKey("stream.id", deferrable=True), nullable=False),
    *columns("", "seq# kind v# actor at client_at below# sent data"),
    sa.UniqueConstraint("stream", "seq"),
    sa.UniqueConstraint("id"),
)
"""The log, in the order of `n`; rows are added, never changed."""

suggestion = sa.Table("suggestion", METADATA, *columns("set pair.k", "cells"))
"""The suggested cells of each pair as JSON, by set."""

learned_set = sa.Table(
    "learned_set",
    METADATA,
    *columns("number#", "set parent pairs# made before~ after~"),
    sa.UniqueConstraint("set"),
)
"""The data from which each learned set of suggestions was learned; see `LearnedFrom`."""

pair_counts = sa.Table(
    "pair_counts",
    METADATA,
    *columns("account.id pair.k", "links# nulls# comments# done+"),
    sa.Index("pair_counts_done", "account", "done", "pair"),
)
"""The counts of each stream, for lists and totals that need no state."""

assignment = sa.Table(
    "assignment",
    METADATA,
    *columns("account.id pair.k", "place# shown+ arm trial+"),
    sa.Index("assignment_place", "account", "place"),
)
"""The order of each annotator's pairs; without a plan, everybody has all pairs."""

in_use = sa.Table("in_use", METADATA, *columns("inode"))
"""The inode of the file while a server has it open: a plain copy has another."""


def stand_ins(conn: sa.Connection) -> list[str]:
    """Return the SQL of temporary tables and views that replace missing ones."""
    made = []
    for table in METADATA.sorted_tables:
        rows = conn.exec_driver_sql(f"PRAGMA main.table_info({table.name!r})")
        known = {row[1] for row in rows}
        lacking = [column for column in table.columns if column.name not in known]
        if not known:
            new = str(CreateTable(table).compile(dialect=conn.dialect)).strip()
            made.append(new.replace("CREATE TABLE", "CREATE TEMP TABLE", 1))
        elif lacking:
            more = ", ".join(f'{_default(column)} AS "{column.name}"' for column in lacking)
            named = f'"{table.name}"'
            made.append(f"CREATE TEMP VIEW {named} AS SELECT *, {more} FROM main.{named}")
    return made


def _default(column: sa.Column[Any]) -> str:
    default: Any = column.server_default
    if isinstance(column.type, sa.Integer):
        return str(default.arg)
    return f"'{default.arg}'"
