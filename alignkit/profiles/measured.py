"""A measure of several systems on several phenomena, and a reader of printed tables."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, nan
from typing import Union

import numpy as np
from numpy.typing import NDArray

from alignkit.arguments import check_arguments
from alignkit.errors import FormatError, OptionError, UnknownNameError
from alignkit.formats import ReadOptions
from alignkit.formats.textfile import TextFile

_SHOWN = 3
_MISSING = {"", "-", "–", "na", "n/a", "nan"}


@dataclass(frozen=True, eq=False)
class Measured:
    """A measure of S systems on P phenomena.

    Parameters
    ----------
    phenomena, systems
        Their names.
    values
        (P, S) values; NaN where one is missing.
    pairs
        How many sentence pairs hold each phenomenon; None where that is not known.
    measure
        What was measured; empty where that is not known.
    lower_is_better
        Whether it is an error.
    """

    phenomena: tuple[str, ...]
    systems: tuple[str, ...]
    values: NDArray[np.float64]
    pairs: tuple[int, ...] | None = None
    measure: str = ""
    lower_is_better: bool = False

    def worst_first(self) -> Measured:
        """Return the same with the phenomena sorted by their mean, those without a value last."""
        known = ~np.isnan(self.values)
        sums = np.where(known, self.values, 0).sum(axis=1)
        means = np.where(known.any(axis=1), sums / np.maximum(known.sum(axis=1), 1), inf)
        keys = np.where(np.isinf(means), inf, -means if self.lower_is_better else means)
        order = np.argsort(keys, kind="stable")
        pairs = self.pairs and tuple(self.pairs[k] for k in order)
        names = tuple(self.phenomena[k] for k in order)
        return replace(self, phenomena=names, values=self.values[order], pairs=pairs)

    @property
    def shares(self) -> bool:
        """Whether all values lie between 0 and 1, and so are shown as percentages."""
        return self._outside(1) == []

    @property
    def read_as(self) -> str:
        """How the values are taken and shown."""
        shares = "values are read as shares of 1 and shown as percentages"
        plain = "values are read and shown as they are written, not as shares of 1"
        return shares if self.shares else plain

    def doubts(self) -> Iterator[str]:
        """Which values lie outside 0 to 1, or 0 to 100, where most lie within."""
        known = np.count_nonzero(~np.isnan(self.values))
        for top in (1, 100):
            outside = self._outside(top)
            if len(outside) * 2 >= known:
                continue
            if outside:
                named = ", ".join(outside[:_SHOWN])
                more = f" and {len(outside) - _SHOWN} more" if len(outside) > _SHOWN else ""
                yield (
                    f"most values lie from 0 to {top}, but not {named}{more}: look whether the "
                    f"table has a mistake; {self.read_as}"
                )
            return

    def _outside(self, top: float) -> list[str]:
        wrong = (self.values < 0) | (self.values > top)
        return [
            f"{self.values[row, column]:g} ({self.phenomena[row]}, {self.systems[column]})"
            for row, column in np.argwhere(wrong)
        ]


def read_measured(
    path: Union[str, os.PathLike[str]],
    *,
    leave_out: Sequence[str] = (),
    lower_is_better: bool = False,
    encoding: str = "utf-8",
) -> Measured:
    """Read a printed table of phenomena by systems.

    Parameters
    ----------
    path
        Lines of columns with tabs between: first the name of the phenomenon, then a value for each
        system, such as ``.74`` or ``74%``, which are the same; empty, ``-`` or ``NA`` where one is
        missing. The first line names the systems.
    leave_out
        Rows that are no phenomena, such as a mean over all.

    Raises
    ------
    FormatError
        If it is no such table, or values with and without ``%`` do not fit together; the message
        names the line.
    """
    check_arguments(read_measured, locals())
    name = os.fspath(path)
    file = TextFile(name, ReadOptions(encoding=encoding))
    lines = [(n, text.split("\t")) for n, text in file.lines() if text.strip()]
    if len(lines) < 2:
        raise FormatError("no table: give a line of names and a line for each phenomenon", name)
    systems = tuple(cell.strip() for cell in lines[0][1][1:])
    if not systems or len(set(systems)) < len(systems) or not all(systems):
        raise FormatError(
            "the first line must name the systems, each once, with tabs between", name, lines[0][0]
        )
    rows: dict[str, list[float]] = {}
    signed = any(cell.strip().endswith("%") for _, cells in lines[1:] for cell in cells[1:])
    for number, (first, *cells) in lines[1:]:
        row = first.strip()
        if row in rows:
            raise FormatError(f"the row {row!r} is there twice; name each once", name, number)
        if len(cells) != len(systems):
            raise FormatError(
                f"{len(cells)} values for {len(systems)} systems; give one each", name, number
            )
        rows[row] = [_number(cell, name, number, signed) for cell in cells]
    for row in leave_out:
        if row not in rows:
            raise UnknownNameError(f"row of {name}:", row, rows)
    kept = {row: values for row, values in rows.items() if row not in leave_out}
    if not kept:
        raise OptionError(f"{name}: all rows are left out; keep some")
    values = np.array(list(kept.values()), np.float64)
    return Measured(tuple(kept), systems, values, lower_is_better=lower_is_better)


def _number(cell: str, path: str, line: int, signed: bool) -> float:
    """Return a value; where any of the table is `signed` with %, the others must be shares."""
    text = cell.strip()
    if text.casefold() in _MISSING:
        return nan
    share = text.endswith("%")
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = nan
    if not isfinite(value):
        raise FormatError(f"{text[:40]!r} is no number; write one, or - for none", path, line)
    if signed and not share and abs(value) > 1:
        raise FormatError(
            f"{text[:40]!r} stands without % beside values with it; write it after all, or after "
            "none",
            path,
            line,
        )
    return value / 100 if share else value
