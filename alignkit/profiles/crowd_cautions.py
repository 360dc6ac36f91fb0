"""What a reader has to know beside the quality of a crowd: a table of cautions."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

from alignkit.agreement.caution_triggers import Hit
from alignkit.agreement.cautions import Kind
from alignkit.agreement.judgments.gold import LEAST_JUDGED
from alignkit.profiles.crowd_result import DOUBT, CrowdQuality

POWER = 0.8
"""Below this chance to reject one who guesses, gold questions prove little."""


def few(found: CrowdQuality) -> Iterator[Hit]:
    """Find annotators with too few gold questions."""
    for one in found.annotators:
        if one.gold.judged < LEAST_JUDGED:
            yield Hit(one.name, "", str(one.gold.judged), -one.gold.judged)


def in_doubt(found: CrowdQuality) -> Iterator[Hit]:
    """Find annotators who are kept though one label alone would do as well."""
    for one in found.annotators:
        if one.gold.verdict == DOUBT:
            yield Hit(one.name, "", f"{one.gold.right} of {one.gold.judged} right", -one.judged)


def one_label(found: CrowdQuality) -> Iterator[Hit]:
    """Find annotators who gave one label alone."""
    for one in found.annotators:
        if one.used == 1:
            yield Hit(one.name, "", str(one.judged), one.judged)


def weak(found: CrowdQuality) -> Iterator[Hit]:
    """Find annotators whose gold questions one who guesses would often pass."""
    for one in found.annotators:
        if one.gold.judged >= LEAST_JUDGED and one.power < POWER:
            yield Hit(one.name, "", f"{one.power:.5f} (of {one.gold.judged})", -one.power)


def contains(found: CrowdQuality) -> Iterator[Hit]:
    """Find that pairs are judged again by kappas against the consensus."""
    if found.by == "consensus":
        yield Hit("", "", "")


def untimed(found: CrowdQuality) -> Iterator[Hit]:
    """Find that the order of answers is not known."""
    if found.sequential and not found.timed:
        yield Hit("", "", "")


def rejected(found: CrowdQuality) -> Iterator[Hit]:
    """Find that some are rejected."""
    count = sum(one.gold.verdict == "reject" for one in found.annotators)
    if count:
        yield Hit("", "", f"{count} of {len(found.annotators)}")


def nobody(found: CrowdQuality) -> Iterator[Hit]:
    """Find pairs that nobody can judge again."""
    count = sum(not who for _, who in found.again)
    if count:
        yield Hit("", "", f"{count} of {len(found.again)}")


def unknown(found: CrowdQuality) -> Iterator[Hit]:
    """Find annotators whose kappa is not defined."""
    for one in found.annotators:
        if isnan(one.others if found.by == "others" else one.consensus):
            yield Hit(one.name, "", "")


CAUTIONS: tuple[Kind[CrowdQuality], ...] = (
    Kind(
        "few-gold", few,
        "fewer than 10 gold questions judged ({number}), so that nobody is rejected for them",
        "ask more before these judgments are used",
    ),
    Kind(
        "in-doubt", in_doubt,
        "no better on the gold questions ({number}) than always giving their commonest label",
        "look at these judgments before they are used, and ask more gold questions of other labels",
    ),
    Kind(
        "one-label", one_label,
        "gave one label to all pairs judged ({number}): a kappa of one label measures nothing",
        "compare the accuracy on gold questions with that of one label",
    ),
    Kind(
        "weak-gold", weak,
        "one who guesses would be rejected by the gold questions with a chance of only {number}",
        "ask more gold questions, or look after each (sequential), or take a view with more labels",
    ),
    Kind(
        "contains", contains,
        "kappas against the consensus contain the annotator: one of three who guesses between two "
        "labels expects .5 - k / 2, where k is the kappa of the other two, and may pass .4",
        "judge again by the kappa against the others (the default)",
    ),
    Kind(
        "untimed", untimed,
        "some answers have no time: who is rejected after which question goes by the order of the "
        "corpus",
        "take judgments with times, as a project exports them",
    ),
    Kind(
        "rejected", rejected,
        "{number} annotators are rejected, and still part of the majorities that kappas are taken "
        "against; everything is computed once",
        "leave them out by `annotators`, and compute it again, if you do not want them there",
    ),
    Kind(
        "nobody", nobody,
        "nobody above .75 is left to judge {number} pairs again",
        "find new annotators for them",
    ),
    Kind(
        "unknown-kappa", unknown,
        "the kappa is not defined, so that these pairs are not judged again",
        "have more pairs judged by several",
    ),
)  # fmt: skip
"""Every caution on a crowd, in the order in which they are told."""
