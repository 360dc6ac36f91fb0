"""Correct an observed agreement of sets for chance: C = (pi - pi0) / (1 - pi0).

Each sentence pair becomes a row of four terms. Corpus, groups and bootstrap then work in the same
way: choose rows, add them up, take the ratios. With `macro` the terms are (ratio, 1, expected
ratio, 1), with `micro` (common, norm, expected common, expected norm); pi is the first sum over
the second, and pi0 the third over the fourth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import nan, sqrt
from typing import Literal
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments, check_known, naming_keywords
from alignkit._support.array_types import B1, F8, I8
from alignkit._support.wording import how_many
from alignkit.errors import OptionError
from alignkit.stats.defaults import RESAMPLES, SEED
from alignkit.stats.resampling import Counts, Interval, confidence_interval, of_corpus, ratio

Norm = Callable[[F8, F8], F8]

NORMALIZERS: Mapping[str, Norm] = {"min": np.minimum, "max": np.maximum}
"""The size by which |A & B| is divided: the smaller or the larger."""

Sampler = Callable[[int, int, np.random.Generator], Collection[Hashable]]
"""Draws a set by chance: of a unit's place, an annotator (0 or 1) and a generator."""

AGGREGATES = ("macro", "micro")
"""The mean of the sentence pairs' ratios, or the ratio of the pooled counts."""

FEW_UNITS: Mapping[str, int] = {"macro": 30, "micro": 50}
"""With fewer units, intervals of C are too narrow; more are needed if a few units hold most."""

CHANCE_IS_ONE = "pi0 is 1: by chance alone the two agree completely"
BOTH_EMPTY = "both sets empty"
ONLY_EMPTY = "only empty samples"
NO_PAIRS = "no sentence pair is left"
NO_NORM = "the norms add up to 0: in no sentence pair do both have items"


@dataclass(frozen=True)
class Correction:
    """An agreement corrected for chance.

    The base of `BeyondChanceSection` and `SetCorrection`, which have an interval.

    Parameters
    ----------
    pi : The observed agreement; NaN if undefined.
    pi0 : The agreement expected by chance; NaN if undefined.
    C : (pi - pi0) / (1 - pi0); NaN if undefined.
    undefined : Why C has no value; empty if it has one.
    pi0_error, C_error : The Monte-Carlo errors: the standard errors due to sampling. 0 for closed
        forms, NaN if undefined.

    Examples
    --------
    >>> from alignkit.agreement import correct_sets
    >>> correction = correct_sets([{1}, {2, 3}], [{1}, {3}], choices=4)
    >>> correction.pi, correction.undefined, correction.C_error
    (1.0, '', 0.0)
    """

    pi: float
    pi0: float
    C: float
    undefined: str
    pi0_error: float
    C_error: float


@dataclass(frozen=True)
class SetCorrection(Correction):
    """The agreement of sets, corrected for chance.

    Returned by `correct_sets`.

    Parameters
    ----------
    interval : The bootstrap interval of C over units; None if not requested.
    left_out : The number of units left out, by reason.
    notes : Cautions.

    Examples
    --------
    >>> from alignkit.agreement import correct_sets
    >>> correction = correct_sets([{1}, set()], [{1}, set()], choices=4)
    >>> correction.C, correction.left_out
    (1.0, Counter({'both sets empty': 1}))
    """

    interval: Interval | None
    left_out: Mapping[str, int]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ObservedTerms:
    """The observed overlap of two annotators in P sentence pairs."""

    first: F8  # (P,): the sizes of A
    second: F8  # (P,): the sizes of B
    common: F8  # (P,): the sizes of A & B
    norm: F8  # (P,): the smaller or the larger size
    ratio: F8  # (P,): common / norm; 0 where one set is empty, NaN where both are

    @classmethod
    def of(cls, first: F8, second: F8, common: F8, normalizer: str) -> ObservedTerms:
        """Compute the norms and ratios."""
        norm = NORMALIZERS[normalizer](first, second)
        share = np.divide(common, norm, out=np.zeros(len(norm)), where=norm > 0)
        share[(first == 0) & (second == 0)] = nan
        return cls(first, second, common, norm, share)

    def part(self, kept: I8) -> ObservedTerms:
        """Return the terms of some of the pairs."""
        return ObservedTerms(**{name: values[kept] for name, values in vars(self).items()})


