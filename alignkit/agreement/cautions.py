"""What a reader has to know beside the figures: one table of cautions.

What triggers the same caution in several pairings is said once, and names them all. A further
caution is a function in `caution_triggers` and a row here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from alignkit.agreement import caution_triggers as triggers
from alignkit.agreement.caution_triggers import Hit
from alignkit.agreement.result import Agreement
from alignkit.agreement.result_parts import Caution

T = TypeVar("T")


@dataclass(frozen=True)
class Kind(Generic[T]):
    """A caution: its name, what triggers it, what it means, what to report instead."""

    code: str
    trigger: Callable[[T], Iterator[Hit]]
    says: str
    instead: str


def cautions_of(agreement: Agreement) -> tuple[Caution, ...]:
    """Return the cautions of an agreement, in the order of `CAUTIONS`."""
    return tell(agreement, CAUTIONS, agreement.options)


def tell(found: T, kinds: Sequence[Kind[T]], options: object) -> tuple[Caution, ...]:
    """Return the cautions of a result, in the order of the kinds."""
    cautions = []
    for kind in kinds:
        by_detail: dict[str, list[Hit]] = {}
        for hit in kind.trigger(found):
            by_detail.setdefault(hit.detail, []).append(hit)
        cautions += [_caution(kind, options, detail, hits) for detail, hits in by_detail.items()]
    return tuple(cautions)


def _caution(kind: Kind[T], options: object, detail: str, hits: list[Hit]) -> Caution:
    pairings = tuple(dict.fromkeys(hit.pairing for hit in hits if hit.pairing))
    number = _number(hits, several=len(pairings) > 1)
    known = {"number": number, "detail": detail, **vars(options)}
    return Caution(
        kind.code, kind.says.format(**known), kind.instead.format(**known), number, pairings
    )


def _number(hits: list[Hit], *, several: bool) -> str:
    """Give the number at each place; of several pairings that of the largest, and whose it is."""
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


CAUTIONS: tuple[Kind[Agreement], ...] = (
    Kind(
        "misread", triggers.misread,
        "one seems to be read with a wrong base or direction ({number})",
        "read each with its own, as 'alignkit merge --add NAME=FILE:FORMAT:base=1' can",
    ),
    Kind(
        "undefined", triggers.undefined,
        "C has no value ({number}), since {detail}",
        "report pi and F1, where they have values",
    ),
    Kind(
        "below-chance", triggers.below_chance,
        "C is below 0 ({number}): by chance ({detail}) the two would agree more than they do, so "
        "this chance is no yardstick here, or the two follow different rules",
        "report F1 and pi with pi0, and C by other models of chance, and look at what they edited",
    ),
    Kind(
        "chance-near-one", triggers.chance_near_one,
        "pi0 is close to 1 ({number}): chance alone all but reaches full agreement, and small "
        "differences of pi swing C",
        "report pi and pi0 beside C, or a model of chance that tells equal words apart "
        "(edit-strata)",
    ),
    Kind(
        "left-out", triggers.left_out,
        "C leaves out many of the sentence pairs ({number}), those {detail}: it says nothing of "
        "them",
        "report how many pairs C stands on beside it",
    ),
    Kind(
        "one-sided", triggers.one_sided,
        "in many of the sentence pairs used one of the two has nothing to compare, which counts "
        "as 0 ({number}): C says who marks anything at all as much as what they mark",
        "report the number of such pairs, and F1, which pools them",
    ),
    Kind(
        "few-pairs", triggers.few,
        "there are fewer than 30 sentence pairs ({number}): other pairs could give quite other "
        "figures, and intervals, where there are any, are too narrow",
        "report the number of pairs, and compare nothing by these figures alone",
    ),
    Kind(
        "rough", triggers.rough,
        "sampling stopped before the Monte-Carlo error of C came down to {tolerance:g} ({number})",
        "allow more samples",
    ),
    Kind(
        "coarse", triggers.coarse,
        "the Monte-Carlo error of C is not small beside the width of its interval ({number}): "
        "another seed moves C",
        "draw more samples",
    ),
    Kind(
        "undefined-resamples", triggers.undefined_resamples,
        "C has no value in some resamples ({number}), which its interval leaves out: it is too "
        "narrow",
        "report how many they are, or F1 with its interval",
    ),
    Kind(
        "model", triggers.model_moves,
        "C moves by more than 0.1 with the model of chance ({number}): it says as much of the "
        "model as of the annotators",
        "report C by each model, and name the model; compare figures of one model alone",
    ),
    Kind(
        "normalizer", triggers.normalizer_moves,
        "C or pi moves by more than 0.1 with the set by whose size is divided, the smaller (min) "
        "or the larger (max) ({number}): by the smaller, what one marks alone costs nothing",
        "report both, or F1 beside C",
    ),
    Kind(
        "equal-words", triggers.equal_words_dominate,
        "most of the links that chance ({detail}) may delete are of equal words ({number}), which "
        "C leaves out: annotators keep them, and so chance keeps the others too often and pi0 is "
        "too high",
        "report C by edit-strata, which has rates of their own for them",
    ),
    Kind(
        "one-differs", triggers.outlier,
        "{detail} agrees with the others less than they agree with each other (F1: {number}): a "
        "mean over all pairings hides this",
        "report the pairings one by one, and see what {detail} does otherwise",
    ),
    Kind(
        "intersection", triggers.intersection,
        "the majority of the others is what both have, as there are {number}: recall tends to "
        "be high and precision low",
        "report the pairings of annotators; do not read this as agreement with a consensus",
    ),
    Kind(
        "adjudicated", triggers.adjudicated,
        "the adjudicated version was made from these {number} annotations, so agreement with it "
        "is inflated: it says whose decisions prevailed, not how reliable they are",
        "report the agreement of annotators with each other as reliability",
    ),
    Kind(
        "given-links", triggers.given_links,
        "the annotators judged links that they were given ({number}): cells that nobody looked at "
        "count as agreement",
        "report kappa and AC1 over the judged cells (universe 'judged')",
    ),
)  # fmt: skip
"""Every caution, in the order in which they are told."""
