"""Hand out every figure of an agreement once, with its names, its interval and its reason."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

from alignkit.agreement.beyond_chance.c_result import BeyondChance, BeyondChanceSection
from alignkit.agreement.result_parts import LEVELS, Figure, Pairing, Together, alpha_level, split
from alignkit.brief import how_many
from alignkit.scoring.bootstrap import Interval

_FACES = ("pi", "pi0", "C")


def pairing_figures(pairing: Pairing) -> Iterator[Figure]:
    """Yield every figure of two, section by section."""
    who = (pairing.kind, pairing.first, pairing.second)
    for section in pairing.sections:
        for name, value in section.figures.items():
            level, statistic = split(name)
            yield _figure((*who, section.name), level, statistic, value, section.pairs,
                          section.intervals.get(name))  # fmt: skip
        for chance, levels in pairing.beyond.items():
            suffix = "" if chance == pairing.chance else f".{chance}"
            for level in levels:
                part = pairing.part(level, section.name, chance)
                yield from _beyond_figures((*who, section.name), level, part, suffix)


def _beyond_figures(
    who: tuple[str, str, str, str], level: str, part: BeyondChanceSection, suffix: str
) -> Iterator[Figure]:
    for name in _FACES:
        value: float = getattr(part, name)
        interval = (part.interval or part.no_interval) if name == "C" else None
        reason = part.undefined if isnan(value) else ""
        yield _figure(who, level, name + suffix, value, part.used, reason or interval)
    for name in ("used", "both_empty", "one_sided"):
        yield Figure(*who, level, name + suffix, getattr(part, name), pairs=part.pairs)
    for name in ("pi0_error", "C_error"):
        yield Figure(*who, level, name + suffix, getattr(part, name), pairs=part.used)


def edit_figures(pairings: tuple[Pairing, ...]) -> Iterator[Figure]:
    """Yield the add and delete rates and the dispersion, once for an annotator and its links."""
    figures: dict[tuple[str, str, str], Figure] = {}
    for pairing in pairings:
        for chance, levels in pairing.beyond.items():
            for level, result in levels.items():
                for one in _edits_of(chance, LEVELS[level][1], result):
                    figures.setdefault((one.first, one.level, one.statistic), one)
    yield from figures.values()


def _edits_of(chance: str, links: str, result: BeyondChance) -> Iterator[Figure]:
    for name, rates in result.rates.items():
        for statistic in ("add", "delete"):
            value: float = getattr(rates, statistic)
            at = ("edits", name, "", "all", f"edits.{links}")
            yield Figure(*at, statistic, value, pairs=rates.pairs)
    for name, models in result.models.items():
        for part, model in models.items():
            at = ("edits", name, "", "all", f"edits.{links}.{chance}.{part}")
            yield Figure(*at, "dispersion", model.dispersion, pairs=model.pairs)


def together_figures(one: Together) -> Iterator[Figure]:
    """Yield every figure of all annotators together, and the means."""
    who = ("joint", "", "", one.name)
    if one.fleiss is not None:
        for name in ("kappa", "observed", "expected"):
            value: float = getattr(one.fleiss, name)
            interval = one.intervals.get(f"fleiss.{name}")
            yield _figure(who, "fleiss", name, value, one.fleiss.pairs, interval)
    for name, alpha in one.alpha.items():
        key = alpha_level(name)
        yield _figure(who, key, "alpha", alpha.alpha, one.used, one.intervals.get(key))
    for kind, means, left_out in (
        ("mean", one.mean, one.mean_left_out),
        ("automatic mean", one.automatic, one.automatic_left_out),
    ):
        for name, value in means.items():
            why = without(value, left_out.get(name, 0))
            yield Figure(kind, "", "", one.name, *split(name), value, pairs=one.used, reason=why)


def without(mean: float, pairings: int) -> str:
    """Return a note on the undefined figures that a mean leaves out; empty if there are none."""
    if isnan(mean) or not pairings:
        return ""
    return f"the mean leaves out {how_many(pairings, 'pairing')} whose figure is undefined"


def _figure(
    who: tuple[str, str, str, str],
    level: str,
    statistic: str,
    value: float,
    pairs: int,
    interval: Interval | str | None,
) -> Figure:
    if isinstance(interval, Interval):
        return Figure(*who, level, statistic, value, interval.low, interval.high, pairs)
    return Figure(*who, level, statistic, value, pairs=pairs, reason=interval or "")
