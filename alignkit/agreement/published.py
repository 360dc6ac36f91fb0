"""Agreement in published corpora: figures, and where each was printed or how it was computed.

The file ``published.json`` has figures and citations only, nothing of the corpora. Figures that
alignkit computed (`PublishedCorpus.computed`) are made and checked by ``python -m
benchmarks.scale``; the others were read in the text that `source` and `place` name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import isnan, nan
from typing import Any

from alignkit.agreement.apart import sides_by
from alignkit.agreement.numbers import ALL
from alignkit.tables.columns import Value

LANGUAGES: Mapping[str, str] = {
    "same": "one language",
    "two": "two languages",
    "": "number of languages not known",
}
STARTS: Mapping[str, str] = {
    "nothing": "from nothing",
    "corrected": "corrected automatic links",
    "given links": "judged given links",
    "": "start not known",
}
LEFT_OUT = "left out"
INCLUDED = "included"


@dataclass(frozen=True)
class ScaleKind:
    """What must be alike before two figures of agreement stand on the same scale.

    Parameters
    ----------
    languages : ``"same"``, ``"two"``; empty if not known.
    start : What the annotators started from: ``"nothing"``, ``"corrected"`` (an automatic
        alignment), ``"given links"`` (they judged these); empty if not known.
    equal_words : Whether links of equal words are ``"left out"`` or ``"included"``.
    """

    languages: str
    start: str
    equal_words: str

    @property
    def known(self) -> bool:
        """Whether nothing is unknown."""
        return bool(self.languages and self.start)

    def __str__(self) -> str:
        languages = LANGUAGES[self.languages]
        return f"{languages}, {STARTS[self.start]}, equal words {self.equal_words}"


@dataclass(frozen=True)
class PublishedFigure:
    """The agreement of two annotators of a corpus, or of all of them if no more was printed.

    Parameters
    ----------
    level : ``words.possible`` (all links), ``words.sure``, ``phrases.sure``, or what else was
        counted.
    equal_words : Whether links of equal words are ``"left out"`` or ``"included"``.
    value, low, high : The figure, and its 95% interval over sentence pairs (NaN: none).
    between : The annotators.
    measure : ``"F1"``, or what else was printed.
    adjudicated : Whether one of the two is the adjudicated version: no measure of reliability.
    C, chance, used : C by a model of chance, and the number of pairs that it is based on.
    kappa : Cohen's kappa over cells; of different words if equal words are left out. NaN if the
        annotators judged given links, as nobody judged the other cells.
    place : Where the figure stands in the source, and how it follows from what stands there.
    """

    level: str
    equal_words: str
    value: float
    low: float = nan
    high: float = nan
    between: str = ""
    measure: str = "F1"
    adjudicated: bool = False
    C: Value | None = None
    chance: str = ""
    used: int = 0
    kappa: float = nan
    place: str = ""

    @property
    def cell(self) -> Value:
        """The figure with its interval."""
        return Value(self.value, self.low, self.high)


@dataclass(frozen=True)
class PublishedCorpus:
    """A corpus with published agreement.

    Parameters
    ----------
    name : A short name.
    languages, start : As in `ScaleKind`.
    source : The citation.
    figures : Its figures.
    annotators, pairs : How many there are; 0 if this is not stated.
    computed : Whether alignkit computed the figures from the published links.
    about : What else to know.
    """

    name: str
    languages: str
    start: str
    source: str
    figures: tuple[PublishedFigure, ...]
    annotators: int = 0
    pairs: int = 0
    computed: bool = False
    about: str = ""

    def kind(self, equal_words: str) -> ScaleKind:
        """Return the kind of its figures with equal words left out or included."""
        return ScaleKind(self.languages, self.start, equal_words)

    def chosen(self, level: str, equal_words: str) -> list[PublishedFigure]:
        """Return F1 of annotators at a level, with equal words left out or included."""
        figures = []
        for figure in self.figures:
            at = (figure.level, figure.equal_words, figure.measure)
            if at == (level, equal_words, "F1") and not figure.adjudicated:
                figures.append(figure)
        return figures

    def f1(self, level: str, equal_words: str) -> Value:
        """Return F1 at a level; see `summary`."""
        return summary([figure.cell for figure in self.chosen(level, equal_words)])

    def sides(self, equal_words: str) -> tuple[list[str], list[str]] | None:
        """Return the two groups of annotators, if no single F1 of all links describes all of them.

        The rule is that of `agree` for any corpus: see `alignkit.agreement.apart.sides_by`.
        """
        values = {}
        names: dict[str, None] = {}
        for figure in self.chosen(ALL, equal_words):
            first, _, second = figure.between.partition(" ~ ")
            values[first, second] = figure.cell
            names.update({first: None, second: None})
        return sides_by(list(names), values) if len(names) > 2 else None


def summary(pairings: Sequence[Value]) -> Value:
    """Return the mean of several pairings, from the lowest to the highest bound.

    A single pairing is returned as it is. The mean is NaN without any value, and the bounds are NaN
    if any is missing.
    """
    known = [each for each in pairings if not isnan(each.value)]
    if not known:
        return Value(nan)
    mean = sum(each.value for each in known) / len(known)
    if any(isnan(each.low) or isnan(each.high) for each in known):
        return Value(mean)
    low = min(each.low for each in known)
    high = max(each.high for each in known)
    return Value(mean, low, high)


@cache
def published() -> tuple[PublishedCorpus, ...]:
    """Return all published corpora."""
    text = files("alignkit.agreement").joinpath("published.json").read_text("utf-8")
    return tuple(map(_corpus, json.loads(text)["corpora"]))


def _corpus(record: Mapping[str, Any]) -> PublishedCorpus:
    """Return a corpus from the file."""
    figures = tuple(map(_figure, record["figures"]))
    return PublishedCorpus(**{**record, "figures": figures})


def _figure(record: Mapping[str, Any]) -> PublishedFigure:
    """Return a figure from the file."""
    given = dict(record)
    if "C" in given:
        given["C"] = Value(*given["C"])
    return PublishedFigure(**given)
