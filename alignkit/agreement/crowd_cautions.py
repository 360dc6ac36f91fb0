"""What to beware of in the quality of a crowd: what triggers each caution, and its text."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan

from alignkit.agreement.crowd_result import CrowdQuality
from alignkit.agreement.hits import Hit, Hits, find_cautions
from alignkit.agreement.judges import LEAST_JUDGES
from alignkit.agreement.judgments.consensus import DOUBT
from alignkit.tables.result import Caution

_POWER = 0.8  # if the chance of rejecting a guesser is below this, gold questions prove little


def crowd_cautions(quality: CrowdQuality) -> tuple[Caution, ...]:
    """Return the cautions about a crowd."""
    return find_cautions(_hits(quality), CAUTIONS, quality.options)


def _hits(quality: CrowdQuality) -> Hits:
    """Yield what triggers a caution of `CAUTIONS`."""
    for person in quality.annotators:
        gold = person.gold
        kappa = person.others if quality.options.compared == "others" else person.consensus
        if gold.judged < quality.options.after:
            text = f"{gold.judged} of the {quality.options.after} that are needed"
            yield "few-gold", _hit(person.name, text, -gold.judged)
        elif person.power < _POWER:
            text = f"{person.power:.5f} (of {gold.judged})"
            yield "weak-gold", _hit(person.name, text, -person.power)
        if gold.verdict == DOUBT:
            text = f"{gold.right} of {gold.judged} right"
            yield "in-doubt", _hit(person.name, text, -person.judged)
        if person.used == 1:
            yield "one-label", _hit(person.name, str(person.judged), person.judged)
        if isnan(kappa):
            yield "unknown-kappa", _hit(person.name)
    if quality.judges is not None:
        yield "hard-items", _hit()
        if len(quality.annotators) == LEAST_JUDGES and quality.labels == 2:
            yield "untestable", _hit()
    if quality.options.compared == "consensus":
        yield "contains", _hit()
    if quality.options.sequential and not quality.timed:
        yield "untimed", _hit()
    rejected = sum(person.gold.verdict == "reject" for person in quality.annotators)
    if rejected:
        yield "rejected", _hit(text=f"{rejected} of {len(quality.annotators)}")
    nobody = sum(not who for _, who in quality.again)
    if nobody:
        yield "nobody", _hit(text=f"{nobody} of {len(quality.again)}")


def _hit(annotator: str = "", text: str = "", size: float = 0.0) -> Hit:
    """Return what triggers a caution; the text shown is that of the annotator with most `size`."""
    return Hit(pairing=annotator, where="", text=text, size=size)


CAUTIONS: Mapping[str, tuple[str, str]] = {
    "few-gold": (
        "too few gold questions judged ({number}): they cannot reject this annotator",
        "ask more before you use these judgments",
    ),
    "in-doubt": (
        "no better on the gold questions ({number}) than always giving their most common label",
        "check these judgments before use, and ask more gold questions with other labels",
    ),
    "one-label": (
        "gave the same label to all pairs ({number}): kappa measures nothing then",
        "compare the accuracy on gold questions with that of always giving one label",
    ),
    "weak-gold": (
        "the gold questions would reject somebody who guesses with a probability of only {number}",
        "ask more gold questions, check after each (sequential), or use a view with more labels",
    ),
    "hard-items": (
        "the model is too sure where pairs are hard for everybody",
        "do not let it replace gold questions",
    ),
    "untestable": (
        "with three annotators and two labels, nothing can show that the model is wrong",
        "ask gold questions, or more annotators",
    ),
    "contains": (
        "the consensus contains the annotator: one of three annotators who guesses between two "
        "labels gets a kappa near .5 - k / 2 (k: the kappa of the other two), perhaps above .4",
        "use the kappa against the others (the default)",
    ),
    "untimed": (
        "some answers have no time, so gold questions are checked in the order of the corpus",
        "use judgments with times, as projects export them",
    ),
    "rejected": (
        "{number} annotators are rejected, but still part of the majorities that kappas compare "
        "with; everything is computed once",
        "to exclude them, leave them out of the annotators and compute again",
    ),
    "nobody": (
        "no annotator above .75 is left to judge {number} pairs again",
        "find new annotators for them",
    ),
    "unknown-kappa": (
        "the kappa is undefined, so these pairs are not judged again",
        "have more pairs judged by several annotators",
    ),
}
"""Every caution about a crowd, in order."""
