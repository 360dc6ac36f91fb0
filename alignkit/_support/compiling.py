"""Compile kernels with numba, keep the machine code, and say when that takes a while.

Only modules of this folder import numba, and `jit` imports them when a kernel is called.
"""

from __future__ import annotations

from collections.abc import Callable
from logging import getLogger
from typing import Any

import numba
from numba.core import event

from alignkit._support.kernel_cache import KEEPS, KernelCache
from alignkit._support.kernel_files import can_keep


def compiled(function: Callable[..., Any], options: dict[str, Any], *, kept: bool) -> Any:
    """Return a function that numba compiles at its first call, or loads if it was kept."""
    kernel = numba.njit(**options)(function)
    compiles = hasattr(kernel, "_cache")  # not where NUMBA_DISABLE_JIT is set
    if kept and KEEPS and compiles and _is_ours(function):
        kernel._cache = KernelCache(function, options)
    return kernel


def announce_compilation(tell: Callable[[], None]) -> None:
    """Call `tell` once when a kernel must be compiled; by default a warning is logged."""
    _ANNOUNCER.tell = tell


class _Announcer(event.Listener):
    """A listener that reports the first compilation of an alignkit kernel."""

    def __init__(self) -> None:
        self.tell: Callable[[], None] | None = _warn

    def on_start(self, event: event.Event) -> None:
        import alignkit._support.compiled_eights  # noqa: F401 (only compiling needs it)

        if self.tell is not None and _is_ours(getattr(event.data["dispatcher"], "py_func", None)):
            tell = self.tell
            self.tell = None
            tell()

    def on_end(self, event: event.Event) -> None:
        pass


def _warn() -> None:
    """Log that kernels are compiled, and what can be done about it."""
    then = "later runs use them again ('alignkit compile' compiles all at once)"
    if not KEEPS:
        then = f"each run compiles them: alignkit cannot keep kernels of numba {numba.__version__}"
    elif not can_keep():
        then = "they cannot be kept: set XDG_CACHE_HOME to a folder of yours"
    text = "compiling kernels for this command (a few seconds to half a minute); %s"
    note = {"note": True} if KEEPS else None  # a warning is printed with --quiet too
    getLogger("alignkit").warning(text, then, extra=note)


def _is_ours(function: object) -> bool:
    """Return whether a function belongs to alignkit; numba reports those of others too."""
    return str(getattr(function, "__module__", "")).split(".")[0] == __name__.split(".")[0]


_ANNOUNCER = _Announcer()
event.register("numba:compile", _ANNOUNCER)
