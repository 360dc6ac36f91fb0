"""What a reader has to know to read the figures right: one table of cautions.

A caution is a row of `CAUTIONS`, with a function that yields what triggers it. What triggers the
same caution in several pairings makes one `Caution`, which names them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Generic, TypeVar

from alignkit.agreement.chance.edits import EditModel
from alignkit.agreement.chance.result import (
    BOTH_EMPTY,
    LEVELS,
    NO_INITIAL,
    ONLY_EMPTY,
    BeyondChanceSection,
    by_both,
)
from alignkit.agreement.figures import AgreementFigures, Pairing
from alignkit.agreement.kappa import cell_agreement
from alignkit.agreement.options import CLOSED
from alignkit.agreement.pairs import CorpusData
from alignkit.io.base_checks import Misfit
from alignkit.model.arrays import LinkArrays
from alignkit.tables.result import Caution

T = TypeVar("T")


@dataclass(frozen=True)
class Hit:
    """What triggers a caution in one pairing, ``"A ~ B"`` (empty: of the whole report)."""

    pairing: str
    where: str  # the level, the view or the section
    text: str  # the number
    size: float = 0.0  # the hit with the largest is the worst
    detail: str = ""  # hits with another detail make another caution


@dataclass(frozen=True)
class CautionKind(Generic[T]):
    """A caution: its name, what triggers it, what it means, what to report instead."""

    code: str
    trigger: Callable[[T], Iterator[Hit]]
    says: str
    instead: str


def find_cautions(
    result: T, kinds: Sequence[CautionKind[T]], options: object
) -> tuple[Caution, ...]:
    """Return the cautions of a result, in the order of the kinds."""
    cautions = []
    for kind in kinds:
        by_detail: dict[str, list[Hit]] = {}
        for hit in kind.trigger(result):
            by_detail.setdefault(hit.detail, []).append(hit)
        for detail, hits in by_detail.items():
            pairings = tuple(dict.fromkeys(hit.pairing for hit in hits if hit.pairing))
            number = _number(hits, several=len(pairings) > 1)
            words = {"number": number, "detail": detail, **vars(options)}
            says, instead = kind.says.format(**words), kind.instead.format(**words)
            cautions.append(Caution(kind.code, says, instead, number, pairings))
    return tuple(cautions)


def _number(hits: list[Hit], *, several: bool) -> str:
    """Return the number at each place; of several pairings that of the worst, and its name."""
    places: dict[str, list[Hit]] = {}
    for hit in hits:
        places.setdefault(hit.where, []).append(hit)
    parts = []
    for where, there in places.items():
        worst = max(there, key=lambda hit: hit.size)
        differ = len({hit.text for hit in there}) > 1 or len(there) < len(hits) / len(places)
        whose = f"[worst: {worst.pairing}]" if several and worst.text and differ else ""
        parts.append(" ".join(part for part in (where, worst.text, whose) if part))
    return "; ".join(parts)


FEW = 30  # below so many sentence pairs a figure hardly says anything of other pairs
MANY_EMPTY = 0.1  # from this share on, pairs in which one has nothing are cautioned
MANY_LEFT_OUT = 0.25  # above this share, pairs that C leaves out are cautioned
MOVES = 0.1  # A figure that a choice moves by more than this is cautioned
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


def _level_name(level: str) -> str:
    unit, _, links = level.partition(".")
    return f"{links} {unit}"


def _mains(
    agreement: AgreementFigures, *kinds: str
) -> Iterator[tuple[Pairing, str, BeyondChanceSection]]:
    """Yield each pairing of some kinds and each level, with C by the model of the main tables."""
    for pairing in agreement.pairings:
        if pairing.kind in kinds and pairing.beyond:
            for level in LEVELS:
                yield pairing, level, pairing.main(level)


# C has no value, or no room


def _undefined(agreement: AgreementFigures) -> Iterator[Hit]:
    for pairing, level, _ in _mains(agreement, *PEOPLE, "automatic"):
        whole = pairing.main(level)
        parts = [whole] if whole.undefined else whole.groups
        for part in parts:  # what holds of all is not said again of each group
            if part.undefined:
                where = _level_name(level)
                if part is not whole:
                    where += f" in {part.name or '(none)'}"
                yield Hit(pairing.name, where, "", detail=part.undefined)


def _below_chance(agreement: AgreementFigures) -> Iterator[Hit]:
    for pairing, level, part in _mains(agreement, *PEOPLE):
        if part.C < 0:
            sure = part.interval is not None and part.interval.high < 0
            surely = " and all of its interval" if sure else ""
            text = f"{part.C:.3f}{surely}, pi {part.pi:.3f}, pi0 {part.pi0:.3f}"
            yield Hit(pairing.name, _level_name(level), text, -part.C, pairing.chance)


def _chance_near_one(agreement: AgreementFigures) -> Iterator[Hit]:
    for pairing, level, part in _mains(agreement, *PEOPLE):
        if part.pi0 >= NEAR_ONE and not isnan(part.C):
            yield Hit(pairing.name, _level_name(level), f"{part.pi0:.3f}", part.pi0)


# C rests on little


def _left_out(agreement: AgreementFigures) -> Iterator[Hit]:
    for pairing, level, part in _mains(agreement, "annotators"):
        shared = pairing.sections[0].pairs
        for reason, those in LEFT_OUT.items():
            out = part.left_out.get(reason, 0)
            if part.used and out > MANY_LEFT_OUT * shared:
                yield Hit(
                    pairing.name, _level_name(level), f"{out} of {shared}", out / shared, those
                )


def _one_sided(agreement: AgreementFigures) -> Iterator[Hit]:
    for pairing, level, part in _mains(agreement, "annotators"):
        if part.one_sided and part.one_sided >= MANY_EMPTY * part.used:
            text = f"{part.one_sided} of {part.used}"
            yield Hit(pairing.name, _level_name(level), text, part.one_sided / part.used)


def _few(agreement: AgreementFigures) -> Iterator[Hit]:
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


def _rough(agreement: AgreementFigures) -> Iterator[Hit]:
    wanted = agreement.options.tolerance
    for pairing, level, part in _mains(agreement, *PEOPLE):
        if wanted is not None and part.C_error > wanted:
            text = f"{part.C_error:.2g} after {pairing.main(level).samples} samples"
            yield Hit(pairing.name, _level_name(level), text, part.C_error)


def _coarse(agreement: AgreementFigures) -> Iterator[Hit]:
    for pairing, level, part in _mains(agreement, "annotators"):
        width = part.interval.high - part.interval.low if part.interval else nan
        if COARSE * part.C_error > width:  # false where there is no interval
            text = f"{part.C_error:.4f} of {width:.4f}"
            yield Hit(pairing.name, _level_name(level), text, part.C_error)


def _undefined_resamples(agreement: AgreementFigures) -> Iterator[Hit]:
    for pairing, level, part in _mains(agreement, "annotators"):
        if part.interval is not None and part.interval.undefined and not isnan(part.C):
            text = f"{part.interval.undefined} of {agreement.options.resamples}"
            yield Hit(pairing.name, _level_name(level), text, part.interval.undefined)


# C moves with what was chosen


def _model_moves(agreement: AgreementFigures) -> Iterator[Hit]:
    for pairing in agreement.of("annotators"):
        for level in LEVELS if pairing.beyond else ():
            values = {name: pairing.beyond[name][level].C for name in pairing.beyond}
            known = {name: value for name, value in values.items() if not isnan(value)}
            if known:
                low, high = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
                far = known[high] - known[low]
                if far > MOVES:
                    text = f"{known[low]:.3f} by {low} to {known[high]:.3f} by {high}"
                    yield Hit(pairing.name, _level_name(level), text, far)


def _normalizer_moves(agreement: AgreementFigures) -> Iterator[Hit]:
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
                yield Hit(pairing.name, _level_name(level), text, far)


def _equal_words_dominate(agreement: AgreementFigures) -> Iterator[Hit]:
    if not agreement.options.ignore_identical:
        return
    for pairing, level, part in _mains(agreement, "annotators"):
        if pairing.chance not in ("edit", "edit-split") or "edit-strata" not in pairing.beyond:
            continue
        strata = pairing.beyond["edit-strata"][level]
        share = max((_share_of_equal(models) for models in strata.models.values()), default=0.0)
        if share > DOMINATE and part.pi0 > strata.pi0:  # false where one has no value
            text = f"{100 * share:.0f}%, pi0 {part.pi0:.3f}, by edit-strata {strata.pi0:.3f}"
            yield Hit(pairing.name, _level_name(level), text, part.pi0 - strata.pi0, pairing.chance)


def _share_of_equal(models: Mapping[str, EditModel]) -> float:
    equal, other = (int(models[name].data.trials.sum()) for name in ("delete-equal", "delete"))
    return equal / (equal + other) if equal + other else 0.0


# who is compared


def _outlier(agreement: AgreementFigures) -> Iterator[Hit]:
    pairings = agreement.of("annotators")
    if len(agreement.annotators) < 3:
        return
    for name in agreement.annotators:
        mine = [pairing for pairing in pairings if name in (pairing.first, pairing.second)]
        others = [pairing for pairing in pairings if pairing not in mine]
        for level in LEVELS:
            own, rest = (
                [two.sections[0].figures.get(f"{level}.f1", nan) for two in side]
                for side in (mine, others)
            )
            far = min(rest) - max(own)
            if far > MOVES:  # false where one is not defined
                text = f"{100 * max(own):.1f} at most, {100 * min(rest):.1f} at least"
                yield Hit("", _level_name(level), text, far, name)


def _intersection(agreement: AgreementFigures) -> Iterator[Hit]:
    if len(agreement.annotators) == 3:
        for pairing in agreement.of("consensus"):
            yield Hit(pairing.name, "", "2")


def _adjudicated(agreement: AgreementFigures) -> Iterator[Hit]:
    made_of = str(len(agreement.annotators))
    for pairing in agreement.of("adjudicated"):
        yield Hit(pairing.name, "", made_of)


def _given_links(agreement: AgreementFigures) -> Iterator[Hit]:
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


def _misread(agreement: AgreementFigures) -> Iterator[Hit]:
    for pairing in agreement.of("annotators"):
        names, misfit = (pairing.first, pairing.second), Misfit()
        shared = agreement.corpus.annotated_by(*names)
        misfit.add(*(LinkArrays.pack(pair.alignment(who) for pair in shared) for who in names))
        if text := misfit.suspicion():
            yield Hit(pairing.name, "", text.replace("`", ""))


CAUTIONS: tuple[CautionKind[AgreementFigures], ...] = (
    CautionKind(
        "misread", _misread,
        "one seems to be read with a wrong base or direction ({number})",
        "read each with its own, as 'alignkit merge --add NAME=FILE:FORMAT:base=1' can",
    ),
    CautionKind(
        "undefined", _undefined,
        "C has no value ({number}), since {detail}",
        "report pi and F1, where they have values",
    ),
    CautionKind(
        "below-chance", _below_chance,
        "C is below 0 ({number}): by chance ({detail}) the two would agree more than they do, so "
        "this chance is no yardstick here, or the two follow different rules",
        "report F1 and pi with pi0, and C by other models of chance, and look at what they edited",
    ),
    CautionKind(
        "chance-near-one", _chance_near_one,
        "pi0 is close to 1 ({number}): chance alone all but reaches full agreement, and small "
        "differences of pi swing C",
        "report pi and pi0 beside C, or a model of chance that tells equal words apart "
        "(edit-strata)",
    ),
    CautionKind(
        "left-out", _left_out,
        "C leaves out many of the sentence pairs ({number}), those {detail}: it says nothing of "
        "them",
        "report how many pairs C stands on beside it",
    ),
    CautionKind(
        "one-sided", _one_sided,
        "in many of the sentence pairs used one of the two has nothing to compare, which counts "
        "as 0 ({number}): C says who marks anything at all as much as what they mark",
        "report the number of such pairs, and F1, which pools them",
    ),
    CautionKind(
        "few-pairs", _few,
        "there are fewer than 30 sentence pairs ({number}): other pairs could give quite other "
        "figures, and intervals, where there are any, are too narrow",
        "report the number of pairs, and compare nothing by these figures alone",
    ),
    CautionKind(
        "rough", _rough,
        "sampling stopped before the Monte-Carlo error of C came down to {tolerance:g} ({number})",
        "allow more samples",
    ),
    CautionKind(
        "coarse", _coarse,
        "the Monte-Carlo error of C is not small beside the width of its interval ({number}): "
        "another seed moves C",
        "draw more samples",
    ),
    CautionKind(
        "undefined-resamples", _undefined_resamples,
        "C has no value in some resamples ({number}), which its interval leaves out: it is too "
        "narrow",
        "report how many they are, or F1 with its interval",
    ),
    CautionKind(
        "model", _model_moves,
        "C moves by more than 0.1 with the model of chance ({number}): it says as much of the "
        "model as of the annotators",
        "report C by each model, and name the model; compare figures of one model alone",
    ),
    CautionKind(
        "normalizer", _normalizer_moves,
        "C or pi moves by more than 0.1 with the set by whose size is divided, the smaller (min) "
        "or the larger (max) ({number}): by the smaller, what one marks alone costs nothing",
        "report both, or F1 beside C",
    ),
    CautionKind(
        "equal-words", _equal_words_dominate,
        "most of the links that chance ({detail}) may delete are of equal words ({number}), which "
        "C leaves out: annotators keep them, and so chance keeps the others too often and pi0 is "
        "too high",
        "report C by edit-strata, which has rates of their own for them",
    ),
    CautionKind(
        "one-differs", _outlier,
        "{detail} agrees with the others less than they agree with each other (F1: {number}): a "
        "mean over all pairings hides this",
        "report the pairings one by one, and see what {detail} does otherwise",
    ),
    CautionKind(
        "intersection", _intersection,
        "the majority of the others is what both have, as there are {number}: recall tends to "
        "be high and precision low",
        "report the pairings of annotators; do not read this as agreement with a consensus",
    ),
    CautionKind(
        "adjudicated", _adjudicated,
        "the adjudicated version was made from these {number} annotations, so agreement with it "
        "is inflated: it says whose decisions prevailed, not how reliable they are",
        "report the agreement of annotators with each other as reliability",
    ),
    CautionKind(
        "given-links", _given_links,
        "the annotators judged links that they were given ({number}): cells that nobody looked at "
        "count as agreement",
        "report kappa and AC1 over the judged cells (universe 'judged')",
    ),
)  # fmt: skip
"""Every caution, in their order."""


def cautions_of(agreement: AgreementFigures) -> tuple[Caution, ...]:
    """Return the cautions of an agreement, in the order of `CAUTIONS`."""
    return find_cautions(agreement, CAUTIONS, agreement.options)
