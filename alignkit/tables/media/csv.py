r"""Write a table as CSV (RFC 4180) that a spreadsheet shows and never runs.

A spreadsheet takes a text that begins with ``=``, ``+``, ``-``, ``@`` (or a wide form of these), a
tab or a line end for a formula. Such a text gets an apostrophe before it, and so does one that
begins with apostrophes before one of these. Who takes one apostrophe away from each cell that
matches ``'+[=+\-@\t\r\n＝＋－＠]`` at its start has the texts as they were. Numbers stay numbers,
negative ones too, with all their digits. Lines end in a line feed alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import isnan
from numbers import Real

_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_QUOTED = re.compile(r"[,;\"\t\r\n]")  # some take a semicolon or a tab for the divider


def csv_lines(rows: Iterable[Iterable[object]], *, divider: str = ",") -> str:
    """Return a line for each row, without a line end at the end; None and NaN are empty."""
    return "\n".join(_line(list(map(_cell, row)), divider) for row in rows)


def _line(cells: list[str], divider: str) -> str:
    return '""' if cells == [""] else divider.join(cells)


def unguarded(text: str) -> str:
    """Return a text without the apostrophe that keeps a spreadsheet from running it."""
    return text[1:] if text[:1] == "'" and _FORMULA.match(text) else text


def _cell(value: object) -> str:
    if value is None or (isinstance(value, Real) and isnan(value)):
        return ""
    text = str(value)
    if isinstance(value, str) and _FORMULA.match(text):
        text = f"'{text}"
    return '"{}"'.format(text.replace('"', '""')) if _QUOTED.search(text) else text
