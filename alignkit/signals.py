"""Stop at once when the user or the system says so, but not in the middle of what must be whole."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

__all__ = ["before_stop", "stop_at_once", "undisturbed"]

STOPS = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
    if hasattr(signal, name)
]

_cleanups: list[Callable[[], str]] = []


def stop_at_once() -> None:
    """Let Ctrl-C, SIGTERM, SIGHUP and SIGQUIT end this process with exit code 128 + signal.

    Python would raise `KeyboardInterrupt` wherever it is, and there are places that cannot bear it:
    a library that is being imported, a kernel that is being compiled, a finalizer. They swallow it,
    turn it into another error, or crash. Signals that are ignored (nohup) stay so.
    """
    for kind in STOPS:
        if signal.getsignal(kind) not in (signal.SIG_IGN, None):
            signal.signal(kind, _stop)


def _stop(kind: int, _frame: FrameType | None) -> None:
    state = ""
    for cleanup in reversed(_cleanups):
        state = f"; {cleanup()}"
    with suppress(OSError, ValueError, AttributeError):
        wipe = "\r\x1b[K" if sys.stderr.isatty() else ""  # a line of progress
        os.write(sys.stderr.fileno(), f"{wipe}alignkit: error: interrupted{state}\n".encode())
    os._exit(128 + kind)


@contextmanager
def before_stop(cleanup: Callable[[], str]) -> Iterator[None]:
    """Call `cleanup` if the process is stopped meanwhile; it returns what is to be said of that."""
    _cleanups.append(cleanup)
    try:
        yield
    finally:
        _cleanups.remove(cleanup)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let what would stop the process wait until the end.

    Handlers run in the main thread alone, so others are not disturbed anyway.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {}
    try:
        for kind in STOPS:
            handler = signal.getsignal(kind)
            if handler not in (signal.SIG_IGN, None):
                before[kind] = handler
                signal.signal(kind, lambda kind, _frame: came.append(kind))
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
        if came:
            signal.raise_signal(came[0])
