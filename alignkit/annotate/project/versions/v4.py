"""Version 4: the mark of a file in use; a backup of an earlier version has the table."""

from __future__ import annotations

from alembic.operations import Operations

revision, down_revision = "4", "3"


def upgrade(op: Operations) -> None:
    """Add the table."""
    op.execute("CREATE TABLE IF NOT EXISTS in_use (inode TEXT NOT NULL PRIMARY KEY)")
