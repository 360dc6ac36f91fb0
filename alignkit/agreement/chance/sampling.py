"""Sample chance on all cores, in rounds; results do not depend on the number of workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, nan

import numpy as np

from alignkit._support.array_types import B1, F8, I4, I8, U8
from alignkit._support.jit import readonly
from alignkit._support.parallel import executor
from alignkit.agreement.chance.correction import ChanceTerms
from alignkit.agreement.chance.items_kernel import LINK_ITEMS, PHRASE_ITEMS, identical_choices
from alignkit.agreement.chance.sampling_kernel import (
    MOMENTS,
    ItemChoice,
    SampleDraws,
    SampleSums,
    run,
)
from alignkit.agreement.overlaps import columns
from alignkit.model.arrays import LinkArrays, TokenArrays
from alignkit.model.phrase_arrays import pair_links, pair_words
from alignkit.scoring.counts import LINK_COLUMNS, PHRASE_COLUMNS, count_links, count_phrases
from alignkit.stats.resampling import ratio

Progress = Callable[[int, int], None]  # what is told how much is done, and of how much

_FIRST_ROUND = 100  # samples of each pair, after which the error is first looked at
_BLOCKS = 64  # blocks of pairs to divide among the cores: more, if they would have more pairs
_MOST_PAIRS = 256  # pairs of a block
_FEW = 20_000  # fewer samples of all pairs are drawn before a thread has begun

UNITS: Mapping[str, int] = {"phrases": PHRASE_ITEMS, "links": LINK_ITEMS}
"""The items that agreement is measured on: atomic phrase pairs or links."""


@dataclass(frozen=True)
class Items:
    """The words of P sentence pairs, and the items to compare in them."""

    unit: str  # one of UNITS
    include_identical: bool  # whether items of equal words take part
    source: TokenArrays
    target: TokenArrays

    @property
    def lengths(self) -> I8:
        """(P, 2): N and M."""
        return np.stack([np.diff(self.source.offsets), np.diff(self.target.offsets)], axis=1)

    def sizes(self, first: LinkArrays, second: LinkArrays) -> F8:
        """Return the (P, 3) sizes of the two sets of items and of their intersection."""
        if self.unit == "links":
            if not self.include_identical:
                first = first.without_identical(self.source, self.target)
                second = second.without_identical(self.source, self.target)
            names = ("hyp_possible", "ref_possible", "possible_in_possible")
            return columns(count_links(first, second), LINK_COLUMNS, names)
        counts = count_phrases(
            first,
            second,
            links="possible",
            ignore_identical=not self.include_identical,
            source=self.source,
            target=self.target,
        )
        return columns(counts, PHRASE_COLUMNS, ("hyp_atomic", "ref_atomic", "atomic_in_atomic"))

    def choices(self) -> F8:
        """Return the (P,) numbers of possible items (K of Kupper & Hafner)."""
        n, m = self.lengths.astype(np.float64).T
        every: F8
        if self.unit == "links":
            every = n * m
        else:
            every = n * (n + 1) * m * (m + 1) / 4
        if not self.include_identical:
            every -= identical_choices(pair_words(self.source, self.target), UNITS[self.unit])
        return every

    def part(self, kept: I8) -> Items:
        """Return the items of some of the pairs."""
        source = self.source.take(kept)
        target = self.target.take(kept)
        return Items(self.unit, self.include_identical, source, target)


@dataclass(frozen=True)
class Sampling:
    """The input of sampling: P sentence pairs, their initial alignments and flip rates."""

    initial: LinkArrays  # the initial alignments
    items: Items  # the words, and what is compared
    rates: F8  # (P, 4 or 8), see `flip_rates`
    normalizer: str  # "min" or "max"
    universe: LinkArrays | None = None  # the cells that can flip; None for all

    def __len__(self) -> int:
        return len(self.initial)

    def part(self, inside: B1) -> Sampling:
        """Return the same for the pairs of a (P,) mask."""
        kept = np.flatnonzero(inside)
        universe = self.universe
        if universe is not None:
            universe = universe.take(kept)
        items = self.items.part(kept)
        rates = self.rates[kept]
        return Sampling(self.initial.take(kept), items, rates, self.normalizer, universe)

    def draw(
        self,
        states: U8,
        begin: int,
        stop: int,
        samples: int,
        moments: F8,
        records: I4,
    ) -> F8:
        """Run the kernel for the pairs from `begin` to before `stop`; return the (S, 4) totals."""
        totals = np.zeros((samples, 4))
        cells = self.initial if self.universe is None else self.universe
        items = self.items
        compared = ItemChoice(
            UNITS[items.unit], not items.include_identical, self.normalizer == "max"
        )
        run(
            pair_links(self.initial),
            readonly(items.lengths.astype(np.int32)),
            pair_words(items.source, items.target),
            compared,
            readonly(self.rates),
            self.universe is not None,
            pair_links(cells),
            SampleDraws(states, begin, stop, samples),
            SampleSums(moments, totals, records),
        )
        return totals

    @property
    def record(self) -> int:
        """The number of columns of a kept sample: `sampling_kernel.RECORD`."""
        return 3 + int(self.rates.shape[1])


@dataclass(frozen=True)
class MonteCarlo:
    """The sums over the samples of P sentence pairs."""

    samples: int  # S, how many samples each pair has
    moments: F8  # (P, 9): the sums MOMENTS
    totals: F8  # (S, 4): the sums over the pairs of each sample
    records: I4  # (P, S, 7 or 11): the samples themselves, or none

    def distribution(self, aggregate: str) -> F8:
        """Return the (S,) agreements of the whole corpus by sample; NaN if undefined."""
        ratios, filled, common, norm = self.totals.T
        if aggregate == "micro":
            return ratio(common, norm)
        return ratio(ratios, filled)


def terms_of(moments: F8) -> ChanceTerms:
    """Return the means of samples from their (P, 9) sums, with the variances of these means."""
    # in the order of MOMENTS: x is common, y the norm, and r = x / y in the samples that are filled
    n, filled, sum_r, sum_rr, sum_x, sum_y, sum_xx, sum_xy, sum_yy = moments.T
    mean = ratio(sum_r, filled)
    spread = np.full(len(n), 0.25)  # one sample alone: the greatest variance of a ratio
    many = filled > 1
    squares = sum_rr[many] - filled[many] * mean[many] ** 2
    spread[many] = np.maximum(squares, 0) / (filled[many] - 1)

    def covariance(products: F8, first: F8, second: F8) -> F8:
        """Return the covariance of two means, from the sums of the products and of both."""
        return ratio(products - first * second / n, n * (n - 1))

    return ChanceTerms(
        ratio=mean,
        common=ratio(sum_x, n),
        norm=ratio(sum_y, n),
        ratio_variance=ratio(spread, filled),
        common_variance=covariance(sum_xx, sum_x, sum_x),
        norm_variance=covariance(sum_yy, sum_y, sum_y),
        covariance=covariance(sum_xy, sum_x, sum_y),
    )


def monte_carlo(
    sampling: Sampling,
    *,
    samples: int,
    seeds: np.random.SeedSequence,
    tolerance: float | None = None,
    error: Callable[[ChanceTerms], float] = lambda terms: nan,
    workers: int | None = None,
    progress: Progress | None = None,
    keep: bool = False,
) -> MonteCarlo:
    """Sample until the error is small enough, or all samples are drawn.

    Each round draws samples of all pairs, in blocks of pairs, which add to the same `moments`. A
    pair has a random state of its own, so results do not depend on blocks and workers.
    """
    count = len(sampling)
    states = np.array([seed.generate_state(4, np.uint64) for seed in seeds.spawn(count)], np.uint64)
    states = states.reshape(count, 4)
    moments = np.zeros((count, len(MOMENTS)))
    size = min(max(1, ceil(count / _BLOCKS)), _MOST_PAIRS)
    blocks = [(begin, min(begin + size, count)) for begin in range(0, count, size)]
    totals = []
    records = []
    done = 0  # samples of each pair
    drawn = 0  # samples of all pairs
    with executor(workers, at_once=samples * count < _FEW) as pool:
        while done < samples:
            more = _next_round(done, samples, tolerance, lambda: error(terms_of(moments)))
            if not more:
                break
            shape = (count, more) if keep else (0, 0)
            kept = np.zeros((*shape, sampling.record), np.int32)
            sums = np.zeros((more, 4))
            futures = [
                pool.submit(sampling.draw, states, begin, stop, more, moments, kept)
                for begin, stop in blocks
            ]
            try:
                for (begin, stop), future in zip(blocks, futures, strict=True):
                    sums += future.result()
                    drawn += (stop - begin) * more
                    if progress is not None:
                        progress(drawn, samples * count)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
            totals.append(sums)
            records.append(kept)
            done += more
    return MonteCarlo(done, moments, np.concatenate(totals), np.concatenate(records, axis=1))


def _next_round(
    done: int, samples: int, tolerance: float | None, error: Callable[[], float]
) -> int:
    """Return how many samples to draw next; 0 when the error is small enough."""
    if tolerance is None:
        return samples
    if not done:
        return min(samples, _FIRST_ROUND)
    now = error()
    if now <= tolerance:
        return 0
    if np.isnan(now):  # not known yet: as many again
        return min(done, samples - done)
    # the error falls with the root of the samples
    if now < 1e3 * tolerance:
        needed = ceil(done * (now / tolerance) ** 2) - done
    else:
        needed = samples
    # the error is an estimate: a round has at least a tenth, and at most four times what is drawn
    return min(max(needed, done // 10, 1), 4 * done, samples - done)
