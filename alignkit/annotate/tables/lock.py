"""Let one server at a time have a project: a lock that ends with the process, however that ends."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from alignkit.annotate.errors import ProjectError
from alignkit.output import lock_alone

_held: set[str] = set()  # in this process, which its own locks would not keep out


class ServerLock:
    """The lock of a project, in the file ``PROJECT-lock`` beside it."""

    def __init__(self, path: str) -> None:
        self._path = os.path.realpath(path) + "-lock"
        if self._path in _held:
            raise ProjectError(_taken(path))
        while True:
            try:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            except OSError as problem:
                raise ProjectError(
                    f"{path}: cannot be served: {self._path}: {problem.strerror}"
                ) from None
            if not lock_alone(self._file):
                os.close(self._file)
                raise ProjectError(_taken(path))
            if os.fstat(self._file).st_size:  # a file of the user's, which is not to be removed
                os.close(self._file)
                raise ProjectError(
                    f"{path}: cannot be served: {self._path} is no lock of alignkit; move it "
                    "elsewhere"
                )
            if self._is_there():
                break
            os.close(self._file)  # its holder has just removed it
        _held.add(self._path)

    def _is_there(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._file), os.stat(self._path))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Give the project free; a second call does nothing."""
        if self._path not in _held:
            return
        _held.discard(self._path)
        if sys.platform != "win32":
            with suppress(OSError):
                os.unlink(self._path)
        os.close(self._file)


def _taken(path: str) -> str:
    return f"{path}: another server has this project open; use that one, or stop it first"
