"""The tables of a lab; times are seconds since 1970, secrets are stored as their SHA-256."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from alignkit.annotate.project.engines import INTEGER, TEXT

METADATA = sa.MetaData()
_KINDS: dict[str, Any]
_KINDS = {"texts": TEXT, "numbers": INTEGER, "maybe": INTEGER, "flags": sa.Boolean}
VERSION = 1
"""The version of the tables."""


def _table(title: str, *columns: sa.Column[Any], **named: str) -> sa.Table:
    """Return a table with more columns, named by their kind."""
    more: list[sa.Column[Any]] = [
        sa.Column(name, _KINDS[kind], nullable=kind == "maybe")
        for kind, names in named.items()
        for name in names.split()
    ]
    return sa.Table(title, METADATA, *columns, *more)


def _key(name: str, kind: Any = TEXT) -> sa.Column[Any]:
    return sa.Column(name, kind, primary_key=True)


def _account(*, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column("account", sa.ForeignKey("account.id"), nullable=nullable, index=True)


lab = _table("lab", _key("key"), numbers="version")

account = _table(
    "account",
    _key("id", INTEGER),
    sa.Column("name", TEXT, nullable=False, unique=True),
    texts="rank state password",
    numbers="made",
    maybe="seen",
    flags="may_create",
)
"""Accounts are never deleted: a name is not given again. `password` is empty before joining."""

session = _table(
    "session",
    _key("hash"),
    _account(),
    texts="csrf address agent why",
    numbers="made seen proved",
    maybe="ended",
)

link = _table(
    "link",
    _key("hash"),
    _account(nullable=True),
    texts="kind project role by",
    numbers="expires",
    maybe="used",
)
"""Without an account it is for the first owner. Withdrawn and replaced links are deleted."""

token = _table(
    "token",
    _key("hash"),
    _account(),
    texts="begins name project",
    numbers="expires",
    maybe="used",
    flags="read_only",
)

project = _table(
    "project",
    _key("key"),
    sa.Column("slug", TEXT, nullable=False, unique=True),
    texts="name task languages state",
    numbers="made n pairs done",
    maybe="last cleared",
)
"""The row of a deleted project stays, so that its slug, which other tables hold, is not given
again; `cleared` is when its store was removed."""

role = _table(
    "role",
    sa.Column("account", sa.ForeignKey("account.id"), primary_key=True),
    sa.Column("project", sa.ForeignKey("project.slug"), primary_key=True, index=True),
    texts="role",
    flags="annotates",
)

draft = _table("draft", _key("id"), _account(), texts="project state findings", numbers="made")

draft_file = _table(
    "draft_file",
    sa.Column("draft", sa.ForeignKey("draft.id", ondelete="CASCADE"), primary_key=True),
    _key("n", INTEGER),
    texts="name kind",
    numbers="size received",
)

failure = _table("failure", _key("kind"), _key("key"), _key("minute", INTEGER), numbers="count")
"""Wrong passwords in each minute, by name, address, and both."""

audit = _table(
    "audit",
    _key("n", INTEGER),
    texts="actor by address project action target before after",
    numbers="at",
)
sa.Index("audit_project", audit.c.project, audit.c.n)
"""The audit log; rows are added, only addresses are blanked."""
