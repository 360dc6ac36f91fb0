"""Draw with matplotlib: images for pages, and files for papers.

Only this module loads matplotlib, when it draws. Text stays text. On a page, the colours come from
the style sheet, so the reader chooses light, dark or print.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from alignkit._support.wording import visible
from alignkit.errors import OptionError
from alignkit.io.atomic_files import replacing_bytes
from alignkit.tables import colours

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {name: colours.COLOURS[name].light for name in ("ink", "soft", "line", "a", "sure")}
COLOURS["paper"] = "#fefefe"  # not the white that matplotlib draws itself
"""The colours of a figure, by their names in the style sheet of a page."""

_INCH = 72  # pixels, as matplotlib counts them in SVG files
_SVG = "{http://www.w3.org/2000/svg}"
_XLINK = "{http://www.w3.org/1999/xlink}"
_NAMES = {colour: f"var(--{name})" for name, colour in COLOURS.items()}
_COLOUR = re.compile("|".join(_NAMES))
_NUMBER = re.compile(r"-?\d+\.\d+")
_UNUSED = re.compile(r"(font(-family|-size)?|stroke-line(join|cap)): [^;]*(; *|$)")


def _cleaned(element: Element, name: str, used: set[str]) -> Iterator[Element]:
    """Yield an element cleaned for a page, or its children if it says nothing itself.

    name: The name of the figure. used: The ids that other elements refer to.
    """
    tag = element.tag.removeprefix(_SVG)
    if tag in ("metadata", "style") or "}" in tag:
        return
    kept = element.makeelement(tag, dict(_attributes(element, name, used)))
    kept.text = element.text if tag == "text" else None
    for child in element:
        kept.extend(list(_cleaned(child, name, used)))
    is_bare = tag == "g" and not kept.attrib
    is_empty = tag in ("g", "defs") and not len(kept)
    if is_bare or is_empty:
        yield from kept
    else:
        yield kept


def _attributes(element: Element, name: str, used: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the attributes for a page: ids with the name of the figure, colours by their names."""
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
    """Return a number with at most one decimal."""
    text = f"{float(match[0]):.1f}"
    return "0" if text in ("-0.0", "0.0") else text.removesuffix(".0")


ENDINGS = ("pdf", "png", "svg")
"""The kinds of files that can be written."""

PNG_WIDTH = 2000
"""The width of PNG files in pixels, at least, so that they are sharp on a slide."""

_PNG_HEIGHT = 16_000  # pixels; a figure that would be higher is drawn with 200 dots per inch
_TEXT = 13.0
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "alignkit",
    "pdf.fonttype": 42,  # some publishers refuse the default
    "text.parse_math": False,  # a name may hold a dollar
    "text.color": COLOURS["ink"],
    "axes.unicode_minus": False,
}
_NOTHING: Mapping[str, Mapping[str, None]] = {
    "svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
    "pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")),
    "png": {"Software": None},
}
"""Settings that leave date and version out of files, so the same data give the same file."""


def ending(path: str) -> str:
    """Return the kind of a file by its ending, one of `ENDINGS`."""
    kind = PurePath(path).suffix[1:].lower()
    if kind not in ENDINGS:
        known = ", ".join(f".{ending}" for ending in ENDINGS)
        raise OptionError(f"{visible(path)}: unknown ending for a figure; use {known}")
    return kind


