"""What the dashboard shows; encoded by msgspec, it is what its page gets."""

from __future__ import annotations

from msgspec import Struct

from alignkit.tables.result import Caution


class LiveFigure(Struct, omit_defaults=True):
    """A figure."""

    value: float | None  # none where undefined
    low: float | None = None  # of its interval; None where there is none
    high: float | None = None
    pairs: int = 0  # the pairs that it stands on
    reason: str = ""  # why there is no value, or no interval
    late: bool = False  # the interval is of a moment before: that of now is being drawn


class AnnotatorLine(Struct):
    """How far an annotator is."""

    name: str
    done: int  # of the pairs that are theirs
    pairs: int
    seconds: float | None = None
    left: float | None = None  # the seconds that their open pairs will take
    reason: str = ""  # why these are not known


class TwoLine(Struct):
    """The agreement of two annotators."""

    first: str
    second: str
    pairs: int  # those that both have done
    figures: dict[str, LiveFigure]  # as of now, by the names that they have in an Agreement
    beyond: dict[str, LiveFigure]  # C by level, as of DashboardView.at
    chance: str  # the model of chance that C is corrected by
    links: int
    bulk: int
    apart: dict[str, LiveFigure]  # F1 without these


class PullLine(Struct):
    """The pull of suggestions, and which shares of them were accepted and rejected."""

    pull: LiveFigure
    accepted: LiveFigure
    rejected: LiveFigure
    cautions: list[str] = []


class CorrectionsPart(Struct):
    """The corrections of a part of the done pairs, in the order of done."""

    first: int  # which these are, from 1, and when the last was done
    last: int
    until: str
    taught_from: int
    taught_to: int
    differ: float
    drawn: float
    f1: float | None  # of what was suggested and what was drawn; None where there is neither


class Corrections(Struct):
    """How many links annotators correct, pair by pair in the order of done."""

    pairs: int  # how many done pairs these are; each annotator's count
    each: list[int]
    line: list[tuple[int, float]]
    sets: list[int]  # how many of these pairs were done when new sets of suggestions came
    parts: list[CorrectionsPart]  # the same in equal parts


class PairLine(Struct):
    """A pair whose annotators agree little."""

    k: int
    id: str
    possible: float | None
    sure: float | None
    source: str
    target: str
    ready: bool  # it can be adjudicated: all whose it is are done
    settled: bool  # it is adjudicated, and no vote is another one since


class JudgedTwo(Struct):
    """The agreement of two annotators on labels."""

    first: str
    second: str
    pairs: int  # those that both have done with a label
    same: LiveFigure  # the share of them with the same label
    kappa: LiveFigure  # Cohen's, each label a category of its own


class JudgedLine(Struct):
    """A pair that was judged differently."""

    k: int
    id: str
    judgments: list[tuple[str, int]]
    source: str
    target: str
    ready: bool  # as in a PairLine
    settled: bool


class JudgedView(Struct):
    """The agreement on labels, where pairs are judged."""

    twos: list[JudgedTwo]
    same: LiveFigure  # the means over twos, each by its pairs
    kappa: LiveFigure
    pairs: list[JudgedLine]
    differ: int  # how many such pairs there are


class DashboardView(Struct):
    """The dashboard."""

    n: int  # the last event that the figures of now know of
    pairs: int  # how many pairs there are, and how many are adjudicated
    settled: int
    annotators: list[AnnotatorLine]
    twos: list[TwoLine]
    mean: dict[str, LiveFigure]  # of all twos, where there are several: figures and C by name
    at: str  # when the work was read that C, the times and the pull are of; empty before
    running: bool  # these are being computed anew
    problem: str  # why they could not be
    initial: str | None  # the initial alignment
    pull: PullLine
    lowest: list[PairLine]
    commands: list[str]  # what prints the same figures
    reason: str  # why nobody is compared; empty where somebody is
    corrections: Corrections | None = None  # of suggestions, as of at; None where there are none
    learning: str = ""  # what came of learning what to suggest; empty where nothing is learned
    judged: JudgedView | None = None
    cautions: list[Caution] = []


NO_CONTROL = "no pair is in a control sample; alignkit assign draws one"


class SlowTwo(Struct):
    """C of two annotators by level (``"phrases.sure"``, ...), by one model of chance."""

    first: str
    second: str
    chance: str
    levels: dict[str, LiveFigure]


class SlowPace(Struct):
    """The median and the mean of the seconds that a done pair took; None where none is."""

    median: float | None
    mean: float | None


class SlowFigures(Struct):
    """What was found; what was not asked for is None."""

    paces: dict[str, SlowPace]  # by annotator
    twos: list[SlowTwo] | None = None  # C of every two annotators who have done anything
    pull: PullLine | None = None  # of the suggestions
    corrections: Corrections | None = None
    cautions: list[Caution] = []
