"""Define a request that is let in."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from starlette.requests import Request

from alignkit.annotate.names import Visitor
from alignkit.annotate.server.opening import Opened

if TYPE_CHECKING:
    from alignkit.annotate.store import Store


class Visit(NamedTuple):
    """Hold a request that is let in: the project, and who asks."""

    request: Request
    opened: Opened
    cookie: str  # of the session
    visitor: Visitor
    k: int  # the pair that the path names; 0 for none

    @property
    def store(self) -> Store:
        """The project."""
        return self.opened.store

    @property
    def name(self) -> str:
        """Who asks."""
        return self.visitor.name
