"""Make phrase tables of counted phrase pairs, step by step; a step may be of a part of the words.

First all records with the same target phrase come together, and its total is known; then they are
turned round, and those with the same source phrase come together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alignkit.jit import readonly
from alignkit.tables import table_kernel as kernel
from alignkit.tables.groups import with_totals
from alignkit.tables.runs import Runs

Records = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]
"""Symbols, offsets and values, as `Runs.add` takes them."""


@dataclass
class Tally:
    """How many different phrase pairs there are, and how many were not frequent enough."""

    different: int = 0
    left_out: int = 0


@dataclass(frozen=True, eq=False)
class TableBlock:
    """E entries of a phrase table."""

    symbols: NDArray[np.int32]
    offsets: NDArray[np.int64]
    shown: NDArray[np.int64]  # (E,) int64: which of the records are entries
    counts: NDArray[np.float64]  # (E,) float64
    p_target: NDArray[np.float64]
    p_source: NDArray[np.float64]


def turned(
    by_target: Runs, ranks: NDArray[np.int32], min_count: int, tally: Tally
) -> Iterator[Records]:
    """Yield records, source phrase first; values are its count and that of the target phrase."""
    for block, totals in with_totals(by_target):
        kept = block.values[:, 0] >= min_count
        tally.different += len(kept)
        tally.left_out += len(kept) - int(kept.sum())
        symbols, offsets = kernel.exchange(
            readonly(block.symbols), readonly(block.offsets), kept.view(np.uint8), ranks
        )
        yield symbols, offsets, np.stack([block.values[:, 0], totals], axis=1)


def table_blocks(by_source: Runs) -> Iterator[TableBlock]:
    """Yield the entries of a table from what `turned` gave, by source phrase, then by target."""
    for block, totals in with_totals(by_source):
        last = block.symbols[block.offsets[1:] - 1]
        shown = np.flatnonzero(last)  # a phrase alone holds the count of what was left out
        counts, of_target = block.values[shown].T
        shares = counts / totals[shown], counts / of_target
        yield TableBlock(block.symbols, block.offsets, shown, counts, *shares)


def table_lines(
    blocks: Iterable[TableBlock], words: tuple[NDArray[np.uint8], NDArray[np.int64]]
) -> Iterator[str]:
    """Yield entries as lines, many in a text; `words` is their `text_pool`, in order."""
    for block in blocks:
        numbers = [block.counts, block.p_target, block.p_source]
        different, places = np.unique(np.stack(numbers, axis=1), return_inverse=True)
        texts = text_pool(map(shortest, different.tolist()))
        text = kernel.write(
            readonly(block.symbols),
            readonly(block.offsets),
            block.shown,
            *words,
            *texts,
            places.reshape(-1, len(numbers)),
        )
        yield text.tobytes().decode()


def text_pool(texts: Iterable[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return texts one after the other in UTF-8, and where each ends, from 0 on."""
    parts = [text.encode() for text in texts]
    ends = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=ends[1:])
    return np.frombuffer(b"".join(parts), np.uint8), ends


def shortest(number: float) -> str:
    """Return the shortest text that is read back as the same number."""
    return str(int(number)) if number == int(number) else repr(number)