@contextmanager
def canvas(width: float, height: float, text: float = _TEXT) -> Iterator[Canvas]:
    """Open an empty canvas with a size in pixels and a text size."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    style: Any = {**_STYLE, "font.size": text}
    with rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s)(Glyph|Matplotlib currently does not)")
        figure = Figure(figsize=(width / _INCH, max(height, 1) / _INCH))
        figure.patch.set_visible(False)
        yield Canvas(figure, width, height)


@dataclass(eq=False)
class Canvas:
    """A figure; places on it are pixels from its upper left corner."""

    figure: Figure  # of matplotlib
    width: float  # in pixels
    height: float

    def resize(self, height: float) -> None:
        """Change the height of an empty canvas."""
        self.height = height
        self.figure.set_size_inches(self.width / _INCH, height / _INCH)

    def axes(self, left: float, top: float, right: float, bottom: float) -> Axes:
        """Return axes between two corners, without frame, ticks and grid."""
        width = (right - left) / self.width
        height = (bottom - top) / self.height
        axes = self.figure.add_axes((left / self.width, 1 - bottom / self.height, width, height))
        for part in (axes.patch, *axes.spines.values()):
            part.set_visible(False)
        axes.set_axisbelow(True)
        axes.set(xticks=[], yticks=[])
        return axes

    def text(self, x: float, y: float, text: str, **how: Any) -> None:
        """Write a line of text with its base at a place."""
        place = x / self.width, 1 - y / self.height
        self.figure.text(*place, visible(text), **{"va": "baseline", **how})

    def line(self, *places: tuple[float, float], **how: Any) -> None:
        """Draw a line from place to place."""
        from matplotlib.lines import Line2D

        xs = [x / self.width for x, _ in places]
        ys = [1 - y / self.height for _, y in places]
        self.figure.add_artist(Line2D(xs, ys, **{"color": COLOURS["ink"], **how}))

    def box(self, x: float, y: float, width: float, height: float, **how: Any) -> None:
        """Draw a rectangle with its upper left corner at a place."""
        from matplotlib.patches import Rectangle

        corner = x / self.width, 1 - (y + height) / self.height
        size = width / self.width, height / self.height
        self.figure.add_artist(Rectangle(corner, *size, clip_on=False, **how))

    def image(self, name: str, title: str, said: str, look: str = "chart") -> str:
        """Return the figure as SVG for a page."""
        from xml.etree import ElementTree

        root = ElementTree.fromstring(self.file("svg"))
        used: set[str] = set()  # the ids that other elements refer to
        for element in root.iter():
            for value in element.attrib.values():
                used.update(re.findall(r"(?:^|url\()#([\w.-]+)", value, re.MULTILINE))
        labels = f"{name}-title {name}-said"
        attributes = {"role": "img", "class": look, "aria-labelledby": labels}
        image = ElementTree.Element("svg", {"viewBox": root.get("viewBox", ""), **attributes})
        ElementTree.SubElement(image, "title", id=f"{name}-title").text = visible(title)
        ElementTree.SubElement(image, "desc", id=f"{name}-said").text = visible(said)
        for child in root:
            image.extend(list(_cleaned(child, name, used)))
        return ElementTree.tostring(image, encoding="unicode") + "\n"

    def file(self, kind: str) -> bytes:
        """Return the figure as a file, one of `ENDINGS`."""
        data = BytesIO()
        if kind == "png":
            dpi = self._png_dpi()
        else:
            dpi = 200.0 if kind == "pdf" else 72.0
        self.figure.savefig(data, format=kind, metadata=dict(_NOTHING[kind]), dpi=dpi)
        return data.getvalue()

    def _png_dpi(self) -> float:
        """Return the resolution at which a PNG file is wide enough for a slide, but not too high.

        The size in inches stays the same, so a PNG fits a column of a paper as before.
        """
        wide = _INCH * (PNG_WIDTH + 0.5) / self.width  # matplotlib drops parts of pixels
        not_too_high = _INCH * _PNG_HEIGHT / max(self.height, 1)
        return max(200.0, min(wide, not_too_high))

    def save(self, path: str) -> None:
        """Write the figure to a file, in the format of its ending."""
        self.figure.patch.set_visible(True)
        data = self.file(ending(path))
        with replacing_bytes(path) as out:
            out.write(data)


def faded(colour: str, share: float) -> tuple[float, ...]:
    """Return a colour with an opacity of `share`."""
    from matplotlib.colors import to_rgba

    return to_rgba(COLOURS[colour], share)
