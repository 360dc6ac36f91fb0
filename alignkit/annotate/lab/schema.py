"""The tables of a lab; times are seconds since 1970, secrets are stored as their SHA-256."""

from __future__ import annotations

import sqlalchemy as sa

from alignkit.annotate.project.engines import columns

METADATA = sa.MetaData()
VERSION = 1
"""The version of the tables."""


def _table(name: str, keys: str, more: str, *indexed: str) -> sa.Table:
    """Return a table with indexes on some columns."""
    indexes = (sa.Index(f"ix_{name}_{column}", column) for column in indexed)
    return sa.Table(name, METADATA, *columns(keys, more, counting=True), *indexes)


lab = _table("lab", "key", "version#")

account = _table("account", "id#", "name rank state password may_create+ made# seen?")
sa.UniqueConstraint(account.c.name)
"""Accounts are never deleted: a name is not given again. `password` is empty before joining."""

_SESSION = "csrf address agent why made# seen# proved# ended? account.id"
session = _table("session", "hash", _SESSION, "account")

link = _table("link", "hash", "kind project role by expires# used? account.id?", "account")
"""Without an account it is for the first owner. Withdrawn and replaced links are deleted."""

token = _table(
    "token", "hash", "begins name project read_only+ expires# used? account.id", "account"
)

project = _table(
    "project", "key", "slug name task languages state made# n# pairs# done# last? cleared?"
)
sa.UniqueConstraint(project.c.slug)
"""The row of a deleted project stays, so that its slug, which other tables hold, is not given
again; `cleared` is when its store was removed."""

role = _table("role", "account.id project.slug", "role annotates+", "account", "project")

failure = _table("failure", "kind key minute#", "count#")
"""Wrong passwords in each minute, by name, address, and both."""

answer = _table("answer", "hash", "account sent body status# made#", "account", "made")
"""Answers to requests with an Idempotency-Key; the status is 0 until there is one."""

audit = _table("audit", "n#", "at# actor by address project action target before after")
sa.Index("audit_project", audit.c.project, audit.c.n)
"""The audit log; rows are added, only addresses are blanked."""