@dataclass(frozen=True)
class ChanceTerms:
    """The overlap expected by chance in P sentence pairs, and its sampling error."""

    ratio: F8  # (P,): the mean over samples of common / norm
    common: F8  # (P,): the mean of |A & B|
    norm: F8  # (P,): the mean of the norm
    ratio_variance: F8  # (P,): the variance of the mean ratio; NaN if not known
    common_variance: F8  # (P,): that of the mean of |A & B|
    norm_variance: F8  # (P,): that of the mean of the norm
    covariance: F8  # (P,): of the means of |A & B| and of the norm

    @classmethod
    def exact(cls, first: F8, second: F8, common: F8, normalizer: str) -> ChanceTerms:
        """Return the terms of a known expectation, for sets of fixed sizes."""
        terms = ObservedTerms.of(first, second, common, normalizer)
        zero = np.zeros(len(common))
        return cls(terms.ratio, common, terms.norm, zero, zero, zero, zero)

    def part(self, kept: B1) -> ChanceTerms:
        """Return the terms of some of the pairs."""
        return ChanceTerms(**{name: values[kept] for name, values in vars(self).items()})

    def placed(self, places: I8, pairs: int) -> ChanceTerms:
        """Return terms for more pairs: these at the given places, the others unknown (NaN)."""
        columns = {}
        for name, values in vars(self).items():
            columns[name] = np.full(pairs, nan)
            columns[name][places] = values
        return ChanceTerms(**columns)


def rows(observed: ObservedTerms, chance: ChanceTerms, aggregate: str) -> F8:
    """Return the (P, 4) terms: observed numerator and denominator, then the expected ones."""
    if aggregate == "micro":
        return np.stack([observed.common, observed.norm, chance.common, chance.norm], axis=1)
    ones = np.ones(len(observed.ratio))
    return np.stack([observed.ratio, ones, chance.ratio, ones], axis=1)


def noise(chance: ChanceTerms, aggregate: str) -> F8:
    """Return the (P, 3) variances of the two expected terms and their covariance."""
    zero = np.zeros(len(chance.ratio))
    if aggregate == "micro":
        return np.stack([chance.common_variance, chance.norm_variance, chance.covariance], axis=1)
    return np.stack([chance.ratio_variance, zero, zero], axis=1)


def correction_ratios(sums: Counts) -> dict[str, F8]:
    """Return pi, pi0 and C of (R, 4) sums of terms; NaN if undefined."""
    pi = ratio(sums[:, 0], sums[:, 1])
    pi0 = ratio(sums[:, 2], sums[:, 3])
    return {"pi": pi, "pi0": pi0, "C": ratio(pi - pi0, 1 - pi0)}


def correct(terms: F8, variances: F8 | None = None) -> Correction:
    """Compute the corrected agreement of some sentence pairs."""
    pi, pi0, c = of_corpus(correction_ratios, terms).values()
    pi0_error = nan
    if not np.isnan(pi0):
        if variances is None:
            variances = np.zeros((1, 3))
        pi0_error = _error_of_ratio(pi0, float(terms[:, 3].sum()), variances.sum(axis=0))
    c_error = nan
    if not len(terms):
        reason = NO_PAIRS
    elif np.isnan(pi) or np.isnan(pi0):
        reason = NO_NORM
    elif pi0 == 1:
        reason = CHANCE_IS_ONE
    else:
        reason = ""
        c_error = pi0_error * (1 - pi) / (1 - pi0) ** 2  # |dC / dpi0|, the delta method
    return Correction(pi, pi0, c, reason, pi0_error, c_error)


def _error_of_ratio(value: float, denominator: float, variances: F8) -> float:
    """Return the standard error of a ratio of sums x / y, by the delta method.

    sqrt(var x - 2 r cov + r^2 var y) / y, for the ratio r and (var x, var y, cov).
    """
    of_numerator, of_denominator, covariance = variances.tolist()
    variance = of_numerator - 2 * value * covariance + value**2 * of_denominator
    return sqrt(max(variance, 0.0)) / denominator


