"""Compare annotators by the labels that they gave to pairs: what the dashboard shows of these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import isnan, nan

from sqlalchemy import Connection

from alignkit.agreement.kappa import cohen_kappa
from alignkit.agreement.statistic import weighted_mean
from alignkit.annotate.dashboard.compared import label_view
from alignkit.annotate.dashboard.live_work import LiveWork
from alignkit.annotate.dashboard.view import JudgedLine, JudgedTwo, JudgedView, LiveFigure
from alignkit.annotate.tables import queries
from alignkit.labels import View

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
