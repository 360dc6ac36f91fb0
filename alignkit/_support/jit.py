"""Compile kernels with numba, and cache the machine code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from logging import getLogger
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import event
from numpy.typing import NDArray

from alignkit._support.kernel_cache import KEEPS, KernelCache, can_keep

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T", bound=np.generic)

_FAST: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


def jit(function: F) -> F:
    """Compile a kernel at its first call, and cache the machine code (`KernelCache`)."""
    return _compiled(function, nogil=True)


def fast(function: F) -> F:
    """Compile like `jit`, but 1 / 0 is infinity, as in numpy, so that loops vectorize."""
    # Not `fastmath`: how LLVM reorders and fuses floats depends on the processor. Sums that are to
    # be quick are written side by side.
    return _compiled(function, **_FAST)


def _compiled(function: F, **options: Any) -> F:
    kernel = numba.njit(**options)(function)
    compiles = hasattr(kernel, "_cache")  # not where NUMBA_DISABLE_JIT is set
    if KEEPS and compiles and _is_ours(function):
        kernel._cache = KernelCache(function, options)
    return cast("F", kernel)


def inlined(function: F) -> F:
    """Inline a function into the kernels that call it, to avoid calls and passing of arrays."""
    return cast("F", numba.njit(nogil=True, forceinline=True)(function))


def inlined_fast(function: F) -> F:
    """Inline a function into the fast kernels that call it; see `fast` and `inlined`."""
    return cast("F", numba.njit(forceinline=True, **_FAST)(function))


def readonly(array: NDArray[T]) -> NDArray[T]:
    """Return a contiguous read-only view, so that kernels are compiled for one kind of array."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def load_without_scipy() -> None:
    """Load numba without scipy's linear algebra: 0.1 s faster, but kernels have no ``np.dot``."""
    # No kernel of alignkit needs it, others might: so this is for a process of our own
    if "scipy.linalg" in sys.modules:
        return
    sys.modules["scipy.linalg"] = None  # type: ignore[assignment]
    try:
        import_module("numba.np.arraymath")
    finally:
        del sys.modules["scipy.linalg"]


def announce_compilation(tell: Callable[[], None]) -> None:
    """Call `tell` once when a kernel must be compiled; by default a warning is logged."""
    _ANNOUNCER.tell = tell


class _Announcer(event.Listener):
    """A listener that reports the first compilation of an alignkit kernel."""

    def __init__(self) -> None:
        self.tell: Callable[[], None] | None = _warn

    def on_start(self, event: event.Event) -> None:
        if self.tell is not None and _is_ours(getattr(event.data["dispatcher"], "py_func", None)):
            tell = self.tell
            self.tell = None
            tell()

    def on_end(self, event: event.Event) -> None:
        pass


def _warn() -> None:
    then = "later runs use them again ('alignkit compile' compiles all at once)"
    if not KEEPS:
        then = f"each run compiles them: alignkit cannot keep kernels of numba {numba.__version__}"
    elif not can_keep():
        then = "they cannot be kept: set XDG_CACHE_HOME to a folder of yours"
    text = "compiling kernels for this command (a few seconds to half a minute); %s"
    note = {"note": True} if KEEPS else None  # a warning is printed with --quiet too
    getLogger("alignkit").warning(text, then, extra=note)


def _is_ours(function: object) -> bool:
    return str(getattr(function, "__module__", "")).split(".")[0] == __name__.split(".")[0]


_ANNOUNCER = _Announcer()
event.register("numba:compile", _ANNOUNCER)
