"""Cache the machine code of kernels between runs, without trusting the cache folder.

A kernel is compiled again if its file is truncated or changed, was written by another version of
alignkit, numba or Python, or belongs to another user (because the code in it is run). Of several
processes that need the same kernel, one compiles it, and the others wait for the file.

The cache uses names that numba does not promise to keep. Without one of them, nothing is kept, and
a warning says so; all else works.
"""

from __future__ import annotations

import os
import pickle
import platform
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from hashlib import sha256
from logging import getLogger
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite.binding import address_of_symbol, parse_assembly, parse_bitcode

from alignkit._support.cache_folder import cache_home
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

PACKAGE = Path(__file__).parent.parent
MARK = b"alignkit kernel\n"
_FLAGS = ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY")  # a pipe of that name does not make us wait
_READING = sum((getattr(os, flag, 0) for flag in _FLAGS), os.O_RDONLY)
OPTIONS = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "USING_SVML")
"""Options of numba that change the compiled code; the processor is part of each kernel's key."""


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
        for folder in places():
            # Whatever is wrong with a file, its kernel can be compiled.
            try:
                _check(folder)
                kept, needed, defined, code, bitcode = pickle.loads(_read(folder / name))
            except Exception:
                continue
            if kept != sig:
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
                _make(folder)
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
        return f"{_environment()}-{_sources()}-{self._name}-{_digest(repr(key).encode())}"


_LONGEST = 60
"""Seconds to wait for another process that compiles the same kernel; then both do."""


def _save(name: str, sig: Any, data: Any) -> None:
    """Write a compiled kernel."""
    module = data.library._final_module  # what the kernel calls or reads outside of it:
    values = [*module.functions, *module.global_variables]
    needed = [value.name for value in values if value.is_declaration]
    needed = [each for each in needed if not each.startswith("llvm.")]  # instructions
    defined = [value.name for value in values if not value.is_declaration]
    (library, kind, (machine_code, bitcode)), described, environment, *rest, others = data._reduce()
    without_bitcode = (library, kind, (machine_code, parse_assembly("").as_bitcode()))
    names = [_named(each) for each in (environment, *others)]
    code = (without_bitcode, described, names, rest)
    _write_first(name, dumps((sig, needed, defined, code, bitcode)))


def _write_first(name: str, payload: bytes) -> None:
    """Write a file to the first folder that can be written."""
    problem = OSError("there is no folder for them")
    for folder in places():
        try:
            _make(folder)
            _write(folder, name, payload)
        except OSError as this:
            problem = this
        else:
            return
    raise problem


def _named(environment: Any) -> tuple[str, list[Any], str]:
    """Return the module, the constants and the name of an environment of compiled code.

    numba would keep the environment itself, which imports its module on loading: those of numba's
    own functions take longer than the kernel.
    """
    return environment.globals["__name__"], environment.consts, environment.env_name


def _made(module: str, constants: list[Any], name: str) -> Any:
    """Return the environment of that name; compiled code uses nothing of it but the constants."""
    environment = lookup_environment(name)
    if environment is None:
        environment = Environment({"__name__": module})
        environment.consts[:] = constants
        environment.env_name = name
        Environment._memo[name] = environment
    return environment


def _rebuilt(context: Any, library: Any, described: Any, names: list[Any], rest: list[Any]) -> Any:
    """Return the kernel of what `_save` wrote."""
    environment, *others = [_made(*name) for name in names]
    parts = (library, described, environment, *rest, tuple(others))
    return CompileResult._rebuild(context, *parts)


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


_RUNTIME = "-runtime-"
"""What the name of the file of numba's runtime has between the sources and the processor."""


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
    processor = _digest(repr(codegen.magic_tuple()).encode())
    name = f"{_environment()}-{_sources()}{_RUNTIME}{processor}"
    for folder in places():
        with suppress(Exception):  # whatever is wrong with the file, it can be compiled
            _check(folder)
            return codegen.unserialize_library(pickle.loads(_read(folder / name)))
    module, library = nrtdynmod.create_nrt_module(target_context)
    library.enable_object_caching()
    library.add_ir_module(module)
    library.finalize()
    library.get_pointer_to_function("NRT_incref")  # numba makes machine code when it is asked for
    try:
        _write_first(name, dumps(library.serialize_using_object_code()))
    except Exception as problem:  # the library can be used all the same
        _warn_once("saved", problem)
    return library


def can_keep() -> bool:
    """Return whether there is a folder for compiled kernels."""
    for folder in places():
        with suppress(OSError):
            _make(folder)
            if os.access(folder, os.W_OK | os.X_OK):
                return True
    return False


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


