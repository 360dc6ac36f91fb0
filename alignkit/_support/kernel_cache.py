"""Keep the machine code of kernels between runs.

numba compiles a kernel for a signature, the types of its arguments, and asks `KernelCache` for it
before, and with the result after. The payload of a kernel's file (see `kernel_files`) is the pickle
of these: the signature; the symbols that the code needs from elsewhere, and those that it defines;
the code, as numba reduces it to plain values; and its bitcode, which is parsed only if a kernel
that calls this one is compiled. The functions of numba's own runtime have a file too.

A kernel is compiled again if its file is truncated or changed, was written by another version of
alignkit, numba or Python, or belongs to another user. Of several processes that need the same
kernel, one compiles it, and the others wait for the file.

The cache uses names that numba does not promise to keep. Without one of them, nothing is kept, and
a warning says so; all else works.
"""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from logging import getLogger
from typing import Any

import numba
from llvmlite.binding import address_of_symbol, parse_assembly, parse_bitcode

from alignkit._support.kernel_files import (
    RUNTIME,
    can_keep,
    digest,
    file_prefix,
    make_folder,
    payloads,
    places,
    write_first,
)
from alignkit._support.locks import lock_alone

# KEEPS: whether this numba has the names that the cache uses
try:
    from numba.core.caching import _Cache
    from numba.core.compiler import CompileResult
    from numba.core.environment import Environment, lookup_environment
    from numba.core.runtime import nrtdynmod
    from numba.core.runtime.nrt import rtsys
    from numba.core.serialize import dumps

    KEEPS = hasattr(CompileResult, "_rebuild") and hasattr(CompileResult, "_reduce")
except ImportError:
    KEEPS = False
    _Cache = object  # type: ignore[misc, assignment]


