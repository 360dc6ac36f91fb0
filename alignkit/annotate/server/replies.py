"""Answer in JSON: what was asked for, or one clear sentence why not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import Response

from alignkit.annotate.errors import (
    BadEvent,
    Conflict,
    DamagedProject,
    NotReady,
    OldText,
    UnknownAnnotator,
    UnknownPair,
)
from alignkit.errors import AlignkitError

if TYPE_CHECKING:
    from starlette.requests import Request

_STATUS = {
    BadEvent: 422,
    Conflict: 409,
    OldText: 409,
    UnknownPair: 404,
    NotReady: 404,
    UnknownAnnotator: 403,
    DamagedProject: 500,
}
_SENTENCES = {404: "there is nothing of that name", 405: "this cannot be done with it"}


class RefusedError(Exception):
    """A request that is not done: its status, why, and what else the reply holds."""

    def __init__(self, status: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status, self.message, self.more = status, message, more


def json_reply(value: object, status: int = 200) -> Response:
    """Return a reply that holds a value as JSON; bytes are JSON already."""
    body = value if isinstance(value, bytes) else msgspec.json.encode(value)
    return Response(body, status, media_type="application/json")


def refusal(status: int, message: str, **more: Any) -> Response:
    """Return a reply that tells what is wrong."""
    return json_reply({"error": message, **more}, status)


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    reply = refusal(error.status, error.message, **error.more)
    if error.status in (408, 413):
        reply.headers["Connection"] = "close"  # what else comes is no request
    return reply


async def _unrouted(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    reply = refusal(error.status_code, _SENTENCES.get(error.status_code, str(error.detail)))
    reply.headers.update(error.headers or {})
    return reply


async def _project(_: Request, error: Exception) -> Response:
    more: dict[str, Any] = {}
    if isinstance(error, Conflict):
        more = {"conflicts": error.conflicts, "seq": error.seq, "events": error.events}
    elif isinstance(error, OldText):
        more = {"rev": error.rev}
    status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 503)
    text = str(error).removeprefix(f"{getattr(error, 'path', '')}: ")  # pages have little room
    return refusal(status, text, **more)


async def _fault(_: Request, __: Exception) -> Response:
    return refusal(500, "this is a fault in alignkit; the terminal tells which")


HANDLERS: dict[Any, Any] = {
    RefusedError: _refused,
    HTTPException: _unrouted,
    AlignkitError: _project,
    Exception: _fault,
}
"""What answers in place of an exception."""