def kept() -> Iterator[Path]:
    """Yield the files of all kernels that were compiled by this version."""
    prefix = f"{_environment()}-{_sources()}-"
    for folder in places():
        for path in folder.glob(f"{prefix}*"):
            if path.suffix != ".lock" and _RUNTIME not in path.name:
                yield path


def places() -> Iterator[Path]:
    """Yield the folders for compiled kernels: the user's cache, and a private one."""
    # Not beside the modules, which is numba's choice: what pip leaves behind there when it removes
    # alignkit, a folder without modules, would hide an editable installation.
    if not _sources():
        return  # no modules on disk, hence no telling when they change
    package = f"kernels-{_digest(str(PACKAGE).encode())}"
    config: Any = numba.config
    if config.CACHE_DIR:  # what NUMBA_CACHE_DIR says
        yield Path(config.CACHE_DIR).absolute() / "alignkit" / package
    elif home := cache_home():
        yield Path(home) / "alignkit" / package
    with suppress(OSError):  # no folder for temporary files
        user = f"-{os.geteuid()}" if hasattr(os, "geteuid") else ""
        yield Path(tempfile.gettempdir()).absolute() / f"alignkit{user}" / package


def _make(folder: Path) -> None:
    """Make a folder that only the user can write to; raise OSError if it exists otherwise."""
    base = folder.parent.parent
    ours = folder.parent
    base.mkdir(parents=True, exist_ok=True)
    if not _owned(base.stat(), root=True):  # as under sudo: no files of root in a user's folder
        raise PermissionError(f"{base} belongs to somebody else")
    for path in (ours, folder):
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
    _check(folder, root=False)


def _check(folder: Path, *, root: bool = True) -> None:
    """Raise OSError if other users can write to a folder."""
    for path in (folder.parent, folder):
        status = path.lstat()
        if not stat.S_ISDIR(status.st_mode):
            raise PermissionError(f"{path} is no folder")
        _refuse_others(status, path, root=root)


def _owned(status: os.stat_result, *, root: bool) -> bool:
    """Return whether a file belongs to the user or, if allowed, to root."""
    if not hasattr(os, "geteuid"):
        return True
    return status.st_uid == os.geteuid() or (root and status.st_uid == 0)


def _refuse_others(status: os.stat_result, path: Path, *, root: bool = True) -> None:
    """Raise OSError if a file belongs to other users, or they can write to it."""
    if not _owned(status, root=root):
        raise PermissionError(f"{path} is not the user's")
    if hasattr(os, "geteuid") and status.st_mode & 0o022:
        raise PermissionError(f"{path} can be written by others")


def _read(path: Path) -> bytes:
    """Return the payload of a file after checking it; raise OSError or ValueError if unusable."""
    with open(os.open(path, _READING), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise PermissionError(f"{path} is no file")
        _refuse_others(status, path)
        data = file.read()
    begin = len(MARK) + 32
    payload = data[begin:]
    if data[:begin] != MARK + sha256(payload).digest():
        raise ValueError(f"{path} is damaged")
    return payload


def _write(folder: Path, name: str, payload: bytes) -> None:
    """Write a temporary file and rename it, so that readers find all of it or nothing."""
    _drop_stale(folder)
    descriptor, beside = tempfile.mkstemp(prefix=f"{_environment()}-part-", dir=folder)
    try:
        with open(descriptor, "wb") as file:
            file.write(MARK + sha256(payload).digest() + payload)
        os.replace(beside, folder / name)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


@cache
def _drop_stale(folder: Path) -> None:
    """Delete files of other versions of the sources, and incomplete files."""
    for path in folder.glob(f"{_environment()}-*"):
        if not path.name.startswith(f"{_environment()}-{_sources()}-"):
            with suppress(OSError):
                path.unlink()


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:16]


_COMPILING = ("jit.py", "compiling.py", "kernel_cache.py")


@cache
def _sources() -> str:
    """Return a digest of the sources of all kernels and their compiler; "" if there are none."""
    # numba looks at the file of a kernel alone; the kernels it calls may have changed in theirs
    with suppress(OSError):
        compiling = [PACKAGE / "_support" / name for name in _COMPILING]
        paths = (*compiling, *sorted(PACKAGE.rglob("*kernel.py")))
        return _digest(b"\0".join(path.read_bytes() for path in paths))
    return ""


@cache
def _environment() -> str:
    """Return a digest of the versions and options that machine code depends on."""
    versions = [sys.version, platform.machine()]
    versions += [module.__version__ for module in (numba, llvmlite, np)]
    options = [(name, getattr(numba.config, name, None)) for name in OPTIONS]
    return _digest(repr([versions, options]).encode())
