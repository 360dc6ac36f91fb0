"""Recognize sentence pairs that were trained on, and keep what they were expected to link."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.expectation_kernel import Own, Pairs
from alignkit.jit import jit

I4 = NDArray[np.int32]
I8 = NDArray[np.int64]
U1 = NDArray[np.uint8]
U4 = NDArray[np.uint32]
U8 = NDArray[np.uint64]

STEP = np.uint64(0x9E3779B97F4A7C15)
MIX = np.uint64(0xBF58476D1CE4E5B9)


@jit
def mixed(key: np.uint64, word: int) -> np.uint64:
    """Mix a word into a hash."""
    key = (key ^ np.uint64(word)) * MIX + STEP
    return key ^ (key >> np.uint64(29))


@jit
def pair_keys(source: I4, source_starts: I8, target: I4, target_starts: I8, keys: U8) -> None:
    """Set keys (P,) to a 64-bit number of the words of each pair; 0 where a word is unknown."""
    for pair in range(len(keys)):
        key = STEP
        known = True
        for at in range(source_starts[pair], source_starts[pair + 1]):
            known &= source[at] >= 0
            key = mixed(key, source[at])
        key = mixed(key, source_starts[pair + 1] - source_starts[pair] + 1000000007)
        for at in range(target_starts[pair], target_starts[pair + 1]):
            known &= target[at] >= 0
            key = mixed(key, target[at])
        keys[pair] = max(key, np.uint64(1)) if known else np.uint64(0)


@jit
def count_above(levels: U1, begin: int, end: int) -> int:
    """Return how many levels are above 0."""
    size = 0
    for at in range(begin, end):
        size += levels[at] > 0
    return size


@jit
def count_links(order: I8, pairs: Pairs, own: Own, offsets: I8) -> None:
    """Set offsets (len(order) + 1,) from how many expected links the pairs in order have."""
    offsets[0] = 0
    for k in range(len(order)):
        p = order[k]
        size = count_above(own.links, pairs.starts[p], pairs.starts[p + 1])
        size += count_above(own.source, pairs.source_starts[p], pairs.source_starts[p + 1])
        size += count_above(own.target, pairs.target_starts[p], pairs.target_starts[p + 1])
        offsets[k + 1] = offsets[k] + size


@jit
def keep(given: U1, begin: int, end: int, first: int, to: int, cells: U4, levels: U1) -> int:
    """Keep what is above 0, from place `to` on, numbered from `first`; return the next place."""
    for at in range(begin, end):
        if given[at] > 0:
            cells[to] = first + at - begin
            levels[to] = given[at]
            to += 1
    return to


@jit
def remember(order: I8, pairs: Pairs, own: Own, offsets: I8, cells: U4, levels: U1) -> None:
    """Keep the expected links of the pairs named in order; offsets (len(order) + 1,)."""
    for k in range(len(order)):
        p = order[k]
        begin, end = pairs.starts[p], pairs.starts[p + 1]
        first = end - begin
        to = keep(own.links, begin, end, 0, offsets[k], cells, levels)
        begin, end = pairs.source_starts[p], pairs.source_starts[p + 1]
        to = keep(own.source, begin, end, first, to, cells, levels)
        first += end - begin
        keep(
            own.target, pairs.target_starts[p], pairs.target_starts[p + 1], first, to, cells, levels
        )


@jit
def recall(found: I8, pairs: Pairs, offsets: I8, cells: U4, levels: U1, own: Own) -> None:
    """Set the expected links of the pairs that are known: found (P,) is where, or -1."""
    for p in range(len(found)):
        if found[p] < 0:
            continue
        size = pairs.starts[p + 1] - pairs.starts[p]
        n = pairs.source_starts[p + 1] - pairs.source_starts[p]
        m = pairs.target_starts[p + 1] - pairs.target_starts[p]
        for at in range(offsets[found[p]], offsets[found[p] + 1]):
            cell = np.int64(cells[at])
            if cell < size:
                own.links[pairs.starts[p] + cell] = levels[at]
            elif cell < size + n:
                own.source[pairs.source_starts[p] + cell - size] = levels[at]
            elif cell < size + n + m:
                own.target[pairs.target_starts[p] + cell - size - n] = levels[at]
