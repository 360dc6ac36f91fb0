"""Find the server that has a project open, and ask it for a link that lets one browser in.

The server writes where it is and a secret into ``PROJECT-server``, which only its user may read.
Whoever can read that file may name themselves as they like: all are one user of the machine.
"""

from __future__ import annotations

import http.client
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import DecodeError, Struct, json

from alignkit.annotate.errors import ProjectError
from alignkit.annotate.names import Visitor
from alignkit.annotate.server.hosts import check_address, url_host
from alignkit.annotate.tables.lock import ServerLock
from alignkit.errors import OptionError

SECRET = "X-Alignkit-Secret"
"""The header by which the command shows that it may ask."""
_PAUSE, _ANSWER = 0.3, 30.0  # seconds
_TRIES = 20
_Rule = Literal["blind", "majority"]


class Invitation(Struct, forbid_unknown_fields=True):
    """Who is to be let in: the body of the request."""

    name: str
    role: str
    gold: str = ""
    rules: dict[_Rule, bool] = {}


class Invited(Struct):
    """The way in: a path, and the token that goes behind it."""

    path: str
    token: str


class ServerFile(Struct):
    """Where a project's server is."""

    host: str  # the address and port, as in a URL
    secret: str  # what the server asks for before it lets somebody in

    def write(self, project: str) -> None:
        """Write it beside a project, for nobody else to read; what was there is of the past."""
        path = _path(project)
        try:
            with suppress(FileNotFoundError):
                if old := Path(path).read_bytes():
                    json.decode(old, type=ServerFile)  # of the user's, if it is something else
                os.unlink(path)
            number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(number, "wb") as stream:
                stream.write(json.encode(self))
        except OSError as problem:
            raise ProjectError(f"{path}: cannot be written: {problem.strerror}") from None
        except (DecodeError, UnicodeDecodeError):
            raise ProjectError(
                f"{path}: alignkit needs the name, and did not make the file; move it elsewhere"
            ) from None

    def remove(self, project: str) -> None:
        """Take it away, if it still is this one."""
        if _read(project) == self:
            with suppress(OSError):
                os.unlink(_path(project))


def _path(project: str) -> str:
    return os.path.realpath(project) + "-server"


def _read(project: str) -> ServerFile | None:
    try:
        with open(_path(project), "rb") as stream:
            server = json.decode(stream.read(10_000), type=ServerFile)
    except (OSError, DecodeError, UnicodeDecodeError):
        return None
    return server if _on_loopback(server.host) else None


def _on_loopback(host: str) -> bool:
    """Return whether it is an address of this machine with a port; no other gets the secret."""
    address, _, port = host.rpartition(":")
    with suppress(OptionError, ValueError):
        return url_host(check_address(address.strip("[]"))) == address and 0 < int(port) < 2**16
    return False


def invited(
    project: str,
    visitor: Visitor,
    gold: str = "",
    *,
    rules: Mapping[str, bool] | None = None,
    waiting: Callable[[str], None] | None = None,
) -> str | None:
    """Return the URL by which one browser gets in; None where no server has the project."""
    known = msgspec.convert(dict(rules or {}), dict[_Rule, bool])
    silent = 0
    while True:
        try:
            ServerLock(project).release()
            return None
        except ProjectError:
            server = _read(project)
            if server is None:  # or it has not yet written where it is
                silent += 1
                if silent > _TRIES // 5:
                    raise
                time.sleep(_PAUSE / 3)
                continue
        status, body = _asked(server, Invitation(visitor.name, visitor.role, gold, known))
        if status == 200:
            way = json.decode(body, type=Invited)
            return f"http://{server.host}{way.path}#{way.token}"
        reason = _reason(body)
        silent = 0 if status else silent + 1
        if status not in (0, 503) or silent > _TRIES:
            raise ProjectError(
                reason if status else f"{project}: {reason} at {server.host}; stop it"
            )
        if waiting is not None:
            waiting(reason)
        time.sleep(_PAUSE)


def _asked(server: ServerFile, invitation: Invitation) -> tuple[int, bytes]:
    """Return the status, 0 where nobody answers, and the body."""
    headers = {"Content-Type": "application/json", SECRET: server.secret, "Prefer": "wait=5"}
    connection = http.client.HTTPConnection(server.host, timeout=_ANSWER)
    try:
        connection.request("POST", "/invite", json.encode(invitation), headers)
        reply = connection.getresponse()
        return reply.status, reply.read()
    except (OSError, http.client.HTTPException):
        return 0, b'{"error": "the server does not answer"}'
    finally:
        connection.close()


def _reason(body: bytes) -> str:
    with suppress(DecodeError, UnicodeDecodeError):
        answer = json.decode(body)
        if isinstance(answer, dict) and answer.get("error"):
            return str(answer["error"])
    return "the server does not let anybody in; stop it and start it again"
