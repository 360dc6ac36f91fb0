"""The plot of an agreement on judgments: kappas with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from math import isnan, nan

from alignkit._support.wording import how_many
from alignkit.agreement.judgments.all_figures import JudgmentFigures
from alignkit.agreement.judgments.report_tables import LAYOUTS, TableLayout, names_in_row
from alignkit.show.dot_plots import DotPanel, DotPlot, DotRow
from alignkit.tables.columns import Value

_MOST_ROWS = 40  # a panel has no more rows of a view; the table has all

_SERIES = {"kappa": "kappa", "null": "by chance", "corrected": "corrected"}
_PANELS = {
    "two": "every two annotators",
    "majority": "with the majority",
    "others": "with that of the others",
    "adjudicated": "with the adjudicated",
}
"""The tables that are drawn, and the titles of their panels."""


_DrawnRows = dict[DotRow, dict[str, Value]]  # the values of each row, by statistic


def _in_order(values: Mapping[str, Value], series: Sequence[str]) -> list[Value]:
    """Return the values of a row by series; NaN for those without a value."""
    return [values.get(name, Value(nan)) for name in series]


def judgment_plot(agreement: JudgmentFigures) -> DotPlot:
    """Return the figure for a paper: kappas with intervals, one panel per table."""
    drawn: dict[str, _DrawnRows] = {}
    more = 0
    for layout in LAYOUTS:
        if layout.anchor in _PANELS:
            title = _PANELS[layout.anchor]
            for view in agreement.views:
                rows = _drawn_rows(agreement, layout, view)
                more += max(len(rows) - _MOST_ROWS, 0)
                if rows:
                    drawn.setdefault(title, {}).update(islice(rows.items(), _MOST_ROWS))
    used = set[str]()
    for rows in drawn.values():
        for values in rows.values():
            used.update(values)
    series = [name for name in _SERIES if name in used]
    panels = []
    for title, rows in drawn.items():
        kappas = [_in_order(values, series) for values in rows.values()]
        panels.append(DotPanel(f"kappa, {title}", list(rows), kappas, percent=False))
    caption = (
        f"Kappa of {', '.join(agreement.annotators)} on judgments of "
        f"{how_many(agreement.pairs, 'pair')} ({', '.join(agreement.views)}); lines: "
        f"{100 * agreement.options.confidence:g}% intervals"
    )
    if more:
        caption += f"; {how_many(more, 'further row')} in the tables only"
    return DotPlot(panels, [_SERIES[name] for name in series], f"{caption}.", abreast=(1, 1))


def _drawn_rows(agreement: JudgmentFigures, layout: TableLayout, view: str) -> _DrawnRows:
    """Return the kappas of a table in a view, without those of groups of pairs."""
    group = view if len(agreement.views) > 1 else ""
    rows: _DrawnRows = {}
    for figure in agreement.all_figures:
        of_view = figure.section == "all" and figure.level == f"judgments.{view}"
        known = figure.statistic in _SERIES and not isnan(figure.value)
        if of_view and known and figure.kind in layout.kinds:
            row = DotRow(names_in_row(figure, layout), group)
            value = Value(figure.value, figure.low, figure.high)
            rows.setdefault(row, {})[figure.statistic] = value
    return rows
