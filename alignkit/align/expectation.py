"""The E-step over parts of a bitext on all cores, and the M-step of three inference methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from alignkit._support.array_types import B1, F4, F8, I4, I8, U1
from alignkit._support.parallel import available_cores
from alignkit.align import maximization_kernel as kernel
from alignkit.align.bitext import Bitext, parts_of
from alignkit.align.cooccurrence import Cooccurrence, Room
from alignkit.align.expectation_kernel import (
    LEVELS,
    JumpCounts,
    Jumps,
    Own,
    Pairs,
    PositionTables,
    StepOutput,
    Tables,
    hmm_step,
    lexical_step,
)
from alignkit.align.priors import Backing
from alignkit.align.priors_kernel import StemSums
from alignkit.align.settings import FEW, Settings
from alignkit.errors import OptionError

T = TypeVar("T")

NO_LEVELS = np.empty(0, np.uint8)
NO_POSTERIORS = np.empty(0, np.float32)


@dataclass(frozen=True, eq=False)
class Positions:
    """The position tables of IBM 2: a(i | j, N, M) and a(j | i, N, M) for all sizes that occur."""

    shapes: I8  # (H, 2) the distinct (N, M)
    shape_starts: I8  # (H + 1,) the table of shape h, N x M, begins there
    places: I8  # (P,) where the table of each pair of a bitext begins
    forward: F4  # (S,) the tables; forward adds up to 1 over i, reverse over j
    reverse: F4

    @classmethod
    def uniform(cls) -> Positions:
        """Return tables in which all positions are equally probable."""
        nothing = np.empty(0, np.float32)
        shapes = np.empty((0, 2), np.int64)
        return cls(shapes, np.zeros(1, np.int64), np.empty(0, np.int64), nothing, nothing)

    @property
    def tables(self) -> PositionTables:
        """The tables in the form that kernels take."""
        return PositionTables(self.places, self.forward, self.reverse)

    def of(self, bitext: Bitext) -> Positions:
        """Return the same tables with the places for the pairs of another bitext."""
        if not len(self.shapes):
            return self
        starts = self.shape_starts.tolist()
        known = dict(zip(map(tuple, self.shapes.tolist()), starts, strict=False))
        end = starts[-1]
        places: list[int] = []
        more: list[tuple[int, int]] = []
        sides = bitext.source.lengths.tolist(), bitext.target.lengths.tolist()
        for shape in zip(*sides, strict=True):
            if shape not in known:
                known[shape] = end
                more.append(shape)
                end += shape[0] * shape[1]
            places.append(known[shape])
        return Positions(
            self.shapes,
            self.shape_starts,
            np.array(places, np.int64),
            _with_uniform(self.forward, more, 0),
            _with_uniform(self.reverse, more, 1),
        )

    def updated(self, bitext: Bitext, expected: tuple[F4, F4], *, diagonal: bool) -> Positions:
        """Return the tables estimated from the expected links (C,) of both directions."""
        shapes = self.shapes
        starts = self.shape_starts
        places = self.places
        if not len(places):
            lengths = np.stack([bitext.source.lengths, bitext.target.lengths], axis=1)
            shapes, starts, places = blocks_of(lengths)
        tables = []
        for axis, posteriors in enumerate(expected):
            sums = np.zeros(starts[-1])
            kernel.add_positions(places, bitext.starts, posteriors, sums)
            blocks = zip(pairwise(starts), shapes, strict=True)
            counts = [sums[begin:end].reshape(shape) for (begin, end), shape in blocks]
            if diagonal:
                counts = _diagonal(counts, axis)
            shares = [_shares(table, axis).ravel() for table in counts]
            tables.append(np.concatenate([np.empty(0), *shares]).astype(np.float32))
        return Positions(shapes, starts, places, *tables)


def _with_uniform(tables: F4, shapes: Sequence[tuple[int, int]], axis: int) -> F4:
    """Return tables, and after them uniform ones of more shapes, which add up to 1 over an axis."""
    blocks: list[NDArray[Any]] = [tables]
    blocks += [np.full(shape[0] * shape[1], 1 / max(1, shape[axis])) for shape in shapes]
    return np.concatenate(blocks).astype(np.float32)


def blocks_of(sizes: I8) -> tuple[I8, I8, I8]:
    """Return the distinct sizes (N, M), the start of each block, and the start for each pair."""
    different, which = np.unique(sizes, axis=0, return_inverse=True)
    starts = np.append(0, np.cumsum(different.prod(1)))
    return different, starts, starts[which.reshape(-1)]


def _shares(table: F8, axis: int) -> F8:
    """Return a table over its sums along an axis; uniform where the sum is 0."""
    if not table.size:
        return table
    totals = table.sum(axis=axis, keepdims=True)
    known = np.where(totals > 0, totals, 1)
    return np.where(totals > 0, table / known, 1 / table.shape[axis])


def _diagonal(tables: list[F8], axis: int) -> list[F8]:
    """Return exp(-tension |i / N - j / M|); the tension is fitted to the expected distance.

    The greater the tension, the smaller the distance that it gives: bisection finds it.
    """
    distances = []
    goal = 0.0
    for table in tables:
        n, m = table.shape
        sources = np.arange(n)[:, None] / max(n, 1)
        far = np.abs(sources - np.arange(m) / max(m, 1))
        distances.append(far)
        goal += float((table * far).sum())
    low = 0.0
    high = 100.0
    for _ in range(30):
        tension = (low + high) / 2
        distance = 0.0
        for table, far in zip(tables, distances, strict=True):
            model = _shares(np.exp(-tension * far), axis)
            totals = table.sum(axis=axis, keepdims=True)
            distance += float((totals * model * far).sum())
        if distance > goal:
            low = tension
        else:
            high = tension
    return [np.exp(-tension * far) for far in distances]


class Workers:
    """Threads that run a function over the parts of a bitext; the kernels release the lock."""

    def __init__(self, threads: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise OptionError(f"{threads} threads; expected at least 1")
        self.threads = threads or available_cores()
        self._pool = None
        if self.threads > 1:
            self._pool = ThreadPoolExecutor(self.threads)

    @classmethod
    @contextmanager
    def opened(cls, threads: int | None = None) -> Iterator[Workers]:
        """Open workers as a context; on an error, tasks that have not started are dropped."""
        workers = cls(threads)
        try:
            yield workers
        finally:
            if workers._pool is not None:
                workers._pool.shutdown(cancel_futures=True)

    def map(self, job: Callable[[int, int, int], T], parts: Sequence[tuple[int, int]]) -> list[T]:
        """Return job(part number, first pair, last pair + 1) for all parts, in order."""
        return self._run(job, [(number, begin, end) for number, (begin, end) in enumerate(parts)])

    def each(self, job: Callable[[int], T], count: int) -> list[T]:
        """Return job(number) for all numbers from 0 to before `count`, in order."""
        return self._run(job, [(number,) for number in range(count)])

    def _run(self, job: Callable[..., T], calls: Sequence[tuple[int, ...]]) -> list[T]:
        """Return the results of all calls, each of them the arguments of the job, in order."""
        if self._pool is None:
            return [job(*call) for call in calls]
        submitted = [self._pool.submit(job, *call) for call in calls]
        return [future.result() for future in submitted]


def kinds_of(numbers: I4, kinds: int) -> I4:
    """Return the kind of each word by its number; the most frequent have a kind of their own."""
    # as a number without sign, -1, an unknown word, is the largest
    return np.minimum(numbers.view(np.uint32), np.uint32(kinds - 1)).view(np.int32)


def lexical_tables(tables: Tables, index: Cooccurrence) -> tuple[F4, F4]:
    """Return t(target word | source word) and t(source word | target word), each (K,) float32."""
    forward = tables.forward / tables.source_totals[index.source]
    return forward, tables.reverse / tables.target_totals[index.columns]


def pairs_of(bitext: Bitext, index: Cooccurrence) -> Pairs:
    """Return the arrays of a bitext in the form that kernels take."""
    source = bitext.source
    target = bitext.target
    return Pairs(source.ids, source.starts, target.ids, target.starts, bitext.starts, index.cells)


class Links(Protocol):
    """Output of an E-step: the agreement of both directions, or their posteriors."""

    agreement: U1
    forward: F4
    reverse: F4


class Sums(NamedTuple):
    """Sums over all parts, in units."""

    source_nulls: I8  # (Vs,) and (Vt,): links of each word to the empty word
    target_nulls: I8
    jumps: I8  # (2, kinds + 1, 2 * band + 2): jumps forward and reverse; zeros for IBM 1 and 2
    likelihoods: I8  # (2,): log-likelihoods forward and reverse

    @classmethod
    def over(cls, parts: list[Sums]) -> Sums:
        """Add up the sums of all parts."""
        *counts, likelihoods = zip(*parts, strict=True)
        sources, targets, jumps = map(kernel.add_up, counts)
        return cls(sources, targets, jumps, np.asarray(np.sum(likelihoods, axis=0)))


class BitextPart:
    """P sentence pairs, and the E-steps over them."""

    def __init__(self, text: Bitext, index: Cooccurrence, workers: Workers, first: int = 0) -> None:
        self.bitext = text
        self.pairs = pairs_of(text, index)
        self._workers = workers
        self._first = first
        self._blocks = parts_of(text.starts)
        self._source_nulls = np.zeros(len(text.source.ids), np.float32)
        self._target_nulls = np.zeros(len(text.target.ids), np.float32)
        self._likelihoods = np.zeros((len(text), 2))

    def lexical_step(
        self, tables: Tables, positions: Positions, shape: tuple[int, ...], own: Own, to: Links
    ) -> Sums:
        """Run the E-step of IBM 1 or 2; `shape` is the shape of the jump tables."""
        output = self._output(to)

        def step(_: int, begin: int, end: int) -> None:
            lexical_step(begin, end, self.pairs, tables, positions.tables, own, output)

        self._workers.map(step, self._blocks)
        return self._sums(np.zeros(shape, np.int64))

    def hmm_step(self, tables: Tables, jumps: F4, every: int, own: Own, to: Links) -> Sums:
        """Run the E-step of the HMM; jumps are counted in one pair of `every`."""
        counts = np.zeros((len(self._blocks), *jumps.shape), np.int64)
        output = self._output(to)

        def step(block: int, begin: int, end: int) -> None:
            own_counts = JumpCounts(counts[block, 0], counts[block, 1], self._first, every)
            both = Jumps(jumps[0], jumps[1])
            hmm_step(begin, end, self.pairs, tables, both, own, output, own_counts)

        self._workers.map(step, self._blocks)
        return self._sums(counts.sum(axis=0))

    def _output(self, to: Links) -> StepOutput:
        """Return where an E-step writes."""
        nulls = self._source_nulls, self._target_nulls
        return StepOutput(to.agreement, to.forward, to.reverse, 0, *nulls, self._likelihoods)

    def own(self, links: U1 | None) -> Own:
        """Return the pairs' own counts, to be subtracted; nothing without `links`."""
        if links is None:
            return Own(NO_LEVELS, NO_LEVELS, NO_LEVELS)
        return Own(links, _levels(self._source_nulls), _levels(self._target_nulls))

    def _sums(self, jumps: I8) -> Sums:
        """Return the sums of the last E-step, with these jumps."""
        source = self.bitext.source
        target = self.bitext.target
        source_nulls = np.zeros(len(source.words), np.int64)
        target_nulls = np.zeros(len(target.words), np.int64)
        kernel.add_nulls(source.ids, self._source_nulls, source_nulls)
        kernel.add_nulls(target.ids, self._target_nulls, target_nulls)
        units = np.rint(self._likelihoods * kernel.LIKELIHOOD_UNITS).astype(np.int64)
        return Sums(source_nulls, target_nulls, jumps, np.asarray(units.sum(axis=0)))


