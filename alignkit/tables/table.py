"""A table, shown in every medium: text, Markdown, LaTeX, CSV, HTML, records."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import isnan, nan
from numbers import Real
from string import ascii_lowercase

from alignkit._support.arguments import check_arguments, check_attributes
from alignkit.errors import ArgumentError
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.media import Sheet, csv_lines, get_medium, style_sheet
from alignkit.tables.text_width import char_width

_USUAL = {str, int, float, Value, type(None)}
_CELLS = (str, Real, Value, type(None))
_ABSENT = {"low": nan, "high": nan, "reason": "", "bound": False}  # of cells that are no Value
_NUMBER = re.compile(r"[-+]?\d+([.,]\d+)*%?( \[.*\])?|[-+]?inf|[-?]")


@dataclass(frozen=True, repr=False)
class Table:
    """The title, the columns and the rows of a table, numbers as numbers.

    Parameters
    ----------
    title : The text above the table; may be empty.
    columns : K columns with different keys.
    rows : R rows of K cells: texts, numbers, `Value` with bounds or a reason, None for an empty
        cell.
    note : The text below the table.
    anchor : Its id on a page.
    apart : The rows, counted from 0, that begin a new group.
    stub : Number of columns, from the first, that name the rows.
    ruled : In plain text, draw a rule below the headings, and separate title and note by an empty
        line. Otherwise, columns with different spans are further apart.

    Raises
    ------
    ArgumentError : If a row has more or fewer cells than there are columns, or two columns have the
        same key.

    Examples
    --------
    >>> table = Table("Two systems", [Column("system"), Column("F1", "percent", key="f1")],
    ...               [["giza", Value(0.8125, 0.79, 0.831)], ["none", float("nan")]])
    >>> print(table)
    Two systems
    <BLANKLINE>
    system                 F1
    ------  -----------------
    giza    81.2 [79.0, 83.1]
    none                    -
    >>> table.to_records()[0]
    {'system': 'giza', 'f1': 0.8125, 'f1_low': 0.79, 'f1_high': 0.831}
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    anchor: str = ""
    apart: Collection[int] = ()
    stub: int = 1
    ruled: bool = True

    def __post_init__(self) -> None:
        check_attributes(self)
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "rows", tuple(map(tuple, self.rows)))
        object.__setattr__(self, "apart", frozenset(self.apart))
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ArgumentError(
                    f"rows[{number}] has {len(row)} cells for {len(self.columns)} columns"
                )
            if not set(map(type, row)) <= _USUAL:
                _check_cells(row, number)
        for key, count in Counter(self._all_keys()).items():
            if count > 1:
                raise ArgumentError(f"{count} columns have the key {key!r}; use different keys")

    @classmethod
    def from_records(
        cls,
        records: Iterable[Mapping[str, object]],
        *,
        columns: Sequence[str] | None = None,
        digits: int | Mapping[str, int] = 3,
        percent: Collection[str] = (),
        title: str = "",
    ) -> Table:
        """Make a table from records; the kind of a column is detected from its values.

        Parameters
        ----------
        records : A dictionary for each row; missing keys are empty cells.
        columns : The keys to show, in this order; None for all, in the order of their first use.
        digits : The decimals of floats, for all columns or by column.
        percent : The columns of ratios to show as percentages, with one decimal unless `digits`
            names the column.
        title : The text above the table.

        Examples
        --------
        >>> print(Table.from_records([{"system": "giza", "links": 12, "aer": 0.25},
        ...                           {"system": "none", "links": 0, "aer": 1.0}], percent=["aer"]))
        system  links     aer
        ------  -----  ------
        giza       12   25.0%
        none        0  100.0%
        """
        check_arguments(Table.from_records, {**locals(), "cls": cls})
        kept = list(records)
        if columns is None:
            columns = list(dict.fromkeys(chain.from_iterable(kept)))
        if not isinstance(digits, Mapping):  # those of all columns are not meant for percentages
            digits = {name: digits for name in columns if name not in percent}
        made = []
        for name in columns:
            values = [record.get(name) for record in kept]
            is_share = name in percent
            made.append(guessed_column(name, values, digits=digits.get(name), percent=is_share))
        rows = [[_plain(record.get(name)) for name in columns] for record in kept]
        return cls(title, made, rows)

    def __repr__(self) -> str:
        return f"Table({self.title!r}, {len(self.columns)} columns, {len(self.rows)} rows)"

    def __str__(self) -> str:
        return self.show()

    def show(self, medium: str = "text") -> str:
        r"""Return the table in a medium.

        Parameters
        ----------
        medium : ``"text"``, aligned by the width of characters; ``"markdown"``, with spans before
            the names of their columns; ``"latex"``, a `tabular` that needs
            ``\usepackage{booktabs}``, with title and note in comments; or ``"html"``, in a frame
            that scrolls, which also needs `style`.

        Raises
        ------
        UnknownNameError : If the medium is unknown.

        Examples
        --------
        >>> import alignkit
        >>> table = alignkit.score(["0-0 1-1"], ["0-0"]).table()
        >>> print(table.show("markdown").splitlines()[4])
        | links | 50.0 | 100.0 | 66.7 | 33.3 | 2 | 1 |
        """
        return get_medium(medium).table(self.sheet())

    @property
    def width(self) -> int:
        """The width of the table as text, in terminal cells."""
        bare = replace(self, title="", note="")
        return max(map(char_width, bare.show().split("\n")))

    def csv(self) -> str:
        """Return the table as CSV, with one line of headings: the keys, as in `to_records`.

        Examples
        --------
        >>> import alignkit
        >>> table = alignkit.score(["0-0 1-1"], ["0-0"]).table()
        >>> print(table.csv().splitlines()[0][:24])
        level,precision,recall,f
        """
        lines: list[Iterable[object]] = [self._all_keys()]
        lines += [record.values() for record in self.to_records()]
        return csv_lines(lines)

    def sheet(self) -> Sheet:
        """Return the table with texts as cells, the input of a medium."""
        marks: dict[str, str] = {}  # the letter of each reason
        rows = []
        for row in self.rows:
            shown = []
            for column, cell in zip(self.columns, row, strict=True):
                mark = ""
                if isinstance(cell, Value) and cell.reason:
                    mark = marks.setdefault(cell.reason, _letters(len(marks)))
                shown.append(column.show(cell, mark))
            rows.append(shown)
        return Sheet(
            self.columns,
            rows,
            self.title,
            self.note,
            self.anchor,
            self.apart,
            self.stub,
            self.ruled,
            reasons=[(mark, why) for why, mark in marks.items()],
        )

    @staticmethod
    def style() -> str:
        """Return the style sheet that HTML needs once for each page."""
        return style_sheet("table")

    def _repr_html_(self) -> str:
        return f"<style>{self.style()}</style>\n{self.show('html')}"

    def to_records(self) -> list[dict[str, object]]:
        """Return a dictionary for each row, with plain values under the keys of the columns.

        If some cell of a column has bounds or a reason, or is an upper bound, all rows have further
        keys: its own with ``_low`` and ``_high``, with ``_reason``, and with ``_bound``.

        Examples
        --------
        >>> import alignkit
        >>> table = alignkit.score(["0-0 1-1"], ["0-0"]).table()
        >>> record = table.to_records()[0]
        >>> record["precision"], record["recall"], record["hypothesis"]
        (0.5, 1.0, 2)
        """
        parts = [self._parts(k) for k in range(len(self.columns))]
        records = []
        for row in self.rows:
            record: dict[str, object] = {}
            for column, names, cell in zip(self.columns, parts, row, strict=True):
                record[column.key] = cell.value if isinstance(cell, Value) else cell
                for name in names:
                    record[f"{column.key}_{name}"] = getattr(cell, name, _ABSENT[name])
            records.append(record)
        return records

    def _parts(self, k: int) -> list[str]:
        """Return the further parts that values in column k have, besides the number."""
        cells = [row[k] for row in self.rows]
        values = [cell for cell in cells if isinstance(cell, Value)]
        parts = []
        if any(not (isnan(value.low) and isnan(value.high)) for value in values):
            parts += ["low", "high"]
        if any(value.reason for value in values):
            parts.append("reason")
        if any(value.bound for value in values):
            parts.append("bound")
        return parts

    def _all_keys(self) -> list[str]:
        """Return the keys of records, in their order."""
        keys = []
        for k, column in enumerate(self.columns):
            keys.append(column.key)
            keys += [f"{column.key}_{name}" for name in self._parts(k)]
        return keys


