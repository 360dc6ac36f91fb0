"""Base classes of results: tables in every medium, CSV, records, JSON and a page."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from alignkit._support.arguments import check_arguments
from alignkit._support.values import jsonable
from alignkit.tables.media import Report, csv_lines, get_medium, html_cautions, signed, style_sheet
from alignkit.tables.table import Table
from alignkit.tables.text_width import safe_text


class Picture(NamedTuple):
    """A figure of a page: its caption, and the figure as SVG."""

    title: str
    image: str


@dataclass(frozen=True)
class Caution:
    """A warning that readers need to interpret the numbers.

    Part of `Agreement.cautions`.

    Parameters
    ----------
    code : Its name in the table of cautions.
    says : The problem, the number that triggers the caution, and what it means.
    instead : What to report or do instead.
    number : The number that triggers it, or several.
    pairings : The pairings it applies to; empty for the whole report.
    brief : The caution in a line, if any.

    Examples
    --------
    >>> import alignkit
    >>> corpus = alignkit.Corpus.from_texts(["a b"], ["c d"], anna=["0-0"], ben=["0-0 1-1"])
    >>> caution = alignkit.agree(corpus).cautions[0]
    >>> caution.code, caution.number
    ('few-pairs', 'all: 1')
    """

    code: str
    says: str
    instead: str
    number: str
    pairings: tuple[str, ...]
    brief: str = ""

    def __str__(self) -> str:
        text = f"{self.says}; {self.instead}"
        if self.pairings:
            return f"{'; '.join(self.pairings)}: {text}"
        return text


class Result(ABC):
    """A result that can be printed, with tables, cautions and settings."""

    rewrites_left_out: int | None = None
    """Number of rewrites left out because nobody judged them; None if there are no labels."""
    notes: tuple[str, ...] = ()

    @abstractmethod
    def tables(self) -> Sequence[Table]:
        """Return the tables, each with its own anchor."""

    def shown_tables(self) -> Sequence[Table]:
        """Return the tables for people, which may have drawings instead of numbers."""
        return self.tables()

    @property
    def head(self) -> Sequence[str]:
        """Lines above the tables."""
        return ()

    @property
    def cautions(self) -> Sequence[str | Caution]:
        """Warnings to read before the numbers."""
        return self.notes

    @property
    def settings(self) -> str:
        """The settings behind the numbers, in one line."""
        return str(getattr(self, "signature", ""))

    def images(self) -> Iterator[Picture]:
        """Yield the figures of the page."""
        yield from ()

    def show(self, medium: str = "text") -> str:
        """Return all tables in a medium: ``"text"``, ``"markdown"``, ``"latex"`` or ``"html"``.

        Examples
        --------
        >>> from alignkit import Corpus
        >>> from alignkit.agreement import vote_table
        >>> links = {"anna": ["0-0 1-1"], "ben": ["0-0"], "gold": ["0-0"]}
        >>> corpus = Corpus.from_texts(["he left"], ["she went"], **links)
        >>> vote_table(corpus, "gold", ["anna", "ben"]).show("latex").count("begin{tabular}")
        2
        """
        written = get_medium(medium)
        cautions = [str(x) for x in self.cautions]
        sheets = [table.sheet() for table in self.shown_tables()]
        return written.report(Report(self.head, sheets, cautions, self.settings))

    def __str__(self) -> str:
        return self.show()

    def _repr_html_(self) -> str:
        return self.show("html")

    def to_records(self) -> list[dict[str, object]]:
        """Return a dictionary for each row of each table, with the table's name as ``table``.

        Examples
        --------
        >>> import alignkit
        >>> corpus = alignkit.Corpus.from_texts(["the bank"], ["la rive"], gold=["0-0 1-1"])
        >>> record = alignkit.concordance(corpus, "bank").to_records()[0]
        >>> record["table"], record["counterpart"], record["share"]
        ('counterparts', 'rive', 1.0)
        """
        records: list[dict[str, object]] = []
        for table in self.tables():
            records += [{"table": table.anchor, **record} for record in table.to_records()]
        return records

    def csv(self) -> str:
        """Return the records as CSV, with one line of headings for all tables.

        Examples
        --------
        >>> import alignkit
        >>> corpus = alignkit.Corpus.from_texts(["the bank"], ["la rive"], gold=["0-0 1-1"])
        >>> print(alignkit.concordance(corpus, "bank").csv().splitlines()[0])
        table,annotator,counterpart,sure,possible,share,id,at,left,word,right,status
        """
        records = self.to_records()
        keys = list(dict.fromkeys(chain.from_iterable(records)))
        rows = ([record.get(key) for key in keys] for record in records)
        return csv_lines([keys, *rows])

    def to_json(self) -> dict[str, object]:
        """Return the records of each table as JSON values; NaN becomes None.

        Examples
        --------
        >>> import alignkit
        >>> corpus = alignkit.Corpus.from_texts(["the bank"], ["la rive"], gold=["0-0 1-1"])
        >>> sorted(alignkit.concordance(corpus, "bank").to_json())
        ['cautions', 'counterparts', 'left_out', 'lines', 'signature']
        """
        tables = {table.anchor: jsonable(table.to_records()) for table in self.tables()}
        if self.rewrites_left_out is not None:
            tables["rewrites_left_out"] = self.rewrites_left_out
        return tables | {"cautions": [str(x) for x in self.cautions], "signature": self.settings}

    def page_tables(self) -> Sequence[Table]:
        """Return the tables for a page, which has more room than a terminal."""
        return self.shown_tables()

    def page(self, title: str) -> str:
        """Return the tables and the figures as a page that needs neither network nor script."""
        check_arguments(Result.page, locals())
        html = get_medium("html")
        tables = "".join(html.table(table.sheet()) for table in self.page_tables())
        figures = "".join(map(_figure, self.images()))
        heading = safe_text(title)
        style = "".join(map(style_sheet, ("drawings", "matrix", "table", "page")))
        head = "".join(f"<li>{safe_text(line)}</li>\n" for line in self.head)
        if head:
            head = f'<ul class="found">\n{head}</ul>\n'
        care = html_cautions(safe_text(str(caution)) for caution in self.cautions)
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta name="color-scheme" content="light dark">\n<title>{heading}</title>\n'
            f'<style>{style}</style>\n</head>\n<body class="alignkit">\n<header>\n'
            f"<h1>{heading}</h1>\n{head}{care}</header>\n<main>\n"
            f"{figures}{tables}{signed(self.settings)}</main>\n</body>\n</html>\n"
        )


class TableResult(Result):
    """A result with one table; its note has the cautions and settings."""

    @abstractmethod
    def table(self) -> Table:
        """Return the result as a table.

        Examples
        --------
        >>> import alignkit
        >>> len(alignkit.score(["0-0 1-1"], ["0-0"], level="both").table().rows)
        3
        """

    def tables(self) -> Sequence[Table]:
        """Return the one table."""
        return (self.table(),)

    def show(self, medium: str = "text") -> str:
        """Return the table in a medium: ``"text"``, ``"markdown"``, ``"latex"`` or ``"html"``.

        Examples
        --------
        >>> import alignkit
        >>> result = alignkit.score(["0-0 1-1"], ["0-0"])
        >>> print(result.show("markdown").splitlines()[4])
        | links | 50.0 | 100.0 | 66.7 | 33.3 | 2 | 1 |
        """
        return self.table().show(medium)

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def to_records(self) -> list[dict[str, object]]:
        """Return a dictionary for each row, for a DataFrame.

        Examples
        --------
        >>> import alignkit
        >>> record = alignkit.score(["0-0 1-1"], ["0-0"]).to_records()[0]
        >>> record["level"], record["precision"], record["hyp_sure"]
        ('links', 0.5, 2)
        """
        return self.table().to_records()

    def csv(self) -> str:
        """Return the table as CSV.

        Examples
        --------
        >>> import alignkit
        >>> print(alignkit.score(["0-0 1-1"], ["0-0"]).csv().splitlines()[0][:30])
        level,precision,recall,f1,aer,
        """
        return self.table().csv()


def _figure(picture: Picture) -> str:
    """Return a figure with its caption, as wide as it was drawn."""
    caption = f"<figcaption>{safe_text(picture.title)}</figcaption>"
    box = re.search(r'viewBox="\S+ \S+ (\S+) ', picture.image)
    width = box[1] if box else "640"
    return (
        f'<figure class="as-drawn" style="--drawn:{width}px">{caption}\n{picture.image}</figure>\n'
    )
