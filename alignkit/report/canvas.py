"""Draw with matplotlib: images for a page, and files for a paper.

This is the only place that loads matplotlib, and it does so when it draws. Text stays text; on a
page the colours are those of the style sheet, so that light, dark and print are the reader's.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from alignkit.errors import OptionError
from alignkit.report.plot_svg import COLOURS, page_image
from alignkit.visible import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    "font.size": _TEXT,
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
    found = PurePath(path).suffix[1:].lower()
    if found not in ENDINGS:
        known = ", ".join(f".{one}" for one in ENDINGS)
        raise OptionError(f"{visible(path)}: what to draw is told by the ending; use {known}")
    return found


@contextmanager
def canvas(width: float, height: float) -> Iterator[Canvas]:
    """Open an empty canvas of so many pixels."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    style: Any = _STYLE
    with rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s)(Glyph|Matplotlib currently does not)")
        figure = Figure(figsize=(width / 72, height / 72))
        figure.patch.set_visible(False)
        yield Canvas(figure, width, height)


@dataclass(frozen=True, eq=False)
class Canvas:
    """A figure; places on it are pixels from its left upper corner."""

    figure: Figure  # of matplotlib
    width: float  # in pixels
    height: float

    def axes(self, left: float, top: float, right: float, bottom: float, *, grid: str) -> Axes:
        """Return axes between two corners, with pale lines across ``"x"``, ``"y"`` or nothing."""
        box = (
            left / self.width,
            1 - bottom / self.height,
            (right - left) / self.width,
            (bottom - top) / self.height,
        )
        axes = self.figure.add_axes(box)
        axes.patch.set_visible(False)
        for side in axes.spines.values():
            side.set_visible(False)
        axes.tick_params(length=0, labelsize=_TEXT, labelcolor=COLOURS["ink"], pad=5)
        axes.set_axisbelow(True)
        axes.set_xticks([])
        axes.set_yticks([])
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
        self.figure.add_artist(
            Rectangle(corner, width / self.width, height / self.height, clip_on=False, **how)
        )

    def image(self, name: str, title: str, said: str, notes: Mapping[str, Sequence[str]]) -> str:
        """Return the figure as SVG for a page; see `page_image`."""
        return page_image(self.file("svg"), name, visible(title), visible(said), notes)

    def file(self, kind: str) -> bytes:
        """Return the figure as a file, one of `ENDINGS`."""
        data = BytesIO()
        self.figure.savefig(
            data, format=kind, metadata=dict(_NOTHING[kind]), dpi=72 if kind == "svg" else 200
        )
        return data.getvalue()


def look(shape: int) -> dict[str, Any]:
    """Return how a mark looks."""
    return {
        "marker": SHAPES[shape],
        "markersize": 9,
        "color": COLOURS["ink"],
        "markeredgewidth": 1.6,
        "markerfacecolor": COLOURS["paper" if shape % 2 else "ink"],
        "linestyle": "",
        "clip_on": False,
    }


def faded(colour: str, share: float) -> tuple[float, ...]:
    """Return a colour of which only a share covers what is below."""
    from matplotlib.colors import to_rgba

    return to_rgba(COLOURS[colour], share)
