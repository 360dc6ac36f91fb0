"""Agreement beyond chance of two annotators at one level, by several models of chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from alignkit._support.array_types import B1, F8
from alignkit._support.parallel import stage
from alignkit._support.values import FrozenMap
from alignkit.agreement.chance import correction, expectation, refitting, result
from alignkit.agreement.chance.expectation import Expectation
from alignkit.agreement.chance.models import CHANCE_MODELS, Models, SampledChance
from alignkit.agreement.chance.sampling import Progress
from alignkit.agreement.intervals import draw_weights
from alignkit.agreement.options import AgreementOptions
from alignkit.stats.resampling import Interval, summarize

ONE_PAIR = "one sentence pair is used: there is nothing to resample"
ALL_ALIKE = "all resamples give the same value"
_ALIKE = 1e-12  # intervals that are narrower have the same value in all resamples


class Section(NamedTuple):
    """A part of the corpus: which of the P pairs of two annotators are in it."""

    name: str  # the part; "all" for the whole corpus
    pairs: int  # how many sentence pairs of the corpus there are
    inside: B1  # (P,): which of the compared pairs are in it
    outside: Mapping[str, int]  # for each reason how many of its pairs are not compared


def beyond_chance_by_model(
    sets: expectation.PairedSets,
    models: Sequence[str],
    options: AgreementOptions,
    sections: Sequence[Section],
    progress: Progress | None = None,
) -> FrozenMap[str, result.BeyondChance]:
    """Measure C = (pi - pi0) / (1 - pi0) by several models of chance.

    The results of a model, random draws included, do not depend on the other models.
    """
    # pi is the mean of |A & B| / min(|A|, |B|), pi0 the same by the model (Cohn et al., eq. 4-7)
    two = _TwoAnnotators(sets, options, sections)
    by_model: dict[str, _ByModel] = {}
    for name, share in _shares_of_progress(models, progress):
        by_model[name] = two.expected(name, share)
    if options.bootstrap != "none":
        by_model |= two.with_fixed_intervals(by_model)
    return FrozenMap({name: two.beyond(name, chance) for name, chance in by_model.items()})


def _shares_of_progress(
    models: Sequence[str], progress: Progress | None
) -> Iterator[tuple[str, Progress | None]]:
    """Yield each model with its share of the progress; a closed form takes no time."""
    sampled = [name for name in models if isinstance(CHANCE_MODELS[name], SampledChance)]
    for name in models:
        if name not in sampled:
            yield name, None
        elif progress is None or len(sampled) == 1:
            yield name, progress
        else:
            yield name, stage(progress, sampled.index(name), len(sampled), whole=10_000)


def _seeds(options: AgreementOptions) -> tuple[np.random.SeedSequence, np.random.SeedSequence]:
    """Return the seeds of the samples of chance, and of the resamples of pairs."""
    samples, resamples = np.random.SeedSequence(options.seed).spawn(2)
    return samples, resamples


@dataclass(frozen=True)
class _ByModel:
    """What a model of chance expects, and the intervals of C by it."""

    expected: Expectation
    intervals: Sequence[Interval] | None = None  # of each section; None: not computed
    redrawn: int = 0  # how many pairs were sampled again for the intervals


@dataclass(frozen=True)
class _TwoAnnotators:
    """The sets of two annotators, for results of several models."""

    sets: expectation.PairedSets
    options: AgreementOptions
    sections: Sequence[Section]

    @cached_property
    def observed(self) -> correction.ObservedTerms:
        """The observed overlap in each pair."""
        return self.sets.observed(self.options.normalizer)

    def terms(self, expected: Expectation) -> F8:
        """Return the (P, 4) terms of C."""
        return correction.rows(self.observed, expected.terms, self.options.aggregate)

    # what chance expects, and intervals of C
    def expected(self, name: str, progress: Progress | None) -> _ByModel:
        """Return what a model expects, with intervals if they are refitted to each resample."""
        model = CHANCE_MODELS[name]
        options = self.options
        samples, resamples = _seeds(options)
        expected = expectation.expect(self.sets, model, options, samples, progress)
        if options.bootstrap != "refit":
            return _ByModel(expected)
        masks = [section.inside for section in self.sections]
        refitted = refitting.refitted_intervals(
            self.sets, model, options, expected, masks, resamples
        )
        if refitted is None:  # a closed form, or no pair is used: there is nothing to refit
            return _ByModel(expected)
        intervals, redrawn = refitted
        return _ByModel(expected.without_records(), intervals, redrawn)

    def with_fixed_intervals(self, by_model: Mapping[str, _ByModel]) -> dict[str, _ByModel]:
        """Return the models that had no intervals, with those for edit models as fitted.

        Models that use the same pairs share resamples, which saves time. Their numbers are those
        that each would have alone, because every resampling begins with the same seed.
        """
        using_same_pairs: dict[bytes, list[str]] = {}
        for name, chance in by_model.items():
            if chance.intervals is None:
                using_same_pairs.setdefault(chance.expected.used.tobytes(), []).append(name)
        done: dict[str, _ByModel] = {}
        for names in using_same_pairs.values():
            intervals = self._fixed_intervals([by_model[name].expected for name in names])
            for name, of_model in zip(names, intervals, strict=True):
                done[name] = replace(by_model[name], intervals=of_model)
        return done

    def _fixed_intervals(self, expectations: Sequence[Expectation]) -> list[list[Interval]]:
        """Return the intervals in each section for each of the models, which use the same pairs."""
        used = expectations[0].used
        tables = [self.terms(expected)[used] for expected in expectations]
        _, seed = _seeds(self.options)
        rng = np.random.default_rng(seed)
        intervals: list[list[Interval]] = [[] for _ in tables]
        for section in self.sections:
            inside = section.inside[used]
            values = self._resampled([table[inside] for table in tables], rng)
            for of_model, drawn in zip(intervals, values, strict=True):
                of_model.append(summarize(drawn, self.options.confidence))
        return intervals

    def _resampled(self, tables: Sequence[F8], rng: np.random.Generator) -> list[F8]:
        """Return C of each of several tables in resamples of their rows."""
        resamples = self.options.resamples
        count = len(tables[0])
        if not count:
            return [np.full(resamples, np.nan) for _ in tables]
        chunks: list[list[F8]] = [[] for _ in tables]
        for weights in draw_weights(count, resamples, rng):
            for drawn, table in zip(chunks, tables, strict=True):
                drawn.append(correction.correction_ratios(weights @ table)["C"])
        return [np.concatenate(drawn) for drawn in chunks]

    # results
    def beyond(self, name: str, chance: _ByModel) -> result.BeyondChance:
        """Return the agreement beyond chance by a model, in all pairs and in each group."""
        expected = chance.expected
        intervals: Sequence[Interval | None] = [None] * len(self.sections)
        if chance.intervals is not None:
            intervals = chance.intervals
        parts = []
        for section, interval in zip(self.sections, intervals, strict=True):
            parts.append(self.part(section, expected, interval))
        whole, *groups = parts
        annotators = self.sets.annotators
        rates = [edits.rates for edits in self.sets.edits]  # none for a closed form alone
        sampled = expected.sampled
        models = FrozenMap[str, Models]()
        samples = 0
        distribution = np.zeros(0)
        if sampled is not None:
            models = FrozenMap(zip(annotators, sampled.models, strict=True))
            samples = sampled.drawn.samples
            distribution = sampled.drawn.distribution(self.options.aggregate)
        return result.BeyondChance(
            **vars(whole),  # the fields of a section
            annotators=annotators,
            chance=name,
            groups=tuple(groups),
            sentences=self.sentences(expected),
            models=models,
            rates=FrozenMap(zip(annotators, rates, strict=False)),
            samples=samples,
            distribution=distribution,
            redrawn=chance.redrawn,
        )

    def part(
        self, section: Section, expected: Expectation, interval: Interval | None
    ) -> result.BeyondChanceSection:
        """Return the agreement beyond chance in a section, with the reasons for what is missing."""
        used = section.inside & expected.used
        variances = correction.noise(expected.terms, self.options.aggregate)
        corrected = correction.correct(self.terms(expected)[used], variances[used])
        left_out = Counter(section.outside)
        left_out.update(filter(None, expected.reasons[section.inside].tolist()))
        why = _why_undefined(corrected.undefined, left_out, expected, section.inside)
        shown, no_interval = _shown_interval(interval, int(used.sum()), why)
        one_sided = (self.observed.first == 0) != (self.observed.second == 0)
        return result.BeyondChanceSection(
            **vars(replace(corrected, undefined=why)),  # the numbers of a correction
            name=section.name,
            pairs=section.pairs,
            used=int(used.sum()),
            one_sided=int(one_sided[used].sum()),
            left_out=FrozenMap(left_out),
            interval=shown,
            no_interval=no_interval,
        )

    def sentences(self, expected: Expectation) -> tuple[result.SentenceAgreement, ...]:
        """Return the agreement in each pair, observed and by chance."""
        observed = self.observed
        chance = expected.terms
        columns: list[Sequence[Any]] = [  # in the order of the fields
            self.sets.places.tolist(),
            self.sets.ids,
            expected.reasons.tolist(),
            observed.first.astype(int).tolist(),
            observed.second.astype(int).tolist(),
            observed.common.astype(int).tolist(),
            observed.ratio.tolist(),
            chance.ratio.tolist(),
            np.sqrt(chance.ratio_variance).tolist(),
        ]
        return tuple(result.SentenceAgreement(*row) for row in zip(*columns, strict=True))


def _shown_interval(
    interval: Interval | None, used: int, why_undefined: str
) -> tuple[Interval | None, str]:
    """Return an interval of C unless it says nothing, and why a requested one has no bounds."""
    if interval is None:
        return None, ""
    if used == 1:
        return None, ONE_PAIR
    if np.isnan(interval.low):
        return interval, why_undefined or "C has no value in any resample"
    spread = max(interval.high - interval.low, interval.standard_error)
    if spread < _ALIKE:  # equal resamples say nothing of the spread of C
        return None, ALL_ALIKE
    return interval, ""


def _why_undefined(reason: str, left_out: Counter[str], expected: Expectation, inside: B1) -> str:
    """Return why C has no value, as precisely as possible; empty if it has one."""
    if reason == correction.NO_PAIRS:
        if left_out[correction.ONLY_EMPTY]:
            return f"{reason}: both sets are empty in every sample, so pi0 has no value"
        if left_out[correction.BOTH_EMPTY]:
            return f"{reason}: neither annotator has anything to compare"
        return f"{reason}: no pair was annotated by both"
    if reason == correction.CHANCE_IS_ONE and expected.sampled is not None:
        rates = expected.sampled.inputs.rates[inside[expected.sampled.kept]]
        if not rates.any():
            return f"{reason} because nobody edits: every sample is the initial alignment"
        if (rates == 1).all():
            return f"{reason} because everybody flips every cell: all samples are the same"
    return reason
