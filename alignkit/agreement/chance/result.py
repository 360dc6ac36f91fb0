"""Resample sentence pairs: the interval of C, with the edit models as they are or fitted anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np
from numpy.typing import NDArray

from alignkit._support.parallel import executor
from alignkit._support.values import FrozenMap, jsonable
from alignkit.agreement.chance.correction import (
    NORMALIZERS,
    ChanceTerms,
    Correction,
    ObservedTerms,
    correction_ratios,
    rows,
)
from alignkit.agreement.chance.edits import EditModel
from alignkit.agreement.chance.expectation import BOTH_EMPTY
from alignkit.agreement.chance.models import EditRates, Edits, SampledChance, flip_rates
from alignkit.agreement.chance.sampling import MonteCarlo, Sampling, terms_of
from alignkit.agreement.chance.sampling_kernel import MOMENTS, reweigh
from alignkit.stats.resampling import Interval, chunks, summarize

_PAIRS = ("used", "one_sided", "left_out")


@dataclass(frozen=True)
class SentenceAgreement:
    """What one sentence pair says.

    Parameters
    ----------
    place, id : Its position in the corpus, from 0, and its name.
    left_out : Why it is left out of pi and pi0; empty where it is used.
    first, second, common : The sizes of A, of B and of A & B.
    observed : common / norm; NaN where both sets are empty.
    expected : The same ratio by chance; NaN where it was not computed or all samples are empty.
    expected_error : Its Monte-Carlo error.
    """

    place: int
    id: str
    left_out: str
    first: int
    second: int
    common: int
    observed: float
    expected: float
    expected_error: float


@dataclass(frozen=True)
class BeyondChanceSection(Correction):
    """The agreement beyond chance of some sentence pairs; see `Correction` for the numbers.

    Parameters
    ----------
    name : The group; ``"all"`` for the whole corpus.
    pairs : How many sentence pairs there are.
    used : How many of them are used.
    one_sided : In how many of those one of the two has nothing, so that the ratio is 0.
    left_out : For each reason how many are not used.
    interval : The bootstrap interval of C; None if none was asked for, or all resamples are alike.
    no_interval : Why it has no bounds although it was asked for; empty otherwise.
    """

    name: str
    pairs: int
    used: int
    one_sided: int
    left_out: FrozenMap[str, int]
    interval: Interval | None
    no_interval: str

    @property
    def both_empty(self) -> int:
        """How many pairs are left out because neither has anything to compare."""
        return self.left_out.get(BOTH_EMPTY, 0)

    def section_json(self) -> dict[str, object]:
        """Return the numbers as JSON takes them; NaN is None."""
        return {
            **{field.name: jsonable(getattr(self, field.name)) for field in fields(Correction)},
            "interval": self.interval.to_json() if self.interval else None,
            "no_interval": self.no_interval,
            "pairs": {
                "all": self.pairs,
                **{name: jsonable(getattr(self, name)) for name in _PAIRS},
            },
        }


@dataclass(frozen=True, eq=False)
class BeyondChance(BeyondChanceSection):
    """The agreement beyond chance of two annotators; the section is the whole corpus.

    Parameters
    ----------
    annotators : The two.
    chance : The name of the model of chance.
    groups : The agreement in each group, by the same edit models and samples.
    sentences : Every sentence pair that both annotated, in order.
    models : The fitted edit models of either annotator, by name; empty where chance has a closed
        form.
    rates : The add and the delete rate of either annotator; empty where nothing is known of edits.
    samples : How many samples each sentence pair had; 0 where chance has a closed form.
    distribution : (samples,): the agreement over the whole corpus in each of the samples.
    redrawn : How often a pair was sampled anew for the interval with refitted edit models.
    by : The attribute that makes the groups; None without groups.
    signature : The settings.
    """

    annotators: tuple[str, str]
    chance: str
    groups: tuple[BeyondChanceSection, ...]
    sentences: tuple[SentenceAgreement, ...]
    models: FrozenMap[str, FrozenMap[str, EditModel]]
    rates: FrozenMap[str, EditRates]
    samples: int
    distribution: NDArray[np.float64]
    redrawn: int
    by: str | None = field(default=None, kw_only=True)
    signature: str = field(default="", kw_only=True)

    def to_json(self) -> dict[str, object]:
        """Return everything as JSON takes it; NaN is None."""
        return {
            "annotators": list(self.annotators),
            **self.section_json(),
            "chance": self.chance,
            "by": self.by,
            "groups": {group.name: group.section_json() for group in self.groups},
            "models": {
                name: {part: model.to_json() for part, model in models.items()}
                for name, models in self.models.items()
            },
            "rates": jsonable(self.rates),
            "samples": self.samples,
            "distribution": jsonable(self.distribution.tolist()),
            "redrawn": self.redrawn,
            "sentences": jsonable(self.sentences),
            "signature": self.signature,
        }


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


def by_both(
    c_result: BeyondChance, normalizer: str, aggregate: str
) -> dict[str, tuple[float, float]]:
    """Return pi and C by each of `NORMALIZERS`, for the closed form of Kupper & Hafner."""
    used = [sentence for sentence in c_result.sentences if not sentence.left_out]
    columns = [(one.first, one.second, one.common, one.expected) for one in used]
    first, second, common, expected = np.array(columns, np.float64).reshape(-1, 4).T
    product = expected * NORMALIZERS[normalizer](first, second)
    result = {}
    for name, norm_of in NORMALIZERS.items():
        norm = norm_of(first, second)
        terms = common, norm, product
        if aggregate == "macro":
            safe = np.where(norm > 0, norm, 1)
            terms = common / safe, np.ones(len(norm)), product / safe
        seen, whole, chance = (part.sum() for part in terms)
        pi, pi0 = (part / whole if whole else np.nan for part in (seen, chance))
        result[name] = float(pi), float((pi - pi0) / (1 - pi0)) if pi0 < 1 else float("nan")
    return result
