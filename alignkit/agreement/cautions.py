"""Say what a reader of an agreement beyond chance has to know beside the numbers."""

from __future__ import annotations

from collections.abc import Iterator
from math import nan

from alignkit.agreement.corrected_result import CorrectedAgreement
from alignkit.agreement.everyone import ADJUDICATED_WARNING
from alignkit.agreement.full import (
    ADJUDICATED,
    ANNOTATORS,
    AUTOMATIC,
    LEVELS,
    FullAgreement,
    Pairing,
)

__all__ = ["LEVEL_NAMES", "cautions"]

LEVEL_NAMES = {
    "phrases-possible": "phrases, poss",
    "phrases-sure": "phrases, sure",
    "links-possible": "words, poss",
    "links-sure": "words, sure",
}

_FEW = 30
_MANY_EMPTY = 0.25
_LENIENT = 0.1


def cautions(full: FullAgreement) -> list[str]:
    """Return what to beware of: undefined values, few pairs, pairs where one has nothing."""
    if full.settings is None:
        return []
    found = [*_undefined(full), *_empty(full), *_lenient(full), *_few(full), *_rough(full)]
    if full.of(ADJUDICATED):
        found.append(ADJUDICATED_WARNING)
    return found


def _named(full: FullAgreement, one: Pairing, level: str) -> str:
    """Name a level, and the two where there are more."""
    if one.kind == ANNOTATORS and len(full.of(ANNOTATORS)) == 1:
        return LEVEL_NAMES[level]
    return f"{one.first} ~ {one.second}, {LEVEL_NAMES[level]}"


def _undefined(full: FullAgreement) -> Iterator[str]:
    for one in full.pairings:
        for level, result in one.corrected.items():
            if result.undefined:
                yield f"C has no value for {_named(full, one, level)}: {result.undefined}"
                continue  # what holds of all is not said again of each group
            for group in result.groups:
                if group.undefined:
                    name = f"{_named(full, one, level)}, in {group.name or '(none)'}"
                    yield f"C has no value for {name}: {group.undefined}"


def _empty(full: FullAgreement) -> Iterator[str]:
    for one in full.of(ANNOTATORS):
        for level in LEVELS:
            used, empty = one.corrected[level].used, one.one_sided(level)
            if empty and empty >= _MANY_EMPTY * used:
                yield (
                    f"{_named(full, one, level)}: in {empty} of the {used} pairs used one of the "
                    f"two has nothing to compare, which counts as 0: C rests on the other "
                    f"{used - empty}, and on who marks anything at all"
                )


def _lenient(full: FullAgreement) -> Iterator[str]:
    """Tell where dividing by the smaller set hides how much one annotator marks alone."""
    if full.settings is None or full.settings.normalizer != "min":
        return
    for one in full.of(ANNOTATORS):
        for level, result in one.corrected.items():
            used = [pair for pair in result.sentences if not pair.left_out]
            ratios = [pair.common / max(pair.first, pair.second) for pair in used]
            strict = sum(ratios) / len(used) if used else nan
            if result.pi - strict > _LENIENT:
                yield (
                    f"{_named(full, one, level)}: pi is {result.pi:.3f} of the smaller set, but "
                    f"{strict:.3f} of the larger: what one marks alone costs nothing "
                    "(--normalizer max counts it)"
                )


def _few(full: FullAgreement) -> Iterator[str]:
    for one in full.of(ANNOTATORS):
        small = []
        for place, name in enumerate(full.sections):
            used = [_used(result, place) for result in one.corrected.values()]
            if 0 < min(used) < _FEW:
                counts = str(min(used)) if min(used) == max(used) else f"{min(used)}-{max(used)}"
                small.append(f"{counts} in {name or '(none)'}")
        if small:
            who = "" if len(full.of(ANNOTATORS)) == 1 else f"{one.first} ~ {one.second}: "
            yield f"{who}few pairs are used ({', '.join(small)}); look at the intervals"


def _used(result: CorrectedAgreement, place: int) -> int:
    return result.groups[place - 1].used if place else result.used


def _rough(full: FullAgreement) -> Iterator[str]:
    """Tell where sampling stopped before it was as sure as was wanted."""
    wanted = full.settings.tolerance if full.settings else None
    for one in full.pairings:
        if wanted is None or one.kind == AUTOMATIC:
            continue
        for level, result in one.corrected.items():
            if result.C_error > wanted:
                yield (
                    f"{_named(full, one, level)}: after {result.samples} samples the standard "
                    f"error of C is {result.C_error:.2g}, not {wanted:.2g}; allow more (--samples)"
                )
