"""Accounts: names, ranks, states and passwords."""

from __future__ import annotations

from alignkit.annotate.lab.bodies import AccountRow
from alignkit.annotate.lab.values import Actor


class Accounts:
    """The accounts of a lab."""

    def rows(self) -> list[AccountRow]:
        """Return all accounts by name."""
        raise NotImplementedError

    def get(self, name: str) -> AccountRow:
        """Return an account, or raise `UnknownPerson`."""
        raise NotImplementedError

    def change(
        self,
        name: str,
        actor: Actor,
        *,
        rank: str | None = None,
        may_create: bool | None = None,
        state: str | None = None,
        etag: str = "",
    ) -> AccountRow:
        """Change an account; closing it (state closed) ends its sessions, tokens and links.

        Raises `UnknownPerson`, `ChangedMeanwhile` (if an etag is given), `LastOwner`.
        """
        raise NotImplementedError

    def set_password(self, name: str, old: str, new: str, actor: Actor, *, keep: str = "") -> None:
        """Change the password of an open account; all sessions but that of a cookie end.

        Raises `BadValue`, `WrongPassword`, `TooManyTries`, `Busy`.
        """
        raise NotImplementedError

    def may_manage(self, actor: Actor, name: str) -> bool:
        """Return whether somebody may make password links for a person and sign them out.

        Lab owners may, and the owner of all projects in which the person (no lab owner) has a role.
        """
        raise NotImplementedError
