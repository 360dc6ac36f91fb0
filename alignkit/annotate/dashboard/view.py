"""The data of the dashboard page: the live figures, and those of a child process."""

from __future__ import annotations

import heapq
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from math import isnan, nan

from msgspec import Struct
from sqlalchemy import Connection

from alignkit.agreement.figures import without
from alignkit.agreement.intervals import Intervals, weighted_mean
from alignkit.agreement.kappa import cohen_kappa
from alignkit.annotate.dashboard.live_work import LiveWork, label_view
from alignkit.annotate.dashboard.tally import PairF1
from alignkit.annotate.project import queries
from alignkit.model.labels import View
from alignkit.stats.resampling import Interval
from alignkit.tables.result import Caution

_MOST_LISTED = 50  # pairs on which annotators differ
_CHARACTERS = 300  # of a text that are shown

_COMPUTING = "being computed"
_NOTHING = {"words": "neither has a link of different words", "cells": "all cells are alike"}
NO_CONTROL = "no pair is in a control sample; `alignkit project assign` draws one"

Drawn = Mapping[tuple[str, str], tuple[int, Intervals]]


class LiveFigure(Struct, omit_defaults=True):
    """A figure with its interval, or the reason why it has none."""

    value: float | None  # None if undefined
    low: float | None = None  # of its interval, if there is one
    high: float | None = None
    pairs: int = 0  # the pairs that it stands on
    reason: str = ""  # why there is no value, or no interval
    late: bool = False  # the interval is older than the value, and is being drawn anew


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
    figures: dict[str, LiveFigure]  # as of now, by the names that they have in an Agreement
    beyond: dict[str, LiveFigure]  # C by level, as of DashboardView.at
    chance: str  # the model of chance that C is corrected by
    links: int
    bulk: int
    apart: dict[str, LiveFigure]  # F1 without these
    shown: int | None = None  # the pairs for which both saw the initial alignment; None without one


class PullLine(Struct):
    """The pull of suggestions, and the shares that were accepted and rejected."""

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
    """The number of links that annotators correct, pair by pair in the order of done."""

    pairs: int  # how many done pairs these are; each annotator's count
    each: list[int]
    line: list[tuple[int, float]]
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
    same: LiveFigure  # the share of them with the same label
    kappa: LiveFigure  # Cohen's, each label a category of its own


class JudgedLine(ListedPair):
    """A pair that was judged differently."""

    judgments: list[tuple[str, int]]


class JudgedView(Struct):
    """The agreement on labels, if the task is to judge."""

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


SlowTwo = tuple[str, str, str, dict[str, LiveFigure], int | None]
"""Two annotators, a model of chance, C by level (``"phrases.sure"``, ...), and `TwoLine.shown`."""


class SlowFigures(Struct):
    """The computed figures; those not asked for are None."""

    paces: dict[str, tuple[float | None, float | None]]  # median and mean seconds of done pairs
    twos: list[SlowTwo] | None = None  # C of every two annotators who have done anything
    pull: PullLine | None = None  # of the suggestions
    corrections: Corrections | None = None
    cautions: list[Caution] = []


@dataclass
class Slow:
    """The slow figures, and when they were computed."""

    n: int = -1  # the event, and the version of what is done, that they know of
    version: int = -1
    at: str = ""  # when the work was read
    running: bool = False
    problem: str = ""
    figures: SlowFigures = field(default_factory=lambda: SlowFigures({}))


def dashboard_view(
    conn: Connection, live: LiveWork, drawn: Drawn, slow: Slow, project: str, learning: str = ""
) -> DashboardView:
    """Return the dashboard of a project."""
    assert live.compared is not None
    judges = queries.task_of(conn) == "judge"
    gold = live.compared.gold
    initial = live.compared.initial
    names = [name for name in live.tally.names if live.done[name]]
    several = len(names) > 1
    twos = []
    printing = []
    if judges:
        view = label_view(queries.scheme_of(conn))
        if several and view is not None:
            printing = commands(project, names, None, view)
    else:
        twos = [_two_line(live, drawn, slow, *two) for two in combinations(names, 2)]
        if several:
            printing = commands(project, names, initial)
    reason = ""
    if not several:
        reason = "agreement needs two annotators who have marked pairs as done"
    unknown = LiveFigure(None, reason=slow.problem or _COMPUTING)
    return DashboardView(
        n=live.n,
        pairs=live.pairs,
        settled=len(live.settled),
        annotators=list(_annotator_lines(live, slow)),
        twos=twos,
        mean=_means(twos) if len(twos) > 1 else {},
        at=slow.at,
        running=slow.running,
        problem=slow.problem,
        initial=initial,
        commands=printing,
        reason=reason,
        learning=learning,
        pull=slow.figures.pull or PullLine(unknown, unknown, unknown),
        lowest=[] if judges else list(_lowest(conn, live)),
        corrections=None if judges else slow.figures.corrections,
        judged=_judged_view(conn, live, gold) if judges else None,
        cautions=slow.figures.cautions if several else [],
    )


