"""Compute how much a model of chance expects the sets of two annotators to share in each pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from alignkit._support.array_types import B1, F8, I8
from alignkit.agreement.chance import correction, sampling
from alignkit.agreement.chance.correction import BOTH_EMPTY, ONLY_EMPTY
from alignkit.agreement.chance.models import ChanceModel, Edits, Models, SampledChance, count_edits
from alignkit.agreement.options import AgreementOptions
from alignkit.model.arrays import LinkArrays

Masks = Sequence[B1]


@dataclass(frozen=True)
class PairedSets:
    """The items of two annotators in P sentence pairs, at one level."""

    annotators: tuple[str, str]
    places: I8  # (P,): the positions of the pairs in the corpus
    ids: tuple[str, ...]  # the names of the pairs
    corpus_size: int  # the number of pairs in the corpus
    items: sampling.Items  # the words of the P pairs, and what is compared in them
    sizes: F8  # (P, 3): the sizes of A, of B and of A & B
    initial: LinkArrays  # the initial alignments of the P pairs, of the links that are compared
    edits: tuple[Edits, ...]  # what either changed; none for closed forms of chance
    universe: LinkArrays | None = None  # the cells that can flip; None for all

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def trials(self) -> I8:
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


@dataclass(frozen=True)
class Sampled:
    """The samples of K sentence pairs: the compared pairs whose sets are not empty."""

    kept: I8  # (K,): which of the compared pairs they are
    models: tuple[Models, Models]  # the edit models fitted to either annotator
    inputs: sampling.Sampling  # what was sampled
    drawn: sampling.MonteCarlo  # the samples

    def part(self, used: I8) -> Sampled:
        """Return the samples of some of the compared pairs."""
        inside = np.isin(self.kept, used)
        moments = self.drawn.moments[inside]
        records = self.drawn.records[inside]
        drawn = replace(self.drawn, moments=moments, records=records)
        return Sampled(self.kept[inside], self.models, self.inputs.part(inside), drawn)


@dataclass(frozen=True)
class Expectation:
    """The expectation by chance for P compared sentence pairs."""

    terms: correction.ChanceTerms  # what is expected; NaN where nothing was sampled
    reasons: NDArray[np.object_]  # (P,) texts: why a pair is left out; empty where it is used
    sampled: Sampled | None  # the samples; None where chance has a closed form

    @property
    def used(self) -> B1:
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
    sampled = _sample(sets, model, options, np.flatnonzero(~empty), seeds, progress)
    terms = sampling.terms_of(sampled.drawn.moments)
    reasons[sampled.kept[np.isnan(terms.ratio)]] = ONLY_EMPTY
    return Expectation(terms.placed(sampled.kept, len(sets)), reasons, sampled)


def _sample(
    sets: PairedSets,
    model: SampledChance,
    options: AgreementOptions,
    kept: I8,
    seeds: np.random.SeedSequence,
    progress: sampling.Progress | None,
) -> Sampled:
    """Fit the edit models to both annotators, and sample the pairs that are kept by them."""
    first, second = (model.fit(edits, reading=options.reading) for edits in sets.edits)
    universe = sets.universe
    if universe is not None:
        universe = universe.take(kept)
    items = sets.items.part(kept)
    rates = flip_rates(model, (first, second), items, sets.trials[kept], universe)
    inputs = sampling.Sampling(sets.initial.take(kept), items, rates, options.normalizer, universe)
    observed = sets.observed(options.normalizer).part(kept)

    def error(terms: correction.ChanceTerms) -> float:
        """Return the Monte-Carlo error of C."""
        used = ~np.isnan(terms.ratio)
        table = correction.rows(observed, terms, options.aggregate)
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
    return Sampled(kept, (first, second), inputs, drawn)


def flip_rates(
    model: SampledChance,
    fitted: Sequence[Models],
    items: sampling.Items,
    trials: I8,
    universe: LinkArrays | None,
) -> F8:
    """Return the rates (P, 4 or 8) at which cells flip: the columns of either annotator.

    An annotator has a column for empty and one for filled cells, or four: with a universe, and by
    models that know whether words are equal, cells of equal words have their own columns.
    """
    words = items.lengths.sum(axis=1)
    sides = [model.rates(models, words, trials) for models in fitted]
    if universe is not None and sides[0].shape[1] == 2:
        sides = [np.concatenate([side, side], axis=1) for side in sides]
    return np.concatenate(sides, axis=1)
