"""Define a request that is let in."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from starlette.requests import Request

from alignkit.annotate.names import Visitor
from alignkit.annotate.server.opening import Opened

if TYPE_CHECKING:
    from alignkit.annotate.store import Store

__all__ = ["Visit"]


class Visit(NamedTuple):
    """Hold a request that is let in: the project, and who asks.

    Parameters
    ----------
    cookie
        Of the session.
    k
        The pair that the path names; 0 for none.
    """

    request: Request
    opened: Opened
    cookie: str
    visitor: Visitor
    k: int

    @property
    def store(self) -> Store:
        """The project."""
        return self.opened.store

    @property
    def name(self) -> str:
        """Who asks."""
        return self.visitor.name
