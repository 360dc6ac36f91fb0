"""Divide records among buckets in files, so that others can go on with one bucket of many files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit._support.jit import readonly
from alignkit.errors import FileError
from alignkit.rules.tables import runs_kernel as kernel
from alignkit.rules.tables.runs import Block, ends_of
from alignkit.rules.tables.runs_kernel import take

_HELD = 1 << 25  # bytes that wait in memory to be written
_LEAST = 1 << 12  # but so many of each bucket


class Sections:
    """Writes records to a file in which those of a bucket can be found."""

    def __init__(self, stream: BinaryIO, count: int) -> None:
        self._stream, self._width = stream, 0
        self._held: list[list[Block]] = [[] for _ in range(count)]
        self._sizes = [0] * count
        self._most = max(_HELD // count, _LEAST)
        self._chunks: list[tuple[int, int, int, int]] = []
        self._at = 0

    def add(self, block: Block, buckets: NDArray[np.int32]) -> None:
        """Take in R records; buckets (R,) says which bucket each is of."""
        self._width = block.values.shape[1]
        order = np.argsort(buckets, kind="stable").astype(np.int32)
        sizes = np.bincount(buckets, minlength=len(self._held))
        ends = np.cumsum(sizes)
        arrays = readonly(block.symbols), readonly(block.offsets), readonly(block.values)
        for bucket in np.flatnonzero(sizes).tolist():
            chosen = order[ends[bucket] - sizes[bucket] : ends[bucket]]
            part = Block(*take(*arrays, readonly(chosen)))
            self._held[bucket].append(part)
            self._sizes[bucket] += part.symbols.nbytes + part.values.nbytes
            if self._sizes[bucket] > self._most:
                self._write(bucket)

    def close(self) -> None:
        """Write what waits, and where everything is; the stream stays open."""
        for bucket in range(len(self._held)):
            self._write(bucket)
        index = np.array(self._chunks, np.int64).reshape(-1, 4)
        self._put(index)
        self._put(np.array([len(index), self._width], np.int64))

    def _write(self, bucket: int) -> None:
        blocks = self._held[bucket]
        if not blocks:
            return
        lengths = np.concatenate([np.diff(block.offsets) for block in blocks])
        symbols = np.concatenate([block.symbols for block in blocks])
        self._chunks.append((bucket, self._at, len(lengths), len(symbols)))
        for part in (lengths, np.concatenate([block.values for block in blocks]), symbols):
            self._put(part)
        self._held[bucket], self._sizes[bucket] = [], 0

    def _put(self, part: NDArray[np.generic]) -> None:
        self._stream.write(np.ascontiguousarray(part).data.cast("B") if part.size else b"")
        self._at += part.nbytes


def read_section(path: str, bucket: int) -> Iterator[Block]:
    """Yield the records of a bucket."""
    try:
        with open(path, "rb") as stream:
            stream.seek(-16, 2)
            end = stream.tell()
            count, width = np.frombuffer(stream.read(16), np.int64).tolist()
            stream.seek(end - 32 * count)
            index = np.frombuffer(stream.read(32 * count), np.int64).reshape(-1, 4)
            for _, at, records, numbers in index[index[:, 0] == bucket].tolist():
                stream.seek(at)
                offsets = ends_of(np.frombuffer(stream.read(8 * records), np.int64))
                values = np.frombuffer(stream.read(8 * records * width), np.float64)
                symbols = np.frombuffer(stream.read(4 * numbers), np.int32)
                yield Block(symbols, offsets, values.reshape(records, width))
    except OSError as problem:
        raise FileError.of(problem, path) from None


class WordPool(NamedTuple):
    """A list of words: their bytes in UTF-8; (V + 1,) where each ends, from 0 on."""

    text: NDArray[np.uint8]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, words: Iterable[str]) -> WordPool:
        """Return a list of words, in their order."""
        parts = [word.encode("utf-8", "surrogatepass") for word in words]
        return cls(np.frombuffer(b"".join(parts), np.uint8), ends_of([len(x) for x in parts]))

    @classmethod
    def read(cls, path: str) -> WordPool:
        """Read a list that `write` wrote."""
        try:
            with open(path, "rb") as stream:
                (count,) = np.frombuffer(stream.read(8), np.int64).tolist()
                ends = np.frombuffer(stream.read(8 * count + 8), np.int64)
                return cls(np.frombuffer(stream.read(), np.uint8), ends)
        except OSError as problem:
            raise FileError.of(problem, path) from None

    def write(self, path: str) -> None:
        """Write the list."""
        with open(path, "wb") as stream:
            stream.write(np.array([len(self)], np.int64).tobytes())
            stream.write(self.ends.tobytes())
            stream.write(self.text.tobytes())

    def words(self) -> list[str]:
        """Return the words."""
        text = self.text.tobytes()
        return [
            text[begin:end].decode("utf-8", "surrogatepass")
            for begin, end in pairwise(self.ends.tolist())
        ]

    def places_in(self, other: WordPool) -> NDArray[np.int32]:
        """Return (V,) where the words stand in a list that has them all; both are sorted."""
        return kernel.places(*self.arrays(), *other.arrays())

    def arrays(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return text and ends as kernels take them."""
        return readonly(self.text), readonly(self.ends)

    def __len__(self) -> int:
        return len(self.ends) - 1


def merged_pools(pools: Sequence[WordPool]) -> WordPool:
    """Merge sorted lists of words, each word once."""
    left = list(pools)
    while len(left) > 1:
        pairs = zip(left[::2], left[1::2], strict=False)
        odd = left[-1:] if len(left) % 2 else []
        left = [WordPool(*kernel.merge_words(*a.arrays(), *b.arrays())) for a, b in pairs] + odd
    return left[0]


def marks_of(words: Iterable[str]) -> NDArray[np.uint64]:
    """Return a number for each word, which follows from its text."""
    digests = (
        blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest() for word in words
    )
    return np.frombuffer(b"".join(digests), np.uint64)
