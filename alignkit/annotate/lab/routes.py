"""The table of routes: who may use each, what it takes and gives; and a request that was let in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from starlette.requests import Request

from alignkit.annotate.lab.lab import Lab
from alignkit.annotate.lab.values import (
    ADJUDICATOR,
    ANNOTATOR,
    OWNER,
    READER,
    Actor,
    LabSession,
    ProjectRole,
    ProjectRow,
    TokenVisitor,
)
from alignkit.annotate.server.desk import ANNOTATE, DECIDE, LOOK, Desk, Visit
from alignkit.annotate.server.security import RefusedError

ANYBODY, OWN, CREATE, LAB = "anybody", "own", "create", "lab"
"""Who may use a route outside of projects: without a session, any account, who may create projects,
lab owners."""
MEMBER, MANAGE = "member", "manage"
"""Who may use a route of a project, beside what desks know: any role, owners."""
ABILITIES = {
    OWNER: {MEMBER, LOOK, DECIDE, MANAGE},
    ADJUDICATOR: {MEMBER, LOOK, DECIDE},
    ANNOTATOR: {MEMBER, ANNOTATE},
    READER: {MEMBER, LOOK},
}
"""What the roles in a project may do; owners and adjudicators may also annotate, if chosen."""


def abilities(role: ProjectRole) -> set[str]:
    """Return what somebody may do in a project."""
    return ABILITIES[role.role] | ({ANNOTATE} if role.annotates and role.role != READER else set())


class Entry(NamedTuple):
    """A route of the API below api/v1/."""

    method: str
    path: str
    may: str
    answer: Callable[[LabVisit], object]
    takes: Any = None  # the struct of the body; bytes for what is read as it is
    gives: Any = None
    status: int = 200
    sealed: bool = False  # refuses tokens
    proved: bool = False  # wants the password again if it was not given lately
    secret: bool = False  # its answer has a secret that is shown once
    archived: bool = False  # also changes archived projects
    of_desk: bool = False  # opens the project first
    streams: bool = False  # is asynchronous, and reads its body itself

    @property
    def keyed(self) -> bool:
        """Whether it heeds an Idempotency-Key: not with a password, no trace of which is kept."""
        return self.method == "POST" and self.may != ANYBODY and self.path != "prove"

    @property
    def of_project(self) -> bool:
        """Whether the path names a project."""
        return self.path.startswith("projects/{slug}")


class LabVisit(Visit):
    """A request to a lab that was let in: the account, and in a project the role."""

    project: ProjectRow
    role: ProjectRole
    lab_owner = False  # is owner of the project by the rank in the lab only
    sent: Any = None  # the body as a struct

    def __init__(
        self, server: Any, request: Request, person: LabSession | TokenVisitor | None
    ) -> None:
        name = person.account if person else ""
        super().__init__(request, None, name, decides=request.query_params.get("at") == "gold")
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
        if person is None or person.project:
            return False
        return person.may_create or person.rank == OWNER

    def projects(self, rows: Iterable[ProjectRow]) -> Iterator[tuple[ProjectRow, ProjectRole]]:
        """Yield those of some projects in which one has a role, with it."""
        only = self.person.project if self.person else ""
        for row in rows:
            role = self.lab.projects.role(self.name, row.slug)
            if role is not None and only in ("", row.slug):
                yield row, role

    @property
    def actor(self) -> Actor:
        """Who changes something, for the audit log."""
        by = "token" if isinstance(self.person, TokenVisitor) else "page"
        return Actor(self.name, by, self.address, self.lab_owner)

    def check_proved(self) -> None:
        """Ask for the password again if it was not given lately."""
        session = self.person
        if isinstance(session, LabSession) and not self.lab.sessions.proved_lately(session):
            raise RefusedError(403, "Give your password again.", error="prove")

    def log(self, action: str, target: str, after: object) -> None:
        """Add a line about the project to the audit log."""
        self.lab.audit.write(self.actor, action, target, project=self.project.slug, after=after)

    def opened(self) -> Desk:
        """Open the project, if it is not open yet."""
        self.desk = self.server.desks.get(self.project)
        return self.desk

    def flag(self, name: str) -> bool:
        """Return a yes or no in the query."""
        return self.request.query_params.get(name, "") in ("1", "true", "yes")

    def word(self, name: str, default: str = "") -> str:
        """Return a text in the query or path."""
        return str(
            self.request.path_params.get(name) or self.request.query_params.get(name, default)
        )


def unknown() -> RefusedError:
    """Return the answer for what does not exist and for what is not theirs, alike."""
    return RefusedError(404, "Not found.")
