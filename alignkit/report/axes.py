"""Lay out the frame of a figure: scales, ticks, grid lines and labels."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

from alignkit.report.characters import visible

__all__ = ["BOTTOM", "HEIGHT", "LEFT", "RIGHT", "TOP", "WIDTH", "Axis", "Frame", "image"]

WIDTH, HEIGHT = 420, 270
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 30, 46
_LINE = 15


@dataclass(frozen=True)
class Axis:
    """Hold what an axis shows.

    Parameters
    ----------
    low, high
        The first and the last value.
    label
        What is shown; its unit.
    whole
        Whether values between whole numbers make no sense.
    """

    low: float
    high: float
    label: str
    whole: bool = False

    def ticks(self) -> list[float]:
        """Return round values, about six of them.

        Examples
        --------
        >>> Axis(0, 1, "agreement").ticks(), Axis(3, 41, "words", whole=True).ticks()
        ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [10.0, 20.0, 30.0, 40.0])
        """
        rough = (self.high - self.low) / 6
        power = 10.0 ** floor(log10(rough))
        step = next(power * part for part in (1, 2, 5, 10) if power * part >= rough * 0.999)
        if self.whole:
            step = max(1.0, step)
        # a hair of room, so that the ends are not lost to rounding
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        return [round(k * step, 10) + 0.0 for k in range(first, last + 1)]


@dataclass(frozen=True)
class Frame:
    """Turn values into places of a figure.

    Parameters
    ----------
    across, up
        The two axes.
    rows
        How many lines of text are wanted above the drawing.
    """

    across: Axis
    up: Axis
    rows: int = 0

    @property
    def top(self) -> int:
        """Where the drawing begins."""
        return TOP + _LINE * self.rows

    def x(self, value: float) -> float:
        """Return where a value of the first axis lies."""
        share = (value - self.across.low) / (self.across.high - self.across.low)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def y(self, value: float) -> float:
        """Return where a value of the second axis lies."""
        share = (value - self.up.low) / (self.up.high - self.up.low)
        return round(HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - self.top), 1)

    def row(self, k: int) -> int:
        """Return the foot of the k-th line of text above the drawing."""
        return TOP + _LINE * k + 5

    def draw(self) -> str:
        """Draw grid lines, ticks and labels; they stand behind the data."""
        foot, edge = HEIGHT - BOTTOM, WIDTH - RIGHT
        parts = []
        for value in self.up.ticks():
            y = self.y(value)
            parts.append(f'<path class="grid" d="M{LEFT} {y}H{edge}"/>')
            parts.append(f'<text x="{LEFT - 6}" y="{y + 4}" class="end">{value:g}</text>')
        for value in self.across.ticks():
            x = self.x(value)
            parts.append(f'<path class="axis" d="M{x} {foot}v4"/>')
            parts.append(f'<text x="{x}" y="{foot + 18}" class="mid">{value:g}</text>')
        parts.append(f'<path class="axis" d="M{LEFT} {foot}H{edge}"/>')
        middle = (LEFT + edge) / 2
        parts.append(f'<text x="{middle}" y="{HEIGHT - 8}" class="mid">{_text(self.across.label)}')
        parts.append(f'</text><text x="4" y="14">{_text(self.up.label)}</text>')
        return "".join(parts)


def image(name: str, title: str, said: str, drawn: str, *, height: int = HEIGHT) -> str:
    """Put a drawing into an image that says what it shows.

    Parameters
    ----------
    name
        Its name in the page; letters, digits and hyphens.
    title, said
        What it is, and what is to be seen.
    drawn
        The drawing, as SVG.
    height
        Its height; the width is `WIDTH`.
    """
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" class="chart" '
        f'aria-labelledby="{name}-title {name}-said">'
        f'<title id="{name}-title">{_text(title)}</title>'
        f'<desc id="{name}-said">{_text(said)}</desc>{drawn}</svg>\n'
    )


def _text(text: str) -> str:
    return escape(visible(text))
