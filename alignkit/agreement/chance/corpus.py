"""Agreement beyond chance: of two annotators at one level, then of all pairings of a corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from alignkit._support.parallel import stage
from alignkit._support.values import FrozenMap
from alignkit.agreement.chance import correction, expectation, result
from alignkit.agreement.chance.expectation import Expectation
from alignkit.agreement.chance.models import CHANCE_MODELS, Edits, SampledChance, count_edits
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
    *,
    seed: int,
    workers: int | None = None,
    progress: Progress | None = None,
) -> FrozenMap[str, result.BeyondChance]:
    """Measure C = (pi - pi0) / (1 - pi0) by several models; each is computed as if alone."""
    # pi is the mean of |A & B| / min(|A|, |B|), pi0 the same by the model (Cohn et al., eq. 4-7)
    two = _TwoAnnotators(sets, options, sections, seed)
    expectations: dict[str, Expectation] = {}
    intervals: dict[str, list[Interval]] = {}
    redrawn = dict.fromkeys(models, 0)
    sampled = [name for name in models if isinstance(CHANCE_MODELS[name], SampledChance)]
    for name in models:
        model = CHANCE_MODELS[name]
        share = progress if name in sampled else None  # the closed form takes no time
        if share is not None and len(sampled) > 1:
            share = stage(share, sampled.index(name), len(sampled), whole=10_000)
        samples, resamples = np.random.SeedSequence(seed).spawn(2)
        expected = expectation.expect(sets, model, options, samples, workers, share)
        if options.bootstrap == "refit":
            masks = [section.inside for section in sections]
            refitted = expectation.refitted_intervals(
                sets, model, options, expected, masks, resamples, workers
            )
            if refitted is not None:
                intervals[name], redrawn[name] = refitted
                expected = expected.without_records()
        expectations[name] = expected
    if options.bootstrap != "none":
        rest = {name: expectations[name] for name in models if name not in intervals}
        intervals |= two.fixed_intervals(rest)
    return FrozenMap(
        (name, two.beyond(name, expected, intervals.get(name), redrawn[name]))
        for name, expected in expectations.items()
    )


@dataclass(frozen=True, eq=False)
class _TwoAnnotators:
    """The sets of two annotators, for results of several models."""

    sets: expectation.PairedSets
    options: AgreementOptions
    sections: Sequence[Section]
    seed: int

    @cached_property
    def observed(self) -> correction.ObservedTerms:
        return self.sets.observed(self.options.normalizer)

    def terms(self, expected: Expectation) -> NDArray[np.float64]:
        return correction.rows(self.observed, expected.terms, self.options.aggregate)

    def fixed_intervals(self, expectations: Mapping[str, Expectation]) -> dict[str, list[Interval]]:
        """Return the intervals in each section; models with the same pairs share resamples."""
        alike: dict[bytes, list[str]] = {}
        for name, expected in expectations.items():
            alike.setdefault(expected.used.tobytes(), []).append(name)
        intervals: dict[str, list[Interval]] = {}
        resamples = self.options.resamples
        confidence = self.options.confidence
        for names in alike.values():
            used = expectations[names[0]].used
            tables = {name: self.terms(expectations[name])[used] for name in names}
            intervals |= {name: [] for name in names}
            rng = np.random.default_rng(np.random.SeedSequence(self.seed).spawn(2)[1])
            for mask in (section.inside[used] for section in self.sections):
                drawn = {name: [np.full(0 if mask.any() else resamples, np.nan)] for name in names}
                for weights in draw_weights(int(mask.sum()), resamples, rng) if mask.any() else ():
                    for name, table in tables.items():
                        ratios = correction.correction_ratios(weights @ table[mask])
                        drawn[name].append(ratios["C"])
                for name, values in drawn.items():
                    intervals[name].append(summarize(np.concatenate(values), confidence))
        return intervals

    def beyond(
        self, name: str, expected: Expectation, intervals: Sequence[Interval] | None, redrawn: int
    ) -> result.BeyondChance:
        whole, *groups = (
            self.section(expected, section, intervals[k] if intervals else None)
            for k, section in enumerate(self.sections)
        )
        sets = self.sets
        sampled = expected.sampled
        models = zip(sets.annotators, sampled.models, strict=True) if sampled else ()
        rates = zip(sets.annotators, (edits.rates for edits in sets.edits), strict=False)
        aggregate = self.options.aggregate
        return result.BeyondChance(
            **vars(whole),
            annotators=sets.annotators,
            chance=name,
            groups=tuple(groups),
            sentences=self.sentences(expected),
            models=FrozenMap(models),
            rates=FrozenMap(rates),
            samples=sampled.drawn.samples if sampled else 0,
            distribution=sampled.drawn.distribution(aggregate) if sampled else np.zeros(0),
            redrawn=redrawn,
        )

    def section(
        self, expected: Expectation, section: Section, interval: Interval | None
    ) -> result.BeyondChanceSection:
        used = section.inside & expected.used
        variances = correction.noise(expected.terms, self.options.aggregate)
        corrected = correction.correct(self.terms(expected)[used], variances[used])
        left_out = Counter(section.outside)
        left_out.update(reason for reason in expected.reasons[section.inside].tolist() if reason)
        why = _why(corrected.undefined, left_out, expected, section.inside)
        no_interval = ""
        if interval is not None and used.sum() == 1:
            no_interval = ONE_PAIR
        elif interval is not None and np.isnan(interval.low):
            no_interval = why or "C has no value in any resample"
        elif interval is not None:  # equal resamples say nothing of the spread of C
            alike = max(interval.high - interval.low, interval.standard_error) < _ALIKE
            no_interval = ALL_ALIKE if alike else ""
        one_sided = (self.observed.first == 0) != (self.observed.second == 0)
        return result.BeyondChanceSection(
            **vars(replace(corrected, undefined=why)),
            name=section.name,
            pairs=section.pairs,
            used=int(used.sum()),
            one_sided=int(one_sided[used].sum()),
            left_out=FrozenMap(left_out),
            interval=None if no_interval in (ONE_PAIR, ALL_ALIKE) else interval,
            no_interval=no_interval,
        )

    def sentences(self, expected: Expectation) -> tuple[result.SentenceAgreement, ...]:
        seen = self.observed
        chance = expected.terms
        sizes = (column.astype(int) for column in (seen.first, seen.second, seen.common))
        numbers = (*sizes, seen.ratio, chance.ratio, np.sqrt(chance.ratio_variance))
        names = self.sets.places.tolist(), self.sets.ids, expected.reasons.tolist()
        columns = (*names, *(column.tolist() for column in numbers))
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
    options: AgreementOptions
    seed: int
    workers: int | None
    parts: Sequence[CorpusPart]  # the whole corpus, then each group
    _edits: dict[tuple[str, str], Edits] = field(default_factory=dict, repr=False)
    _links: dict[tuple[str | None, str], LinkArrays] = field(default_factory=dict, repr=False)

    def no_edits(self, first: str, second: str) -> str:
        """Return why edit models do not apply to two annotators; empty if they do."""
        if not edits_known(self.initial, self.options.missing_initial):
            return "no initial alignment is named, so edits are not known"
        for name in (first, second):
            if name == self.initial or name in self.systems:
                why = "an automatic alignment, not an edit of the initial one"
                if name == self.initial:
                    why = "the initial alignment, which has no edits"
                return f"{name!r} is {why}; compare it by {CLOSED}"
        for name in (first, second) if self.options.universe == "judged" else ():
            if not self.data.records_judged(name):
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
        if self.options.chance != CLOSED:  # the main model needs them
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
        main = CLOSED if no_edits else self.options.chance
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
                    seed=self.seed,
                    workers=self.workers,
                    progress=progress if known else None,
                )
                for name, beyond in by_model.items():
                    signature = str(options.signed_by(name, self.seed, self.initial))
                    results[name] = replace(beyond, signature=signature)
        return {name: results[name] for name in CHANCE_MODELS if name in results}

    @cached_property
    def _has_initial(self) -> NDArray[np.bool_]:
        """(Q,): whether there is an initial alignment, or none is needed."""
        if self.initial is None or self.options.missing_initial == "empty":
            return np.ones(len(self.data.corpus), bool)
        return self.data.aligned(self.initial)

    def _places(self, *names: str, edited: bool) -> Numbers:
        done = np.all([self.data.aligned(name) for name in names], axis=0)
        if edited:
            done = done & self._has_initial & self._both_started(*names)
        return np.flatnonzero(done)

    def _both_started(self, *names: str) -> NDArray[np.bool_]:
        """(Q,): the pairs in which all started from the initial alignment, as far as is known."""
        masks = [self._started(name) for name in names]
        return np.asarray(np.all(masks, axis=0))

    def _started(self, name: str) -> NDArray[np.bool_]:
        started = self.data.started(name, self.initial or "")
        if self.initial is not None and self.options.missing_initial == "empty":
            without_links = self.data.started(name, "") & ~self.data.aligned(self.initial)
            started = started | without_links
        return started

    def _sections(self, first: str, second: str, places: Numbers) -> list[Section]:
        sections = []
        for part in self.parts:
            outside = np.setdiff1d(part.members, places)
            missing = np.array([~self.data.aligned(name)[outside] for name in (first, second)])
            alike = self._both_started(first, second)[outside].tolist()
            reasons: Counter[str] = Counter()
            for flags, same in zip(missing.T.tolist(), alike, strict=True):
                who = ", ".join(compress((first, second), flags))
                if who:
                    reasons[f"not annotated by {who}"] += 1
                else:
                    reasons[result.NO_INITIAL if same else result.OTHER_START] += 1
            sections.append(Section(part.name, len(part), np.isin(places, part.members), reasons))
        return sections

    @cached_property
    def _items(self) -> Items:
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
        sizes = items.sizes(*(self._kind(name, links).take(places) for name in names))
        universe = None
        edits = list[Edits]()
        if edited and self.options.universe == "judged":
            universe = PairData(self.data, names, places, False, "judged").judged
            edits = [self._count(name, links, places, universe) for name in names]
        elif edited:
            for name in names:  # what one changed in all pairs that this one annotated
                if (name, links) not in self._edits:
                    mine = self._places(name, edited=True)
                    self._edits[name, links] = self._count(name, links, mine, None)
                edits.append(self._edits[name, links])
        ids = tuple(corpus[place].id for place in places.tolist())
        initial = self._kind(self.initial, links).take(places)
        counted = len(corpus), items, sizes, initial, tuple(edits)
        return expectation.PairedSets(names, places, ids, *counted, universe)

    def _count(self, name: str, links: str, places: Numbers, universe: LinkArrays | None) -> Edits:
        items = self._items.part(places)
        annotated, initial = (self._kind(who, links).take(places) for who in (name, self.initial))
        return count_edits(places, annotated, initial, items.source, items.target, universe)
