"""Keep arrays in files of a run: many in a file, each of which is read by itself and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from alignkit.cluster.run import RunError, placing


class Arrays:
    """Give the arrays of a file by name."""

    def __init__(self, path: str, members: Mapping[str, NDArray[Any]]) -> None:
        self._path, self._members = path, members

    def __getitem__(self, name: str) -> NDArray[Any]:
        with _run_errors(self._path):
            return self._members[name]

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def dense(self, name: str, size: int, rest: float = 0) -> NDArray[Any]:
        """Return an array that `sparse` took apart."""
        values = self[name]
        if f"{name}-at" not in self:
            return values
        whole = np.full(size, rest, values.dtype)
        whole[self[f"{name}-at"]] = values
        return whole


def write_arrays(path: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays into a file, which is there when it is whole."""
    with placing(path) as beside, open(beside, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


@contextmanager
def opened(path: str) -> Iterator[Arrays]:
    """Open a file of arrays."""
    with _run_errors(path):
        members = np.load(path, allow_pickle=False)
    with members:
        yield Arrays(path, members)


@contextmanager
def _run_errors(path: str) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, ValueError, KeyError, BadZipFile) as problem:
        raise RunError(
            f"{path}: a file of the run is missing or damaged ({problem}); begin anew in another "
            "folder, named by `work`"
        ) from None


def sparse(name: str, values: NDArray[Any], rest: float = 0) -> dict[str, NDArray[Any]]:
    """Return what is to be kept of values (N,) of which most are `rest`; see `Arrays.dense`."""
    at = np.flatnonzero(values != values.dtype.type(rest))
    kind = np.int32 if len(values) <= np.iinfo(np.int32).max else np.int64
    if len(at) * (values.itemsize + np.dtype(kind).itemsize) >= values.nbytes:
        return {name: values}
    return {name: values[at], f"{name}-at": at.astype(kind)}
