"""What several parts of the lab store ask of its tables."""

from __future__ import annotations

import hmac
from typing import Any

import sqlalchemy as sa

from alignkit.annotate.lab import schema, values
from alignkit.annotate.lab.values import INVITED, OPEN, OWNER, Actor

_ACCOUNT, _ROLE, _LINK, _PROJECT = (
    table.c for table in (schema.account, schema.role, schema.link, schema.project)
)


def find_account(conn: sa.Connection, name: str) -> sa.Row[Any] | None:
    """Return the row of an account; None if there is none."""
    mine = _ACCOUNT.name == values.folded(name)
    return conn.execute(sa.select(schema.account).where(mine)).first()


def account_named(conn: sa.Connection, name: str) -> sa.Row[Any]:
    """Return the row of an account."""
    if (row := find_account(conn, name)) is None:
        raise values.UnknownPerson(f"There is no account {name[:40]!r}.")
    return row


def still_open(conn: sa.Connection, known: sa.Row[Any]) -> sa.Row[Any]:
    """Return the row of an account; refuse it if it was closed or has another password now."""
    row = account_named(conn, known.name)
    if row.state != OPEN or not hmac.compare_digest(row.password, known.password):
        raise values.WrongPassword
    return row


def project_of(conn: sa.Connection, slug: str) -> sa.Row[Any]:
    """Return the row of a project that is not deleted."""
    mine = _PROJECT.slug == slug, _PROJECT.state != values.DELETED
    if (row := conn.execute(sa.select(schema.project).where(*mine)).first()) is None:
        raise values.UnknownProject(f"There is no project {slug[:40]!r}.")
    return row


def roles_of(conn: sa.Connection, account: int) -> dict[str, str]:
    """Return the roles of an account, by project."""
    asked = sa.select(_ROLE.project, _ROLE.role).where(_ROLE.account == account)
    return {row[0]: row[1] for row in conn.execute(asked)}


def check_member(conn: sa.Connection, account: sa.Row[Any], slug: str) -> None:
    """Refuse a project in which an account has no role, as if it did not exist."""
    if project_of(conn, slug) and account.rank != OWNER and slug not in roles_of(conn, account.id):
        raise values.UnknownProject(f"There is no project {slug[:40]!r}.")


def check_other_owner(conn: sa.Connection, account: int, project: str) -> None:
    """Refuse to lose the last open owner of a project, or of the lab (empty)."""
    owners = sa.select(_ACCOUNT.id).where(_ACCOUNT.state == OPEN, _ACCOUNT.id != account)
    if project:
        owners = owners.join(schema.role).where(_ROLE.project == project, _ROLE.role == OWNER)
    else:
        owners = owners.where(_ACCOUNT.rank == OWNER)
    if conn.execute(owners.limit(1)).first() is None:
        raise values.LastOwner(project)


def may_manage(conn: sa.Connection, manager: str, account: sa.Row[Any]) -> bool:
    """Return whether somebody may make links for an account and end its sessions.

    Else the owner of one project could take over a lab owner, or a person of other projects.
    Commands on the server's machine, which have no name, may.
    """
    own = find_account(conn, manager) if manager else None
    if own is None or own.state != OPEN:
        return not manager
    if OWNER in (own.rank, account.rank):
        return bool(own.rank == OWNER)
    mine, theirs = roles_of(conn, own.id), roles_of(conn, account.id)
    if not theirs:  # an invitation that was taken back: the name is free for another
        link = sa.select(_LINK.hash).where(_LINK.account == account.id)
        return account.state == INVITED and conn.execute(link.limit(1)).first() is None
    return all(mine.get(project) == OWNER for project in theirs)


def check_manager(conn: sa.Connection, actor: Actor, account: sa.Row[Any]) -> None:
    """Refuse an actor who may not manage an account."""
    if not may_manage(conn, actor.name, account):
        raise values.NotAllowed(f"Only a lab owner can do this for {account.name}.")


def id_fits(columns: Any, id: str) -> sa.ColumnElement[bool]:
    """Return the condition for the row with this public id."""
    return sa.func.substr(columns.hash, 1, len(values.public_id("0" * 64))) == id
