"""The values of Krippendorff's alpha: sets of target positions, numbered.

A *unit* is a source word. Each annotator's *value* for it is the set of its target positions. Equal
sets have one number, and 0 is the empty set. The words "he" and "left", which annotator A links to
{0} and {1}, and annotator B to {0} and {1, 2}, have the sets {}, {0}, {1} and {1, 2}:

    ids      1 1    he: the number of the set of A, and of B; -1 would stand for no value
             2 3    left
    sizes    0 1 1 2
    members  0, 1, 1 2    the elements of the sets, one after another
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from alignkit._support.array_types import I4, I8
from alignkit.agreement.pairs import PairData
from alignkit.model.arrays import offsets_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array


_BLOCK_NUMBERS = 2**21  # how many numbers a block of overlaps, or of its products, may have
_NO_VALUE = -1


@dataclass(frozen=True)
class ValueSets:
    """The U units of P sentence pairs, and their V distinct values (sets)."""

    ids: I8  # (U, A): the number of each annotator's set; -1 for none
    pair: I8  # (U,): the sentence pairs of the units
    pairs: int  # P
    members: I8  # the elements of the V sets, set after set
    sizes: I8  # (V,): how many elements each set has

    @classmethod
    def of(cls, data: PairData, links: str) -> ValueSets:
        """Take each source word as a unit, and the target positions linked to it as its value."""
        words = data.lengths[:, 0]
        first_word = np.cumsum(words) - words
        pair = np.repeat(np.arange(len(data)), words)
        units = []  # the units with links, annotator by annotator
        targets = []  # the target positions of these units, one after another
        sizes = []  # how many each of these units has
        for name in data.annotators:
            arrays = data.links(name)
            if links == "sure":
                arrays = arrays.sure_only()
            unit_of_link = np.repeat(first_word, np.diff(arrays.offsets)) + arrays.links[:, 0]
            linked, count = np.unique(unit_of_link, return_counts=True)
            units.append(linked)
            sizes.append(count)
            targets.append(arrays.links[:, 1])
        numbered = _number(np.concatenate(targets), np.concatenate(sizes))
        ids = np.full((len(pair), len(units)), _NO_VALUE, np.int64)
        start = 0
        for column, (name, linked) in enumerate(zip(data.annotators, units, strict=True)):
            ids[data.aligned(name)[pair], column] = 0  # the empty set
            ids[linked, column] = numbered.numbers[start : start + len(linked)]
            start += len(linked)
        return cls(ids, pair, len(data), numbered.members, numbered.sizes)

    @classmethod
    def of_units(cls, units: Sequence[Sequence[frozenset[int]]]) -> ValueSets:
        """Take sets directly; all units are of one pair."""
        numbers = {frozenset[int](): 0}
        most = max(map(len, units), default=0)
        ids = np.full((len(units), most), _NO_VALUE, np.int64)
        for k, unit in enumerate(units):
            ids[k, : len(unit)] = [numbers.setdefault(value, len(numbers)) for value in unit]
        elements = list(chain.from_iterable(numbers))
        _, members = np.unique(elements, return_inverse=True)
        sizes = np.array([len(value) for value in numbers], np.int64)
        pair = np.zeros(len(units), np.int64)
        return cls(ids, pair, 1, members.reshape(-1).astype(np.int64), sizes)

    @cached_property
    def incidence(self) -> csr_array[np.int64]:
        """(V, positions): 1 where a set has an element."""
        from scipy.sparse import csr_array

        offsets = offsets_of(self.sizes)
        shape = (len(self.sizes), int(self.members.max(initial=0)) + 1)
        return csr_array((np.ones(len(self.members), np.int64), self.members, offsets), shape)

    def common(self, left: I8, right: I8) -> I8:
        """Return how many elements two sets share, for (K,) numbers of sets on each side."""
        # each two sets are compared once
        width = np.int64(len(self.sizes))
        both, place = np.unique(left * width + right, return_inverse=True)
        first = self.incidence[both // width]
        second = self.incidence[both % width]
        of_both: I8 = np.asarray(first.multiply(second).sum(axis=1), np.int64).reshape(-1)
        shared: I8 = of_both[place.reshape(-1)]
        return shared

    def occurrences(self) -> csr_array[np.float64]:
        """Return (P, V) counts: how often each set is a value in each pair."""
        from scipy.sparse import coo_array

        unit, column = np.nonzero(self.ids >= 0)
        places = (self.pair[unit], self.ids[unit, column])
        shape = (self.pairs, len(self.sizes))
        return coo_array((np.ones(len(unit)), places), shape).tocsr()  # adds up

    def overlaps(self, width: int) -> Iterator[tuple[int, csr_array[np.int64]]]:
        """Yield, for blocks of sets, how many elements each shares with every set.

        Each block is given with the number of its first set. It has at most `_BLOCK_NUMBERS`
        numbers, if a row has one for each set that it can share an element with, and `width` in the
        product that it is used for.
        """
        from scipy.sparse import csr_array

        sets = self.incidence
        sets_with = np.diff(sets.tocsc().indptr)  # how many sets have each element
        set_of_member = np.repeat(np.arange(len(self.sizes)), self.sizes)
        most = np.bincount(set_of_member, sets_with[self.members], len(self.sizes))
        block_of_set = np.cumsum(np.maximum(most, width)) // _BLOCK_NUMBERS
        starts = np.flatnonzero(np.diff(block_of_set, prepend=-1)).tolist()
        ends = [*starts[1:], len(self.sizes)]
        for start, end in zip(starts, ends, strict=True):
            yield start, csr_array(sets[start:end] @ sets.T)


class _Numbered(NamedTuple):
    """The number of each given set, and the members and sizes of the distinct sets."""

    numbers: I8
    members: I8
    sizes: I8


def _number(targets: I4, sizes: I8) -> _Numbered:
    """Return numbers of sets, given one after another: 0 for the empty set, the others by size."""
    starts = np.cumsum(sizes) - sizes
    numbers = np.zeros(len(sizes), np.int64)
    members = [np.empty(0, np.int64)]
    counts = [np.zeros(1, np.int64)]
    total = 1
    for size in np.unique(sizes).tolist():
        alike = np.flatnonzero(sizes == size)
        table = targets[starts[alike, np.newaxis] + np.arange(size)]
        distinct, place = np.unique(table, axis=0, return_inverse=True)
        numbers[alike] = total + place.reshape(-1)
        members.append(distinct.astype(np.int64).reshape(-1))
        counts.append(np.full(len(distinct), size, np.int64))
        total += len(distinct)
    return _Numbered(numbers, np.concatenate(members), np.concatenate(counts))
