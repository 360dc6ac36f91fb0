"""Compute what a model of chance expects for the sets of two annotators, and intervals of C.

`expect` computes how much the two would share by chance in each sentence pair.
`refitted_intervals` resamples pairs and fits the edit models to each resample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from alignkit._support.parallel import executor
from alignkit.agreement.chance import correction, sampling
from alignkit.agreement.chance.correction import BOTH_EMPTY, ONLY_EMPTY
from alignkit.agreement.chance.models import ChanceModel, Edits, Models, SampledChance, count_edits
from alignkit.agreement.chance.sampling_kernel import MOMENTS, reweigh
from alignkit.agreement.options import AgreementOptions
from alignkit.model.arrays import LinkArrays
from alignkit.stats.resampling import Interval, summarize

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]
Masks = Sequence[NDArray[np.bool_]]

_LEAST_EFFECTIVE = 0.1  # pairs whose effective share of the samples is smaller are drawn anew


@dataclass(frozen=True, eq=False)
class PairedSets:
    """The items of two annotators in P sentence pairs, at one level."""

    annotators: tuple[str, str]
    places: Numbers  # (P,): the positions of the pairs in the corpus
    ids: tuple[str, ...]  # the names of the pairs
    corpus_size: int  # the number of pairs in the corpus
    items: sampling.Items  # the words of the P pairs, and what is compared in them
    sizes: Floats  # (P, 3): the sizes of A, of B and of A & B
    initial: LinkArrays  # the initial alignments of the P pairs, of the links that are compared
    edits: tuple[Edits, ...]  # what either changed; none for closed forms of chance
    universe: LinkArrays | None = None  # the cells that can flip; None for all

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def trials(self) -> Numbers:
        """(P, 4): the cells of each stratum."""
        items = self.items
        edits = count_edits(
            self.places, self.initial, self.initial, items.source, items.target, self.universe
        )
        return edits.trials

    def observed(self, normalizer: str) -> correction.ObservedTerms:
        """Return the observed overlap."""
        first, second, common = self.sizes.T
        return correction.ObservedTerms.of(first, second, common, normalizer)


@dataclass(frozen=True, eq=False)
class Sampled:
    """The samples of K sentence pairs: the compared pairs whose sets are not empty."""

    kept: Numbers  # (K,): which of the compared pairs they are
    models: tuple[Models, Models]  # the edit models fitted to either annotator
    inputs: sampling.Sampling  # what was sampled
    drawn: sampling.MonteCarlo  # the samples

    def part(self, used: Numbers) -> Sampled:
        """Return the samples of some of the compared pairs."""
        inside = np.isin(self.kept, used)
        moments = self.drawn.moments[inside]
        records = self.drawn.records[inside]
        drawn = replace(self.drawn, moments=moments, records=records)
        return Sampled(self.kept[inside], self.models, self.inputs.part(inside), drawn)


@dataclass(frozen=True, eq=False)
class Expectation:
    """The expectation by chance for P compared sentence pairs."""

    terms: correction.ChanceTerms  # what is expected; NaN where nothing was sampled
    reasons: NDArray[np.object_]  # (P,) texts: why a pair is left out; empty where it is used
    sampled: Sampled | None  # the samples; None where chance has a closed form

    @property
    def used(self) -> NDArray[np.bool_]:
        """The pairs that are used, a (P,) mask."""
        return np.array([not reason for reason in self.reasons], bool)

    def without_records(self) -> Expectation:
        """Return this without the samples, which take much memory."""
        if self.sampled is None:
            return self
        drawn = replace(self.sampled.drawn, records=self.sampled.drawn.records[:0])
        return replace(self, sampled=replace(self.sampled, drawn=drawn))


def expect(
    sets: PairedSets,
    model: ChanceModel,
    options: AgreementOptions,
    seeds: np.random.SeedSequence,
    progress: sampling.Progress | None = None,
) -> Expectation:
    """Compute the expectation by chance, by the closed form or by sampling."""
    observed = sets.observed(options.normalizer)
    empty = np.isnan(observed.ratio)
    reasons = np.where(empty, BOTH_EMPTY, "").astype(object)
    if not isinstance(model, SampledChance):
        room = sets.items.choices()
        terms = model.expect(observed.first, observed.second, room, options.normalizer)
        return Expectation(terms, reasons, None)
    kept = np.flatnonzero(~empty)
    first, second = (model.fit(edits, reading=options.reading) for edits in sets.edits)
    universe = sets.universe
    if universe is not None:
        universe = universe.take(kept)
    items = sets.items.part(kept)
    initial = sets.initial.take(kept)
    rates = _rates(model, (first, second), items, sets.trials[kept], universe)
    inputs = sampling.Sampling(initial, items, rates, options.normalizer, universe)
    observed_kept = observed.part(kept)

    def error(terms: correction.ChanceTerms) -> float:
        """Return the Monte-Carlo error of C."""
        used = ~np.isnan(terms.ratio)
        table = correction.rows(observed_kept, terms, options.aggregate)
        variances = correction.noise(terms, options.aggregate)
        return correction.correct(table[used], variances[used]).C_error

    drawn = sampling.monte_carlo(
        inputs,
        samples=options.samples,
        seeds=seeds,
        tolerance=options.tolerance,
        error=error,
        workers=options.workers,
        progress=progress,
        keep=options.bootstrap == "refit",
    )
    terms = drawn.terms()
    reasons[kept[np.isnan(terms.ratio)]] = ONLY_EMPTY
    sampled = Sampled(kept, (first, second), inputs, drawn)
    return Expectation(terms.placed(kept, len(sets)), reasons, sampled)


def _rates(
    model: SampledChance,
    fitted: Sequence[Models],
    items: sampling.Items,
    trials: Numbers,
    universe: LinkArrays | None,
) -> Floats:
    """Return the rates at which cells flip for each annotator, as `Sampling` takes them."""
    words = items.lengths.sum(axis=1)
    sides = [model.rates(models, words, trials) for models in fitted]
    if universe is not None and sides[0].shape[1] == 2:
        sides = [np.concatenate([side, side], axis=1) for side in sides]
    return np.concatenate(sides, axis=1)


# intervals of C, with edit models that are fitted to each resample
@dataclass(frozen=True, eq=False)
class Refit:
    """Resamples of U used sentence pairs, with the edit models fitted to each of them."""

    model: SampledChance
    sets: PairedSets
    options: AgreementOptions
    used: Numbers  # (U,): which of the compared pairs are used
    sampled: Sampled  # the samples of these, records included

    def replicate(
        self, seed: np.random.SeedSequence, masks: NDArray[np.bool_]
    ) -> tuple[Floats, int]:
        """Draw one resample; return its (G, 4) sums of terms by section, and the redrawn pairs."""
        rng = np.random.default_rng(seed)
        places = self.sets.places[self.used]
        size = self.sets.corpus_size
        weights = np.zeros(size)
        others = np.setdiff1d(np.arange(size), places)
        for stratum in (places, others):
            if len(stratum):
                shares = np.full(len(stratum), 1 / len(stratum))
                weights[stratum] = rng.multinomial(len(stratum), shares)
        fitted = []
        for edits in self.sets.edits:
            own = weights[edits.places]
            fitted.append(self.model.fit(edits, reading=self.options.reading, weights=own))
        inputs = self.sampled.inputs
        trials = self.sets.trials[self.used]
        rates = _rates(self.model, fitted, inputs.items, trials, inputs.universe)
        chance, redrawn = self._expect(rates, weights[places] > 0, rng)
        observed = self.sets.observed(self.options.normalizer).part(self.used)
        terms = correction.rows(observed, chance, self.options.aggregate)
        counted = weights[places] * ~np.isnan(terms).any(axis=1)
        return (masks * counted) @ np.nan_to_num(terms), redrawn

    def _expect(
        self, rates: Floats, wanted: NDArray[np.bool_], rng: np.random.Generator
    ) -> tuple[correction.ChanceTerms, int]:
        """Reweigh the samples; draw new ones for pairs with too few effective samples."""
        old = self.sampled.inputs.rates
        drawn = self.sampled.drawn
        changed = rates != old
        # no sample of the old rates says anything about flips that never, or always, happened; a
        # new rate of 1 would give every flip infinite weight. A new rate of 0 needs no exception:
        # its shift is -inf, so that samples with such a flip weigh nothing and the others stay
        lost = (changed & ((old == 0) | (old == 1) | (rates == 1))).any(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            new_logits = np.log(rates) - np.log1p(-rates)
            old_logits = np.log(old) - np.log1p(-old)
            shifts = new_logits - old_logits
        shifts[~changed] = 0.0
        means = np.full((len(old), 3), np.nan)
        effective = np.zeros(len(old))
        largest = self.options.normalizer == "max"
        reweigh(drawn.records, largest, shifts, wanted & ~lost, means, effective)
        low = np.flatnonzero(wanted & (effective < _LEAST_EFFECTIVE * drawn.samples))
        if len(low):
            fresh = replace(self.sampled.inputs, rates=rates)
            states = rng.integers(0, 2**64, (len(old), 4), np.uint64, endpoint=False)
            moments = np.zeros((len(old), len(MOMENTS)))
            none = np.zeros((0, 0, fresh.record), np.int32)
            for p in low.tolist():
                fresh.draw(states, p, p + 1, drawn.samples, moments, none)
            terms = sampling.terms_of(moments[low])
            means[low] = np.stack([terms.ratio, terms.common, terms.norm], axis=1)
        ratio, common, norm = means.T
        unknown = np.full(len(old), np.nan)
        chance = correction.ChanceTerms(ratio, common, norm, unknown, unknown, unknown, unknown)
        return chance, len(low)


def refitted_intervals(
    sets: PairedSets,
    model: ChanceModel,
    options: AgreementOptions,
    expected: Expectation,
    sections: Masks,
    seeds: np.random.SeedSequence,
) -> tuple[list[Interval], int] | None:
    """Return the interval of C in each section, refitted to each resample, or None."""
    # the samples are reweighted by (p'/p)^k ((1-p')/(1-p))^(n-k), k the flips of a sample among the
    # n cells of a rate p that is p' now; where too few count, they are drawn anew
    used = np.flatnonzero(expected.used)
    if not isinstance(model, SampledChance) or expected.sampled is None or not len(used):
        return None
    refit = Refit(model, sets, options, used, expected.sampled.part(used))
    masks = np.stack([mask[used] for mask in sections])
    with executor(options.workers) as pool:
        streams = seeds.spawn(options.resamples)
        done = list(pool.map(lambda seed: refit.replicate(seed, masks), streams))
    sums = np.stack([part for part, _ in done])
    intervals = []
    for of_section in sums.swapaxes(0, 1):
        values = correction.correction_ratios(of_section)["C"]
        intervals.append(summarize(values, options.confidence))
    return intervals, sum(redrawn for _, redrawn in done)
