"""Read what stands in a request's address and headers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from alignkit.annotate.server.replies import RefusedError

if TYPE_CHECKING:
    from starlette.requests import Request

_NUMBER = re.compile(r"[0-9]{1,15}", re.ASCII)
_PAIR = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
_WAIT = re.compile(r"wait=([0-9]{1,3})", re.ASCII)


def number(request: Request, name: str, default: int) -> int:
    """Return a number of the query."""
    text = request.query_params.get(name)
    if text is None:
        return default
    if not _NUMBER.fullmatch(text):
        raise RefusedError(400, f"{name} is {text[:40]!r}; expected a whole number, 0 or more")
    return int(text)


def pair_number(request: Request) -> int:
    """Return the number of the pair that the path names."""
    text = request.path_params["k"]
    if not _PAIR.fullmatch(text):
        raise RefusedError(404, f"there is no pair {text[:40]!r}; pairs are numbered from 1")
    return int(text)


def patience(request: Request, most: float) -> float:
    """Return how many seconds a client would wait (``Prefer: wait=N``, RFC 7240)."""
    found = _WAIT.search(request.headers.get("prefer", ""))
    return min(float(found[1]), most) if found else most
