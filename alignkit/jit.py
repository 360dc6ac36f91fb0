"""Compile kernels with numba, once: the one place that knows how."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import event

__all__ = ["announce_compilation", "jit"]

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compile a kernel at its first call and keep the machine code on disk.

    Where the disk cannot be written, the kernel is compiled anew in each process.
    """
    try:
        return cast("F", numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # numba found no place for its cache
        return cast("F", numba.njit(nogil=True)(function))


class _Announcer(event.Listener):
    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell: Callable[[], None] | None = tell

    def on_start(self, event: event.Event) -> None:
        if self._tell is not None:
            self._tell()
            self._tell = None

    def on_end(self, event: event.Event) -> None:
        pass


def announce_compilation(tell: Callable[[], None]) -> None:
    """Call `tell` when, and only when, a kernel has to be compiled; once in a process."""
    event.register("numba:compile", _Announcer(tell))