def _levels(posteriors: F4) -> U1:
    """Return posteriors in 255ths."""
    return np.asarray(posteriors * np.float32(LEVELS) + np.float32(0.5), np.uint8)


class Shard:
    """The weights of K word pairs, from their counts and the prior."""

    def __init__(self, index: Cooccurrence, prior: F4, backing: Backing | None, count: int) -> None:
        self.index = index
        self.prior = prior
        self._backing = backing
        self._targets = count
        self.forgotten: B1 | None = None

    def to_forget(self, counts: F4, floor: float) -> B1:
        """Return which word pairs (K,) have no links and no prior above the floor."""
        return np.asarray((counts == 0) & (self.prior == np.float32(floor)))

    def kept(self, counts: F4) -> F4:
        """Return counts (K,) without the forgotten word pairs."""
        if self.forgotten is not None:
            counts[self.forgotten] = 0
        return counts

    def stem_sums(self, counts: F4) -> StemSums | None:
        """Return the sums of counts (K,) by stem; those of target stems lack the other shards."""
        if self._backing is None:
            return None
        return self._backing.sums(counts)

    def weights(self, counts: F4, sums: StemSums | None) -> tuple[F4, I8, I8]:
        """Return weights (K,), and their sums by source and by target word, in units."""
        weights = counts + self.prior
        if self._backing is not None and sums is not None:
            self._backing.add(counts, sums, weights)
        if self.forgotten is not None:
            weights[self.forgotten] = self.prior[self.forgotten]
        return weights, *_totals_of(self.index, weights, self._targets)


