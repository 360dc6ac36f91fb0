"""Profile systems by phenomenon: a measure on each, tested against all other pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import isnan, nan
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments, check_attributes, check_known
from alignkit._support.keywords import takes_options
from alignkit._support.wording import how_many, overlapping
from alignkit.errors import OptionError, UnknownNameError
from alignkit.scoring.profile import Difference, OnPhenomenon, Profile
from alignkit.scoring.ranking import FEW_HOLD, Measured, rank
from alignkit.scoring.subset_tests import (
    Subsets,
    Systems,
    against_complement,
    against_whole,
    one_test_each,
)
from alignkit.stats import resampling
from alignkit.stats.corrections import holm, holm_bounds
from alignkit.stats.defaults import CONFIDENCE, RESAMPLES, SEED
from alignkit.stats.resampling import FEW_PAIRS, Counts, Interval, Ratios, of_corpus
from alignkit.stats.tests import (
    alone_right,
    enough_draws,
    mcnemar,
    paired_randomization,
    randomization_floor,
)
from alignkit.version import __version__

if TYPE_CHECKING:
    from typing_extensions import Unpack

_TRIALS = 10_000  # at least
_TRIALS_EACH = 200  # for each tested phenomenon

KOVATCHEV = "kovatchev"  # the name of the tests by Kovatchev et al. (2019)

PAIRED = ("randomization", "mcnemar")
"""The tests of two systems on the same pairs: for any measure, or for pairs that are right or
wrong."""

_NAMES = {"f1": "F1", "aer": "AER"}
_COMPLEMENT = (
    "p: two-sided, pairs with the phenomenon against the others, by permutation (<: an upper bound)"
)
_WHOLE = (
    "p: one-sided, pairs with the phenomenon against all pairs, by Mann and Whitney's test of the "
    "measure of each pair"
)
_PAIRED = {
    "randomization": "p: two-sided, by paired randomization of the pairs with the phenomenon (<: "
    "an upper bound)",
    "mcnemar": "p: two-sided, McNemar's exact test on the pairs with the phenomenon",
    KOVATCHEV: "p: two-sided, McNemar's test without correction for continuity, on the pairs with "
    "the phenomenon",
}
_CARE = (
    "p of phenomena is one-sided, in the direction of the data, and the whole set includes the "
    "subset: use it only as a description, and test your claims without `like`"
)


@dataclass(frozen=True)
class ProfileOptions:
    """The options of a profile; see `profile_rows` for their meaning."""

    by: str = "phenomena"
    paired: str = "randomization"
    like: str | None = None
    trials: int | None = None
    resamples: int = RESAMPLES
    confidence: float = CONFIDENCE
    alpha: float = 0.05
    seed: int = SEED

    def __post_init__(self) -> None:
        check_attributes(self)
        resampling.check_drawing(self.resamples, self.confidence, self.seed)
        if self.trials is not None:
            resampling.check_trials(self.trials)
        check_known("test of two systems:", self.paired, PAIRED)
        if self.like not in (None, KOVATCHEV):
            raise UnknownNameError("way to test:", self.like or "", [KOVATCHEV])


class PhenomenonKeywords(TypedDict, total=False):
    """The options of `ProfileOptions` but for `paired`, as a type checker sees them."""

    by: str
    like: str | None
    trials: int | None
    resamples: int
    confidence: float
    alpha: float
    seed: int


class ProfileKeywords(PhenomenonKeywords, total=False):
    """The options of `ProfileOptions`."""

    paired: str


@dataclass(frozen=True, kw_only=True)
class _Profiling(ProfileOptions):
    """The options of a profile, and its measure."""

    measure: Ratios
    name: str

    @property
    def floor(self) -> float:
        """The smallest p-value that the trials can give."""
        return randomization_floor(self.trials or _TRIALS)

    def value(self, rows: Counts) -> float:
        """Return the measure of some pairs together."""
        return of_corpus(self.measure, rows)[self.name]

    @property
    def exact(self) -> bool:
        """Whether tests are exact ones, not those of a paper."""
        return self.like is None

    def notes(self) -> tuple[str, str]:
        """Return how p was computed, for phenomena and for differences."""
        if self.like is None:
            return _COMPLEMENT, _PAIRED[self.paired]
        if self.paired == "mcnemar":
            return _WHOLE, _PAIRED[self.like]
        return _WHOLE, _PAIRED[self.paired]


@takes_options(ProfileOptions)
def profile_rows(
    systems: Systems,
    groups: Sequence[Sequence[str]],
    measure: Ratios,
    name: str,
    **options: Unpack[ProfileKeywords],
) -> Profile:
    """Profile systems by the phenomena of sentence pairs.

    The pairs with a phenomenon are tested against all others by permutation of membership; two
    systems are compared on them by `paired`. p-values have Holm's correction over the phenomena.
    Phenomena with fewer than `FEW_HOLD` pairs are shown, but not tested.

    Parameters
    ----------
    systems : The (P, C) counts of the sentence pairs, by system.
    groups : The phenomena of each pair; ``""`` is none.
    measure, name : A function that computes measures of (R, C) sums of counts, such as
        `alignkit.scoring.link_ratios`, and the measure to use.
    by : The name of the attribute with the phenomena, for headings.
    paired : One of `PAIRED`: paired randomization, or McNemar's exact test if the first count of a
        pair is whether it is right.
    like : `KOVATCHEV` uses Mann and Whitney's one-sided test of the measure of each pair against
        all pairs, and McNemar's test without correction for continuity.
    trials : Number of trials of the tests; 10,000 or more for a paper. By default 10,000, or 200
        for each of the tested phenomena if they are more than 50, and at most 100,000: with a fixed
        number, Holm's correction would leave no phenomenon significant if there are many.
    resamples, confidence : Of the intervals, by bootstrap over the pairs with the phenomenon, and
        over the others.
    alpha : The probability of any false difference between ranks.
    seed : Seed of the trials and resamples.

    Raises
    ------
    OptionError : If there is no system, systems and groups have different numbers of pairs, or a
        number is out of range.

    References
    ----------
    Kovatchev, Marti, Salamo & Beltran 2019, A qualitative evaluation framework for paraphrase
    identification, RANLP. Mann & Whitney 1947, Annals of Mathematical Statistics 18(1):50-60.

    Examples
    --------
    >>> from alignkit.scoring import link_ratios
    >>> rows = np.array([[2, 2, 4, 4, 1, 1, 1, 1], [2] * 8] * 5)
    >>> profile = profile_rows({"a": rows}, [["idiom"], ["tense"]] * 5, link_ratios, "f1")
    >>> [(part.phenomenon, round(part.value, 3)) for part in profile.parts]
    [('idiom', 0.333), ('tense', 1.0)]
    """
    check_arguments(profile_rows, locals())
    how = _Profiling(measure=measure, name=name, **options)
    if not systems:
        raise OptionError("no systems; name one or more to profile")
    for system, rows in systems.items():
        if len(rows) != len(groups):
            raise OptionError(f"{system} has {len(rows)} pairs, but groups has {len(groups)}")
        check_known("measure", name, measure(rows[:0].sum(0, keepdims=True)))
    phenomena = sorted(set(chain.from_iterable(groups)) - {""})
    held = {each: np.array([each in values for values in groups], bool) for each in phenomena}
    if how.trials is None:
        tests = len(set(one_test_each(_tested(held), complements=how.exact).values()))
        how = replace(how, trials=enough_draws(tests, _TRIALS, each=_TRIALS_EACH))
    for_phenomena, for_differences = np.random.default_rng(how.seed).spawn(2)
    parts = list(_parts(systems, held, how, for_phenomena))
    notes = tuple(_notes(groups, held, how))
    hardest_first = _hardest_first(parts, phenomena, how)
    place_of_system = {system: place for place, system in enumerate(systems)}
    place_of = {phenomenon: place for place, phenomenon in enumerate(hardest_first)}
    parts.sort(key=lambda part: (place_of_system[part.system], place_of[part.phenomenon]))
    held = {phenomenon: held[phenomenon] for phenomenon in hardest_first}
    values = np.array([part.value for part in parts], np.float64)  # system by system
    measured = Measured(
        phenomena=tuple(held),
        systems=tuple(systems),
        values=values.reshape(len(systems), -1).T,
        pairs=tuple(int(members.sum()) for members in held.values()),
        measure=_NAMES.get(name, name),
        lower_is_better=name in resampling.LOWER_IS_BETTER,
    )
    signature = (
        f"measure:{name}|test:{how.like or 'permutation'}|paired:{how.paired}|trials:{how.trials}|"
        f"interval:bootstrap|confidence:{how.confidence}|resamples:{how.resamples}|"
        f"alpha:{how.alpha}|seed:{how.seed}|version:{__version__}"
    )
    return Profile(
        measured=measured,
        overall={system: how.value(rows) for system, rows in systems.items()},
        parts=tuple(parts),
        differences=tuple(_differences(systems, held, how, for_differences)),
        ranking=rank(measured, alpha=how.alpha),
        by=how.by,
        total=len(groups),
        tests=how.notes(),
        alpha=how.alpha,
        notes=notes,
        signature=signature,
    )


def _hardest_first(
    parts: Sequence[OnPhenomenon], phenomena: Sequence[str], how: _Profiling
) -> list[str]:
    """Return the phenomena by the mean of all systems, the worst first; those without any last."""
    values: dict[str, list[float]] = {phenomenon: [] for phenomenon in phenomena}
    for part in parts:
        if not isnan(part.value):
            values[part.phenomenon].append(part.value)

    def key(phenomenon: str) -> tuple[bool, float, str]:
        known = values[phenomenon]
        mean = sum(known) / len(known) if known else 0.0
        if how.name in resampling.LOWER_IS_BETTER:
            mean = -mean
        return not known, mean, phenomenon

    return sorted(phenomena, key=key)


def _notes(groups: Sequence[Sequence[str]], held: Subsets, how: _Profiling) -> Iterator[str]:
    """Yield notes on pairs and phenomena; `held` has these in the order of the alphabet."""
    pairs = len(groups)
    yield from resampling.few_pairs(pairs)
    if any(members.sum() < FEW_PAIRS for members in held.values()) and pairs >= FEW_PAIRS:
        yield f"intervals of phenomena with fewer than {FEW_PAIRS} pairs are too narrow"
    for phenomenon, members in held.items():
        if members.all():
            yield f"all pairs have {phenomenon}, so there are no others to compare it with"
    none = sum(not any(values) for values in groups)
    if none:
        yield f"{none} of {how_many(pairs, 'sentence pair')} have no phenomenon"
    several = sum(len(values) > 1 for values in groups)
    if several:
        yield overlapping(several, pairs, how.by)
    tested = _tested(held)
    for name, first in one_test_each(tested, complements=how.exact).items():
        if name == first:
            continue
        what = f"{name} are the pairs without {first}: one test of {first} against {name}"
        if np.array_equal(tested[name], tested[first]):
            what = f"{first} and {name} have the same pairs: one test"
        yield f"{what}, which Holm counts once"
    if how.like is not None:
        yield _CARE


def _parts(
    systems: Systems, held: Subsets, how: _Profiling, rng: np.random.Generator
) -> Iterator[OnPhenomenon]:
    """Yield the measure of each system on each phenomenon, with its test against the others."""
    same_test = one_test_each(_tested(held), complements=how.exact)
    p_values = _p_values(systems, {name: held[name] for name in same_test.values()}, how, rng)
    for system, rows in systems.items():
        corrected = _corrected(p_values[system], how.floor if how.exact else 0.0)
        for phenomenon, members in held.items():
            chances = corrected.get(same_test.get(phenomenon, ""), {})
            inside = rows[members]
            outside = rows[~members]
            interval, gap = _intervals(inside, outside, how)
            yield OnPhenomenon(
                system=system,
                phenomenon=phenomenon,
                pairs=len(inside),
                value=how.value(inside),
                rest=how.value(outside),
                interval=interval,
                gap=gap,
                **chances,  # none if it is not tested
            )


def _tested(held: Subsets) -> Subsets:
    """Return the phenomena that enough pairs, but not all of them, have."""
    return {
        phenomenon: members
        for phenomenon, members in held.items()
        if FEW_HOLD <= members.sum() < len(members)
    }


def _corrected(p_values: Mapping[str, float], floor: float) -> dict[str, dict[str, Any]]:
    """Return for each phenomenon the p-values of an `OnPhenomenon` or a `Difference`.

    A p-value at the floor, the least that the trials can give, is only a bound; 0: there is none.
    """
    values = list(p_values.values())
    bounds = [value == floor < 1 for value in values]
    by_holm = holm(values)
    bounds_by_holm = holm_bounds(values, bounds)
    corrected: dict[str, dict[str, Any]] = {}
    for k, phenomenon in enumerate(p_values):
        corrected[phenomenon] = {
            "p_value": values[k],
            "holm": by_holm[k],
            "p_bound": bounds[k],
            "holm_bound": bounds_by_holm[k],
        }
    return corrected


def _p_values(
    systems: Systems, tested: Subsets, how: _Profiling, rng: np.random.Generator
) -> Mapping[str, Mapping[str, float]]:
    """Return the p-values of each system by phenomenon."""
    if not tested:
        return {system: {} for system in systems}
    if how.like is None:
        trials = how.trials or _TRIALS
        return against_complement(systems, tested, how.measure, how.name, trials=trials, rng=rng)
    p_values = {}
    for system, rows in systems.items():
        values = how.measure(np.asarray(rows, np.float64))[how.name]
        p_values[system] = {
            phenomenon: against_whole(values, members) for phenomenon, members in tested.items()
        }
    return p_values


def _intervals(inside: Counts, outside: Counts, how: _Profiling) -> tuple[Interval, Interval]:
    """Return the intervals of the measure on pairs with a phenomenon, and of its gap to others."""
    if len(inside) == 1:
        none = Interval(nan, nan, how.confidence, nan, 0, resampling.ONE_PAIR)
        return none, none
    rng = np.random.default_rng(how.seed)
    values = _resampled(inside, how, rng)
    others = _resampled(outside, how, rng)
    interval = resampling.interval_of(values, how.confidence)
    return interval, resampling.interval_of(values - others, how.confidence)


def _resampled(rows: Counts, how: _Profiling, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the (R,) measures of resamples of some pairs."""
    sums = np.concatenate(list(resampling.resample(rows, how.resamples, rng)))
    return how.measure(sums)[how.name]


