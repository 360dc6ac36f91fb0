"""Links by which people join a lab, or set a new password: each holds a token, and works once."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from alignkit.annotate.lab import bodies, passwords, projects, schema, sessions, values
from alignkit.annotate.lab.accounts import Accounts, add_account, set_display, stored_display
from alignkit.annotate.lab.steps import LabDatabase, LabStep, id_fits
from alignkit.annotate.lab.values import INVITE, INVITED, OPEN, OWNER, Actor, LabError

_ACCOUNT = schema.account.c
_LINK = schema.link.c
_LASTS = {values.FIRST: 3600, INVITE: 7 * values.DAY, values.RESET: values.DAY}
"""For how many seconds a link of each kind is valid."""
_NAMED = sa.select(schema.link, _ACCOUNT.name, _ACCOUNT.display).outerjoin(schema.account)


@dataclass(frozen=True)
class JoinLinks:
    """The links of a lab; a new link for an account makes the earlier ones invalid."""

    _database: LabDatabase
    _accounts: Accounts
    _sessions: sessions.LabSessions
    _projects: projects.Projects

    def create(
        self,
        kind: str,
        name: str,
        actor: Actor,
        *,
        project: str = "",
        role: str = values.ANNOTATOR,
        display: str = "",
    ) -> values.FreshLink:
        """Make a link (`invite` or `reset`); an invitation makes the account and role at once.

        An account with another name to show than `display` is taken for another person.
        """
        name = values.checked_name(name)
        display = stored_display(display, name)
        invites = kind == INVITE
        if project and invites:
            self._projects.check_name(project, name)
        with self._database.change(actor) as step:
            if invites:
                known = step.find(name)
                if known is not None and display not in ("", known.display):
                    text = (
                        f"There is an account {name} already. If it is this person, leave the "
                        f"first name empty; else choose another name for the account."
                    )
                    raise LabError(text, "other", "account")
                account = known or add_account(step, name, values.MEMBER, display)
                if account.state != INVITED:
                    text = f"{name} has an account, which is {account.state}."
                    raise LabError(text, "taken", "name")
            else:
                account = step.account(name)
                if project:
                    step.check_member(account, project)
                if account.state != OPEN:
                    raise LabError(f"The account {name} is {account.state}, not open.", "state")
            step.check_manager(account)
            if not invites:
                role = ""
            elif project:
                self._projects.give_role(step, account, project, role, False)
            return _make(step, kind, account, project, role)

    def peek(self, token: str) -> bodies.JoinInfo | None:
        """Return what a link is for, without using it; None if it is not valid."""
        with self._database.reading() as step:
            link = _valid(step, token)
        if link is None:
            return None
        return bodies.JoinInfo(link.kind, link.name or "", link.display or "")

    def gone(self, token: str) -> LabError:
        """Return why a link is not valid; only to who holds its token, all others learn nothing."""
        with self._database.reading() as step:
            link = step.ask(schema.link, _LINK.hash == values.digest(token)).first()
            if link is None:
                return LabError(*values.GONE)
            if link.replaced:
                return LabError(*values.REPLACED)
            if link.used is not None:
                return LabError(*values.USED)
            if link.expires <= step.now:
                return LabError(*values.EXPIRED)
            return LabError(*values.GONE)

    def use(
        self,
        token: str,
        password: str,
        *,
        name: str = "",
        display: str | None = None,
        address: str,
        agent: str = "",
    ) -> values.NewSession:
        """Set the password and start a session; of two at once, one is refused."""
        info = self.peek(token)
        if info is None:
            raise self.gone(token)
        name = info.name or values.checked_name(name)
        shown = None if display is None else stored_display(display, name)
        secret = passwords.hashed(password)
        with self._database.change(Actor(name, address=address)) as step:
            is_link = _LINK.hash == values.digest(token)
            is_valid = _valid(step, token) is not None
            if not is_valid or not step.update(schema.link, is_link, used=step.now):
                raise self.gone(token)
            account = step.find(name) or add_account(step, name, OWNER)
            if info.kind == values.FIRST and account.rank != OWNER:
                text = f"{name} has an account, but is no owner of this lab."
                raise LabError(text, "taken", "name")
            if shown is not None:
                set_display(step, account, shown)
            self._accounts.join(step, account, secret, info.kind)
            return self._sessions.start(step, account.id, agent)

    def withdraw(self, id: str, actor: Actor, *, project: str = "") -> None:
        """Make a link for a person of a project (or of any) invalid; no error if it is gone."""
        with self._database.change(actor) as step:
            is_waiting = sa.and_(_LINK.used.is_(None), _LINK.account.is_not(None))
            link = step.ask(_NAMED, id_fits(_LINK, id), is_waiting).first()
            if link is None:
                return
            account = step.account(link.name)
            if not project or project in step.roles(account):
                step.check_manager(account)
                step.delete(schema.link, _LINK.hash == link.hash)
                step.log("link withdrawn", link.name, project=project)

    def first_owner(self) -> str | None:
        """Return the token of a new link for the first owner; None if there is an open owner."""
        with self._database.reading() as step:
            owner = step.ask(schema.account, _ACCOUNT.rank == OWNER, _ACCOUNT.state == OPEN).first()
        if owner:
            return None
        return self.owner_link(Actor("", "command"))

    def owner_link(self, actor: Actor) -> str:
        """Return the token of a new link that makes an owner, or gives one a new password."""
        with self._database.change(actor) as step:
            return _make(step, values.FIRST, None, "", "").token

    def tidy(self, step: LabStep) -> None:
        """Forget the links of long ago."""
        step.delete(schema.link, _LINK.expires < step.now - 90 * values.DAY)


def _make(step: LabStep, kind: str, account: Any, project: str, role: str) -> values.FreshLink:
    """Make a link for an account, or for the first owner (None), in place of an earlier one."""
    token = secrets.token_urlsafe(32)
    hash = values.digest(token)
    expires = step.now + _LASTS[kind]
    id = None
    name = ""
    if account is not None:
        id = account.id
        name = account.name
    earlier = sa.and_(_LINK.account == id, _LINK.used.is_(None))
    step.update(schema.link, earlier, used=step.now, replaced=True)
    step.insert(
        schema.link,
        hash=hash,
        kind=kind,
        account=id,
        project=project,
        role=role,
        by=step.actor.name,
        expires=expires,
    )
    step.log("link made", name, project=project, after=kind)
    return values.FreshLink(values.public_id(hash), token, values.timestamp(expires))


def _valid(step: LabStep, token: str) -> Any:
    """Return a valid link, with the name of its account; its maker must be able to make it today.

    Else the owner of one project could keep a link until the person has a role elsewhere.
    """
    is_valid = sa.and_(_LINK.used.is_(None), _LINK.expires > step.now)
    link = step.ask(_NAMED, _LINK.hash == values.digest(token), is_valid).first()
    if link is None or link.kind == values.FIRST:
        return link
    account = step.account(link.name)
    expected = INVITED if link.kind == INVITE else OPEN
    if account.state == expected and step.may_manage(link.by, account):
        return link
    return None