def counts_of(sums: I8, units: float = LEVELS) -> F4:
    """Return expected links from their sums; `units` of a sum are 1 link."""
    counts = np.empty(len(sums), np.float32)
    np.divide(sums, units, out=counts, casting="same_kind")
    return counts


def _totals_of(index: Cooccurrence, weights: F4, targets: int) -> tuple[I8, I8]:
    """Return the sums of weights (K,) by source word and by target word, in units."""
    source = np.zeros(len(index.rows) - 1, np.int64)
    target = np.zeros(targets, np.int64)
    kernel.sum_totals(index.rows, index.columns, weights, source, target)
    return source, target


class Lexical:
    """The lexical tables of both directions as weights over totals; see `Tables`."""

    def __init__(self, index: Cooccurrence, targets: int) -> None:
        self.forward: F4 = np.ones(len(index.columns), np.float32)
        self.reverse: F4 = self.forward
        sources = len(index.rows) - 1
        self.set_totals(np.full(sources, float(targets)), np.full(targets, float(sources)))

    def set_totals(self, source: F8, target: F8) -> None:
        """Set the divisors of the weights from the totals."""
        self.source_totals = divisors(source)
        self.target_totals = divisors(target)


def divisors(totals: F8) -> F4:
    """Return the divisors of weights for these totals."""
    return np.maximum(totals, 1e-30).astype(np.float32)


