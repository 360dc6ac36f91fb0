"""The answer whether a system may replace an annotator, in a few sentences."""

from __future__ import annotations

from collections.abc import Iterator

from alignkit._support.wording import how_many, visible
from alignkit.agreement.names import listed
from alignkit.agreement.replacement.decision import LEAST_RATE
from alignkit.agreement.replacement.figures import ReplacementFigures
from alignkit.agreement.replacement.leaks import ReplacementLeak
from alignkit.tables.columns import decimal, percent

TEXTS = {
    "near-copy": (
        "{system} is more like {name} ({measure} {likeness}) than any other annotator is "
        "({highest} at most): it may be a near copy, and a near copy passes this test."
    ),
    "near-copies": (
        "{system} is more like {names} than any person is: it may have been made from their "
        "annotations, and such a system passes this test."
    ),
    "yes": (
        "{system} may replace an annotator on such pairs: in {advantage} of {compared} pairs it is "
        "at least as much like the other annotators as the annotator is (mean advantage), and the "
        "test passes for {replaced} of {tested} (winning rate {rate}, epsilon {epsilon})."
    ),
    "no": (
        "{system} may not replace an annotator on such pairs: in {advantage} of {compared} pairs "
        "it is at least as much like the other annotators as the annotator is (mean advantage), "
        "and the test passes for {replaced} of {tested} (winning rate {rate}, {least} is needed; "
        "epsilon {epsilon})."
    ),
    "cannot": (
        "Whether {system} may replace an annotator cannot be decided on these pairs: {reasons}. "
        "Its figures here (mean advantage {advantage}, winning rate {rate}) say nothing about "
        "other pairs."
    ),
    "two": (
        "With two annotators, each is compared with the other alone, so the test is weaker than "
        "with three."
    ),
    "twins": (
        "{first} and {second} have the same links in {same} of {pairs} pairs, so hardly any "
        "system is as much like one of them as the other is."
    ),
    "certain": (
        "The {share} of pairs of which it is most certain pass: annotate the other {rest} by hand."
    ),
    "certain-none": "No share of the pairs of which it is most certain passes.",
    "power": (
        "With {units}, a system as good as the annotators passes in {passing} of cases; {needed} "
        "are needed for {assurance}."
    ),
}
"""The sentences of the answer, by code."""

_REASONS = {
    "copy": "its {what} are those of {names} in all {pairs} pairs",
    "learned": "it learned from the links of {names}, in {pairs} of these {compared} pairs",
    "initial": "{names} started, as far as is known, from its links in {pairs} of {compared} pairs",
    "shown": "{names} were shown its links in {pairs} of {compared} pairs",
    "adjudicated": "it is the adjudicated version, made from the annotations of {names}",
}
_MEASURES = {
    "links": "mean F1",
    "sure": "mean F1 of sure links",
    "phrases": "mean F1 of phrase pairs",
    "judgments": "equal judgments",
}
_WHAT = {
    "links": "links",
    "sure": "sure links",
    "phrases": "phrase pairs",
    "judgments": "judgments",
}


def _said(code: str, **words: object) -> tuple[str, str]:
    """Return the code and the text of a sentence."""
    return code, TEXTS[code].format(**words)


def answer_sentences(figures: ReplacementFigures) -> Iterator[tuple[str, str]]:
    """Yield the code and the text of each sentence; a near copy comes first."""
    system = visible(figures.system)
    yield from _near_copy(figures, system)
    decision = figures.decision
    verdict = "cannot"
    if not figures.leaks:
        verdict = "yes" if decision.may_replace else "no"
    replaced = str(decision.replaced)
    if verdict == "no":
        replaced = f"only {replaced}" if decision.replaced else "none"
    reasons = [_reason(figures, leak) for leak in figures.leaks]
    yield _said(
        verdict,
        system=system,
        reasons=", and ".join(reasons),
        compared=figures.compared,
        advantage=_percent(decision.advantage),
        replaced=replaced,
        tested=how_many(len(decision.tests), "annotator"),
        rate=decimal(decision.winning_rate),
        least=decimal(LEAST_RATE),
        epsilon=f"{figures.options.epsilon:g}",
    )
    if len(figures.annotators) == 2:
        yield _said("two")
    for twins in figures.twins[:1]:
        yield _said(
            "twins",
            first=visible(twins.first),
            second=visible(twins.second),
            same=twins.counts.same,
            pairs=twins.counts.pairs,
        )
    if not figures.leaks:
        yield from _certain(figures)
        yield from _power(figures)


def _near_copy(figures: ReplacementFigures, system: str) -> Iterator[tuple[str, str]]:
    """Yield that the system is more like somebody than people are; a whole copy is a leak."""
    copied = set[str]()
    for leak in figures.leaks:
        if leak.code in ("copy", "adjudicated"):
            copied.update(leak.names)
    near = [copy for copy in figures.near_copies if copy.name not in copied]
    if len(near) == 1:
        copy = near[0]
        likeness = _likeness(figures, copy.likeness)
        highest = _likeness(figures, copy.highest)
        measure = _MEASURES[figures.options.measure]
        if figures.ordered:
            measure = "mean squared distance"
        text = TEXTS["near-copy"].format(
            system=system,
            name=visible(copy.name),
            measure=measure,
            likeness=likeness,
            highest=highest,
        )
        if figures.ordered:
            text = text.replace(" at most)", " at least)")
        yield "near-copy", text
    elif near:
        names = listed(visible(copy.name) for copy in near)
        yield _said("near-copies", system=system, names=names)


def _reason(figures: ReplacementFigures, leak: ReplacementLeak) -> str:
    """Return why nothing can be decided."""
    return _REASONS[leak.code].format(
        what=_WHAT[figures.options.measure],
        names=listed(map(visible, leak.names)),
        pairs=leak.pairs,
        compared=figures.compared,
    )


def _certain(figures: ReplacementFigures) -> Iterator[tuple[str, str]]:
    """Yield which share of the pairs passes, if the system has probabilities and fails on all."""
    certain = figures.certain
    if certain is None or figures.decision.may_replace:
        return
    if not certain.passes:
        yield _said("certain-none")
        return
    share = round(100 * certain.share)
    yield _said("certain", share=f"{share}%", rest=f"{100 - share}%")


def _power(figures: ReplacementFigures) -> Iterator[tuple[str, str]]:
    """Yield how often a good system passes with so many pairs, and how many are needed."""
    power = figures.power
    if power is None:
        return
    needed = "more than a million" if power.needed is None else f"about {power.needed:,}"
    yield _said(
        "power",
        units=how_many(power.units, figures.unit, commas=True),
        passing=f"{100 * power.passing:.0f}%",
        needed=needed,
        assurance="80%",
    )


def _likeness(figures: ReplacementFigures, value: float) -> str:
    """Return a mean similarity as text."""
    return decimal(-value) if figures.ordered else _percent(value)


def _percent(value: float) -> str:
    """Return a share as text."""
    return f"{percent(value)}%"
