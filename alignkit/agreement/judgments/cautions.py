"""What a reader has to know beside the figures of judgments: a table, as for links."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import TYPE_CHECKING

from alignkit.agreement.caution_triggers import FEW, Hit
from alignkit.agreement.cautions import Kind, tell
from alignkit.agreement.result_parts import Caution, Figure
from alignkit.brief import brief
from alignkit.labels.label_matrix import UNKNOWN

if TYPE_CHECKING:
    from alignkit.agreement.judgments.result import JudgmentAgreement

MANY_TIED = 0.1  # above this share, items that a tie leaves out are told
DOMINATES = 0.9  # from this share of all judgments on, one label leaves kappa little to agree on


MOST_GROUPS = 5  # so many groups are named, those with the fewest pairs


def judgment_cautions(agreement: JudgmentAgreement) -> tuple[Caution, ...]:
    """Return the cautions of an agreement on judgments, in the order of `CAUTIONS`."""
    return tell(agreement, CAUTIONS, agreement.options)


def _of(agreement: JudgmentAgreement, kind: str, statistic: str) -> Iterator[tuple[str, Figure]]:
    """Yield the figures of the whole corpus with the names of their views."""
    for figure in agreement.all_figures:
        if (figure.kind, figure.statistic, figure.section) == (kind, statistic, "all"):
            yield figure.level.partition(".")[2], figure


def few(agreement: JudgmentAgreement) -> Iterator[Hit]:
    """Find couples with few items, in the first view; and the groups in which some have few."""
    least: dict[str, int] = {}
    for figure in agreement.all_figures:
        at = figure.kind, figure.statistic, figure.level
        if at != ("pairing", "kappa", f"judgments.{agreement.views[0]}") or figure.pairs >= FEW:
            continue
        if figure.section == "all":
            place = "" if agreement.by is None else "all:"
            yield Hit(f"{figure.first} ~ {figure.second}", place, str(figure.pairs), -figure.pairs)
        elif figure.pairs:  # where they share nothing there is no figure to beware of
            least[figure.section] = min(figure.pairs, least.get(figure.section, FEW))
    named = sorted(least, key=least.__getitem__)
    for name in named[:MOST_GROUPS]:
        yield Hit("", f"{brief(name) or f'no {agreement.by}'}:", str(least[name]), -least[name])
    if named[MOST_GROUPS:]:
        yield Hit("", f"{len(named) - MOST_GROUPS} more groups", "")


def repeats(agreement: JudgmentAgreement) -> Iterator[Hit]:
    """Find pairs that stand in the corpus more than once."""
    if agreement.repeated:
        yield Hit("", "", f"{agreement.repeated} of {agreement.pairs}")


def rewritten(agreement: JudgmentAgreement) -> Iterator[Hit]:
    """Find pairs that annotators wrote anew."""
    if agreement.rewrites:
        yield Hit("", "", str(agreement.rewrites))


def contains(agreement: JudgmentAgreement) -> Iterator[Hit]:
    """Find the null of the mean kappa against the majority."""
    for view, figure in _of(agreement, "mean consensus", "null"):
        if not isnan(figure.value):
            yield Hit("", view, f"{figure.value:.3f}", figure.value)


def below_chance(agreement: JudgmentAgreement) -> Iterator[Hit]:
    """Find kappas against the majority that are below their null."""
    for view, figure in _of(agreement, "consensus", "corrected"):
        if figure.value < 0:
            yield Hit(figure.first, view, f"{figure.value:.3f}", -figure.value)


def tied(agreement: JudgmentAgreement) -> Iterator[Hit]:
    """Find views in which many items have no majority."""
    for view, figure in _of(agreement, "consensus", "tied"):
        if figure.value > MANY_TIED and agreement.options.ties == "leave-out":
            yield Hit("", view, f"{100 * figure.value:.1f}%", figure.value)


def easier(agreement: JudgmentAgreement) -> Iterator[Hit]:
    """Find annotators for whom many items are left out since the others are tied."""
    for view, figure in _of(agreement, "leave-one-out", "left_out"):
        if figure.value > MANY_TIED:
            yield Hit(figure.first, view, f"{100 * figure.value:.1f}%", figure.value)


def dominated(agreement: JudgmentAgreement) -> Iterator[Hit]:
    """Find views in which nearly all judgments are one label."""
    for view, shares in agreement.shares.items():
        label, share = max(shares.items(), key=lambda one: one[1], default=("", 0.0))
        if share >= DOMINATES:
            yield Hit("", view, f"{label}: {100 * share:.1f}%", share)


def adjudicated(agreement: JudgmentAgreement) -> Iterator[Hit]:
    """Find the adjudicated version."""
    if agreement.options.settled is not None:
        yield Hit("", "", agreement.options.settled)


def unknown(agreement: JudgmentAgreement) -> Iterator[Hit]:
    """Find judgments that are not of the scheme."""
    if count := agreement.left_out.get(UNKNOWN, 0):
        yield Hit("", "", str(count))


CAUTIONS: tuple[Kind[JudgmentAgreement], ...] = (
    Kind(
        "few", few,
        "both judged few pairs ({number}): intervals of a bootstrap over so few are too narrow",
        "read them as a lower bound of how unsure the figures are, or have more pairs judged",
    ),
    Kind(
        "repeats", repeats,
        "{number} pairs repeat others word by word: intervals take them for new ones and are too "
        "narrow",
        "count each pair once, or say how many are different",
    ),
    Kind(
        "rewrites", rewritten,
        "{number} pairs that annotators wrote anew of others are left out: nobody judged them",
        "have a sample of them judged blindly: `alignkit audit pairs`",
    ),
    Kind(
        "consensus", contains,
        "the majority contains the annotator, so that chance alone gives much more than 0 (mean "
        "kappa of permuted labels: {number})",
        "report the corrected kappa, or that of every two annotators",
    ),
    Kind(
        "below-chance", below_chance,
        "the kappa against the majority is below its null (corrected: {number})",
        "look whether this annotator follows other guidelines, or labels in another order",
    ),
    Kind(
        "tied", tied,
        "many items have no majority and are left out ({number}); those that are left are easier",
        "report the kappa of every two annotators, which leaves nothing out",
    ),
    Kind(
        "easier", easier,
        "many items are left out since the others are tied ({number}); those that are left are "
        "easier, so that the kappa against the others exceeds that of every two",
        "report the kappa of every two annotators, or the share left out beside it",
    ),
    Kind(
        "one-label", dominated,
        "nearly all judgments are one label ({number}): kappa is low although most items agree, "
        "and AC1 is high although the rare labels may not agree at all",
        "report both with the share of the label, or draw a sample with more of the rare ones",
    ),
    Kind(
        "adjudicated", adjudicated,
        "no permutation imitates an adjudicated version ({number}), so that kappas against it have "
        "no null; made from the same judgments, it agrees with them more than a new one would",
        "read them beside the kappa of every two annotators",
    ),
    Kind(
        "unknown-labels", unknown,
        "{number} judgments are not of the scheme and are left out",
        "mend them, or name the scheme that they are of",
    ),
)  # fmt: skip
"""Every caution on judgments, in the order in which they are told."""
