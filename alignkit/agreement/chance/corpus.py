"""Agreement beyond chance: of two annotators at one level, then of all pairings of a corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alignkit._support.parallel import stage
from alignkit._support.values import FrozenMap
from alignkit.agreement.chance import correction, expectation, result
from alignkit.agreement.chance.expectation import Expectation
from alignkit.agreement.chance.models import (
    CHANCE_MODELS,
    Edits,
    Models,
    SampledChance,
    count_edits,
)
from alignkit.agreement.chance.sampling import Items, Progress
from alignkit.agreement.intervals import draw_weights
from alignkit.agreement.options import CLOSED, AgreementOptions, edits_known
from alignkit.agreement.pairs import CorpusData, CorpusPart, PairData
from alignkit.errors import OptionError
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays
from alignkit.stats.resampling import Interval, summarize

ONE_PAIR = "one sentence pair is used: there is nothing to resample"
ALL_ALIKE = "all resamples give the same value"
_ALIKE = 1e-12

Numbers = NDArray[np.int64]
ByModel = FrozenMap[str, FrozenMap[str, result.BeyondChance]]


# two annotators, at one level
@dataclass(frozen=True, eq=False)
class Section:
    """A part of the corpus: which of the P pairs of two annotators are in it."""

    name: str  # the part; "all" for the whole corpus
    pairs: int  # how many sentence pairs of the corpus there are
    inside: NDArray[np.bool_]  # (P,): which of the compared pairs are in it
    outside: Mapping[str, int]  # for each reason how many of its pairs are not compared


def beyond_chance_by_model(
    sets: expectation.PairedSets,
    models: Sequence[str],
    options: AgreementOptions,
    sections: Sequence[Section],
    progress: Progress | None = None,
) -> FrozenMap[str, result.BeyondChance]:
    """Measure C = (pi - pi0) / (1 - pi0) by several models; each is computed as if alone."""
    # pi is the mean of |A & B| / min(|A|, |B|), pi0 the same by the model (Cohn et al., eq. 4-7)
    two = _TwoAnnotators(sets, options, sections)
    expectations: dict[str, Expectation] = {}
    intervals: dict[str, list[Interval]] = {}
    redrawn = dict.fromkeys(models, 0)
    sampled = [name for name in models if isinstance(CHANCE_MODELS[name], SampledChance)]
    masks = [section.inside for section in sections]
    for name in models:
        model = CHANCE_MODELS[name]
        share = progress if name in sampled else None  # the closed form takes no time
        if share is not None and len(sampled) > 1:
            share = stage(share, sampled.index(name), len(sampled), whole=10_000)
        samples, resamples = np.random.SeedSequence(options.seed).spawn(2)
        expected = expectation.expect(sets, model, options, samples, share)
        if options.bootstrap == "refit":
            refitted = expectation.refitted_intervals(
                sets, model, options, expected, masks, resamples
            )
            if refitted is not None:
                intervals[name], redrawn[name] = refitted
                expected = expected.without_records()
        expectations[name] = expected
    if options.bootstrap != "none":
        rest = {name: expectations[name] for name in models if name not in intervals}
        intervals |= two.fixed_intervals(rest)
    results = {}
    for name, expected in expectations.items():
        results[name] = two.beyond(name, expected, intervals.get(name), redrawn[name])
    return FrozenMap(results)


@dataclass(frozen=True, eq=False)
class _TwoAnnotators:
    """The sets of two annotators, for results of several models."""

    sets: expectation.PairedSets
    options: AgreementOptions
    sections: Sequence[Section]

    @cached_property
    def observed(self) -> correction.ObservedTerms:
        """The observed overlap in each pair."""
        return self.sets.observed(self.options.normalizer)

    def terms(self, expected: Expectation) -> NDArray[np.float64]:
        """Return the (P, 4) terms of C."""
        return correction.rows(self.observed, expected.terms, self.options.aggregate)

    def fixed_intervals(self, expectations: Mapping[str, Expectation]) -> dict[str, list[Interval]]:
        """Return the intervals in each section; models with the same pairs share resamples."""
        alike: dict[bytes, list[str]] = {}
        for name, expected in expectations.items():
            alike.setdefault(expected.used.tobytes(), []).append(name)
        intervals: dict[str, list[Interval]] = {name: [] for name in expectations}
        for names in alike.values():
            used = expectations[names[0]].used
            tables = {name: self.terms(expectations[name])[used] for name in names}
            rng = np.random.default_rng(np.random.SeedSequence(self.options.seed).spawn(2)[1])
            for section in self.sections:
                drawn = self._resampled(tables, section.inside[used], rng)
                for name, values in drawn.items():
                    interval = summarize(np.concatenate(values), self.options.confidence)
                    intervals[name].append(interval)
        return intervals

    def _resampled(
        self,
        tables: Mapping[str, NDArray[np.float64]],
        mask: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> dict[str, list[NDArray[np.float64]]]:
        """Return chunks of C by each model in resamples of the pairs of a mask."""
        resamples = self.options.resamples
        if not mask.any():
            return {name: [np.full(resamples, np.nan)] for name in tables}
        drawn: dict[str, list[NDArray[np.float64]]] = {name: [] for name in tables}
        for weights in draw_weights(int(mask.sum()), resamples, rng):
            for name, table in tables.items():
                ratios = correction.correction_ratios(weights @ table[mask])
                drawn[name].append(ratios["C"])
        return drawn

    def beyond(
        self, name: str, expected: Expectation, intervals: Sequence[Interval] | None, redrawn: int
    ) -> result.BeyondChance:
        """Return the agreement beyond chance by a model, in all pairs and in each group."""
        parts = []
        for k, section in enumerate(self.sections):
            interval = intervals[k] if intervals else None
            parts.append(self.section(expected, section, interval))
        whole, *groups = parts
        annotators = self.sets.annotators
        rates = [edits.rates for edits in self.sets.edits]
        sampled = expected.sampled
        models = FrozenMap[str, Models]()
        samples = 0
        distribution = np.zeros(0)
        if sampled is not None:
            models = FrozenMap(zip(annotators, sampled.models, strict=True))
            samples = sampled.drawn.samples
            distribution = sampled.drawn.distribution(self.options.aggregate)
        return result.BeyondChance(
            **vars(whole),
            annotators=annotators,
            chance=name,
            groups=tuple(groups),
            sentences=self.sentences(expected),
            models=models,
            rates=FrozenMap(zip(annotators, rates, strict=False)),
            samples=samples,
            distribution=distribution,
            redrawn=redrawn,
        )

    def section(
        self, expected: Expectation, section: Section, interval: Interval | None
    ) -> result.BeyondChanceSection:
        """Return the agreement beyond chance in a section, with the reasons for what is missing."""
        used = section.inside & expected.used
        variances = correction.noise(expected.terms, self.options.aggregate)
        corrected = correction.correct(self.terms(expected)[used], variances[used])
        left_out = Counter(section.outside)
        left_out.update(filter(None, expected.reasons[section.inside].tolist()))
        why = _why(corrected.undefined, left_out, expected, section.inside)
        no_interval = ""
        if interval is not None and used.sum() == 1:
            no_interval = ONE_PAIR
        elif interval is not None and np.isnan(interval.low):
            no_interval = why or "C has no value in any resample"
        elif interval is not None:  # equal resamples say nothing of the spread of C
            spread = max(interval.high - interval.low, interval.standard_error)
            no_interval = ALL_ALIKE if spread < _ALIKE else ""
        if no_interval in (ONE_PAIR, ALL_ALIKE):
            interval = None
        one_sided = (self.observed.first == 0) != (self.observed.second == 0)
        return result.BeyondChanceSection(
            **vars(replace(corrected, undefined=why)),
            name=section.name,
            pairs=section.pairs,
            used=int(used.sum()),
            one_sided=int(one_sided[used].sum()),
            left_out=FrozenMap(left_out),
            interval=interval,
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


def _why(
    reason: str, left_out: Counter[str], expected: Expectation, inside: NDArray[np.bool_]
) -> str:
    """Return why C has no value, as precisely as possible."""
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


# every two of a corpus, at every level
@dataclass(frozen=True, eq=False)
class CorpusBeyondChance:
    """The agreement beyond chance of any two annotators; shared work is done once."""

    data: CorpusData
    initial: str | None  # the name of the initial alignment; None without one
    systems: tuple[str, ...]  # the automatic alignments
    options: AgreementOptions  # settled
    parts: Sequence[CorpusPart]  # the whole corpus, then each group
    _edits: dict[tuple[str, str], Edits] = field(default_factory=dict, repr=False)
    _links: dict[tuple[str | None, str], LinkArrays] = field(default_factory=dict, repr=False)

    def no_edits(self, first: str, second: str) -> str:
        """Return why edit models do not apply to two annotators; empty if they do."""
        if not edits_known(self.initial, self.options.missing_initial):
            return "no initial alignment is named, so edits are not known"
        judged = self.options.universe == "judged"
        for name in (first, second):
            if name == self.initial:
                why = "the initial alignment, which has no edits"
                return f"{name!r} is {why}; compare it by {CLOSED}"
            if name in self.systems:
                why = "an automatic alignment, not an edit of the initial one"
                return f"{name!r} is {why}; compare it by {CLOSED}"
        for name in (first, second):
            if judged and not self.data.records_judged(name):
                return f"{name!r} records no judged cells; compare it by {CLOSED}"
        places = self._places(first, second, edited=False)
        alike = places[self._both_started(first, second)[places]]
        if len(places) and not len(alike):
            start = repr(self.initial) if self.initial else "nothing"
            return (
                f"{first!r} and {second!r} did not both start from {start} in any of the "
                f"{len(places)} pairs that both annotated; compare them by {CLOSED}"
            )
        missing = alike[~self._has_initial[alike]]
        if self.options.missing_initial != "error" or not len(missing):
            return ""
        message = (
            f"pair {self.data.corpus[int(missing[0])].id!r} has no initial alignment "
            f"{self.initial!r}: name another one with `initial` (the aligner makes one, `merge` "
            "adds it), or choose how to treat such pairs with `missing_initial='empty'` or "
            "`missing_initial='leave-out'`"
        )
        if self.options.model != CLOSED:  # the main model needs them
            raise OptionError(message)
        return message

    def same_start(self, first: str, second: str) -> int | None:
        """Return in how many shared pairs both started from the initial alignment.

        Pairs of which the start is not known count. None if edits are not known.
        """
        automatic = {self.initial, *self.systems}.intersection((first, second))
        if automatic or not edits_known(self.initial, self.options.missing_initial):
            return None
        places = self._places(first, second, edited=False)
        return int(self._both_started(first, second)[places].sum())

    def of(
        self, first: str, second: str, no_edits: str, progress: Progress | None = None
    ) -> ByModel:
        """Return C of two annotators by model and level; only the closed form without edits."""
        edits = edits_known(self.initial, self.options.missing_initial)
        if not edits and not self.data.known[self._places(first, second, edited=False)].all():
            return FrozenMap()
        main = CLOSED if no_edits else self.options.model
        models = [main] if no_edits else list(CHANCE_MODELS)
        by_model: dict[str, dict[str, result.BeyondChance]] = {name: {} for name in models}
        for number, level in enumerate(result.LEVELS):
            share = stage(progress, number, len(result.LEVELS))
            for name, beyond in self._level(first, second, level, main, models, share).items():
                by_model[name][level] = beyond
        return FrozenMap({name: FrozenMap(levels) for name, levels in by_model.items()})

    def _level(
        self,
        first: str,
        second: str,
        level: str,
        main: str,
        models: Sequence[str],
        progress: Progress | None,
    ) -> dict[str, result.BeyondChance]:
        rest = [name for name in models if name != main]
        fixed = self.options
        if fixed.bootstrap == "refit":  # the main tables' C alone: it takes long
            fixed = replace(fixed, bootstrap="fixed")
        every = self._places(first, second, edited=False)
        if main == CLOSED and not rest:
            edited = every
        else:
            edited = self._places(first, second, edited=True)
        # models of edits are compared on the same pairs
        jobs = [([main], every if main == CLOSED else edited, self.options), (rest, edited, fixed)]
        if len(every) == len(edited) and fixed is self.options:
            jobs = [(list(models), edited, fixed)]
        results: dict[str, result.BeyondChance] = {}
        for names, places, options in jobs:
            known = names != [CLOSED]
            if names:
                by_model = beyond_chance_by_model(
                    self.paired_sets(first, second, level, places, edited=known),
                    names,
                    options,
                    self._sections(first, second, places),
                    progress if known else None,
                )
                for name, beyond in by_model.items():
                    signature = str(options.signed_by(name, self.initial))
                    results[name] = replace(beyond, signature=signature)
        return {name: results[name] for name in CHANCE_MODELS if name in results}

    @cached_property
    def _has_initial(self) -> NDArray[np.bool_]:
        """(Q,): whether there is an initial alignment, or none is needed."""
        if self.initial is None or self.options.missing_initial == "empty":
            return np.ones(len(self.data.corpus), bool)
        return self.data.aligned(self.initial)

    def _places(self, *names: str, edited: bool) -> Numbers:
        """Return the pairs that all annotated; if edited, from the initial alignment."""
        done = np.all([self.data.aligned(name) for name in names], axis=0)
        if edited:
            done = done & self._has_initial & self._both_started(*names)
        return np.flatnonzero(done)

    def _both_started(self, *names: str) -> NDArray[np.bool_]:
        """(Q,): the pairs in which all started from the initial alignment, as far as is known."""
        masks = [self._started(name) for name in names]
        return np.asarray(np.all(masks, axis=0))

    def _started(self, name: str) -> NDArray[np.bool_]:
        """(Q,): the pairs in which an annotator started from the initial alignment."""
        started = self.data.started(name, self.initial or "")
        if self.initial is not None and self.options.missing_initial == "empty":
            without_links = self.data.started(name, "") & ~self.data.aligned(self.initial)
            started = started | without_links
        return started

    def _sections(self, first: str, second: str, places: Numbers) -> list[Section]:
        """Return the parts of the corpus, and why their pairs are not at the given places."""
        sections = []
        for part in self.parts:
            outside = np.setdiff1d(part.members, places)
            reasons = self._reasons(first, second, outside)
            sections.append(Section(part.name, len(part), np.isin(places, part.members), reasons))
        return sections

    def _reasons(self, first: str, second: str, outside: Numbers) -> Counter[str]:
        """Count why pairs are not compared, in the order in which the reasons occur first."""
        missing = [~self.data.aligned(name)[outside] for name in (first, second)]
        same_start = self._both_started(first, second)[outside]
        texts = (result.OTHER_START, result.NO_INITIAL, first, second, f"{first}, {second}")
        kinds = np.where(same_start, 1, 0)
        missed = 2 * missing[1] + missing[0]
        kinds[missed > 0] = 1 + missed[missed > 0]
        known, firsts, counts = np.unique(kinds, return_index=True, return_counts=True)
        reasons: Counter[str] = Counter()
        for place in np.argsort(firsts).tolist():
            kind = int(known[place])
            text = texts[kind] if kind < 2 else f"not annotated by {texts[kind]}"
            reasons[text] = int(counts[place])
        return reasons

    @cached_property
    def _items(self) -> Items:
        """The words of all pairs, and the items that are compared."""
        return Items("phrases", not self.options.ignore_identical, *self.data.words)

    def _kind(self, name: str | None, links: str) -> LinkArrays:
        """Return the links of an annotator in all pairs; none in pairs without an annotation."""
        if (name, links) not in self._links:
            if name is None:
                empty = [Alignment()] * len(self.data.corpus)
                arrays = LinkArrays.pack(empty, self.data.lengths.tolist())
            else:
                arrays = self.data.links(name)
            if links == "sure":
                self._links[name, links] = arrays.sure_only()
            else:
                self._links[name, links] = arrays
        return self._links[name, links]

    def paired_sets(
        self, first: str, second: str, level: str, places: Numbers, *, edited: bool
    ) -> expectation.PairedSets:
        """Return the sets of two annotators at a level, as `beyond_chance_by_model` takes them."""
        unit, links = result.LEVELS[level]
        corpus = self.data.corpus
        names = (first, second)
        for place in places[~self.data.known[places]].tolist():
            _ = corpus[place].words  # raises an error that names the pair
        items = replace(self._items.part(places), unit=unit)
        first_links = self._kind(first, links).take(places)
        second_links = self._kind(second, links).take(places)
        universe = None
        edits = list[Edits]()
        if edited and self.options.universe == "judged":
            universe = PairData(self.data, names, places, False, "judged").judged
            edits = [self._count(name, links, places, universe) for name in names]
        elif edited:
            for name in names:  # what one changed in all pairs that this one annotated
                if (name, links) not in self._edits:
                    edited_places = self._places(name, edited=True)
                    self._edits[name, links] = self._count(name, links, edited_places, None)
                edits.append(self._edits[name, links])
        return expectation.PairedSets(
            annotators=names,
            places=places,
            ids=tuple(corpus[place].id for place in places.tolist()),
            corpus_size=len(corpus),
            items=items,
            sizes=items.sizes(first_links, second_links),
            initial=self._kind(self.initial, links).take(places),
            edits=tuple(edits),
            universe=universe,
        )

    def _count(self, name: str, links: str, places: Numbers, universe: LinkArrays | None) -> Edits:
        """Count what an annotator changed in the initial alignments of some pairs."""
        items = self._items.part(places)
        annotated = self._kind(name, links).take(places)
        initial = self._kind(self.initial, links).take(places)
        return count_edits(places, annotated, initial, items.source, items.target, universe)
