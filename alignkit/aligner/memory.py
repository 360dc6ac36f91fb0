"""The memory of the sentence pairs that an aligner was trained on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.expectation_kernel import Own, Pairs
from alignkit.aligner.memory_kernel import count_links, pair_keys, recall, remember

Sentences = tuple[NDArray[np.int32], NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Memory:
    """The expected links of the sentence pairs of the training.

    When such a pair is aligned, its own links are taken out of the counts, as in training.
    """

    keys: NDArray[np.uint64]  # (Q,) uint64: a number for each distinct pair, rising
    offsets: NDArray[np.int64]
    cells: NDArray[np.uint32]
    levels: NDArray[np.uint8]  # (L,) uint8: how far the link is expected, in 255ths

    @classmethod
    def empty(cls) -> Memory:
        """Return a memory of nothing."""
        return cls(
            np.empty(0, np.uint64),
            np.zeros(1, np.int64),
            np.empty(0, np.uint32),
            np.empty(0, np.uint8),
        )

    @classmethod
    def of(cls, keys: NDArray[np.uint64], pairs: Pairs, own: Own) -> Memory:
        """Keep the expected links of pairs with the given keys (P,)."""
        distinct, order = np.unique(keys, return_index=True)
        known = distinct > 0
        distinct, order = distinct[known], order[known].astype(np.int64)
        offsets = np.empty(len(order) + 1, np.int64)
        count_links(order, pairs, own, offsets)
        cells = np.empty(offsets[-1], np.uint32)
        levels = np.empty(offsets[-1], np.uint8)
        remember(order, pairs, own, offsets, cells, levels)
        return cls(distinct, offsets, cells, levels)

    def evidence(self, keys: NDArray[np.uint64], pairs: Pairs) -> Own:
        """Return the expected links of pairs; nothing for those that were not trained on."""
        places = np.searchsorted(self.keys, keys)
        places[places == len(self.keys)] = 0
        numbers = np.full(len(keys), -1, np.int64)
        if len(self.keys):
            known = (self.keys[places] == keys) & (keys > 0)
            numbers[known] = places[known]
        none = bool((numbers < 0).all())
        sizes = pairs.starts[-1], len(pairs.source), len(pairs.target)
        own = Own(*(np.zeros(0 if none else size, np.uint8) for size in sizes))
        if not none:
            recall(numbers, pairs, self.offsets, self.cells, self.levels, own)
        return own


def keys_of(source: Sentences, target: Sentences) -> NDArray[np.uint64]:
    """Return the keys (P,) of sentence pairs, given as word numbers and first words."""
    keys = np.empty(len(source[1]) - 1, np.uint64)
    pair_keys(*source, *target, keys)
    return keys
