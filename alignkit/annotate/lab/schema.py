"""The tables of a lab; times are seconds since 1970, secrets are stored as their SHA-256."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import Boolean, Column, ForeignKey

from alignkit.annotate.project.engines import INTEGER, TEXT, not_null, primary

METADATA = sa.MetaData()
VERSION = 1
"""The version of the tables."""

lab = sa.Table(
    "lab",
    METADATA,
    primary("key", TEXT),
    not_null("version", INTEGER),
)

account = sa.Table(
    "account",
    METADATA,
    primary("id", INTEGER),
    not_null("name", TEXT, unique=True),
    not_null("rank", TEXT),
    not_null("state", TEXT),
    not_null("password", TEXT),
    not_null("may_create", Boolean),
    not_null("made", INTEGER),
    Column("seen", INTEGER),
    not_null("display", TEXT, server_default=""),
)
"""Accounts are never deleted: a name is not given again. `password` is empty before joining;
`display` is the name to show, empty for that of the account."""

session = sa.Table(
    "session",
    METADATA,
    primary("hash", TEXT),
    not_null("csrf", TEXT),
    not_null("address", TEXT),
    not_null("agent", TEXT),
    not_null("why", TEXT),
    not_null("made", INTEGER),
    not_null("seen", INTEGER),
    not_null("proved", INTEGER),
    Column("ended", INTEGER),
    not_null("account", ForeignKey("account.id"), index=True),
)
"""`seen` is the last use, `proved` when the password was given last, `why` how it ended."""

link = sa.Table(
    "link",
    METADATA,
    primary("hash", TEXT),
    not_null("kind", TEXT),
    not_null("project", TEXT),
    not_null("role", TEXT),
    not_null("by", TEXT),
    not_null("expires", INTEGER),
    Column("used", INTEGER),
    Column("account", ForeignKey("account.id"), index=True),
    not_null("replaced", Boolean, server_default=sa.false()),
)
"""Without an account it is for the first owner; `by` is the name of the account that made it. A
link that was replaced by a newer one counts as used then. Withdrawn links are deleted."""

token = sa.Table(
    "token",
    METADATA,
    primary("hash", TEXT),
    not_null("begins", TEXT),
    not_null("name", TEXT),
    not_null("project", TEXT),
    not_null("read_only", Boolean),
    not_null("expires", INTEGER),
    Column("used", INTEGER),
    not_null("account", ForeignKey("account.id"), index=True),
)
"""`begins` is the first characters of the token, by which its owner knows it in a list."""

project = sa.Table(
    "project",
    METADATA,
    primary("key", TEXT),
    not_null("slug", TEXT, unique=True),
    not_null("name", TEXT),
    not_null("task", TEXT),
    not_null("languages", TEXT),
    not_null("state", TEXT),
    not_null("made", INTEGER),
    not_null("n", INTEGER),
    not_null("pairs", INTEGER),
    not_null("done", INTEGER),
    Column("last", INTEGER),
    Column("cleared", INTEGER),
)
"""`pairs`, `done` and `last` are the counts for lists, after the event `n` of the project's log.
The row of a deleted project stays, so that its slug, which other tables hold, is not given
again; `cleared` is when its store was removed."""

role = sa.Table(
    "role",
    METADATA,
    primary("account", ForeignKey("account.id"), index=True),
    primary("project", ForeignKey("project.slug"), index=True),
    not_null("role", TEXT),
    not_null("annotates", Boolean),
)

claim = sa.Table(
    "claim",
    METADATA,
    primary("account", ForeignKey("account.id")),
    primary("project", ForeignKey("project.slug"), index=True),
    not_null("role", TEXT),
    not_null("annotates", Boolean),
    not_null("by", TEXT),
    not_null("refused", Boolean),
)
"""Questions whether an imported annotator with the name of an account is that person; `by` is who
asked. Those that were answered with yes are deleted."""

failure = sa.Table(
    "failure",
    METADATA,
    primary("kind", TEXT),
    primary("key", TEXT),
    primary("minute", INTEGER),
    not_null("count", INTEGER),
)
"""Wrong passwords in each minute, by name, address, and both."""

answer = sa.Table(
    "answer",
    METADATA,
    primary("hash", TEXT),
    not_null("account", TEXT, index=True),
    not_null("sent", TEXT),
    not_null("body", TEXT),
    not_null("status", INTEGER),
    not_null("made", INTEGER, index=True),
)
"""Answers to requests with an Idempotency-Key; the status is 0 until there is one. `sent` is the
digest of the body of the request: with the same key, another body is refused."""

audit = sa.Table(
    "audit",
    METADATA,
    primary("n", INTEGER),
    not_null("at", INTEGER),
    not_null("actor", TEXT),
    not_null("by", TEXT),
    not_null("address", TEXT),
    not_null("project", TEXT),
    not_null("action", TEXT),
    not_null("target", TEXT),
    not_null("before", TEXT),
    not_null("after", TEXT),
    sa.Index("audit_project", "project", "n"),
)
"""The audit log; rows are added, only addresses are blanked. `by` says how it was done: page, token
or command."""
