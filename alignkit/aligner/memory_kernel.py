"""Recognize sentence pairs that were trained on, and keep what they were expected to link."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.jit import jit

__all__ = ["count_links", "pair_keys", "recall", "remember"]

I4 = NDArray[np.int32]
I8 = NDArray[np.int64]
U1 = NDArray[np.uint8]
U4 = NDArray[np.uint32]
U8 = NDArray[np.uint64]

STEP = np.uint64(0x9E3779B97F4A7C15)
MIX = np.uint64(0xBF58476D1CE4E5B9)


@jit
def mixed(key: np.uint64, word: int) -> np.uint64:
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
def count_links(order: I8, starts: I8, evidence: U1, offsets: I8) -> None:
    """Set offsets (len(order) + 1,) from how many cells with evidence the pairs in order have."""
    offsets[0] = 0
    for k in range(len(order)):
        size = 0
        for cell in range(starts[order[k]], starts[order[k] + 1]):
            size += evidence[cell] > 0
        offsets[k + 1] = offsets[k] + size


@jit
def remember(order: I8, starts: I8, evidence: U1, offsets: I8, cells: U4, levels: U1) -> None:
    """Keep the cells with evidence of the pairs named in order; offsets (len(order) + 1,)."""
    for k in range(len(order)):
        start = starts[order[k]]
        to = offsets[k]
        for cell in range(start, starts[order[k] + 1]):
            if evidence[cell] > 0:
                cells[to] = cell - start
                levels[to] = evidence[cell]
                to += 1


@jit
def recall(found: I8, starts: I8, offsets: I8, cells: U4, levels: U1, evidence: U1) -> None:
    """Set the evidence (C,) of the pairs that are known: found (P,) is where, or -1."""
    for pair in range(len(found)):
        if found[pair] < 0:
            continue
        size = starts[pair + 1] - starts[pair]
        for at in range(offsets[found[pair]], offsets[found[pair] + 1]):
            if cells[at] < size:
                evidence[starts[pair] + cells[at]] = levels[at]
