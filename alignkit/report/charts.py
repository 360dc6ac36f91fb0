"""Draw figures from data as SVG: bars, points with a line, intervals, shares.

Everything is told by shape, hatching or letter as well as by colour; the colours are those of the
page (`CHART_STYLE`), light or dark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import isnan, sqrt

from alignkit.report.axes import BOTTOM, HEIGHT, LEFT, RIGHT, WIDTH, Axis, Frame, image
from alignkit.report.characters import cut_text, visible

__all__ = ["CHART_STYLE", "Bar", "Marker", "Share", "Span", "bars", "points", "shares", "spans"]

CHART_STYLE = """
.chart{display:block;width:100%;height:auto;max-width:480px}
.chart text{font:13px system-ui,sans-serif;fill:var(--ink);paint-order:stroke;
stroke:var(--paper);stroke-width:3px;stroke-linejoin:round}
.chart .mid{text-anchor:middle}.chart .end{text-anchor:end}.chart .strong{font-weight:700}
.chart .grid{stroke:var(--line);fill:none}.chart .axis{stroke:var(--soft);fill:none}
.chart .bar{fill:var(--fill);stroke:var(--soft);stroke-width:.7}
.chart .mark{stroke:var(--ink);stroke-width:2;fill:none}.chart .dash{stroke-dasharray:5 4}
.chart .sign{fill:var(--ink);stroke:var(--paper);stroke-width:1}
.chart .fit{stroke:var(--ink);stroke-width:2.5;fill:none}
.chart .halo{stroke:var(--paper);stroke-width:5.5;fill:none}
.chart .a{stroke:var(--a)}.chart .b{stroke:var(--b)}
.chart .dot{fill-opacity:.2;stroke-width:1.3}
.chart .dot.a{fill:var(--a)}.chart .dot.b{fill:var(--b)}
.chart .box{stroke-width:1.3;fill:var(--paper)}.chart .box.mix{stroke:var(--mix)}
.chart .box.all{stroke:var(--soft);fill:var(--fill)}.chart .hatch{stroke-width:1.6;fill:none}
.chart .hatch.mix{stroke:var(--mix);stroke-width:3;stroke-dasharray:3 4}
"""

_MOST_POSITIONS = 1000
_BIGGEST, _SMALLEST = 9.0, 1.7
_ROOM = 80


@dataclass(frozen=True)
class Bar:
    """Hold one bar of a histogram: from `low` to `high`, `count` of them."""

    low: float
    high: float
    count: int
    label: str


@dataclass(frozen=True)
class Marker:
    """Hold a value that is marked by a line across the drawing; a NaN is not drawn."""

    value: float
    label: str
    dashed: bool = False


def bars(
    name: str, title: str, data: Sequence[Bar], markers: Sequence[Marker], *, label: str, unit: str
) -> str:
    """Draw a histogram.

    Parameters
    ----------
    name
        The name of the figure in the page.
    title
        What it shows.
    data
        The bars.
    markers
        Values to be marked.
    label, unit
        What the first axis shows, and what is counted.
    """
    drawn = [one for one in markers if not isnan(one.value)]
    ends = [one.low for one in data] + [one.high for one in data] + [one.value for one in drawn]
    low, high = min(ends), max(ends)
    frame = Frame(
        Axis(low, high, label),
        Axis(0, max([1, *(one.count for one in data)]), unit, whole=True),
        rows=len(drawn),
    )
    parts = [frame.draw()]
    foot = frame.y(0)
    for bar in data:
        left, right, top = frame.x(bar.low), frame.x(bar.high), frame.y(bar.count)
        if bar.count:
            parts.append(
                f'<rect class="bar" x="{left + 0.5:.1f}" y="{top}" '
                f'width="{max(right - left - 1, 1):.1f}" height="{foot - top:.1f}">'
                f"<title>{_text(f'{bar.label}: {bar.count}')}</title></rect>"
            )
    # the labels stand outside of the markers, where they meet no line
    parts += [
        _marker(frame, k, one, left=one.value <= min(other.value for other in drawn))
        for k, one in enumerate(drawn)
    ]
    said = f"{sum(one.count for one in data)} {unit} by {label}"
    said += "".join(f"; {one.label} is marked" for one in drawn)
    return image(name, title, said, "".join(parts))


def _marker(frame: Frame, k: int, one: Marker, *, left: bool) -> str:
    x, y = frame.x(one.value), frame.row(k) + 8
    left = x > WIDTH - RIGHT - _ROOM or (left and x > LEFT + _ROOM)
    anchor = ' class="end"' if left else ""
    kind = "mark dash" if one.dashed else "mark"
    return (
        f'<path class="{kind}" d="M{x} {y - 4}V{HEIGHT - BOTTOM}"/>'
        f'<path class="sign" d="M{x - 6:.1f} {y - 10}h12l-6 9z"/>'
        f'<text x="{x - 9 if left else x + 9:.1f}" y="{y}"{anchor}>{_text(one.label)}</text>'
    )


def points(
    name: str,
    title: str,
    data: Mapping[tuple[float, float], int],
    line: Sequence[tuple[float, float]],
    *,
    second: bool,
    across: Axis,
    up: Axis,
) -> str:
    """Draw points and a fitted line through them.

    Points at the same place are one mark, whose area grows with their number; where there are very
    many places, neighbours are put together.

    Parameters
    ----------
    name, title
        The name of the figure in the page, and what it shows.
    data
        The places, and how many points lie at each.
    line
        The corners of the fitted line.
    second
        Whether it is the second annotator, whose marks are circles.
    across, up
        The axes.
    """
    frame = Frame(across, up)
    parts = [frame.draw()]
    placed = {(frame.x(x), frame.y(y)): (n, f"{x:g}, {y:.4g}") for (x, y), n in data.items()}
    if len(placed) > _MOST_POSITIONS:
        placed = _thinned(placed)
    biggest = max((n for n, _ in placed.values()), default=1)
    # large marks first, so that none hides a small one
    for (x, y), (n, said) in sorted(placed.items(), key=lambda item: -item[1][0]):
        r = max(_SMALLEST, _BIGGEST * sqrt(n / biggest))
        note = f"<title>{said}: {n} {'pair' if n == 1 else 'pairs'}</title>"
        if second:
            shape = (
                f'<circle class="dot b" cx="{x}" cy="{y}" r="{r:.1f}" data-n="{n}">{note}</circle>'
            )
        else:
            side = f'width="{2 * r:.1f}" height="{2 * r:.1f}"'
            shape = (
                f'<rect class="dot a" x="{x - r:.1f}" y="{y - r:.1f}" {side} data-n="{n}">'
                f"{note}</rect>"
            )
        parts.append(shape)
    if line:
        path = "M" + "L".join(f"{frame.x(x)} {frame.y(y)}" for x, y in line)
        parts += [f'<path class="{kind}" d="{path}"/>' for kind in ("halo", "fit")]
    said = f"{sum(data.values())} sentence pairs: {up.label} by {across.label}, and the fitted line"
    return image(name, title, said, "".join(parts))


def _thinned(
    placed: Mapping[tuple[float, float], tuple[int, str]],
) -> dict[tuple[float, float], tuple[int, str]]:
    found: dict[tuple[float, float], tuple[int, str]] = {}
    for (x, y), (n, said) in placed.items():
        place = float(round(x / 8) * 8), float(round(y / 8) * 8)
        have, _ = found.get(place, (0, ""))
        found[place] = have + n, f"about {said}"
    return found


@dataclass(frozen=True)
class Span:
    """Hold a value with its interval; NaN where there is none."""

    label: str
    value: float
    low: float
    high: float
    note: str


def spans(name: str, title: str, data: Sequence[Span], *, label: str) -> str:
    """Draw values with their intervals, one below the other."""
    ends = [end for one in data for end in (one.value, one.low, one.high) if not isnan(end)]
    axis = Axis(min([0.0, *ends]), max([1.0, *ends]), label)
    frame = Frame(axis, Axis(0, 1, ""))
    row, top = 44, 12
    foot = top + row * len(data)
    parts = []
    for value in axis.ticks():
        x = frame.x(value)
        kind = "axis" if value in {0, 1} else "grid"
        parts.append(f'<path class="{kind}" d="M{x} {top}V{foot + 4}"/>')
        parts.append(f'<text class="mid" x="{x}" y="{foot + 19}">{value:g}</text>')
    for k, one in enumerate(data):
        y = top + row * k + 30
        parts.append(f'<text x="4" y="{y - 14}">{_text(one.label)}')
        parts.append(f'<tspan class="strong"> {_text(one.note)}</tspan></text>')
        if not isnan(one.low) and not isnan(one.high):
            left, right = frame.x(one.low), frame.x(one.high)
            parts.append(f'<path class="mark" d="M{left} {y - 5}v10m0-5H{right}m0-5v10"/>')
        if not isnan(one.value):
            parts.append(f'<circle class="sign" cx="{frame.x(one.value)}" cy="{y}" r="5.5"/>')
    parts.append(f'<text class="mid" x="{WIDTH / 2}" y="{foot + 38}">{_text(label)}</text>')
    said = "; ".join(f"{one.label}: {one.note}" for one in data)
    return image(name, title, said, "".join(parts), height=foot + 46)


@dataclass(frozen=True)
class Share:
    """Hold how many links of a kind both have alike, both have unlike, the first, the second."""

    label: str
    counts: tuple[int, int, int, int]


_PARTS = ("all", "mix", "a", "b")


def shares(name: str, title: str, data: Sequence[Share], meanings: Sequence[str]) -> str:
    """Draw for each kind the shares of four outcomes as one bar, hatched and lettered.

    Parameters
    ----------
    name, title
        The name of the figure in the page, and what it shows.
    data
        The kinds; one without counts has no bar.
    meanings
        What the four outcomes are.
    """
    parts = []
    y, left, width = 8, 104, WIDTH - 104 - 56
    for k, meaning in enumerate(meanings):
        parts.append(_box(_PARTS[k], 4, y, 22, 14))
        parts.append(f'<text x="34" y="{y + 12}">{_text(cut_text(visible(meaning), 52))}</text>')
        y += 21
    y += 8
    for one in data:
        total, x = sum(one.counts), float(left)
        parts.append(f'<text class="end" x="{left - 8}" y="{y + 14}">{_text(one.label)}</text>')
        for kind, count in zip(_PARTS, one.counts, strict=True):
            if count:
                part = width * count / total
                note = f"<title>{_text(f'{one.label}: {count} of {total}')}</title>"
                parts.append(f"<g>{note}{_box(kind, x, y, part, 19)}</g>")
                x += part
        parts.append(f'<text x="{left + width + 8}" y="{y + 14}">{total}</text>')
        y += 26
    said = "; ".join(f"{one.label}: {', '.join(map(str, one.counts))}" for one in data)
    return image(name, title, f"{', '.join(meanings)}: {said}", "".join(parts), height=y + 4)


def _box(kind: str, x: float, y: float, width: float, height: float) -> str:
    """Draw one outcome: plain for both, dashed for unlike, upright for A, level lines for B."""
    box = (
        f'<rect class="box {kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}"/>'
    )
    if kind == "all":
        return box
    if kind == "a":
        steps = range(1, int((width - 0.5) // 4) + 1)
        path = "".join(f"M{x + 4 * k:.1f} {y}v{height}" for k in steps)
    elif kind == "b":
        path = "".join(f"M{x:.1f} {y + k}h{width:.1f}" for k in range(4, int(height), 4))
    else:
        path = f"M{x:.1f} {y + height / 2}h{width:.1f}"
    letter = ""
    if kind in {"a", "b"} and width >= 20:
        middle, half = x + width / 2, y + height / 2
        letter = (
            f'<circle class="box {kind}" cx="{middle:.1f}" cy="{half:.1f}" r="8" stroke="none"/>'
            f'<text class="mid strong" x="{middle:.1f}" y="{half + 4.5:.1f}">{kind.upper()}</text>'
        )
    return f'{box}<path class="hatch {kind}" d="{path}"/>{letter}'


def _text(text: str) -> str:
    return escape(visible(text))
