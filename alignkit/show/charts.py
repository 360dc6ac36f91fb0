"""Draw figures from data: bars, points with a line, intervals, values by rules, shares.

Everything is told by shape, hatching or letter as well as by colour.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING, Any

from alignkit._support.wording import visible
from alignkit.show.canvas import (
    COLOURS,
    HEIGHT,
    WIDTH,
    Axis,
    Bar,
    Canvas,
    Dots,
    KindShare,
    Marker,
    Span,
    canvas,
    faded,
    look,
)
from alignkit.tables.text_width import cut_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 14, 28, 46
_LINE, _ROW, _MARGIN, _KEY = 17, 38, 12, 21
_ROOM, _LABEL = 80, 56
_MOST_PLACES, _BIGGEST, _SMALLEST = 1000, 9.0, 1.7


def bars(
    name: str, title: str, data: Sequence[Bar], markers: Sequence[Marker], *, label: str, unit: str
) -> str:
    """Draw a histogram by `label`, of so many `unit`, with some values marked."""
    drawn = [item for item in markers if not isnan(item.value)]
    ends = [end for item in data for end in (item.low, item.high)] + [item.value for item in drawn]
    across = Axis(min(ends), max(ends), label)
    up = Axis(0, max([1, *(item.count for item in data)]), unit, whole=True)
    notes = {}
    with canvas(WIDTH, HEIGHT) as figure:
        axes = _frame(figure, across, up, rows=len(drawn))
        for k, item in enumerate(data):
            if item.count:
                middle, width = (item.low + item.high) / 2, 0.94 * (item.high - item.low)
                (bar,) = axes.bar(middle, item.count, width=width, color=COLOURS["fill"],
                                  edgecolor=COLOURS["soft"], linewidth=0.7)  # fmt: skip
                bar.set_gid(f"bar-{k}")
                bar.set_clip_on(False)
                notes[f"bar-{k}"] = [f"{item.label}: {item.count}"]
        axes.set(xlim=(across.low, across.high), ylim=(up.low, up.high))
        for k, mark in enumerate(drawn):
            _marker(axes, len(drawn) - k, mark, [item.value for item in drawn])
        said = f"{sum(item.count for item in data)} {unit} by {label}"
        said += "".join(f"; {item.label} is marked" for item in drawn)
        return figure.image(name, title, said, notes)


def _frame(figure: Canvas, across: Axis, up: Axis, *, rows: int = 0) -> Axes:
    """Return axes with round numbers and names, and room for lines of text above."""
    top, right, bottom = _TOP + _LINE * rows, WIDTH - _RIGHT, HEIGHT - _BOTTOM
    axes = figure.axes(_LEFT, top, right, bottom, grid="y")
    axes.set(xlim=(across.low, across.high), ylim=(up.low, up.high))
    axes.plot([0, 1], [0, 0], color=COLOURS["soft"], linewidth=1, clip_on=False,
              transform=axes.transAxes)  # fmt: skip
    figure.ticks(axes, "x", whole=across.whole)
    figure.ticks(axes, "y", whole=up.whole)
    figure.text((_LEFT + right) / 2, HEIGHT - 8, across.label, ha="center")
    figure.text(4, 14, up.label)
    return axes


def _marker(axes: Axes, row: int, item: Marker, values: Sequence[float]) -> None:
    """Draw a line down from a sign above, with its label on the outer side, where no line is."""
    box = axes.get_position()
    up = 1 + (row * _LINE - 9) / (box.height * HEIGHT)
    low, high = axes.get_xlim()
    wide = box.width * WIDTH
    place = (item.value - low) / (high - low) * wide
    left = place > wide - _ROOM or (item.value <= min(values) and place > _ROOM)
    ink = COLOURS["ink"]
    at: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "clip_on": False, "color": ink}
    style: Any = (0, (2.5, 2)) if item.dashed else "-"
    axes.plot([item.value] * 2, [0, up], linestyle=style, linewidth=2, **at)
    axes.plot([item.value], [up], marker="v", markersize=10, markeredgecolor=COLOURS["paper"], **at)
    side: dict[str, Any] = {"ha": "right", "xytext": (-9, -4)} if left else {"xytext": (9, -4)}
    side |= {"xycoords": at["transform"], "textcoords": "offset points", "annotation_clip": False}
    axes.annotate(visible(item.label), (item.value, up), **side)


def points(
    name: str, title: str, data: Mapping[tuple[float, float], int],
    line: Sequence[tuple[float, float]], *, second: bool, across: Axis, up: Axis,
) -> str:  # fmt: skip
    """Draw points, as many as `data` has at each place, and a fitted line through its corners."""
    placed = {place: (n, f"{place[0]:g}, {place[1]:.4g}") for place, n in data.items()}
    if len(placed) > _MOST_PLACES:  # put those together that lie within some 8 pixels
        wide, high = (across.high - across.low) / 45, (up.high - up.low) / 25
        counts: Counter[tuple[float, float]] = Counter()
        for (x, y), n in data.items():
            counts[round(x / wide) * wide, round(y / high) * high] += n
        placed = {(x, y): (n, f"about {x:.3g}, {y:.3g}") for (x, y), n in counts.items()}
    most = max((n for n, _ in placed.values()), default=1)
    # large marks first, so that none hides a small item
    ordered = sorted(placed.items(), key=lambda item: -item[1][0])
    sizes = [(2 * max(_SMALLEST, _BIGGEST * sqrt(n / most))) ** 2 for _, (n, _) in ordered]
    notes = [f"{said}: {n} {'pair' if n == 1 else 'pairs'}" for _, (n, said) in ordered]
    colour, shape = ("b", "o") if second else ("a", "s")
    with canvas(WIDTH, HEIGHT) as figure:
        axes = _frame(figure, across, up)
        if ordered:
            axes.scatter(
                [x for (x, _), _ in ordered], [y for (_, y), _ in ordered], s=sizes, marker=shape,
                facecolor=faded(colour, 0.2), edgecolor=COLOURS[colour], linewidth=1.3,
                clip_on=False, gid="points",
            )  # fmt: skip
        if line:
            for width, shade in ((5.5, "paper"), (2.5, "ink")):
                xs, ys = zip(*line, strict=True)
                axes.plot(xs, ys, color=COLOURS[shade], linewidth=width, clip_on=False)
        said = f"{sum(data.values())} sentence pairs: {up.label} by {across.label}"
        said += ", and the fitted line" if line else ""
        return figure.image(name, title, said, {"points": notes})


def spans(
    name: str, title: str, data: Sequence[Span], *, label: str, shapes: Mapping[int, str]
) -> str:
    """Draw values with their intervals, one below the other; `shapes` says what marks mean."""
    with _rows(len(data), shapes, label) as (figure, axes):
        _draw_spans(figure, axes, data)
        said = "; ".join(f"{item.label}: {item.note}" for item in data if not item.heading)
        return figure.image(name, title, said, {})


@contextmanager
def _rows(count: int, shapes: Mapping[int, str], label: str) -> Iterator[tuple[Canvas, Axes]]:
    """Open a figure of so many rows below a legend."""
    top = 8 + _KEY * len(shapes)
    height = top + _ROW * count + _BOTTOM
    with canvas(WIDTH, height) as figure:
        _legend(figure, shapes)
        figure.text(WIDTH / 2, height - 8, label, ha="center")
        yield figure, figure.axes(_MARGIN, top, WIDTH - _MARGIN, height - _BOTTOM, grid="")


def _legend(figure: Canvas, shapes: Mapping[int, str]) -> None:
    for k, (shape, meaning) in enumerate(shapes.items()):
        figure.mark(_MARGIN, 12 + _KEY * k, shape)
        figure.text(_MARGIN + 14, 17 + _KEY * k, cut_text(visible(meaning), _LABEL))


def _draw_spans(figure: Canvas, axes: Axes, data: Sequence[Span]) -> None:
    """Draw rows from the top; a row is 1 high, and its label stands above its mark."""
    ends = [end for item in data for end in (item.value, item.low, item.high) if not isnan(end)]
    _scale(figure, axes, ends, [not item.heading for item in data])
    for k, item in enumerate(data):
        y = k + 0.72
        _label(axes, k, item.label, item.note, heading=item.heading)
        if not isnan(item.low) and not isnan(item.high):
            line: dict[str, Any] = {"color": COLOURS["ink"], "linewidth": 2, "clip_on": False}
            axes.plot([item.low, item.high], [y, y], **line)
            for end in (item.low, item.high):
                axes.plot([end] * 2, [y - 0.13, y + 0.13], **line)
        if not isnan(item.value):
            axes.plot([item.value], [y], **look(item.shape))


def _scale(figure: Canvas, axes: Axes, ends: Sequence[float], rows: Sequence[bool]) -> None:
    """Show 0 to 1 at least, with lines beside the marks that leave the labels free."""
    low, high = min([0.0, *ends]), max([1.0, *ends])
    room = 0.02 * (high - low)
    axes.set(xlim=(low - room, high + room), ylim=(len(rows), 0))
    figure.ticks(axes, "x")
    ticks = [x for x in axes.get_xticks().tolist() if low - room <= x <= high + room]
    for colour, values in (("line", ticks), ("soft", [0, 1])):
        xs = [x for x in values for row in rows if row for _ in range(3)]
        ys = [y for _ in values for k, row in enumerate(rows) if row for y in (k + 0.5, k + 1, nan)]
        axes.plot(xs, ys, color=COLOURS[colour], linewidth=1, clip_on=False, zorder=0.9)


def _label(axes: Axes, k: int, label: str, note: str, *, heading: bool) -> None:
    side: dict[str, Any] = {"xycoords": axes.get_yaxis_transform(), "annotation_clip": False}
    text = cut_text(visible(label), _LABEL - (0 if heading else len(note)))
    weight = "bold" if heading else "normal"
    axes.annotate(text, (0, k + (0.82 if heading else 0.38)), weight=weight, **side)
    if note:
        axes.annotate(visible(note), (1, k + 0.38), ha="right", **side)


def dots(
    name: str, title: str, data: Sequence[Dots], meanings: Sequence[str], *, label: str
) -> str:
    """Draw the values that several rules, the meanings, give each thing: a mark for each rule."""
    with _rows(len(data), dict(enumerate(meanings)), label) as (figure, axes):
        values = [value for item in data for value in item.values if not isnan(value)]
        _scale(figure, axes, values, [not item.heading for item in data])
        for k, item in enumerate(data):
            _label(axes, k, item.label, "", heading=item.heading)
            kept = [(value, shape) for shape, value in enumerate(item.values) if not isnan(value)]
            if kept:
                ends = min(kept)[0], max(kept)[0]
                axes.plot(ends, [k + 0.72] * 2, color=COLOURS["soft"], clip_on=False)
            for value, shape in kept:
                axes.plot([value], [k + 0.72], **look(shape))
        said = []
        for item in data:
            if not item.heading:
                pairs = zip(meanings, item.values, strict=True)
                parts = (f"{meaning} {value:.3f}" for meaning, value in pairs if not isnan(value))
                said.append(f"{item.label}: {', '.join(parts)}")
        return figure.image(name, title, "; ".join(said), {})


def shares(
    name: str, title: str, data: Sequence[KindShare], meanings: Sequence[str], signs: Sequence[str]
) -> str:
    """Draw for each kind the shares of four outcomes as one bar."""
    left, right, top, row = 106, WIDTH - 56, 12 + _KEY * len(meanings), 27
    height = top + row * len(data) + 6
    notes: dict[str, list[str]] = {}
    with canvas(WIDTH, height) as figure:
        for k, meaning in enumerate(meanings):
            figure.box(4, 8 + _KEY * k, 22, 14, **_LOOKS[k])
            figure.text(34, 20 + _KEY * k, cut_text(visible(meaning), 52))
        for k, item in enumerate(data):
            total, x, y = sum(item.counts), float(left), top + row * k
            figure.text(left - 8, y + 17, item.label, ha="right")
            figure.text(right + 8, y + 17, str(total))
            for part, count in enumerate(item.counts):
                if count:
                    width = (right - left) * count / total
                    figure.box(x, y + 3, width, 19, gid=f"share-{k}-{part}", **_LOOKS[part])
                    notes[f"share-{k}-{part}"] = [f"{item.label}: {count} of {total}"]
                    if signs[part] and width >= 20:
                        middle = x + width / 2
                        figure.text(middle, y + 17, signs[part], ha="center", weight="bold")
                    x += width
        said = "; ".join(f"{item.label}: {', '.join(map(str, item.counts))}" for item in data)
        return figure.image(name, title, f"{', '.join(meanings)}: {said}", notes)


_LOOKS: tuple[dict[str, Any], ...] = tuple(
    {"facecolor": COLOURS["paper" if hatch else "fill"], "hatch": hatch, "linewidth": 1.3}
    | {"edgecolor": COLOURS[colour]}
    for colour, hatch in (("soft", ""), ("mix", "--"), ("a", "||||"), ("b", "----"))
)
"""Plain for both, level lines for both unlike, upright ones for the first, narrow level ones
for the second."""
