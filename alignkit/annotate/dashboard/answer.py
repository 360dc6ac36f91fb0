"""Put together what the dashboard shows."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import isnan, nan

from sqlalchemy import Connection

from alignkit.agreement.intervals import Intervals, weighted_mean
from alignkit.agreement.kappa import cohen_kappa
from alignkit.agreement.result import without
from alignkit.annotate.dashboard.live_work import LiveWork, commands, label_view
from alignkit.annotate.dashboard.tally import PairF1, Two
from alignkit.annotate.dashboard.view import (
    AnnotatorLine,
    Corrections,
    DashboardView,
    JudgedLine,
    JudgedTwo,
    JudgedView,
    LiveFigure,
    PairLine,
    PullLine,
    SlowFigures,
    SlowPace,
    SlowTwo,
    TwoLine,
)
from alignkit.annotate.project import queries
from alignkit.model.labels import View
from alignkit.stats.resampling import Interval
from alignkit.tables.result import Caution

_MOST = 50
_WORDS = 300  # characters of a text that are shown

_NO_PAIR = "no pair has a label of both"
_ALIKE = "both gave all pairs one and the same label"


def judged_view(conn: Connection, live: LiveWork, gold: str) -> JudgedView:
    """Return how far annotators agree on labels, and the pairs on which they do not."""
    judges = {name for judgments in live.judged.values() for name in judgments} - {gold}
    names = [name for name in live.tally.names if name in judges]
    view = label_view(queries.scheme_of(conn))
    twos = [_two(live, view, *two) for two in combinations(names, 2)]
    differing = sorted(_differing(live, names))
    return JudgedView(
        twos,
        _mean([(two.pairs, two.same) for two in twos]),
        _mean([(two.pairs, two.kappa) for two in twos]),
        list(_lines(conn, live, names, gold, [k for _, k in differing[:_MOST]])),
        len(differing),
    )


def _two(live: LiveWork, view: View | None, first: str, second: str) -> JudgedTwo:
    """Compare two by the labels that a view scores, without the flags; without a view by all."""
    given = (
        (said[first][0], said[second][0])
        for said in live.judged.values()
        if first in said and second in said
    )
    both = [pair for pair in given if view is None or all(view.rows.get(label) for label in pair)]
    if not both:
        none = LiveFigure(None, reason=_NO_PAIR)
        return JudgedTwo(first, second, 0, none, none)
    labels = ["", *sorted({label for pair in both for label in pair})]  # a table is 2 x 2 at least
    counts = Counter(both)
    kappa = cohen_kappa([[counts[one, other] for other in labels] for one in labels])
    same = sum(one == other for one, other in both) / len(both)
    return JudgedTwo(
        first,
        second,
        len(both),
        LiveFigure(same, pairs=len(both)),
        _figure(kappa, _ALIKE, len(both)),
    )


def _figure(value: float, reason: str, pairs: int = 0) -> LiveFigure:
    return LiveFigure(None, reason=reason) if isnan(value) else LiveFigure(value, pairs=pairs)


def _mean(figures: Sequence[tuple[int, LiveFigure]]) -> LiveFigure:
    """Average over twos, each by its pairs; those without a value are left out."""
    known = [(pairs, nan if one.value is None else one.value) for pairs, one in figures]
    return _figure(weighted_mean(known), "undefined for all")


def _differing(live: LiveWork, names: Sequence[str]) -> Iterator[tuple[bool, int]]:
    """Yield pairs that were judged differently; False before those with different labels."""
    for k, said in live.judged.items():
        judgments = {said[name] for name in names if name in said}
        if len(judgments) > 1:
            yield len({label for label, *_ in judgments}) == 1, k


def _lines(
    conn: Connection, live: LiveWork, names: Sequence[str], gold: str, some: Sequence[int]
) -> Iterator[JudgedLine]:
    rows = {row.k: row for row in queries.pair_rows(conn, some)}
    for k in some:
        row, said = rows[k], live.judged[k]
        counts = Counter(", ".join(said[name]) for name in names if name in said)
        yield JudgedLine(
            k,
            row.id,
            sorted(counts.items(), key=lambda item: (-item[1], item[0])),
            " ".join(row.source)[:_WORDS],
            " ".join(row.target)[:_WORDS],
            live.ready(k),
            k in live.settled,
        )


_LOWEST = 50
# characters of a text that are shown

_COMPUTING = "being computed"
_NOBODY = "agreement takes two annotators who have marked pairs done"
_NO_PAIR_ANSWER = "no pair is done by both"
_NOTHING = {"words": "neither has a link of different words", "cells": "all cells are alike"}

Drawn = Mapping[tuple[str, str], tuple[int, Intervals]]


@dataclass
class Slow:
    """The slow figures, and when they were computed."""

    n: int = -1  # the event, and the version of what is done, that they know of
    version: int = -1
    at: str = ""  # when the work was read
    running: bool = False
    problem: str = ""
    paces: dict[str, SlowPace] = field(default_factory=dict)
    twos: dict[tuple[str, str], SlowTwo] = field(default_factory=dict)
    pull: PullLine | None = None
    corrections: Corrections | None = None
    cautions: list[Caution] = field(default_factory=list)

    def take(self, figures: SlowFigures) -> None:
        """Take over what was computed; the rest stays."""
        self.paces, self.corrections = figures.paces, figures.corrections
        if figures.twos is not None:
            self.twos = {(two.first, two.second): two for two in figures.twos}
            self.pull, self.cautions = figures.pull, figures.cautions


def shown(
    conn: Connection, live: LiveWork, drawn: Drawn, slow: Slow, project: str, learning: str = ""
) -> DashboardView:
    """Return what the dashboard shows."""
    assert live.compared is not None
    judges = queries.task_of(conn) == "judge"
    gold, initial = live.compared.gold, live.compared.initial
    names = [name for name in live.tally.names if live.done[name]]
    twos = (
        [] if judges else [_two_answer(live, drawn, slow, *two) for two in combinations(names, 2)]
    )
    several = len(names) > 1
    none = LiveFigure(None, reason=slow.problem or _COMPUTING)
    view = label_view(queries.scheme_of(conn)) if judges else None
    printing = []
    if several and (view is not None or not judges):
        printing = commands(project, names, None if judges else initial, view)
    return DashboardView(
        live.n,
        live.pairs,
        len(live.settled),
        [_annotator(live, slow, name) for name in live.tally.names if _takes_part(live, name)],
        twos,
        _mean_answer(twos) if len(twos) > 1 else {},
        slow.at,
        slow.running,
        slow.problem,
        initial,
        slow.pull or PullLine(none, none, none),
        [] if judges else list(_lowest(conn, live)),
        printing,
        "" if several else _NOBODY,
        None if judges else slow.corrections,
        learning,
        judged_view(conn, live, gold) if judges else None,
        slow.cautions if several else [],
    )


def _takes_part(live: LiveWork, name: str) -> bool:
    return bool(live.done[name]) or live.assigned is None or bool(live.assigned.get(name))


def _annotator(live: LiveWork, slow: Slow, name: str) -> AnnotatorLine:
    done, pairs = len(live.done[name]), live.pairs
    if live.assigned is not None:
        own = live.assigned.get(name, set())
        done, pairs = len(live.done[name] & own), len(own)
    line = AnnotatorLine(name, done, pairs)
    pace = slow.paces.get(name)
    if pace is None:
        line.reason = slow.problem or _COMPUTING
    elif pace.median is None or pace.mean is None:
        line.reason = "no pair is done on the page yet"
    else:
        line.seconds, line.left = pace.median, pace.mean * (pairs - done)
    return line


def _two_answer(live: LiveWork, drawn: Drawn, slow: Slow, first: str, second: str) -> TwoLine:
    kept = live.tally.twos[first, second]
    links, bulk = kept.shared()
    beyond = slow.twos.get((first, second))
    return TwoLine(
        first,
        second,
        len(kept),
        dict(_figures(kept, drawn.get((first, second)))),
        {} if beyond is None else beyond.levels,
        "" if beyond is None else beyond.chance,
        links,
        bulk,
        {name: _known(name, value, len(kept)) for name, value in kept.apart().items()},
    )


def _figures(kept: Two, drawn: tuple[int, Intervals] | None) -> Iterator[tuple[str, LiveFigure]]:
    version, intervals = drawn or (-1, {})
    for name, value in kept.figures().items():
        figure = _known(name, value, len(kept))
        interval = intervals.get(name, _COMPUTING)
        if figure.value is not None and isinstance(interval, Interval):
            figure.low, figure.high = interval.low, interval.high
        elif figure.value is not None:
            figure.reason = interval if isinstance(interval, str) else ""
        figure.late = bool(len(kept)) and version != kept.version
        yield name, figure


def _known(name: str, value: float, pairs: int) -> LiveFigure:
    if not isnan(value):
        return LiveFigure(value, pairs=pairs)
    unit = name.removeprefix("different.").partition(".")[0]
    return LiveFigure(None, pairs=pairs, reason=_NOTHING[unit] if pairs else _NO_PAIR_ANSWER)


def _mean_answer(twos: list[TwoLine]) -> dict[str, LiveFigure]:
    """Average over twos, each by its pairs, as `alignkit.agree` does."""
    by_name: dict[str, list[LiveFigure]] = {}
    for two in twos:
        for name, figure in two.figures.items():
            by_name.setdefault(name, []).append(figure)
        for level, figure in two.beyond.items():
            by_name.setdefault(f"{level}.C", []).append(figure)
    means = {}
    for name, figures in by_name.items():
        value = weighted_mean([(f.pairs, nan if f.value is None else f.value) for f in figures])
        reason = without(value, sum(f.value is None and f.pairs > 0 for f in figures))
        reason = f"undefined for all: {figures[0].reason}" if isnan(value) else reason
        means[name] = LiveFigure(None if isnan(value) else value, reason=reason)
    return means


def _lowest(conn: Connection, live: LiveWork) -> Iterator[PairLine]:
    """Yield the pairs on which annotators agree least; those where they agree are not there."""
    ranked = heapq.nsmallest(_LOWEST, live.apart.items(), key=_ranked)
    some = [k for k, _ in ranked]
    rows = {row.k: row for row in queries.pair_rows(conn, some)}
    for k in some:
        row, f1 = rows[k], live.apart[k]
        yield PairLine(
            k,
            row.id,
            None if isnan(f1.possible) else f1.possible,
            None if isnan(f1.sure) else f1.sure,
            " ".join(row.source)[:_WORDS],
            " ".join(row.target)[:_WORDS],
            live.ready(k),
            k in live.settled,
        )


def _ranked(item: tuple[int, PairF1]) -> tuple[float, float, int]:
    """Return what pairs are ordered by: where nobody has a sure link, nobody differs in them."""
    k, f1 = item
    return round(f1.possible, 9), 1.0 if isnan(f1.sure) else round(f1.sure, 9), k
