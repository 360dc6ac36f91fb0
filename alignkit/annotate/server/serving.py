"""The listening server: its address and port, signals, the browser, and the file with its address.

Through the file, another `alignkit annotate` of the same user asks the server to let somebody in.
"""

from __future__ import annotations

import asyncio
import http.client
import ipaddress
import os
import re
import signal
import socket
import sys
import threading
import time
import webbrowser
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path
from types import FrameType
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec
import uvicorn
from msgspec import DecodeError, Struct, json
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from alignkit._support.signals import STOPS
from alignkit.annotate.project.database import ServerLock
from alignkit.annotate.project.names import ProjectError, Visitor, own_folder
from alignkit.annotate.server.security import network
from alignkit.errors import AlignkitError, OptionError

_FIRST = 20_000
_PORTS = 10_000
_TRIES = 20
_SWITCH = 0.0005  # seconds that the loop waits for a thread: by default ten times as long
_HANG = 3.0  # seconds after which a stop does not wait any longer
_MOST = 200  # connections of one address to a server that is fair
_IDLE = 60.0  # seconds after which a connection without a new request ends, or twice that
_PAUSE = 0.3  # seconds between two requests to be let in
_ANSWER = 30.0  # seconds to wait for an answer
_REQUESTS = 20
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(:[0-9]{1,5})?", re.ASCII)
SECRET = "X-Alignkit-Secret"
"""The header with which the command proves that it may ask."""
_Rule = Literal["blind", "majority"]


# Addresses


def check_address(address: str) -> str:
    """Return the loopback address of a name or number; refuse any other."""
    with suppress(ValueError):
        ip = ipaddress.ip_address("127.0.0.1" if address == "localhost" else address)
        if ip.is_loopback:
            return str(ip)
    raise OptionError(
        f"--host {address[:100]}: alignkit listens only on this machine (127.0.0.1 or ::1), "
        "because it has no passwords; to reach it from another machine, use ssh -L"
    )


def url_host(address: str) -> str:
    """Return an address in the form for a URL."""
    return f"[{address}]" if ":" in address else address


def allowed_hosts(address: str, port: int, names: Iterable[str] = ()) -> frozenset[str]:
    """Return the values allowed in the header Host, in lower case."""
    own = ("127.0.0.1", "localhost", "[::1]", url_host(address))
    hosts = {f"{host}:{port}" for host in own}
    for name in names:
        if not _NAME.fullmatch(name):
            raise OptionError(
                f"--allow-host {name[:100]!r} is not a host name; expected e.g. lab.example or "
                "lab.example:8080"
            )
        host = name.lower()
        hosts.add(host)
        if ":" not in host:
            hosts.add(f"{host}:{port}")
    return frozenset(hosts)


def own_port(project: str) -> int:
    """Return the port of a project: always the same, because browsers keep unsent work by port."""
    place = os.path.realpath(project).encode(errors="surrogateescape")
    return _FIRST + zlib.crc32(place) % _PORTS


def listen(address: str, port: int | None, project: str) -> socket.socket:
    """Open a socket at a port, or at the first free port of the project."""
    reason: str | None = ""
    if port is None:
        own = own_port(project)
        named = f"--host {address}"
        ports = [*range(own, own + _TRIES), 0]
    else:
        named = f"--port {port}"
        ports = [port]
    for number in ports:
        # only where the protocol is named does asyncio send small replies without delay
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            if os.name == "posix":  # elsewhere it lets two servers share a port
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address, number))
            listener.listen(128)
            return listener
        except OSError as error:
            listener.close()
            reason = error.strerror
    raise OptionError(f"{named}: cannot listen there: {reason}; choose another")


# Serving


class _Connection(H11Protocol):
    """A connection that ends where no request comes: plain uvicorn waits for the first for ever."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for requests."""
        super().connection_made(transport)
        self._watch(object())

    def _watch(self, before: object) -> None:
        """Look now and then whether a request has come since the one before."""
        idle = self.cycle is None or self.cycle.response_complete
        if idle and self.cycle is before:
            self.transport.abort()
        elif not self.transport.is_closing():
            known = self.cycle if idle else object()
            self.loop.call_later(_IDLE, self._watch, known)


class _FairConnection(_Connection):
    """A connection that ends at once if its address has too many."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connections of the same address."""
        super().connection_made(transport)
        if not self.client:
            return
        own = network(self.client[0])
        clients = [other.client for other in self.connections if isinstance(other, H11Protocol)]
        alike = [client for client in clients if client and network(client[0]) == own]
        if len(alike) > _MOST:
            transport.abort()


