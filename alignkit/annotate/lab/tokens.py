"""Tokens: what programs send in place of a session."""

from __future__ import annotations

from alignkit.annotate.lab.bodies import TokenRow
from alignkit.annotate.lab.values import Actor, TokenVisitor


class Tokens:
    """The tokens of a lab."""

    def create(
        self,
        account: str,
        name: str,
        actor: Actor,
        *,
        project: str = "",
        read_only: bool = False,
        days: int = 90,
    ) -> TokenRow:
        """Make a token; its text, `ak_...`, is in this row only. Raises `BadValue`."""
        raise NotImplementedError

    def rows(self, account: str) -> list[TokenRow]:
        """Return the tokens of an account."""
        raise NotImplementedError

    def withdraw(self, account: str, id: str, actor: Actor) -> None:
        """Make a token invalid; one that is gone is no error."""
        raise NotImplementedError

    def visitor(self, bearer: str) -> TokenVisitor | None:
        """Return the token of a request; None if it is not valid (any more)."""
        raise NotImplementedError
