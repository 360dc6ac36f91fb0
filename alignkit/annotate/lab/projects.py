"""The list of projects, and the roles of people in them."""

from __future__ import annotations

from collections.abc import Callable

from alignkit.annotate.lab.bodies import Person
from alignkit.annotate.lab.values import Actor, ProjectRole, ProjectRow


class Projects:
    """The projects of a lab; everything here names them by slug, except for stores: by key."""

    check_free: Callable[[str, str], None]
    """Is called with the key of a project and a name that gets a role there; raises `NameTaken` if
    the name is that of gold, of a system or the like. The server sets it."""

    def rows(self, account: str = "") -> list[ProjectRow]:
        """Return all projects that are not deleted, or those in which an account has a role."""
        raise NotImplementedError

    def get(self, slug: str) -> ProjectRow:
        """Return a project that is not deleted, or raise `UnknownProject`."""
        raise NotImplementedError

    def make(
        self, name: str, task: str, languages: str, actor: Actor, *, slug: str = ""
    ) -> ProjectRow:
        """Register a project in the state `making`, with the actor as owner.

        The slug is made from the name if it is empty. Raises `BadValue`, `NameTaken`.
        """
        raise NotImplementedError

    def opened(self, key: str, actor: Actor) -> ProjectRow:
        """Open a project after its store was made."""
        raise NotImplementedError

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
        raise NotImplementedError

    def delete(self, slug: str, actor: Actor) -> ProjectRow:
        """Delete an archived project, its roles and tokens; then remove its store, and `clear`."""
        raise NotImplementedError

    def leftovers(self) -> list[ProjectRow]:
        """Return the projects in `making` or `deleted`, stores of which may remain.

        A start removes their stores, then calls `clear` for each.
        """
        raise NotImplementedError

    def clear(self, key: str) -> None:
        """Note that the store is gone: a project in `making` is forgotten."""
        raise NotImplementedError

    def save_counts(self, key: str, n: int, pairs: int, done: int, last: float | None) -> None:
        """Write the counts of a project after its event n; `last` is the time of the last work."""
        raise NotImplementedError

    def role(self, account: str, slug: str) -> ProjectRole | None:
        """Return the role of an open account; None without one, or without such a project."""
        raise NotImplementedError

    def people(self, slug: str) -> list[Person]:
        """Return the people of a project, with the link that waits; the server adds their counts.

        The link of a person who is invited may have expired.
        """
        raise NotImplementedError

    def set_role(
        self, slug: str, name: str, role: str, annotates: bool, actor: Actor, *, etag: str = ""
    ) -> Person:
        """Change the role of a person of a project.

        Raises `UnknownPerson`, `ChangedMeanwhile`, `LastOwner`, `BadValue`.
        """
        raise NotImplementedError

    def add_existing(
        self, slug: str, name: str, role: str, annotates: bool, actor: Actor
    ) -> Person:
        """Give an account a role, by its exact name; also to undo `remove`.

        Raises `UnknownPerson`, `NameTaken`, `WrongState` (a closed account, or somebody else's
        invitation).
        """
        raise NotImplementedError

    def remove(self, slug: str, name: str, actor: Actor) -> Person:
        """Remove a person from a project; return the row that was. Raises `LastOwner`."""
        raise NotImplementedError
