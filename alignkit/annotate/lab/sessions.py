"""Sessions: signing in, and who sends a request."""

from __future__ import annotations

from alignkit.annotate.lab.bodies import SessionRow
from alignkit.annotate.lab.values import Actor, Ended, LabSession, NewSession

LASTS = 30 * 24 * 3600
"""The longest time of a session in seconds."""
UNUSED = 7 * 24 * 3600
"""The longest time without use in seconds."""
PROVED = 600
"""The time in seconds for which a password holds for what matters."""


class LabSessions:
    """The sessions of a lab: in the database, and all in memory, for there is one server."""

    def sign_in(
        self, name: str, password: str, *, address: str, agent: str = "", taking_over: str = ""
    ) -> NewSession:
        """Start a session; the one with the cookie `taking_over` ends.

        Raises `WrongPassword` (the same for unknown and closed names), `TooManyTries`, `Busy`.
        """
        raise NotImplementedError

    def visitor(self, cookie: str) -> LabSession | Ended | None:
        """Return the session with this cookie; a matter of microseconds."""
        raise NotImplementedError

    def fits(self, cookie: str, csrf: str) -> bool:
        """Return whether two secrets belong to one session."""
        raise NotImplementedError

    def prove(self, cookie: str, password: str, *, address: str) -> None:
        """Note that the person of a session gave the password again; raises like `sign_in`."""
        raise NotImplementedError

    def proved_lately(self, session: LabSession) -> bool:
        """Return whether the password was given in the last 10 minutes."""
        raise NotImplementedError

    def rows(self, name: str, cookie: str = "") -> list[SessionRow]:
        """Return the sessions of an account; that of the cookie is the current one."""
        raise NotImplementedError

    def sign_out(self, cookie: str, *, address: str = "") -> None:
        """End the session with this cookie."""
        raise NotImplementedError

    def end(self, name: str, actor: Actor, *, id: str = "", keep: str = "") -> int:
        """End a session of an account, or all but that of the cookie `keep`; return how many.

        Raises `NotAllowed` if the actor is somebody else who may not; see `Accounts.may_manage`.
        """
        raise NotImplementedError
