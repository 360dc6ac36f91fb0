"""The files of compiled kernels, in folders that nobody else can write to: their code is run.

A file has a mark, a checksum and a payload, and its name begins with two digests: `environment`
(the versions and options that machine code depends on) and `sources` (the text of all kernels). So
a file of another version has another name, and is deleted when the folder is next written to.
"""

from __future__ import annotations

import os
import platform
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np

from alignkit._support.cache_folder import cache_home

PACKAGE = Path(__file__).parent.parent
MARK = b"alignkit kernel\n"
_FLAGS = ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY")  # a pipe of that name does not make us wait
_READING = sum((getattr(os, flag, 0) for flag in _FLAGS), os.O_RDONLY)
OPTIONS = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "USING_SVML")
"""Options of numba that change the compiled code; the processor is part of each kernel's key."""


_COMPILING = (
    "jit.py",
    "eights.py",
    "compiled_eights.py",
    "compiling.py",
    "kernel_cache.py",
    "kernel_files.py",
)

RUNTIME = "runtime-"
"""What the name of the file of numba's runtime has instead of the name of a kernel."""


def digest(data: bytes) -> str:
    """Return a digest of some bytes as part of a file name."""
    return sha256(data).hexdigest()[:16]


@cache
def sources() -> str:
    """Return a digest of the sources of all kernels and their compiler; "" if there are none."""
    # numba looks at the file of a kernel alone; the kernels it calls may have changed in theirs
    with suppress(OSError):
        compiling = [PACKAGE / "_support" / name for name in _COMPILING]
        paths = (*compiling, *sorted(PACKAGE.rglob("*kernel.py")))
        return digest(b"\0".join(path.read_bytes() for path in paths))
    return ""


@cache
def environment() -> str:
    """Return a digest of the versions and options that machine code depends on."""
    versions = [sys.version, platform.machine()]
    versions += [module.__version__ for module in (numba, llvmlite, np)]
    options = [(name, getattr(numba.config, name, None)) for name in OPTIONS]
    return digest(repr([versions, options]).encode())


def file_prefix() -> str:
    """Return what the names of all files of this version begin with."""
    return f"{environment()}-{sources()}-"


def kept() -> Iterator[Path]:
    """Yield the files of all kernels that were compiled by this version."""
    for folder in places():
        for path in folder.glob(f"{file_prefix()}*"):
            is_runtime = path.name.startswith(f"{file_prefix()}{RUNTIME}")
            if path.suffix != ".lock" and not is_runtime:
                yield path


def places() -> Iterator[Path]:
    """Yield the folders for compiled kernels: the user's cache, and a private one."""
    # Not beside the modules, which is numba's choice: what pip leaves behind there when it removes
    # alignkit, a folder without modules, would hide an editable installation.
    if not sources():
        return  # no modules on disk, hence no telling when they change
    package = f"kernels-{digest(str(PACKAGE).encode())}"
    config: Any = numba.config
    if config.CACHE_DIR:  # what NUMBA_CACHE_DIR says
        yield Path(config.CACHE_DIR).absolute() / "alignkit" / package
    elif home := cache_home():
        yield Path(home) / "alignkit" / package
    with suppress(OSError):  # no folder for temporary files
        user = f"-{os.geteuid()}" if hasattr(os, "geteuid") else ""
        yield Path(tempfile.gettempdir()).absolute() / f"alignkit{user}" / package


def can_keep() -> bool:
    """Return whether there is a folder for compiled kernels."""
    for folder in places():
        with suppress(OSError):
            make_folder(folder)
            if os.access(folder, os.W_OK | os.X_OK):
                return True
    return False


def payloads(name: str) -> Iterator[bytes]:
    """Yield what the files of this name hold, folder by folder; what is unusable is passed over."""
    for folder in places():
        try:
            _check(folder)
            payload = read(folder / name)
        except (OSError, ValueError):
            continue
        yield payload


def read(path: Path) -> bytes:
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


def write_first(name: str, payload: bytes) -> None:
    """Write a file to the first folder that can be written."""
    problem = OSError("there is no folder for them")
    for folder in places():
        try:
            make_folder(folder)
            _write(folder, name, payload)
        except OSError as this:
            problem = this
        else:
            return
    raise problem


def _write(folder: Path, name: str, payload: bytes) -> None:
    """Write a temporary file and rename it, so that readers find all of it or nothing."""
    _drop_stale(folder)
    descriptor, beside = tempfile.mkstemp(prefix=f"{environment()}-part-", dir=folder)
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
    for path in folder.glob(f"{environment()}-*"):
        if not path.name.startswith(file_prefix()):
            with suppress(OSError):
                path.unlink()


def make_folder(folder: Path) -> None:
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
