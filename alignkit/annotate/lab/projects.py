"""The list of projects, and the roles of people in them."""

from __future__ import annotations

import re
import secrets
import time
import unicodedata
from collections.abc import Callable, Collection
from typing import Any, TypeVar, cast

import sqlalchemy as sa

from alignkit.annotate.lab import schema, values
from alignkit.annotate.lab.bodies import Person
from alignkit.annotate.lab.steps import LIVE, LabDatabase, LabStep
from alignkit.annotate.lab.values import ARCHIVED, INVITED, MAKING, OPEN, OWNER, Actor, LabError
from alignkit.annotate.project.engines import Condition, Prepared

_ROLES = OWNER, values.ADJUDICATOR, values.ANNOTATOR, values.READER
_Read = TypeVar("_Read")
_KEPT = 10.0  # seconds after which a change by another process counts
_ACCOUNT = schema.account.c
_AUDIT = schema.audit.c
_LINK = schema.link.c
_PROJECT = schema.project.c
_ROLE = schema.role.c
_LISTED = sa.select(schema.project).order_by(_PROJECT.slug)
_WAITING = sa.and_(_LINK.account == _ACCOUNT.id, _LINK.used.is_(None))
_PEOPLE = (
    sa.select(
        schema.role,
        _ACCOUNT.name,
        _ACCOUNT.display,
        _ACCOUNT.state,
        _ACCOUNT.seen,
        _LINK.hash,
        _LINK.expires,
    )
    .select_from(sa.join(schema.role, schema.account).outerjoin(schema.link, _WAITING))
    .order_by(_ACCOUNT.name)
)
_OWN = sa.and_(_ROLE.project == _PROJECT.slug, _ROLE.account == _ACCOUNT.id)
_OWN_ROLES = Prepared(
    sa.select(_PROJECT.slug, _ACCOUNT.rank, _ROLE.role, _ROLE.annotates)
    .select_from(sa.join(schema.project, schema.account, sa.true()).outerjoin(schema.role, _OWN))
    .where(_ACCOUNT.name == sa.bindparam("account"), _ACCOUNT.state == OPEN, LIVE)
)


