"""Draw values with their intervals for papers: rows of points in panels, 8 pt at final size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from math import ceil, floor, isnan
from typing import TYPE_CHECKING, Any

from alignkit._support.arguments import check_known
from alignkit._support.wording import visible
from alignkit.errors import OptionError
from alignkit.show.canvas import COLOURS, Canvas, canvas, ending
from alignkit.tables.columns import Value
from alignkit.tables.text_width import char_width, cut_middle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTHS = {"column": 3.3, "full": 6.9}
"""The possible widths of a figure in a paper, in inches."""

_TEXT = 8.0
_ROW = 0.27 * 72
_AXIS = 36.0
_EDGE = 3.0
_GAP = 20.0
_LINE = 1.25 * _TEXT
_LABELS = 0.45  # the most of the width that stands left of the axis
_MOST_TICKS = 7
_STEPS = [step * 10**k for k in range(8) for step in (1, 2, 5)]
_POINT: dict[str, Any] = {"markersize": 4.4, "markeredgewidth": 1, "linewidth": 1.2}
_LOOKS: tuple[dict[str, Any], ...] = (
    {"color": COLOURS["a"], "marker": "o"},
    {"color": COLOURS["sure"], "marker": "D", "markerfacecolor": COLOURS["paper"]},
    {"color": COLOURS["soft"], "marker": "s"},
)
"""The look of the points of a series; they differ in shape and filling, too."""


@dataclass(frozen=True)
class DotRow:
    """A row: the compared names, and the group of the row."""

    names: tuple[str, ...]
    group: str = ""


@dataclass(frozen=True)
class DotPanel:
    """A panel: the label of its axis, and for each row a value of each series (NaN: none)."""

    label: str
    rows: Sequence[DotRow]
    values: Sequence[Sequence[Value]]
    percent: bool = True

    @property
    def ends(self) -> list[float]:
        """All values that the axis must include, in hundredths."""
        every = [end for row in self.values for x in row for end in (x.value, x.low, x.high)]
        return [100 * end for end in every if not isnan(end)]

    def ticks(self, width: float) -> list[int]:
        """Return the ticks in hundredths: as many as fit the width in points, at most 7."""
        low, high = min(self.ends), max(self.ends)
        ticks: list[int] = []
        for step in _STEPS:
            rest = 100 % step  # so that 100 is a tick of large steps too
            first = floor(round((low - rest) / step, 6))
            last = ceil(round((high - rest) / step, 6))
            if first == last:
                first, last = (first - 1, last) if high >= 100 else (first, last + 1)
            ticks = [rest + k * step for k in range(first, min(last, first + _MOST_TICKS) + 1)]
            room = max(_width(text) for text in self.shown(ticks)) + 4
            if len(ticks) <= _MOST_TICKS and room * (len(ticks) - 1) <= width:
                break
        return ticks

    def shown(self, ticks: Sequence[int]) -> list[str]:
        """Return the ticks written like numbers in tables: percent, or without the leading 0."""
        if self.percent:
            return list(map(str, ticks))
        digits = 1 if all(tick % 10 == 0 for tick in ticks) else 2
        texts = (f"{tick / 100:.{digits}f}" if tick else "0" for tick in ticks)
        return [
            text.replace("0.", ".", 1) if text.lstrip("-")[0] == "0" and text != "0" else text
            for text in texts
        ]


@dataclass(frozen=True)
class DotPlot:
    """A figure for a paper; a notebook shows it."""

    panels: Sequence[DotPanel]
    series: Sequence[str]  # the names of the points of a row
    caption: str  # what is drawn, for whom, from how much data, by which model
    abreast: tuple[int, int] = (1, 2)  # panels next to each other, by the width

    def save(self, path: str, width: str = "column") -> None:
        """Write the figure to a PDF, PNG or SVG file, by its ending; its text stays text.

        The width is ``"column"`` (3.3 inches) or ``"full"`` (6.9 inches). An `OptionError` reports
        another ending, or that there are no values to draw.
        """
        ending(path)  # a wrong one is an error before anything is drawn
        with self.drawn(width) as figure:
            figure.save(path)

    def image(self, name: str, title: str) -> str:
        """Return the figure as SVG for a page, with a unique name; "" if it has no panels."""
        if not self.panels:
            return ""
        with self.drawn("column") as figure:
            return figure.image(name, title, self.caption, look="chart paper")

    def _repr_svg_(self) -> str:
        with self.drawn("column") as figure:
            return figure.file("svg").decode()

    @contextmanager
    def drawn(self, width: str) -> Iterator[Canvas]:
        """Yield the drawing."""
        check_known("width", width, WIDTHS)
        if not self.panels:
            raise OptionError("there is nothing to draw: all values are missing")
        with canvas(72 * WIDTHS[width], 0, _TEXT) as figure:
            _draw(figure, self, self.abreast[width == "full"])
            yield figure


def _draw(figure: Canvas, plot: DotPlot, abreast: int) -> None:
    rows = [row for panel in plot.panels for row in panel.rows]
    groups = [row.group.split(", ") for row in rows if row.group]
    margin = _LINE * max(map(len, groups), default=0) + (3 if groups else 0)
    texts = _fitted(rows, _LABELS * figure.width - _EDGE - margin - 7)
    left = _EDGE + margin + max(map(_width, texts.values()), default=0) + 7
    wide = (figure.width - left - 9 - _GAP * (abreast - 1)) / abreast
    top = _EDGE + (_ROW if len(plot.series) > 1 else 2)
    lines = [plot.panels[k : k + abreast] for k in range(0, len(plot.panels), abreast)]
    places = [_places(line[0].rows) for line in lines]
    figure.resize(top + sum(height + _AXIS for *_, height in places) - 9)
    if len(plot.series) > 1:
        _legend(figure, plot.series, left)
    for line, (ys, bounds, height) in zip(lines, places, strict=True):
        for y, row in zip(ys, line[0].rows, strict=True):
            figure.text(left - 7, top + y + 0.35 * _TEXT, texts[row.names], ha="right")
        for start, end, group in bounds:
            for k, part in enumerate(group.split(", ") if group else ()):
                x, y = _EDGE + _LINE * (k + 0.8), top + (start + end) / 2
                figure.text(x, y, part, rotation=90, ha="right", va="center")
        for k, panel in enumerate(line):
            x = left + k * (wide + _GAP)
            axes = figure.axes(x, top, x + wide, top + height)
            _draw_panel(axes, panel, ys, wide)
            for start, *_ in bounds[1:]:
                (rule,) = axes.plot([0, 1.01], [start] * 2, color=COLOURS["soft"], linewidth=0.5)
                rule.set(clip_on=False, transform=axes.get_yaxis_transform())
            axes.set(ylim=(height, 0))
            figure.text(x + wide / 2, top + height + 3 + 2.4 * _TEXT, panel.label, ha="center")
        top += height + _AXIS


def _draw_panel(axes: Axes, panel: DotPanel, ys: Sequence[float], width: float) -> None:
    ticks = panel.ticks(width)
    axes.set(xlim=(ticks[0], ticks[-1]))
    axes.set_xticks(ticks, labels=panel.shown(ticks))
    axes.tick_params(axis="x", length=3, width=0.8, color=COLOURS["ink"], pad=2.5, labelsize=_TEXT)
    axes.grid(axis="x", color=COLOURS["line"], linewidth=0.5, clip_on=False)
    axes.spines["bottom"].set(visible=True, linewidth=0.8, color=COLOURS["ink"])
    if ticks[0] < 0 < ticks[-1]:
        axes.axvline(0, color=COLOURS["soft"], linewidth=0.8, linestyle=(0, (3, 2)), zorder=1)
    for y, values in zip(ys, panel.values, strict=True):
        known = [(k, point) for k, point in enumerate(values) if not isnan(point.value)]
        step = _ROW * (0.32 if len(known) < 3 else 0.24)
        for n, (k, point) in enumerate(known):
            place = y + step * (n - (len(known) - 1) / 2)
            ends = [100 * point.low, 100 * point.high]
            axes.plot(ends, [place] * 2, color=_LOOKS[k]["color"], linewidth=1.2, clip_on=False)
            look = _LOOKS[k] | _POINT
            axes.plot([100 * point.value], [place], **look, clip_on=False, zorder=3)


def _legend(figure: Canvas, series: Sequence[str], left: float) -> None:
    """Draw the legend of the points, from the axis on, or from the edge if it is too long."""
    widths = [26 + _width(name) + 12 for name in series]
    if left + sum(widths) - 12 <= figure.width - _EDGE:
        x = left
    else:
        x = _EDGE
    y = _EDGE + 7
    for k, (name, width) in enumerate(zip(series, widths, strict=True)):
        figure.line((x, y), (x + 9, y), (x + 18, y), markevery=[1], **(_LOOKS[k] | _POINT))
        figure.text(x + 22, y + 0.35 * _TEXT, name)
        x += width


def _places(rows: Sequence[DotRow]) -> tuple[list[float], list[tuple[float, float, str]], float]:
    """Return the places of the rows, the groups with their ends, and the total height."""
    ys = list[float]()
    groups = list[tuple[float, float, str]]()
    y = 0.0
    for group, members in groupby(rows, key=lambda row: row.group):
        count = len(list(members))
        room = max(_ROW * count, *(_width(part) + 6 if group else 0 for part in group.split(", ")))
        ys += [y + (room - _ROW * count) / 2 + _ROW * (k + 0.5) for k in range(count)]
        groups.append((y, y + room, group))
        y += room
    return ys, groups, y


def _fitted(rows: Sequence[DotRow], room: float) -> dict[tuple[str, ...], str]:
    """Return the labels of rows; names are cut in the middle until all fit."""
    names = dict.fromkeys(row.names for row in rows)
    longest = max((char_width(visible(name)) for row in names for name in row), default=0)
    texts: dict[tuple[str, ...], str] = {}
    for most in range(min(longest, 80), 2, -1):
        texts = {row: " ~ ".join(cut_middle(visible(name), most) for name in row) for row in names}
        if max(map(_width, texts.values())) <= room:
            break
    return texts or {row: " ~ ".join(map(visible, row)) for row in names}


def _width(text: str) -> float:
    """Return the width of a line in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    shown = visible(text)
    known, *_ = text_to_path.get_text_width_height_descent(shown, FontProperties(size=_TEXT), False)
    return max(1.06 * known, 0.5 * _TEXT * char_width(shown))
