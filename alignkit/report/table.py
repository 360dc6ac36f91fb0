"""Lay records out as an aligned table of plain text, or of Markdown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import isnan

from alignkit.arguments import check_arguments
from alignkit.report.characters import char_width, visible

__all__ = ["render_table"]

_NUMBER = re.compile(r"[-+]?\d+([.,]\d+)*%?( \[.*\])?|[-+]?inf|[-?]")


def render_table(
    rows: Iterable[Mapping[str, object]],
    *,
    columns: Sequence[str] | None = None,
    digits: int | Mapping[str, int] = 3,
    percent: Collection[str] = (),
    markdown: bool = False,
) -> str:
    """Align records in columns: numbers to the right, everything else to the left.

    Parameters
    ----------
    rows
        The records; a key that one lacks is left empty.
    columns
        The keys to show, in this order; None for all, in the order of their first use.
    digits
        The decimals of floats: for all columns, or for those named (3 for the others).
    percent
        The columns of ratios that are shown as percentages, with one decimal unless `digits`
        names the column.
    markdown
        Make a Markdown table.

    Returns
    -------
    str
        Lines without spaces or a newline at the end; empty where there is no column. NaN is
        "-", None is empty, true and false are yes and no. Text that looks like a number (with or
        without an interval in brackets) goes to the right as numbers do.

    Examples
    --------
    >>> print(render_table([{"system": "giza", "links": 12, "aer": 0.25, "f1": float("nan")},
    ...                     {"system": "none", "links": 0, "aer": 1.0}], percent={"aer"}))
    system  links     aer  f1
    ------  -----  ------  --
    giza       12   25.0%   -
    none        0  100.0%
    """
    check_arguments(render_table, locals())
    records = list(rows)
    if columns is None:
        columns = list(dict.fromkeys(key for record in records for key in record))
    if not columns:
        return ""
    table = [
        [_cell(name, record.get(name), digits, percent) for name in columns] for record in records
    ]
    right = [_is_numeric([row[k] for row in table]) for k in range(len(columns))]
    names = [visible(name) for name in columns]
    if markdown:
        rule = ["--:" if to_right else ":--" for to_right in right]
        lines = [[text.replace("|", "\\|") for text in row] for row in (names, rule, *table)]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)
    widths = [max(map(char_width, column)) for column in zip(names, *table, strict=True)]
    lines = [names, ["-" * width for width in widths], *table]
    return "\n".join("  ".join(map(_aligned, line, widths, right)).rstrip() for line in lines)


def _cell(
    name: str, value: object, digits: int | Mapping[str, int], percent: Collection[str]
) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name in percent and isinstance(value, int):
        value = float(value)
    if isinstance(value, float):
        fixed = 1 if name in percent else digits if isinstance(digits, int) else 3
        decimals = fixed if isinstance(digits, int) else digits.get(name, fixed)
        return _decimal(value, decimals, percent=name in percent)
    return visible(str(value))


def _decimal(value: float, digits: int, *, percent: bool) -> str:
    if isnan(value):
        return "-"
    text = f"{value:.{digits}{'%' if percent else 'f'}}"
    return text.removeprefix("-") if not any(digit in text for digit in "123456789i") else text


def _is_numeric(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell]
    return bool(filled) and all(map(_NUMBER.fullmatch, filled))


def _aligned(text: str, width: int, to_right: bool) -> str:
    gap = " " * (width - char_width(text))
    return gap + text if to_right else text + gap
