"""The E-step over parts of a bitext, on all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from alignkit._support.parallel import available_cores
from alignkit.align.bitext import Bitext
from alignkit.align.cooccurrence import Cooccurrence
from alignkit.align.expectation_kernel import LEVELS, Own, Pairs, Tables, hmm_step, lexical_step
from alignkit.align.maximization_kernel import add_nulls, add_up, units_of_likelihoods
from alignkit.align.positions import Positions
from alignkit.errors import OptionError

T = TypeVar("T")

F4 = NDArray[np.float32]

PARTS = 64
"""Parts of a bitext: fixed, so that sums over parts are the same for any number of threads."""


class Workers:
    """Run a function over the parts of a bitext, in threads: the kernels release the lock."""

    def __init__(self, threads: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise OptionError(f"{threads} threads: give at least 1")
        self.threads = threads or available_cores()
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    @classmethod
    @contextmanager
    def opened(cls, threads: int | None = None) -> Iterator[Workers]:
        """Give workers for a while; what has not begun is dropped when an error ends it."""
        workers = cls(threads)
        try:
            yield workers
        finally:
            if workers._pool is not None:
                workers._pool.shutdown(cancel_futures=True)

    def map(
        self, function: Callable[[int, int, int], T], parts: Sequence[tuple[int, int]]
    ) -> list[T]:
        """Return function(number of the part, first pair, last pair + 1) of all parts, in order."""
        calls = [(number, begin, end) for number, (begin, end) in enumerate(parts)]
        if self._pool is None:
            return [function(*call) for call in calls]
        return [done.result() for done in [self._pool.submit(function, *call) for call in calls]]


def kinds_of(numbers: NDArray[np.int32], kinds: int) -> NDArray[np.int32]:
    """Return the kind of each word by its number: the most frequent are each their own."""
    return np.where(numbers < 0, kinds - 1, np.minimum(numbers, kinds - 1)).astype(np.int32)


def parts_of(starts: NDArray[np.int64], number: int = PARTS) -> list[tuple[int, int]]:
    """Divide P pairs into at most `number` parts of about as many cells, as (begin, end)."""
    if len(starts) == 2:
        return [(0, 1)]
    goals = np.linspace(0, starts[-1], number + 1)[1:-1]
    bounds = np.unique(np.concatenate([[0], np.searchsorted(starts, goals), [len(starts) - 1]]))
    return list(pairwise(bounds.tolist()))


def lexical_tables(tables: Tables, index: Cooccurrence) -> tuple[F4, F4]:
    """Return t(target word | source word) and t(source word | target word), each (K,) float32."""
    return (
        tables.forward / tables.source_totals[index.source],
        tables.reverse / tables.target_totals[index.columns],
    )


def pairs_of(bitext: Bitext, index: Cooccurrence) -> Pairs:
    """Return the arrays of a bitext as the kernels take them."""
    source, target = bitext.source, bitext.target
    return Pairs(source.ids, source.starts, target.ids, target.starts, bitext.starts, index.cells)


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


class BitextPart:
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
