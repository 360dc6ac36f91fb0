"""The M-step: lexical tables from expected links, by three kinds of inference."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from alignkit.align.cooccurrence import Cooccurrence, Room
from alignkit.align.expectation_kernel import LEVELS
from alignkit.align.maximization_kernel import add_levels, add_posteriors, numbers_in, sum_totals
from alignkit.align.priors import Backing, StemSums
from alignkit.align.settings import Settings

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


F8 = NDArray[np.float64]
U1 = NDArray[np.uint8]

NO_LEVELS = np.empty(0, np.uint8)
NO_POSTERIORS = np.empty(0, np.float32)

FEW = 50  # with fewer pairs there is hardly anything that others could tell: own links are kept


class Lexical:
    """The lexical tables of both directions as weights over totals; see `Tables`."""

    def __init__(self, index: Cooccurrence, targets: int) -> None:
        self.forward: F4 = np.ones(len(index.columns), np.float32)
        self.reverse: F4 = self.forward
        sources = len(index.rows) - 1
        self.set_totals(np.full(sources, float(targets)), np.full(targets, float(sources)))

    def set_totals(self, source: F8, target: F8) -> None:
        """Take what the weights are divided by."""
        self.source_totals, self.target_totals = divisors(source), divisors(target)


def divisors(totals: F8) -> F4:
    """Return totals as they divide weights."""
    return np.maximum(totals, 1e-30).astype(np.float32)


class Estimator(Protocol):
    """What an E-step writes to, and what is learned from it."""

    own: U1
    agreement: U1
    forward: F4
    reverse: F4

    def expected(self) -> tuple[F4, F4]:
        """Return the expected links (C,) of both directions that the E-step wrote."""

    def update(self, tables: Lexical, *, forget: bool = False) -> None:
        """Set the tables from what the E-step wrote; forget what it links nowhere."""


class Collapsed:
    """Align each pair by what the other pairs tell.

    Collapsed variational Bayes with the zero-order approximation (Asuncion, Welling, Smyth & Teh
    2009): the links of a pair are taken out of the counts, 1 byte a cell, before it is aligned
    anew, so that rare words cannot vouch for themselves. Both directions share the counts.
    """

    def __init__(
        self, shard: Shard, cells: NDArray[np.int32], settings: Settings, pairs: int, room: Room
    ) -> None:
        self._shard, self._cells = shard, cells
        self._floor, self._concentration = settings.floor, settings.concentration
        self._pairs = pairs
        self.agreement: U1 = room.zeros(len(cells), np.uint8)
        self.own: U1 = NO_LEVELS
        self.forward = self.reverse = NO_POSTERIORS

    def expected(self) -> tuple[F4, F4]:
        """Return the expected links, which both directions share."""
        links: F4 = self.agreement.astype(np.float32) / np.float32(LEVELS)
        return links, links

    def update(self, tables: Lexical, *, forget: bool = False) -> None:
        """Set the tables from the expected links, the prior and the stems."""
        sums = np.zeros(len(self._shard.prior), np.int64)
        add_levels(self._cells, self.agreement, sums)
        counts = counts_of(sums)
        del sums
        if forget:
            self._shard.forgotten = self._shard.to_forget(counts, self._floor)
        self.take(self._shard.kept(counts), tables)
        if self._pairs >= FEW:
            self.own = self.agreement

    def take(self, counts: F4, tables: Lexical) -> None:
        """Set the tables from counts (K,)."""
        weights, source, target = self._shard.weights(counts, self._shard.stem_sums(counts))
        tables.forward = tables.reverse = weights
        tables.set_totals(
            numbers_in(source) + self._concentration, numbers_in(target) + self._concentration
        )


class Soft:
    """Posteriors as counts, 8 bytes a cell: EM, or mean-field variational Bayes."""

    def __init__(
        self, index: Cooccurrence, prior: F4, room: Room, *, agree: bool, bayes: bool
    ) -> None:
        self._index, self._prior, self._agree, self._bayes = index, prior, agree, bayes
        self.own = self.agreement = NO_LEVELS
        self.forward: F4 = room.zeros(len(index.cells), np.float32)
        self.reverse: F4 = room.zeros(len(index.cells), np.float32)

    def expected(self) -> tuple[F4, F4]:
        """Return the posteriors of both directions, or their product."""
        if not self._agree:
            return self.forward, self.reverse
        both = self.forward * self.reverse
        return both, both

    def update(self, tables: Lexical, *, forget: bool = False) -> None:
        """Set the tables from the posteriors and the prior; nothing is forgotten."""
        targets = len(tables.target_totals)
        expected = self.expected()
        forward = self._counts(expected[0])
        reverse = forward if self._agree else self._counts(expected[1])
        source = numbers_in(totals_of(self._index, forward, targets)[0])
        target = numbers_in(totals_of(self._index, reverse, targets)[1])
        if self._bayes:
            forward, reverse = _exp_digamma(forward), _exp_digamma(reverse)
            source, target = _exp_digamma(source), _exp_digamma(target)
        tables.forward = forward.astype(np.float32, copy=False)
        tables.reverse = reverse.astype(np.float32, copy=False)
        tables.set_totals(source, target)

    def _counts(self, posteriors: F4) -> F4:
        sums = np.zeros(len(self._index.columns))
        add_posteriors(self._index.cells, posteriors, sums)
        return (sums + self._prior).astype(np.float32)


def _exp_digamma(counts: NDArray[Any]) -> NDArray[Any]:
    from scipy.special import digamma

    # in 64 bits: numpy's exp of 32 depends on the processor
    return np.asarray(np.exp(digamma(np.maximum(counts, 1e-3, dtype=np.float64))))
