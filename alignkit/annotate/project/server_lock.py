"""The lock by which one server has a file for itself: a project, or the database of a lab."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from alignkit._support.locks import lock_alone
from alignkit.annotate.project.file_systems import unlocked
from alignkit.annotate.project.names import ProjectError

_held: set[str] = set()  # in this process, which its own locks would not keep out


class ServerLock:
    """The lock of a project: the file ``PROJECT-lock`` next to it."""

    def __init__(self, path: str) -> None:
        self._path = os.path.realpath(path) + "-lock"
        if self._path in _held:
            raise ProjectError(already_served(path))
        self._file = self._open(path)
        while not self._is_in_place():  # its holder has just removed it: once more
            os.close(self._file)
            self._file = self._open(path)
        _held.add(self._path)

    def _open(self, path: str) -> int:
        """Open and lock the file; return its number."""
        cannot = f"{path}: cannot be served: {self._path}"
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as problem:
            raise ProjectError(f"{cannot}: {problem.strerror}") from None
        locked = lock_alone(file)
        refused = ""
        if locked is None:
            refused = f"{cannot}: {unlocked(path)}"
        elif not locked:
            refused = already_served(path)
        elif os.fstat(file).st_size:  # a file of the user's: leave it
            refused = f"{cannot} is not a lock of alignkit; move it elsewhere"
        if refused:
            os.close(file)
            raise ProjectError(refused)
        return file

    def _is_in_place(self) -> bool:
        """Return whether the open file is the one that others find."""
        with suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(self._file), os.stat(self._path))
        return False

    def release(self) -> None:
        """Release the project; a second call does nothing."""
        if self._path in _held:
            _held.discard(self._path)
            if sys.platform != "win32":
                with suppress(OSError):
                    os.unlink(self._path)
            os.close(self._file)


def already_served(path: str) -> str:
    """Return the message about a project that is served already."""
    return f"{path}: another server has this open; use that one, or stop it first"
