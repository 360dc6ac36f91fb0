"""Make the lexical tables of some source words from what their word pairs are expected to link.

One machine has one shard, of all source words; see `alignkit.cluster` for more. Words of one stem
are in one shard, so that all sums but those by target word or target stem are complete in it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.cooccurrence import Cooccurrence
from alignkit.aligner.expectation_kernel import LEVELS
from alignkit.aligner.maximization_kernel import sum_totals
from alignkit.aligner.priors import Backing, StemSums

F4 = NDArray[np.float32]
I8 = NDArray[np.int64]


class Shard:
    """K word pairs whose counts become weights, with what is known before."""

    def __init__(
        self, index: Cooccurrence, prior: F4, backing: Backing | None, targets: int
    ) -> None:
        self.index, self.prior = index, prior
        self._backing, self._targets = backing, targets
        self.forgotten: NDArray[np.bool_] | None = None

    def to_forget(self, counts: F4, floor: float) -> NDArray[np.bool_]:
        """Return which word pairs (K,) are linked nowhere, with the floor as their whole prior."""
        return np.asarray((counts == 0) & (self.prior == np.float32(floor)))

    def kept(self, counts: F4) -> F4:
        """Return counts (K,) without those of what was forgotten."""
        if self.forgotten is not None:
            counts[self.forgotten] = 0
        return counts

    def stem_sums(self, counts: F4) -> StemSums | None:
        """Return the sums of counts (K,) by stems; those of target stems lack the other shards."""
        return None if self._backing is None else self._backing.sums(counts)

    def weights(self, counts: F4, sums: StemSums | None) -> tuple[F4, I8, I8]:
        """Return weights (K,), and their sums by source and by target word, in units."""
        weights = counts + self.prior
        if self._backing is not None and sums is not None:
            self._backing.add(counts, sums, weights)
        if self.forgotten is not None:
            weights[self.forgotten] = self.prior[self.forgotten]
        return weights, *totals_of(self.index, weights, self._targets)


def counts_of(sums: I8, units: float = LEVELS) -> F4:
    """Return expected links from their sums, of which so many units are 1: 255ths."""
    counts = np.empty(len(sums), np.float32)
    np.divide(sums, units, out=counts, casting="same_kind")
    return counts


def totals_of(index: Cooccurrence, weights: F4, targets: int) -> tuple[I8, I8]:
    """Return the sums of weights (K,) by source word and by target word, in units."""
    source, target = np.zeros(len(index.rows) - 1, np.int64), np.zeros(targets, np.int64)
    sum_totals(index.rows, index.columns, weights, source, target)
    return source, target
