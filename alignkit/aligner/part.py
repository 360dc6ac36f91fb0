"""The E-step over a part of a bitext, and what it adds up.

One machine has one part; see `alignkit.cluster` for more.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.bitext import Bitext
from alignkit.aligner.cooccurrence import Cooccurrence
from alignkit.aligner.expectation import Workers, pairs_of, parts_of
from alignkit.aligner.expectation_kernel import LEVELS, Own, Tables, hmm_step, lexical_step
from alignkit.aligner.fixed_kernel import add_up, units_of_likelihoods
from alignkit.aligner.maximization_kernel import add_nulls
from alignkit.aligner.positions import Positions

F4 = NDArray[np.float32]
I8 = NDArray[np.int64]
U1 = NDArray[np.uint8]

NO_LEVELS = np.empty(0, np.uint8)


class Links(Protocol):
    """Where an E-step writes expected links: both directions' agreement, or their posteriors."""

    agreement: U1
    forward: F4
    reverse: F4


class Sums(NamedTuple):
    """What is added up over all parts, in units."""

    source_nulls: I8  # (Vs,) and (Vt,): links of each word to the empty word
    target_nulls: I8
    jumps: I8  # (2, kinds + 1, 2 * band + 2): jumps forward and reverse; zeros for IBM 1 and 2
    likelihoods: I8  # (2,): log-likelihoods forward and reverse

    @classmethod
    def over(cls, parts: list[Sums]) -> Sums:
        """Return the sums over all parts."""
        return cls(
            add_up(part.source_nulls for part in parts),
            add_up(part.target_nulls for part in parts),
            add_up(part.jumps for part in parts),
            np.asarray(np.sum([part.likelihoods for part in parts], axis=0)),
        )


class Part:
    """P sentence pairs, and the E-steps over them."""

    def __init__(
        self, bitext: Bitext, index: Cooccurrence, workers: Workers, first: int = 0
    ) -> None:
        self.bitext, self.pairs = bitext, pairs_of(bitext, index)
        self._workers, self._first = workers, first
        self._blocks = parts_of(bitext.starts)
        self._source_nulls = np.zeros(len(bitext.source.ids), np.float32)
        self._target_nulls = np.zeros(len(bitext.target.ids), np.float32)
        self._likelihoods = np.zeros((len(bitext), 2))

    def lexical_step(
        self, tables: Tables, positions: Positions, shape: tuple[int, ...], own: Own, to: Links
    ) -> Sums:
        """Run the E-step of IBM 1 or 2; `shape` is that of the jump tables."""

        def step(_: int, begin: int, end: int) -> None:
            lexical_step(
                begin, end, self.pairs, tables,
                positions.places, positions.forward, positions.reverse,
                own, to.agreement, self._source_nulls, self._target_nulls,
                to.forward, to.reverse, 0, self._likelihoods,
            )  # fmt: skip

        self._workers.map(step, self._blocks)
        return self._sums(np.zeros(shape, np.int64))

    def hmm_step(self, tables: Tables, jumps: F4, every: int, own: Own, to: Links) -> Sums:
        """Run the E-step of the HMM; jumps are counted in one pair of `every`."""
        counts = np.zeros((len(self._blocks), *jumps.shape), np.int64)

        def step(block: int, begin: int, end: int) -> None:
            hmm_step(
                begin, end, self.pairs, tables, jumps[0], jumps[1],
                own, to.agreement, self._source_nulls, self._target_nulls,
                to.forward, to.reverse, 0, self._likelihoods,
                self._first, every, counts[block, 0], counts[block, 1],
            )  # fmt: skip

        self._workers.map(step, self._blocks)
        return self._sums(counts.sum(axis=0))

    def own(self, links: U1 | None) -> Own:
        """Return what is taken out when the pairs are aligned next; nothing without `links`."""
        if links is None:
            return Own(NO_LEVELS, NO_LEVELS, NO_LEVELS)
        return Own(links, _levels(self._source_nulls), _levels(self._target_nulls))

    def _sums(self, jumps: I8) -> Sums:
        source, target = self.bitext.source, self.bitext.target
        nulls = np.zeros(len(source.words), np.int64), np.zeros(len(target.words), np.int64)
        add_nulls(source.ids, self._source_nulls, nulls[0])
        add_nulls(target.ids, self._target_nulls, nulls[1])
        return Sums(*nulls, jumps, units_of_likelihoods(self._likelihoods))


def _levels(posteriors: F4) -> U1:
    return np.asarray(posteriors * np.float32(LEVELS) + np.float32(0.5), np.uint8)
