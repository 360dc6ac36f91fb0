"""Draw with matplotlib: images for a page, and files for a paper.

This is the only place that loads matplotlib, and it does so when it draws. Text stays text; on a
page the colours are those of the style sheet, so that light, dark and print are the reader's.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from math import nan
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from alignkit._support.wording import visible
from alignkit.errors import OptionError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {"ink": "#1b1b1b", "paper": "#fefefe", "soft": "#5c5c5c", "line": "#d9d9d9"}
COLOURS |= {"fill": "#d3dbe3", "a": "#0060a8", "b": "#a84300", "mix": "#7b3f98"}
COLOURS |= {"sure": "#d55e00"}
"""Every colour of a figure, by its name in the style sheet of a page."""

_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
_NAMES = {colour: f"var(--{name})" for name, colour in COLOURS.items()}
_COLOUR = re.compile("|".join(_NAMES))
_NUMBER = re.compile(r"-?\d+\.\d+")
_UNUSED = re.compile(r"(font(-family|-size)?|stroke-line(join|cap)): [^;]*(; *|$)")

Element = ElementTree.Element


def _cleaned(
    element: Element, name: str, used: set[str], notes: Mapping[str, Sequence[str]]
) -> Iterator[Element]:
    """Yield an element as the page takes it, with notes at its marks; nothing, or its children."""
    tag = element.tag.removeprefix(_SVG)
    if tag in ("metadata", "style") or "}" in tag:
        return
    texts = notes.get(element.get("id", ""))
    kept = Element(tag, dict(_attributes(element, name, used)))
    kept.text = element.text if tag == "text" else None
    for child in element:
        kept.extend(list(_cleaned(child, name, used, notes)))
    if texts is not None:
        shown = [mark for mark in kept.iter() if mark.tag in ("path", "use")]
        marks = [mark for mark in shown if "id" not in mark.attrib]  # else others use its shape
        for mark, text in zip(marks, texts, strict=True):
            ElementTree.SubElement(mark, "title").text = text
        styles = {mark.get("style", "") for mark in marks}
        if len(marks) > 1 and len(styles) == 1:  # say it once: there can be a thousand of them
            kept.set("style", styles.pop())
            for mark in marks:
                del mark.attrib["style"]
    if (tag == "g" and not kept.attrib) or (tag in ("g", "defs") and not len(kept)):
        yield from kept
    else:
        yield kept


def _attributes(element: Element, name: str, used: set[str]) -> Iterator[tuple[str, str]]:
    for key, value in element.attrib.items():
        if key == "id":
            if value in used:
                yield key, f"{name}-{value}"
        elif key == f"{_XLINK}href":
            yield "href", f"#{name}-{value[1:]}"
        elif key == "style":
            style = _UNUSED.sub("", value).strip("; ").replace("url(#", f"url(#{name}-")
            style = _COLOUR.sub(lambda match: _NAMES[match[0]], style)
            if style:
                yield key, style
        elif key == "d":
            yield key, " ".join(_NUMBER.sub(_rounded, value).split())
        elif key in ("fill", "stroke") and value in _NAMES:
            yield "style", f"{key}: {_NAMES[value]}"
        elif key != "transform" or not value.startswith("rotate(-0 "):
            yield key, _NUMBER.sub(_rounded, value.replace("url(#", f"url(#{name}-"))


def _rounded(match: re.Match[str]) -> str:
    text = f"{float(match[0]):.1f}"
    return "0" if text in ("-0.0", "0.0") else text.removesuffix(".0")


@dataclass(frozen=True)
class Axis:
    """What an axis shows: from where to where, and whether it counts."""

    low: float
    high: float
    label: str
    whole: bool = False


@dataclass(frozen=True)
class Bar:
    """A bar of a histogram: from `low` to `high`, `count` of them."""

    low: float
    high: float
    count: int
    label: str


@dataclass(frozen=True)
class Marker:
    """A value that is marked by a line across the drawing; a NaN is not drawn."""

    value: float
    label: str
    dashed: bool = False


@dataclass(frozen=True)
class Span:
    """A value with its interval; NaN where there is none."""

    label: str  # what stands above it: its name, and its numbers
    value: float = nan  # the value and its bounds
    low: float = nan
    high: float = nan
    note: str = ""
    shape: int = 0  # the number of its mark
    heading: bool = False  # whether it is the heading of those that follow, and holds nothing else


@dataclass(frozen=True)
class Dots:
    """The values that several rules give a thing; NaN where a rule gives none."""

    label: str
    values: Sequence[float] = ()
    heading: bool = False


@dataclass(frozen=True)
class KindShare:
    """How many links of a kind both have alike, both have unlike, the first, the second."""

    label: str
    counts: tuple[int, int, int, int]


ENDINGS = ("pdf", "png", "svg")
"""The kinds of files that can be drawn."""

WIDTH, HEIGHT = 420, 270
"""The pixels of a figure, at which its text is as large as that of the page."""

SHAPES = ("o", "s", "D", "^", "v", "P", "X")
"""The marks of several kinds of values, in their order; every second one is hollow."""

_TEXT = 13.0
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "alignkit",
    "pdf.fonttype": 42,  # some publishers refuse the default
    "text.parse_math": False,  # a name may hold a dollar
    "text.color": COLOURS["ink"],
    "axes.unicode_minus": False,
    "hatch.linewidth": 1.3,
}
_NOTHING: Mapping[str, Mapping[str, None]] = {
    "svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
    "pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")),
    "png": {"Software": None},
}
"""No file says when, or by which version, it was drawn: the same data give the same file."""


def ending(path: str) -> str:
    """Return the kind of file that a path asks for, one of `ENDINGS`."""
    kind = PurePath(path).suffix[1:].lower()
    if kind not in ENDINGS:
        known = ", ".join(f".{ending}" for ending in ENDINGS)
        raise OptionError(f"{visible(path)}: what to draw is told by the ending; use {known}")
    return kind


@contextmanager
def canvas(width: float, height: float, text: float = _TEXT) -> Iterator[Canvas]:
    """Open an empty canvas of so many pixels, with text of a size."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    style: Any = {**_STYLE, "font.size": text}
    with rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s)(Glyph|Matplotlib currently does not)")
        figure = Figure(figsize=(width / 72, max(height, 1) / 72))
        figure.patch.set_visible(False)
        yield Canvas(figure, width, height)


