"""The rows of CSV or TSV, with quotation marks around what contains a divider or a line end."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain

from alignkit.io.sniffing import SPACE
from alignkit.io.text_files import TextFile

Row = tuple[int, list[str]]
"""The line at which a row begins, and its columns."""


def divider_in(heading: str) -> str:
    """Return what divides the columns of a line: a tab, a semicolon or a comma."""
    return max("\t;,", key=heading.count)


def csv_rows(reading: TextFile) -> Iterator[Row]:
    """Yield the rows of a file, divided as the first one with text; those before are left out."""
    lines = reading.lines()
    filled = (line for line in lines if line[1].strip(SPACE))
    first, heading = next(filled, (1, ""))
    texts = (f"{text}\n" for _, text in chain([(first, heading)], lines))
    rows = csv.reader(texts, delimiter=divider_in(heading), strict=True)
    line = first
    try:
        for row in rows:
            yield line, row
            line = first + rows.line_num
    except csv.Error as problem:
        raise reading.error(f"is not CSV: {problem}", first - 1 + rows.line_num) from None
