"""Links that let somebody join or set a new password, once."""

from __future__ import annotations

import secrets
from typing import Any

import sqlalchemy as sa

from alignkit.annotate.lab import schema, values
from alignkit.annotate.lab.accounts import Accounts
from alignkit.annotate.lab.bodies import JoinInfo
from alignkit.annotate.lab.database import LabDatabase, LabStep, id_fits
from alignkit.annotate.lab.passwords import hashed
from alignkit.annotate.lab.projects import Projects
from alignkit.annotate.lab.sessions import LabSessions
from alignkit.annotate.lab.values import (
    DAY,
    FIRST,
    INVITE,
    INVITED,
    OPEN,
    OWNER,
    RESET,
    Actor,
    FreshLink,
    NewSession,
    digest,
)  # fmt: skip

_LASTS = {FIRST: 3600, INVITE: 7 * DAY, RESET: DAY}
_LINK, _ACCOUNT = schema.link.c, schema.account.c
_NAMED = sa.select(schema.link, _ACCOUNT.name).outerjoin(schema.account)


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
        `Projects.add_existing`), `NotAllowed` (see `LabStep.may_manage`), `WrongState` (of the
        account), `UnknownProject`.
        """
        name, invites = values.checked_name(name), kind == INVITE
        if project and invites:
            self._projects.check_name(project, name)
        with self._database.change(actor) as step:
            if invites:
                account = step.find(name) or _add(step, name, values.MEMBER)
                if account.state != INVITED:
                    raise values.NameTaken(f"{name} has an account, which is {account.state}.")
            else:
                account = step.account(name)
                if project:
                    step.check_member(account, project)
                if account.state != OPEN:
                    raise values.WrongState(f"The account {name} is {account.state}, not open.")
            step.check_manager(account)
            if project and invites:
                self._projects.give_role(step, account, project, role, False)
            return _make(step, kind, account, project, role * invites)

    def peek(self, token: str) -> JoinInfo | None:
        """Return what a link is for, without using it; None if it is not valid."""
        with self._database.reading() as step:
            link = _valid(step, token)
        return None if link is None else JoinInfo(link.kind, link.name or "")

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
            unused = _LINK.hash == digest(token), _LINK.used.is_(None)
            if _valid(step, token) is None or not step.update(schema.link, *unused, used=step.now):
                raise values.LinkGone
            account = step.find(name) or _add(step, name, OWNER)
            if info.kind == FIRST and account.rank != OWNER:
                raise values.NameTaken(f"{name} has an account, but is no owner of this lab.")
            self._accounts.join(step, account, secret, info.kind)
            return self._sessions.start(step, account.id, agent)

    def withdraw(self, id: str, actor: Actor, *, project: str = "") -> None:
        """Make a link for a person of a project (or of any) invalid; no error if it is gone."""
        with self._database.change(actor) as step:
            waiting = id_fits(_LINK, id), _LINK.used.is_(None), _LINK.account.is_not(None)
            link = step.ask(_NAMED, *waiting).first()
            if link and (not project or project in step.roles(step.account(link.name))):
                step.delete(schema.link, _LINK.hash == link.hash)
                step.log("link withdrawn", link.name, project=project)

    def first_owner(self) -> str | None:
        """Return the token of a new link for the first owner; None if there is an open owner."""
        with self._database.reading() as step:
            owners = step.ask(schema.account, _ACCOUNT.rank == OWNER, _ACCOUNT.state == OPEN).all()
        return None if owners else self.owner_link(Actor("", "command"))

    def owner_link(self, actor: Actor) -> str:
        """Return the token of a new link that makes an owner, or gives one a new password."""
        with self._database.change(actor) as step:
            return _make(step, FIRST, None, "", "").token

    def tidy(self, step: LabStep) -> None:
        """Forget the links of long ago."""
        step.delete(schema.link, _LINK.expires < step.now - 90 * DAY)


def _add(step: LabStep, name: str, rank: str) -> Any:
    row = {"rank": rank, "may_create": False, "password": "", "state": INVITED, "made": step.now}
    step.insert(schema.account, name=name, **row)
    step.log("account made", name, after={"rank": rank})
    return step.account(name)


def _make(step: LabStep, kind: str, account: Any, project: str, role: str) -> FreshLink:
    token, expires = secrets.token_urlsafe(32), step.now + _LASTS[kind]
    id, name = (None, "") if account is None else (account.id, account.name)
    step.delete(schema.link, _LINK.account == id, _LINK.used.is_(None))
    step.insert(
        schema.link, hash=digest(token), kind=kind, account=id, project=project, role=role,
        by=step.actor.name, expires=expires,
    )  # fmt: skip
    step.log("link made", name, project=project, after=kind)
    return FreshLink(values.public_id(digest(token)), token, values.timestamp(expires))


def _valid(step: LabStep, token: str) -> Any:
    """Return a valid link, with the name of its account.

    Its maker must be able to make it today: else the owner of one project could keep a link until
    the person has a role elsewhere.
    """
    unused = _LINK.hash == digest(token), _LINK.used.is_(None), _LINK.expires > step.now
    link = step.ask(_NAMED, *unused).first()
    if link is None or link.kind == FIRST:
        return link
    account = step.account(link.name)
    fits = account.state == (INVITED if link.kind == INVITE else OPEN)
    return link if fits and step.may_manage(link.by, account) else None