@dataclass(eq=False)
class Canvas:
    """A figure; places on it are pixels from its left upper corner."""

    figure: Figure  # of matplotlib
    width: float  # in pixels
    height: float

    def resize(self, height: float) -> None:
        """Give an empty canvas another height."""
        self.height = height
        self.figure.set_size_inches(self.width / 72, height / 72)

    def axes(self, left: float, top: float, right: float, bottom: float, *, grid: str) -> Axes:
        """Return axes between two corners, with pale lines across ``"x"``, ``"y"`` or nothing."""
        width, height = (right - left) / self.width, (bottom - top) / self.height
        axes = self.figure.add_axes((left / self.width, 1 - bottom / self.height, width, height))
        for part in (axes.patch, *axes.spines.values()):
            part.set_visible(False)
        axes.tick_params(length=0, labelsize=_TEXT, labelcolor=COLOURS["ink"], pad=5)
        axes.set_axisbelow(True)
        axes.set(xticks=[], yticks=[])
        if grid:
            direction: Any = grid
            axes.grid(axis=direction, color=COLOURS["line"], linewidth=1, clip_on=False)
        return axes

    def ticks(self, axes: Axes, side: str, *, whole: bool = False) -> None:
        """Put some round numbers on the ``"x"`` or the ``"y"`` axis."""
        from matplotlib.ticker import MaxNLocator, StrMethodFormatter

        axis = axes.xaxis if side == "x" else axes.yaxis
        most = 8 if side == "x" else 6
        axis.set_major_locator(MaxNLocator(nbins=most, steps=[1, 2, 5, 10], integer=whole))
        axis.set_major_formatter(StrMethodFormatter("{x:.6g}"))

    def text(self, x: float, y: float, text: str, **how: Any) -> None:
        """Write a line whose foot is at a place."""
        place = x / self.width, 1 - y / self.height
        self.figure.text(*place, visible(text), va="baseline", **how)

    def mark(self, x: float, y: float, shape: int) -> None:
        """Put one of `SHAPES` at a place."""
        from matplotlib.lines import Line2D

        place = [x / self.width], [1 - y / self.height]
        self.figure.add_artist(Line2D(*place, **look(shape)))

    def box(self, x: float, y: float, width: float, height: float, **how: Any) -> None:
        """Draw a rectangle whose left upper corner is at a place."""
        from matplotlib.patches import Rectangle

        corner = x / self.width, 1 - (y + height) / self.height
        size = width / self.width, height / self.height
        self.figure.add_artist(Rectangle(corner, *size, clip_on=False, **how))

    def image(
        self, name: str, title: str, said: str, notes: Mapping[str, Sequence[str]],
        look: str = "chart",
    ) -> str:  # fmt: skip
        """Return the figure as SVG for a page, with notes at its marks."""
        root = ElementTree.fromstring(self.file("svg"))
        values = "\n".join(value for element in root.iter() for value in element.attrib.values())
        used = set(re.findall(r"(?:^|url\()#([\w.-]+)", values, re.MULTILINE))
        labels = f"{name}-title {name}-said"
        attributes = {"role": "img", "class": look, "aria-labelledby": labels}
        image = Element("svg", {"viewBox": root.get("viewBox", ""), **attributes})
        ElementTree.SubElement(image, "title", id=f"{name}-title").text = visible(title)
        ElementTree.SubElement(image, "desc", id=f"{name}-said").text = visible(said)
        for child in root:
            image.extend(list(_cleaned(child, name, used, notes)))
        return ElementTree.tostring(image, encoding="unicode") + "\n"

    def file(self, kind: str) -> bytes:
        """Return the figure as a file, one of `ENDINGS`."""
        data, dpi = BytesIO(), 72 if kind == "svg" else 200
        self.figure.savefig(data, format=kind, metadata=dict(_NOTHING[kind]), dpi=dpi)
        return data.getvalue()


def look(shape: int) -> dict[str, Any]:
    """Return how a mark looks."""
    size = {"marker": SHAPES[shape], "markersize": 9, "markeredgewidth": 1.6}
    fill = {"color": COLOURS["ink"], "markerfacecolor": COLOURS["paper" if shape % 2 else "ink"]}
    return {**size, **fill, "linestyle": "", "clip_on": False}


def faded(colour: str, share: float) -> tuple[float, ...]:
    """Return a colour of which only a share covers what is below."""
    from matplotlib.colors import to_rgba

    return to_rgba(COLOURS[colour], share)