@naming_keywords
def correct_sets(
    first: Sequence[Collection[Hashable]],
    second: Sequence[Collection[Hashable]],
    *,
    choices: int | Sequence[int] | None = None,
    sample: Sampler | None = None,
    samples: int = 1000,
    seed: int = SEED,
    normalizer: Literal["min", "max"] = "min",
    aggregate: Literal["macro", "micro"] = "macro",
    confidence: float | None = None,
    resamples: int = RESAMPLES,
) -> SetCorrection:
    """Compute the agreement of two annotators who chose sets of items.

    Chance is either a number of choices, after Kupper & Hafner, or a sampler (after Cohn et al.,
    for any structure that can be written as a set of items, such as trees or segments). C of two
    structures, or with two samplers, is not comparable.

    Parameters
    ----------
    first, second : The sets chosen by each annotator, one per unit; units with two empty sets are
        left out.
    choices : The number of items to choose from: one number, or one for each unit.
    sample : A function of a unit's place, an annotator (0 or 1) and a generator; it returns a set
        that the annotator could have chosen by chance. See `alignkit.agreement.samplers`.
    samples : How many pairs of sets are drawn for each unit.
    seed : The seed of samples and resamples. The samples of a unit depend on its sets, and neither
        on other units nor on their order.
    normalizer : ``"min"`` divides |A & B| by the smaller set, ``"max"`` by the larger one (Kupper &
        Hafner's definition).
    aggregate : ``"macro"``: pi is the mean of the ratios, and pi0 that of the samples in which a
        set has an item; ``"micro"``: the ratio of the sums, in all samples.
    confidence : The confidence of a bootstrap interval of C over units, with the samples fixed;
        None: no interval.
    resamples : The number of resamples of the interval.

    Raises
    ------
    OptionError : If the numbers of units differ, a set has more items than there are choices, or
        the sampler fails; the message names the unit and the annotator.
    UnknownNameError : If `normalizer` or `aggregate` is not a known name.

    References
    ----------
    Kupper & Hafner 1989, On assessing interrater agreement for multiple attribute responses,
    Biometrics 45:957-967.

    Examples
    --------
    >>> a, b = [{10}, {20, 30}, {40}], [{10, 20}, {30}, {40}]
    >>> result = correct_sets(a, b, choices=4, normalizer="max")
    >>> round(result.pi, 4), result.pi0, round(result.C, 4)
    (0.6667, 0.25, 0.5556)
    """
    check_arguments(correct_sets, locals(), apart=("sample",))
    check_known("normalizer", normalizer, NORMALIZERS)
    check_known("aggregate", aggregate, AGGREGATES)
    if len(first) != len(second):
        raise OptionError(f"{len(first)} sets of one annotator, but {len(second)} of the other")
    if (choices is None) == (sample is None):
        raise OptionError("give either `choices` or a sampler (`sample`)")
    sets = [(set(a), set(b)) for a, b in zip(first, second, strict=True)]
    sizes = np.array([(len(a), len(b), len(a & b)) for a, b in sets], np.float64).reshape(-1, 3)
    kept = np.flatnonzero(sizes[:, :2].any(axis=1))
    left_out = Counter({BOTH_EMPTY: len(sizes) - len(kept)})
    constant = False
    if sample is not None:
        seeds = _seeds([sets[k] for k in kept], seed)
        expected, constant = _sampled(sample, kept.tolist(), samples, seeds, normalizer)
        drawn = ~np.isnan(expected.ratio)
        left_out[ONLY_EMPTY] = int((~drawn).sum())
        kept = kept[drawn]
        expected = expected.part(drawn)
    else:
        expected = _by_choices(sizes, choices, kept, normalizer)
    a, b, common = sizes[kept].T
    observed = ObservedTerms.of(a, b, common, normalizer)
    terms = rows(observed, expected, aggregate)
    interval = None
    if confidence is not None:
        interval = confidence_interval(
            terms, correction_ratios, resamples=resamples, confidence=confidence, seed=seed
        )["C"]
    corrected = correct(terms, noise(expected, aggregate))
    notes = list[str]()
    if constant:
        notes.append("chance-near-one: the sampler draws the same sets each time")
    if len(kept) < FEW_UNITS[aggregate]:
        units = how_many(len(kept), "unit")
        notes.append(
            f"few-units: C is based on {units}, fewer than {FEW_UNITS[aggregate]}: other "
            "units could give a very different C; report the number of units"
        )
    return SetCorrection(
        **vars(corrected),  # the numbers of a correction
        interval=interval,
        left_out=+left_out,  # the reasons that occur
        notes=tuple(notes),
    )