class Projects:
    """The projects of a lab; everything here names them by slug, except for stores: by key."""

    def __init__(self, database: LabDatabase) -> None:
        self._database = database
        self._kept: dict[str, tuple[int, float, Any]] = {}
        self.check_free: Callable[[str, str], None] = lambda key, name: None
        """Refuses, in the project with a key, a name such as that of gold; the server sets it."""

    def _recent(self, what: str, read: Callable[[LabStep], _Read]) -> _Read:
        """Return what was read, of late and before no change of this process."""
        changes = self._database.rules
        now = time.monotonic()
        known = self._kept.get(what)
        if known is None or known[0] != changes or now - known[1] > _KEPT:
            with self._database.reading() as step:
                known = self._kept[what] = changes, now, read(step)
        return cast("_Read", known[2])

    def rows(self, account: str = "") -> list[values.ProjectRow]:
        """Return all projects that are not deleted, or those in which an account has a role."""
        if not account:
            return self._rows(LIVE)
        own = sa.select(_ROLE.project).join(schema.account).where(_ACCOUNT.name == account)
        return self._rows(LIVE, _PROJECT.slug.in_(own))

    def _rows(self, *which: Condition) -> list[values.ProjectRow]:
        """Return the projects that meet conditions, by slug."""
        with self._database.reading() as step:
            return [values.ProjectRow(*row) for row in step.ask(_LISTED, *which)]

    def get(self, slug: str) -> values.ProjectRow:
        """Return a project that is not deleted."""
        return self._recent(f"project {slug}", lambda step: values.ProjectRow(*step.project(slug)))

    def make(
        self, name: str, task: str, languages: str, actor: Actor, *, slug: str = ""
    ) -> values.ProjectRow:
        """Register a project in the state `making`, with the actor as owner."""
        key = secrets.token_hex(8)
        title = values.checked_title(name)
        with self._database.change(actor) as step:
            slug = _free_slug(step, name, slug)
            step.insert(
                schema.project,
                key=key,
                slug=slug,
                name=title,
                task=task,
                languages=languages,
                state=MAKING,
                made=step.now,
                n=0,
                pairs=0,
                done=0,
            )
            if actor.name:
                id = step.account(actor.name).id
                step.insert(schema.role, account=id, project=slug, role=OWNER, annotates=False)
            return values.ProjectRow(*step.project(slug))

    def opened(self, key: str, actor: Actor) -> values.ProjectRow:
        """Open a project after its store was made."""
        with self._database.change(actor) as step:
            has_key = _PROJECT.key == key
            step.update(schema.project, has_key, _PROJECT.state == MAKING, state=OPEN)
            row = values.ProjectRow(*step.ask(schema.project, has_key).one())
            after = {"name": row.name, "task": row.task, "languages": row.languages}
            step.log("project made", row.slug, project=row.slug, after=after)
            return row

    def change(self, slug: str, actor: Actor, *, etag: str = "", **new: Any) -> values.ProjectRow:
        """Change the `name` of a project, or its `state`: archived or open."""
        if "name" in new:
            new["name"] = values.checked_title(new["name"])
        with self._database.change(actor) as step:
            before = values.ProjectRow(*step.project(slug))
            step.check(etag, before.etag, slug, slug)
            if before.state == MAKING:
                raise LabError(f"{before.name} is being made. Try again later.", "state")
            old = {field: getattr(before, field) for field in new}
            if new != old:
                step.update(schema.project, _PROJECT.slug == slug, **new)
                step.log("project changed", slug, project=slug, before=old, after=new)
            return values.ProjectRow(*step.project(slug))

    def delete(self, slug: str, actor: Actor) -> values.ProjectRow:
        """Delete an archived project; the caller removes its store then, and calls `clear`."""
        with self._database.change(actor) as step:
            before = values.ProjectRow(*step.project(slug))
            if before.state != ARCHIVED:
                raise LabError(f"{before.name} is not archived. Archive it first.", "state")
            step.update(schema.project, _PROJECT.slug == slug, state=values.DELETED)
            for table in (schema.role, schema.token, schema.link, schema.claim):
                step.delete(table, table.c.project == slug)
            step.log("project deleted", slug, project=slug, before=before.name)
            return before

    def leftovers(self) -> list[values.ProjectRow]:
        """Return the projects in `making` or `deleted` whose stores may remain; see `clear`."""
        return self._rows(_PROJECT.state.in_((MAKING, values.DELETED)), _PROJECT.cleared.is_(None))

    def clear(self, key: str) -> None:
        """Note that the store is gone; a project in `making` is forgotten."""
        with self._database.change() as step:
            has_key = _PROJECT.key == key
            is_unmade = sa.and_(has_key, _PROJECT.state == MAKING)
            unmade = sa.select(_PROJECT.slug).where(is_unmade)
            step.delete(schema.role, _ROLE.project.in_(unmade))
            step.delete(schema.project, is_unmade)
            step.update(schema.project, has_key, cleared=step.now)

    def save_counts(self, key: str, n: int, pairs: int, done: int, last: float | None) -> None:
        """Write the counts of a project after its event n; `last` is the time of the last work."""
        at = None if last is None else int(last)
        with self._database.change() as step:
            step.update(schema.project, _PROJECT.key == key, n=n, pairs=pairs, done=done, last=at)

    def role(self, account: str, slug: str) -> values.ProjectRole | None:
        """Return the role of an open account; a lab owner is owner in each project."""
        return self._recent(f"roles {account}", lambda step: _roles(step, account)).get(slug)

    def people(self, slug: str) -> list[Person]:
        """Return the people of a project, with links that wait; the server adds their counts."""
        with self._database.reading() as step:
            step.project(slug)
            return [_person(row, step.now) for row in step.ask(_PEOPLE, _ROLE.project == slug)]

    def set_role(
        self, slug: str, name: str, role: str, annotates: bool, actor: Actor, *, etag: str = ""
    ) -> Person:
        """Change the role of a person of a project."""
        with self._database.change(actor) as step:
            before, account = _in_project(step, slug, name)
            step.check(etag, before.etag, account.name, slug)
            if role != OWNER:
                step.check_other_owner(account, slug)
            self.give_role(step, account, slug, role, annotates)
            return _in_project(step, slug, name)[0]

    def add_existing(
        self, slug: str, name: str, role: str, annotates: bool, actor: Actor
    ) -> Person:
        """Give an account a role, by its exact name; also to undo `remove`."""
        self.check_name(slug, name)
        with self._database.change(actor) as step:
            account = step.account(name)
            if account.state == values.CLOSED:
                raise LabError(f"The account {account.name} is closed.", "state")
            if account.state == INVITED:  # by somebody who may still have the link
                step.check_manager(account)
            if slug in step.roles(account):
                text = f"{account.name} has a role in this project already."
                raise LabError(text, "taken", "name")
            self.give_role(step, account, slug, role, annotates)
            return _in_project(step, slug, name)[0]

    def strangers(self, slug: str, names: Collection[str]) -> list[str]:
        """Return those of some names that accounts without any role in a project, ever, have."""
        had = sa.select(_AUDIT.target).where(_AUDIT.project == slug, _AUDIT.action == "role set")
        have = sa.select(_ACCOUNT.name).join(schema.role).where(_ROLE.project == slug)
        strangers = (
            sa.select(_ACCOUNT.name)
            .where(_ACCOUNT.name.in_(names))
            .where(_ACCOUNT.name.not_in(had), _ACCOUNT.name.not_in(have))
            .order_by(_ACCOUNT.name)
        )
        with self._database.reading() as step:
            return list(step.ask(strangers).scalars())

    def check_name(self, slug: str, name: str) -> None:
        """Refuse a name that a project uses for something else."""
        self.check_free(self.get(slug).key, values.folded(name))

    def give_role(self, step: LabStep, account: Any, slug: str, role: str, annotates: bool) -> None:
        """Set the role of an account in a transaction; annotators annotate, readers do not."""
        if role not in _ROLES:
            raise LabError(f"The roles are {', '.join(_ROLES)}.", "invalid", "role")
        step.project(slug)
        is_role = sa.and_(_ROLE.account == account.id, _ROLE.project == slug)
        works = role == values.ANNOTATOR or (annotates and role != values.READER)
        new = {"role": role, "annotates": works}
        row = step.ask(sa.select(_ROLE.role, _ROLE.annotates), is_role).mappings().first()
        before = None if row is None else dict(row)
        if before == new:
            return
        if before is None:
            step.insert(schema.role, account=account.id, project=slug, **new)
        else:
            step.update(schema.role, is_role, **new)
        step.log("role set", account.name, project=slug, before=before or "", after=new)

    def remove(
        self, slug: str, name: str, actor: Actor, take_back: Callable[[], list[int]] = list
    ) -> tuple[Person, list[int]]:
        """Remove a person from a project, and an invitation; return the row, and what went back."""
        with self._database.change(actor) as step:
            before, account = _in_project(step, slug, name)
            step.check_other_owner(account, slug)
            pairs = take_back()  # first: if the server ends then, this can be done again
            for table in (schema.role, schema.link):
                step.delete(table, table.c.account == account.id, table.c.project == slug)
            old = {"role": before.role, "annotates": before.annotates}
            step.log("role removed", account.name, project=slug, before=old)
            return before, pairs


