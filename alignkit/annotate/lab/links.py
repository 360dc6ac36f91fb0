"""Links that let somebody join or set a new password, once."""

from __future__ import annotations

import secrets
from typing import Any

import sqlalchemy as sa

from alignkit.annotate.lab import queries, schema
from alignkit.annotate.lab.accounts import Accounts
from alignkit.annotate.lab.bodies import JoinInfo
from alignkit.annotate.lab.database import LabDatabase, LabStep
from alignkit.annotate.lab.passwords import hashed
from alignkit.annotate.lab.projects import Projects
from alignkit.annotate.lab.sessions import LabSessions
from alignkit.annotate.lab.values import (
    ANNOTATOR,
    FIRST,
    INVITE,
    INVITED,
    MEMBER,
    OPEN,
    OWNER,
    RESET,
    Actor,
    BadValue,
    FreshLink,
    LinkGone,
    NameTaken,
    NewSession,
    NotAllowed,
    WrongState,
    checked_name,
    digest,
    public_id,
    timestamp,
)

LASTS = {FIRST: 3600, INVITE: 7 * 24 * 3600, RESET: 24 * 3600}
"""The time for which a link is valid, in seconds, by its kind."""
_LINK, _ACCOUNT = schema.link.c, schema.account.c
_FORGOTTEN = 90 * 24 * 3600


