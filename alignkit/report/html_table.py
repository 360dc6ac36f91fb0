"""Lay numbers out as an HTML table that scrolls where it is too wide."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from alignkit.report.html import isolated_text, safe_text

__all__ = ["TABLE_STYLE", "decimal", "html_table", "percent"]

TABLE_STYLE = """
.numbers th,.numbers td{padding:.15em 0 .15em 1.1em;text-align:right;white-space:nowrap;
font-variant-numeric:tabular-nums}
.numbers th[scope=row],.numbers .text,.numbers thead th:first-child{text-align:left}
.numbers th:first-child{padding-left:0;position:sticky;left:0;background:var(--paper)}
.numbers thead th{color:var(--soft);border-bottom:1px solid var(--line);vertical-align:bottom}
.numbers thead th[colspan]{text-align:left}
.caption{font-weight:700;margin:1em 0 .2em}
.numbers tr.apart>*{border-top:1px solid var(--line)}
"""


def decimal(value: float) -> str:
    """Return a number with three decimals; "-" for NaN."""
    if isnan(value):
        return "-"
    text = f"{value:.3f}"
    return "0.000" if text == "-0.000" else text


def percent(value: float) -> str:
    """Return a ratio as a percentage with one decimal; "-" for NaN."""
    return "-" if isnan(value) else f"{100 * value:.1f}"


def html_table(
    caption: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    spans: Sequence[tuple[str, int]] = (),
    texts: int = 1,
    apart: Sequence[int] = (),
) -> str:
    """Return a table whose first column names its rows.

    Parameters
    ----------
    caption
        What it shows.
    headings
        One for each column.
    rows
        The cells; numbers are shown as `str` has them.
    spans
        A first line of headings: each with the number of columns that it stands above.
    texts
        How many of the first columns hold text, and stand to the left.
    apart
        The rows above which a line is drawn.
    """
    head = "".join(
        f"<th scope=col{' class=text' if k < texts else ''}>{safe_text(text)}"
        for k, text in enumerate(headings)
    )
    above = "".join(f"<th scope=colgroup colspan={n}>{safe_text(text)}" for text, n in spans)
    lines = []
    for place, (first, *others) in enumerate(rows):
        cells = "".join(
            f"<td class=text>{isolated_text(str(value))}"
            if k < texts
            else f"<td>{safe_text(str(value))}"
            for k, value in enumerate(others, 1)
        )
        kind = " class=apart" if place in apart else ""
        lines.append(f"<tr{kind}><th scope=row>{isolated_text(str(first))}{cells}\n")
    name = safe_text(caption)
    return (
        f'<p class="caption">{name}</p>\n'  # no caption element: it would scroll out of sight
        f'<div class="scroll" tabindex="0" role="region" aria-label="{name}">'
        f'<table class="numbers" aria-label="{name}"><thead>'
        f"{f'<tr>{above}' if above else ''}<tr>{head}<tbody>\n{''.join(lines)}</table></div>\n"
    )
