"""Compute what a model of chance gives for the sets of two annotators, and which pairs are used."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import nan

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.chance.correction import ChanceTerms, ObservedTerms, correct, noise, rows
from alignkit.agreement.chance.models import (
    ChanceModel,
    Edits,
    Models,
    SampledChance,
    count_edits,
    flip_rates,
)
from alignkit.agreement.chance.sampling import Items, MonteCarlo, Progress, Sampling, monte_carlo
from alignkit.agreement.options import AgreementOptions
from alignkit.model.arrays import LinkArrays

BOTH_EMPTY = "both sets empty"
ONLY_EMPTY = "only empty samples"

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PairedSets:
    """What two annotators have in P sentence pairs, at one level."""

    annotators: tuple[str, str]  # the two
    places: Numbers  # (P,): the positions of the pairs in the corpus, and their names
    ids: tuple[str, ...]
    corpus_size: int  # the number of pairs in the corpus
    items: Items  # the words of the P pairs, and what is compared in them
    sizes: NDArray[np.float64]
    initial: LinkArrays  # the initial alignments of the P pairs, of the links that are compared
    edits: tuple[Edits, Edits] | None
    no_edits: str = ""  # why it does not
    universe: LinkArrays | None = None

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def trials(self) -> Numbers:
        """(P, 4): the cells of each stratum."""
        words = self.items.source, self.items.target
        edits = count_edits(self.places, self.initial, self.initial, *words, self.universe)
        return edits.trials

    def observed(self, normalizer: str) -> ObservedTerms:
        """Return what both annotators have."""
        first, second, common = self.sizes.T
        return ObservedTerms.of(first, second, common, normalizer)


@dataclass(frozen=True, eq=False)
class Sampled:
    """The samples of K sentence pairs, those of the compared ones whose sets are not empty."""

    kept: Numbers  # (K,): which of the compared pairs they are
    models: tuple[Models, Models]  # the edit models fitted to either annotator
    sampling: Sampling  # what was sampled
    drawn: MonteCarlo  # the samples


@dataclass(frozen=True, eq=False)
class Expectation:
    """What chance gives for P compared sentence pairs."""

    terms: ChanceTerms  # what is expected; NaN where nothing was sampled
    reasons: NDArray[np.object_]  # (P,) texts: why a pair is left out; empty where it is used
    sampled: Sampled | None  # the samples; None where chance has a closed form, or says nothing
    undefined: str = ""  # why chance says nothing of the two; empty where it does

    @property
    def used(self) -> NDArray[np.bool_]:
        """(P,) bool: which pairs are used."""
        return np.array([not reason for reason in self.reasons], bool)

    def without_records(self) -> Expectation:
        """Return this without the samples themselves, which take much memory."""
        if self.sampled is None:
            return self
        drawn = self.sampled.drawn
        drawn = replace(drawn, records=drawn.records[:0])
        return replace(self, sampled=replace(self.sampled, drawn=drawn))


def expect(
    sets: PairedSets,
    model: ChanceModel,
    options: AgreementOptions,
    seeds: np.random.SeedSequence,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Expectation:
    """Compute what chance gives, by the closed form or by sampling."""
    observed = sets.observed(options.normalizer)
    empty = np.isnan(observed.ratio)
    reasons = np.where(empty, BOTH_EMPTY, "").astype(object)
    if not isinstance(model, SampledChance):
        choices = sets.items.choices()
        terms = model.expect(observed.first, observed.second, choices, options.normalizer)
        return Expectation(terms, reasons, None)
    if sets.edits is None:
        return Expectation(ChanceTerms.unknown(len(sets)), reasons, None, sets.no_edits)
    sampled = _sample(sets, model, options, np.flatnonzero(~empty), seeds, workers, progress)
    found = sampled.drawn.terms()
    reasons[sampled.kept[np.isnan(found.ratio)]] = ONLY_EMPTY
    spread = {name: np.full(len(sets), nan) for name in vars(found)}
    for name, values in vars(found).items():
        spread[name][sampled.kept] = values
    return Expectation(ChanceTerms(**spread), reasons, sampled)


def _sample(
    sets: PairedSets,
    model: SampledChance,
    options: AgreementOptions,
    kept: Numbers,
    seeds: np.random.SeedSequence,
    workers: int | None,
    progress: Progress | None,
) -> Sampled:
    first, second = (model.fit(one, reading=options.reading) for one in sets.edits or ())
    items, initial = sets.items.part(kept), sets.initial.take(kept)
    words, trials = items.lengths.sum(axis=1), sets.trials[kept]
    universe = None if sets.universe is None else sets.universe.take(kept)
    rates = flip_rates(
        model.rates(first, words, trials),
        model.rates(second, words, trials),
        bounded=universe is not None,
    )
    sampling = Sampling(initial, items, rates, options.normalizer, universe)
    observed = part(sets.observed(options.normalizer), kept)

    def error(terms: ChanceTerms) -> float:
        used = ~np.isnan(terms.ratio)
        table = rows(observed, terms, options.aggregate)[used]
        return correct(table, noise(terms, options.aggregate)[used]).C_error

    drawn = monte_carlo(
        sampling,
        samples=options.samples,
        seeds=seeds,
        tolerance=options.tolerance,
        error=error,
        workers=workers,
        progress=progress,
        keep=options.bootstrap == "refit",
    )
    return Sampled(kept, (first, second), sampling, drawn)


def part(observed: ObservedTerms, kept: Numbers) -> ObservedTerms:
    """Return the observed terms of some pairs."""
    return ObservedTerms(**{name: values[kept] for name, values in vars(observed).items()})
