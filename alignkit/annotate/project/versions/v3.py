"""Version 3, from 1 or 2: assignments, the gold standard and the task; learned suggestions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations

revision, down_revision = "3", None

_TABLES = (
    "CREATE TABLE IF NOT EXISTS assignment (account INTEGER NOT NULL REFERENCES account (id), "
    "pair INTEGER NOT NULL REFERENCES pair (k), place INTEGER NOT NULL, shown BOOLEAN NOT NULL, "
    "arm TEXT NOT NULL, trial BOOLEAN NOT NULL, PRIMARY KEY (account, pair))",
    "CREATE INDEX IF NOT EXISTS assignment_place ON assignment (account, place)",
    "CREATE TABLE IF NOT EXISTS learned_set (number INTEGER NOT NULL PRIMARY KEY, "
    '"set" TEXT NOT NULL UNIQUE, parent TEXT NOT NULL, pairs INTEGER NOT NULL, '
    "made TEXT NOT NULL, before FLOAT NOT NULL, after FLOAT NOT NULL)",
)
_COLUMNS = {
    "project": (
        ("gold", "TEXT", "'gold'"), ("task", "TEXT", "'align'"), ("assigning", "TEXT", "''"),
        ("blind", "INTEGER", "0"), ("majority", "INTEGER", "0"),
    ),
    "pair": (("trees", "TEXT", "'{}'"), ("suggested", "TEXT", "''")),
}  # fmt: skip


def upgrade(op: Operations) -> None:
    """Add what is missing."""
    for text in _TABLES:
        op.execute(text)
    for table, columns in _COLUMNS.items():
        known = {column["name"] for column in sa.inspect(op.get_bind()).get_columns(table)}
        for name, kind, default in columns:
            if name not in known:
                text = f"ALTER TABLE {table} ADD COLUMN {name} {kind} DEFAULT {default} NOT NULL"
                op.execute(text)
