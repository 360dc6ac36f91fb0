"""The listening server: its connections, the signals that end it, and the browser."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from html import escape
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from alignkit._support.private_files import write_private
from alignkit._support.signals import STOPS
from alignkit.annotate.project.names import own_folder
from alignkit.annotate.server.security import network
from alignkit.errors import AlignkitError

_SWITCH = 0.0005  # seconds that the loop waits for a thread: by default ten times as long
_HANG = 3.0  # seconds after which a stop does not wait any longer
_MOST = 200  # connections of one address to a server that is fair
_IDLE = 60.0  # seconds after which a connection without a new request ends, or twice that


class _Connection(H11Protocol):
    """A connection that ends if no request comes: plain uvicorn waits for the first for ever.

    The `cycle` of a connection is its last request with the response; None before the first.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for requests."""
        super().connection_made(transport)
        self._watch()

    def _watch(self, was_idle: bool = False, last_cycle: object = None) -> None:
        """Look now and then whether it has been idle since the look before; if so, end it."""
        is_idle = self.cycle is None or self.cycle.response_complete
        if is_idle and was_idle and self.cycle is last_cycle:
            self.transport.abort()
        elif not self.transport.is_closing():
            self.loop.call_later(_IDLE, self._watch, is_idle, self.cycle)


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
        write_private(str(page), _PAGE.format(url=escape(url)).encode())
        thread = threading.Thread(target=browse, args=[page.as_uri()], daemon=True)
        thread.start()
        thread.join(wait)
