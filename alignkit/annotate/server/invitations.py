"""Let another person of this machine in to a server that runs already.

Two people cannot open a project at the same time: its server has the lock. So the second `alignkit
annotate` asks that server for a URL. The server has written where it is, and a secret, into a file
next to the project that only the same user of the machine can read.
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

from alignkit._support.private_files import write_private
from alignkit.annotate.project.names import ProjectError, Visitor
from alignkit.annotate.project.server_lock import ServerLock
from alignkit.annotate.server.listening import check_address, url_host
from alignkit.errors import OptionError

_PAUSE = 0.3  # seconds between two requests to be let in
_ANSWER = 30.0  # seconds to wait for an answer
_MOST_SILENT = 20  # requests in a row without an answer, before the server is given up
_LOOK = 0.1  # seconds between two looks for the file of the server
_MOST_LOOKS = 4  # before it is given up
_NO_ANSWER = 0  # in the place of a status
SECRET = "X-Alignkit-Secret"
"""The header with which the command proves that it may ask."""
_Rule = Literal["blind", "majority"]


class Invitation(Struct, forbid_unknown_fields=True):
    """The body of a request to let somebody in."""

    name: str
    role: str
    gold: str = ""
    rules: dict[_Rule, bool] = {}


class ServerFile(Struct):
    """The file next to a project that names its server."""

    host: str  # the address and port, as in a URL
    secret: str  # the server asks for it before it lets somebody in

    def write(self, project: str) -> None:
        """Write it next to a project, readable only by the user; replace an old one."""
        path = _path(project)
        try:
            _remove_old(path)
            write_private(path, json.encode(self))
        except OSError as problem:
            raise ProjectError(f"{path}: cannot be written: {problem.strerror}") from None

    def remove(self, project: str) -> None:
        """Remove the file, if this server wrote it."""
        if _read(project) == self:
            with suppress(OSError):
                os.unlink(_path(project))


def _remove_old(path: str) -> None:
    """Remove the file of an earlier server; refuse to remove a file of the user's."""
    try:
        old = Path(path).read_bytes()
    except FileNotFoundError:
        return
    try:
        if old:
            json.decode(old, type=ServerFile)
    except (DecodeError, UnicodeDecodeError):
        raise ProjectError(
            f"{path}: alignkit needs this name, but did not make the file; move it elsewhere"
        ) from None
    with suppress(FileNotFoundError):
        os.unlink(path)


def _path(project: str) -> str:
    """Return the path of the file that names the server of a project."""
    return os.path.realpath(project) + "-server"


def _read(project: str) -> ServerFile | None:
    """Return the server of a project; None if no file names one on this machine."""
    try:
        with open(_path(project), "rb") as stream:
            server = json.decode(stream.read(10_000), type=ServerFile)
    except (OSError, DecodeError, UnicodeDecodeError):
        return None
    address, _, port = server.host.rpartition(":")
    with suppress(OptionError, ValueError):  # this machine, with a port; no other gets the secret
        is_local = url_host(check_address(address.strip("[]"))) == address
        if is_local and 0 < int(port) < 2**16:
            return server
    return None


def invited(
    project: str,
    visitor: Visitor,
    gold: str = "",
    *,
    rules: Mapping[str, bool] = {},
    waiting: Callable[[str], None] = lambda _: None,
) -> str | None:
    """Return the URL that lets one browser in; None if no server has the project open."""
    known_rules = msgspec.convert(dict(rules), dict[_Rule, bool])
    invitation = Invitation(visitor.name, visitor.role, gold, known_rules)
    looks = 0
    silent = 0
    while True:
        taken = _lock_taken(project)
        if taken is None:
            return None
        server = _read(project)
        if server is None:  # it has not written yet where it is
            looks += 1
            if looks > _MOST_LOOKS:
                raise taken
            time.sleep(_LOOK)
            continue
        status, body = _request(server, invitation)
        if status == 200:
            way = json.decode(body, type=dict[str, str])
            return f"http://{server.host}{way['path']}#{way['token']}"
        reason = _message(body)
        if status == _NO_ANSWER:
            silent += 1
            if silent > _MOST_SILENT:
                raise ProjectError(f"{project}: {reason} at {server.host}; stop it")
        elif status == 503:  # it is opening the project
            silent = 0
        else:
            raise ProjectError(reason)
        waiting(reason)
        time.sleep(_PAUSE)


def _lock_taken(project: str) -> ProjectError | None:
    """Return the error that a server has a project open; None if its lock can be taken."""
    try:
        ServerLock(project).release()
    except ProjectError as problem:
        return problem
    return None


def _message(body: bytes) -> str:
    """Return the reason that a server gives, if it is one of ours."""
    with suppress(DecodeError, UnicodeDecodeError):
        answer = json.decode(body)
        if isinstance(answer, dict) and answer.get("message"):
            return str(answer["message"])
    return "the server lets nobody in; stop it and start it again"


def _request(server: ServerFile, invitation: Invitation) -> tuple[int, bytes]:
    """Ask a server to let somebody in; return the status (or `_NO_ANSWER`) and the body."""
    headers = {"Content-Type": "application/json", SECRET: server.secret, "Prefer": "wait=5"}
    connection = http.client.HTTPConnection(server.host, timeout=_ANSWER)
    try:
        connection.request("POST", "/invite", json.encode(invitation), headers)
        reply = connection.getresponse()
        return reply.status, reply.read()
    except (OSError, http.client.HTTPException):
        return _NO_ANSWER, b'{"message": "the server does not answer"}'
    finally:
        connection.close()
