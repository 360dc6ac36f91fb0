"""A medium: how it writes one table down, and a report of several."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from alignkit.report.columns import Column, Shown

CARE = "Read with care"
"""The heading of the cautions of a report."""


@dataclass(frozen=True)
class Sheet:
    """A table whose cells are texts, as a medium is given it."""

    columns: Sequence[Column]  # K columns, and rows of K cells
    rows: Sequence[Sequence[Shown]]
    title: str = ""  # what stands above the table; may be empty
    note: str = ""  # lines of text that stand below it
    anchor: str = ""  # its id on a page
    apart: Collection[int] = ()  # the rows, counted from 0, that begin a group which is set apart
    stub: int = 1  # how many columns, from the first, name the rows
    ruled: bool = True  # whether plain text has a rule below the headings
    reasons: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Report:
    """Hold several tables with what stands around them."""

    head: Sequence[str]  # lines above the tables
    tables: Sequence[Sheet]  # the tables
    cautions: Sequence[str]  # what stands below them, under CARE
    signature: str  # the settings behind the numbers, in one line


@dataclass(frozen=True)
class Medium:
    """Hold how tables are written down in one medium."""

    help: str
    table: Callable[[Sheet], str]  # returns a table, without a line end at its end
    report: Callable[[Report], str]  # returns a report, likewise