class JoinLinks:
    """The links of a lab; a new link for an account makes the earlier ones invalid."""

    def __init__(
        self,
        database: LabDatabase,
        accounts: Accounts,
        sessions: LabSessions,
        projects: Projects,
    ) -> None:
        self._database, self._accounts = database, accounts
        self._sessions, self._projects = sessions, projects

    def create(
        self, kind: str, name: str, actor: Actor, *, project: str = "", role: str = ANNOTATOR
    ) -> FreshLink:
        """Make a link of the kind `invite` or `reset`; `project` is a slug.

        An invitation of a new name makes the account (state `invited`) and its role, so that pairs
        can be assigned to the person before they join. Without a project it makes the account
        alone. Raises `BadValue`, `NameTaken` (by an open account: use `Projects.add_existing`),
        `NotAllowed` (see `Accounts.may_manage`), `WrongState` (of the account), `UnknownProject`.
        """
        name = checked_name(name)
        if kind not in (INVITE, RESET):
            raise BadValue("kind", "The kinds are invite and reset.")
        if project and kind == INVITE:
            self._projects.check_name(project, name)
        with self._database.change(actor) as step:
            if kind == INVITE:
                account = self._invited(step, name, project, role)
            else:
                account = queries.account_named(step.conn, name)
                if project:
                    queries.check_member(step.conn, account, project)
                if account.state != OPEN:
                    raise WrongState(f"The account {name} is {account.state}, not open.")
                queries.check_manager(step.conn, actor, account)
            return self._make(step, kind, account, project, role if kind == INVITE else "")

    def _invited(self, step: LabStep, name: str, project: str, role: str) -> sa.Row[Any]:
        """Return the account of a person who has not joined, with this role in a project."""
        conn, account = step.conn, queries.find_account(step.conn, name)
        if account is not None and account.state != INVITED:
            raise NameTaken(f"{name} has an account, which is {account.state}.")
        if account is not None:
            queries.check_manager(conn, step.actor, account)
        elif not project and not queries.is_lab_owner(conn, step.actor.name):
            raise NotAllowed("Only a lab owner can invite somebody into no project.")
        else:
            account = self._add(step, name, MEMBER, INVITED, "")
        if project:
            self._projects.give_role(step, account, project, role, False)
        return account

    def _add(self, step: LabStep, name: str, rank: str, state: str, password: str) -> sa.Row[Any]:
        row = {"name": name, "rank": rank, "may_create": 0, "state": state, "password": password}
        step.conn.execute(sa.insert(schema.account).values(**row, made=step.now))
        step.log("account made", name, after={"rank": rank, "state": state})
        return queries.account_named(step.conn, name)

    def _make(
        self, step: LabStep, kind: str, account: sa.Row[Any] | None, project: str, role: str
    ) -> FreshLink:
        token = secrets.token_urlsafe(32)
        owner = None if account is None else account.id
        row = {
            "hash": digest(token),
            "kind": kind,
            "account": owner,
            "project": project,
            "role": role,
        }
        row |= {"by": step.actor.name, "expires": step.now + LASTS[kind]}
        self._void(step, owner)
        step.conn.execute(sa.insert(schema.link).values(row))
        name = "" if account is None else account.name
        step.log("link made", name, project=project, after={"kind": kind})
        expires = timestamp(step.now + LASTS[kind])
        return FreshLink(public_id(digest(token)), token, expires)

    def _void(self, step: LabStep, account: int | None) -> None:
        """Delete the unused links of an account, or those for a first owner."""
        mine = _LINK.account.is_(None) if account is None else _LINK.account == account
        step.conn.execute(sa.delete(schema.link).where(mine, _LINK.used.is_(None)))

    def peek(self, token: str) -> JoinInfo | None:
        """Return what a link is for, without using it; None if it is not valid."""
        with self._database.reading() as conn:
            link, account = self._valid(conn, token)
            return None if link is None else JoinInfo(link.kind, account.name if account else "")

    def _valid(
        self, conn: sa.Connection, token: str
    ) -> tuple[sa.Row[Any] | None, sa.Row[Any] | None]:
        """Return a valid link and its account; its maker must be able to make it today.

        Else the owner of one project could keep a link until the person has a role elsewhere.
        """
        mine = _LINK.hash == digest(token), _LINK.used.is_(None)
        asked = sa.select(schema.link).where(*mine, _LINK.expires > self._database.now())
        link = conn.execute(asked).first()
        if link is None or link.account is None:
            return link, None
        account = conn.execute(sa.select(schema.account).where(_ACCOUNT.id == link.account)).one()
        wanted = INVITED if link.kind == INVITE else OPEN
        fits = account.state == wanted and queries.may_manage(conn, link.by, account)
        return link if fits else None, account

    def use(
        self, token: str, password: str, *, name: str = "", address: str, agent: str = ""
    ) -> NewSession:
        """Set the password and start a session; of two at once, one gets `LinkGone`.

        A link of the kind `first` makes an owner of this name, or gives a lab owner of this name a
        new password. A link is void, too, if its maker could not make it today. Raises `BadValue`,
        `NameTaken`, `LinkGone`, `Busy`.
        """
        info = self.peek(token)
        if info is None:
            raise LinkGone
        name = info.name or checked_name(name)
        secret = hashed(password)
        with self._database.change(Actor(name, address=address)) as step:
            link, account = self._valid(step.conn, token)
            unused = _LINK.hash == digest(token), _LINK.used.is_(None), _LINK.expires > step.now
            used = sa.update(schema.link).where(*unused).values(used=step.now)
            if link is None or not step.conn.execute(used).rowcount:
                raise LinkGone
            if link.kind == FIRST:
                account = self._first(step, name)
            assert account is not None
            self._accounts.join(step, account, secret, link.kind)
            return self._sessions.start(step, account.id, agent)

    def _first(self, step: LabStep, name: str) -> sa.Row[Any]:
        """Return the account of the first owner, or of an owner who was locked out."""
        account = queries.find_account(step.conn, name)
        if account is None:
            return self._add(step, name, OWNER, OPEN, "")
        if account.rank != OWNER:
            raise NameTaken(f"{name} has an account, but is no owner of this lab.")
        return account

    def withdraw(self, id: str, actor: Actor, *, project: str = "") -> None:
        """Make a link for a person of a project invalid; a link that is gone is no error.

        Without a project it may be a link of any account.
        """
        with self._database.change(actor) as step:
            mine = queries.id_fits(_LINK.hash, id), _LINK.used.is_(None)
            asked = sa.select(_LINK.hash, _LINK.account, _ACCOUNT.name).join(schema.account)
            link = step.conn.execute(asked.where(*mine)).first()
            if link is None:
                return
            if not project or project in queries.roles_of(step.conn, link.account):
                step.conn.execute(sa.delete(schema.link).where(_LINK.hash == link.hash))
                step.log("link withdrawn", link.name, project=project)

    def first_owner(self) -> str | None:
        """Return the token of a new link for the first owner; None if there is an open owner."""
        owners = sa.select(_ACCOUNT.id).where(_ACCOUNT.rank == OWNER, _ACCOUNT.state == OPEN)
        with self._database.change(Actor("", "command")) as step:
            if step.conn.execute(owners.limit(1)).first() is not None:
                return None
            return self._make(step, FIRST, None, "", "").token

    def owner_link(self, actor: Actor) -> str:
        """Return the token of a new link that makes an owner, or gives one a new password."""
        with self._database.change(actor) as step:
            return self._make(step, FIRST, None, "", "").token

    def tidy(self) -> None:
        """Forget links of long ago; an invitation stays, as its page shows that it expired."""
        old = self._database.now() - _FORGOTTEN
        with self._database.writing() as conn:
            conn.execute(sa.delete(schema.link).where(_LINK.expires < old))