class Collapsed:
    """The M-step of collapsed inference: the other pairs align each pair.

    Collapsed variational Bayes with the zero-order approximation (Asuncion, Welling, Smyth & Teh
    2009): a pair's links, 1 byte a cell, are taken out of the counts before it is aligned anew,
    so that rare words cannot vouch for themselves. Both directions share the counts.
    """

    def __init__(self, shard: Shard, cells: I4, settings: Settings, pairs: int, room: Room) -> None:
        self._shard = shard
        self._cells = cells
        self._pairs = pairs
        self._floor = settings.floor
        self._concentration = settings.concentration
        self.agreement: U1 = room.zeros(len(cells), np.uint8)
        self.own: U1 = NO_LEVELS
        self.forward = self.reverse = NO_POSTERIORS

    def expected(self) -> tuple[F4, F4]:
        """Return the expected links; both directions share them."""
        links: F4 = self.agreement.astype(np.float32) / np.float32(LEVELS)
        return links, links

    def update(self, tables: Lexical, *, forget: bool = False) -> None:
        """Set the tables from the expected links, the prior and the stems."""
        sums = np.zeros(len(self._shard.prior), np.int64)
        kernel.add_levels(self._cells, self.agreement, sums)
        counts = counts_of(sums)
        del sums
        if forget:
            self._shard.forgotten = self._shard.to_forget(counts, self._floor)
        self.take(self._shard.kept(counts), tables)
        if self._pairs >= FEW:
            self.own = self.agreement

    def take(self, counts: F4, tables: Lexical) -> None:
        """Set the tables from counts (K,)."""
        stem_sums = self._shard.stem_sums(counts)
        weights, source, target = self._shard.weights(counts, stem_sums)
        tables.forward = tables.reverse = weights
        tables.set_totals(
            source / kernel.UNITS + self._concentration,
            target / kernel.UNITS + self._concentration,
        )


class Soft:
    """The M-step with posteriors as counts (8 bytes per cell): EM or variational Bayes."""

    def __init__(
        self, index: Cooccurrence, prior: F4, room: Room, *, agree: bool, bayes: bool
    ) -> None:
        self._index = index
        self._prior = prior
        self._agree = agree
        self._bayes = bayes
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
        if self._agree:
            reverse = forward
        else:
            reverse = self._counts(expected[1])
        source = _totals_of(self._index, forward, targets)[0] / kernel.UNITS
        target = _totals_of(self._index, reverse, targets)[1] / kernel.UNITS
        if self._bayes:
            forward = _exp_digamma(forward)
            reverse = _exp_digamma(reverse)
            source = _exp_digamma(source)
            target = _exp_digamma(target)
        tables.forward = forward.astype(np.float32, copy=False)
        tables.reverse = reverse.astype(np.float32, copy=False)
        tables.set_totals(source, target)

    def _counts(self, posteriors: F4) -> F4:
        """Return the sums of posteriors (C,) by word pair, and the prior."""
        sums = np.zeros(len(self._index.columns))
        kernel.add_posteriors(self._index.cells, posteriors, sums)
        return (sums + self._prior).astype(np.float32)


def _exp_digamma(counts: NDArray[Any]) -> NDArray[Any]:
    """Return exp(digamma(count)): the weights of variational Bayes."""
    from scipy.special import digamma

    # in 64 bits: numpy's exp of 32 depends on the processor
    return np.asarray(np.exp(digamma(np.maximum(counts, 1e-3, dtype=np.float64))))