def _check_cells(row: Sequence[object], number: int) -> None:
    """Raise an error for a cell of another type; `number` is that of the row."""
    for k, cell in enumerate(row):
        kind = type(cell).__name__
        if not isinstance(cell, _CELLS) and kind not in ("bool_", "bool"):
            raise ArgumentError(
                f"rows[{number}][{k}] is of type {kind}; expected a str, a number, a Value or None"
            )


def _letters(number: int) -> str:
    """Return a, b, ..., z, aa, ab, ..."""
    more, last = divmod(number, len(ascii_lowercase))
    before = _letters(more - 1) if more else ""
    return before + ascii_lowercase[last]


def _plain(value: object) -> Cell:
    """Return a value that a cell can hold, others as text."""
    if isinstance(value, (str, bool, int, float, Value, type(None))):
        return value
    return str(value)


def guessed_column(
    name: str, values: Sequence[object], *, digits: int | None = None, percent: bool = False
) -> Column:
    """Return a column with its kind and alignment detected from its values."""
    kinds = set(map(type, values))
    if percent:
        column = Column(name, "percent", digits=digits, unit="%")
    elif any(issubclass(kind, (float, Value)) for kind in kinds):
        column = Column(name, "decimal", digits=digits)
    elif any(issubclass(kind, int) and kind is not bool for kind in kinds):
        column = Column(name, "count")
    else:
        column = Column(name)
    filled = [value for value in values if value is not None and value != ""]
    texts = (column.show(_plain(value)).text for value in filled)
    right = bool(filled) and all(map(_NUMBER.fullmatch, texts))
    return replace(column, key=name or "row", right=right)
