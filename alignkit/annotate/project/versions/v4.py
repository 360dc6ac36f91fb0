"""Version 4: the mark of a file in use."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations

revision, down_revision = "4", "3"


def upgrade(op: Operations) -> None:
    """Add the table."""
    op.create_table("in_use", sa.Column("inode", sa.Text, primary_key=True))
