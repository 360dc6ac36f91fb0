"""What a route of a lab says beside its structs, and a request that was let in.

A new route is a function in one of `own`, `managing`, `assigning`, `listing`, `transfer` and
`drafting`, with `ROUTES.add` above it: see `server.routing`. Its structs stand in `bodies`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import Response

from alignkit.annotate.lab import schema, values
from alignkit.annotate.lab.lab import Lab
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.desk import ANNOTATE, DECIDE, LOOK, TRAIN, Desk, Visit
from alignkit.annotate.server.routing import Entry
from alignkit.annotate.server.security import RefusedError
from alignkit.errors import AlignkitError

ANYBODY = "anybody"
OWN = "own"
CREATE = "create"
LAB = "lab"
"""Who may use a route outside of projects: without a session, any account, who may create projects,
lab owners."""
MEMBER = "member"
MANAGE = "manage"
"""Who may use a route of a project, beside what desks know: any role, owners."""
ABILITIES = {
    values.OWNER: {MEMBER, LOOK, DECIDE, MANAGE},
    values.ADJUDICATOR: {MEMBER, LOOK, DECIDE},
    values.ANNOTATOR: {MEMBER, ANNOTATE, TRAIN},
    values.READER: {MEMBER, LOOK},
}
"""What the roles in a project may do; owners and adjudicators may also annotate, if chosen."""
# keys of an account in a day, and characters of each
_MOST = 1000
_LONGEST = 200
_BEGUN = "This was begun before, and perhaps not completed. Look, then use another key."
_SECRET = "This was done before. Its answer has a secret, which was shown only once."


def abilities(role: values.ProjectRole) -> set[str]:
    """Return what somebody may do in a project."""
    return ABILITIES[role.role] | ({ANNOTATE, TRAIN} if role.annotates else set())


@dataclass(frozen=True)
class LabEntry(Entry):
    """A route of the API below api/v1/."""

    sealed: bool = False  # refuses tokens
    proved: bool = False  # wants the password again if it was not given lately
    secret: bool = False  # its answer has a secret that is shown once
    archived: bool = False  # also changes archived projects
    of_desk: bool = False  # opens the project first; its function is a method of the desk

    @property
    def keyed(self) -> bool:
        """Whether it heeds an Idempotency-Key: not with a password, no trace of which is kept."""
        return self.method == "POST" and self.may != ANYBODY and self.path != "prove"

    @property
    def of_project(self) -> bool:
        """Whether the path names a project."""
        return self.path.startswith("projects/{slug}")

    @property
    def statuses(self) -> set[int]:
        """All statuses of its answers."""
        codes = super().statuses
        changes = self.method != "GET"
        if changes or self.of_project:
            codes.add(409)
        if (changes and self.of_project) or self.may == ANNOTATE:
            codes.add(423)
        if self.may == ANYBODY:
            codes.add(410)
        return codes


class LabVisit(Visit):
    """A request to a lab that was let in: the account, and in a project the role."""

    project: values.ProjectRow
    role: values.ProjectRole
    lab_owner = False  # is owner of the project by the rank in the lab only

    def __init__(self, server: Any, request: Request, person: values.LabSession) -> None:
        super().__init__(request, None, person.account)
        self.server = server  # the `LabServer`, whose module imports all routes
        self.lab: Lab = server.lab
        self.person = person
        self.address = request.client.host if request.client else ""
        self.agent = request.headers.get("user-agent", "")[:200]
        self.cookie = request.cookies.get(server.cookie, "")

    @property
    def creates(self) -> bool:
        """Whether one may create projects, and is not bound to a project by a token."""
        person = self.person
        return not person.project and (person.may_create or person.rank == values.OWNER)

    def projects(
        self, rows: Iterable[values.ProjectRow]
    ) -> Iterator[tuple[values.ProjectRow, values.ProjectRole]]:
        """Yield those of some projects in which one has a role, with it."""
        for row in rows:
            role = self.lab.projects.role(self.name, row.slug)
            if role is not None and self.person.project in ("", row.slug):
                yield row, role

    @property
    def actor(self) -> values.Actor:
        """Who changes something, for the audit log."""
        by = "token" if self.person.proved is None else "page"
        return values.Actor(self.name, by, self.address, self.lab_owner)

    def check_proved(self) -> None:
        """Ask for the password again if it was not given lately."""
        if not self.lab.sessions.proved_lately(self.person):
            raise RefusedError(403, "Give your password again.", error="prove")

    def log(self, action: str, target: str, after: object) -> None:
        """Add a line about the project to the audit log."""
        self.lab.audit.write(self.actor, action, target, project=self.project.slug, after=after)

    def answered_once(
        self, key: str, body: bytes, secret: bool, answer: Callable[[], Response]
    ) -> Response:
        """Answer; again with this key, within a day, repeat the answer unless it has a secret."""
        if len(key) > _LONGEST:
            raise RefusedError(400, f"An Idempotency-Key has at most {_LONGEST} characters.")
        place = f"{self.name} {key} {self.request.url.path}?{self.request.url.query}"
        kept = schema.answer.c
        database = self.lab.database
        hash = values.digest(place)
        sent = values.digest(body.hex())
        with database.change() as step:
            step.delete(schema.answer, kept.made <= step.now - values.DAY)
            known = step.ask(schema.answer, kept.hash == hash).first()
            if known is None:
                if len(step.ask(select(kept.hash), kept.account == self.name).all()) >= _MOST:
                    raise RefusedError(429, "Too many keys. Send the request without one.")
                row = {"account": self.name, "sent": sent, "status": 0, "body": ""}
                step.insert(schema.answer, hash=hash, **row, made=step.now)
        if known is not None:
            if known.sent != sent:
                raise RefusedError(422, "This Idempotency-Key was used for another request.")
            if secret or not known.status:
                raise RefusedError(409, _SECRET if known.status else _BEGUN, error="repeated")
            return Response(known.body, known.status, media_type="application/json")
        try:
            reply = answer()
        except (AlignkitError, RefusedError):  # nothing was changed, so it may be sent again
            with database.change() as step:
                step.delete(schema.answer, kept.hash == hash)
            raise
        text = "" if secret else bytes(reply.body).decode()
        with database.change() as step:
            step.update(schema.answer, kept.hash == hash, status=reply.status_code, body=text)
        return reply

    @property
    def store(self) -> Store:
        """The project, opened if necessary."""
        return self.opened().store

    def opened(self) -> Desk:
        """Open the project, if it is not open yet."""
        self.desk = self.server.desks.get(self.project)
        return self.desk

    def part(self, name: str) -> str:
        """Return a part of the path."""
        return str(self.request.path_params[name])


def unknown() -> RefusedError:
    """Return the answer for what does not exist and for what is not theirs, alike."""
    return RefusedError(404, "Not found.")
