"""Add up the values of equal sequences of numbers in bounded memory: sorted runs on disk, merged.

A *record* is a sequence of numbers with a row of values. Records are held in memory, each sequence
once. When memory is full, they are sorted and written to a file, as a *run*. In the end all runs
are merged: the first record of all is the smallest of the next records of the runs, and records
with the same sequence come one after the other, so their values can be added up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from io import RawIOBase
from tempfile import TemporaryFile
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from alignkit._support.array_types import F8, I4, I8
from alignkit._support.jit import all_readonly
from alignkit.errors import OptionError
from alignkit.io.atomic_files import WriteError, unchanged
from alignkit.model.arrays import offsets_of
from alignkit.rules.tables import runs_kernel as kernel
from alignkit.rules.tables.runs_kernel import Records

ROOM = 128 << 20  # the default number of bytes for records in memory

_LEAST = 1 << 16  # the fewest bytes for records in memory
_FAN = 32  # runs that are merged at a time
_LENGTH = 12  # numbers of a record, as a guess: of longer ones, fewer fit into the room


def part(block: Records, begin: int, end: int) -> Records:
    """Return a range of records."""
    offsets = block.offsets[begin : end + 1]
    symbols = block.symbols[offsets[0] : offsets[-1]]
    return Records(symbols, offsets - offsets[0], block.values[begin:end])


def concatenated(blocks: Sequence[Records]) -> Records:
    """Return the records of some blocks, one after the other."""
    symbols, offsets, values = zip(*blocks, strict=True)
    sizes = np.concatenate(list(map(np.diff, offsets)))
    return Records(np.concatenate(symbols), offsets_of(sizes), np.concatenate(values))


def places_within(sizes: I8) -> I8:
    """Return the places 0, 1, ... of all items in their groups, one group after the other."""
    starts = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum())) - np.repeat(starts, sizes)


def ranked(texts: Sequence[str]) -> tuple[list[str], I4]:
    """Return texts in order, and the place that each then has."""
    order = sorted(range(len(texts)), key=texts.__getitem__)
    ranks = np.empty(len(texts), np.int32)
    ranks[order] = np.arange(len(texts))
    return [texts[k] for k in order], ranks


class Runs(AbstractContextManager["Runs"]):
    """Records that may not fit in memory, of which those with the same sequence become one.

    Parameters
    ----------
    folder : The folder of the file for records that do not fit.
    sums, maxima : The columns of values: of equal sequences, the first `sums` are added up, and of
        the other ones the maximum is taken.
    room : The bytes for records in memory.
    """

    def __init__(self, folder: str, *, sums: int = 1, maxima: int = 0, room: int = ROOM) -> None:
        if room < _LEAST:
            raise OptionError(f"room is {room} bytes; it must be {_LEAST} or more")
        self.added = 0  # records
        self.written = 0  # bytes
        self._folder = folder
        self._sums = sums
        self._width = sums + maxima
        self._shape = _block_shape(room, self._width)
        self._held: _Held | None = _Held(room, self._width)
        self._ended = False
        self._file: _RunFile | None = None

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release memory and disk space."""
        self._held = None
        if self._file is not None:
            self._file.close()
            self._file = None

    def add(self, symbols: I4, offsets: I8, values: F8) -> None:
        """Add R records, in the arrays of `Records`."""
        held = self._held
        if held is None or self._ended:
            raise OptionError("records are merged already; nothing can be added")
        records = all_readonly(Records(symbols, offsets, values))
        count = len(offsets) - 1
        first = held.absorb(records, 0, self._sums)
        while first < count:
            if held.size:
                self._spill(held)
            else:  # a record that is longer than all that there is room for
                held.make_room(int(offsets[first + 1] - offsets[first]))
            first = held.absorb(records, first, self._sums)
        self.added += count

    def _spill(self, held: _Held) -> None:
        """Write the records in memory to the file, as a run."""
        if self._file is None:
            self._file = _RunFile(self._folder)
        before = self._file.size
        self._file.write(held.blocks(*self._shape))
        self.written += self._file.size - before
        held.clear()

    def merge(self) -> Iterator[Records]:
        """Yield all records in order, each sequence once; nothing can be added afterwards.

        This may be called again, but only when the last iterator has ended.
        """
        self._ended = True
        if self._file is not None:
            if self._held is not None and self._held.size:
                self._spill(self._held)
            self._held = None
            while len(self._file.runs) > _FAN:
                self._file = self._with_longer_runs(self._file)
            yield from self._file.merged(self._file.runs, self._sums, self._width, self._shape)
        elif self._held is not None:
            yield from self._held.blocks(*self._shape)
        else:
            raise OptionError("the records were deleted when they were closed")

    def _with_longer_runs(self, old: _RunFile) -> _RunFile:
        """Return a file in which each run is merged from `_FAN` of another, which is closed."""
        file = _RunFile(self._folder)
        for start in range(0, len(old.runs), _FAN):
            part = old.runs[start : start + _FAN]
            file.write(old.merged(part, self._sums, self._width, self._shape))
        self.written += file.size
        old.close()
        return file


