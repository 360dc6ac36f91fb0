"""Links that let somebody join or set a new password, once."""

from __future__ import annotations

import secrets
from typing import Any

import sqlalchemy as sa

from alignkit.annotate.lab import queries, schema, values
from alignkit.annotate.lab.accounts import Accounts
from alignkit.annotate.lab.audit import LabDatabase, LabStep
from alignkit.annotate.lab.bodies import JoinInfo
from alignkit.annotate.lab.passwords import hashed
from alignkit.annotate.lab.projects import Projects
from alignkit.annotate.lab.sessions import LabSessions
from alignkit.annotate.lab.values import INVITED, OPEN, OWNER, Actor, FreshLink, NewSession, digest

_LASTS = {values.FIRST: 3600, values.INVITE: 7 * values.DAY, values.RESET: values.DAY}
_LINK, _ACCOUNT = schema.link.c, schema.account.c


class JoinLinks:
    """The links of a lab; a new link for an account makes the earlier ones invalid."""

    def __init__(
        self, database: LabDatabase, accounts: Accounts, sessions: LabSessions, projects: Projects
    ) -> None:
        self._database, self._accounts = database, accounts
        self._sessions, self._projects = sessions, projects

    def create(
        self, kind: str, name: str, actor: Actor, *, project: str = "", role: str = values.ANNOTATOR
    ) -> FreshLink:
        """Make a link of the kind `invite` or `reset`; `project` is a slug.

        An invitation of a new name makes the account (state `invited`) and its role, so that pairs
        can be assigned to the person before they join; without a project (for lab owners) it makes
        the account alone. Raises `BadValue`, `NameTaken` (if the account is open, use
        `Projects.add_existing`), `NotAllowed` (see `queries.may_manage`), `WrongState` (of the
        account), `UnknownProject`.
        """
        name = values.checked_name(name)
        if project and kind == values.INVITE:
            self._projects.check_name(project, name)
        with self._database.change(actor) as step:
            if kind == values.INVITE:
                account = self._invited(step, name, project, role)
            else:
                kind, role = values.RESET, ""
                account = queries.account_named(step.conn, name)
                if project:
                    queries.check_member(step.conn, account, project)
                if account.state != OPEN:
                    raise values.WrongState(f"The account {name} is {account.state}, not open.")
                queries.check_manager(step.conn, actor, account)
            return self._make(step, kind, account, project, role)

    def _invited(self, step: LabStep, name: str, project: str, role: str) -> sa.Row[Any]:
        """Return the account of a person who has not joined, with this role in a project."""
        account = queries.find_account(step.conn, name) or self._add(step, name, values.MEMBER)
        if account.state != INVITED:
            raise values.NameTaken(f"{name} has an account, which is {account.state}.")
        queries.check_manager(step.conn, step.actor, account)
        if project:
            self._projects.give_role(step, account, project, role, False)
        return account

    def _add(self, step: LabStep, name: str, rank: str) -> sa.Row[Any]:
        row = {"name": name, "rank": rank, "may_create": False, "password": ""}
        step.insert(schema.account, state=INVITED, made=step.now, **row)
        step.log("account made", name, after={"rank": rank})
        return queries.account_named(step.conn, name)

    def _make(
        self, step: LabStep, kind: str, account: sa.Row[Any] | None, project: str, role: str
    ) -> FreshLink:
        token, expires = secrets.token_urlsafe(32), step.now + _LASTS[kind]
        id, name = (None, "") if account is None else (account.id, account.name)
        row = {"kind": kind, "account": id, "project": project, "role": role}
        step.delete(schema.link, _LINK.account == id, _LINK.used.is_(None))
        step.insert(schema.link, hash=digest(token), by=step.actor.name, expires=expires, **row)
        step.log("link made", name, project=project, after=kind)
        return FreshLink(values.public_id(digest(token)), token, values.timestamp(expires))

    def peek(self, token: str) -> JoinInfo | None:
        """Return what a link is for, without using it; None if it is not valid."""
        with self._database.reading() as conn:
            link = self._valid(conn, token)
        return None if link is None else JoinInfo(link.kind, link.name or "")

    def _valid(self, conn: sa.Connection, token: str) -> sa.Row[Any] | None:
        """Return a valid link, with the name of its account.

        Its maker must be able to make it today: else the owner of one project could keep a link
        until the person has a role elsewhere.
        """
        unused = _LINK.hash == digest(token), _LINK.used.is_(None)
        asked = sa.select(schema.link, _ACCOUNT.name).outerjoin(schema.account)
        lasting = asked.where(*unused, _LINK.expires > self._database.now())
        link = conn.execute(lasting).first()
        if link is None or link.kind == values.FIRST:
            return link
        account = queries.account_named(conn, link.name)
        fits = account.state == (INVITED if link.kind == values.INVITE else OPEN)
        return link if fits and queries.may_manage(conn, link.by, account) else None

    def use(
        self, token: str, password: str, *, name: str = "", address: str, agent: str = ""
    ) -> NewSession:
        """Set the password and start a session; of two at once, one gets `LinkGone`.

        A link of the kind `first` makes an owner of this name, or gives a lab owner of this name a
        new password. A link is void, too, if its maker could not make it today. Raises `BadValue`,
        `NameTaken`, `LinkGone`, `Busy`.
        """
        if (info := self.peek(token)) is None:
            raise values.LinkGone
        name, secret = info.name or values.checked_name(name), hashed(password)
        with self._database.change(Actor(name, address=address)) as step:
            unused = _LINK.hash == digest(token), _LINK.used.is_(None), _LINK.expires > step.now
            link = self._valid(step.conn, token)
            if link is None or not step.update(schema.link, *unused, used=step.now):
                raise values.LinkGone
            account = queries.find_account(step.conn, name) or self._add(step, name, OWNER)
            if link.kind == values.FIRST and account.rank != OWNER:
                raise values.NameTaken(f"{name} has an account, but is no owner of this lab.")
            self._accounts.join(step, account, secret, link.kind)
            return self._sessions.start(step, account.id, agent)

    def withdraw(self, id: str, actor: Actor, *, project: str = "") -> None:
        """Make a link for a person of a project (or of any) invalid; no error if it is gone."""
        asked = sa.select(_LINK.hash, _LINK.account, _ACCOUNT.name).join(schema.account)
        with self._database.change(actor) as step:
            waiting = queries.id_fits(_LINK, id), _LINK.used.is_(None)
            link = step.conn.execute(asked.where(*waiting)).first()
            if link and (not project or project in queries.roles_of(step.conn, link.account)):
                step.delete(schema.link, _LINK.hash == link.hash)
                step.log("link withdrawn", link.name, project=project)

    def first_owner(self) -> str | None:
        """Return the token of a new link for the first owner; None if there is an open owner."""
        owners = sa.select(_ACCOUNT.id).where(_ACCOUNT.rank == OWNER, _ACCOUNT.state == OPEN)
        with self._database.reading() as conn:
            known = conn.execute(owners.limit(1)).first()
        return self.owner_link(Actor("", "command")) if known is None else None

    def owner_link(self, actor: Actor) -> str:
        """Return the token of a new link that makes an owner, or gives one a new password."""
        with self._database.change(actor) as step:
            return self._make(step, values.FIRST, None, "", "").token

    def tidy(self) -> None:
        """Forget the links of long ago."""
        with self._database.change() as step:
            step.delete(schema.link, _LINK.expires < step.now - 90 * values.DAY)
