"""Lay a table out in plain text for a terminal."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import groupby
from textwrap import fill

from alignkit._support.wording import visible
from alignkit.tables.columns import (
    CARE,
    Column,
    Medium,
    Report,
    Sheet,
    ShownCell,
    char_width,
    kept_in_place,
)

_WIDTH = 100  # of what stands around the tables of a report
_LEAST = 5  # the width of a number where columns have no rule above them


def text_table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[ShownCell]],
    *,
    apart: Collection[int] = (),
    stub: int = 1,
    ruled: bool = True,
) -> str:
    """Align columns of cells by the room they take on a terminal."""
    if not columns:
        return ""
    cells = [[_text(cell) for cell in row] for row in rows]
    names = [visible(column.name) for column in columns]
    widths = [max(map(char_width, column)) for column in zip(names, *cells, strict=True)]
    if not ruled:
        widths = [
            max(width, _LEAST) if column.kind != "text" else width
            for width, column in zip(widths, columns, strict=True)
        ]
    gaps = _gaps(columns, stub, ruled)
    starts = _spans(columns)
    for places, span in starts:
        room = sum(widths[k] for k in places) + sum(len(gaps[k]) for k in places[1:])
        widths[places[0]] += max(0, char_width(span) - room)
    lines = [_over(starts, widths, gaps)] if starts else []
    right = [bool(column.right) for column in columns]
    lines.append(_line(names, widths, gaps, right))
    if ruled:
        lines.append(_line(["-" * width for width in widths], widths, gaps, right))
    for place, row in enumerate(cells):
        if place in apart:
            lines.append("")
        lines.append(_line(row, widths, gaps, right))
    return "\n".join(lines)


def _text(cell: ShownCell) -> str:
    return visible(cell.text) + (f" ({cell.mark})" if cell.mark else "")


def _gaps(columns: Sequence[Column], stub: int, ruled: bool) -> list[str]:
    gaps = [""]
    for k in range(1, len(columns)):
        new = k == stub or (k > stub and columns[k].span != columns[k - 1].span)
        gaps.append("   " if new and not ruled else "  ")
    return gaps


def _spans(columns: Sequence[Column]) -> list[tuple[list[int], str]]:
    """Return the places of the columns that stand side by side below each span."""
    runs = groupby(range(len(columns)), key=lambda k: columns[k].span)
    return [(list(places), visible(span)) for span, places in runs if span]


def _over(
    spans: Sequence[tuple[Sequence[int], str]], widths: Sequence[int], gaps: Sequence[str]
) -> str:
    line, room = "", 0
    for places, span in spans:
        start = sum(widths[: places[0]]) + sum(map(len, gaps[: places[0] + 1]))
        line += " " * (start - room) + kept_in_place(span)
        room = start + char_width(span)
    return line


def _line(
    cells: Sequence[str], widths: Sequence[int], gaps: Sequence[str], right: Sequence[bool]
) -> str:
    parts = []
    for cell, width, gap, to_right in zip(cells, widths, gaps, right, strict=True):
        space = " " * (width - char_width(cell))
        kept = kept_in_place(cell)
        parts.append(gap + (space + kept if to_right else kept + space))
    return "".join(parts).rstrip(" ")


def _table(sheet: Sheet) -> str:
    body = text_table(
        sheet.columns, sheet.rows, apart=sheet.apart, stub=sheet.stub, ruled=sheet.ruled
    )
    notes = [f"({mark}) {visible(why)}" for mark, why in sheet.reasons]
    notes += [visible(line) for line in sheet.note.split("\n")] if sheet.note else []
    title = "\n".join(map(visible, sheet.title.split("\n")))
    parts = [title, body, "\n".join(notes)]
    return ("\n\n" if sheet.ruled else "\n").join(part for part in parts if part)


def _report(report: Report) -> str:
    tables = (
        _table(replace(one, title=_filled(one.title), note=_filled(one.note)))
        for one in report.tables
    )
    blocks = ["\n".join(map(visible, report.head)), *tables]
    if report.cautions:
        lines = (
            fill(
                f"- {visible(one)}",
                _WIDTH,
                subsequent_indent="  ",
                break_on_hyphens=False,
                break_long_words=False,
            )
            for one in report.cautions
        )
        blocks.append("\n".join([CARE, *lines]))
    return "\n\n".join([*blocks, visible(report.signature)])


def _filled(text: str) -> str:
    lines = (fill(line, _WIDTH, break_on_hyphens=False) for line in text.split("\n"))
    return "\n".join(lines)


MEDIUM = Medium("", _table, _report)