def commands(
    project: str, annotators: list[str], initial: str | None = None, view: View | None = None
) -> list[str]:
    """Return the commands that print the figures of the dashboard for the finished work."""
    # not the corpus itself, beside which the project is
    file = project.removesuffix(".alignkit").removesuffix(".jsonl") + ".done.jsonl"
    export = ["alignkit", "project", "export", project, file, "--to", "alignkit-jsonl", "--done"]
    compared = [file, "--annotators", *annotators]
    if view is not None:
        agree = ["alignkit", "agree-judgments", *compared, "--scheme", view.scheme.name]
        agree += ["--view", view.name, "--lenient-labels"]
    else:
        agree = ["alignkit", "agree", *compared]
    if initial is not None:
        agree += ["--initial", initial, "--missing-initial", "leave-out"]
    return [shlex.join(export), shlex.join(agree)]


def _annotator_lines(live: LiveWork, slow: Slow) -> Iterator[AnnotatorLine]:
    """Yield the progress of each annotator who has done something, or has work."""
    for name in live.tally.names:
        done = live.done[name]
        pairs = live.pairs
        if live.assigned is not None:
            own = live.assigned.get(name, set())
            if not done and not own:
                continue
            done = done & own
            pairs = len(own)
        line = AnnotatorLine(name, len(done), pairs)
        line.seconds, mean = slow.figures.paces.get(name, (None, None))
        if name not in slow.figures.paces:
            line.reason = slow.problem or _COMPUTING
        elif mean is None:
            line.reason = "no pair is done on the page yet"
        else:
            line.left = mean * (pairs - len(done))
        yield line


# Links


def _two_line(live: LiveWork, drawn: Drawn, slow: Slow, first: str, second: str) -> TwoLine:
    """Return the agreement of two annotators: figures of now, and C as it was last computed."""
    tally = live.tally.twos[first, second]
    pairs = len(tally)
    version, intervals = drawn.get((first, second), (-1, {}))
    figures = {name: _figure_of(name, value, pairs) for name, value in tally.figures().items()}
    for name, figure in figures.items():
        interval = intervals.get(name, _COMPUTING)
        if figure.value is not None:
            if isinstance(interval, Interval):
                figure.low = interval.low
                figure.high = interval.high
            else:
                figure.reason = interval
        figure.late = pairs > 0 and version != tally.version
    computed = {two[:2]: two[2:] for two in slow.figures.twos or ()}
    chance, beyond, shown = computed.get((first, second), ("", {}, None))
    links, bulk = tally.shared()
    return TwoLine(
        first=first,
        second=second,
        pairs=pairs,
        figures=figures,
        beyond=beyond,
        chance=chance,
        links=links,
        bulk=bulk,
        apart={name: _figure_of(name, value, pairs) for name, value in tally.apart().items()},
        shown=shown,
    )


def _figure_of(name: str, value: float, pairs: int) -> LiveFigure:
    """Return a figure of two annotators; its name says why it is undefined."""
    unit = name.removeprefix("different.").partition(".")[0]
    undefined = _NOTHING[unit] if pairs else "no pair is done by both"
    return _figure(value, undefined, pairs)


def _figure(value: float, undefined: str, pairs: int = 0) -> LiveFigure:
    """Return a figure; if its value is NaN, with the reason."""
    if isnan(value):
        return LiveFigure(None, pairs=pairs, reason=undefined)
    return LiveFigure(value, pairs=pairs)


def _means(twos: list[TwoLine]) -> dict[str, LiveFigure]:
    """Average over each two annotators, weighted by their pairs, as `alignkit.agree` does."""
    by_name: dict[str, list[LiveFigure]] = {}
    for two in twos:
        beyond = {f"{level}.C": figure for level, figure in two.beyond.items()}
        for name, figure in (two.figures | beyond).items():
            by_name.setdefault(name, []).append(figure)
    means = {}
    for name, figures in by_name.items():
        value = _mean_of([(figure.pairs, figure) for figure in figures])
        means[name] = _figure(value, f"undefined for all: {figures[0].reason}")
        if not isnan(value):
            left_out = sum(figure.value is None and figure.pairs > 0 for figure in figures)
            means[name].reason = without(value, left_out)
    return means


