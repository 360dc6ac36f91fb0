"""The agreement of annotators on labels, if the task is to judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain, combinations
from math import isnan

from sqlalchemy import Connection

from alignkit.agreement.intervals import weighted_mean
from alignkit.agreement.judgments.question import agree_on_judgments
from alignkit.agreement.kappa import cohen_kappa
from alignkit.annotate.dashboard import view
from alignkit.annotate.dashboard.work import Compared, Work
from alignkit.annotate.project import queries
from alignkit.corpora.labelled import judges_of
from alignkit.model.corpus import Corpus
from alignkit.model.labels import Scheme, View, get_view
from alignkit.tables.result import Caution

_MOST_LISTED = 50  # pairs on which annotators differ


def label_view(scheme: Scheme | None) -> View | None:
    """Return the view of a scheme that shows its labels, without flags; None without a scheme."""
    if scheme is None:
        return None
    labels = {label.value for label in scheme.labels}
    views = [get_view(scheme, name) for name in scheme.views]
    return next((view for view in views if labels.issuperset(view.labels)), None)


def label_cautions(corpus: Corpus, asked: Compared, scheme: Scheme | None) -> list[Caution]:
    """Return the cautions about the agreement of annotators on labels."""
    judging = label_view(scheme)
    names = [name for name in judges_of(corpus) if name in asked.annotators]
    if judging is None or len(names) < 2:
        return []
    agreement = agree_on_judgments(
        corpus, names, scheme=judging.scheme, view=judging.name, lenient_labels=True
    )
    return list(agreement.cautions)


def judged_view(conn: Connection, work: Work) -> view.JudgedView:
    """Return the agreement on labels, and the pairs that were judged differently."""
    judges = set().union(*work.judged.values())
    names = [name for name in work.compared.annotators if name in judges]
    scored = label_view(queries.scheme_of(conn))
    twos = [_two(work, scored, *two) for two in combinations(names, 2)]
    differing = []  # pairs with different labels, then those with different flags alone
    for k, judged in work.judged.items():
        judgments = set(judged.values())
        if len(judgments) > 1:
            labels = {label for label, *_ in judgments}
            differing.append((len(labels) == 1, k))
    first = [k for _, k in sorted(differing)[:_MOST_LISTED]]
    rows = {row.k: row for row in queries.pair_rows(conn, first)}
    lines = []
    for k in first:
        judged = work.judged[k]
        counts = Counter(", ".join(judged[name]) for name in names if name in judged)
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        line = view.listed(work, rows[k])
        lines.append(view.JudgedLine(*line, ordered))
    same = _mean([(two.pairs, two.same) for two in twos])
    kappa = _mean([(two.pairs, two.kappa) for two in twos])
    return view.JudgedView(twos, same, kappa, lines, len(differing))


def _mean(figures: Sequence[tuple[int, view.DashboardFigure]]) -> view.DashboardFigure:
    """Return the mean of figures by their weights, without those that are undefined."""
    value = weighted_mean([(pairs, figure.number) for pairs, figure in figures])
    return view.figure_of(value, None, 0, "undefined for all")


def _two(work: Work, scored: View | None, first: str, second: str) -> view.JudgedTwo:
    """Compare two by the labels that a view scores, without flags; if no view, by all labels."""
    counts: Counter[tuple[str, str]] = Counter()  # of pairs, by the labels of both
    for judgments in work.judged.values():
        if first in judgments and second in judgments:
            labels = (judgments[first][0], judgments[second][0])
            if scored is None or all(scored.rows.get(label) for label in labels):
                counts[labels] += 1
    pairs = counts.total()
    if not pairs:
        undefined = view.DashboardFigure(None, reason="no pair has labels from both")
        return view.JudgedTwo(first, second, 0, undefined, undefined)
    known = sorted(set(chain.from_iterable(counts)))
    categories = ["", *known]  # a table is 2 x 2 at least
    table = [[counts[row, column] for column in categories] for row in categories]
    same = view.DashboardFigure(sum(counts[label, label] for label in known) / pairs, pairs=pairs)
    kappa = cohen_kappa(table)
    if isnan(kappa):
        agreement = view.DashboardFigure(None, reason="both gave all pairs the same label")
    else:
        agreement = view.DashboardFigure(kappa, pairs=pairs)
    return view.JudgedTwo(first, second, pairs, same, agreement)