def _by_choices(
    sizes: F8,
    choices: int | Sequence[int] | None,
    kept: NDArray[np.intp],
    normalizer: str,
) -> ChanceTerms:
    """Return |A| |B| / K of the kept units, for (U, 3) sizes and K choices, one or one each."""
    room = np.broadcast_to(np.asarray(choices, np.float64), len(sizes))
    if np.any(sizes[:, :2].max(axis=1, initial=0) > room):
        raise OptionError("a set has more items than `choices`; check `choices`")
    a, b, _ = sizes[kept].T
    return ChanceTerms.exact(a, b, a * b / room[kept], normalizer)


def _seeds(sets: Sequence[tuple[set[Hashable], set[Hashable]]], seed: int) -> list[list[int]]:
    """Return a seed for each unit by its sets, whatever their order; equal ones are numbered."""
    seen = Counter[int]()
    seeds = []
    for both in sets:
        text = "|".join(map(_text_of, both))
        content = crc32(text.encode("utf-8", "surrogatepass"))
        seeds.append([seed, content, seen[content]])
        seen[content] += 1
    return seeds


def _text_of(items: set[Hashable]) -> str:
    """Return a text of a set that does not depend on any order.

    Of each item it has the characters of `repr`, sorted, because an item may be a set itself, whose
    `repr` has no fixed order.
    """
    texts = ["".join(sorted(repr(item))) for item in items]
    return " ".join(sorted(texts))


def _sampled(
    sample: Sampler, units: Sequence[int], samples: int, seeds: Sequence[list[int]], normalizer: str
) -> tuple[ChanceTerms, bool]:
    """Return the means over samples, their variances, and whether all samples are the same.

    The mean ratio is over the samples in which a set has an item. The means of `micro` are over all
    samples, so that a unit that is seldom annotated weighs little.
    """
    if samples < 2:
        raise OptionError(f"`samples` is {samples}; expected 2 or more")
    terms = np.full((len(units), 7), nan)  # in the order of the fields of ChanceTerms
    constant = len(units) > 0
    for k, unit in enumerate(units):
        rng_of_first = np.random.default_rng([*seeds[k], 0])
        rng_of_second = np.random.default_rng([*seeds[k], 1])
        sizes = np.empty((samples, 3))
        first_draw = None
        for row in sizes:
            a = _draw(sample, unit, 0, rng_of_first)
            b = _draw(sample, unit, 1, rng_of_second)
            if first_draw is None:
                first_draw = (a, b)
            constant = constant and (a, b) == first_draw
            row[:] = len(a), len(b), len(a & b)
        first, second, common = sizes.T
        chance = ObservedTerms.of(first, second, common, normalizer)
        used = ~np.isnan(chance.ratio)
        if not used.any():
            continue
        moments = np.cov(chance.common, chance.norm, ddof=0) / samples
        terms[k] = (
            chance.ratio[used].mean(),
            chance.common.mean(),
            chance.norm.mean(),
            chance.ratio[used].var() / used.sum(),
            moments[0, 0],
            moments[1, 1],
            moments[0, 1],
        )
    return ChanceTerms(*terms.T), constant


def _draw(sample: Sampler, unit: int, annotator: int, rng: np.random.Generator) -> set[Hashable]:
    """Return a set from the sampler; raise an OptionError if it fails."""
    try:
        return set(sample(unit, annotator, rng))
    except Exception as problem:
        raise OptionError(
            f"the sampler failed at unit {unit}, annotator {annotator}: "
            f"{type(problem).__name__}: {problem}"
        ) from problem
