"""Access control: headers, Host and Origin, the token of the URL, and a limit on bodies.

Other users of the machine can reach the port, and so can every page in the user's browser. The
token of the printed URL gives a session, once: two independent secrets. One is a cookie. No script
can read it, but browsers send it to every port of the host, so another user's server may learn it.
The other goes in a header that only our own page sets; the browser keeps it by origin, which
includes the port. Without both, nothing of the project is read or changed.

Nothing protects against a program that takes this port while our server is down: the browser sees
the same origin, so a page that is open or is opened then gives it both secrets.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import BoundedSemaphore, Lock
from typing import Any

import anyio
import msgspec
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from alignkit.annotate.project import names
from alignkit.annotate.project.names import Visitor
from alignkit.errors import AlignkitError

_STATUS = {
    names.BadEvent: 422,
    names.Conflict: 409,
    names.OldText: 409,
    names.MovedPair: 409,
    names.NotTrained: 423,
    names.UnknownPair: 404,
    names.NotReady: 404,
    names.UnknownAnnotator: 403,
    names.DamagedProject: 500,
}
_SENTENCES = {404: "there is nothing with this name", 405: "this method is not allowed here"}

LIMIT = 256 * 1024  # the most bytes in a body
_DRAINED = 16 * LIMIT  # bytes that are read and thrown away, so that their sender gets the reply
_PATIENCE = 30.0  # seconds for a body to come
_MOST_INVITED = 100

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_TRUSTED = re.compile(r"(127(\.\d+){3}|localhost|\[::1\])(:\d+)?", re.ASCII | re.IGNORECASE)
_OTHER_SITES = {"cross-site", "same-site"}  # the same site: another port of this machine


# Replies to requests that fail


class RefusedError(Exception):
    """A request that is refused: the status, the reason, and more values of the reply."""

    def __init__(self, status: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.more = more


def json_reply(value: object, status: int = 200) -> Response:
    """Return a reply with a value as JSON; bytes are JSON already."""
    body = value if isinstance(value, bytes) else msgspec.json.encode(value)
    return Response(body, status, media_type="application/json")


def reply_of(value: object, status: int = 200) -> Response:
    """Return the reply to a request that was answered by a value: a reply, a struct, or None."""
    if isinstance(value, Response):
        return value
    if value is None:
        return Response(status_code=204)
    return json_reply(value, status)


_CODES = {
    400: "invalid",
    401: "signin",
    403: "forbidden",
    404: "unknown",
    405: "method",
    408: "slow",
    409: "conflict",
    410: "gone",
    413: "large",
    415: "type",
    422: "invalid",
    423: "archived",
    429: "busy",
    507: "full",
}


def refusal(status: int, message: str, **more: Any) -> Response:
    """Return a reply that reports an error: a code, a message for people, and more values."""
    code = _CODES.get(status, "server")
    reply = json_reply({"error": code, "message": message, **more}, status)
    if status == 429:
        reply.headers["Retry-After"] = "1"
    return reply


async def _answer(_: Request, error: Exception) -> Response:
    """Return the reply to an exception."""
    if isinstance(error, RefusedError):
        reply = refusal(error.status, error.message, **error.more)
        if error.status in (408, 413):
            reply.headers["Connection"] = "close"  # what else comes is no request
        return reply
    if isinstance(error, HTTPException):
        reply = refusal(error.status_code, _SENTENCES.get(error.status_code, str(error.detail)))
        reply.headers.update(error.headers or {})
        return reply
    if not isinstance(error, AlignkitError):
        return refusal(500, "this is a fault in alignkit; see the terminal for details")
    more: dict[str, Any] = {}
    if isinstance(error, names.Conflict):
        more = {"conflicts": error.conflicts, "seq": error.seq, "events": error.events}
    elif isinstance(error, names.OldText):
        more = {"rev": error.rev}
    elif isinstance(error, names.MovedPair):
        more = {"error": "moved"}
    elif isinstance(error, names.NotTrained):
        more = {"error": "training"}
    path = getattr(error, "path", "")
    text = str(error).removeprefix(f"{path}: ")  # pages have little room
    return refusal(_status(error), text, **more)


def _status(error: AlignkitError) -> int:
    """Return the status of the reply to an error of the package."""
    for kind, status in _STATUS.items():
        if isinstance(error, kind):
            return status
    return 503


_ANSWERED = (RefusedError, HTTPException, AlignkitError, Exception)
HANDLERS: dict[Any, Any] = dict.fromkeys(_ANSWERED, _answer)
"""The handlers that answer exceptions."""


# Requests


@dataclass(frozen=True)
class Guard:
    """Refuse requests with a foreign host name or from a foreign page; add headers to replies."""

    app: ASGIApp
    hosts: frozenset[str]
    opens: Callable[[str], bool] = names.PAGES.__contains__
    origins: frozenset[str] = frozenset()  # of its pages, if not http and the host
    secure: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                message["headers"] = headers.raw
                for name, value in _HEADERS.items():
                    headers[name] = value
                if self.secure or _TRUSTED.fullmatch(Headers(scope=scope).get("host", "")):
                    headers["Cross-Origin-Opener-Policy"] = "same-origin"  # elsewhere: a warning
                if self.secure:
                    headers["Strict-Transport-Security"] = "max-age=31536000"
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        problem = self._problem(scope)
        app = self.app if problem is None else refusal(403, problem)
        await app(scope, receive, guarded)

    def _problem(self, scope: Scope) -> str | None:
        """Return why a request is refused; None if it is not."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return "this host name is not allowed; start the server with --allow-host NAME"
        own = self.origins or {f"http://{hosts[0].lower()}"}
        if any(origin.lower() not in own for origin in headers.getlist("origin")):
            return "the request comes from a page of another origin"
        opened = headers.get("sec-fetch-mode") == "navigate" and self.opens(scope["path"])
        if headers.get("sec-fetch-site") in _OTHER_SITES and not opened:
            return "the request comes from a page of another site"
        return None


