"""Draw values with their intervals for papers: rows of points in panels, 8 pt at final size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, groupby
from math import ceil, floor, isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from alignkit._support.arguments import check_known
from alignkit._support.wording import visible
from alignkit.errors import OptionError
from alignkit.show.canvas import COLOURS, Canvas, canvas, ending
from alignkit.show.names import WIDTHS
from alignkit.tables.columns import Value
from alignkit.tables.text_width import char_width, cut_middle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# points, as all sizes below
_TEXT = 8.0  # of letters
_BASE = 0.35 * _TEXT  # from the middle of a line of text to its baseline
_LINE = 1.25 * _TEXT  # a line of text
_ROW = 0.27 * 72  # the height of a row
_HEAD = 15.0  # the height of the title of a group above its rows
_AXIS = 36.0  # below the rows, for the ticks and the label of the axis
_UNUSED = 9.0  # of these, below the last axis
_EDGE = 3.0  # around the figure
_GAP = 20.0  # between panels
_SPACE = 7.0  # between labels and the axis
_RIGHT = 9.0  # behind the last axis, whose last tick reaches over its end
_PAGE = 390.0  # the width of a wide figure of a page
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
        ends = []
        for value in chain.from_iterable(self.values):
            known = [end for end in (value.value, value.low, value.high) if not isnan(end)]
            ends += [100 * end for end in known]
        return ends

    def ticks(self, width: float) -> list[int]:
        """Return the ticks in hundredths: as many as fit the width in points, at most 7."""
        low = min(self.ends)
        high = max(self.ends)
        ticks: list[int] = []
        for step in _STEPS:
            rest = 100 % step  # so that 100 is a tick of large steps too
            first = floor(round((low - rest) / step, 6))
            last = ceil(round((high - rest) / step, 6))
            if first == last and high >= 100:
                first -= 1
            elif first == last:
                last += 1
            last = min(last, first + _MOST_TICKS)
            ticks = [rest + k * step for k in range(first, last + 1)]
            room = max(map(_width, self.shown(ticks))) + 4
            if len(ticks) <= _MOST_TICKS and room * (len(ticks) - 1) <= width:
                break
        return ticks

    def shown(self, ticks: Sequence[int]) -> list[str]:
        """Return the ticks written like numbers in tables: percent, or without the leading 0."""
        if self.percent:
            return list(map(str, ticks))
        digits = 1 if all(tick % 10 == 0 for tick in ticks) else 2
        texts = []
        for tick in ticks:
            text = f"{tick / 100:.{digits}f}" if tick else "0"
            if text.startswith(("0.", "-0.")):
                text = text.replace("0.", ".", 1)
            texts.append(text)
        return texts


@dataclass(frozen=True)
class DotPlot:
    """A figure for a paper; a notebook shows it."""

    panels: Sequence[DotPanel]
    series: Sequence[str]  # the names of the points of a row
    caption: str  # what is drawn, for whom, from how much data, by which model
    abreast: tuple[int, int] = (1, 2)  # panels next to each other, by the width
    headed: bool = False  # whether the name of a group is above its rows, else at their left
    note: str = ""  # a line above the rows

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

    def images(self, name: str, title: str) -> str:
        """Return the figure as two SVG for a page, which shows the one that fits the screen."""
        if not self.panels:
            return ""
        with self.drawn("column") as figure:
            narrow = figure.image(f"{name}-narrow", title, self.caption, look="chart paper narrow")
        with canvas(_PAGE, 0, _TEXT) as figure:
            _draw(figure, self, 1)
            return narrow + figure.image(name, title, self.caption, look="chart paper broad")

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
    """Draw the panels, `abreast` next to each other; panels of a line have the same rows."""
    rows = list(chain.from_iterable(panel.rows for panel in plot.panels))
    margin = 0.0 if plot.headed else _group_margin(rows)
    texts = _fitted(rows, _LABELS * figure.width - _EDGE - margin - _SPACE)
    # the left end and the width of the axes
    left = _EDGE + margin + max(map(_width, texts.values()), default=0) + _SPACE
    wide = (figure.width - left - _RIGHT - _GAP * (abreast - 1)) / abreast
    has_legend = len(plot.series) > 1
    top = _EDGE + (_ROW if has_legend else 2)
    if plot.note:
        top += _ROW
    lines = [plot.panels[k : k + abreast] for k in range(0, len(plot.panels), abreast)]
    layouts = [_Layout.of(line[0].rows, headed=plot.headed) for line in lines]
    figure.resize(top + sum(layout.height + _AXIS for layout in layouts) - _UNUSED)
    if has_legend:
        _legend(figure, plot.series, left)
    if plot.note:
        figure.text(_EDGE, top - 0.65 * _ROW + _BASE, plot.note)
    for line, layout in zip(lines, layouts, strict=True):
        for y, row in zip(layout.ys, line[0].rows, strict=True):
            figure.text(left - _SPACE, top + y + _BASE, texts[row.names], ha="right")
        for group in layout.groups:
            if plot.headed:
                _draw_heading(figure, group, top + group.start)
            else:
                _draw_at_left(figure, group, top + (group.start + group.end) / 2)
        bottom = top + layout.height
        for k, panel in enumerate(line):
            x = left + k * (wide + _GAP)
            _draw_panel(figure.axes(x, top, x + wide, bottom), panel, layout, wide)
            figure.text(x + wide / 2, bottom + 3 + 2.4 * _TEXT, panel.label, ha="center")
        top += layout.height + _AXIS


def _group_margin(rows: Sequence[DotRow]) -> float:
    """Return the room for the names of groups at the left of their rows, a line for each part."""
    parts = [len(row.group.split(", ")) for row in rows if row.group]
    return _LINE * max(parts) + 3 if parts else 0.0


def _draw_heading(figure: Canvas, group: _Group, top: float) -> None:
    """Draw the name of a group above its rows, on paper that covers the grid."""
    width = figure.width - 2 * _EDGE
    figure.box(_EDGE, top + 1, width, _HEAD - 2, facecolor=COLOURS["paper"], edgecolor="none")
    figure.text(_EDGE, top + _HEAD - 0.5 * _TEXT, group.name)


def _draw_at_left(figure: Canvas, group: _Group, middle: float) -> None:
    """Draw the parts of the name of a group at the left of its rows, from bottom to top."""
    for k, part in enumerate(group.parts):
        x = _EDGE + _LINE * (k + 0.8)
        figure.text(x, middle, part, rotation=90, ha="right", va="center")


def _draw_panel(axes: Axes, panel: DotPanel, layout: _Layout, width: float) -> None:
    """Draw the axis of a panel, the points of each row with their intervals, and the groups."""
    ticks = panel.ticks(width)
    axes.set(xlim=(ticks[0], ticks[-1]))
    axes.set_xticks(ticks, labels=panel.shown(ticks))
    axes.tick_params(axis="x", length=3, width=0.8, color=COLOURS["ink"], pad=2.5, labelsize=_TEXT)
    axes.grid(axis="x", color=COLOURS["line"], linewidth=0.5, clip_on=False)
    axes.spines["bottom"].set(visible=True, linewidth=0.8, color=COLOURS["ink"])
    if ticks[0] < 0 < ticks[-1]:
        axes.axvline(0, color=COLOURS["soft"], linewidth=0.8, linestyle=(0, (3, 2)), zorder=1)
    for y, values in zip(layout.ys, panel.values, strict=True):
        known = [(k, point) for k, point in enumerate(values) if not isnan(point.value)]
        step = _ROW * (0.32 if len(known) < 3 else 0.24)  # from series to series, around y
        for n, (k, point) in enumerate(known):
            place = y + step * (n - (len(known) - 1) / 2)
            ends = [100 * point.low, 100 * point.high]
            colour = _LOOKS[k]["color"]
            axes.plot(ends, [place, place], color=colour, linewidth=1.2, clip_on=False)
            look = _LOOKS[k] | _POINT
            axes.plot([100 * point.value], [place], **look, clip_on=False, zorder=3)
    for group in layout.groups[1:]:
        # a line above the group, across the axes
        (rule,) = axes.plot(
            [0, 1.01], [group.start, group.start], color=COLOURS["soft"], linewidth=0.5
        )
        rule.set(clip_on=False, transform=axes.get_yaxis_transform())
    axes.set(ylim=(layout.height, 0))


def _legend(figure: Canvas, series: Sequence[str], left: float) -> None:
    """Draw the legend of the points, from the axis on, or from the edge if it is too long."""
    widths = [26 + _width(name) + 12 for name in series]
    fits = left + sum(widths) - 12 <= figure.width - _EDGE
    x = left if fits else _EDGE
    y = _EDGE + 7
    for k, (name, width) in enumerate(zip(series, widths, strict=True)):
        figure.line((x, y), (x + 9, y), (x + 18, y), markevery=[1], **(_LOOKS[k] | _POINT))
        figure.text(x + 22, y + 0.35 * _TEXT, name)
        x += width


class _Group(NamedTuple):
    """Rows in a row with the same group: where they start and end, and the parts of its name."""

    start: float
    end: float
    parts: list[str]

    @property
    def name(self) -> str:
        """The name in one line."""
        return ", ".join(self.parts)


class _Layout(NamedTuple):
    """The places of rows, in points from the top: their middles, their groups, their end."""

    ys: list[float]
    groups: list[_Group]
    height: float

    @classmethod
    def of(cls, rows: Sequence[DotRow], *, headed: bool = False) -> _Layout:
        """Place rows below each other.

        The name of a group is above its rows (`headed`), or at their left. Then a group is at least
        as high as its name is long.
        """
        ys: list[float] = []
        groups: list[_Group] = []
        y = 0.0
        for name, members in groupby(rows, key=lambda row: row.group):
            parts = name.split(", ") if name else []
            count = len(list(members))
            if headed:
                height = _ROW * count + _HEAD * bool(parts)
                first = y + _HEAD * bool(parts)
            else:
                height = max([_ROW * count, *(_width(part) + 6 for part in parts)])
                first = y + (height - _ROW * count) / 2
            ys += [first + _ROW * (k + 0.5) for k in range(count)]
            groups.append(_Group(y, y + height, parts))
            y += height
        return cls(ys, groups, y)


def _fitted(rows: Sequence[DotRow], room: float) -> dict[tuple[str, ...], str]:
    """Return the labels of rows; names are cut in the middle until all fit."""
    names = {row.names: list(map(visible, row.names)) for row in rows}
    widths = map(char_width, chain.from_iterable(names.values()))
    texts: dict[tuple[str, ...], str] = {}
    for most in range(max(min(max(widths, default=0), 80), 3), 2, -1):
        for row, shown in names.items():
            texts[row] = " ~ ".join(cut_middle(name, most) for name in shown)
        if max(map(_width, texts.values()), default=0) <= room:
            break
    return texts


def _width(text: str) -> float:
    """Return the width of a line in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    shown = visible(text)
    known, *_ = text_to_path.get_text_width_height_descent(shown, FontProperties(size=_TEXT), False)
    return max(1.06 * known, 0.5 * _TEXT * char_width(shown))