def _mean_of(figures: Sequence[tuple[int, LiveFigure]]) -> float:
    """Return the mean of figures by their weights, without those that are undefined."""
    weighted = []
    for pairs, figure in figures:
        value = nan if figure.value is None else figure.value
        weighted.append((pairs, value))
    return weighted_mean(weighted)


def _lowest(conn: Connection, live: LiveWork) -> Iterator[PairLine]:
    """Yield the pairs with the lowest agreement; full agreement is left out."""

    def rank(item: tuple[int, PairF1]) -> tuple[float, float, int]:
        k, f1 = item
        sure = 1.0 if isnan(f1.sure) else round(f1.sure, 9)
        return round(f1.possible, 9), sure, k

    ranked = heapq.nsmallest(_MOST_LISTED, live.apart.items(), key=rank)
    rows = {row.k: row for row in queries.pair_rows(conn, [k for k, _ in ranked])}
    for k, f1 in ranked:
        measures = [None if isnan(value) else value for value in f1]
        yield PairLine(*_shown(live, rows[k]), *measures)


def _shown(live: LiveWork, row: queries.PairRow) -> tuple[int, str, str, str, bool, bool]:
    """Return the fields of a `ListedPair`."""
    source = " ".join(row.source)[:_CHARACTERS]
    target = " ".join(row.target)[:_CHARACTERS]
    return row.k, row.id, source, target, live.ready(row.k), row.k in live.settled


# Judgments


def _judged_view(conn: Connection, live: LiveWork, gold: str) -> JudgedView:
    """Return the agreement on labels, and the pairs that were judged differently."""
    judges = set().union(*live.judged.values()) - {gold}
    names = [name for name in live.tally.names if name in judges]
    view = label_view(queries.scheme_of(conn))
    twos = [_judged_two(live, view, *two) for two in combinations(names, 2)]
    same = _mean_of([(two.pairs, two.same) for two in twos])
    kappa = _mean_of([(two.pairs, two.kappa) for two in twos])
    differing = []  # pairs with different labels, then those with different flags alone
    for k, judged in live.judged.items():
        judgments = {judged[name] for name in names if name in judged}
        if len(judgments) > 1:
            labels = {label for label, *_ in judgments}
            differing.append((len(labels) == 1, k))
    listed = [k for _, k in sorted(differing)[:_MOST_LISTED]]
    rows = {row.k: row for row in queries.pair_rows(conn, listed)}
    lines = []
    for k in listed:
        judged = live.judged[k]
        counts = Counter(", ".join(judged[name]) for name in names if name in judged)
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        lines.append(JudgedLine(*_shown(live, rows[k]), ordered))
    return JudgedView(
        twos=twos,
        same=_figure(same, "undefined for all"),
        kappa=_figure(kappa, "undefined for all"),
        pairs=lines,
        differ=len(differing),
    )


def _judged_two(live: LiveWork, view: View | None, first: str, second: str) -> JudgedTwo:
    """Compare two by the labels that a view scores, without flags; if no view, by all labels."""
    counts: Counter[tuple[str, str]] = Counter()  # of pairs, by the labels of both
    for judgments in live.judged.values():
        if first in judgments and second in judgments:
            labels = (judgments[first][0], judgments[second][0])
            if view is None or all(view.rows.get(label) for label in labels):
                counts[labels] += 1
    pairs = counts.total()
    if not pairs:
        undefined = LiveFigure(None, reason="no pair has labels from both")
        return JudgedTwo(first, second, 0, undefined, undefined)
    known = sorted(set(chain.from_iterable(counts)))
    categories = ["", *known]  # a table is 2 x 2 at least
    table = [[counts[row, column] for column in categories] for row in categories]
    same = LiveFigure(sum(counts[label, label] for label in known) / pairs, pairs=pairs)
    kappa = cohen_kappa(table)
    if isnan(kappa):
        agreement = LiveFigure(None, reason="both gave all pairs the same label")
    else:
        agreement = LiveFigure(kappa, pairs=pairs)
    return JudgedTwo(first, second, pairs, same, agreement)
