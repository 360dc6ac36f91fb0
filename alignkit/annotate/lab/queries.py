"""What several parts of the lab store ask of its tables."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from alignkit.annotate.lab import schema
from alignkit.annotate.lab.values import (
    DELETED,
    INVITED,
    OPEN,
    OWNER,
    Actor,
    LastOwner,
    NotAllowed,
    UnknownPerson,
    UnknownProject,
    folded,
    public_id,
)

_ACCOUNT, _ROLE, _LINK = schema.account.c, schema.role.c, schema.link.c


def account_named(conn: sa.Connection, name: str) -> sa.Row[Any]:
    """Return the row of an account."""
    row = find_account(conn, name)
    if row is None:
        raise UnknownPerson(f"There is no account {name[:40]!r}.")
    return row


def find_account(conn: sa.Connection, name: str) -> sa.Row[Any] | None:
    """Return the row of an account; None if there is none."""
    return conn.execute(sa.select(schema.account).where(_ACCOUNT.name == folded(name))).first()


def project_of(conn: sa.Connection, slug: str) -> sa.Row[Any]:
    """Return the row of a project that is not deleted."""
    table = schema.project.c
    asked = sa.select(schema.project).where(table.slug == slug, table.state != DELETED)
    row = conn.execute(asked).first()
    if row is None:
        raise no_project(slug)
    return row


def no_project(slug: str) -> UnknownProject:
    """Return the error for a project that does not exist, or that is not to be seen."""
    return UnknownProject(f"There is no project {slug[:40]!r}.")


def check_other_owner(conn: sa.Connection, account: int, project: str = "") -> None:
    """Refuse to lose the last open owner, of the lab or of a project."""
    owners = sa.select(_ACCOUNT.id).where(_ACCOUNT.state == OPEN, _ACCOUNT.id != account)
    if project:
        owners = owners.join(schema.role).where(_ROLE.project == project, _ROLE.role == OWNER)
    else:
        owners = owners.where(_ACCOUNT.rank == OWNER)
    if conn.execute(owners.limit(1)).first() is None:
        raise LastOwner(project)


def roles_of(conn: sa.Connection, account: int) -> dict[str, str]:
    """Return the roles of an account, by project."""
    asked = sa.select(_ROLE.project, _ROLE.role).where(_ROLE.account == account)
    return {row[0]: row[1] for row in conn.execute(asked)}


def is_lab_owner(conn: sa.Connection, name: str) -> bool:
    """Return whether somebody is an open lab owner; a command, which has no name, is like one."""
    account = find_account(conn, name) if name else None
    return not name or (account is not None and (account.rank, account.state) == (OWNER, OPEN))


def may_manage(conn: sa.Connection, manager: str, account: sa.Row[Any]) -> bool:
    """Return whether somebody may make links for an account and end its sessions.

    Else the owner of one project could take over a lab owner, or a person of other projects.
    """
    if is_lab_owner(conn, manager):
        return True
    own = find_account(conn, manager)
    if own is None or own.state != OPEN or account.rank == OWNER:
        return False
    mine, theirs = roles_of(conn, own.id), roles_of(conn, account.id)
    if not theirs:  # an invitation that was withdrawn: the name is free for another
        link = sa.select(_LINK.hash).where(_LINK.account == account.id)
        return account.state == INVITED and conn.execute(link.limit(1)).first() is None
    return all(mine.get(project) == OWNER for project in theirs)


def check_manager(conn: sa.Connection, actor: Actor, account: sa.Row[Any]) -> None:
    """Refuse an actor who may not manage an account."""
    if not may_manage(conn, actor.name, account):
        raise NotAllowed(f"Only a lab owner can do this for {account.name}.")


def check_member(conn: sa.Connection, account: sa.Row[Any], project: str) -> None:
    """Refuse a project in which an account has no role, as if it did not exist."""
    known = project_of(conn, project)
    if account.rank != OWNER and known.slug not in roles_of(conn, account.id):
        raise no_project(project)


def id_fits(hash: sa.ColumnElement[str], id: str) -> sa.ColumnElement[bool]:
    """Return the condition for the row with this public id."""
    return sa.func.substr(hash, 1, len(public_id(64 * "0"))) == id
