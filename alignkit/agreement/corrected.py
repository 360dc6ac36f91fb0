"""Measure the agreement of two annotators beyond chance (METHOD section 5)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.chance import SampledChance
from alignkit.agreement.compared import ComparedPairs
from alignkit.agreement.corrected_bootstrap import Refit, fixed_intervals, refitted_intervals
from alignkit.agreement.corrected_result import (
    CorrectedAgreement,
    CorrectedSection,
    SentenceAgreement,
)
from alignkit.agreement.corrected_settings import CorrectedSettings
from alignkit.agreement.correction import CHANCE_IS_ONE, NO_PAIRS, correct, noise, rows
from alignkit.agreement.expectation import BOTH_EMPTY, ONLY_EMPTY, Expectation, expect, part
from alignkit.agreement.monte_carlo import Progress, Sampling
from alignkit.arguments import check_arguments
from alignkit.corpus import Corpus
from alignkit.errors import OptionError
from alignkit.frozen import FrozenMap
from alignkit.scoring.bootstrap import Interval

__all__ = ["agreement", "choose_seed"]

Groups = list[tuple[str, NDArray[np.int64]]]
"""The sections of the report: a name, and positions in the corpus."""


def agreement(
    corpus: Corpus,
    first: str,
    second: str,
    *,
    initial: str | None = None,
    missing_initial: str = "error",
    chance: str = "edit",
    reading: str = "count",
    unit: str = "phrases",
    links: str = "sure",
    normalizer: str = "min",
    aggregate: str = "macro",
    include_identical: bool = False,
    exact_case: bool = False,
    by: str | None = None,
    samples: int = 1000,
    tolerance: float | None = None,
    bootstrap: str = "fixed",
    resamples: int = 1000,
    confidence: float = 0.95,
    workers: int | None = None,
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
) -> CorrectedAgreement:
    """Measure how far two annotators agree beyond chance: C = (pi - pi0) / (1 - pi0).

    pi is the mean over the sentence pairs of |A & B| / min(|A|, |B|), A and B the atomic phrase
    pairs (or links) of the two annotators, identical ones left out; pi0 is what the same ratio
    comes to when each annotator changes cells of the initial alignment at random, as many as they
    did change [1]_.

    Parameters
    ----------
    corpus
        The sentence pairs, with their words. Those that both annotated are compared.
    first, second
        The annotators.
    initial
        The name of the automatic alignment that they started from; models that sample need it.
    missing_initial
        What becomes of a sentence pair without it: ``"error"``, ``"empty"`` (as if it were there,
        without links) or ``"leave-out"``.
    chance
        A model of `alignkit.agreement.CHANCE_MODELS`: ``"edit"`` (the article's), ``"edit-split"``
        (added and deleted links have rates of their own) or ``"kupper-hafner"``.
    reading
        What is linear in N + M: the expected ``"count"`` of edits or the ``"probability"`` of one.
    unit
        ``"phrases"`` (atomic phrase pairs) or ``"links"``.
    links
        Which links everything is made of: ``"sure"``, or ``"possible"`` for all.
    normalizer
        ``"min"``, or ``"max"`` as Kupper & Hafner have it.
    aggregate
        ``"macro"``: the mean of the sentence pairs' ratios; ``"micro"``: the ratio of the sums.
    include_identical
        Whether items of equal words take part.
    exact_case
        Whether words that differ in case alone are different.
    by
        An attribute of the pairs: give the agreement for each of its values as well.
    samples
        The most samples of each sentence pair.
    tolerance
        Stop sampling when the standard error of C is not above this.
    bootstrap
        The interval of C over sentence pairs: with the edit models ``"fixed"``, with models that
        are ``"refit"`` to each resample (28 bytes of memory for each sample of each pair), or
        ``"none"``.
    resamples, confidence
        How many resamples, and which share of them lies in the interval.
    workers
        Threads; None takes one for each core. The result does not depend on it.
    rng
        A generator or its seed; None takes a fresh one. The signature names the seed.
    progress
        Is told how many samples are drawn, and of how many.

    Returns
    -------
    CorrectedAgreement
        C is NaN where it has no value, and `undefined` then says why.

    Raises
    ------
    UnknownNameError
        If a name is in no table, or an annotator or `initial` annotated nothing.
    OptionError
        If a number is out of range, or an initial alignment is missing.
    MissingTextError
        If the words of a pair are not known.

    Notes
    -----
    The edit models are fitted to all pairs that an annotator and `initial` annotated, whether the
    other annotator did or not. Edits are counted over all cells; identical items are filtered after
    sampling. The formula of pi is not legible in the copy of the article at hand and was
    reconstructed; so was that the smaller set is the norm, from the article's words. With
    ``"micro"`` the expected sums are over all samples, empty ones (which add nothing) included.

    References
    ----------
    .. [1] Cohn, Callison-Burch & Lapata 2008, Constructing corpora for the development and
       evaluation of paraphrase systems, Computational Linguistics 34(4):597-614, eq. 4-7.
    .. [2] Kupper & Hafner 1989, On assessing interrater agreement for multiple attribute
       responses, Biometrics 45:957-967.

    Examples
    --------
    >>> from alignkit.alignment import Alignment
    >>> from alignkit.corpus import SentencePair
    >>> texts = ("he", "left", "early"), ("she", "went", "away", "soon")
    >>> pair = SentencePair("1", *texts, {
    ...     "initial": Alignment.parse("0-0"), "anna": Alignment.parse("0-0 1-1 1-2"),
    ...     "ben": Alignment.parse("0-0 1-1 1-2 2-3")})
    >>> found = agreement(Corpus([pair]), "anna", "ben", initial="initial", rng=1)
    >>> found.pi, found.used, round(found.C, 1)
    (1.0, 1, 1.0)
    """
    check_arguments(agreement, locals())
    settings = CorrectedSettings(
        initial, missing_initial, chance, reading, unit, links, normalizer, aggregate,
        include_identical, exact_case, samples, tolerance, bootstrap, resamples, confidence,
    )  # fmt: skip
    groups = _groups(corpus, by)
    compared = ComparedPairs(corpus, (first, second), settings)
    seed = choose_seed(rng)
    sample_seeds, interval_seeds = np.random.SeedSequence(seed).spawn(2)
    expected = expect(compared, sample_seeds, workers=workers, progress=progress)
    masks = [np.isin(compared.places, members) for _, members in groups]
    intervals, redrawn = _intervals(compared, expected, masks, interval_seeds, workers)
    sections = [
        _section(compared, expected, group, mask, interval)
        for group, mask, interval in zip(groups, masks, intervals, strict=True)
    ]
    sampled = expected.sampled
    models = zip(compared.names, sampled.models, strict=True) if sampled else ()
    return CorrectedAgreement(
        **vars(sections[0]),
        annotators=compared.names,
        by=by,
        groups=tuple(sections[1:]),
        sentences=_sentences(compared, expected),
        models=FrozenMap(models),
        samples=sampled.drawn.samples if sampled else 0,
        distribution=sampled.drawn.distribution(aggregate) if sampled else np.zeros(0),
        redrawn=redrawn,
        signature=str(settings.sign(seed)),
    )


def choose_seed(rng: np.random.Generator | int | None) -> int:
    """Return the seed itself, or one that the generator (None: a fresh one) draws.

    Raises
    ------
    OptionError
        If it is below 0.
    """
    if isinstance(rng, int):
        if rng < 0:
            raise OptionError(f"a seed must not be below 0, and is {rng}")
        return rng
    return int(np.random.default_rng(rng).integers(2**32))


def _groups(corpus: Corpus, by: str | None) -> Groups:
    """Return the whole corpus, then each group."""
    found: Groups = [("all", np.arange(len(corpus)))]
    if by is not None:
        values = [pair.attributes.get(by, "") for pair in corpus]
        for name in corpus.groups(by):
            members = [place for place, value in enumerate(values) if value == name]
            found.append((name, np.array(members, np.int64)))
    return found


def _intervals(
    compared: ComparedPairs,
    expected: Expectation,
    masks: list[NDArray[np.bool_]],
    seeds: np.random.SeedSequence,
    workers: int | None,
) -> tuple[list[Interval] | list[None], int]:
    """Return the interval of C in each section, and how often pairs were drawn anew for it."""
    settings, used = compared.settings, expected.used
    inside = [mask[used] for mask in masks]
    resamples, confidence = settings.resamples, settings.confidence
    if settings.bootstrap == "none":
        return [None] * len(masks), 0
    refit = _refit(compared, expected) if settings.bootstrap == "refit" else None
    if refit is not None:
        return refitted_intervals(
            refit, inside, resamples=resamples, confidence=confidence, seeds=seeds, workers=workers
        )
    terms = rows(compared.observed, expected.terms, settings.aggregate)[used]
    rng = np.random.default_rng(seeds)
    found = fixed_intervals(terms, inside, resamples=resamples, confidence=confidence, rng=rng)
    return found, 0


def _refit(compared: ComparedPairs, expected: Expectation) -> Refit | None:
    """Gather what the refitting needs of the used pairs; None where there is nothing to refit."""
    settings, sampled, used = compared.settings, expected.sampled, np.flatnonzero(expected.used)
    if sampled is None or not isinstance(settings.model, SampledChance) or not len(used):
        return None
    places = [compared.places[k] for k in used]
    inside = np.isin(sampled.kept, used)
    initial, items = compared.links(places, settings.initial), compared.items_of(places)
    drawn = sampled.drawn
    return Refit(
        model=settings.model,
        reading=settings.reading,
        edits=sampled.edits,
        places=np.array(places, np.int64),
        corpus_size=len(compared.corpus),
        observed=part(compared.observed, used),
        sampling=Sampling(initial, items, sampled.sampling.rates[inside], settings.normalizer),
        sampled=replace(drawn, moments=drawn.moments[inside], records=drawn.records[inside]),
        aggregate=settings.aggregate,
    )


def _section(
    compared: ComparedPairs,
    expected: Expectation,
    group: tuple[str, NDArray[np.int64]],
    mask: NDArray[np.bool_],
    interval: Interval | None,
) -> CorrectedSection:
    name, members = group
    used, aggregate = mask & expected.used, compared.settings.aggregate
    terms = rows(compared.observed, expected.terms, aggregate)[used]
    found = correct(terms, noise(expected.terms, aggregate)[used])
    left_out = compared.outside(members)
    left_out.update(reason for reason in expected.reasons[mask].tolist() if reason)
    return CorrectedSection(
        **vars(replace(found, undefined=_why(found.undefined, left_out, expected, mask))),
        name=name,
        pairs=len(members),
        used=int(used.sum()),
        left_out=FrozenMap(left_out),
        interval=interval,
    )


def _why(
    reason: str, left_out: Counter[str], expected: Expectation, mask: NDArray[np.bool_]
) -> str:
    """Say more exactly why C has no value."""
    if reason == NO_PAIRS:
        if left_out[ONLY_EMPTY]:
            return f"{reason}: in every sample both sets are empty, so pi0 has no value"
        if left_out[BOTH_EMPTY]:
            return f"{reason}: neither annotator has anything to compare"
        return f"{reason}: there is none that both annotated"
    if reason == CHANCE_IS_ONE and expected.sampled is not None:
        rates = expected.sampled.sampling.rates[mask[expected.sampled.kept]]
        if not rates.any():
            return f"{reason}, as nobody edits: every sample is the initial alignment"
        if (rates == 1).all():
            return f"{reason}, as everybody flips every cell: all samples are the same"
    return reason


def _sentences(compared: ComparedPairs, expected: Expectation) -> tuple[SentenceAgreement, ...]:
    seen, chance = compared.observed, expected.terms
    columns = (
        *(sizes.astype(int).tolist() for sizes in (seen.first, seen.second, seen.common)),
        seen.ratio.tolist(),
        chance.ratio.tolist(),
        np.sqrt(chance.ratio_variance).tolist(),
    )
    return tuple(
        SentenceAgreement(place, pair.id, reason, *numbers)
        for place, pair, reason, numbers in zip(
            compared.places,
            compared.pairs,
            expected.reasons.tolist(),
            zip(*columns, strict=True),
            strict=True,
        )
    )
