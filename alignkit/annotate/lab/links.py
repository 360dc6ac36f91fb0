"""Links that let somebody join or set a new password, once."""

from __future__ import annotations

from alignkit.annotate.lab.bodies import JoinInfo
from alignkit.annotate.lab.values import Actor, FreshLink, NewSession

LASTS = {"first": 3600, "invite": 7 * 24 * 3600, "reset": 24 * 3600}
"""The time for which a link is valid, in seconds, by its kind."""


class JoinLinks:
    """The links of a lab; a new link for an account makes the earlier ones invalid."""

    def create(
        self, kind: str, name: str, actor: Actor, *, project: str = "", role: str = "annotator"
    ) -> FreshLink:
        """Make a link of the kind `invite` or `reset`; `project` is a slug.

        An invitation of a new name makes the account (state `invited`) and its role, so that pairs
        can be assigned to the person before they join. Without a project it makes the account
        alone. Raises `BadValue`, `NameTaken` (by an open account: use `Projects.add_existing`),
        `NotAllowed` (see `Accounts.may_manage`), `WrongState` (of the account), `UnknownProject`.
        """
        raise NotImplementedError

    def peek(self, token: str) -> JoinInfo | None:
        """Return what a link is for, without using it; None if it is not valid."""
        raise NotImplementedError

    def use(
        self, token: str, password: str, *, name: str = "", address: str, agent: str = ""
    ) -> NewSession:
        """Set the password and start a session; of two at once, one gets `LinkGone`.

        A link of the kind `first` makes an owner of this name. A link is void, too, if its maker
        could not make it today. Raises `BadValue`, `NameTaken`, `LinkGone`, `Busy`.
        """
        raise NotImplementedError

    def withdraw(self, id: str, actor: Actor, *, project: str) -> None:
        """Make a link for a person of a project invalid; a link that is gone is no error."""
        raise NotImplementedError

    def first_owner(self) -> str | None:
        """Return the token of a new link for the first owner; None if there is an open owner."""
        raise NotImplementedError

    def owner_link(self, actor: Actor) -> str:
        """Return the token of a new link that makes an owner, or gives one a new password."""
        raise NotImplementedError
