"""The tables of an agreement on judgments, and of the pairs that are judged differently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

from alignkit.agreement.figures import Figure
from alignkit.agreement.judgments.all_figures import JudgmentFigures
from alignkit.agreement.judgments.answer import ac1_name
from alignkit.tables.columns import Cell, Column, Row, Value
from alignkit.tables.table import Table

_KAPPAS = {"observed": "observed", "kappa": "kappa", "ac1": "AC1"}
_SHARES = ("observed", "settled", "tied", "settled.null", "left_out", "overruled")


@dataclass(frozen=True)
class TableLayout:
    """The contents of a table."""

    anchor: str  # its id on a page
    title: str  # what stands above it
    kinds: Mapping[str, str]  # the kinds of its rows; the names of those without annotators
    statistics: Mapping[str, str]  # its columns, and what they are called
    note: str = ""  # what stands below it
    of_all: bool = False  # whether it has only figures of all annotators, none of a single one


_OF_ALL = {"alpha.nominal": "alpha, nominal", "alpha.ordinal": "alpha, ordinal", "ac1": "AC1"}
LAYOUTS = (
    TableLayout(
        anchor="two",
        title="Every two annotators",
        kinds={"pairing": "", "mean": "mean", "groups": ""},
        statistics=_KAPPAS,
        note="in the mean, each kappa is weighted by the number of shared pairs; "
        "undefined kappas are left out",
    ),
    TableLayout(
        anchor="together",
        title="All annotators together",
        kinds={"joint": "all"},
        statistics={**_OF_ALL, "fleiss": "Fleiss' kappa"},
        of_all=True,
    ),
    TableLayout(
        anchor="majority",
        title="Each annotator ~ the majority, including the annotator",
        kinds={"consensus": "", "mean consensus": "mean", "pooled consensus": "all in one table"},
        statistics={**_KAPPAS, "null": "null", "corrected": "corrected"},
        note="null: the same kappa for permuted labels and their majority; corrected: "
        "(kappa - null) / (1 - null), with a fixed null",
    ),
    TableLayout(
        anchor="settled",
        title="Items with a majority",
        kinds={"consensus": "all"},
        statistics={
            "settled": "with a majority",
            "tied": "tied",
            "settled.null": "with one by chance",
        },
        of_all=True,
    ),
    TableLayout(
        anchor="others",
        title="Each annotator ~ the majority of the others",
        kinds={"leave-one-out": "", "mean leave-one-out": "mean"},
        statistics={**_KAPPAS, "left_out": "left out"},
        note="left out: pairs on which the others are tied, of all that both the annotator and "
        "another judged; the column pairs does not count them",
    ),
    TableLayout(
        anchor="adjudicated",
        title="Each annotator ~ the adjudicated version",
        kinds={"adjudicated": "", "mean adjudicated": "mean"},
        statistics={**_KAPPAS, "observed": "accuracy"},
    ),
    TableLayout(
        anchor="overruled",
        title="Items on which all agree, but the adjudicated version differs",
        kinds={"adjudicated": "all"},
        statistics={"overruled": "overruled"},
        of_all=True,
    ),
)
"""The tables, in order."""


def names_in_row(figure: Figure, layout: TableLayout) -> tuple[str, ...]:
    """Return the names in a figure's row: annotators, groups of them, or what it is of."""
    names = tuple(name for name in (figure.first, figure.second) if name)
    if figure.kind != "groups":
        return names or (layout.kinds[figure.kind] or "all",)
    if figure.first == figure.second:  # the mean within a group of annotators
        names = names[:1]
    first, *rest = names
    return f"mean of {first}", *rest


def figure_tables(agreement: JudgmentFigures) -> list[Table]:
    """Return the tables that have rows, in reading order."""
    tables = [_table(agreement, layout) for layout in LAYOUTS]
    return [table for table in tables if table.rows]


_TableFigures = dict[tuple[str, str, str, str], dict[str, Figure]]


def _table_figures(agreement: JudgmentFigures, layout: TableLayout) -> _TableFigures:
    """Return the figures of a table by statistic, for each view, section, kind and name."""
    rows: _TableFigures = {}
    for figure in agreement.all_figures:
        if figure.kind in layout.kinds and figure.statistic in layout.statistics:
            if layout.of_all and figure.first:
                continue
            view = figure.level.removeprefix("judgments.")
            who = " ~ ".join(names_in_row(figure, layout))
            place = (view, figure.section, figure.kind, who)
            rows.setdefault(place, {})[figure.statistic] = figure
    return rows


