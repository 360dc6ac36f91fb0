"""Check what the tables of a project hold before anybody relies on it.

SQLite keeps any value in any column, and a file may come from anywhere. Here it is settled that
values are of the kinds of their columns, that rows belong together, and that what undo goes back by
leads back; what is JSON is checked where it is decoded.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Boolean, Connection, Float, Integer, Table
from sqlalchemy.types import TypeEngine

from alignkit.annotate.names import TASKS
from alignkit.annotate.tables.schema import METADATA, account, event, stream

LOG = account, stream, event
"""The tables from which all others can be made anew."""

_MOST = 2**53 - 1
_TASKS = ", ".join(f"'{task}'" for task in TASKS)
_GAPS = 'SELECT count(*) = 0 OR min({1}) <> 0 OR max({1}) <> count(*) - 1 FROM "{0}"'
_RULES = {
    "the settings are missing, or name no task": "SELECT count(*) <> 1 OR"
    f" max(task NOT IN ({_TASKS})) FROM project",
    "an annotator is missing": _GAPS.format("account", "id"),
    "a pair is missing": _GAPS.format("pair", "k"),
    "a pair has no words": "SELECT 1 FROM pair LEFT JOIN pair_text ON pair_text.pair = k"
    " AND pair_text.rev = pair.rev WHERE k > 0 AND pair_text.rev IS NULL LIMIT 1",
    "the stream of the project is missing": "SELECT count(*) <> 1 OR max(pair + account) <> 0"
    " FROM stream WHERE pair = 0 OR account = 0",
    "a stream has no counts": "SELECT 1 FROM stream LEFT JOIN pair_counts USING (account, pair)"
    " WHERE pair > 0 AND links IS NULL LIMIT 1",
    "an undo goes back to nothing": "SELECT 1 FROM stream WHERE max(undo_top, redo_top) > seq"
    " LIMIT 1",
    "an undo goes back to a later event": "SELECT 1 FROM event WHERE below >= seq LIMIT 1",
}
"""What is asked, by what is wrong where the answer is yes."""


def wrong_value(conn: Connection, tables: Iterable[Table]) -> str:
    """Return the column that holds a value of a wrong kind, in words; empty if none does."""
    for table in tables:
        wrong = conn.exec_driver_sql(_of_kinds(table)).scalar()
        if wrong is not None:
            return f"{table.name}.{wrong} holds a value of another kind"
    return ""


def first_fault(conn: Connection) -> str:
    """Return the first fault of the tables of a project, in words; empty if there is none."""
    if fault := wrong_value(conn, METADATA.sorted_tables):
        return fault
    row = conn.exec_driver_sql("PRAGMA foreign_key_check").first()
    if row is not None:
        return f"a row of {row[0]} belongs to a row of {row[2]} that is missing"
    return next(
        (message for message, asked in _RULES.items() if conn.exec_driver_sql(asked).scalar()), ""
    )


def _of_kinds(table: Table) -> str:
    kinds = ((column.name, _is(column.type).format(f'"{column.name}"')) for column in table.columns)
    cases = " ".join(f"WHEN NOT ({holds}) THEN '{name}'" for name, holds in kinds)
    return f'SELECT CASE {cases} END AS wrong FROM "{table.name}" WHERE wrong IS NOT NULL LIMIT 1'


def _is(kind: TypeEngine[object]) -> str:
    if isinstance(kind, Boolean):
        return "typeof({0}) = 'integer' AND {0} IN (0, 1)"
    if isinstance(kind, Integer):
        return f"typeof({{0}}) = 'integer' AND {{0}} BETWEEN 0 AND {_MOST}"
    if isinstance(kind, Float):
        return "typeof({0}) IN ('integer', 'real') AND abs({0}) < 1e300"
    return "typeof({0}) = 'text'"
