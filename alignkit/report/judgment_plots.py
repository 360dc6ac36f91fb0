"""Draw the kappas of judgments with their intervals: on a page, and in a file for a paper."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

from alignkit.agreement.judgments.result import JudgmentAgreement
from alignkit.agreement.result_parts import Figure
from alignkit.errors import OptionError
from alignkit.output import replacing_bytes
from alignkit.report.canvas import ending
from alignkit.report.charts import panels, spans
from alignkit.report.columns import Column, Value
from alignkit.report.judgment_tables import LAYOUTS, Layout, who
from alignkit.report.plot_data import Panel, Span

_MOST = 40  # A figure of a table in a view has no more rows; the table has all

_SHAPES = {"kappa": (0, "kappa"), "null": (1, "by chance"), "corrected": (2, "corrected")}
_DRAWN = {
    "two": ("Every two annotators", ("kappa",)),
    "majority": ("With the majority", ("kappa", "null", "corrected")),
    "others": ("With that of the others", ("kappa",)),
    "adjudicated": ("With the adjudicated", ("kappa",)),
}
"""What is drawn, by the table that holds it, and its title in a file."""

_AXIS = "kappa: 0 as by chance, 1 in full"


def judgment_plots(agreement: JudgmentAgreement) -> Iterator[tuple[str, str]]:
    """Yield the title and the SVG of each figure: of each table in each view, if it has values."""
    for layout in LAYOUTS:
        for number, view in enumerate(agreement.views):
            data, left = _spans(agreement, layout, view)
            if not data:
                continue
            more = f" (the table has {left} more)" if left else ""
            title = f"{layout.title}: {view}{more}"
            name = f"{layout.anchor}-{number}"
            yield title, spans(name, title, data, label=_AXIS, shapes=_meanings(data))


def draw_judgment_plot(agreement: JudgmentAgreement, path: str) -> None:
    """Write a figure for a paper: the kappas with their intervals, a panel for each table."""
    kind = ending(path)
    data = []
    for layout in LAYOUTS:
        rows: list[Span] = []
        for view in agreement.views:
            here, left = _spans(agreement, layout, view)
            more = f" (the table has {left} more)" if left else ""
            rows += [Span(f"{view}{more}", heading=True), *here] if here else []
        if rows:
            data.append(Panel(_DRAWN[layout.anchor][0], _AXIS, rows))
    if not data:
        raise OptionError("no kappa has a value: there is nothing to draw; leave the figure out")
    shapes = _meanings([one for panel in data for one in panel.data])
    with replacing_bytes(path) as out:
        out.write(panels(data, kind, shapes))


def _meanings(data: list[Span]) -> dict[int, str]:
    used = {one.shape for one in data if not one.heading}
    return {shape: text for shape, text in _SHAPES.values() if shape in used and len(used) > 1}


def _spans(agreement: JudgmentAgreement, layout: Layout, view: str) -> tuple[list[Span], int]:
    """Return what is drawn of a table in a view, and how many rows are left out."""
    _, wanted = _DRAWN.get(layout.anchor, ("", ()))
    figures = [
        figure
        for figure in agreement.all_figures
        if figure.kind in layout.kinds
        and figure.statistic in wanted
        and figure.level == f"judgments.{view}"
        and figure.section == "all"
        and not isnan(figure.value)
    ]
    rows = {who(one, layout): k for k, one in reversed(list(enumerate(figures)))}
    figures.sort(key=lambda one: rows[who(one, layout)])  # of one annotator, one below the other
    return [_span(one, layout) for one in figures[:_MOST]], max(len(figures) - _MOST, 0)


def _span(one: Figure, layout: Layout) -> Span:
    shape, meaning = _SHAPES[one.statistic]
    note = Column("", "decimal").show(Value(one.value, one.low, one.high)).text
    label = who(one, layout) + ("" if one.statistic == "kappa" else f", {meaning}")
    return Span(label, one.value, one.low, one.high, note, shape)
