"""Number the distinct sets of target words that annotators gave to source words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.pairs import PairData

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Sizes = NDArray[np.int64]

_BLOCK_NUMBERS = 2**21  # how many numbers a block of overlaps, or of its products, may have

_NO_VALUE = -1


@dataclass(frozen=True, eq=False)
class ValueSets:
    """U units of P sentence pairs, and the V distinct sets that are their values."""

    ids: Sizes
    pair: Sizes  # (U,): the sentence pairs of the units
    pairs: int  # P
    members: Sizes  # the elements of the V sets, set after set
    sizes: Sizes  # (V,): how many elements each has

    @classmethod
    def of(cls, data: PairData, links: str) -> ValueSets:
        """Take each source word as a unit, and the target positions linked to it as its value."""
        words = data.lengths[:, 0]
        first_word = np.cumsum(words) - words
        pair = np.repeat(np.arange(len(data)), words)
        units, targets, sizes = [], [], []
        for name in data.annotators:
            arrays = data.links(name)
            arrays = arrays.sure_only() if links == "sure" else arrays
            where = np.repeat(first_word, np.diff(arrays.offsets)) + arrays.links[:, 0]
            linked, count = np.unique(where, return_counts=True)
            units.append(linked)
            sizes.append(count)
            targets.append(arrays.links[:, 1])
        numbers, members, set_sizes = _number(np.concatenate(targets), np.concatenate(sizes))
        ids = np.full((len(pair), len(units)), _NO_VALUE, np.int64)
        start = 0
        for column, (name, linked) in enumerate(zip(data.annotators, units, strict=True)):
            ids[data.aligned(name)[pair], column] = 0  # the empty set
            ids[linked, column] = numbers[start : start + len(linked)]
            start += len(linked)
        return cls(ids, pair, len(data), members, set_sizes)

    @classmethod
    def of_units(cls, units: Sequence[Sequence[frozenset[int]]]) -> ValueSets:
        """Take sets as they are; all units are of one pair."""
        places = {frozenset[int](): 0}
        elements: dict[int, int] = {}
        ids = np.full((len(units), max(map(len, units), default=0)), _NO_VALUE, np.int64)
        for k, unit in enumerate(units):
            ids[k, : len(unit)] = [places.setdefault(value, len(places)) for value in unit]
        members = [elements.setdefault(one, len(elements)) for value in places for one in value]
        sizes = np.array([len(value) for value in places], np.int64)
        nowhere = np.zeros(len(units), np.int64)
        return cls(ids, nowhere, 1, np.array(members, np.int64), sizes)

    @cached_property
    def incidence(self) -> csr_array[np.int64]:
        """(V, positions): 1 where a set has an element."""
        from scipy.sparse import csr_array

        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.sizes)])
        shape = (len(self.sizes), int(self.members.max(initial=0)) + 1)
        return csr_array((np.ones(len(self.members), np.int64), self.members, offsets), shape)

    def common(self, left: Sizes, right: Sizes) -> Sizes:
        """Return how many elements two sets share, for (K,) numbers of sets on either side."""
        width = np.int64(len(self.sizes))
        distinct, place = np.unique(left * width + right, return_inverse=True)
        one, other = self.incidence[distinct // width], self.incidence[distinct % width]
        shared = np.asarray((one * other) @ np.ones(one.shape[1], np.int64), np.int64)
        counts: Sizes = shared[place.reshape(-1)]
        return counts

    def occurrences(self) -> csr_array[np.float64]:
        """Return (P, V) counts: how often each set is a value in each pair."""
        from scipy.sparse import coo_array

        given = self.ids >= 0
        pair = np.broadcast_to(self.pair[:, np.newaxis], self.ids.shape)[given]
        numbers = np.ones(len(pair))
        shape = (self.pairs, len(self.sizes))
        return coo_array((numbers, (pair, self.ids[given])), shape).tocsr()  # adds up

    def overlaps(self, width: int) -> Iterator[tuple[int, csr_array[np.int64]]]:
        """Yield, for blocks of sets, how many elements each shares with every set."""
        from scipy.sparse import csr_array

        sets = self.incidence
        holders = np.diff(sets.tocsc().indptr)
        rows = np.repeat(np.arange(len(self.sizes)), self.sizes)
        most = np.bincount(rows, holders[self.members], len(self.sizes))
        load = np.maximum(most, width)
        block = np.cumsum(load) // _BLOCK_NUMBERS
        starts = np.flatnonzero(np.diff(block, prepend=-1)).tolist()
        for start, end in zip(starts, [*starts[1:], len(self.sizes)], strict=True):
            yield start, csr_array(sets[start:end] @ sets.T)


def _number(targets: NDArray[np.int32], sizes: Sizes) -> tuple[Sizes, Sizes, Sizes]:
    """Give sets that lie one after the other numbers from 1, equal ones the same; 0 is empty."""
    starts = np.cumsum(sizes) - sizes
    numbers = np.zeros(len(sizes), np.int64)
    members, counts = [np.empty(0, np.int64)], [np.zeros(1, np.int64)]
    total = 1
    for size in np.unique(sizes).tolist():
        alike = np.flatnonzero(sizes == size)
        table = targets[starts[alike, np.newaxis] + np.arange(size)]
        distinct, place = np.unique(table, axis=0, return_inverse=True)
        numbers[alike] = total + place.reshape(-1)
        members.append(distinct.astype(np.int64).reshape(-1))
        counts.append(np.full(len(distinct), size, np.int64))
        total += len(distinct)
    return numbers, np.concatenate(members), np.concatenate(counts)
