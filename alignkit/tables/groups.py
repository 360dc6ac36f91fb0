"""Go through sorted records by their first phrase: whole groups, and their totals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from alignkit.jit import readonly
from alignkit.tables.runs import Block, Runs
from alignkit.tables.table_kernel import number_groups


def with_totals(runs: Runs) -> Iterator[tuple[Block, NDArray[np.float64]]]:
    """Yield the records of `Runs` with the sum of the first values of all with the same phrase."""
    parts: list[NDArray[np.float64]] = []
    known = 0  # groups before the last one
    open_sum = 0.0  # of the last one so far
    for block, numbers in _grouped(runs):
        sums = np.bincount(numbers - known, block.values[:, 0]).astype(np.float64)
        sums[0] += open_sum
        parts.append(sums[:-1])
        known, open_sum = int(numbers[-1]), float(sums[-1])
    totals = np.concatenate([*parts, [open_sum]])
    del parts
    for block, numbers in _grouped(runs):
        yield block, totals[numbers]


def whole_groups(runs: Runs) -> Iterator[tuple[Block, NDArray[np.int64]]]:
    """Yield the records of `Runs` in whole groups by first phrase, with the group of each."""
    held: list[tuple[Block, NDArray[np.int64]]] = []
    for block, numbers in _grouped(runs):
        last = int(np.searchsorted(numbers, numbers[-1]))
        if last == 0 and held and held[-1][1][-1] == numbers[-1]:
            held.append((block, numbers))
            continue
        yield _joined([*held, (part_of(block, 0, last), numbers[:last])])
        held = [(part_of(block, last, len(block)), numbers[last:])]
    if held:
        yield _joined(held)


def part_of(block: Block, begin: int, end: int) -> Block:
    """Return some records of a block."""
    offsets = block.offsets[begin : end + 1]
    return Block(
        block.symbols[offsets[0] : offsets[-1]], offsets - offsets[0], block.values[begin:end]
    )


def _joined(parts: Sequence[tuple[Block, NDArray[np.int64]]]) -> tuple[Block, NDArray[np.int64]]:
    whole = joined([block for block, _ in parts])
    return whole, np.concatenate([numbers for _, numbers in parts])


def joined(blocks: Sequence[Block]) -> Block:
    """Return the records of some blocks, one after the other."""
    starts = np.cumsum([0, *(len(block.symbols) for block in blocks)])
    tails = [block.offsets[1:] + start for block, start in zip(blocks, starts, strict=False)]
    return Block(
        np.concatenate([block.symbols for block in blocks]),
        np.concatenate([np.zeros(1, np.int64), *tails]),
        np.concatenate([block.values for block in blocks]),
    )


def _grouped(runs: Runs) -> Iterator[tuple[Block, NDArray[np.int64]]]:
    before, last = readonly(np.empty(0, np.int32)), -1
    for block in runs.merge():
        symbols = readonly(block.symbols)
        numbers = number_groups(symbols, readonly(block.offsets), before, last)
        yield block, numbers
        tail = symbols[block.offsets[-2] :]
        before, last = readonly(tail[: int(tail.argmin()) + 1]), int(numbers[-1])
