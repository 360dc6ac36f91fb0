"""Mark kernels: functions over arrays that numba compiles to machine code.

Importing numba takes longer than most small commands, so that only the first call of a kernel does
it (see `compiling`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import update_wrapper
from threading import Lock
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T", bound=np.generic)
N = TypeVar("N", bound=tuple[Any, ...])

_FAST: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


class Kernel:
    """A function that is compiled, or loaded, at its first call.

    Other kernels can call it: numba takes it for the compiled function.

    Parameters
    ----------
    function : The function, whose source numba can compile.
    options : Options of `numba.njit`.
    kept : Whether the machine code is kept; not that of functions that are inlined.
    """

    __name__: str

    def __init__(
        self, function: Callable[..., Any], options: dict[str, Any], *, kept: bool
    ) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._options = options
        self._kept = kept
        self._compiled: Any = None

    @property
    def compiled(self) -> Any:
        """Numba's function, or the plain one where NUMBA_DISABLE_JIT is set."""
        if self._compiled is None:
            with _FIRST_CALL:
                if self._compiled is None:  # no other thread was faster
                    from alignkit._support.numba_import import import_numba

                    import_numba()  # before what needs it
                    from alignkit._support.compiling import compiled

                    self._compiled = compiled(self.py_func, self._options, kept=self._kept)
        return self._compiled

    @property
    def _numba_type_(self) -> Any:
        """What numba asks when a kernel that it compiles calls this one."""
        return self.compiled._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        return self.compiled(*arguments)


_FIRST_CALL = Lock()


def jit(function: F) -> F:
    """Compile a kernel at its first call, and keep the machine code (`KernelCache`)."""
    return _kernel(function, {"nogil": True})


def fast(function: F) -> F:
    """Compile like `jit`, but 1 / 0 is infinity, as in numpy, so that loops vectorize."""
    # Not `fastmath`: how LLVM reorders and fuses floats depends on the processor. Sums that are to
    # be quick are written side by side.
    return _kernel(function, _FAST)


def inlined(function: F) -> F:
    """Inline a function into the kernels that call it, to avoid calls and passing of arrays."""
    return _kernel(function, {"nogil": True, "forceinline": True}, kept=False)


def inlined_fast(function: F) -> F:
    """Inline a function into the fast kernels that call it; see `fast` and `inlined`."""
    return _kernel(function, {"forceinline": True, **_FAST}, kept=False)


def _kernel(function: F, options: dict[str, Any], *, kept: bool = True) -> F:
    """Return a kernel; for type checkers it is the function that it compiles."""
    return cast("F", Kernel(function, options, kept=kept))


def is_loaded() -> bool:
    """Return whether numba is loaded, so that a kernel costs no more than its own time."""
    return "numba" in sys.modules


def readonly(array: NDArray[T]) -> NDArray[T]:
    """Return a contiguous read-only view, so that kernels are compiled for one kind of array."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def all_readonly(arrays: N) -> N:
    """Return a named tuple of arrays with views of them for kernels; see `readonly`."""
    return type(arrays)(*map(readonly, arrays))
