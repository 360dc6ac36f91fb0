"""Lay a table out in HTML; it scrolls where it is too wide, and shows that it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby

from alignkit.tables.columns import (
    CARE,
    Column,
    Medium,
    Report,
    Sheet,
    ShownCell,
    char_width,
    isolated_text,
    safe_text,
)

_NARROW = 14


@cache
def table_style() -> str:
    """Return the style sheet of tables; it touches nothing but them."""
    from importlib.resources import files  # takes 10 ms, and plain text does without

    return files("alignkit.show").joinpath("table.css").read_text(encoding="utf-8")


def _table(sheet: Sheet) -> str:
    """Return a table in a frame that a keyboard reaches, with its note below."""
    name = safe_text(" ".join(sheet.title.split()) or "table")
    identity = f' id="{safe_text(sheet.anchor)}"' if sheet.anchor else ""
    caption = f"<caption><span>{_lines(sheet.title)}</span></caption>\n" if sheet.title else ""
    below = "".join(
        f'<p class="note"><sup>{mark}</sup> {safe_text(reason)}</p>\n'
        for mark, reason in sheet.reasons
    )
    if sheet.note:
        below += f'<p class="note">{_lines(sheet.note)}</p>\n'
    return (
        f'<div class="alignkit-table"{_pinned(sheet)}{identity}>\n'
        f'<div class="frame" tabindex="0" role="region" aria-label="{name}">'
        f"<table>{caption}{_head(sheet.columns)}{''.join(_bodies(sheet))}"
        f"</table></div>\n{below}</div>\n"
    )


def _pinned(sheet: Sheet) -> str:
    """Keep both columns that name the rows in sight, where the first of them is narrow."""
    if sheet.stub < 2 or len(sheet.columns) < 2 or not sheet.rows:
        return ""
    width = max(char_width(row[0].text) for row in sheet.rows)
    if width > _NARROW or sheet.columns[0].name or sheet.columns[1].kind != "text":
        return ""
    return f' data-pinned style="--first:{width}ch"'


def _lines(text: str) -> str:
    return "<br>".join(map(safe_text, text.split("\n")))


def _head(columns: Sequence[Column]) -> str:
    lines, groups = [], ""
    if any(column.span for column in columns):
        cells = ""
        for span, same in groupby(column.span for column in columns):
            width = len(list(same))
            groups += f'<colgroup span="{width}"></colgroup>'
            cells += (
                f'<th scope="colgroup" colspan="{width}">{isolated_text(span)}</th>'
                if span
                else f'<td colspan="{width}"></td>'
            )
        lines.append(f"<tr>{cells}</tr>\n")
    names = "".join(
        f'<th scope="col"{_side(column)}>{isolated_text(column.name)}</th>'
        if column.name
        else "<td></td>"
        for column in columns
    )
    return f"{groups}<thead>\n{''.join(lines)}<tr>{names}</tr>\n</thead>\n" if columns else ""


def _bodies(sheet: Sheet) -> Iterator[str]:
    yield "<tbody>\n"
    for place, row in enumerate(sheet.rows):
        if place and place in sheet.apart:
            yield "</tbody>\n<tbody>\n"
        cells = (
            _cell(column, cell, k < sheet.stub and column.kind == "text")
            for k, (column, cell) in enumerate(zip(sheet.columns, row, strict=True))
        )
        yield f"<tr>{''.join(cells)}</tr>\n"
    yield "</tbody>"


def _cell(column: Column, cell: ShownCell, names_row: bool) -> str:
    text = isolated_text(cell.text) if cell.words else safe_text(cell.text)
    text += f"<sup>{cell.mark}</sup>" if cell.mark else ""
    if names_row and cell.text:
        return f'<th scope="row"{_side(column)}>{text}</th>'
    return f"<td{_side(column)}>{text}</td>"


def _side(column: Column) -> str:
    return ' class="number"' if column.right else ""


def _report(report: Report) -> str:
    head = "".join(f"<p>{safe_text(line.strip())}</p>\n" for line in report.head)
    tables = "".join(map(_table, report.tables))
    cautions = "".join(f"<li>{safe_text(one)}</li>\n" for one in report.cautions)
    care = f"<p><strong>{CARE}</strong></p>\n<ul>\n{cautions}</ul>\n" if cautions else ""
    told = f"{head}{tables}{care}{signed(report.signature)}"
    return f"<style>{table_style()}</style>\n<div>\n{told}</div>\n"


def signed(signature: str) -> str:
    """Return a paragraph with the settings, which breaks between them."""
    settings = safe_text(signature).replace("|", "|<wbr>")
    return f'<p class="alignkit-signature"><code>{settings}</code></p>\n'


MEDIUM = Medium("", _table, _report)
