"""Room for the arrays that grow with the cells: in memory, or in files."""

from __future__ import annotations

import os
from tempfile import TemporaryFile
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from alignkit.errors import AlignerError

T = TypeVar("T", bound=np.generic)


class Room:
    """A maker of arrays of zeros, in memory or in nameless files of a folder."""

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder

    @property
    def on_disk(self) -> bool:
        """Whether arrays are files."""
        return self._folder is not None

    def zeros(self, size: int, kind: type[T]) -> NDArray[T]:
        """Return an array of so many zeros."""
        if self._folder is None or size == 0:
            return np.zeros(size, kind)
        length = size * np.dtype(kind).itemsize
        try:
            with TemporaryFile(prefix="alignkit-", dir=self._folder) as file:
                if hasattr(os, "posix_fallocate"):  # a full disk shall fail here, not in a kernel
                    os.posix_fallocate(file.fileno(), 0, length)
                else:
                    file.truncate(length)
                return np.asarray(np.memmap(file, kind, "r+", shape=(size,)))
        except OSError as problem:
            raise AlignerError(
                f"cannot keep {length / 1e6:,.1f} MB in {self._folder}: {problem.strerror}; name "
                "another folder"
            ) from None
