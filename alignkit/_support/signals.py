"""Let signals stop the process at once, except during work that must be completed."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_NAMES = "SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"
STOPS = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]

_cleanups: list[Callable[[], str]] = []


def stop_at_once() -> None:
    """Make Ctrl-C, SIGTERM, SIGHUP and SIGQUIT end this process with exit code 128 + signal."""
    # A KeyboardInterrupt would be swallowed or crash in imports, compilations and finalizers
    for kind in STOPS:  # those that are ignored (nohup) stay so
        if signal.getsignal(kind) not in (signal.SIG_IGN, None):
            signal.signal(kind, _stop)


def leave_at_once() -> list[int]:
    """Return a list for the exit code; once it has one, the process ends right after `atexit`."""
    # Python has no handlers while it takes a process down: a signal would end it without a word
    ended: list[int] = []

    def leave() -> None:
        with suppress(OSError, ValueError):  # Python will say what cannot be written
            for stream in (sys.stdout, sys.__stdout__, sys.stderr):
                if stream is not None:
                    stream.flush()
            if ended:
                os._exit(ended[0])

    atexit.register(leave)
    return ended


def _stop(kind: int, _frame: FrameType | None) -> None:
    """End the process at a signal: clean up, and report what was done."""
    state = ""
    for cleanup in reversed(_cleanups):
        state += f"; {cleanup()}"
    with suppress(OSError, ValueError, AttributeError):
        wipe = "\r\x1b[K" if sys.stderr.isatty() else ""  # a line of progress
        os.write(sys.stderr.fileno(), f"{wipe}alignkit: error: interrupted{state}\n".encode())
    os._exit(128 + kind)


@contextmanager
def before_stop(cleanup: Callable[[], str], *, for_good: bool = False) -> Iterator[None]:
    """Print what `cleanup` returns if the process is stopped in here or, `for_good`, later."""
    _cleanups.append(cleanup)
    try:
        yield
    finally:
        if not for_good:
            _cleanups.remove(cleanup)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Delay signals that stop the process until the end of the block."""
    if threading.current_thread() is not threading.main_thread():  # others run no handlers
        yield
        return
    came: list[int] = []
    before = {kind: signal.getsignal(kind) for kind in STOPS}
    before = {kind: old for kind, old in before.items() if old not in (signal.SIG_IGN, None)}
    try:
        for kind in before:
            signal.signal(kind, lambda kind, _frame: came.append(kind))
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
        if came:
            signal.raise_signal(came[0])
