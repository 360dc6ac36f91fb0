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

FEW = 30  # below so many sentence pairs a figure hardly says anything of other pairs
MANY_EMPTY = 0.1  # from this share on, pairs in which one has nothing are told
MANY_LEFT_OUT = 0.25  # above this share, pairs that C leaves out are told
MOVES = 0.1  # A figure that a choice moves by more than this is told
NEAR_ONE = 0.9  # from here on pi0 leaves C little room

DOMINATE = 0.5
"""Above this share of the initial links, those of equal words are most of what a rate is fitted
to."""

COARSE = 8  # sampling is coarse where its error is more than this part of the interval

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


def _mains(agreement: Agreement, *kinds: str) -> Iterator[tuple[Pairing, str, BeyondChanceSection]]:
    """Yield each pairing of some kinds and each level, with C by the model of the main tables."""
    for pairing in agreement.pairings:
        if pairing.kind in kinds and pairing.beyond:
            for level in LEVELS:
                yield pairing, level, pairing.main(level)


# C has no value, or no room


def undefined(agreement: Agreement) -> Iterator[Hit]:
    """Find where C has no value, in all or in a group."""
    for pairing, level, _ in _mains(agreement, *PEOPLE, "automatic"):
        whole = pairing.main(level)
        parts = [whole] if whole.undefined else whole.groups
        for part in parts:  # what holds of all is not said again of each group
            if part.undefined:
                where = level_name(level)
                if part is not whole:
                    where += f" in {part.name or '(none)'}"
                yield Hit(pairing.name, where, "", detail=part.undefined)


def below_chance(agreement: Agreement) -> Iterator[Hit]:
    """Find where C is below 0: pi0 is above pi."""
    for pairing, level, part in _mains(agreement, *PEOPLE):
        if part.C < 0:
            sure = part.interval is not None and part.interval.high < 0
            surely = " and all of its interval" if sure else ""
            text = f"{part.C:.3f}{surely}, pi {part.pi:.3f}, pi0 {part.pi0:.3f}"
            yield Hit(pairing.name, level_name(level), text, -part.C, pairing.chance)


def chance_near_one(agreement: Agreement) -> Iterator[Hit]:
    """Find where pi0 leaves C little room."""
    for pairing, level, part in _mains(agreement, *PEOPLE):
        if part.pi0 >= NEAR_ONE and not isnan(part.C):
            yield Hit(pairing.name, level_name(level), f"{part.pi0:.3f}", part.pi0)


# C rests on little


def left_out(agreement: Agreement) -> Iterator[Hit]:
    """Find where C leaves many of the shared pairs out, reason by reason."""
    for pairing, level, part in _mains(agreement, "annotators"):
        shared = pairing.sections[0].pairs
        for reason, those in LEFT_OUT.items():
            out = part.left_out.get(reason, 0)
            if part.used and out > MANY_LEFT_OUT * shared:
                yield Hit(
                    pairing.name, level_name(level), f"{out} of {shared}", out / shared, those
                )


def one_sided(agreement: Agreement) -> Iterator[Hit]:
    """Find where in many used pairs one of the two has nothing."""
    for pairing, level, part in _mains(agreement, "annotators"):
        if part.one_sided and part.one_sided >= MANY_EMPTY * part.used:
            text = f"{part.one_sided} of {part.used}"
            yield Hit(pairing.name, level_name(level), text, part.one_sided / part.used)


def few(agreement: Agreement) -> Iterator[Hit]:
    """Find sections with few pairs."""
    for pairing in agreement.of("annotators"):
        for place, section in enumerate(pairing.sections):
            counts = [section.pairs]
            for level in LEVELS if pairing.beyond else ():
                result = pairing.main(level)
                counts.append((result.groups[place - 1] if place else result).used)
            few = [count for count in counts if 0 < count < FEW]
            if few:
                text = f"{min(few)}" if min(few) == max(few) else f"{min(few)}-{max(few)}"
                yield Hit(pairing.name, f"{section.name or '(none)'}:", text, FEW - min(few))


def rough(agreement: Agreement) -> Iterator[Hit]:
    """Find where sampling stopped above the tolerance."""
    wanted = agreement.options.tolerance
    for pairing, level, part in _mains(agreement, *PEOPLE):
        if wanted is not None and part.C_error > wanted:
            text = f"{part.C_error:.2g} after {pairing.main(level).samples} samples"
            yield Hit(pairing.name, level_name(level), text, part.C_error)


def coarse(agreement: Agreement) -> Iterator[Hit]:
    """Find where the Monte-Carlo error is large beside the interval."""
    for pairing, level, part in _mains(agreement, "annotators"):
        width = part.interval.high - part.interval.low if part.interval else nan
        if COARSE * part.C_error > width:  # false where there is no interval
            text = f"{part.C_error:.4f} of {width:.4f}"
            yield Hit(pairing.name, level_name(level), text, part.C_error)


def undefined_resamples(agreement: Agreement) -> Iterator[Hit]:
    """Find intervals that leave resamples out."""
    for pairing, level, part in _mains(agreement, "annotators"):
        if part.interval is not None and part.interval.undefined and not isnan(part.C):
            text = f"{part.interval.undefined} of {agreement.options.resamples}"
            yield Hit(pairing.name, level_name(level), text, part.interval.undefined)