class Server(uvicorn.Server):
    """A server that runs until a signal comes; plain uvicorn ends silently on any signal."""

    def __init__(
        self,
        app: ASGIApp,
        started: Callable[[], None],
        ready: Callable[[], bool] = lambda: True,
        *,
        hang: float = _HANG,
        fair: bool = False,
        **more: Any,
    ) -> None:
        config = uvicorn.Config(
            app,
            http=_FairConnection if fair else _Connection,
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=1,
            **more,
        )
        super().__init__(config)
        self._started = started
        self._ready = ready
        self._hang = hang
        self.signal = 0

    def serve_until_stopped(self, listener: socket.socket) -> int:
        """Serve; return the signal that ended it, 0 if `end` was called."""
        sys.setswitchinterval(_SWITCH)
        with self._heeding():
            self.run(sockets=[listener])
        return self.signal

    def end(self) -> None:
        """Stop serving, from any thread."""
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets=sockets)
        while not (self.should_exit or self._ready()):
            await asyncio.sleep(0.02)
        if not self.should_exit:
            self._started()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to `serve_until_stopped`."""
        yield

    def install_signal_handlers(self) -> None:
        """Leave signals to `serve_until_stopped`; for older versions of uvicorn."""

    @contextmanager
    def _heeding(self) -> Iterator[None]:
        """Stop at signals; afterwards they have their handlers of before."""
        before: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            for kind in STOPS:
                handler = signal.getsignal(kind)
                if handler not in (signal.SIG_IGN, None):
                    before[kind] = signal.signal(kind, self._stop)
        try:
            yield
        finally:
            for kind, handler in before.items():
                signal.signal(kind, handler)

    def _stop(self, kind: int, _frame: FrameType | None) -> None:
        """Begin to stop at a signal, and end the process if that hangs."""
        if self.signal:  # a second signal: do not wait for what hangs, all is on the disk
            os._exit(128 + kind)
        self.signal = kind
        self.should_exit = True
        timer = threading.Timer(self._hang, os._exit, [128 + kind])
        timer.daemon = True
        timer.start()


_PAGE = """<!doctype html>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={url}">
<title>alignkit</title>
<p><a href="{url}">Go to the annotation page</a></p>
"""


def open_browser(url: str, *, wait: float = 0.0) -> None:
    """Open a page in the browser, by a file that only the user can read: the URL is a secret."""
    seen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if sys.platform not in ("win32", "darwin", "cygwin") and not seen:
        return  # a browser in the terminal cannot show the page

    def browse(page: str) -> None:
        with suppress(webbrowser.Error, OSError):
            webbrowser.open(page)

    with suppress(AlignkitError, OSError):  # the URL is printed anyway
        page = own_folder() / f"open-{urlsplit(url).port}.html"
        page.unlink(missing_ok=True)  # of an earlier run, whose token is void
        _write_private(str(page), _PAGE.format(url=escape(url)).encode())
        thread = threading.Thread(target=browse, args=[page.as_uri()], daemon=True)
        thread.start()
        thread.join(wait)


def _write_private(path: str, content: bytes) -> None:
    """Write a new file that only the user can read."""
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(number, "wb") as stream:
        stream.write(content)


# Invitations


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
            with suppress(FileNotFoundError):
                old = Path(path).read_bytes()
                if old:
                    json.decode(old, type=ServerFile)  # anything else is the user's
                os.unlink(path)
            _write_private(path, json.encode(self))
        except OSError as problem:
            raise ProjectError(f"{path}: cannot be written: {problem.strerror}") from None
        except (DecodeError, UnicodeDecodeError):
            raise ProjectError(
                f"{path}: alignkit needs this name, but did not make the file; move it elsewhere"
            ) from None

    def remove(self, project: str) -> None:
        """Remove the file, if this server wrote it."""
        if _read(project) == self:
            with suppress(OSError):
                os.unlink(_path(project))


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
    rules: Mapping[str, bool] | None = None,
    waiting: Callable[[str], None] | None = None,
) -> str | None:
    """Return the URL that lets one browser in; None if no server has the project open."""
    known_rules = msgspec.convert(dict(rules or {}), dict[_Rule, bool])
    invitation = Invitation(visitor.name, visitor.role, gold, known_rules)
    silent = 0
    while True:
        try:
            ServerLock(project).release()
            return None
        except ProjectError:
            server = _read(project)
            if server is None:  # or it has not yet written where it is
                silent += 1
                if silent > _REQUESTS // 5:
                    raise
                time.sleep(_PAUSE / 3)
                continue
        status, body = _request(server, invitation)
        if status == 200:
            way = json.decode(body, type=dict[str, str])
            return f"http://{server.host}{way['path']}#{way['token']}"
        reason = _message(body)
        silent = 0 if status else silent + 1
        if status not in (0, 503):
            raise ProjectError(reason)
        if silent > _REQUESTS:
            raise ProjectError(f"{project}: {reason} at {server.host}; stop it")
        if waiting is not None:
            waiting(reason)
        time.sleep(_PAUSE)


def _message(body: bytes) -> str:
    """Return the reason that a server gives, if it is one of ours."""
    with suppress(DecodeError, UnicodeDecodeError):
        answer = json.decode(body)
        if isinstance(answer, dict) and answer.get("message"):
            return str(answer["message"])
    return "the server lets nobody in; stop it and start it again"


def _request(server: ServerFile, invitation: Invitation) -> tuple[int, bytes]:
    """Ask a server to let somebody in; return the status, 0 if nobody answers, and the body."""
    headers = {"Content-Type": "application/json", SECRET: server.secret, "Prefer": "wait=5"}
    connection = http.client.HTTPConnection(server.host, timeout=_ANSWER)
    try:
        connection.request("POST", "/invite", json.encode(invitation), headers)
        reply = connection.getresponse()
        return reply.status, reply.read()
    except (OSError, http.client.HTTPException):
        return 0, b'{"message": "the server does not answer"}'
    finally:
        connection.close()
