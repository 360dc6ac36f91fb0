"""Lay a table out for LaTeX, with the rules of the package booktabs."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import groupby

from alignkit._support.wording import visible
from alignkit.tables.columns import CARE, Column, Medium, Report, Sheet, ShownCell

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"$\sim$",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
_MINUS = re.compile(r"(?<!-)-(?=[\di])")


def escape(text: str) -> str:
    r"""Return a text as LaTeX prints it."""
    safe = "".join(_SPECIAL.get(sign, sign) for sign in visible(" ".join(text.split())))
    return re.sub("-(?=-)", "-{}", safe)  # two hyphens would become one dash


def comment(text: str) -> str:
    """Return lines of text as a comment."""
    return "\n".join(f"% {visible(line)}".rstrip() for line in text.split("\n")) if text else ""


def latex_table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[ShownCell]],
    *,
    apart: Collection[int] = (),
    reasons: Sequence[tuple[str, str]] = (),
) -> str:
    r"""Return a `tabular`; ``-`` where a number is undefined becomes a dash."""
    if not columns:
        return ""
    sides = "".join("r" if column.right else "l" for column in columns)
    lines = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule"]
    if any(column.span for column in columns):
        lines += _spans([column.span for column in columns])
    lines += [_line([escape(column.name) for column in columns]), r"\midrule"]
    for place, row in enumerate(rows):
        if place in apart:
            lines.append(r"\addlinespace")
        lines.append(_line([_cell(cell) for cell in row]))
    lines.append(r"\bottomrule")
    for mark, reason in reasons:
        said = rf"\textsuperscript{{{mark}}} {escape(reason)}"
        lines.append(rf"\multicolumn{{{len(columns)}}}{{l}}{{{said}}} \\")
    return "\n".join([*lines, r"\end{tabular}"])


def _spans(spans: Sequence[str]) -> list[str]:
    cells, rules, place = [], [], 1
    for span, same in groupby(spans):
        width = len(list(same))
        if span:
            cells.append(rf"\multicolumn{{{width}}}{{c}}{{{escape(span)}}}")
            rules.append(rf"\cmidrule(lr){{{place}-{place + width - 1}}}")
        else:
            cells += [""] * width
        place += width
    return [_line(cells), " ".join(rules)]


def _cell(cell: ShownCell) -> str:
    text = "--" if cell.text == "-" else escape(cell.text)
    if not cell.words:
        text = _MINUS.sub("$-$", text)
    return text + (rf"\textsuperscript{{{cell.mark}}}" if cell.mark else "")


def _line(cells: Sequence[str]) -> str:
    # a bracket or star after \\ would be taken for its argument
    return " & ".join("{}" + cell if cell[:1] in ("[", "*") else cell for cell in cells) + r" \\"


def _table(sheet: Sheet) -> str:
    body = latex_table(sheet.columns, sheet.rows, apart=sheet.apart, reasons=sheet.reasons)
    return "\n".join(filter(None, [comment(sheet.title), body, comment(sheet.note)]))


def _report(report: Report) -> str:
    blocks = [r"% needs \usepackage{booktabs}", _comments(report.head)]
    blocks += map(_table, report.tables)
    if report.cautions:
        blocks.append(_comments([CARE, *(f"- {one}" for one in report.cautions)]))
    return "\n\n".join([*blocks, comment(report.signature)])


def _comments(lines: Sequence[str]) -> str:
    return comment("\n".join(map(visible, lines)))


MEDIUM = Medium("print the tables for LaTeX", _table, _report)
