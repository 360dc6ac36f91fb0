"""The list of projects, and the roles of people in them."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from alignkit.annotate.lab import queries, schema
from alignkit.annotate.lab.bodies import Person
from alignkit.annotate.lab.database import LabDatabase, LabStep
from alignkit.annotate.lab.values import (
    ADJUDICATOR,
    ANNOTATOR,
    ARCHIVED,
    CLOSED,
    DELETED,
    INVITED,
    MAKING,
    OPEN,
    OWNER,
    READER,
    Actor,
    BadValue,
    NameTaken,
    ProjectRole,
    ProjectRow,
    UnknownPerson,
    WrongState,
    etag,
    public_id,
    timestamp,
)

ROLES = OWNER, ADJUDICATOR, ANNOTATOR, READER
"""The roles of accounts in a project."""
_SLUG = re.compile(r"[a-z0-9-]{1,40}", re.ASCII)
_LENGTH = 200  # letters of a name
_ACCOUNT, _LINK, _PROJECT, _ROLE = (
    table.c for table in (schema.account, schema.link, schema.project, schema.role)
)


class Projects:
    """The projects of a lab; everything here names them by slug, except for stores: by key."""

    def __init__(self, database: LabDatabase) -> None:
        self._database = database
        self.check_free: Callable[[str, str], None] = lambda key, name: None
        """Is called with the key of a project and a name that gets a role there.

        It raises `NameTaken` if the name is that of gold, of a system or the like. The server sets
        it.
        """

    def rows(self, account: str = "") -> list[ProjectRow]:
        """Return all projects that are not deleted, or those in which an account has a role."""
        asked = sa.select(schema.project).where(_PROJECT.state != DELETED)
        if account:
            mine = sa.select(_ROLE.project).join(schema.account).where(_ACCOUNT.name == account)
            asked = asked.where(_PROJECT.slug.in_(mine))
        with self._database.reading() as conn:
            return [_row(row) for row in conn.execute(asked.order_by(_PROJECT.slug))]

    def get(self, slug: str) -> ProjectRow:
        """Return a project that is not deleted, or raise `UnknownProject`."""
        with self._database.reading() as conn:
            return _row(queries.project_of(conn, slug))

    def make(
        self, name: str, task: str, languages: str, actor: Actor, *, slug: str = ""
    ) -> ProjectRow:
        """Register a project in the state `making`, with the actor as owner.

        The slug is made from the name if it is empty. Raises `BadValue`, `NameTaken`.
        """
        row: dict[str, Any] = {
            "key": secrets.token_hex(8),
            "name": _checked(name),
            "task": task,
            "languages": languages,
        }
        row |= {"state": MAKING, "n": 0, "pairs": 0, "done": 0}
        if slug and not _SLUG.fullmatch(slug):
            raise BadValue("slug", "Use 1 to 40 letters a to z, digits and -.")
        with self._database.change(actor) as step:
            row |= {"slug": _free(step.conn, name, slug), "made": step.now}
            step.conn.execute(sa.insert(schema.project).values(row))
            if actor.name:
                own = queries.account_named(step.conn, actor.name)
                mine = {"account": own.id, "project": row["slug"], "role": OWNER, "annotates": 0}
                step.conn.execute(sa.insert(schema.role).values(mine))
            return _row(queries.project_of(step.conn, row["slug"]))

    def opened(self, key: str, actor: Actor) -> ProjectRow:
        """Open a project after its store was made."""
        with self._database.change(actor) as step:
            mine = _PROJECT.key == key, _PROJECT.state == MAKING
            step.conn.execute(sa.update(schema.project).where(*mine).values(state=OPEN))
            made = step.conn.execute(sa.select(schema.project).where(_PROJECT.key == key)).one()
            after = {"name": made.name, "task": made.task, "languages": made.languages}
            step.log("project made", made.slug, project=made.slug, after=after)
            return _row(made)

    def change(
        self,
        slug: str,
        actor: Actor,
        *,
        name: str | None = None,
        state: str | None = None,
        etag: str = "",
    ) -> ProjectRow:
        """Rename a project, archive it (state `archived`) or reopen it (`open`).

        Raises `UnknownProject`, `ChangedMeanwhile`, `WrongState`, `BadValue`.
        """
        if state not in (None, OPEN, ARCHIVED):
            raise BadValue("state", "Unknown value.")
        wanted = {"name": None if name is None else _checked(name), "state": state}
        with self._database.change(actor) as step:
            before = _row(queries.project_of(step.conn, slug))
            step.check(etag, before.etag, slug, slug)
            new = {key: x for key, x in wanted.items() if x not in (None, getattr(before, key))}
            if "state" in new and before.state == MAKING:
                raise WrongState(f"{before.name} is being made. Try again later.")
            if new:
                mine = sa.update(schema.project).where(_PROJECT.slug == slug)
                step.conn.execute(mine.values(new))
                old = {key: getattr(before, key) for key in new}
                step.log("project changed", slug, project=slug, before=old, after=new)
            return _row(queries.project_of(step.conn, slug))

    def delete(self, slug: str, actor: Actor) -> ProjectRow:
        """Delete an archived project, its roles, links and tokens.

        The caller removes its store then, and calls `clear`.
        """
        with self._database.change(actor) as step:
            before = _row(queries.project_of(step.conn, slug))
            if before.state != ARCHIVED:
                raise WrongState(f"{before.name} is not archived. Archive it first.")
            mine = sa.update(schema.project).where(_PROJECT.slug == slug)
            step.conn.execute(mine.values(state=DELETED))
            for table in (schema.role, schema.token, schema.link):
                step.conn.execute(sa.delete(table).where(table.c.project == slug))
            step.log("project deleted", slug, project=slug, before={"name": before.name})
            return before

    def leftovers(self) -> list[ProjectRow]:
        """Return the projects in `making` or `deleted`, stores of which may remain.

        A start removes their stores, then calls `clear` for each.
        """
        left = sa.or_(_PROJECT.state == MAKING, _PROJECT.state == DELETED)
        asked = sa.select(schema.project).where(left, _PROJECT.cleared.is_(None))
        with self._database.reading() as conn:
            return [_row(row) for row in conn.execute(asked)]

    def clear(self, key: str) -> None:
        """Note that the store is gone; a project in `making` is forgotten."""
        with self._database.writing() as conn:
            unmade = sa.select(_PROJECT.slug).where(_PROJECT.key == key, _PROJECT.state == MAKING)
            conn.execute(sa.delete(schema.role).where(_ROLE.project.in_(unmade)))
            gone = _PROJECT.key == key, _PROJECT.state == MAKING
            conn.execute(sa.delete(schema.project).where(*gone))
            mine = sa.update(schema.project).where(_PROJECT.key == key, _PROJECT.state == DELETED)
            conn.execute(mine.values(cleared=self._database.now()))

    def save_counts(self, key: str, n: int, pairs: int, done: int, last: float | None) -> None:
        """Write the counts of a project after its event n; `last` is the time of the last work."""
        counts = {"n": n, "pairs": pairs, "done": done, "last": None if last is None else int(last)}
        with self._database.writing() as conn:
            conn.execute(sa.update(schema.project).where(_PROJECT.key == key).values(counts))

    def role(self, account: str, slug: str) -> ProjectRole | None:
        """Return the role of an open account; None without one, or without such a project."""
        return self.roles(account, slug).get(slug)

    def roles(self, account: str, slug: str = "") -> dict[str, ProjectRole]:
        """Return the roles of an open account in all projects, or in one, by slug.

        A lab owner is owner in each.
        """
        mine = sa.and_(_ROLE.project == _PROJECT.slug, _ROLE.account == _ACCOUNT.id)
        columns = _PROJECT.slug, _ACCOUNT.rank, _ROLE.role, _ROLE.annotates
        both = sa.join(schema.project, schema.account, sa.true())
        asked = sa.select(*columns).select_from(both.outerjoin(schema.role, mine))
        asked = asked.where(_ACCOUNT.name == account, _ACCOUNT.state == OPEN)
        asked = asked.where(_PROJECT.state != DELETED, *([_PROJECT.slug == slug] if slug else []))
        with self._database.reading() as conn:
            return {
                project: ProjectRole(
                    OWNER if rank == OWNER else role, bool(annotates), role != OWNER == rank
                )
                for project, rank, role, annotates in conn.execute(asked)
                if role or rank == OWNER
            }

    def people(self, slug: str) -> list[Person]:
        """Return the people of a project, with the link that waits; the server adds their counts.

        The link of a person who is invited may have expired.
        """
        with self._database.reading() as conn:
            queries.project_of(conn, slug)
            rows = conn.execute(_PEOPLE.where(_ROLE.project == slug).order_by(_ACCOUNT.name)).all()
        return [_person(row, self._database.now()) for row in rows]

    def set_role(
        self, slug: str, name: str, role: str, annotates: bool, actor: Actor, *, etag: str = ""
    ) -> Person:
        """Change the role of a person of a project.

        Raises `UnknownPerson`, `ChangedMeanwhile`, `LastOwner`, `BadValue`.
        """
        _check_role(role)
        with self._database.change(actor) as step:
            before = self._person(step.conn, slug, name)
            step.check(etag, before.etag, before.name, slug)
            account = queries.account_named(step.conn, name)
            if before.role == OWNER != role and account.state == OPEN:
                queries.check_other_owner(step.conn, account.id, slug)
            self.give_role(step, account, slug, role, annotates)
            return self._person(step.conn, slug, name)

    def add_existing(
        self, slug: str, name: str, role: str, annotates: bool, actor: Actor
    ) -> Person:
        """Give an account a role, by its exact name; also to undo `remove`.

        Raises `UnknownPerson`, `NameTaken`, `WrongState` (a closed account), `NotAllowed` (an
        invitation by somebody else: its link is not known to be the person's).
        """
        _check_role(role)
        self.check_name(slug, name)
        with self._database.change(actor) as step:
            queries.project_of(step.conn, slug)
            account = queries.account_named(step.conn, name)
            if account.state == CLOSED:
                raise WrongState(f"The account {account.name} is closed.")
            if account.state == INVITED:
                queries.check_manager(step.conn, actor, account)
            if slug in queries.roles_of(step.conn, account.id):
                raise NameTaken(f"{account.name} has a role in this project already.")
            self.give_role(step, account, slug, role, annotates)
            return self._person(step.conn, slug, name)

    def check_name(self, slug: str, name: str) -> None:
        """Refuse a name that a project uses for something else."""
        with self._database.reading() as conn:
            key = queries.project_of(conn, slug).key
        self.check_free(key, name)

    def give_role(
        self, step: LabStep, account: sa.Row[Any], slug: str, role: str, annotates: bool
    ) -> None:
        """Set the role of an account in a transaction; annotators annotate, readers do not."""
        _check_role(role)
        annotates = role == ANNOTATOR or (annotates and role != READER)
        mine, new = _mine(account, slug), {"role": role, "annotates": int(annotates)}
        before = step.conn.execute(sa.select(_ROLE.role, _ROLE.annotates).where(mine)).first()
        if before is None:
            row = dict(account=account.id, project=slug, **new)
            step.conn.execute(sa.insert(schema.role).values(row))
        else:
            step.conn.execute(sa.update(schema.role).where(mine).values(new))
        old = None if before is None else dict(before._mapping)
        if old != new:
            step.log("role set", account.name, project=slug, before=old, after=new)

    def remove(self, slug: str, name: str, actor: Actor) -> Person:
        """Remove a person from a project; return the row that was. Raises `LastOwner`.

        An invitation into this project is void then.
        """
        with self._database.change(actor) as step:
            before = self._person(step.conn, slug, name)
            account = queries.account_named(step.conn, name)
            if before.role == OWNER and account.state == OPEN:
                queries.check_other_owner(step.conn, account.id, slug)
            step.conn.execute(sa.delete(schema.role).where(_mine(account, slug)))
            link = _LINK.account == account.id, _LINK.project == slug, _LINK.used.is_(None)
            step.conn.execute(sa.delete(schema.link).where(*link))
            old = {"role": before.role, "annotates": int(before.annotates)}
            step.log("role removed", account.name, project=slug, before=old)
            return before

    def _person(self, conn: sa.Connection, slug: str, name: str) -> Person:
        queries.project_of(conn, slug)
        account = queries.account_named(conn, name)
        row = conn.execute(_PEOPLE.where(_mine(account, slug))).first()
        if row is None:
            raise UnknownPerson(f"{account.name} has no role in this project.")
        return _person(row, self._database.now())


_WAITS = sa.and_(_LINK.account == _ACCOUNT.id, _LINK.used.is_(None))
_PEOPLE = sa.select(
    schema.role, _ACCOUNT.name, _ACCOUNT.state, _ACCOUNT.seen, _LINK.hash, _LINK.expires
).select_from(sa.join(schema.role, schema.account).outerjoin(schema.link, _WAITS))


def _mine(account: sa.Row[Any], slug: str) -> sa.ColumnElement[bool]:
    return sa.and_(_ROLE.account == account.id, _ROLE.project == slug)


def _person(row: sa.Row[Any], now: int) -> Person:
    waits = row.hash and (row.state == INVITED or row.expires > now)
    return Person(
        row.name,
        row.role,
        bool(row.annotates),
        row.state,
        0,
        0,
        timestamp(row.seen),
        public_id(row.hash) if waits else "",
        timestamp(row.expires) if waits else "",
        etag(row.name, row.role, row.annotates),
    )


def _row(row: sa.Row[Any]) -> ProjectRow:
    values = {name: row._mapping[name] for name in ProjectRow.__struct_fields__[:-1]}
    values |= {"made": timestamp(row.made), "last": timestamp(row.last)}
    return ProjectRow(**values, etag=etag(row.key, row.name, row.state))


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise BadValue("role", f"The roles are {', '.join(ROLES)}.")


def _checked(name: str) -> str:
    if not name.strip() or len(name) > _LENGTH or not name.isprintable():
        raise BadValue("name", f"Give a name of 1 to {_LENGTH} letters.")
    return name.strip()


def _free(conn: sa.Connection, name: str, slug: str) -> str:
    """Return the slug, or one made from the name, that no project has had."""
    taken = set(conn.scalars(sa.select(_PROJECT.slug)))
    if slug in taken:
        raise BadValue("slug", f"{slug} is the address of another project, or was.")
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    base = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:36].strip("-") or "project"
    made = (base if k == 1 else f"{base}-{k}" for k in range(1, len(taken) + 2))
    return slug or next(each for each in made if each not in taken)