class KernelCache(_Cache):
    """A kernel's machine code for numba: for each signature a mark, a checksum and a pickle."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self._locks: dict[str, int] = {}
        self._name = f"{function.__module__}.{function.__qualname__}"
        self._options = sorted(options.items())
        self._enabled = True

    @property
    def cache_path(self) -> str:
        """The first folder to search."""
        return str(next(places(), ""))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel, or None: then this process compiles it."""
        if not self._enabled:
            return None
        name = self._file_name(sig, target_context.codegen())
        kernel = self._load(name, sig, target_context)
        if kernel is None:
            self._lock(name)
            kernel = self._load(name, sig, target_context)  # another process may have been faster
            if kernel is not None:
                self._release(name)
        return kernel

    def _load(self, name: str, sig: Any, target_context: Any) -> Any:
        """Return the kernel from the first folder that has a usable file of it, or None."""
        for payload in payloads(name):
            try:
                signature, needed, defined, code, bitcode = pickle.loads(payload)
            except Exception:  # whatever is wrong with a file, its kernel can be compiled
                continue
            if signature != sig:
                continue
            try:
                _prepare(target_context, needed)
                target_context.codegen()._engine._defined_symbols.update(defined)
                result = _rebuilt(target_context, *code)
                # parsing bitcode takes most of loading, and is for compiling callers only
                result.library._get_module_for_linking = partial(parse_bitcode, bitcode)
            except Exception as problem:
                _warn_once("loaded", problem)
                continue
            return result
        return None

    def _lock(self, name: str) -> None:
        """Take the lock on a kernel for compiling it; wait while another process has it."""
        for folder in places():
            try:
                make_folder(folder)
                file = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
            except OSError:
                continue
            self._locks[name] = file
            until = time.monotonic() + _LONGEST
            while lock_alone(file) is False and time.monotonic() < until:
                time.sleep(0.05)
            return

    def _release(self, name: str) -> None:
        """Give the lock on a kernel back."""
        file = self._locks.pop(name, None)
        if file is None:
            return
        for folder in places():
            with suppress(OSError):
                os.unlink(folder / f"{name}.lock")
        os.close(file)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a compiled kernel in the first writable folder; warn once if there is none."""
        if not self._enabled:
            return
        name = self._file_name(sig, data.codegen)
        try:
            if not (data.library.has_dynamic_globals or data.lifted):
                _save(name, sig, data)
        except Exception as problem:  # the compiled kernel can be used all the same
            _warn_once("saved", problem)
        finally:
            self._release(name)

    def enable(self) -> None:
        """Load and save from now on."""
        self._enabled = True

    def disable(self) -> None:
        """Neither load nor save."""
        self._enabled = False

    def flush(self) -> None:
        """Do nothing: changed kernels have other file names."""

    def _file_name(self, sig: Any, codegen: Any) -> str:
        key = [list(map(str, sig)), codegen.magic_tuple(), self._options]
        return f"{file_prefix()}{self._name}-{digest(repr(key).encode())}"


_LONGEST = 60
"""Seconds to wait for another process that compiles the same kernel; then both do."""


def _save(name: str, sig: Any, data: Any) -> None:
    """Write a compiled kernel."""
    module = data.library._final_module  # what the kernel calls or reads outside of it:
    values = [*module.functions, *module.global_variables]
    declared = [value.name for value in values if value.is_declaration]
    needed = [each for each in declared if not each.startswith("llvm.")]  # instructions
    defined = [value.name for value in values if not value.is_declaration]
    library, function, environment, *rest, other_environments = data._reduce()
    name_of_library, kind, (machine_code, bitcode) = library
    no_bitcode = parse_assembly("").as_bitcode()
    without_bitcode = (name_of_library, kind, (machine_code, no_bitcode))
    environments = [_described(each) for each in (environment, *other_environments)]
    code = (without_bitcode, function, environments, rest)
    write_first(name, dumps((sig, needed, defined, code, bitcode)))


def _described(environment: Any) -> tuple[str, list[Any], str]:
    """Return the module, the constants and the name of an environment of compiled code.

    numba would keep the environment itself, which imports its module on loading: those of numba's
    own functions take longer than the kernel.
    """
    return environment.globals["__name__"], environment.consts, environment.env_name


def _environment_of(module: str, constants: list[Any], name: str) -> Any:
    """Return the environment of that name; compiled code uses nothing of it but the constants."""
    environment = lookup_environment(name)
    if environment is None:
        environment = Environment({"__name__": module})
        environment.consts[:] = constants
        environment.env_name = name
        Environment._memo[name] = environment
    return environment


def _rebuilt(
    context: Any, library: Any, function: Any, environments: list[Any], rest: list[Any]
) -> Any:
    """Return the kernel whose code `_save` wrote."""
    environment, *others = [_environment_of(*described) for described in environments]
    reduced = (library, function, environment, *rest, tuple(others))
    return CompileResult._rebuild(context, *reduced)


def _warn_once(what: str, problem: Exception) -> None:
    """Warn that compiled kernels cannot be saved or loaded."""
    if WARNED:
        return
    WARNED.append(what)
    advice = f"this numba ({numba.__version__}) may be too new"
    if isinstance(problem, OSError):
        advice = "set XDG_CACHE_HOME to a folder of yours with free space"
    getLogger("alignkit").warning(
        "compiled kernels cannot be %s (%s: %s), so later runs compile them again; %s",
        what,
        type(problem).__name__,
        problem,
        advice,
    )


WARNED: list[str] = []
"""What could not be done with compiled kernels in this process, if anything."""


def _prepare(target_context: Any, needed: list[str]) -> None:
    """Register all symbols of a kernel with LLVM, which ends the process if one is unknown."""
    _start_runtime(target_context)  # most need no more, and the rest takes 0.05 seconds
    if not all(map(address_of_symbol, needed)):
        target_context.refresh()


def _start_runtime(target_context: Any) -> None:
    """Start numba's runtime, whose functions are kept like a kernel: compiling them is slower."""
    compile_functions = nrtdynmod.compile_nrt_functions
    nrtdynmod.compile_nrt_functions = _runtime_functions
    try:
        rtsys.initialize(target_context)  # does nothing if it was started
    finally:
        nrtdynmod.compile_nrt_functions = compile_functions


def _runtime_functions(target_context: Any) -> Any:
    """Return numba's library of the functions of its runtime."""
    codegen = target_context.codegen()
    processor = digest(repr(codegen.magic_tuple()).encode())
    name = f"{file_prefix()}{RUNTIME}{processor}"
    for payload in payloads(name):
        with suppress(Exception):  # whatever is wrong with the file, it can be compiled
            return codegen.unserialize_library(pickle.loads(payload))
    module, library = nrtdynmod.create_nrt_module(target_context)
    library.enable_object_caching()
    library.add_ir_module(module)
    library.finalize()
    library.get_pointer_to_function("NRT_incref")  # numba makes machine code when it is asked for
    try:
        write_first(name, dumps(library.serialize_using_object_code()))
    except Exception as problem:  # the library can be used all the same
        _warn_once("saved", problem)
    return library


def obstacle() -> str:
    """Return the reason why no compiled kernels can be kept, or ""."""
    config: Any = numba.config
    if config.DISABLE_JIT:
        return "NUMBA_DISABLE_JIT is set, so nothing is compiled"
    if not KEEPS:
        return f"this numba ({numba.__version__}) may be too new"
    if not can_keep():
        return "there is no folder for them; set XDG_CACHE_HOME to a folder of yours"
    return ""
