"""Rank phenomena within systems and systems over phenomena, and test the differences."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import isfinite, isnan, nan
from typing import Union

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments, check_known
from alignkit._support.wording import how_many
from alignkit.errors import FormatError, OptionError
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import TextFile
from alignkit.scoring.plots import cd_diagram, heat_map
from alignkit.stats.ranks import Friedman, friedman
from alignkit.stats.resampling import ratio
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.result import Picture, Result
from alignkit.tables.table import Table
from alignkit.version import __version__

_SHOWN = 3
_MISSING = {"", "-", "–", "na", "n/a", "nan"}


@dataclass(frozen=True, eq=False)
class Measured:
    """A measure of S systems on P phenomena.

    Parameters
    ----------
    phenomena, systems : Their names.
    values : (P, S) values; NaN if one is missing.
    pairs : Number of sentence pairs with each phenomenon; None if unknown.
    measure : The name of the measure; empty if unknown.
    lower_is_better : Whether the measure is an error.

    Examples
    --------
    >>> values = np.array([[0.8, 0.7], [0.9, 0.95]])
    >>> Measured(("idiom", "tense"), ("giza", "eflomal"), values).measure
    ''
    """

    phenomena: tuple[str, ...]
    systems: tuple[str, ...]
    values: NDArray[np.float64]
    pairs: tuple[int, ...] | None = None
    measure: str = ""
    lower_is_better: bool = False

    def worst_first(self) -> Measured:
        """Return the table with phenomena sorted by their mean, those without values last.

        Examples
        --------
        >>> import numpy as np
        >>> from alignkit.scoring import Measured
        >>> measured = Measured(("idiom", "tense"), ("giza",), np.array([[.8], [.6]]))
        >>> measured.worst_first().phenomena
        ('tense', 'idiom')
        """
        means = ratio(np.nansum(self.values, axis=1), (~np.isnan(self.values)).sum(axis=1))
        if self.lower_is_better:
            means = -means
        order = np.argsort(means, kind="stable")
        pairs = self.pairs
        if pairs is not None:
            pairs = tuple(pairs[k] for k in order)
        names = tuple(self.phenomena[k] for k in order)
        return replace(self, phenomena=names, values=self.values[order], pairs=pairs)

    @property
    def shares(self) -> bool:
        """Whether all values are between 0 and 1, and are shown as percentages."""
        return not self._outside(1)

    @property
    def read_as(self) -> str:
        """How the values are read and shown."""
        if self.shares:
            return "values are read as shares of 1 and shown as percentages"
        return "values are read and shown unchanged, not as shares of 1"

    def doubts(self) -> Iterator[str]:
        """Warnings about values outside 0 to 1 (or 0 to 100) if most are inside."""
        known = np.count_nonzero(~np.isnan(self.values))
        for top in (1, 100):
            outside = self._outside(top)
            most_are_inside = len(outside) * 2 < known
            if most_are_inside and outside:
                yield self._doubt(top, outside)
            if most_are_inside:
                return

    def _doubt(self, top: int, outside: Sequence[str]) -> str:
        """Return a warning about values that are not from 0 to `top`."""
        named = ", ".join(outside[:_SHOWN])
        if len(outside) > _SHOWN:
            named += f" and {len(outside) - _SHOWN} more"
        return (
            f"most values are from 0 to {top}, but not {named}: check the table for "
            f"mistakes; {self.read_as}"
        )

    def _outside(self, top: float) -> list[str]:
        """Return the values below 0 or above `top`, with their phenomena and systems."""
        wrong = (self.values < 0) | (self.values > top)
        named = []
        for row, column in np.argwhere(wrong):
            value = self.values[row, column]
            named.append(f"{value:g} ({self.phenomena[row]}, {self.systems[column]})")
        return named


def read_measured(
    path: Union[str, os.PathLike[str]],
    *,
    leave_out: Sequence[str] = (),
    lower_is_better: bool = False,
    encoding: str = "utf-8",
) -> Measured:
    r"""Read a table of phenomena by systems from a file.

    Parameters
    ----------
    path : Lines with columns separated by tabs: the name of the phenomenon, then a value for each
        system, such as ``.74`` or, equivalently, ``74%``; a missing value is empty, ``-`` or
        ``NA``. The first line names the systems.
    leave_out : Rows that are not phenomena, such as a mean over all.
    lower_is_better : Whether the measure is an error.
    encoding : The encoding of the file.

    Raises
    ------
    FormatError : If the file is not such a table, or mixes values with and without ``%``
        inconsistently; the message names the line.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "f1.tsv")
    ...     _ = path.write_text("phenomenon\tgiza\teflomal\nidiom\t.5\t.6\n", "utf-8")
    ...     measured = read_measured(path)
    >>> measured.phenomena, measured.systems, measured.values.tolist()
    (('idiom',), ('giza', 'eflomal'), [[0.5, 0.6]])
    """
    check_arguments(read_measured, locals())
    name = os.fspath(path)
    file = TextFile(name, ReadOptions(encoding=encoding))
    lines = [(n, text.split("\t")) for n, text in file.lines() if text.strip()]
    if len(lines) < 2:
        raise FormatError("no table; expected a line of names and a line for each phenomenon", name)
    (first_number, heading), *lines = lines
    systems = tuple(cell.strip() for cell in heading[1:])
    if not systems or len(set(systems)) < len(systems) or not all(systems):
        message = "expected the names of the systems, each once, separated by tabs"
        raise FormatError(message, name, first_number)
    rows: dict[str, list[float]] = {}
    every_cell = chain.from_iterable(cells[1:] for _, cells in lines)
    some_have_percent = any(cell.strip().endswith("%") for cell in every_cell)
    for number, (first, *cells) in lines:
        row = first.strip()
        if row in rows:
            raise FormatError(f"the row {row!r} occurs twice; name each once", name, number)
        if len(cells) != len(systems):
            message = f"{len(cells)} values for {len(systems)} systems; expected one each"
            raise FormatError(message, name, number)
        rows[row] = [_number(cell, name, number, some_have_percent) for cell in cells]
    for row in leave_out:
        check_known(f"row of {name}:", row, rows)
    kept = {row: values for row, values in rows.items() if row not in leave_out}
    if not kept:
        raise OptionError(f"{name}: all rows are left out; keep some")
    values = np.array(list(kept.values()), np.float64)
    return Measured(tuple(kept), systems, values, lower_is_better=lower_is_better)


def _number(cell: str, path: str, line: int, some_have_percent: bool) -> float:
    """Return a value; if some values have %, the others must be shares."""
    text = cell.strip()
    if text.casefold() in _MISSING:
        return nan
    has_percent = text.endswith("%")
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = nan
    if not isfinite(value):
        raise FormatError(f"{text[:40]!r} is not a number; expected one, or - for none", path, line)
    if some_have_percent and not has_percent and abs(value) > 1:
        raise FormatError(
            f"{text[:40]!r} has no %, but other values do; write % after all values, or after none",
            path,
            line,
        )
    return value / 100 if has_percent else value


FEW_HOLD = 10  # phenomena with fewer sentence pairs are shown, but neither tested nor ranked

_WHOLE = frozenset({"overall", "total", "all", "average", "mean"})


@dataclass(frozen=True, eq=False)
class Ranking(Result):
    """The ranks of phenomena and of systems.

    Returned by `rank`.

    Parameters
    ----------
    measured : The ranked values.
    phenomena : Friedman's test of the phenomena, with systems as blocks.
    systems : Friedman's test of the systems, with phenomena as blocks.
    missing : The phenomena left out because a value is missing.
    few : The phenomena left out because they have fewer than `FEW_HOLD` sentence pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from alignkit.scoring import Measured, rank
    >>> values = np.array([[.8, .7], [.9, .8], [.6, .5]])
    >>> ranking = rank(Measured(("idiom", "number", "tense"), ("giza", "eflomal"), values))
    >>> ranking.systems.mean_ranks, ranking.phenomena.names
    ((1.0, 2.0), ('idiom', 'number', 'tense'))
    """

    measured: Measured
    phenomena: Friedman
    systems: Friedman
    missing: tuple[str, ...] = ()
    few: tuple[str, ...] = ()

    @property
    def head(self) -> Sequence[str]:
        """The measure, and the numbers of systems and phenomena."""
        what = self.measured.measure or "a measure"
        kept = how_many(len(self.phenomena.names), "phenomenon", "phenomena")
        best = "lowest" if self.measured.lower_is_better else "highest"
        systems = how_many(len(self.systems.names), "system")
        line = f"{what} of {systems} on {kept}; rank 1 is the {best}"
        if self.measured.pairs is None:
            return line, self.measured.read_as
        return (line,)

    @property
    def cautions(self) -> Sequence[str]:
        """The limits of the tests, and what was left out."""
        return tuple(self._cautions())

    def _cautions(self) -> Iterator[str]:
        """Yield the limits of the tests, and what was left out."""
        if self.measured.pairs is None:
            yield (
                "the number of sentence pairs with each phenomenon is unknown, so all rows are "
                "ranked; the ranks of rows with few pairs are unreliable"
            )
            yield from self.measured.doubts()
        for names, why in (
            (self.few, f"fewer than {FEW_HOLD} pairs"),
            (self.missing, "a value missing"),
        ):
            if names:
                left = how_many(len(names), "phenomenon is", "phenomena are")
                yield f"{left} not ranked ({why}): {', '.join(names)}"
        for name in self.phenomena.names:
            words = name.casefold().split()
            if words and words[0] in _WHOLE:
                yield f"the row {name!r} may not be a phenomenon; if so, leave it out"
        systems = how_many(len(self.systems.names), "system")
        phenomena = how_many(len(self.phenomena.names), "phenomenon", "phenomena")
        for test, ranked in ((self.systems, systems), (self.phenomena, phenomena)):
            if test.too_few:
                blocks = phenomena if test is self.systems else systems
                yield f"there is no test of the ranks of {ranked} on {blocks}: {test.too_few}"
        if not (self.systems.reason and self.phenomena.reason):
            yield (
                "Friedman's test assumes independent blocks: systems trained on the same data and "
                "overlapping phenomena are not independent, so p is too small"
            )

    @property
    def settings(self) -> str:
        """The settings behind the numbers."""
        return f"test:friedman|after:nemenyi|alpha:{self.systems.alpha}|version:{__version__}"

    def tables(self) -> Sequence[Table]:
        """Return the tables of the tests and of the two rankings."""
        return [
            self._tests(),
            _ranks("Systems, ranked over phenomena", "system", "systems", self.systems),
            _ranks("Phenomena, ranked within systems", "phenomenon", "phenomena", self.phenomena),
        ]

    def images(self) -> Iterator[Picture]:
        """Yield a critical difference diagram of the systems, and the heat map."""
        systems = self.systems
        if not systems.reason:
            yield Picture(
                "Mean ranks of systems, 1 is best;  a bar joins those that do not differ clearly",
                cd_diagram(systems.ranking, systems.groups(), systems.critical_difference),
            )
        table = self.measured.worst_first()
        title = (
            f"{table.measure or 'Values'} by phenomenon and system, "
            "the phenomenon with the worst mean first; higher is darker"
        )
        drawn = heat_map(table.phenomena, table.systems, table.values, table.measure)
        yield Picture(title, drawn)

    def _tests(self) -> Table:
        """Return a row for each of the two tests."""
        columns = [
            Column("ranked"),
            Column("number", "count"),
            Column("blocks", "count"),
            Column("chi2", "decimal"),
            Column("without correction for ties", "decimal", key="uncorrected"),
            Column("p", "number", digits=4),
            Column("critical difference", "decimal", key="critical_difference"),
            Column("pairs apart", "count", key="apart"),
            Column("of pairs", "count", key="pairs"),
        ]
        rows: list[list[Cell]] = []
        for name, test in (("systems", self.systems), ("phenomena", self.phenomena)):
            chi2 = Value(test.statistic, reason=test.reason)
            row: list[Cell] = [name, len(test.names), test.blocks, chi2, test.uncorrected]
            row += [test.p_value, test.critical_difference, len(test.beyond()), test.pairs]
            rows.append(row)
        note = "chi2: Friedman's, corrected for ties"
        return Table("Do ranks differ?", columns, rows, note, "tests")


def _ranks(title: str, what: str, anchor: str, test: Friedman) -> Table:
    """Return a row for each name in a ranking, the best first."""
    apart: Counter[str] = Counter()
    for better, other, _ in test.beyond():
        apart.update((better, other))
    columns = [
        Column(what),
        Column("mean rank", "decimal", key="mean_rank", digits=2),
        Column("apart from", "count", key="apart_from"),
    ]
    rows: list[list[Cell]] = [[name, mean, apart[name]] for name, mean in test.ranking]
    note = ""
    if not test.reason:
        note = (
            "apart from: the number of others further away than the critical difference, "
            f"{test.critical_difference:.3f}"
        )
    return Table(title, columns, rows, note, anchor)


def rank(measured: Measured, *, alpha: float = 0.05) -> Ranking:
    """Rank phenomena and systems by Friedman's test, with Nemenyi's critical differences.

    Parameters
    ----------
    measured : A measure of systems on phenomena; phenomena with a missing value, or with fewer than
        `FEW_HOLD` pairs, are left out.
    alpha : The probability of any false difference.

    Raises
    ------
    OptionError : If `alpha` is not between 0 and 1.

    References
    ----------
    Friedman 1937, Journal of the American Statistical Association 32:675-701. Demsar 2006,
    Journal of Machine Learning Research 7:1-30, for the critical differences.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([[.8, .7], [.9, .8], [.6, .5]])
    >>> found = rank(Measured(("idiom", "number", "tense"), ("giza", "eflomal"), values))
    >>> found.systems.ranking, found.phenomena.ranking[0]
    ([('giza', 1.0), ('eflomal', 2.0)], ('number', 1.0))
    """
    check_arguments(rank, locals())
    few = list[str]()
    missing = list[str]()
    kept = list[int]()
    for k, name in enumerate(measured.phenomena):
        if measured.pairs is not None and measured.pairs[k] < FEW_HOLD:
            few.append(name)
        elif any(isnan(value) for value in measured.values[k]):
            missing.append(name)
        else:
            kept.append(k)
    table = measured.values[np.array(kept, np.int64)]
    lower = measured.lower_is_better
    names = [measured.phenomena[k] for k in kept]
    return Ranking(
        measured,
        friedman(table.T, names, alpha=alpha, lower_is_better=lower),
        friedman(table, measured.systems, alpha=alpha, lower_is_better=lower),
        tuple(missing),
        tuple(few),
    )
