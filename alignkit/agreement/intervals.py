"""Statistics as measures of sums of rows, and their bootstrap intervals, all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import TYPE_CHECKING, Union

import numpy as np

from alignkit._support.array_types import B1, F8
from alignkit.agreement.options import Draws
from alignkit.agreement.pairs import PairData
from alignkit.stats.clusters import jackknife_interval
from alignkit.stats.resampling import ONE_PAIR, Interval, chunks, interval_of, only_values

if TYPE_CHECKING:
    from scipy.sparse import csr_array


_MOST_COUNTS = 1 << 22  # that are a dense array at one time

Measure = Callable[[F8], Mapping[str, F8]]
"""Turns (R, K) sums of rows into named measures, (R,) each; NaN if undefined."""


@dataclass(frozen=True)
class Rows:
    """The counts of P sentence pairs, and the measures of sums of them."""

    counts: F8 | csr_array[np.float64]
    measure: Measure  # from (R, K) sums to the measures

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def sums(self, weights: F8) -> F8:
        """Return the (R, K) sums of rows, weighted by (R, P) weights."""
        if isinstance(self.counts, np.ndarray):
            dense: F8 = weights @ self.counts
            return dense
        # left column by column, as those who take sums of sparse counts want them
        return np.asarray(self.counts.T @ weights.T, np.float64).T

    def part(self, mask: B1) -> Rows:
        """Return the rows of the pairs of a (P,) mask."""
        return replace(self, counts=self.counts[mask])

    def without_each(self) -> dict[str, F8]:
        """Return the measures without one of the pairs, (P,) each, in the order of the pairs."""
        total = self.total()
        parts = [self.measure(total - counts) for counts in self.dense()]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def dense(self) -> Iterator[F8]:
        """Yield the counts of some pairs at a time, as dense arrays."""
        step = max(1, _MOST_COUNTS // self.counts.shape[1])
        for start in range(0, len(self), step):
            counts = self.counts[start : start + step]
            yield counts if isinstance(counts, np.ndarray) else counts.toarray()

    def total(self) -> F8:
        """Return the (1, K) sum of all rows."""
        return self.sums(np.ones((1, len(self))))

    def figures(self) -> dict[str, float]:
        """Return the measures of all pairs together."""
        return only_values(self.measure(self.total()))


@dataclass(frozen=True)
class Statistic:
    """A statistic of agreement; each module of a coefficient exports some."""

    level: str  # what it is taken of, "words.sure" and so on; a figure is named level.measure
    measures: tuple[str, ...]  # the names of what is measured
    rows: Callable[[PairData], Rows]  # from the pairs that are compared to the counts of each
    sizes: tuple[int, ...] = ()  # of measures from 0 to 1: the columns whose sum is a pair's size


def weighted_mean(pairs: Sequence[tuple[int, float]]) -> float:
    """Return the weighted mean of (weight, value), without undefined values."""
    weights = 0
    total = 0.0
    for weight, value in pairs:
        if not isnan(value):
            weights += weight
            total += weight * value
    return total / weights if weights else nan


NO_PAIRS = "there is no sentence pair"
INTERVALS = "P, R and F1: jackknife; others: bootstrap"
"""How intervals are computed, for legends."""

ONE_COUNTS = "without one of the sentence pairs it is undefined"

Bounds = Union[Interval, str]
"""An interval, or the reason why there is none."""
Intervals = Mapping[str, Bounds]
"""Bounds by ``level.measure``."""


def bootstrap(
    statistics: Sequence[Statistic],
    rows: Sequence[Rows],
    sections: Sequence[B1],
    options: Draws,
) -> list[Intervals]:
    """Return intervals of statistics over the same P sentence pairs.

    They are percentiles of the bootstrap; for statistics with `sizes`, see `jackknife_interval`.
    """
    confidence = options.confidence
    names = [f"{part.level}.{measure}" for part in statistics for measure in part.measures]
    seeds = np.random.SeedSequence(options.seed).spawn(len(sections))
    intervals: list[Intervals] = []
    for mask, stream in zip(sections, seeds, strict=True):
        count = int(mask.sum())
        if count < 2:
            intervals.append(dict.fromkeys(names, ONE_PAIR if count else NO_PAIRS))
            continue
        parts = [(part, of_all.part(mask)) for part, of_all in zip(statistics, rows, strict=True)]
        values: dict[str, list[F8]] = {name: [] for name in names}
        width = max(part.counts.shape[1] for _, part in parts)
        for weights in draw_weights(count, options.resamples, stream, width=width):
            for statistic, part in parts:
                for measure, drawn in part.measure(part.sums(weights)).items():
                    values[f"{statistic.level}.{measure}"].append(drawn)
        bounds: dict[str, Bounds] = {}
        for name, drawn_values in values.items():
            bounds[name] = reasoned(np.concatenate(drawn_values), confidence)
        for statistic, part in parts:
            if statistic.sizes:
                bounds |= _by_jackknife(statistic, part, bounds, confidence)
        intervals.append(bounds)
    return intervals


def _by_jackknife(
    statistic: Statistic, rows: Rows, percentiles: Intervals, confidence: float
) -> dict[str, Bounds]:
    """Return the intervals of ratios of counts by the jackknife, if there are any by bootstrap.

    Percentiles of ratios are too narrow if few pairs have most of the links or of the differences.
    """
    counts = np.asarray(rows.counts, np.float64)
    sizes = counts[:, list(statistic.sizes)].sum(axis=1)
    without = rows.without_each()
    bounded: dict[str, Bounds] = {}
    for measure, value in rows.figures().items():
        name = f"{statistic.level}.{measure}"
        interval = percentiles[name]
        if isinstance(interval, Interval):
            low, high = jackknife_interval(value, without[measure], sizes, confidence)
            if isnan(low):
                bounded[name] = ONE_COUNTS
            else:
                bounded[name] = replace(interval, low=low, high=high)
    return bounded


def draw_weights(
    count: int,
    resamples: int,
    seeds: np.random.SeedSequence | np.random.Generator,
    *,
    width: int = 1,
) -> Iterator[F8]:
    """Yield chunks (c, count) of how often each pair is drawn."""
    rng = np.random.default_rng(seeds)
    shares = np.full(count, 1 / count)
    for size in chunks(resamples, 2 * count + 4 * width):
        yield rng.multinomial(count, shares, size=size).astype(np.float64)


def reasoned(values: F8, confidence: float) -> Bounds:
    """Return the interval of the values in resamples, or the reason why there is none."""
    interval = interval_of(values, confidence)
    return interval.reason or interval
