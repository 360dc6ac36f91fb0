"""The data of the dashboard page."""

from __future__ import annotations

from math import isnan, nan

from msgspec import Struct

from alignkit.annotate.dashboard.work import Work
from alignkit.annotate.project import queries
from alignkit.annotate.training_table import TrainingTable
from alignkit.stats.resampling import Interval
from alignkit.tables.result import Caution

_CHARACTERS = 300  # of a text that are shown


class DashboardFigure(Struct, omit_defaults=True):
    """A figure with its interval, or the reason why it has none."""

    value: float | None  # None if undefined
    low: float | None = None  # of its interval, if there is one
    high: float | None = None
    pairs: int = 0  # the pairs that it stands on
    reason: str = ""  # why there is no value, or no interval

    @property
    def number(self) -> float:
        """The value, NaN if undefined."""
        return nan if self.value is None else self.value


class AnnotatorLine(Struct):
    """The progress of an annotator."""

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
    figures: dict[str, DashboardFigure]  # by the names that they have in an Agreement
    beyond: dict[str, DashboardFigure]  # C by level
    chance: str  # the model of chance that C is corrected by
    links: int  # those that both have
    bulk: int  # of these, those that both kept without looking at them
    apart: dict[str, DashboardFigure]  # F1 without these
    shown: int | None = None  # the pairs for which both saw the initial alignment; None without one


class PullLine(Struct):
    """The pull of suggestions, and the shares that were accepted, seen by nobody, and rejected."""

    pull: DashboardFigure
    accepted: DashboardFigure
    unseen: DashboardFigure  # of the accepted
    rejected: DashboardFigure
    cautions: list[str] = []


class CorrectionsPart(Struct):
    """The corrections of a part of the done pairs, in the order of done."""

    first: int  # the number of the first of these pairs, from 1
    last: int  # the number of the last
    until: str  # when the last was done
    taught_from: int  # from how many done pairs their suggestions were learned: the least
    taught_to: int  # the most
    differ: float  # links that were corrected, on average
    drawn: float  # links that they have, on average
    f1: float | None  # of what was suggested and what was drawn; None where there is neither


class Corrections(Struct):
    """The number of links that annotators correct, pair by pair in the order of done."""

    pairs: int  # done pairs, each counted for each annotator
    each: list[int]  # corrected links of each; empty if they are too many to be drawn
    line: list[tuple[int, float]]  # points of a moving mean: the number of a pair, and the mean
    sets: list[int]  # how many of these pairs were done when new sets of suggestions came
    parts: list[CorrectionsPart]  # the same in equal parts


class ListedPair(Struct):
    """A pair on which annotators differ."""

    k: int
    id: str
    source: str
    target: str
    ready: bool  # it can be adjudicated: all whose it is are done
    settled: bool  # it is adjudicated, and no vote is another one since


class PairLine(ListedPair):
    """A pair on which annotators agree little."""

    possible: float | None
    sure: float | None


class JudgedTwo(Struct):
    """The agreement of two annotators on labels."""

    first: str
    second: str
    pairs: int  # those that both have done with a label
    same: DashboardFigure  # the share of them with the same label
    kappa: DashboardFigure  # Cohen's, each label a category of its own


class JudgedLine(ListedPair):
    """A pair that was judged differently."""

    judgments: list[tuple[str, int]]


class JudgedView(Struct):
    """The agreement on labels, if the task is to judge."""

    twos: list[JudgedTwo]
    same: DashboardFigure  # the means over twos, each by its pairs
    kappa: DashboardFigure
    pairs: list[JudgedLine]
    differ: int  # how many such pairs there are


class DashboardView(Struct, kw_only=True):
    """The dashboard; all figures are of the work that was read at one time."""

    n: int  # the last event that was read
    pairs: int  # all pairs of the project
    settled: int  # those that are adjudicated
    annotators: list[AnnotatorLine]
    twos: list[TwoLine] = []
    mean: dict[
        str, DashboardFigure
    ] = {}  # of all twos, where there are several: figures and C by name
    initial: str | None  # the initial alignment
    pull: PullLine
    lowest: list[PairLine] = []
    commands: list[str] = []  # what prints the same figures
    reason: str  # why nobody is compared; empty where somebody is
    corrections: Corrections | None  # of suggestions; None where there are none
    judged: JudgedView | None = None
    cautions: list[Caution] = []
    training: TrainingTable | None = None  # the training round; it counts nowhere else
    at: str = ""  # when the work was read
    running: bool = False  # the figures are being computed anew
    problem: str = ""  # why they could not be
    learning: str = ""  # what came of learning what to suggest; empty where nothing is learned


class TimesView(Struct):
    """The fields of a `DashboardView` that change although no finished work does."""

    n: int
    annotators: list[AnnotatorLine]
    corrections: Corrections | None
    training: TrainingTable | None


class FirstView(Struct):
    """The answer before the first figures are there: the step of the computation, and its share."""

    progress: float
    step: str
    problem: str


def figure_of(
    value: float, interval: Interval | str | None, pairs: int, undefined: str
) -> DashboardFigure:
    """Return a value with its interval or the reason for having none; NaN is `undefined`."""
    if isnan(value):
        return DashboardFigure(None, pairs=pairs, reason=undefined)
    if isinstance(interval, Interval):
        return DashboardFigure(float(value), known(interval.low), known(interval.high), pairs)
    return DashboardFigure(float(value), pairs=pairs, reason=interval or "")


Listed = tuple[int, str, str, str, bool, bool]
"""The fields of a `ListedPair`."""


def listed(work: Work, row: queries.PairRow) -> Listed:
    """Return a pair as lists show it."""
    source = " ".join(row.source)[:_CHARACTERS]
    target = " ".join(row.target)[:_CHARACTERS]
    return row.k, row.id, source, target, work.ready(row.k), row.k in work.settled


def known(value: float) -> float | None:
    """Return a value, None for NaN."""
    return None if isnan(value) else float(value)
