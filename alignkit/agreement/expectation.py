"""Compute what chance gives for the compared sentence pairs, and which of them are used."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.chance import Edits, Models, SampledChance
from alignkit.agreement.compared import ComparedPairs
from alignkit.agreement.correction import ChanceTerms, ObservedTerms, correct, noise, rows
from alignkit.agreement.monte_carlo import MonteCarlo, Progress, Sampling, monte_carlo

__all__ = ["BOTH_EMPTY", "ONLY_EMPTY", "Expectation", "Sampled", "expect", "part"]

BOTH_EMPTY = "both sets empty"
ONLY_EMPTY = "only empty samples"


@dataclass(frozen=True, eq=False)
class Sampled:
    """Hold the samples of K sentence pairs, those of the compared ones whose sets are not empty.

    Parameters
    ----------
    kept
        (K,): which of the compared pairs they are.
    edits, models
        What either annotator changed, and the edit models fitted to it.
    sampling
        What was sampled.
    drawn
        The samples.
    """

    kept: NDArray[np.int64]
    edits: tuple[Edits, Edits]
    models: tuple[Models, Models]
    sampling: Sampling
    drawn: MonteCarlo


@dataclass(frozen=True, eq=False)
class Expectation:
    """Hold what chance gives for P compared sentence pairs.

    Parameters
    ----------
    terms
        What is expected; NaN where nothing was sampled.
    reasons
        (P,) texts: why a pair is left out; empty where it is used.
    sampled
        The samples; None where chance has a closed form.
    """

    terms: ChanceTerms
    reasons: NDArray[np.object_]
    sampled: Sampled | None

    @property
    def used(self) -> NDArray[np.bool_]:
        """(P,) bool: which pairs are used."""
        return np.array([not reason for reason in self.reasons], bool)


def expect(
    compared: ComparedPairs,
    seeds: np.random.SeedSequence,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Expectation:
    """Compute what chance gives, by the closed form or by sampling."""
    settings, observed = compared.settings, compared.observed
    empty = np.isnan(observed.ratio)
    reasons = np.where(empty, BOTH_EMPTY, "").astype(object)
    model = settings.model
    if not isinstance(model, SampledChance):
        choices = compared.items.choices()
        terms = model.expect(observed.first, observed.second, choices, settings.normalizer)
        return Expectation(terms, reasons, None)
    sampled = _sample(compared, model, np.flatnonzero(~empty), seeds, workers, progress)
    found = sampled.drawn.terms()
    reasons[sampled.kept[np.isnan(found.ratio)]] = ONLY_EMPTY
    spread = {name: np.full(len(compared), nan) for name in vars(found)}
    for name, values in vars(found).items():
        spread[name][sampled.kept] = values
    return Expectation(ChanceTerms(**spread), reasons, sampled)


def _sample(
    compared: ComparedPairs,
    model: SampledChance,
    kept: NDArray[np.int64],
    seeds: np.random.SeedSequence,
    workers: int | None,
    progress: Progress | None,
) -> Sampled:
    settings = compared.settings
    first, second = (compared.edits(name) for name in compared.names)
    models = tuple(model.fit(one, reading=settings.reading) for one in (first, second))
    places = [compared.places[k] for k in kept]
    items, initial = compared.items_of(places), compared.links(places, settings.initial)
    filled = np.diff(initial.offsets)
    rates = np.concatenate([model.rates(one, items.lengths, filled) for one in models], axis=1)
    sampling = Sampling(initial, items, rates, settings.normalizer)
    observed = part(compared.observed, kept)

    def error(terms: ChanceTerms) -> float:
        used = ~np.isnan(terms.ratio)
        table = rows(observed, terms, settings.aggregate)[used]
        return correct(table, noise(terms, settings.aggregate)[used]).C_error

    drawn = monte_carlo(
        sampling,
        samples=settings.samples,
        seeds=seeds,
        tolerance=settings.tolerance,
        error=error,
        workers=workers,
        progress=progress,
        keep=settings.bootstrap == "refit",
    )
    return Sampled(kept, (first, second), (models[0], models[1]), sampling, drawn)


def part(observed: ObservedTerms, kept: NDArray[np.int64]) -> ObservedTerms:
    """Return the observed terms of some pairs."""
    return ObservedTerms(**{name: values[kept] for name, values in vars(observed).items()})
