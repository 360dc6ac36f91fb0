"""Find what triggers each caution, pairing by pairing: a function each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isnan, nan

import numpy as np

from alignkit.agreement.beyond_chance.c_result import BeyondChanceSection
from alignkit.agreement.beyond_chance.edits import EditModel
from alignkit.agreement.beyond_chance.expectation import BOTH_EMPTY, ONLY_EMPTY
from alignkit.agreement.beyond_chance.normalizers import by_both
from alignkit.agreement.corpus_beyond_chance import NO_INITIAL
from alignkit.agreement.kappa import cell_agreement
from alignkit.agreement.options import CLOSED
from alignkit.agreement.pairs import CorpusData
from alignkit.agreement.result import Agreement
from alignkit.agreement.result_parts import LEVELS, Pairing
from alignkit.arrays import LinkArrays
from alignkit.formats.fits import Misfit

FEW = 30
"""Below so many sentence pairs a figure hardly says anything of other pairs."""

MANY_EMPTY = 0.1
"""From this share on, pairs in which one has nothing are told."""

MANY_LEFT_OUT = 0.25
"""Above this share, pairs that C leaves out are told."""

MOVES = 0.1
"""A figure that a choice moves by more than this is told."""

NEAR_ONE = 0.9
"""From here on pi0 leaves C little room."""

DOMINATE = 0.5
"""Above this share of the initial links, those of equal words are most of what a rate is fitted
to."""

COARSE = 8
"""Sampling is coarse where its error is more than this part of the interval."""

LEFT_OUT = {
    BOTH_EMPTY: "where neither has anything to compare",
    ONLY_EMPTY: "where no sample has anything to compare",
    NO_INITIAL: "without an initial alignment",
}
"""Which pairs C leaves out although both annotated them."""

PEOPLE = ("annotators", "adjudicated", "consensus")


@dataclass(frozen=True)
class Hit:
    """What triggers a caution in one pairing, ``"A ~ B"`` (empty: of the whole report)."""

    pairing: str
    where: str
    text: str
    size: float = 0.0
    detail: str = ""


def level_name(level: str) -> str:
    """Return a level in words: ``sure words``."""
    unit, _, links = level.partition(".")
    return f"{links} {unit}"


def _mains(found: Agreement, *kinds: str) -> Iterator[tuple[Pairing, str, BeyondChanceSection]]:
    """Yield each pairing of some kinds and each level, with C by the model of the main tables."""
    for one in found.pairings:
        if one.kind in kinds and one.beyond:
            for level in LEVELS:
                yield one, level, one.main(level)


# C has no value, or no room


def undefined(found: Agreement) -> Iterator[Hit]:
    """Find where C has no value, in all or in a group."""
    for one, level, _ in _mains(found, *PEOPLE, "automatic"):
        whole = one.main(level)
        parts = [whole] if whole.undefined else whole.groups
        for part in parts:  # what holds of all is not said again of each group
            if part.undefined:
                where = level_name(level)
                if part is not whole:
                    where += f" in {part.name or '(none)'}"
                yield Hit(one.name, where, "", detail=part.undefined)


def below_chance(found: Agreement) -> Iterator[Hit]:
    """Find where C is below 0: pi0 is above pi."""
    for one, level, part in _mains(found, *PEOPLE):
        if part.C < 0:
            sure = part.interval is not None and part.interval.high < 0
            surely = " and all of its interval" if sure else ""
            text = f"{part.C:.3f}{surely}, pi {part.pi:.3f}, pi0 {part.pi0:.3f}"
            yield Hit(one.name, level_name(level), text, -part.C, one.chance)


def chance_near_one(found: Agreement) -> Iterator[Hit]:
    """Find where pi0 leaves C little room."""
    for one, level, part in _mains(found, *PEOPLE):
        if part.pi0 >= NEAR_ONE and not isnan(part.C):
            yield Hit(one.name, level_name(level), f"{part.pi0:.3f}", part.pi0)


# C rests on little


def left_out(found: Agreement) -> Iterator[Hit]:
    """Find where C leaves many of the shared pairs out, reason by reason."""
    for one, level, part in _mains(found, "annotators"):
        shared = one.sections[0].pairs
        for reason, those in LEFT_OUT.items():
            out = part.left_out.get(reason, 0)
            if part.used and out > MANY_LEFT_OUT * shared:
                yield Hit(one.name, level_name(level), f"{out} of {shared}", out / shared, those)


def one_sided(found: Agreement) -> Iterator[Hit]:
    """Find where in many used pairs one of the two has nothing."""
    for one, level, part in _mains(found, "annotators"):
        if part.one_sided and part.one_sided >= MANY_EMPTY * part.used:
            text = f"{part.one_sided} of {part.used}"
            yield Hit(one.name, level_name(level), text, part.one_sided / part.used)


def few(found: Agreement) -> Iterator[Hit]:
    """Find sections with few pairs."""
    for one in found.of("annotators"):
        for place, section in enumerate(one.sections):
            counts = [section.pairs]
            for level in LEVELS if one.beyond else ():
                result = one.main(level)
                counts.append((result.groups[place - 1] if place else result).used)
            few = [count for count in counts if 0 < count < FEW]
            if few:
                text = f"{min(few)}" if min(few) == max(few) else f"{min(few)}-{max(few)}"
                yield Hit(one.name, f"{section.name or '(none)'}:", text, FEW - min(few))


def rough(found: Agreement) -> Iterator[Hit]:
    """Find where sampling stopped above the tolerance."""
    wanted = found.options.tolerance
    for one, level, part in _mains(found, *PEOPLE):
        if wanted is not None and part.C_error > wanted:
            text = f"{part.C_error:.2g} after {one.main(level).samples} samples"
            yield Hit(one.name, level_name(level), text, part.C_error)


def coarse(found: Agreement) -> Iterator[Hit]:
    """Find where the Monte-Carlo error is large beside the interval."""
    for one, level, part in _mains(found, "annotators"):
        width = part.interval.high - part.interval.low if part.interval else nan
        if COARSE * part.C_error > width:  # false where there is no interval
            text = f"{part.C_error:.4f} of {width:.4f}"
            yield Hit(one.name, level_name(level), text, part.C_error)


def undefined_resamples(found: Agreement) -> Iterator[Hit]:
    """Find intervals that leave resamples out."""
    for one, level, part in _mains(found, "annotators"):
        if part.interval is not None and part.interval.undefined and not isnan(part.C):
            text = f"{part.interval.undefined} of {found.options.resamples}"
            yield Hit(one.name, level_name(level), text, part.interval.undefined)


# C moves with what was chosen


def model_moves(found: Agreement) -> Iterator[Hit]:
    """Find where C moves with the model of chance."""
    for one in found.of("annotators"):
        for level in LEVELS if one.beyond else ():
            values = {name: one.beyond[name][level].C for name in one.beyond}
            known = {name: value for name, value in values.items() if not isnan(value)}
            if known:
                low, high = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
                far = known[high] - known[low]
                if far > MOVES:
                    text = f"{known[low]:.3f} by {low} to {known[high]:.3f} by {high}"
                    yield Hit(one.name, level_name(level), text, far)


def normalizer_moves(found: Agreement) -> Iterator[Hit]:
    """Find where pi or C moves with the normalizer."""
    for one in found.of("annotators"):
        for level in LEVELS if CLOSED in one.beyond else ():
            both = by_both(
                one.beyond[CLOSED][level], found.options.normalizer, found.options.aggregate
            )
            (pi, C), (strict, strict_C) = both["min"], both["max"]
            far = max(abs(pi - strict), abs(C - strict_C))
            if far > MOVES:
                text = f"pi {pi:.3f} or {strict:.3f}, C by {CLOSED} {C:.3f} or {strict_C:.3f}"
                yield Hit(one.name, level_name(level), text, far)


def equal_words_dominate(found: Agreement) -> Iterator[Hit]:
    """Find where most initial links are of equal words, and one rate for all raises pi0."""
    if not found.options.ignore_identical:
        return
    for one, level, part in _mains(found, "annotators"):
        if one.chance not in ("edit", "edit-split") or "edit-strata" not in one.beyond:
            continue
        strata = one.beyond["edit-strata"][level]
        share = max((_share_of_equal(models) for models in strata.models.values()), default=0.0)
        if share > DOMINATE and part.pi0 > strata.pi0:  # false where one has no value
            text = f"{100 * share:.0f}%, pi0 {part.pi0:.3f}, by edit-strata {strata.pi0:.3f}"
            yield Hit(one.name, level_name(level), text, part.pi0 - strata.pi0, one.chance)


def _share_of_equal(models: Mapping[str, EditModel]) -> float:
    """Return the share of the initial links that are of equal words."""
    equal, other = (int(models[name].data.trials.sum()) for name in ("delete-equal", "delete"))
    return equal / (equal + other) if equal + other else 0.0


# who is compared


def outlier(found: Agreement) -> Iterator[Hit]:
    """Find one annotator who differs from others that agree."""
    pairings = found.of("annotators")
    if len(found.annotators) < 3:
        return
    for name in found.annotators:
        mine = [one for one in pairings if name in (one.first, one.second)]
        others = [one for one in pairings if one not in mine]
        for level in LEVELS:
            own, rest = (
                [one.sections[0].figures.get(f"{level}.f1", np.nan) for one in side]
                for side in (mine, others)
            )
            far = min(rest) - max(own)
            if far > MOVES:  # false where one is not defined
                text = f"{100 * max(own):.1f} at most, {100 * min(rest):.1f} at least"
                yield Hit("", level_name(level), text, far, name)


def intersection(found: Agreement) -> Iterator[Hit]:
    """Find a majority of two."""
    if len(found.annotators) == 3:
        for one in found.of("consensus"):
            yield Hit(one.name, "", "2")


def adjudicated(found: Agreement) -> Iterator[Hit]:
    """Find pairings with the adjudicated version."""
    made_of = str(len(found.annotators))
    for one in found.of("adjudicated"):
        yield Hit(one.name, "", made_of)


def given_links(found: Agreement) -> Iterator[Hit]:
    """Find annotators who recorded what they judged, where all cells count."""
    if found.options.universe != "all":
        return
    data = CorpusData(found.corpus)
    for one in found.of("annotators"):
        cells = one.sections[0].cells
        if not (data.records_judged(one.first) and data.records_judged(one.second)):
            continue
        judged = cell_agreement(found.corpus, one.first, one.second, universe="judged")
        if cells is not None and judged.possible.items:
            every, few = cells.possible, judged.possible
            text = (
                f"{few.items} of {every.items} cells; kappa of possible links "
                f"{every.kappa:.3f} over all, {few.kappa:.3f} over these"
            )
            yield Hit(one.name, "", text, few.items / every.items)


def misread(found: Agreement) -> Iterator[Hit]:
    """Find annotators whose links share far more in another base or direction."""
    for one in found.of("annotators"):
        names, misfit = (one.first, one.second), Misfit()
        shared = found.corpus.annotated_by(*names)
        misfit.add(*(LinkArrays.pack(pair.alignment(who) for pair in shared) for who in names))
        if text := misfit.suspicion():
            yield Hit(one.name, "", text.replace("`", ""))
