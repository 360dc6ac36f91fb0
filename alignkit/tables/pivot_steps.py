"""Join phrases by their pivots, step by step; a step may be of a part of the words.

First all entries with the same pivot come together, and are joined; then all paths from the same
phrase come together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alignkit.errors import OptionError
from alignkit.jit import readonly
from alignkit.tables import pivot_kernel
from alignkit.tables.groups import whole_groups
from alignkit.tables.phrase_steps import Records, text_pool
from alignkit.tables.runs import Block, Runs
from alignkit.tables.table_kernel import write

VALUES = 2 * pivot_kernel.LIMBS + 1
"""Of a path: the limbs of both probabilities, which add up exactly in any order, and 1."""

Names = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]
"""The ranks, numbers and names of symbols as `pivot_kernel.join` takes them."""

_PATHS = 1 << 15  # at a time
_NUMBERS = 24 * _PATHS
_SLACK = 1 - 1e-12  # the least of a user is no binary fraction


@dataclass(frozen=True)
class PivotSettings:
    """What is kept of the paraphrases; see `pivot`."""

    min_p: float = 0.001
    top: int | None = 20
    identity: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.min_p <= 1:
            raise OptionError(f"min_p is {self.min_p}; expected a number from 0 to 1")
        if self.top is not None and self.top < 1:
            raise OptionError(f"top is {self.top}; the least is 1")


@dataclass(frozen=True, eq=False)
class PivotBlock:
    """E paraphrases."""

    symbols: NDArray[np.int32]
    offsets: NDArray[np.int64]
    shown: NDArray[np.int64]  # (E,) int64: the records that are kept, the best of each phrase first
    values: NDArray[np.float64]


@dataclass
class PivotTally:
    """What was joined."""

    entries: int = 0  # how many different ones there were
    paths: int = 0  # how many ways there were from a phrase over a pivot to another phrase
    found: int = 0  # how many different pairs of phrases these joined
    rare: int = 0
    beyond: int = 0


def joined(
    entries: Runs, tables: int, identity: bool, names: Names, tally: PivotTally
) -> Iterator[Records]:
    """Yield the paths from phrases over their pivots to other phrases."""
    symbols, offsets = np.empty(_NUMBERS, np.int32), np.zeros(_PATHS + 1, np.int64)
    values = np.empty((_PATHS, VALUES))
    for block, groups in whole_groups(entries):
        tally.entries += len(block)
        arrays = readonly(block.symbols), readonly(block.offsets)
        ranges = pivot_kernel.ranges(*arrays, groups, tables)
        longest = 2 * int(np.diff(block.offsets).max(initial=0))
        if longest > len(symbols):
            symbols = np.empty(longest, np.int32)
        state = np.zeros(2, np.int64)
        while state[0] < len(block):
            count = pivot_kernel.join(
                *arrays, block.values, ranges, state, identity, *names,
                symbols, offsets, values,
            )  # fmt: skip
            ends = offsets[: count + 1]
            yield symbols[: ends[-1]], ends, values[:count]


def chosen(paths: Runs, settings: PivotSettings, tally: PivotTally) -> Iterator[PivotBlock]:
    """Yield the paraphrases that are kept; those of a phrase by falling probability."""
    for block, groups in whole_groups(paths):
        yield _chosen(block, groups, settings, tally)


def _chosen(
    block: Block, groups: NDArray[np.int64], settings: PivotSettings, tally: PivotTally
) -> PivotBlock:
    limbs = pivot_kernel.LIMBS
    sides = block.values[:, :limbs], block.values[:, limbs : 2 * limbs]
    values = np.stack([*map(_whole, sides), block.values[:, -1]], axis=1)
    p = values[:, 0]
    kept = np.flatnonzero(p >= settings.min_p * _SLACK)
    tally.found += len(p)
    tally.rare += len(p) - len(kept)
    # what differs in the last digits alone is as probable: products are rounded
    order = kept[np.lexsort((-p[kept].astype(np.float32), groups[kept]))]
    if settings.top is not None:
        sizes = np.unique(groups[order], return_counts=True)[1]
        places = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        tally.beyond += int((places >= settings.top).sum())
        order = order[places < settings.top]
    return PivotBlock(block.symbols, block.offsets, order, values[order])


def _whole(limbs: NDArray[np.float64]) -> NDArray[np.float64]:
    total = np.zeros(len(limbs))
    for k in reversed(range(limbs.shape[1])):
        total += np.ldexp(limbs[:, k], -pivot_kernel.BITS * (k + 1))
    return total


def pivot_lines(
    blocks: Iterable[PivotBlock], words: tuple[NDArray[np.uint8], NDArray[np.int64]]
) -> Iterator[str]:
    """Yield paraphrases as lines, many in a text; `words` is their `text_pool`, in order."""
    for block in blocks:
        different, places = np.unique(block.values, return_inverse=True)
        text = write(
            readonly(block.symbols),
            readonly(block.offsets),
            block.shown,
            *words,
            *text_pool(f"{number:.6g}" for number in different.tolist()),
            places.reshape(-1, 3),
        )
        yield text.tobytes().decode()
