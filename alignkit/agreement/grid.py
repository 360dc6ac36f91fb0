"""Lay out tables with two lines of headings, in plain text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

from alignkit.visible import visible

__all__ = ["Grid", "decimal", "layout", "percent", "whole"]


@dataclass(frozen=True)
class Grid:
    """Hold a table of R rows and K columns, as texts.

    Parameters
    ----------
    title
        What stands above it.
    headings
        (K,): of each column the span that it belongs to, and its own name.
    labels
        (R,): the name of each row, and its number of sentence pairs.
    body
        (R, K): the cells.
    note
        What stands below it; may be empty.
    """

    title: str
    headings: Sequence[tuple[str, str]]
    labels: Sequence[tuple[str, str]]
    body: Sequence[Sequence[str]]
    note: str = ""

    def __str__(self) -> str:
        note = f"\n{self.note}" if self.note else ""
        return f"{self.title}\n{layout(self.labels, self.headings, self.body)}{note}"


def percent(value: float) -> str:
    """Return a ratio as a percentage with one decimal, ``-`` where undefined."""
    return "-" if isnan(value) else f"{100 * value:.1f}"


def decimal(value: float) -> str:
    """Return a number with three decimals, ``-`` where undefined."""
    return "-" if isnan(value) else f"{value:.3f}"


def whole(value: float) -> str:
    """Return a number without decimals, ``-`` where undefined."""
    return "-" if isnan(value) else f"{value:.0f}"


def layout(
    labels: Sequence[tuple[str, str]],
    headings: Sequence[tuple[str, str]],
    body: Sequence[Sequence[str]],
) -> str:
    """Align cells to the right under two lines of headings; equal spans stand once, on the left."""
    labels = [(visible(label), pairs) for label, pairs in labels]
    label_width = max(len(label) for label, _ in labels)
    pairs_width = max(len("pairs"), *(len(pairs) for _, pairs in labels))
    widths = [
        max(len(heading), 5, *(len(row[place]) for row in body))
        for place, (_, heading) in enumerate(headings)
    ]
    gaps = [
        "   " if place == 0 or headings[place - 1][0] != span else "  "
        for place, (span, _) in enumerate(headings)
    ]
    _widen(widths, gaps, [span for span, _ in headings])
    left = " " * label_width + "  " + "pairs".rjust(pairs_width)
    top, under = " " * len(left), left
    for place, (span, heading) in enumerate(headings):
        if place == 0 or headings[place - 1][0] != span:
            top = top.ljust(len(under)) + gaps[place] + span
        under += gaps[place] + heading.rjust(widths[place])
    lines = [top.rstrip(), under] if top.strip() else [under]
    for (label, pairs), row in zip(labels, body, strict=True):
        cells = (
            gap + cell.rjust(width) for gap, cell, width in zip(gaps, row, widths, strict=True)
        )
        line = f"{label.ljust(label_width)}  {pairs.rjust(pairs_width)}{''.join(cells)}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def _widen(widths: list[int], gaps: Sequence[str], spans: Sequence[str]) -> None:
    """Give the first column of a span what the span's own heading needs beyond its columns."""
    for span in dict.fromkeys(spans):
        places = [place for place, other in enumerate(spans) if other == span]
        width = sum(widths[place] for place in places)
        width += sum(len(gaps[place]) for place in places[1:])
        widths[places[0]] += max(0, len(span) - width)
