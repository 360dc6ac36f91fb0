"""The tables of a lab; times are seconds since 1970, secrets are stored as their SHA-256."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from alignkit.annotate.project.engines import INTEGER, TEXT

METADATA = sa.MetaData()
VERSION = 1
"""The version of the tables."""
_KINDS: dict[str, Any] = {"#": INTEGER, "?": INTEGER, "+": sa.Boolean}


def _table(name: str, first: str, more: str, *columns: sa.Column[Any]) -> sa.Table:
    """Return a table: primary key, other columns by name and kind.

    Marks are # for a number, ? for a number that can be missing, + for yes or no; else it is text.
    """
    own = [
        sa.Column(
            text.rstrip("#?+"),
            _KINDS.get(text[-1], TEXT),
            primary_key=text in first.split(),
            nullable=text.endswith("?"),
        )
        for text in f"{first} {more}".split()
    ]
    return sa.Table(name, METADATA, *own, *columns)


def _ref(column: str, **options: Any) -> sa.Column[Any]:
    name = column.partition(".")[0]
    return sa.Column(name, sa.ForeignKey(column), **{"nullable": False, "index": True} | options)


lab = _table("lab", "key", "version#")

account = _table("account", "id#", "name rank state password may_create+ made# seen?")
sa.UniqueConstraint(account.c.name)
"""Accounts are never deleted: a name is not given again. `password` is empty before joining."""

_SESSION = "csrf address agent why made# seen# proved# ended?"
session = _table("session", "hash", _SESSION, _ref("account.id"))

_LINK = "kind project role by expires# used?"
link = _table("link", "hash", _LINK, _ref("account.id", nullable=True))
"""Without an account it is for the first owner. Withdrawn and replaced links are deleted."""

_TOKEN = "begins name project read_only+ expires# used?"
token = _table("token", "hash", _TOKEN, _ref("account.id"))

project = _table(
    "project", "key", "slug name task languages state made# n# pairs# done# last? cleared?"
)
sa.UniqueConstraint(project.c.slug)
"""The row of a deleted project stays, so that its slug, which other tables hold, is not given
again; `cleared` is when its store was removed."""

role = _table(
    "role", "", "role annotates+", _ref("account.id", primary_key=True),
    _ref("project.slug", primary_key=True),
)  # fmt: skip

failure = _table("failure", "kind key minute#", "count#")
"""Wrong passwords in each minute, by name, address, and both."""

audit = _table("audit", "n#", "at# actor by address project action target before after")
sa.Index("audit_project", audit.c.project, audit.c.n)
"""The audit log; rows are added, only addresses are blanked."""