def _block_shape(room: int, width: int) -> tuple[int, int]:
    """Return the most records and numbers of a block, so that a block of each run fits in."""
    share = max(room // (2 * _FAN), 2048)  # the blocks of all runs take half of the room
    records = share // _record_bytes(width)
    return records, records * _LENGTH


def _record_bytes(width: int) -> int:
    """Return the bytes of a record in arrays."""
    offset = 8  # int64
    values = 8 * width  # float64
    numbers = 4 * _LENGTH  # int32
    return offset + values + numbers


class _Held:
    """Records in memory, each sequence once: a hash table of their places (`_slots`) finds it."""

    def __init__(self, room: int, width: int) -> None:
        slots = 2 * 8  # two of uint64
        sorting = 4 + 8  # its place in the order, int32, and its key, uint64
        records = room // (_record_bytes(width) + slots + sorting)
        self._records = Records(
            np.empty(records * _LENGTH, np.int32),
            np.zeros(records + 1, np.int64),
            np.empty((records, width), np.float64),
        )
        self._slots = np.zeros(2 * records, np.uint64)
        self._order: I4 | None = None
        self.size = 0

    def absorb(self, records: Records, first: int, sums: int) -> int:
        """Add records from `first` on; return the first that did not fit, or their number."""
        first, self.size = kernel.absorb(
            records, first, sums, self._records, self._slots, self.size
        )
        return first

    def make_room(self, length: int) -> None:
        """Make room for a record of so many numbers; there must be no records."""
        self._records = self._records._replace(symbols=np.empty(length, np.int32))

    def clear(self) -> None:
        """Delete all records."""
        self.size = 0
        self._order = None
        self._slots.fill(0)

    def blocks(self, records: int, numbers: int) -> Iterator[Records]:
        """Yield the records in order."""
        if self._order is None:
            self._order = np.empty(self.size, np.int32)
            kernel.sort(self._records, self._order, np.empty(self.size, np.uint64))
        order = self._order
        begin = 0
        while begin < len(order):
            end = kernel.fitting(self._records.offsets, order, begin, records, numbers)
            yield kernel.take(self._records, order[begin:end])
            begin = end


@dataclass
class _Run:
    """The start and end of a run in the file, and the largest size of its blocks."""

    start: int
    end: int
    records: int
    numbers: int


class _RunFile:
    """Store runs in a file without a name."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.runs: list[_Run] = []
        self.size = 0
        with self._reported():
            opened: IO[Any] = TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        self._file = cast("RawIOBase", opened)

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Turn errors of the file into those of a folder that users can make room in."""
        try:
            yield
        except OSError as problem:
            raise WriteError(
                f"{self._folder}: cannot be written, but sorting needs space there: "
                f"{problem.strerror or problem}; {unchanged()}"
            ) from None

    def close(self) -> None:
        """Close the file, which deletes it."""
        self._file.close()

    def write(self, blocks: Iterator[Records]) -> None:
        """Write a run."""
        run = _Run(self.size, self.size, 0, 0)
        for block in blocks:
            count = len(block.values)
            with self._reported():
                self._file.seek(run.end)
                head = np.array([count, len(block.symbols)], np.int64)
                for part in (head, block.offsets, block.symbols, block.values):
                    run.end += self._write(part)
            run.records = max(run.records, count)
            run.numbers = max(run.numbers, len(block.symbols))
        self.size = run.end
        self.runs.append(run)

    def _write(self, part: NDArray[Any]) -> int:
        """Write an array; return its size in bytes."""
        left = np.ascontiguousarray(part).reshape(-1).view(np.uint8).data
        while left:
            count = self._file.write(left) or 0
            left = left[count:]
        return part.nbytes

    def read(self, place: int, into: NDArray[Any]) -> int:
        """Fill an array from a place in the file; return the place after it."""
        left = into.reshape(-1).view(np.uint8).data
        with self._reported():
            self._file.seek(place)
            while left:
                count = self._file.readinto(left)
                if not count:
                    raise OSError("the file was truncated")
                left = left[count:]
        return place + into.nbytes

    def merged(
        self, runs: list[_Run], sums: int, width: int, shape: tuple[int, int]
    ) -> Iterator[Records]:
        """Yield the records of some runs, each sequence once, in order."""
        front = _Front(self, runs, width)
        records, numbers = shape
        numbers = max(numbers, front.blocks.symbols.shape[1])
        output = Records(
            np.empty(numbers, np.int32),
            np.zeros(records + 1, np.int64),
            np.empty((records, width)),
        )
        state = kernel.merge(front.blocks, sums, output)
        while state != kernel.DONE:
            if state == kernel.FULL:
                yield front.taken(output)
            else:
                front.load(state)
            state = kernel.merge(front.blocks, sums, output)
        if front.blocks.state[kernel.WRITTEN]:
            yield front.taken(output)


class _Front:
    """A block of each run to merge."""

    def __init__(self, file: _RunFile, runs: list[_Run], width: int) -> None:
        self._file = file
        self._runs = runs
        self._next = [run.start for run in runs]
        count = len(runs)
        records = max((run.records for run in runs), default=0)
        numbers = max((run.numbers for run in runs), default=0)
        self.blocks = kernel.RunFront(
            symbols=np.empty((count, numbers), np.int32),
            offsets=np.zeros((count, records + 1), np.int64),
            values=np.empty((count, records, width), np.float64),
            counts=np.zeros(count, np.int64),
            places=np.zeros(count, np.int64),
            keys=np.zeros(count, np.uint64),
            heap=np.zeros(count, np.int64),
            state=np.zeros(kernel.STATES, np.int64),
        )
        self.blocks.state[kernel.HEAPED] = -1  # the heap is made at the first merge
        for k in range(count):
            self.load(k)

    def load(self, k: int) -> None:
        """Read the next block of a run, if there is one."""
        blocks = self.blocks
        place = self._next[k]
        blocks.counts[k] = 0
        blocks.places[k] = 0
        if place == self._runs[k].end:
            return
        head = np.zeros(2, np.int64)
        place = self._file.read(place, head)
        count, numbers = head.tolist()
        blocks.counts[k] = count
        place = self._file.read(place, blocks.offsets[k, : count + 1])
        place = self._file.read(place, blocks.symbols[k, :numbers])
        self._next[k] = self._file.read(place, blocks.values[k, :count])

    def taken(self, output: Records) -> Records:
        """Return the merged records, and free their space."""
        count = int(self.blocks.state[kernel.WRITTEN])
        self.blocks.state[kernel.WRITTEN] = 0
        merged = part(output, 0, count)
        return Records(merged.symbols.copy(), merged.offsets, merged.values.copy())
