"""Divide records among buckets in a file, so that other processes can read single buckets.

The file has chunks of records, each of one bucket; an index with the bucket and the place of each
chunk; and at its very end the place of the index.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from alignkit._support.array_types import I4
from alignkit._support.jit import all_readonly, readonly
from alignkit.errors import FileError
from alignkit.model.arrays import offsets_of
from alignkit.rules.tables import runs_kernel as kernel
from alignkit.rules.tables.runs import concatenated
from alignkit.rules.tables.runs_kernel import Records

_HELD = 1 << 25  # bytes that wait in memory to be written
_SHARE = 1 << 12  # bytes of each bucket that wait at least
_POINTER = 8  # bytes of the place of the index


class Sections:
    """Write records to a file in which each bucket can be found."""

    def __init__(self, stream: BinaryIO, count: int) -> None:
        self._stream = stream
        self._held: list[list[Records]] = [[] for _ in range(count)]  # by bucket
        self._sizes = [0] * count  # bytes of these
        self._most = max(_HELD // count, _SHARE)
        self._chunks: list[tuple[int, int]] = []  # bucket, and where the chunk begins

    def add(self, block: Records, buckets: I4) -> None:
        """Add R records; buckets (R,) has the bucket of each."""
        order = np.argsort(buckets, kind="stable").astype(np.int32)
        sizes = np.bincount(buckets, minlength=len(self._held))
        begins = offsets_of(sizes)
        records = all_readonly(block)
        for bucket in np.flatnonzero(sizes).tolist():
            chosen = order[begins[bucket] : begins[bucket + 1]]
            part = kernel.take(records, readonly(chosen))
            self._held[bucket].append(part)
            self._sizes[bucket] += part.symbols.nbytes + part.values.nbytes
            if self._sizes[bucket] > self._most:
                self._write(bucket)

    def close(self) -> None:
        """Write the pending records and the index; the stream stays open."""
        for bucket in range(len(self._held)):
            self._write(bucket)
        index = self._stream.tell()
        np.save(self._stream, np.array(self._chunks, np.int64).reshape(-1, 2))
        self._stream.write(index.to_bytes(_POINTER, "big"))

    def _write(self, bucket: int) -> None:
        """Write the records of a bucket that wait, as a chunk."""
        blocks = self._held[bucket]
        if not blocks:
            return
        self._chunks.append((bucket, self._stream.tell()))
        for part in concatenated(blocks):
            np.save(self._stream, part)
        self._held[bucket] = []
        self._sizes[bucket] = 0


def read_section(path: str, bucket: int) -> Iterator[Records]:
    """Yield the records of a bucket from a file that `Sections` wrote."""
    try:
        with open(path, "rb") as stream:
            stream.seek(-_POINTER, os.SEEK_END)
            stream.seek(int.from_bytes(stream.read(), "big"))
            buckets, places = np.load(stream).T
            for at in places[buckets == bucket].tolist():
                stream.seek(at)
                yield Records(np.load(stream), np.load(stream), np.load(stream))
    except OSError as problem:
        raise FileError.of(problem, path) from None
