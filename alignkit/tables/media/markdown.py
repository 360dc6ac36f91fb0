"""Lay a table out in Markdown, with the pipes of GitHub's dialect."""

from __future__ import annotations

import re
from collections.abc import Sequence

from alignkit._support.wording import visible
from alignkit.tables.columns import CARE, Column, Medium, Report, Sheet, ShownCell

_SPECIAL = re.compile(r"([\\`*_\[\]<>|&]|~(?=\S)|(?<=\S)~)")
_BLOCK = re.compile(r"(?m)^(\s*)([-+#]|\d+(?=[.)]))")  # would begin a list or a heading


def escape(text: str) -> str:
    r"""Return a text of one line as Markdown shows it."""
    return _SPECIAL.sub(r"\\\1", visible(text))


def markdown_table(columns: Sequence[Column], rows: Sequence[Sequence[ShownCell]]) -> str:
    """Return a table with one line of headings, in which a span stands before each name."""
    if not columns:
        return ""
    names = [escape(column.heading) for column in columns]
    rule = ["--:" if column.right else ":--" for column in columns]
    lines = [names, rule, *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def paragraph(text: str) -> str:
    """Return lines of text as a paragraph."""
    lines = (_BLOCK.sub(_held, escape(line)) for line in text.split("\n"))
    return "\n".join(lines)


def _held(found: re.Match[str]) -> str:
    start = found[2]
    return f"{found[1]}\\{start}" if not start[0].isdigit() else found[0]


def _cell(cell: ShownCell) -> str:
    text = escape(cell.text) if cell.words else cell.text
    return text + (f" ({cell.mark})" if cell.mark else "")


def _table(sheet: Sheet) -> str:
    title = f"**{_line(sheet.title)}**" if sheet.title else ""
    notes = "  \n".join(f"({mark}) {paragraph(why)}" for mark, why in sheet.reasons)
    note = paragraph(sheet.note) if sheet.note else ""
    parts = [title, markdown_table(sheet.columns, sheet.rows), notes, note]
    return "\n\n".join(part for part in parts if part)


def _report(report: Report) -> str:
    blocks = ["  \n".join(map(_line, report.head)), *map(_table, report.tables)]
    if report.cautions:
        blocks.append(
            "\n".join([f"**{CARE}**", "", *(f"- {_line(one)}" for one in report.cautions)])
        )
    return "\n\n".join([*blocks, _line(report.signature)])


def _line(text: str) -> str:
    return paragraph(" ".join(text.split()))


MEDIUM = Medium("print the tables in Markdown", _table, _report)