def _differences(
    systems: Systems, held: Subsets, how: _Profiling, rng: np.random.Generator
) -> Iterator[Difference]:
    """Yield the difference of every two systems on each phenomenon, with its paired test."""
    same_test = one_test_each(_tested(held), complements=False)
    for system, baseline in combinations(systems, 2):
        differences = list[Difference]()
        p_values = dict[str, float]()
        for phenomenon, members in held.items():
            rows = systems[system][members]
            base_rows = systems[baseline][members]
            alone = None
            if how.paired == "mcnemar":
                alone = alone_right(rows[:, 0] > 0, base_rows[:, 0] > 0)
            if same_test.get(phenomenon) != phenomenon:
                pass  # not tested, or by the test of another phenomenon
            elif alone is not None:
                p = mcnemar(alone.system, alone.baseline, exact=how.exact)
                p_values[phenomenon] = p
            else:
                trials = how.trials or _TRIALS
                p_by_measure = paired_randomization(
                    rows, base_rows, how.measure, trials=trials, rng=rng
                )
                p_values[phenomenon] = p_by_measure[how.name]
            gap = how.value(rows) - how.value(base_rows)
            differences.append(
                Difference(phenomenon, len(rows), system, baseline, gap, nan, nan, alone)
            )
        corrected = _corrected(p_values, how.floor if how.paired == "randomization" else 0.0)
        for difference in differences:
            chances = corrected.get(same_test.get(difference.phenomenon, ""), {})
            yield replace(difference, **chances)
