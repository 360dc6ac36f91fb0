"""Say what a medium is: how it writes one table down, and a report of several."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from alignkit.report.columns import Column, Shown

__all__ = ["CARE", "Medium", "Report", "Sheet"]

CARE = "Read with care"
"""The heading of the cautions of a report."""


@dataclass(frozen=True)
class Sheet:
    """Hold a table whose cells are texts, as a medium is given it.

    Parameters
    ----------
    columns, rows
        K columns, and rows of K cells.
    title
        What stands above the table; may be empty.
    note
        Lines of text that stand below it.
    anchor
        Its id on a page.
    apart
        The rows, counted from 0, that begin a group which is set apart.
    stub
        How many columns, from the first, name the rows.
    ruled
        Whether plain text has a rule below the headings.
    reasons
        Letters of cells without a value, and what they stand for.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Shown]]
    title: str = ""
    note: str = ""
    anchor: str = ""
    apart: Collection[int] = ()
    stub: int = 1
    ruled: bool = True
    reasons: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Report:
    """Hold several tables with what stands around them.

    Parameters
    ----------
    head
        Lines above the tables.
    tables
        The tables.
    cautions
        What stands below them, under `CARE`.
    signature
        The settings behind the numbers, in one line.
    """

    head: Sequence[str]
    tables: Sequence[Sheet]
    cautions: Sequence[str]
    signature: str


@dataclass(frozen=True)
class Medium:
    """Hold how tables are written down in one medium.

    Parameters
    ----------
    help
        What the option says that prints a report in it; empty where there is no such option.
    table
        Returns a table, without a line end at its end.
    report
        Returns a report, likewise.
    """

    help: str
    table: Callable[[Sheet], str]
    report: Callable[[Report], str]
