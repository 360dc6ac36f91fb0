"""Declare the columns of a table, and show what stands in its cells in plain text."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from html import escape
from math import isnan, nan
from numbers import Integral
from typing import NamedTuple, Union
from unicodedata import bidirectional, category, east_asian_width

from alignkit._support.arguments import check_attributes
from alignkit._support.wording import extends, visible
from alignkit.errors import OptionError, UnknownNameError

KINDS = {"text": 0, "count": 0, "decimal": 3, "number": 4, "percent": 1, "p": 4}
"""What a column can hold, and the digits of each: decimals, or (number) significant ones."""

_NONZERO = re.compile("[1-9in]")  # a digit, or infinite


@dataclass(frozen=True)
class Value:
    """A number with its bounds, or with the reason why it or they are not there.

    Parameters
    ----------
    value
        The number; NaN where undefined.
    low, high
        Its bounds; NaN where there are none.
    reason
        Why something is missing; it stands below the table, with a letter that leads to it.
    """

    value: float
    low: float = nan
    high: float = nan
    reason: str = ""

    def __post_init__(self) -> None:
        check_attributes(self)


Cell = Union[str, bool, int, float, Value, None]
"""What a cell holds: None is empty, NaN is undefined."""


class ShownCell(NamedTuple):
    """What a cell shows: its text, the letter of a reason, and whether it is no number."""

    text: str
    mark: str = ""
    words: bool = False


@dataclass(frozen=True)
class Column:
    """A column of a table: what it holds and how it is shown.

    Parameters
    ----------
    name
        The heading.
    kind
        One of `KINDS`: a text; a count; a decimal with so many digits; a number with so many
        significant digits; a ratio, shown as a percentage; or a p-value, a decimal that is never
        shown as zero. A text in a column of numbers stands as it is.
    span
        A heading above this one and those beside it that have the same.
    key
        The name in records and CSV; by default the span and the heading.
    digits
        None for those of the kind.
    unit
        What follows each number, such as ``%``.
    signed
        Write ``+`` before what is not negative.
    right
        Whether it stands to the right; None for what its kind does: numbers do, texts do not.
    """

    name: str
    kind: str = "text"
    span: str = ""
    key: str = ""
    digits: int | None = None
    unit: str = ""
    signed: bool = False
    right: bool | None = None

    def __post_init__(self) -> None:
        check_attributes(self)
        if self.kind not in KINDS:
            raise UnknownNameError("kind of column", self.kind, KINDS)
        if self.digits is not None and not 0 <= self.digits <= 50:
            raise OptionError(f"digits are {self.digits}; give 0 to 50")
        if not self.key:
            object.__setattr__(self, "key", f"{self.span} {self.name}".strip() or "row")
        if self.right is None:
            object.__setattr__(self, "right", self.kind != "text")

    @property
    def heading(self) -> str:
        """The span and the name in one line."""
        return f"{self.span} {self.name}".strip()

    def show(self, cell: Cell, mark: str = "") -> ShownCell:
        """Return what a cell shows; ``-`` for NaN, yes and no for true and false.

        Examples
        --------
        >>> Column("F1", "percent").show(Value(0.5, 0.25, 0.75)).text
        '50.0 [25.0, 75.0]'
        >>> Column("C", "decimal").show(float("nan")).text
        '-'
        >>> [Column("p", "p").show(p).text for p in (0.0123, 0.00001)]
        ['0.0123', '<0.0001']
        """
        if isinstance(cell, str):
            return ShownCell(cell, words=True)
        if cell is None:
            return ShownCell("")
        if isinstance(cell, Value):
            text = self._number(cell.value)
            if not (isnan(cell.value) or isnan(cell.low) or isnan(cell.high)):
                text += f" [{self._bound(cell.low)}, {self._bound(cell.high)}]"
            return ShownCell(text, mark)
        if type(cell).__name__ in ("bool", "bool_"):  # of NumPy, too
            return ShownCell("yes" if cell else "no", words=True)
        return ShownCell(self._number(cell))

    def _bound(self, value: float) -> str:
        return self._number(value, "-" if self.signed else "")

    def _number(self, value: float, sign: str | None = None) -> str:
        if isnan(value):
            return "-"
        sign = ("+" if self.signed else "") if sign is None else sign
        digits = KINDS[self.kind] if self.digits is None else self.digits
        if self.kind == "percent":
            text = f"{100 * value:{sign}.{digits}f}"
        elif self.kind in ("text", "count") and isinstance(value, Integral):
            text = f"{int(value):{sign}d}"
        elif self.kind == "text":
            text = str(value)
        else:
            text = f"{value:{sign}.{digits}{'g' if self.kind == 'number' else 'f'}}"
            if self.kind == "p" and not _NONZERO.search(text):
                text = f"<{10.0**-digits:.{digits}f}"
        if text[0] == "-" and not self.signed and not _NONZERO.search(text):
            text = text[1:]  # no negative zero
        return text + self.unit


_LEFT_TO_RIGHT = "\u200e"
_NARROW, _BROAD = frozenset("ijlftrI.,:;!|'`\"()[]-/ "), frozenset("mwMW@%—…")


def char_clusters(text: str) -> list[str]:
    """Split text into what takes one place: a base character with all that combines with it."""
    found: list[str] = []
    for char in text:
        if found and (extends(char) or found[-1].endswith("\u200d")):
            found[-1] += char
        else:
            found.append(char)
    return found


def char_width(text: str) -> int:
    """Count the terminal cells that text takes: East Asian wide characters take two."""
    if text.isascii():
        return len(text)
    return sum(map(_cluster_width, char_clusters(text)))


def _cluster_width(cluster: str) -> int:
    if any(east_asian_width(char) in "WF" for char in cluster):
        return 2
    return min(2, sum(not extends(char) or category(char) == "Mc" for char in cluster))


def text_length(text: str, size: int) -> int:
    """Estimate the pixels that text takes in a sans-serif font, rather too many than too few."""
    ems = 0.0
    for cluster in char_clusters(text):
        if is_wide(cluster):
            ems += 1.05
        elif cluster in _NARROW:
            ems += 0.4
        else:
            ems += 0.95 if cluster in _BROAD else 0.7 if cluster[0].isupper() else 0.62
    return round(ems * size) + 1


def is_wide(text: str) -> bool:
    """Return whether text holds East Asian wide characters, which stand upright in a column."""
    return not text.isascii() and any(east_asian_width(char) in "WF" for char in text)


def is_right_to_left(text: str) -> bool:
    """Return whether the first character that has a direction runs from right to left."""
    directions = (bidirectional(char) for char in text)
    return next((d != "L" for d in directions if d in {"L", "R", "AL"}), False)


def kept_in_place(text: str) -> str:
    """Put direction marks around right-to-left text, so that it does not reorder its neighbours."""
    if text.isascii() or not any(bidirectional(char) in {"R", "AL", "AN"} for char in text):
        return text
    return _LEFT_TO_RIGHT + text + _LEFT_TO_RIGHT


def cut_text(text: str, width: int, *, end: str = "…") -> str:
    """Cut text to at most so many terminal cells, with `end` as the last where cut."""
    if char_width(text) <= width:
        return text
    kept, room = "", width - char_width(end)
    for cluster in char_clusters(text):
        room -= _cluster_width(cluster)
        if room < 0:
            break
        kept += cluster
    return kept + end


def isolated_text(text: str) -> str:
    """Return text as HTML that keeps its direction of writing to itself."""
    return f"<bdi>{safe_text(text)}</bdi>"


def safe_text(text: str) -> str:
    """Return text as HTML in which nothing hidden can act."""
    return escape(visible(text))


CARE = "Read with care"
"""The heading of the cautions of a report."""


@dataclass(frozen=True)
class Sheet:
    """A table whose cells are texts, as a medium is given it."""

    columns: Sequence[Column]  # K columns, and rows of K cells
    rows: Sequence[Sequence[ShownCell]]
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
