"""The tables of a lab; times are seconds since 1970, secrets are stored as their SHA-256."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from alignkit.annotate.project.engines import INTEGER, TEXT

METADATA = sa.MetaData()
VERSION = 1
"""The version of the tables."""
_KINDS: dict[str, Any] = {"#": INTEGER, "?": INTEGER, "+": sa.Boolean}


def _table(name: str, keys: str, more: str) -> sa.Table:
    """Return a table: primary key, other columns by name and kind.

    # is a number, ? what can be missing, + yes or no; a dot refers to a table; else it is text.
    """
    columns = []
    for text in f"{keys} {more}".split():
        column, dot, _ = text.rstrip("#?+").partition(".")
        kind = sa.ForeignKey(text.rstrip("?")) if dot else _KINDS.get(text[-1], TEXT)
        key, missing = text in keys.split(), text.endswith("?")
        columns.append(sa.Column(column, kind, primary_key=key, nullable=missing, index=bool(dot)))
    return sa.Table(name, METADATA, *columns)


lab = _table("lab", "key", "version#")

account = _table("account", "id#", "name rank state password may_create+ made# seen?")
sa.UniqueConstraint(account.c.name)
"""Accounts are never deleted: a name is not given again. `password` is empty before joining."""

_SESSION = "csrf address agent why made# seen# proved# ended? account.id"
session = _table("session", "hash", _SESSION)

link = _table("link", "hash", "kind project role by expires# used? account.id?")
"""Without an account it is for the first owner. Withdrawn and replaced links are deleted."""

token = _table("token", "hash", "begins name project read_only+ expires# used? account.id")

project = _table(
    "project", "key", "slug name task languages state made# n# pairs# done# last? cleared?"
)
sa.UniqueConstraint(project.c.slug)
"""The row of a deleted project stays, so that its slug, which other tables hold, is not given
again; `cleared` is when its store was removed."""

role = _table("role", "account.id project.slug", "role annotates+")

failure = _table("failure", "kind key minute#", "count#")
"""Wrong passwords in each minute, by name, address, and both."""

audit = _table("audit", "n#", "at# actor by address project action target before after")
sa.Index("audit_project", audit.c.project, audit.c.n)
"""The audit log; rows are added, only addresses are blanked."""
