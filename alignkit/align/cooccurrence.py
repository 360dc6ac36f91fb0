"""The index of words that occur together: the places that lexical tables are laid out by."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise
from tempfile import TemporaryFile
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from alignkit._support import arguments
from alignkit.align.bitext import Bitext
from alignkit.align.maximization_kernel import index_cells
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


BLOCK = 50_000_000
"""Cells that are held in memory at a time where the corpus need not be: 5 bytes each."""


PLACES = "different pairs of words"


@dataclass(frozen=True, eq=False)
class Cooccurrence:
    """The K distinct word pairs of a bitext, and the word pair of each of its C cells."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int32]  # (K,) int32: the target words, rising within each row
    cells: NDArray[np.int32]

    @classmethod
    def of(cls, bitext: Bitext) -> Cooccurrence:
        """Index a bitext, in time linear in its cells."""
        return cls(*_index(bitext, 0, len(bitext)))

    @classmethod
    def in_blocks(cls, bitext: Bitext, room: Room, block: int = BLOCK) -> Cooccurrence:
        """Index a bitext of which the cells do not fit into memory; they are kept in a file."""
        parts = blocks_of(bitext, block)
        keys = np.empty(0, np.int64)
        for begin, end in parts:
            keys = merged([keys, keys_of_places(*_index(bitext, begin, end)[:2])])
            arguments.check_count(PLACES, len(keys))
        cells = room.zeros(int(bitext.starts[-1]), np.int32)
        for begin, end in parts:
            rows, columns, local = _index(bitext, begin, end)
            places = np.searchsorted(keys, keys_of_places(rows, columns)).astype(np.int32)
            cells[bitext.starts[begin] : bitext.starts[end]] = places[local]
        return cls.of_keys(keys, len(bitext.source.words), cells)

    @classmethod
    def of_keys(
        cls, keys: NDArray[np.int64], sources: int, cells: NDArray[np.int32]
    ) -> Cooccurrence:
        """Return an index of the word pairs with rising keys (K,), of so many source words."""
        rows = np.searchsorted(keys, np.arange(sources + 1) << 32)
        return cls(rows, (keys & 0xFFFFFFFF).astype(np.int32), cells)

    @property
    def source(self) -> NDArray[np.int32]:
        """The (K,) source words of the places."""
        return np.repeat(np.arange(len(self.rows) - 1, dtype=np.int32), np.diff(self.rows))


def blocks_of(bitext: Bitext, block: int) -> list[tuple[int, int]]:
    """Divide the pairs into parts of about so many cells, as (begin, end)."""
    inner = np.searchsorted(bitext.starts, np.arange(block, bitext.starts[-1], block))
    return list(pairwise(np.unique([0, *inner, len(bitext)]).tolist()))


def _index(
    bitext: Bitext, begin: int, end: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    source, target = bitext.source, bitext.target
    starts = bitext.starts[begin : end + 1]
    sizes = np.array([len(source.words), len(target.words), arguments.MOST], np.int64)
    first, last = source.starts[[begin, end]]
    other_first, other_last = target.starts[[begin, end]]
    index = index_cells(
        source.ids[first:last],
        source.starts[begin : end + 1] - first,
        target.ids[other_first:other_last],
        target.starts[begin : end + 1] - other_first,
        starts - starts[0],
        sizes,
    )
    arguments.check_count(PLACES, int(index[0][-1]))
    return index


def keys_of_places(rows: NDArray[np.int64], columns: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return a number for each word pair, in the order of the places."""
    words = np.repeat(np.arange(len(rows) - 1), np.diff(rows))
    return words << 32 | columns


def merged(runs: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the distinct keys of rising runs, rising; a stable sort finds the runs by itself."""
    keys = np.concatenate(runs)
    keys.sort(kind="stable")
    first = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return keys[first]
