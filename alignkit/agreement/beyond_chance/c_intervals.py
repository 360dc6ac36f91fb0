"""Resample sentence pairs: the interval of C, with the edit models as they are or fitted anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.beyond_chance.chance import Edits, SampledChance, flip_rates
from alignkit.agreement.beyond_chance.correction import (
    ChanceTerms,
    ObservedTerms,
    correction_ratios,
    rows,
)
from alignkit.agreement.beyond_chance.sampling import MonteCarlo, Sampling, terms_of
from alignkit.agreement.beyond_chance.sampling_kernel import MOMENTS, reweigh
from alignkit.parallel import executor
from alignkit.scoring.bootstrap import Interval, chunks, summarize

Floats = NDArray[np.float64]
Masks = Sequence[NDArray[np.bool_]]

_LEAST_EFFECTIVE = 0.1  # pairs whose effective share of the samples is smaller are drawn anew


def fixed_intervals(
    tables: Sequence[Floats],
    sections: Masks,
    *,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> list[list[Interval]]:
    """Return the intervals of C in each section, for each table; the edit models stay fixed."""
    results: list[list[Interval]] = [[] for _ in tables]
    for mask in sections:
        parts = [table[mask] for table in tables]
        size = int(mask.sum())
        drawn: list[list[Floats]] = [[] for _ in tables]
        for count in chunks(resamples, size) if size else ():
            weights = rng.multinomial(size, np.full(size, 1 / size), size=count).astype(np.float64)
            for values, part in zip(drawn, parts, strict=True):
                values.append(correction_ratios(weights @ part)["C"])
        for intervals, values in zip(results, drawn, strict=True):
            every = np.concatenate(values) if values else np.full(resamples, np.nan)
            intervals.append(summarize(every, confidence))
    return results


@dataclass(frozen=True, eq=False)
class Refit:
    """What is needed to fit the edit models anew to a resample of U used sentence pairs."""

    model: SampledChance  # the model of chance
    reading: str
    edits: tuple[Edits, Edits]  # what either annotator changed, in all pairs that were fitted
    places: NDArray[np.int64]  # (U,): the positions of the used pairs in the corpus
    corpus_size: int  # the number of pairs in the corpus
    observed: ObservedTerms  # the observed terms of the used pairs
    trials: NDArray[np.int64]  # (U, 4): the cells of the used pairs by stratum
    sampling: Sampling  # what was sampled of the used pairs
    sampled: MonteCarlo  # the samples, records included
    aggregate: str  # "macro" or "micro"

    def replicate(
        self, seed: np.random.SeedSequence, masks: NDArray[np.bool_]
    ) -> tuple[Floats, int]:
        """Draw one resample; return its (G, 4) sums of terms by section, and the pairs redrawn."""
        rng = np.random.default_rng(seed)
        weights = np.zeros(self.corpus_size)
        rest = np.ones(self.corpus_size, bool)
        rest[self.places] = False
        for stratum in (self.places, np.flatnonzero(rest)):
            if len(stratum):
                shares = np.full(len(stratum), 1 / len(stratum))
                weights[stratum] = rng.multinomial(len(stratum), shares)
        chance, redrawn = self._expect(self._rates(weights), weights[self.places] > 0, rng)
        terms = rows(self.observed, chance, self.aggregate)
        counted = weights[self.places] * ~np.isnan(terms).any(axis=1)
        return (masks * counted) @ np.nan_to_num(terms), redrawn

    def _rates(self, weights: Floats) -> Floats:
        words = self.sampling.items.lengths.sum(axis=1)
        models = [
            self.model.fit(edits, reading=self.reading, weights=weights[edits.places])
            for edits in self.edits
        ]
        sides = [self.model.rates(one, words, self.trials) for one in models]
        return flip_rates(sides[0], sides[1], bounded=self.sampling.universe is not None)

    def _expect(
        self, rates: Floats, wanted: NDArray[np.bool_], rng: np.random.Generator
    ) -> tuple[ChanceTerms, int]:
        """Reweigh the samples; draw anew where they say too little."""
        old, records = self.sampling.rates, self.sampled.records
        changed = rates != old
        # no sample of the old rates says anything about flips that never, or always, happened
        lost = (changed & ((old == 0) | (old == 1) | (rates == 1))).any(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            shifts = np.log(rates) - np.log1p(-rates) - (np.log(old) - np.log1p(-old))
        shifts[~changed] = 0.0
        means, effective = np.full((len(old), 3), np.nan), np.zeros(len(old))
        largest = self.sampling.normalizer == "max"
        reweigh(records, largest, shifts, wanted & ~lost, means, effective)
        low = np.flatnonzero(wanted & (effective < _LEAST_EFFECTIVE * self.sampled.samples))
        if len(low):
            fresh = replace(self.sampling, rates=rates)
            states = rng.integers(0, 2**64, (len(old), 4), np.uint64, endpoint=False)
            moments = np.zeros((len(old), len(MOMENTS)))
            none = np.zeros((0, 0, fresh.record), np.int32)
            for p in low.tolist():
                fresh.draw(states, p, p + 1, self.sampled.samples, moments, none)
            drawn = terms_of(moments[low])
            means[low] = np.stack([drawn.ratio, drawn.common, drawn.norm], axis=1)
        none_known = np.full(len(old), np.nan)
        return ChanceTerms(means[:, 0], means[:, 1], means[:, 2], *([none_known] * 4)), len(low)


def refitted_intervals(
    refit: Refit,
    sections: Masks,
    *,
    resamples: int,
    confidence: float,
    seeds: np.random.SeedSequence,
    workers: int | None = None,
) -> tuple[list[Interval], int]:
    """Return the interval of C in each section, with edit models fitted to each resample.

    The stored samples are reweighted by (p'/p)^k ((1-p')/(1-p))^(n-k), k the flips of a sample
    among the n cells of a rate, p the old and p' the new rate; pairs whose samples count for
    less than a tenth of their number are drawn anew.
    """
    masks = np.stack(list(sections))
    with executor(workers) as pool:
        done = list(pool.map(lambda seed: refit.replicate(seed, masks), seeds.spawn(resamples)))
    sums = np.stack([part for part, _ in done])
    intervals = [
        summarize(correction_ratios(sums[:, g])["C"], confidence) for g in range(len(sections))
    ]
    return intervals, sum(redrawn for _, redrawn in done)