@dataclass(frozen=True)
class Proxied:
    """Take requests from trusted proxies only, with the address and scheme that they tell."""

    app: ASGIApp
    proxies: frozenset[str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http":
            peer = scope.get("client")
            if peer is None or peer[0] not in self.proxies:
                await refusal(403, "connect through the proxy")(scope, receive, send)
                return
            headers = Headers(scope=scope)
            forwarded = ",".join(headers.getlist("x-forwarded-for")).split(",")
            others = [name.strip() for name in forwarded if name.strip() not in self.proxies]
            scheme = headers.get("x-forwarded-proto", "")
            if scheme not in ("http", "https"):
                scheme = scope["scheme"]
            # the rightmost was added by the first proxy of ours; what is left of it may be forged
            address = others[-1][:100] if others else ""
            scope = {**scope, "client": (address, 0), "scheme": scheme}
        await self.app(scope, receive, send)


class Entrance:
    """The tokens of URLs: each lets one browser in, once."""

    def __init__(self, host: Visitor, renewed: Callable[[str], None] = lambda _: None) -> None:
        self._host = host
        self._renewed = renewed
        self._invited: dict[str, Visitor] = {}
        self.token = secrets.token_urlsafe(32)
        self.secret = secrets.token_urlsafe(32)

    def may_invite(self, secret: str) -> bool:
        """Return whether a secret is the server's own."""
        return hmac.compare_digest(secret.encode(), self.secret.encode())

    def invite(self, visitor: Visitor) -> str:
        """Return a token that lets somebody in, once; if many wait, the oldest becomes invalid."""
        if len(self._invited) >= _MOST_INVITED:
            del self._invited[next(iter(self._invited))]
        token = secrets.token_urlsafe(32)
        self._invited[token] = visitor
        return token

    def fits(self, token: str) -> bool:
        """Return whether a token lets somebody in."""
        known = [self.token, *self._invited]
        fits = [hmac.compare_digest(token.encode(), other.encode()) for other in known]
        return any(fits)  # all are compared: the time must not tell which fits

    def use(self, token: str) -> Visitor | None:
        """Let somebody in, once; return the visitor, None if the token does not fit."""
        if not self.fits(token):
            return None
        if token in self._invited:
            return self._invited.pop(token)
        self.token = secrets.token_urlsafe(32)
        self._renewed(self.token)
        return self._host


@contextmanager
def taking(
    places: BoundedSemaphore | Lock, seconds: float = 0.0, busy: str = "The server is busy."
) -> Iterator[None]:
    """Do what only few requests may do at once; refuse the others."""
    if not places.acquire(timeout=seconds):
        raise RefusedError(429, f"{busy} Try again in a minute.")
    try:
        yield
    finally:
        places.release()


async def read_json(request: Request) -> bytes:
    """Read a body declared as JSON; refuse one that is too long or too slow."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusedError(415, "expected a body of Content-Type application/json")
    length = request.headers.get("content-length", "")
    known = int(length) if length.isdecimal() and len(length) < 19 else 0
    body = bytearray()
    read = 0
    try:
        with anyio.fail_after(_PATIENCE):
            if known <= _DRAINED:
                async for piece in request.stream():
                    read += len(piece)
                    if read <= LIMIT:
                        body += piece
                    if read > _DRAINED:
                        break
    except TimeoutError:
        raise RefusedError(408, "the request was too slow") from None
    if max(read, known) > LIMIT:
        raise RefusedError(
            413, f"the request is longer than {LIMIT // 1024} kB; send fewer events at a time"
        )
    return bytes(body)


def network(address: str) -> str:
    """Return the part of an address that counts as one: all of it, of IPv6 the first 64 bits."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if not isinstance(ip, ipaddress.IPv6Address):
        return str(ip)
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    return str(ipaddress.ip_network((int(ip), 64), strict=False))
