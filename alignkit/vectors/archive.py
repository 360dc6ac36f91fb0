"""Read vectors from a file of NumPy (``.npz``), as `numpy.savez` and `savez_compressed` write it.

Its array ``words`` (n,) holds texts, ``vectors`` (n, d) numbers of any kind. Both are read some
rows at a time. Nothing is unpickled.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from math import prod
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from alignkit.errors import FormatError
from alignkit.vectors.gathering import Gathering

MAGIC = b"PK\x03\x04"  # how a zip file begins

_CHUNK = 1 << 20  # bytes
_SWELLING = 100


def read_archive(stream: BufferedReader, path: str, gathering: Gathering) -> int:
    """Read vectors; return how many dimensions they have."""
    if not stream.seekable():
        raise FormatError("an .npz file cannot be read from a pipe; name the file", path)
    try:
        with ZipFile(stream) as archive, _rows(archive, "words", path) as words:  # noqa: SIM117
            with _rows(archive, "vectors", path) as vectors:
                return _gather(words, vectors, path, gathering)
    except (BadZipFile, EOFError, zlib.error, NotImplementedError, ValueError) as problem:
        if isinstance(problem, FormatError):
            raise
        raise FormatError(f"cannot be read as an .npz file: {problem}", path) from None


class _Rows:
    """The rows of an array, read some at a time."""

    def __init__(self, stream: IO[bytes], name: str, path: str) -> None:
        version = npy.read_magic(stream)
        if version not in ((1, 0), (2, 0)):
            raise FormatError(f"array {name!r} is of the .npy version {version}", path)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        self.shape, fortran, self.dtype = read(stream)
        if fortran and len(self.shape) > 1:
            raise FormatError(
                f"array {name!r} is stored by columns; save numpy.ascontiguousarray of it", path
            )
        self._stream, self._name, self._path = stream, name, path

    def chunks(self, rows: int) -> Iterator[NDArray[Any]]:
        """Give so many rows at a time."""
        width = self.dtype.itemsize * prod(self.shape[1:])
        for begin in range(0, self.shape[0], rows):
            count = min(rows, self.shape[0] - begin)
            data = self._stream.read(count * width)
            if len(data) < count * width:
                raise FormatError(f"array {self._name!r} is cut off", self._path)
            yield np.frombuffer(data, self.dtype).reshape(count, *self.shape[1:])


@contextmanager
def _rows(archive: ZipFile, name: str, path: str) -> Iterator[_Rows]:
    names = [member.removesuffix(".npy") for member in archive.namelist()]
    if name not in names:
        raise FormatError(
            f"has no array {name!r} (but {', '.join(names)[:200] or 'none'}); expected 'words' "
            "and 'vectors', as numpy.savez(FILE, words=..., vectors=...) writes them",
            path,
        )
    member = archive.getinfo(archive.namelist()[names.index(name)])
    if member.file_size > max(_CHUNK, _SWELLING * member.compress_size):
        raise FormatError(
            f"array {name!r} swells to more than {_SWELLING} times its size when it is unpacked",
            path,
        )
    with archive.open(member) as stream:
        yield _Rows(stream, name, path)


def _gather(words: _Rows, vectors: _Rows, path: str, gathering: Gathering) -> int:
    if words.dtype.kind not in "US" or len(words.shape) != 1:
        kind = "of objects" if words.dtype.hasobject else f"{words.dtype} {words.shape}"
        raise FormatError(
            f"array 'words' is {kind}; expected texts: save numpy.array(words, dtype=str)", path
        )
    if vectors.dtype.kind not in "fiu" or len(vectors.shape) != 2 or not vectors.shape[1]:
        raise FormatError(
            f"array 'vectors' is {vectors.dtype} {vectors.shape}; expected numbers, a row for each "
            "word",
            path,
        )
    if vectors.shape[0] != words.shape[0]:
        raise FormatError(f"holds {vectors.shape[0]} vectors of {words.shape[0]} words", path)
    width = max(words.dtype.itemsize, vectors.dtype.itemsize * vectors.shape[1], 1)
    rows = max(1, _CHUNK // width)
    number = 0
    for names, numbers in zip(words.chunks(rows), vectors.chunks(rows), strict=True):
        for name, row in zip(names, numbers, strict=True):
            number += 1
            raw = name if isinstance(name, bytes) else name.encode(errors="surrogatepass")
            word = gathering.wants(raw)
            if word is not None:
                with np.errstate(over="ignore"):
                    vector = row.astype(np.float32)
                if not np.isfinite(vector).all():
                    raise FormatError(
                        f"vector {number}, of {word[:40]!r}, has a number that is not finite in "
                        "32 bits",
                        path,
                    )
                gathering.take(word, vector)
    return vectors.shape[1]