# C moves with what was chosen


def model_moves(agreement: Agreement) -> Iterator[Hit]:
    """Find where C moves with the model of chance."""
    for pairing in agreement.of("annotators"):
        for level in LEVELS if pairing.beyond else ():
            values = {name: pairing.beyond[name][level].C for name in pairing.beyond}
            known = {name: value for name, value in values.items() if not isnan(value)}
            if known:
                low, high = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
                far = known[high] - known[low]
                if far > MOVES:
                    text = f"{known[low]:.3f} by {low} to {known[high]:.3f} by {high}"
                    yield Hit(pairing.name, level_name(level), text, far)


def normalizer_moves(agreement: Agreement) -> Iterator[Hit]:
    """Find where pi or C moves with the normalizer."""
    for pairing in agreement.of("annotators"):
        for level in LEVELS if CLOSED in pairing.beyond else ():
            both = by_both(
                pairing.beyond[CLOSED][level],
                agreement.options.normalizer,
                agreement.options.aggregate,
            )
            (pi, C), (strict, strict_C) = both["min"], both["max"]
            far = max(abs(pi - strict), abs(C - strict_C))
            if far > MOVES:
                text = f"pi {pi:.3f} or {strict:.3f}, C by {CLOSED} {C:.3f} or {strict_C:.3f}"
                yield Hit(pairing.name, level_name(level), text, far)


def equal_words_dominate(agreement: Agreement) -> Iterator[Hit]:
    """Find where most initial links are of equal words, and one rate for all raises pi0."""
    if not agreement.options.ignore_identical:
        return
    for pairing, level, part in _mains(agreement, "annotators"):
        if pairing.chance not in ("edit", "edit-split") or "edit-strata" not in pairing.beyond:
            continue
        strata = pairing.beyond["edit-strata"][level]
        share = max((_share_of_equal(models) for models in strata.models.values()), default=0.0)
        if share > DOMINATE and part.pi0 > strata.pi0:  # false where one has no value
            text = f"{100 * share:.0f}%, pi0 {part.pi0:.3f}, by edit-strata {strata.pi0:.3f}"
            yield Hit(pairing.name, level_name(level), text, part.pi0 - strata.pi0, pairing.chance)


def _share_of_equal(models: Mapping[str, EditModel]) -> float:
    equal, other = (int(models[name].data.trials.sum()) for name in ("delete-equal", "delete"))
    return equal / (equal + other) if equal + other else 0.0


# who is compared


def outlier(agreement: Agreement) -> Iterator[Hit]:
    """Find one annotator who differs from others that agree."""
    pairings = agreement.of("annotators")
    if len(agreement.annotators) < 3:
        return
    for name in agreement.annotators:
        mine = [pairing for pairing in pairings if name in (pairing.first, pairing.second)]
        others = [pairing for pairing in pairings if pairing not in mine]
        for level in LEVELS:
            own, rest = (
                [one.sections[0].figures.get(f"{level}.f1", np.nan) for one in side]
                for side in (mine, others)
            )
            far = min(rest) - max(own)
            if far > MOVES:  # false where one is not defined
                text = f"{100 * max(own):.1f} at most, {100 * min(rest):.1f} at least"
                yield Hit("", level_name(level), text, far, name)


def intersection(agreement: Agreement) -> Iterator[Hit]:
    """Find a majority of two."""
    if len(agreement.annotators) == 3:
        for pairing in agreement.of("consensus"):
            yield Hit(pairing.name, "", "2")


def adjudicated(agreement: Agreement) -> Iterator[Hit]:
    """Find pairings with the adjudicated version."""
    made_of = str(len(agreement.annotators))
    for pairing in agreement.of("adjudicated"):
        yield Hit(pairing.name, "", made_of)


def given_links(agreement: Agreement) -> Iterator[Hit]:
    """Find annotators who recorded what they judged, where all cells count."""
    if agreement.options.universe != "all":
        return
    data = CorpusData(agreement.corpus)
    for pairing in agreement.of("annotators"):
        cells = pairing.sections[0].cells
        if not (data.records_judged(pairing.first) and data.records_judged(pairing.second)):
            continue
        judged = cell_agreement(agreement.corpus, pairing.first, pairing.second, universe="judged")
        if cells is not None and judged.possible.items:
            every, few = cells.possible, judged.possible
            text = (
                f"{few.items} of {every.items} cells; kappa of possible links "
                f"{every.kappa:.3f} over all, {few.kappa:.3f} over these"
            )
            yield Hit(pairing.name, "", text, few.items / every.items)


def misread(agreement: Agreement) -> Iterator[Hit]:
    """Find annotators whose links share far more in another base or direction."""
    for pairing in agreement.of("annotators"):
        names, misfit = (pairing.first, pairing.second), Misfit()
        shared = agreement.corpus.annotated_by(*names)
        misfit.add(*(LinkArrays.pack(pair.alignment(who) for pair in shared) for who in names))
        if text := misfit.suspicion():
            yield Hit(pairing.name, "", text.replace("`", ""))
