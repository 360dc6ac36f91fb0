"""Questions to people, whether work by an imported annotator of their account's name is theirs.

The owner of a project may ask, but only the person can say that the imported work is theirs, and
gets the role then. Until they have answered, the account has no role in the project.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from alignkit.annotate.lab import bodies, projects, schema, values
from alignkit.annotate.lab.steps import LabDatabase, LabStep
from alignkit.annotate.lab.values import Actor, LabError
from alignkit.annotate.project.engines import Condition

_ACCOUNT = schema.account.c
_CLAIM = schema.claim.c
_PROJECT = schema.project.c
_OPEN = (
    sa.select(schema.claim, _ACCOUNT.name, _PROJECT.name.label("title"))
    .select_from(sa.join(schema.claim, schema.account).join(schema.project))
    .where(_CLAIM.refused.is_(False), _PROJECT.state == values.OPEN)
    .order_by(_CLAIM.project)
)


@dataclass(frozen=True)
class Claims:
    """The questions of a lab that are not answered with yes."""

    _database: LabDatabase
    _projects: projects.Projects

    def ask(self, slug: str, name: str, role: str, annotates: bool, actor: Actor) -> None:
        """Ask somebody, also again; the role is what they get if they say yes."""
        with self._database.change(actor) as step:
            account = step.account(name)
            step.project(slug)
            if account.state == values.CLOSED:
                raise LabError(f"The account {account.name} is closed.", "state")
            step.delete(schema.claim, *_which(account, slug))
            step.insert(
                schema.claim,
                account=account.id,
                project=slug,
                role=role,
                annotates=annotates,
                by=actor.name,
                refused=False,
            )
            step.log("asked whose work it is", account.name, project=slug, after={"role": role})

    def of_account(self, name: str) -> list[bodies.Claim]:
        """Return what somebody is asked."""
        with self._database.reading() as step:
            rows = step.ask(_OPEN, _ACCOUNT.name == name).all()
            return [
                bodies.Claim(row.project, row.title, row.by) for row in rows if _stands(step, row)
            ]

    def of_project(self, slug: str) -> dict[str, bool]:
        """Return who was asked about a project, in order, and whether they have said no."""
        asked = sa.select(_ACCOUNT.name, _CLAIM.refused).join_from(schema.claim, schema.account)
        with self._database.reading() as step:
            rows = step.ask(asked.order_by(_ACCOUNT.name), _CLAIM.project == slug)
            return {row.name: row.refused for row in rows}

    def answer(self, slug: str, mine: bool, actor: Actor) -> bool:
        """Take the answer of the actor; return whether they annotate the project now."""
        with self._database.change(actor) as step:
            row = step.ask(_OPEN, _ACCOUNT.name == actor.name, _CLAIM.project == slug).first()
            if row is None or not _stands(step, row):
                raise LabError("There is no such question, or not any more.", "unknown")
            account = step.account(actor.name)
            which = _which(account, slug)
            step.log("said whose work it is", account.name, project=slug, after=str(mine).lower())
            if not mine:
                step.update(schema.claim, *which, refused=True)
                return False
            step.delete(schema.claim, *which)
            self._projects.give_role(step, account, slug, row.role, row.annotates)
        return bool(row.annotates)

    def forget(self, slug: str, name: str) -> None:
        """Forget a question, after the imported annotator has another name."""
        with self._database.change() as step:
            account = step.find(name)
            if account is not None:
                step.delete(schema.claim, *_which(account, slug))


def _which(account: Any, slug: str) -> tuple[Condition, Condition]:
    """Return the conditions for the question to an account about a project."""
    return _CLAIM.account == account.id, _CLAIM.project == slug


def _stands(step: LabStep, row: Any) -> bool:
    """Return whether who asked is still an owner of the project, or of the lab."""
    owner = step.find(row.by)
    if owner is None or owner.state != values.OPEN:
        return False
    return bool(owner.rank == values.OWNER or step.roles(owner).get(row.project) == values.OWNER)
