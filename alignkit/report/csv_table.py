r"""Write records as CSV (RFC 4180) that a spreadsheet shows and never runs.

A spreadsheet takes a text that begins with ``=``, ``+``, ``-``, ``@`` (or a wide form of these), a
tab or a line end for a formula. Such a text gets an apostrophe before it, and so does one that
begins with apostrophes before one of these. Who takes one apostrophe away from each cell that
matches ``'+[=+\-@\t\r\n＝＋－＠]`` at its start has the texts as they were. Numbers stay numbers,
negative ones too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import isnan

__all__ = ["csv_table"]

_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_QUOTED = re.compile(r"[,;\"\t\r\n]")  # some take a semicolon or a tab for the divider


def csv_table(columns: Sequence[str], records: Iterable[Mapping[str, object]]) -> str:
    """Return a line of headings and one for each record, without a line end at the end.

    Parameters
    ----------
    columns
        The keys of the records, in the order of the columns.
    records
        The cells; NaN is left empty.

    Examples
    --------
    >>> print(csv_table(["name", "C"], [{"name": "=1+1", "C": -0.25}, {"name": "a,b", "C": 1}]))
    name,C
    '=1+1,-0.25
    "a,b",1
    """
    rows = [columns, *([record[name] for name in columns] for record in records)]
    return "\n".join(",".join(map(_cell, row)) for row in rows)


def _cell(value: object) -> str:
    if isinstance(value, float) and isnan(value):
        return ""
    text = str(value)
    if isinstance(value, str) and _FORMULA.match(text):
        text = f"'{text}"
    return '"{}"'.format(text.replace('"', '""')) if _QUOTED.search(text) else text