def _table(agreement: JudgmentFigures, layout: TableLayout) -> Table:
    """Return a table, view by view; its columns are the statistics that have any figure."""
    rows = _table_figures(agreement, layout)
    used = set(chain.from_iterable(rows.values()))
    statistics = [name for name in layout.statistics if name in used]
    grouped = agreement.options.by is not None
    columns = [Column("view")]
    if grouped:
        columns.append(Column(str(agreement.options.by), key="group"))
    columns.append(Column("", key="who"))
    stub = len(columns)
    columns.append(Column("pairs", "count"))
    weights = agreement.options.weights
    columns += [_column(name, layout.statistics[name], weights) for name in statistics]
    lines: list[Row] = []
    starts: dict[tuple[str, str], int] = {}
    for place in sorted(rows, key=lambda place: agreement.views.index(place[0])):
        view, section, _, name = place
        starts.setdefault((view, section), len(lines))
        figures = rows[place]
        cells: Row = [view]
        if grouped:
            cells.append(section or f"(no {agreement.options.by})")
        of_row = [figures.get(statistic) for statistic in statistics]
        # those of the first column; in a row, only `left out` counts others, and its note says so
        pairs = next(figure.pairs for figure in of_row if figure is not None)
        cells += [name, pairs, *map(_cell, of_row)]
        lines.append(cells)
    title = layout.title
    settled = agreement.options.settled
    if settled and layout.anchor in ("adjudicated", "overruled"):
        title += f" ({settled})"
    return Table(
        title,
        columns,
        lines,
        note=layout.note,
        anchor=f"judgments-{layout.anchor}",
        apart=list(starts.values())[1:],
        stub=stub,
    )


def _column(name: str, heading: str, weights: str) -> Column:
    """Return the column of a statistic; its heading says the weights, in LaTeX also which kappa."""
    if name in _SHARES:
        return Column(heading, "percent", key=name, unit="%")
    latex = ""
    if name == "kappa" and weights != "nominal":
        heading = f"kappa, {weights}"
        latex = rf"Cohen's $\kappa$, {weights}"
    elif name == "kappa":
        latex = r"Cohen's $\kappa$"
    elif name == "fleiss":
        latex = r"Fleiss' $\kappa$"
    elif name == "ac1":
        heading = ac1_name(weights)
    return Column(heading, "decimal", key=name, latex=latex)


def _cell(figure: Figure | None) -> Cell:
    """Return the value of a figure with its bounds, or why there is none."""
    if figure is None:
        return None
    return Value(figure.value, figure.low, figure.high, figure.reason)


# the pairs that are judged differently
# what a page shows at most: so many pairs, and so many characters of their texts
_MOST_PAIRS = 200
_MOST_CHARACTERS = 1_000_000


def disagreements_table(agreement: JudgmentFigures, *, whole: bool = True) -> Table:
    """Return the table of pairs with different judgments: all, or the first ones for a page."""
    pairs = agreement.disagreements if whole else agreement.disagreements[:_MOST_PAIRS]
    rows: list[Row] = []
    characters = 0
    for pair in pairs:
        characters += len(pair.source) + len(pair.target)
        if not whole and characters > _MOST_CHARACTERS:
            break
        judgments = [pair.judgments.get(name, "") for name in agreement.judges]
        rows.append([pair.id, ", ".join(pair.views), *judgments, pair.source, pair.target])
    if agreement.options.settled:
        whose = "annotators and the adjudicated version"
    else:
        whose = "annotators"
    different = len(agreement.disagreements)
    if different:
        count = f"{different:,} of {agreement.pairs:,}"
    else:
        count = "None of the"
    title = f"{count} pairs are judged differently by {whose}"
    if len(rows) < different:
        shown = f"the first {len(rows):,} are shown" if rows else "none is shown"
        title += f"; {shown} to keep the page small; the CSV of disagreements has all"
    columns = [Column("pair"), Column("differ in")]
    columns += [Column(name, key=f"judgment of {name}") for name in agreement.judges]
    columns += [Column("source"), Column("target")]
    return Table(title, columns, rows, anchor="disagreements")
