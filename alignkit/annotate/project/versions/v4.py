"""Version 4, from 1 to 3, which had less: assignments, gold, task, learned sets, mark of use."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations

revision = "4"
down_revision = None

_TABLES = (
    "CREATE TABLE IF NOT EXISTS assignment (account INTEGER NOT NULL REFERENCES account (id), "
    "pair INTEGER NOT NULL REFERENCES pair (k), place INTEGER NOT NULL, shown BOOLEAN NOT NULL, "
    "arm TEXT NOT NULL, trial BOOLEAN NOT NULL, PRIMARY KEY (account, pair))",
    "CREATE INDEX IF NOT EXISTS assignment_place ON assignment (account, place)",
    "CREATE TABLE IF NOT EXISTS learned_set (number INTEGER NOT NULL PRIMARY KEY, "
    '"set" TEXT NOT NULL UNIQUE, parent TEXT NOT NULL, pairs INTEGER NOT NULL, '
    "made TEXT NOT NULL, before FLOAT NOT NULL, after FLOAT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS in_use (inode TEXT NOT NULL PRIMARY KEY)",  # as backups have
)
_COLUMNS = {
    "project": (
        "gold TEXT DEFAULT 'gold'",
        "task TEXT DEFAULT 'align'",
        "assigning TEXT DEFAULT ''",
        "blind INTEGER DEFAULT 0",
        "majority INTEGER DEFAULT 0",
    ),
    "pair": ("trees TEXT DEFAULT '{}'", "suggested TEXT DEFAULT ''"),
}


def upgrade(op: Operations) -> None:
    """Add what is missing."""
    for text in _TABLES:
        op.execute(text)
    for table, columns in _COLUMNS.items():
        known = {column["name"] for column in sa.inspect(op.get_bind()).get_columns(table)}
        for column in columns:
            if column.split()[0] not in known:
                op.execute(f"ALTER TABLE {table} ADD COLUMN {column} NOT NULL")
