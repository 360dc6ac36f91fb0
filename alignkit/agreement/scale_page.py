"""The figure and the tables of published agreement, for the page of `agree` and the docs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import isnan, nan
from typing import NamedTuple

from alignkit.agreement.figures import MOST_PAIRINGS
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
from alignkit.tables.columns import Column, Row, Value
from alignkit.tables.table import Table

OWN = "this corpus"
SERIES = ("this corpus", "same kind", "others")
_NOTE = "Lines: 95% intervals. Compare F1 within a group only."


class _Row(NamedTuple):
    """A row of the figure: its name, its group, its value and the place of its series."""

    name: str
    group: str
    value: Value
    series: int


def scale_plot(place: ScalePlace) -> DotPlot:
    """Return the figure of F1 of all links: the compared corpus first, and published corpora.

    Every two annotators have a row; of more than ten, those with the lowest and with the highest
    F1. Rows are grouped by languages and by what the annotators started from. What was measured
    otherwise is in a panel of its own, grouped by what it is: another measure or other units, or
    links of equal words are included here and left out there. A published corpus with the same
    figures as the compared one is not drawn again.
    """
    same, otherwise = _rows(place, published())
    panels = []
    for label, rows in {"F1 (%)": same, "%, measured otherwise": otherwise}.items():
        groups = list(dict.fromkeys(row.group for row in rows))
        ordered = sorted(rows, key=lambda row: groups.index(row.group))
        values = []
        for row in ordered:
            cells = [Value(nan)] * len(SERIES)
            cells[row.series] = row.value
            values.append(cells)
        if ordered:
            drawn = [DotRow(tuple(row.name.split(" ~ ")), row.group) for row in ordered]
            panels.append(DotPanel(label, drawn, values))
    listed: dict[str, None] = {}
    for rows in (same, otherwise):
        for row in rows:
            shown = f"{row.name} {100 * row.value.value:.1f}"
            listed[shown if rows is same else f"{shown} ({row.group})"] = None
    caption = (
        f"F1 of all links in percent (equal words {place.kind.equal_words}) of every two "
        "annotators, of this corpus and of published ones; lines: 95% intervals over sentence "
        f"pairs; in brackets: measured otherwise: {'; '.join(listed)}."
    )
    return DotPlot(panels, SERIES, caption, abreast=(1, 1), headed=True, note=_NOTE)


def _rows(place: ScalePlace, corpora: Sequence[PublishedCorpus]) -> tuple[list[_Row], list[_Row]]:
    """Return the rows of F1 of all links, the compared corpus first, and of other measures."""
    own = {name: Value(*numbers) for name, numbers in place.pairings.items()}
    equal_words = place.kind.equal_words
    same = list(_pairing_rows(OWN, own, group_of(place.kind), 0))
    otherwise = []
    for corpus in sorted(corpora, key=partial(_order, equal_words=equal_words)):
        if corpus.name == place.same_as:
            continue
        kind = corpus.kind(equal_words)
        figures = corpus.chosen(ALL, equal_words)
        if figures:
            values = {figure.between: figure.cell for figure in figures}
            series = 1 if kind == place.kind else 2
            same += _pairing_rows(corpus.name, values, group_of(kind), series)
        else:
            figure = corpus.figures[0]
            group = _why_otherwise(figure, equal_words)
            otherwise.append(_Row(corpus.name, group, figure.cell, 2))
    return same, otherwise


def _order(corpus: PublishedCorpus, equal_words: str) -> float:
    """Return the place of a corpus: the highest F1 first, those without F1 last."""
    value = corpus.f1(ALL, equal_words).value
    return 0.0 if isnan(value) else -value


def _pairing_rows(
    corpus: str, values: Mapping[str, Value], group: str, series: int
) -> Iterator[_Row]:
    """Yield the row of every two annotators, the highest F1 first; of many, the ends."""
    known = {name: value for name, value in values.items() if not isnan(value.value)}
    ordered = sorted(known, key=lambda name: -known[name].value)
    if len(ordered) == 1:
        yield _Row(corpus, group, known[ordered[0]], series)
    elif len(ordered) <= MOST_PAIRINGS:
        for name in ordered:  # the colour shows that names are those of the compared corpus
            shown = name if corpus == OWN else f"{corpus}: {name}"
            yield _Row(shown, group, known[name], series)
    else:
        yield _Row(f"{corpus}: highest", group, known[ordered[0]], series)
        yield _Row(f"{corpus}: lowest", group, known[ordered[-1]], series)


def _why_otherwise(figure: PublishedFigure, equal_words: str) -> str:
    """Return why a figure is no F1 of all links with equal words left out or included."""
    parts = ["F1 of all links"]
    if figure.measure != "F1":
        parts = [f"{figure.measure}, not F1"]
    elif figure.level != ALL:
        parts = [f"F1 of {_LEVELS.get(figure.level, figure.level)}"]
    if figure.equal_words != equal_words:
        parts.append(f"equal words {figure.equal_words}")
    return ", ".join(parts)


def group_of(kind: ScaleKind) -> str:
    """Return the group of a kind in the figure."""
    return f"{LANGUAGES[kind.languages].partition(' not')[0]}, {STARTS[kind.start]}"


# tables
def scale_table(equal_words: str) -> Table:
    """Return the table of F1, C and kappa of links in published corpora.

    Each two annotators have a row. C is by the model of chance that `agree` quotes.
    """
    rows: list[Row] = []
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
    rows: list[Row] = []
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
    rows: list[Row] = []
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


def kinds_table(own: str = "") -> Table:
    """Return how many corpora of each kind there are; the kind of the compared corpus first."""
    kinds = kinds_of(published())
    rows: list[Row] = []
    if own:
        rows.append([f"{own} (this corpus)", kinds.pop(own, 0)])
    for kind, count in kinds.items():
        rows.append([kind, count])
    columns = [Column("kind"), Column("corpora", "count")]
    return Table(
        "Published corpora of each kind that can be compared",
        columns,
        rows,
        note="With F1 of all links, and without an annotator who stands apart or two groups.",
        anchor="scale-kinds",
    )


def sources() -> list[str]:
    """Return the source of each corpus, and what else to know."""
    lines = []
    for corpus in published():
        line = f"{corpus.name}: {corpus.source}"
        if corpus.about:
            line += f" ({corpus.about})"
        lines.append(f"{line}.")
    return lines
