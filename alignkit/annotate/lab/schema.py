"""The tables of a lab; times are seconds since 1970, secrets are stored as their SHA-256."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import Boolean, Column, ForeignKey

from alignkit.annotate.project.engines import INTEGER, TEXT

METADATA = sa.MetaData()
VERSION = 1
"""The version of the tables."""

lab = sa.Table(
    "lab",
    METADATA,
    Column("key", TEXT, primary_key=True),
    Column("version", INTEGER, nullable=False),
)

account = sa.Table(
    "account",
    METADATA,
    Column("id", INTEGER, primary_key=True),
    Column("name", TEXT, nullable=False, unique=True),
    Column("rank", TEXT, nullable=False),
    Column("state", TEXT, nullable=False),
    Column("password", TEXT, nullable=False),
    Column("may_create", Boolean, nullable=False),
    Column("made", INTEGER, nullable=False),
    Column("seen", INTEGER),
    Column("display", TEXT, nullable=False, server_default=""),
)
"""Accounts are never deleted: a name is not given again. `password` is empty before joining;
`display` is the name to show, empty for that of the account."""

session = sa.Table(
    "session",
    METADATA,
    Column("hash", TEXT, primary_key=True),
    Column("csrf", TEXT, nullable=False),
    Column("address", TEXT, nullable=False),
    Column("agent", TEXT, nullable=False),
    Column("why", TEXT, nullable=False),
    Column("made", INTEGER, nullable=False),
    Column("seen", INTEGER, nullable=False),
    Column("proved", INTEGER, nullable=False),
    Column("ended", INTEGER),
    Column("account", ForeignKey("account.id"), nullable=False, index=True),
)
"""`seen` is the last use, `proved` when the password was given last, `why` how it ended."""

link = sa.Table(
    "link",
    METADATA,
    Column("hash", TEXT, primary_key=True),
    Column("kind", TEXT, nullable=False),
    Column("project", TEXT, nullable=False),
    Column("role", TEXT, nullable=False),
    Column("by", TEXT, nullable=False),
    Column("expires", INTEGER, nullable=False),
    Column("used", INTEGER),
    Column("account", ForeignKey("account.id"), index=True),
    Column("replaced", Boolean, nullable=False, server_default=sa.false()),
)
"""Without an account it is for the first owner; `by` is the name of the account that made it. A
link that was replaced by a newer one counts as used then. Withdrawn links are deleted."""

token = sa.Table(
    "token",
    METADATA,
    Column("hash", TEXT, primary_key=True),
    Column("begins", TEXT, nullable=False),
    Column("name", TEXT, nullable=False),
    Column("project", TEXT, nullable=False),
    Column("read_only", Boolean, nullable=False),
    Column("expires", INTEGER, nullable=False),
    Column("used", INTEGER),
    Column("account", ForeignKey("account.id"), nullable=False, index=True),
)
"""`begins` is the first characters of the token, by which its owner knows it in a list."""

project = sa.Table(
    "project",
    METADATA,
    Column("key", TEXT, primary_key=True),
    Column("slug", TEXT, nullable=False, unique=True),
    Column("name", TEXT, nullable=False),
    Column("task", TEXT, nullable=False),
    Column("languages", TEXT, nullable=False),
    Column("state", TEXT, nullable=False),
    Column("made", INTEGER, nullable=False),
    Column("n", INTEGER, nullable=False),
    Column("pairs", INTEGER, nullable=False),
    Column("done", INTEGER, nullable=False),
    Column("last", INTEGER),
    Column("cleared", INTEGER),
)
"""`pairs`, `done` and `last` are the counts for lists, after the event `n` of the project's log.
The row of a deleted project stays, so that its slug, which other tables hold, is not given
again; `cleared` is when its store was removed."""

role = sa.Table(
    "role",
    METADATA,
    Column("account", ForeignKey("account.id"), primary_key=True, index=True),
    Column("project", ForeignKey("project.slug"), primary_key=True, index=True),
    Column("role", TEXT, nullable=False),
    Column("annotates", Boolean, nullable=False),
)

claim = sa.Table(
    "claim",
    METADATA,
    Column("account", ForeignKey("account.id"), primary_key=True),
    Column("project", ForeignKey("project.slug"), primary_key=True, index=True),
    Column("role", TEXT, nullable=False),
    Column("annotates", Boolean, nullable=False),
    Column("by", TEXT, nullable=False),
    Column("refused", Boolean, nullable=False),
)
"""Questions whether an imported annotator with the name of an account is that person; `by` is who
asked. Those that were answered with yes are deleted."""

failure = sa.Table(
    "failure",
    METADATA,
    Column("kind", TEXT, primary_key=True),
    Column("key", TEXT, primary_key=True),
    Column("minute", INTEGER, primary_key=True),
    Column("count", INTEGER, nullable=False),
)
"""Wrong passwords in each minute, by name, address, and both."""

answer = sa.Table(
    "answer",
    METADATA,
    Column("hash", TEXT, primary_key=True),
    Column("account", TEXT, nullable=False, index=True),
    Column("sent", TEXT, nullable=False),
    Column("body", TEXT, nullable=False),
    Column("status", INTEGER, nullable=False),
    Column("made", INTEGER, nullable=False, index=True),
)
"""Answers to requests with an Idempotency-Key; the status is 0 until there is one. `sent` is the
digest of the body of the request: with the same key, another body is refused."""

audit = sa.Table(
    "audit",
    METADATA,
    Column("n", INTEGER, primary_key=True),
    Column("at", INTEGER, nullable=False),
    Column("actor", TEXT, nullable=False),
    Column("by", TEXT, nullable=False),
    Column("address", TEXT, nullable=False),
    Column("project", TEXT, nullable=False),
    Column("action", TEXT, nullable=False),
    Column("target", TEXT, nullable=False),
    Column("before", TEXT, nullable=False),
    Column("after", TEXT, nullable=False),
    sa.Index("audit_project", "project", "n"),
)
"""The audit log; rows are added, only addresses are blanked. `by` says how it was done: page, token
or command."""
