"""Define what the dashboard shows; encoded by msgspec, it is what its page gets."""

from __future__ import annotations

from msgspec import Struct

__all__ = [
    "AnnotatorLine",
    "Corrections",
    "CorrectionsPart",
    "DashboardView",
    "JudgedLine",
    "JudgedTwo",
    "JudgedView",
    "LiveFigure",
    "PairLine",
    "PullLine",
    "TwoLine",
]


class LiveFigure(Struct, omit_defaults=True):
    """Hold a figure.

    Parameters
    ----------
    value
        None where undefined.
    low, high
        Of its interval; None where there is none.
    pairs
        The pairs that it stands on.
    reason
        Why there is no value, or no interval.
    late
        The interval is of a moment before: that of now is being drawn.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    pairs: int = 0
    reason: str = ""
    late: bool = False


class AnnotatorLine(Struct):
    """Say how far an annotator is.

    Parameters
    ----------
    done, pairs
        Of the pairs that are theirs.
    seconds
        The median of the time that a done pair took; None where it is not known.
    left
        The seconds that their open pairs will take.
    reason
        Why these are not known.
    """

    name: str
    done: int
    pairs: int
    seconds: float | None = None
    left: float | None = None
    reason: str = ""


class TwoLine(Struct):
    """Hold the agreement of two annotators.

    Parameters
    ----------
    pairs
        Those that both have done.
    figures
        As of now, by the names that they have in an `Agreement`.
    beyond
        C by level, as of `DashboardView.at`.
    chance
        The model of chance that C is corrected by.
    links, bulk
        How many links of different words both have, and how many of these both took in bulk
        without looking at them.
    apart
        F1 without these.
    """

    first: str
    second: str
    pairs: int
    figures: dict[str, LiveFigure]
    beyond: dict[str, LiveFigure]
    chance: str
    links: int
    bulk: int
    apart: dict[str, LiveFigure]


class PullLine(Struct):
    """Hold the pull of suggestions, and which shares of them were accepted and rejected."""

    pull: LiveFigure
    accepted: LiveFigure
    rejected: LiveFigure
    cautions: list[str] = []


class CorrectionsPart(Struct):
    """Hold the corrections of a part of the done pairs, in the order of done.

    Parameters
    ----------
    first, last, until
        Which these are, from 1, and when the last was done.
    taught_from, taught_to
        From how many done pairs their suggestions were learned, at least and at most; 0 where they
        were not.
    differ, drawn
        How many links a pair differ from what was suggested, and how many it has; the means.
    f1
        Of what was suggested and what was drawn; None where there is neither.
    """

    first: int
    last: int
    until: str
    taught_from: int
    taught_to: int
    differ: float
    drawn: float
    f1: float | None


class Corrections(Struct):
    """Hold how many links annotators correct, pair by pair in the order of done.

    Parameters
    ----------
    pairs
        How many done pairs these are; each annotator's count.
    each
        The links of each pair that differ from what was suggested; empty where there are many.
    line
        Points of their mean over neighbours: which pair, from 1, and the mean.
    sets
        How many of these pairs were done when new sets of suggestions came.
    parts
        The same in equal parts.
    """

    pairs: int
    each: list[int]
    line: list[tuple[int, float]]
    sets: list[int]
    parts: list[CorrectionsPart]


class PairLine(Struct):
    """Hold a pair whose annotators agree little.

    Parameters
    ----------
    possible, sure
        F1 of all links of different words and of the sure ones, the mean of every two who have done
        it; None where nobody has any.
    ready
        It can be adjudicated: all whose it is are done.
    settled
        It is adjudicated, and no vote is another one since.
    """

    k: int
    id: str
    possible: float | None
    sure: float | None
    source: str
    target: str
    ready: bool
    settled: bool


class JudgedTwo(Struct):
    """Hold the agreement of two annotators on labels.

    Parameters
    ----------
    pairs
        Those that both have done with a label.
    same
        The share of them with the same label.
    kappa
        Cohen's, each label a category of its own.
    """

    first: str
    second: str
    pairs: int
    same: LiveFigure
    kappa: LiveFigure


class JudgedLine(Struct):
    """Hold a pair that was judged differently.

    Parameters
    ----------
    judgments
        What was said, the label and the flags behind it, and how often; not by whom.
    ready, settled
        As in a `PairLine`.
    """

    k: int
    id: str
    judgments: list[tuple[str, int]]
    source: str
    target: str
    ready: bool
    settled: bool


class JudgedView(Struct):
    """Hold the agreement on labels, where pairs are judged.

    Parameters
    ----------
    same, kappa
        The means over twos, each by its pairs.
    pairs
        Pairs with different labels, then those with different flags alone; the first of them.
    differ
        How many such pairs there are.
    """

    twos: list[JudgedTwo]
    same: LiveFigure
    kappa: LiveFigure
    pairs: list[JudgedLine]
    differ: int


class DashboardView(Struct):
    """Hold the dashboard.

    Parameters
    ----------
    n
        The last event that the figures of now know of.
    pairs, settled
        How many pairs there are, and how many are adjudicated.
    mean
        Of all twos, where there are several: figures and C by name.
    at
        When the work was read that C, the times and the pull are of; empty before.
    running
        These are being computed anew.
    problem
        Why they could not be.
    initial
        The initial alignment.
    commands
        What prints the same figures.
    reason
        Why nobody is compared; empty where somebody is.
    corrections
        Of suggestions, as of `at`; None where there are none.
    learning
        What came of learning what to suggest; empty where nothing is learned.
    judged
        The agreement on labels, in place of that on links, where pairs are judged; else None.
    """

    n: int
    pairs: int
    settled: int
    annotators: list[AnnotatorLine]
    twos: list[TwoLine]
    mean: dict[str, LiveFigure]
    at: str
    running: bool
    problem: str
    initial: str | None
    pull: PullLine
    lowest: list[PairLine]
    commands: list[str]
    reason: str
    corrections: Corrections | None = None
    learning: str = ""
    judged: JudgedView | None = None
