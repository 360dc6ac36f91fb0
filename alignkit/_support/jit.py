"""Compile kernels with numba, once: the one place that knows how."""

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

from alignkit._support.kernel_cache import KernelCache, can_keep

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T", bound=np.generic)

_FAST: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


def jit(function: F) -> F:
    """Compile a kernel at its first call; keep the machine code if it can be: `KernelCache`."""
    return _compiled(function, nogil=True)


def fast(function: F) -> F:
    """Compile a kernel as `jit` does, where 1 / 0 is infinity, as in numpy: so loops vectorize."""
    # Not `fastmath`: how LLVM reorders and fuses floats depends on the processor. Sums that are to
    # be quick are written side by side.
    return _compiled(function, **_FAST)


def _compiled(function: F, **options: Any) -> F:
    kernel = numba.njit(**options)(function)
    if _is_ours(function) and hasattr(kernel, "_cache"):  # not where NUMBA_DISABLE_JIT is set
        kernel._cache = KernelCache(function, options)
    return cast("F", kernel)


def inlined(function: F) -> F:
    """Compile a part of a kernel into each place that calls it: no call, no passing of arrays."""
    return cast("F", numba.njit(nogil=True, forceinline=True)(function))


def inlined_fast(function: F) -> F:
    """Compile a part of a fast kernel into each place that calls it; see `fast` and `inlined`."""
    return cast("F", numba.njit(forceinline=True, **_FAST)(function))


def readonly(array: NDArray[T]) -> NDArray[T]:
    """Return a contiguous read-only view, so that kernels are compiled for one kind of array."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def load_without_scipy() -> None:
    """Load numba without scipy's linear algebra, a tenth of a second; kernels lose ``np.dot``."""
    # No kernel of alignkit needs it, others might: so this is for a process of our own
    if "scipy.linalg" in sys.modules:
        return
    sys.modules["scipy.linalg"] = None  # type: ignore[assignment]
    try:
        import_module("numba.np.arraymath")
    finally:
        del sys.modules["scipy.linalg"]


def announce_compilation(tell: Callable[[], None]) -> None:
    """Call `tell` once when a kernel has to be compiled, of which the logger warns otherwise."""
    _ANNOUNCER.tell = tell


class _Announcer(event.Listener):
    """A listener that reports the first kernel of ours that is compiled."""

    def __init__(self) -> None:
        self.tell: Callable[[], None] | None = _warn

    def on_start(self, event: event.Event) -> None:
        if self.tell is not None and _is_ours(getattr(event.data["dispatcher"], "py_func", None)):
            tell, self.tell = self.tell, None
            tell()

    def on_end(self, event: event.Event) -> None:
        pass


def _warn() -> None:
    then = "they are kept for later runs"
    if not can_keep():
        then = "no folder was found to keep them in: name one of yours in XDG_CACHE_HOME"
    text = "compiling kernels (some 20 s, once); %s"
    getLogger("alignkit").warning(text, then, extra={"note": True})


def _is_ours(function: object) -> bool:
    return str(getattr(function, "__module__", "")).split(".")[0] == __name__.split(".")[0]


_ANNOUNCER = _Announcer()
event.register("numba:compile", _ANNOUNCER)
