"""Version 3, from 1 or 2: assignments, the gold standard and the task; learned suggestions."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic.operations import Operations

from alignkit.annotate.project.schema import add_missing

revision, down_revision = "3", None

_METADATA = sa.MetaData()


def _column(name: str, default: str, kind: Any = sa.Text) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False, server_default=default)


sa.Table(
    "project", _METADATA, _column("gold", "gold"), _column("task", "align"),
    _column("assigning", ""), _column("blind", "0", sa.Integer),
    _column("majority", "0", sa.Integer),
)  # fmt: skip
sa.Table("account", _METADATA, sa.Column("id", sa.Integer, primary_key=True))
sa.Table(
    "pair", _METADATA, sa.Column("k", sa.Integer, primary_key=True), _column("trees", "{}"),
    _column("suggested", ""),
)  # fmt: skip
sa.Table(
    "learned_set", _METADATA,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("set", sa.Text, nullable=False, unique=True),
    sa.Column("parent", sa.Text, nullable=False),
    sa.Column("pairs", sa.Integer, nullable=False),
    sa.Column("made", sa.Text, nullable=False),
    sa.Column("before", sa.Float, nullable=False),
    sa.Column("after", sa.Float, nullable=False),
)  # fmt: skip
sa.Table(
    "assignment", _METADATA,
    sa.Column("account", sa.ForeignKey("account.id"), primary_key=True),
    sa.Column("pair", sa.ForeignKey("pair.k"), primary_key=True),
    sa.Column("place", sa.Integer, nullable=False),
    sa.Column("shown", sa.Boolean, nullable=False),
    sa.Column("arm", sa.Text, nullable=False),
    sa.Column("trial", sa.Boolean, nullable=False),
    sa.Index("assignment_place", "account", "place"),
)  # fmt: skip


def upgrade(op: Operations) -> None:
    """Add what is missing."""
    add_missing(op.get_bind(), _METADATA)
