"""The rows of the tables of an agreement: what a row is about, and tables made of rows.

A row is about a `Subject`: two annotators, a group of sentence pairs, a mean over pairings, or all
annotators. Tables have levels: under the heading of each (all links, sure links) stands a row for
each subject.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan

from alignkit.agreement.chance.result import BeyondChanceSection
from alignkit.agreement.figures import AgreementFigures, Pairing, Together, without
from alignkit.agreement.intervals import Bounds
from alignkit.stats.resampling import Interval
from alignkit.tables.columns import Cell, Column, Row, Value
from alignkit.tables.table import Table

LINKS = {
    "possible": "all links",
    "sure": "sure links",
    "eq2": "sure ~ all (eq. 2)",
    "all": "none, possible or sure",
}
"""The names of kinds of links in tables."""

SHORT_KINDS = {"possible": "all", "sure": "sure"}  # links, and their short name in a heading
WIDTH = 100  # characters of a table that is not too wide

Rows = list[tuple[str, Row]]  # the name of each row, and its cells

UNITS = {
    "words": ("Words", "links of equal words left out"),
    "phrases": ("Phrase pairs", "equal ones left out"),
}
"""The units that are compared: their names, and what is left out of them."""


@dataclass(frozen=True)
class Subject:
    """The subject of a row: a pairing in a section, all annotators, or a mean over pairings."""

    name: str  # what stands in the row
    pairing: Pairing | None = None  # the two; None for a mean and for all annotators
    together: Together | None = None  # all annotators; None for two and for a mean
    section: str = "all"  # "all", or a group
    mean: Mapping[str, float] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def figures(self) -> Mapping[str, float]:
        """The figures by name."""
        if self.together is not None:
            return self.together.figures
        if self.pairing is None:
            return self.mean
        return self.pairing.section(self.section).figures

    def cell(self, name: str) -> Cell:
        """Return a figure with its interval, or why there is none; None if unknown."""
        number = self.figures.get(name)
        if number is None:
            return None
        if self.together is not None:
            return with_interval(number, self.together.intervals.get(name))
        if self.pairing is None:
            return with_interval(number, without(number, self.left_out.get(name, 0)))
        statistic = name.rpartition(".")[2]
        if isnan(number) and statistic in _UNDEFINED:
            return Value(number, reason=_UNDEFINED[statistic])
        return with_interval(number, self.pairing.section(self.section).intervals.get(name))

    def plain(self, name: str) -> Cell:
        """Return a figure without its interval; one of a mean as it is, which has none.

        An undefined figure keeps its reason.
        """
        cell = self.cell(name)
        is_mean = self.pairing is None and self.together is None
        if isinstance(cell, Value) and not is_mean and not isnan(cell.value):
            return cell.value
        return cell

    def chance(self, level: str, model: str | None = None) -> BeyondChanceSection | None:
        """Return the agreement beyond chance, by the main or another model; None for a mean."""
        if self.pairing is None or (model or self.pairing.chance) not in self.pairing.beyond:
            return None
        return self.pairing.part(level, self.section, model)

    def corrected(self, level: str, model: str) -> Cell:
        """Return C by a model of chance; None for a mean with another model."""
        if self.pairing is None:
            return None
        part = self.chance(level, model)
        if part is not None and part.undefined:
            return Value(part.C, reason=part.undefined)
        if part is not None:
            return with_interval(part.C, part.interval or part.no_interval)
        if self.pairing.beyond:
            return Value(nan, reason=self.pairing.no_edits)
        return Value(nan, reason="the words are not known")


_UNDEFINED = {
    "precision": "the first marked nothing here",
    "recall": "the second marked nothing here",
    "f1": "neither marked anything here",
    "kappa": "both have all cells in one category, or there are no cells",
}
"""The reasons why a figure has no value, by statistic."""


def with_interval(number: float, bounds: Bounds | None) -> Cell:
    """Combine a figure with its interval, or with the reason why there is none."""
    if isinstance(bounds, Interval):
        return Value(number, bounds.low, bounds.high)
    if bounds:
        return Value(number, reason=bounds)
    return number


def subjects(agreement: AgreementFigures, kind: str = "annotators") -> list[Subject]:
    """Return the rows for a kind of pairings: groups, every two names, and their mean."""
    pairings = agreement.of(kind)
    whole, *groups = agreement.together
    if len(pairings) == 1:
        (two,) = pairings
        rows = [Subject(name or "(none)", two, section=name) for name in agreement.sections[1:]]
        if groups and kind == "annotators":
            rows.append(Subject("all", two))
        else:
            rows.append(Subject(agreement.label(two), two))
        return rows
    rows = []
    for name, group in zip(agreement.sections[1:], groups, strict=True):
        mean, left_out = _mean(group, kind)
        if mean:
            who = f"{name or '(none)'}, mean"
            rows.append(Subject(who, section=name, mean=mean, left_out=left_out))
    rows += [Subject(agreement.label(two), two) for two in pairings]
    mean, left_out = _mean(whole, kind)
    if pairings and mean:
        rows.append(Subject("mean", mean=mean, left_out=left_out))
    return rows


def _mean(part: Together, kind: str) -> tuple[Mapping[str, float], Mapping[str, int]]:
    """Return the mean over the pairings of a kind, and how many figures it leaves out, by name."""
    if kind == "annotators":
        return part.mean, part.mean_left_out
    if kind == "automatic":
        return part.automatic, part.automatic_left_out
    return {}, {}


def level_table(
    title: str, columns: Sequence[Column], levels: Mapping[str, Rows], anchor: str, note: str = ""
) -> Table:
    """Return a table of levels: the heading of each, then its rows."""
    rows = list[Row]()
    for level, named in levels.items():
        rows.append([level, *[None] * len(columns)])
        rows += [[f"  {name}", *cells] for name, cells in named]
    return Table(title, [Column("", key="who"), *columns], rows, note, anchor, ruled=False)


def fitting(table: Table, *droppable: Collection[str]) -> Table:
    """Return a table without empty columns; drop some more while it is too wide."""
    empty = []
    for k, column in enumerate(table.columns):
        if all(row[k] is None for row in table.rows):
            empty.append(column.key)
    table = without_columns(table, empty)
    for some in droppable:
        if table.width > WIDTH:
            table = without_columns(table, some)
    return table


def without_columns(table: Table, keys: Collection[str]) -> Table:
    """Return a table without some columns."""
    kept = [k for k, column in enumerate(table.columns) if column.key not in keys]
    columns = [table.columns[k] for k in kept]
    rows = [[row[k] for k in kept] for row in table.rows]
    return replace(table, columns=columns, rows=rows)
