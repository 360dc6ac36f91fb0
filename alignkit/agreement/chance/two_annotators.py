"""Measure how far two annotators agree beyond chance, at one level, by one or several models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from alignkit._support.parallel import stage
from alignkit._support.values import FrozenMap
from alignkit.agreement.chance.correction import CHANCE_IS_ONE, NO_PAIRS, correct, noise, rows
from alignkit.agreement.chance.expectation import (
    BOTH_EMPTY,
    ONLY_EMPTY,
    Expectation,
    PairedSets,
    expect,
    part,
)
from alignkit.agreement.chance.models import SampledChance, chance_model
from alignkit.agreement.chance.result import (
    BeyondChance,
    BeyondChanceSection,
    Refit,
    SentenceAgreement,
    fixed_intervals,
    refitted_intervals,
)
from alignkit.agreement.chance.sampling import Progress, Sampling
from alignkit.agreement.options import AgreementOptions
from alignkit.stats.resampling import Interval

ONE_PAIR = "one sentence pair is used: there is nothing to resample"
ALL_ALIKE = "all resamples give the same"
_ALIKE = 1e-12


@dataclass(frozen=True, eq=False)
class Section:
    """Which of the P pairs of two annotators are in a part of the corpus."""

    name: str  # the part; "all" for the whole corpus
    pairs: int  # how many sentence pairs of the corpus there are
    inside: NDArray[np.bool_]  # (P,): which of the compared pairs are in it
    outside: Mapping[str, int]  # for each reason how many of its pairs are not compared


def beyond_chance_by_model(
    sets: PairedSets,
    models: Sequence[str],
    options: AgreementOptions,
    sections: Sequence[Section],
    *,
    seed: int,
    workers: int | None = None,
    progress: Progress | None = None,
) -> FrozenMap[str, BeyondChance]:
    """Measure agreement beyond chance by several models: C = (pi - pi0) / (1 - pi0).

    pi is the mean over the sentence pairs of |A & B| / min(|A|, |B|), A and B the sets of the two
    annotators; pi0 is what the same ratio comes to by the model (Cohn et al. 2008, eq. 4-7). Each
    model gives the same to the bit as alone; sets, edits and resamples are shared.
    """
    expectations: dict[str, Expectation] = {}
    intervals: dict[str, list[Interval]] = {}
    redrawn: dict[str, int] = {}
    sampled = [name for name in models if isinstance(chance_model(name), SampledChance)]
    for name in models:
        model = chance_model(name)
        share = progress if name in sampled else None  # the closed form takes no time
        if share is not None and len(sampled) > 1:
            share = stage(share, sampled.index(name), len(sampled), whole=10_000)
        samples, resamples = np.random.SeedSequence(seed).spawn(2)
        expected = expect(sets, model, options, samples, workers=workers, progress=share)
        refit = _refit(sets, name, options, expected) if options.bootstrap == "refit" else None
        if refit is not None:
            inside = [section.inside[expected.used] for section in sections]
            intervals[name], redrawn[name] = refitted_intervals(
                refit,
                inside,
                resamples=options.resamples,
                confidence=options.confidence,
                seeds=resamples,
                workers=workers,
            )
            expected = expected.without_records()
        expectations[name] = expected
    if options.bootstrap != "none":
        rest = {name: one for name, one in expectations.items() if name not in intervals}
        intervals |= _fixed(sets, rest, options, sections, seed)
    results = {}
    for name, expected in expectations.items():
        drawn = intervals.get(name), redrawn.get(name, 0)
        results[name] = _result(sets, name, expected, options, sections, *drawn)
    return FrozenMap(results)


def _fixed(
    sets: PairedSets,
    expectations: Mapping[str, Expectation],
    options: AgreementOptions,
    sections: Sequence[Section],
    seed: int,
) -> dict[str, list[Interval]]:
    """Return the intervals in each section; models that use the same pairs are resampled once."""
    observed = sets.observed(options.normalizer)
    alike: dict[bytes, list[str]] = {}
    for name, expected in expectations.items():
        alike.setdefault(expected.used.tobytes(), []).append(name)
    intervals: dict[str, list[Interval]] = {}
    for names in alike.values():
        used = expectations[names[0]].used
        made = fixed_intervals(
            [rows(observed, expectations[name].terms, options.aggregate)[used] for name in names],
            [section.inside[used] for section in sections],
            resamples=options.resamples,
            confidence=options.confidence,
            rng=np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[1]),
        )
        intervals.update(zip(names, made, strict=True))
    return intervals


def _refit(
    sets: PairedSets, name: str, options: AgreementOptions, expected: Expectation
) -> Refit | None:
    """Gather what the refitting needs of the used pairs; None where there is nothing to refit."""
    model, sampled, used = chance_model(name), expected.sampled, np.flatnonzero(expected.used)
    if not isinstance(model, SampledChance) or sampled is None or sets.edits is None:
        return None
    if not len(used):
        return None
    inside = np.isin(sampled.kept, used)
    drawn, universe = sampled.drawn, sets.universe
    return Refit(
        model=model,
        reading=options.reading,
        edits=sets.edits,
        places=sets.places[used],
        corpus_size=sets.corpus_size,
        observed=part(sets.observed(options.normalizer), used),
        trials=sets.trials[used],
        sampling=Sampling(
            sets.initial.take(used),
            sets.items.part(used),
            sampled.sampling.rates[inside],
            options.normalizer,
            None if universe is None else universe.take(used),
        ),
        sampled=replace(drawn, moments=drawn.moments[inside], records=drawn.records[inside]),
        aggregate=options.aggregate,
    )


def _result(
    sets: PairedSets,
    name: str,
    expected: Expectation,
    options: AgreementOptions,
    sections: Sequence[Section],
    intervals: list[Interval] | None,
    redrawn: int,
) -> BeyondChance:
    found: Sequence[Interval | None] = intervals or [None] * len(sections)
    parts = [
        _section(sets, expected, options, section, interval)
        for section, interval in zip(sections, found, strict=True)
    ]
    sampled = expected.sampled
    models = zip(sets.annotators, sampled.models, strict=True) if sampled else ()
    rates = zip(sets.annotators, (one.rates for one in sets.edits or ()), strict=False)
    return BeyondChance(
        **vars(parts[0]),
        annotators=sets.annotators,
        chance=name,
        groups=tuple(parts[1:]),
        sentences=_sentences(sets, expected, options),
        models=FrozenMap(models),
        rates=FrozenMap(rates),
        samples=sampled.drawn.samples if sampled else 0,
        distribution=sampled.drawn.distribution(options.aggregate) if sampled else np.zeros(0),
        redrawn=redrawn,
    )


def _section(
    sets: PairedSets,
    expected: Expectation,
    options: AgreementOptions,
    section: Section,
    interval: Interval | None,
) -> BeyondChanceSection:
    used, observed = section.inside & expected.used, sets.observed(options.normalizer)
    terms = rows(observed, expected.terms, options.aggregate)[used]
    corrected = correct(terms, noise(expected.terms, options.aggregate)[used])
    left_out = Counter(section.outside)
    left_out.update(reason for reason in expected.reasons[section.inside].tolist() if reason)
    why = _why(corrected.undefined, left_out, expected, section.inside)
    no_interval = _no_interval(interval, int(used.sum()), why)
    return BeyondChanceSection(
        **vars(replace(corrected, undefined=why)),
        name=section.name,
        pairs=section.pairs,
        used=int(used.sum()),
        one_sided=int(((observed.first == 0) != (observed.second == 0))[used].sum()),
        left_out=FrozenMap(left_out),
        interval=None if no_interval in (ONE_PAIR, ALL_ALIKE) else interval,
        no_interval=no_interval,
    )


def _no_interval(interval: Interval | None, used: int, undefined: str) -> str:
    """Return why there is no interval; equal resamples say nothing of the spread of C."""
    if interval is None:
        return ""
    if used == 1:
        return ONE_PAIR
    if np.isnan(interval.low):
        return undefined or "C has no value in any resample"
    if interval.high - interval.low < _ALIKE and interval.standard_error < _ALIKE:
        return ALL_ALIKE
    return ""


def _why(
    reason: str, left_out: Counter[str], expected: Expectation, inside: NDArray[np.bool_]
) -> str:
    if reason == NO_PAIRS:
        if left_out[ONLY_EMPTY]:
            return f"{reason}: in every sample both sets are empty, so pi0 has no value"
        if left_out[BOTH_EMPTY]:
            return f"{reason}: neither annotator has anything to compare"
        return f"{reason}: there is none that both annotated"
    if expected.undefined:
        return expected.undefined
    if reason == CHANCE_IS_ONE and expected.sampled is not None:
        rates = expected.sampled.sampling.rates[inside[expected.sampled.kept]]
        if not rates.any():
            return f"{reason}, as nobody edits: every sample is the initial alignment"
        if (rates == 1).all():
            return f"{reason}, as everybody flips every cell: all samples are the same"
    return reason


def _sentences(
    sets: PairedSets, expected: Expectation, options: AgreementOptions
) -> tuple[SentenceAgreement, ...]:
    seen, chance = sets.observed(options.normalizer), expected.terms
    sizes = (column.astype(int) for column in (seen.first, seen.second, seen.common))
    numbers = (*sizes, seen.ratio, chance.ratio, np.sqrt(chance.ratio_variance))
    names = sets.places.tolist(), sets.ids, expected.reasons.tolist()
    columns = (*names, *(column.tolist() for column in numbers))
    return tuple(SentenceAgreement(*row) for row in zip(*columns, strict=True))