def _roles(step: LabStep, account: str) -> dict[str, values.ProjectRole]:
    """Return the roles of an open account by project; a lab owner is owner in each."""
    roles = {}
    for slug, rank, role, works in _OWN_ROLES(step.conn, account=account):
        if rank == OWNER:
            roles[slug] = values.ProjectRole(OWNER, bool(works), lab_owner=role != OWNER)
        elif role:
            roles[slug] = values.ProjectRole(role, bool(works))
    return roles


def _in_project(step: LabStep, slug: str, name: str) -> tuple[Person, Any]:
    """Return a person of a project, and the account."""
    project = step.project(slug)
    account = step.account(name)
    row = step.ask(_PEOPLE, _ROLE.account == account.id, _ROLE.project == project.slug).first()
    if row is None:
        raise LabError(f"{account.name} has no role in this project.", "unknown")
    return _person(row, step.now), account


def _person(row: Any, now: int) -> Person:
    """Return a row of `_PEOPLE` for the page, without counts."""
    link = ""
    expires = ""
    if row.hash is not None and (row.state == INVITED or row.expires > now):
        link = values.public_id(row.hash)
        expires = values.timestamp(row.expires)
    return Person(
        name=row.name,
        display=row.display,
        role=row.role,
        annotates=row.annotates,
        state=row.state,
        pairs=0,
        done=0,
        seen=values.timestamp(row.seen),
        link=link,
        expires=expires,
        etag=values.etag(row.name, row.role, row.annotates),
    )


def _free_slug(step: LabStep, name: str, slug: str) -> str:
    """Return the slug, or one made from the name, that no project has or had."""
    taken = set(step.ask(sa.select(_PROJECT.slug)).scalars())
    if slug and (slug in taken or not values.SLUG.fullmatch(slug)):
        why = "This is the address of another project" if slug in taken else "Not possible"
        raise LabError(f"{why}. Use 1 to 40 letters a to z, digits and -.", "invalid", "slug")
    if slug:
        return slug
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    base = re.sub(r"[^a-z0-9]+", "-", plain)[:36].strip("-") or "project"
    slug = base
    k = 1
    while slug in taken:
        k += 1
        slug = f"{base}-{k}"
    return slug
