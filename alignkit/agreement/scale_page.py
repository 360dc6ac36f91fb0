"""The figure and the tables of published agreement, for the page of `agree` and the docs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan, nan
from typing import NamedTuple

from alignkit.agreement.numbers import ALL, SURE
from alignkit.agreement.published import (
    LANGUAGES,
    STARTS,
    PublishedCorpus,
    PublishedFigure,
    ScaleKind,
    published,
)
from alignkit.agreement.scale import ScalePlace, kinds_of
from alignkit.show.dot_plots import DotPanel, DotPlot, DotRow
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.table import Table

OWN = "this corpus"
SERIES = ("this corpus", "same kind", "other kinds")
OTHERWISE = "measured, otherwise"  # the group of figures that are no F1 of such links


class _Row(NamedTuple):
    """A row of the figure: its name, its group, its value and the place of its series."""

    name: str
    group: str
    value: Value
    series: int


def scale_plot(place: ScalePlace) -> DotPlot:
    """Return the figure of F1 of all links: published corpora, and the compared one among them.

    Rows are grouped by languages and by what the annotators started from, the highest F1 first.
    What was measured otherwise comes last: another measure or other units, or links of equal words
    are included here and left out there.
    """
    rows = list(_rows(place, published()))
    groups = [row.group for row in rows]
    ordered = sorted(rows, key=lambda row: (groups.index(row.group), -row.value.value))
    ordered.sort(key=lambda row: row.group == OTHERWISE)
    values = []
    for row in ordered:
        cells = [Value(nan)] * len(SERIES)
        cells[row.series] = row.value
        values.append(cells)
    panel = DotPanel("F1 (%)", [DotRow((row.name,), row.group) for row in ordered], values)
    shown = "; ".join(f"{row.name} {100 * row.value.value:.1f}" for row in ordered)
    caption = (
        f"F1 of all links in percent (equal words {place.kind.equal_words}) of this corpus and of "
        "published ones; lines: 95% intervals over sentence pairs, with several annotators the "
        f"mean of the pairings, from the lowest to the highest bound: {shown}."
    )
    return DotPlot([panel], SERIES, caption)


def _rows(place: ScalePlace, corpora: Sequence[PublishedCorpus]) -> Iterator[_Row]:
    """Yield the row of the compared corpus, and one of each published corpus."""
    yield _Row(OWN, group_of(place.kind), Value(place.f1, place.low, place.high), 0)
    for corpus in corpora:
        kind = corpus.kind(place.kind.equal_words)
        value = corpus.f1(ALL, kind.equal_words)
        if not isnan(value.value):
            yield _Row(corpus.name, group_of(kind), value, 1 if kind == place.kind else 2)
        else:
            yield _Row(corpus.name, OTHERWISE, corpus.figures[0].cell, 2)


def group_of(kind: ScaleKind) -> str:
    """Return the group of a kind in the figure."""
    return f"{LANGUAGES[kind.languages].partition(' not')[0]}, {STARTS[kind.start]}"


# tables
def scale_table(equal_words: str) -> Table:
    """Return the table of F1, C and kappa of links in published corpora.

    Each two annotators have a row. C is by the model of chance that `agree` quotes.
    """
    rows: list[list[Cell]] = []
    apart = []
    for corpus in published():
        start = len(rows)
        for name, every, sure in _pairings(corpus, equal_words, adjudicated=False):
            rows.append(
                [
                    corpus.name,
                    name,
                    LANGUAGES[corpus.languages],
                    STARTS[corpus.start],
                    corpus.pairs or None,
                    every.cell,
                    sure.cell if sure else None,
                    every.C,
                    every.chance,
                    None if isnan(every.kappa) else every.kappa,
                ]
            )
        if start and len(rows) > start:
            apart.append(start)
    columns = [
        Column("corpus"),
        Column("annotators"),
        Column("languages"),
        Column("start"),
        Column("pairs", "count"),
        Column("F1, all links", "percent"),
        Column("F1, sure links", "percent"),
        Column("C", "coefficient"),
        Column("model of C"),
        Column("kappa", "coefficient"),
    ]
    return Table(
        f"Agreement on links in published corpora, equal words {equal_words}",
        columns,
        rows,
        note="In brackets: 95% intervals over sentence pairs. C and kappa: all links. Annotators "
        "who judged given links have neither here, because both would count cells that nobody "
        "judged.",
        anchor="scale-links",
        apart=apart,
    )


def adjudicated_table(equal_words: str) -> Table:
    """Return the table of F1 of annotators and the adjudicated version of their corpus."""
    rows: list[list[Cell]] = []
    for corpus in published():
        for name, every, sure in _pairings(corpus, equal_words, adjudicated=True):
            rows.append(
                [
                    corpus.name,
                    name,
                    corpus.pairs or None,
                    every.cell,
                    sure.cell if sure else None,
                ]
            )
    columns = [
        Column("corpus"),
        Column("annotator and adjudicated version"),
        Column("pairs", "count"),
        Column("F1, all links", "percent"),
        Column("F1, sure links", "percent"),
    ]
    return Table(
        f"Annotators and the adjudicated version, equal words {equal_words}",
        columns,
        rows,
        note="This is not agreement between annotators, and it is not drawn.",
        anchor="scale-adjudicated",
    )


def _pairings(
    corpus: PublishedCorpus, equal_words: str, *, adjudicated: bool
) -> Iterator[tuple[str, PublishedFigure, PublishedFigure | None]]:
    """Yield who is compared, with the figures of all links and of sure links."""
    by_level: dict[str, dict[str, PublishedFigure]] = {}
    for figure in corpus.figures:
        if figure.equal_words == equal_words and figure.adjudicated == adjudicated:
            by_level.setdefault(figure.between, {})[figure.level] = figure
    for name, levels in by_level.items():
        if ALL in levels:
            yield name, levels[ALL], levels.get(SURE)


def printed_table() -> Table:
    """Return the table of figures that were read in articles and files, and where they stand."""
    rows: list[list[Cell]] = []
    for corpus in published():
        if not corpus.computed:
            for figure in corpus.figures:
                drawn = "yes" if figure == corpus.figures[0] else "no"
                what = f"{figure.measure}, {_LEVELS.get(figure.level, figure.level)}"
                value = 100 * figure.value
                rows.append([corpus.name, what, figure.equal_words, value, drawn, figure.place])
    columns = [
        Column("corpus"),
        Column("what"),
        Column("equal words"),
        Column("%", "decimal", digits=1),
        Column("drawn"),
        Column("found in"),
    ]
    return Table("Printed figures", columns, rows, anchor="scale-printed")


_LEVELS: Mapping[str, str] = {
    ALL: "all links",
    SURE: "sure links",
    "phrases.sure": "phrase pairs of sure links",
}


def kinds_table() -> Table:
    """Return how many corpora of each kind there are."""
    rows: list[list[Cell]] = []
    for kind, count in kinds_of(published()).items():
        rows.append([kind, count])
    columns = [Column("kind"), Column("corpora", "count")]
    return Table("Corpora of each kind with F1 of all links", columns, rows, anchor="scale-kinds")


def sources() -> list[str]:
    """Return the source of each corpus, and what else to know."""
    lines = []
    for corpus in published():
        line = f"{corpus.name}: {corpus.source}"
        if corpus.about:
            line += f" ({corpus.about})"
        lines.append(f"{line}.")
    return lines
