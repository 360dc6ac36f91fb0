"""Intervals of C whose edit models are fitted anew to each resample of the sentence pairs.

A resample changes how often each pair counts, therefore the edit models, the rates at which cells
flip, and what chance expects. To draw samples with the rates of each resample would take long.
Instead the samples drawn with the first rates are reweighted (importance sampling): if a cell flips
at rate p, and now at p', a sample in which k of n such cells flipped is now
(p'/p)^k ((1 - p')/(1 - p))^(n - k) times as probable. The part of this weight that is the same in
all samples of a pair cancels; what is left is exp(k (logit p' - logit p)). If few samples have
almost all of the weight, the pair is sampled anew.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit._support.array_types import B1, F8, I8
from alignkit._support.parallel import executor
from alignkit.agreement.chance import correction, sampling
from alignkit.agreement.chance.expectation import (
    Expectation,
    Masks,
    PairedSets,
    Sampled,
    flip_rates,
)
from alignkit.agreement.chance.models import ChanceModel, SampledChance
from alignkit.agreement.chance.sampling_kernel import MOMENTS, reweigh
from alignkit.agreement.options import AgreementOptions
from alignkit.stats.resampling import Interval, summarize

_LEAST_EFFECTIVE = 0.1  # pairs whose effective share of the samples is smaller are sampled anew


def refitted_intervals(
    sets: PairedSets,
    model: ChanceModel,
    options: AgreementOptions,
    expected: Expectation,
    sections: Masks,
    seeds: np.random.SeedSequence,
) -> tuple[list[Interval], int] | None:
    """Return the interval of C in each section, and how many pairs were sampled anew.

    None if there is nothing to refit: the model has a closed form, or no pair is used.
    """
    used = np.flatnonzero(expected.used)
    if not isinstance(model, SampledChance) or expected.sampled is None or not len(used):
        return None
    observed = sets.observed(options.normalizer).part(used)
    resampling = _Resampling(model, sets, options, used, observed, expected.sampled.part(used))
    masks = np.stack([mask[used] for mask in sections])
    with executor(options.workers) as pool:
        streams = seeds.spawn(options.resamples)
        replicates = list(pool.map(lambda seed: resampling.replicate(seed, masks), streams))
    sums = np.stack([of_sections for of_sections, _ in replicates])
    intervals = []
    for of_section in sums.swapaxes(0, 1):
        values = correction.correction_ratios(of_section)["C"]
        intervals.append(summarize(values, options.confidence))
    return intervals, sum(redrawn for _, redrawn in replicates)


class _Resampling(NamedTuple):
    """What all resamples of U used sentence pairs begin with."""

    model: SampledChance
    sets: PairedSets
    options: AgreementOptions
    used: I8  # (U,): which of the compared pairs are used
    observed: correction.ObservedTerms  # the overlap in these
    sampled: Sampled  # the samples of these, records included

    def replicate(self, seed: np.random.SeedSequence, masks: B1) -> tuple[F8, int]:
        """Draw a resample; return its (G, 4) sums of terms by section, and the redrawn pairs."""
        rng = np.random.default_rng(seed)
        weights = self._weights(rng)
        of_used = weights[self.sets.places[self.used]]
        chance, redrawn = self._expect(self._rates(weights), of_used > 0, rng)
        terms = correction.rows(self.observed, chance, self.options.aggregate)
        counted = of_used * ~np.isnan(terms).any(axis=1)
        return (masks * counted) @ np.nan_to_num(terms), redrawn

    def _weights(self, rng: np.random.Generator) -> F8:
        """Return how often each pair of the corpus is in a resample.

        Used pairs and all others are resampled apart, so that as many pairs are used as before.
        """
        places = self.sets.places[self.used]
        size = self.sets.corpus_size
        weights = np.zeros(size)
        for stratum in (places, np.setdiff1d(np.arange(size), places)):
            if len(stratum):
                shares = np.full(len(stratum), 1 / len(stratum))
                weights[stratum] = rng.multinomial(len(stratum), shares)
        return weights

    def _rates(self, weights: F8) -> F8:
        """Return the rates (U, 4 or 8) at which cells flip by the models fitted to a resample."""
        fitted = []
        for edits in self.sets.edits:
            counts = weights[edits.places]
            fitted.append(self.model.fit(edits, reading=self.options.reading, weights=counts))
        inputs = self.sampled.inputs
        trials = self.sets.trials[self.used]
        return flip_rates(self.model, fitted, inputs.items, trials, inputs.universe)

    def _expect(
        self, rates: F8, wanted: B1, rng: np.random.Generator
    ) -> tuple[correction.ChanceTerms, int]:
        """Return what chance expects by new rates in the wanted pairs (NaN in the others).

        The second result is how many of these pairs were sampled anew.
        """
        drawn = self.sampled.drawn
        shifts, lost = _shifts(self.sampled.inputs.rates, rates)
        means = np.full((len(rates), 3), np.nan)  # of ratio, common and norm
        effective = np.zeros(len(rates))
        largest = self.options.normalizer == "max"
        reweigh(drawn.records, largest, shifts, wanted & ~lost, means, effective)
        few = np.flatnonzero(wanted & (effective < _LEAST_EFFECTIVE * drawn.samples))
        if len(few):
            means[few] = self._sample(rates, few, rng)
        ratio, common, norm = means.T
        unknown = np.full(len(rates), np.nan)
        chance = correction.ChanceTerms(
            ratio=ratio,
            common=common,
            norm=norm,
            ratio_variance=unknown,
            common_variance=unknown,
            norm_variance=unknown,
            covariance=unknown,
        )
        return chance, len(few)

    def _sample(self, rates: F8, places: NDArray[np.intp], rng: np.random.Generator) -> F8:
        """Sample some of the U pairs by new rates; return their means of ratio, common and norm."""
        inputs = replace(self.sampled.inputs, rates=rates)
        states = rng.integers(0, 2**64, (len(rates), 4), np.uint64, endpoint=False)
        moments = np.zeros((len(rates), len(MOMENTS)))
        no_records = np.zeros((0, 0, inputs.record), np.int32)
        for p in places.tolist():
            inputs.draw(states, p, p + 1, self.sampled.drawn.samples, moments, no_records)
        terms = sampling.terms_of(moments[places])
        return np.stack([terms.ratio, terms.common, terms.norm], axis=1)


def _shifts(old: F8, new: F8) -> tuple[F8, B1]:
    """Return by how much a flip adds to the log weight of a sample, and where samples are no use.

    The shift is logit(new rate) - logit(old rate). No sample of an old rate of 0 or 1 says what
    happens if flips sometimes happen, and sometimes not; a new rate of 1 would give each flip an
    infinite weight. A new rate of 0 needs no exception: its shift is -inf, so that samples with
    such a flip weigh nothing, and the others stay.
    """
    changed = old != new
    lost = (changed & ((old == 0) | (old == 1) | (new == 1))).any(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        new_logits = np.log(new) - np.log1p(-new)
        old_logits = np.log(old) - np.log1p(-old)
        shifts = new_logits - old_logits
    shifts[~changed] = 0.0
    return shifts, lost
