"""Read vectors in the binary format of word2vec.

A line says how many words there are, and d. Each word follows as UTF-8, a space behind it, and then
its d numbers as little-endian float32, with or without a line feed behind them.
"""

from __future__ import annotations

from io import BufferedReader

import numpy as np

from alignkit.errors import FormatError
from alignkit.vectors.gathering import Gathering
from alignkit.vectors.text import sizes_of

_CHUNK = 1 << 20  # bytes
_LONGEST = 1 << 14  # bytes of a word


def read_binary(stream: BufferedReader, path: str, gathering: Gathering) -> int:
    """Read vectors; return how many dimensions they have."""
    sizes = sizes_of(stream.readline(_LONGEST), path)
    if sizes is None:
        raise FormatError("expected how many words and dimensions there are", path, 1)
    count, dimensions = sizes
    size = 4 * dimensions
    data, at = b"", 0
    for number in range(1, count + 1):
        if len(data) - at < _LONGEST + size:
            data, at = data[at:] + _read(stream, _CHUNK + size), 0
        while data[at : at + 1] == b"\n":
            at += 1
        end = data.find(b" ", at, at + _LONGEST)
        if end < 0 or len(data) - end - 1 < size:
            raise FormatError(
                f"says that it holds {count} words of {dimensions} dimensions, but word {number} "
                f"is not whole: it is cut off, or was damaged",
                path,
            )
        word = gathering.wants(data[at:end])
        at = end + 1 + size
        if word is not None:
            vector = np.frombuffer(data, "<f4", dimensions, end + 1).astype(np.float32)
            if not np.isfinite(vector).all():
                raise FormatError(
                    f"word {number}, {word[:40]!r}, has a number that is not finite", path
                )
            gathering.take(word, vector)
    if (data[at:] + stream.read(_CHUNK)).strip():
        raise FormatError(f"goes on behind the {count} words that its first line tells", path)
    return dimensions


def _read(stream: BufferedReader, size: int) -> bytes:
    parts = []
    while size > 0 and (part := stream.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
