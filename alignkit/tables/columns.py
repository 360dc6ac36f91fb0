"""The columns of a table: their kinds, and their cells as text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil, isnan, nan
from numbers import Integral
from typing import NamedTuple, Union

from alignkit._support.arguments import check_attributes, check_known
from alignkit.errors import OptionError

KINDS = {
    "text": 0,
    "count": 0,
    "decimal": 3,
    "coefficient": 2,
    "number": 4,
    "percent": 1,
    "p": 4,
}
"""The kinds of columns, and their digits: decimals, or (number) significant digits."""

_NONZERO = re.compile("[1-9in]")  # a digit, or infinite


@dataclass(frozen=True)
class Value:
    """A number with its bounds, or with the reason for what is missing.

    Parameters
    ----------
    value : The number; NaN if undefined.
    low, high : Its bounds; NaN if there are none.
    reason : Why something is missing; shown below the table, with a letter.
    bound : Whether the number is only an upper bound; shown with ``<``, rounded up.

    Examples
    --------
    >>> Column("F1", "percent").show(Value(0.8333, low=0.8, high=0.86)).text
    '83.3 [80.0, 86.0]'
    """

    value: float
    low: float = nan
    high: float = nan
    reason: str = ""
    bound: bool = False

    def __post_init__(self) -> None:
        check_attributes(self)


Cell = Union[str, bool, int, float, Value, None]
"""The content of a cell: None is empty, NaN is undefined."""
Row = list[Cell]
"""The cells of a row that is made."""


class ShownCell(NamedTuple):
    """A cell as shown: its text, the letter of a reason, and whether it is not a number."""

    text: str
    mark: str = ""
    words: bool = False


@dataclass(frozen=True)
class Column:
    """A column of a table: its content and how to show it.

    Parameters
    ----------
    name : The heading.
    kind : One of `KINDS`: a text; a count; a decimal with `digits`; a coefficient, which is a
        decimal without the 0 before the point; a number with significant `digits`; a ratio, shown
        as a percentage; or a p-value, which is never shown as zero. A text in a column of numbers
        is shown unchanged.
    span : A heading above this column and its neighbours with the same span.
    key : The name in records and CSV; by default the span and the heading.
    digits : None for those of the kind.
    unit : A text after each number, such as ``%``.
    signed : Write ``+`` before numbers that are not negative.
    right : Whether to align to the right; None: numbers, but not texts.
    latex : The heading in LaTeX, if it differs from the name.

    Examples
    --------
    >>> Column("F1", "percent").show(0.8333).text
    '83.3'
    """

    name: str
    kind: str = "text"
    span: str = ""
    key: str = ""
    digits: int | None = None
    unit: str = ""
    signed: bool = False
    right: bool | None = None
    latex: str = ""

    def __post_init__(self) -> None:
        check_attributes(self)
        check_known("kind of column", self.kind, KINDS)
        if self.digits is not None and not 0 <= self.digits <= 50:
            raise OptionError(f"`digits` is {self.digits}; expected 0 to 50")
        if not self.key:
            object.__setattr__(self, "key", f"{self.span} {self.name}".strip() or "row")
        if self.right is None:
            object.__setattr__(self, "right", self.kind != "text")

    @property
    def heading(self) -> str:
        """The span and the name in one line."""
        return f"{self.span} {self.name}".strip()

    def show(self, cell: Cell, mark: str = "") -> ShownCell:
        """Return the cell as shown; ``-`` for NaN, yes and no for true and false.

        Examples
        --------
        >>> Column("F1", "percent").show(Value(0.5, 0.25, 0.75)).text
        '50.0 [25.0, 75.0]'
        >>> Column("C", "decimal").show(float("nan")).text
        '-'
        >>> [Column("p", "p").show(p).text for p in (0.0123, 0.00001)]
        ['0.0123', '<0.0001']
        >>> Column("p", "p").show(Value(0.00201, bound=True)).text
        '<0.0021'
        """
        if isinstance(cell, str):
            return ShownCell(cell, words=True)
        if cell is None:
            return ShownCell("")
        if isinstance(cell, Value):
            if cell.bound:
                text = self._bound(cell.value)
            else:
                text = self._number(cell.value)
            if not (isnan(cell.value) or isnan(cell.low) or isnan(cell.high)):
                sign = "-" if self.signed else ""
                text += f" [{self._number(cell.low, sign)}, {self._number(cell.high, sign)}]"
            return ShownCell(text, mark)
        if type(cell).__name__ in ("bool", "bool_"):  # of NumPy, too
            return ShownCell("yes" if cell else "no", words=True)
        return ShownCell(self._number(cell))

    def _bound(self, value: float) -> str:
        """Return an upper bound, rounded up to the digits of the column, with ``<`` before it."""
        if isnan(value):
            return "-"
        if self.kind == "p":
            steps = 10 ** (KINDS["p"] if self.digits is None else self.digits)
            value = ceil(value * steps - 1e-9) / steps
        return f"<{self._number(value)}"

    def _number(self, value: float, sign: str | None = None) -> str:
        """Return a number with its unit; `sign` is that of `format`, None for the column's."""
        if isnan(value):
            return "-"
        if sign is None:
            sign = "+" if self.signed else ""
        digits = KINDS[self.kind] if self.digits is None else self.digits
        if self.kind == "percent":
            text = f"{100 * value:{sign}.{digits}f}"
        elif self.kind in ("text", "count") and isinstance(value, Integral):
            text = f"{int(value):{sign}d}"
        elif self.kind == "text":
            text = str(value)
        elif self.kind == "number":
            text = f"{value:{sign}.{digits}g}"
        else:
            text = f"{value:{sign}.{digits}f}"
            if self.kind == "coefficient":
                text = re.sub(r"^(\D?)0\.", r"\1.", text)
            if self.kind == "p" and not _NONZERO.search(text):
                text = f"<{10.0**-digits:.{digits}f}"
        if text[0] == "-" and not self.signed and not _NONZERO.search(text):
            text = text[1:]  # no negative zero
        return text + self.unit


_PERCENT = Column("", "percent")
_COEFFICIENT = Column("", "coefficient")
_CHANCE = Column("", "p")


def percent(value: float) -> str:
    """Return a ratio as a percentage with one decimal, ``-`` if undefined."""
    return _PERCENT.show(value).text


def decimal(value: float) -> str:
    """Return a coefficient with two decimals and no leading 0, ``-`` if undefined."""
    return _COEFFICIENT.show(value).text


def p_text(value: float) -> str:
    """Return a p-value as an equation; as an inequality where its digits would all be 0.

    Examples
    --------
    >>> p_text(0.0091), p_text(0.00001)
    ('p = 0.0091', 'p < 0.0001')
    """
    text = _CHANCE.show(value).text
    return f"p < {text[1:]}" if text[0] == "<" else f"p = {text}"
