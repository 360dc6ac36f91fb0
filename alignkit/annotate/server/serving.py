"""Listen on the loopback, open the browser, and stop at once when the user says so."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import threading
import zlib
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

import uvicorn

from alignkit.errors import OptionError
from alignkit.signals import STOPS

if TYPE_CHECKING:
    from starlette.types import ASGIApp

_FIRST, _PORTS, _TRIES = 20_000, 10_000, 20
_HANG = 3.0  # seconds after which a stop does not wait any longer


def own_port(project: str) -> int:
    """Return the port that belongs to a project's place.

    A browser keeps what waits, and its session, by host and port; so each start should have the
    same.
    """
    place = os.path.realpath(project).encode(errors="surrogateescape")
    return _FIRST + zlib.crc32(place) % _PORTS


def listen(address: str, port: int | None, project: str) -> socket.socket:
    """Open a socket."""
    own = own_port(project)
    ports = [*range(own, own + _TRIES), 0] if port is None else [port]
    problem: OSError | None = None
    for one in ports:
        try:
            return _bound(address, one)
        except OSError as error:
            problem = error
    assert problem is not None
    named = f"--port {port}" if port is not None else f"--host {address}"
    raise OptionError(f"{named}: cannot listen there: {problem.strerror}; choose another")


def _bound(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # only where the protocol is named does asyncio send small replies without delay
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # elsewhere it lets two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(128)
    except OSError:
        listener.close()
        raise
    return listener


class Server(uvicorn.Server):
    """Serve until a signal comes; uvicorn would end quietly, whatever the signal was."""

    def __init__(
        self, app: ASGIApp, started: Callable[[], None], ready: Callable[[], bool] = lambda: True
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http="h11",
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
            )
        )
        self._tell, self._ready = started, ready
        self.signal = 0

    def serve_until_stopped(self, listener: socket.socket) -> int:
        """Serve; return the signal that ended it, 0 if `end` did."""
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
            self._tell()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to `serve_until_stopped`."""
        yield

    def install_signal_handlers(self) -> None:
        """Leave signals to `serve_until_stopped`; of older versions of uvicorn."""

    @contextlib.contextmanager
    def _heeding(self) -> Iterator[None]:
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
        if self.signal:  # again: whatever hangs need not be waited for, all is on the disk
            os._exit(128 + kind)
        self.signal = kind
        self.should_exit = True
        timer = threading.Timer(_HANG, os._exit, [128 + kind])
        timer.daemon = True
        timer.start()
