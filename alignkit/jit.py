"""Compile kernels with numba, once: the one place that knows how."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import event
from numpy.typing import NDArray

__all__ = [
    "announce_compilation",
    "fast",
    "inlined",
    "inlined_fast",
    "jit",
    "load_without_scipy",
    "readonly",
]

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T", bound=np.generic)

_FAST: dict[str, Any] = {"nogil": True, "fastmath": True, "error_model": "numpy"}


def jit(function: F) -> F:
    """Compile a kernel at its first call and keep the machine code on disk.

    Where the disk cannot be written, the kernel is compiled anew in each process.
    """
    return _compiled(function, nogil=True)


def fast(function: F) -> F:
    """Compile a kernel as `jit` does, for sums and products over many floats.

    They may be reordered, so that they vectorize; 1 / 0 is infinity, as in numpy.

    Such a kernel is called from Python only, and its parts are `inlined_fast`. One that a kernel
    calls is compiled twice, by itself and into its caller, with sums in another order: the process
    that compiles both takes the first, those that load the caller from disk take the second. (Sums
    of plain kernels are never reordered, so they may call one another.)
    """
    return _compiled(function, **_FAST)


def _compiled(function: F, **options: Any) -> F:
    try:
        with _cache_of_user():
            kernel = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no place for its cache
        return cast("F", numba.njit(**options)(function))
    _forget_stale(kernel.stats.cache_path)
    return cast("F", kernel)


@contextmanager
def _cache_of_user() -> Iterator[None]:
    """Have numba keep machine code in the user's cache, unless the user chose another folder.

    Beside the modules, its own choice, pip would leave it behind when it removes alignkit: a folder
    ``alignkit`` without modules, which hides the next installation if that one is editable.
    """
    config: Any = numba.config
    chosen = config.CACHE_DIR
    if not chosen:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        config.CACHE_DIR = os.path.join(home, "alignkit")
    try:
        yield
    finally:
        config.CACHE_DIR = chosen


@cache
def _fingerprint() -> str:
    """Return a digest of the source of all kernels."""
    sources = sorted(Path(__file__).parent.rglob("*kernel.py"))
    return sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()


@cache
def _forget_stale(folder: str) -> None:
    """Drop compiled kernels of another state of the sources, once for each folder.

    numba looks at the file of a kernel alone; the kernels it calls may have changed in theirs.
    """
    stamp = Path(folder) / "kernels.sha256"
    with suppress(OSError):
        if stamp.exists() and stamp.read_text(encoding="ascii") == _fingerprint():
            return
        for index in Path(folder).glob("*kernel.*.nbi"):
            index.unlink(missing_ok=True)
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(_fingerprint(), encoding="ascii")


def inlined(function: F) -> F:
    """Compile a part of a kernel into each place that calls it: no call, no passing of arrays."""
    return cast("F", numba.njit(nogil=True, forceinline=True)(function))


def inlined_fast(function: F) -> F:
    """Compile a part of a fast kernel into each place that calls it; see `fast` and `inlined`."""
    return cast("F", numba.njit(forceinline=True, **_FAST)(function))


def readonly(array: NDArray[T]) -> NDArray[T]:
    """Return a contiguous read-only view: numba compiles anew for each kind of array it is given.

    Kernels that read arrays of both kinds (`LinkArrays.pack` makes read-only ones, most of numpy
    writable ones) take them through here and are compiled once.
    """
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


class _Announcer(event.Listener):
    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell: Callable[[], None] | None = tell

    def on_start(self, event: event.Event) -> None:
        if self._tell is not None:
            self._tell()
            self._tell = None

    def on_end(self, event: event.Event) -> None:
        pass


def load_without_scipy() -> None:
    """Load numba without scipy's linear algebra, which takes a tenth of a second.

    No kernel of alignkit needs it; but others in the same process could not use ``np.dot``, so this
    is for a process of our own. Everything but numba finds scipy as before.
    """
    if "scipy.linalg" in sys.modules:
        return
    sys.modules["scipy.linalg"] = None  # type: ignore[assignment]
    try:
        import_module("numba.np.arraymath")
    finally:
        del sys.modules["scipy.linalg"]


def announce_compilation(tell: Callable[[], None]) -> None:
    """Call `tell` when, and only when, a kernel has to be compiled; once in a process."""
    event.register("numba:compile", _Announcer(tell))
