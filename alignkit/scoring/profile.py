"""A profile: how good systems are on the pairs of each phenomenon."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan

from alignkit._support.wording import how_many
from alignkit.scoring.ranking import FEW_HOLD, Measured, Ranking
from alignkit.scoring.result import bounded_value
from alignkit.stats.resampling import Interval
from alignkit.stats.tests import AloneRight
from alignkit.tables.columns import Cell, Column
from alignkit.tables.result import Picture, Result
from alignkit.tables.table import Table

_P = Column("p", "p")


@dataclass(frozen=True)
class OnPhenomenon:
    """How good a system is on the pairs that hold a phenomenon.

    Parameters
    ----------
    system, phenomenon
        Whose and of which.
    pairs
        How many pairs hold it.
    value, rest
        The measure on these pairs, and on all others; NaN where undefined.
    interval, gap
        Of `value`, and of `value` - `rest`.
    p_value, holm
        That both are the same, and corrected for the phenomena that were tested; NaN where there
        was no test.
    """

    system: str
    phenomenon: str
    pairs: int
    value: float
    rest: float
    interval: Interval
    gap: Interval
    p_value: float = nan
    holm: float = nan

    @property
    def difference(self) -> float:
        """How far the measure is from that on all others."""
        return self.value - self.rest


@dataclass(frozen=True)
class Difference:
    """Whether two systems differ on a phenomenon; `holm` is over the phenomena."""

    phenomenon: str
    pairs: int
    system: str
    baseline: str
    difference: float
    p_value: float
    holm: float
    alone: AloneRight | None = None


@dataclass(frozen=True, eq=False)
class Profile(Result):
    """A profile of systems by phenomenon.

    Parameters
    ----------
    measured
        The measure as a table of phenomena by systems.
    overall
        The measure of each system on all pairs.
    parts
        Each system on each phenomenon.
    differences
        Every two systems on each phenomenon.
    ranking
        The tests of ranks.
    by
        The attribute that names phenomena.
    total
        How many pairs there are.
    tests
        What stands below the tables of phenomena and of differences: how p was found.
    alpha
        The chance of a false difference.
    notes, signature
        What is to be known, and the settings in one line.
    """

    measured: Measured
    overall: Mapping[str, float]
    parts: tuple[OnPhenomenon, ...]
    differences: tuple[Difference, ...]
    ranking: Ranking
    by: str
    total: int
    tests: tuple[str, str]
    alpha: float = 0.05
    notes: tuple[str, ...] = ()
    signature: str = ""
    rewrites_left_out: int | None = None

    @property
    def head(self) -> Sequence[str]:
        """On how many pairs, where each system is worst, and by how much."""
        return tuple(self._head())

    def _head(self) -> Iterator[str]:
        name = self.measured.measure
        yield f"{name} of {how_many(self.total, 'sentence pair')} by {self.by}"
        for system, value in self.overall.items():
            mine = [
                part for part in self.parts
                if part.system == system and not isnan(part.difference)
            ]  # fmt: skip
            if isnan(value) or not mine:
                continue
            yield f"{system}: {name} {100 * value:.1f} on all pairs"
            worst = self._worst(mine)
            yield f"{system}{self._fails(worst)}{self._lower(mine, worst)}"
            firm = [part for part in mine if part.pairs >= FEW_HOLD]
            if firm and worst.pairs < FEW_HOLD:
                firmest = self._worst(firm)
                among = f"{system}, among phenomena of {FEW_HOLD} pairs or more,"
                yield f"{among}{self._fails(firmest)}{self._lower(firm, firmest)}"

    def _lower(self, parts: Sequence[OnPhenomenon], worst: OnPhenomenon) -> str:
        last = min(parts, key=self._place)
        if last.value == worst.value:
            return ""
        where = "above" if self.measured.lower_is_better else "below"
        return (
            f"; {last.phenomenon} ({100 * last.value:.1f} on {how_many(last.pairs, 'pair')}) is "
            f"{where} that, but it may be chance"
        )

    def _fails(self, part: OnPhenomenon) -> str:
        """Return that a system fails most on a phenomenon, or nowhere clearly."""
        if self._below(part):
            return f" fails most on {self._said(part)}"
        end = "highest" if self.measured.lower_is_better else "lowest"
        none = "fails nowhere clearly more than elsewhere"
        return f" {none}; {self.measured.measure} is {end} on {self._said(part)}"

    def _below(self, part: OnPhenomenon) -> bool:
        worse = -1 if self.measured.lower_is_better else 1
        ends = sorted((worse * part.gap.low, worse * part.gap.high))
        return worse * part.difference < 0 and (ends[1] < 0 or part.holm <= self.alpha)

    def _worst(self, parts: Sequence[OnPhenomenon]) -> OnPhenomenon:
        """Return the worst of those that are clearly worse, or of all where none is."""
        return min([part for part in parts if self._below(part)] or parts, key=self._place)

    def _place(self, part: OnPhenomenon) -> tuple[float, int]:
        sign = -1 if self.measured.lower_is_better else 1
        return sign * part.value, -part.pairs

    def _said(self, part: OnPhenomenon) -> str:
        value = bounded(part.value, part.interval)
        low, high = part.gap.low, part.gap.high
        where = "below"
        if part.difference > 0:
            where = "above"
        else:
            low, high = -high, -low
        gap = bounded(abs(part.difference), replace(part.gap, low=low, high=high))
        others = f"the other {how_many(self.total - part.pairs, 'pair')} ({100 * part.rest:.1f})"
        said = (
            f"{part.phenomenon}: {self.measured.measure} {value} on its "
            f"{how_many(part.pairs, 'pair')}, {gap} points {where} {others}"
        )
        chance = "" if self._below(part) else ": it may be chance"
        if isnan(part.p_value):
            few = f"; fewer than {FEW_HOLD} pairs, so not tested" if part.pairs < FEW_HOLD else ""
            return f"{said}{few}{chance}"
        chance = "" if part.holm <= self.alpha else ": it may be chance"
        p, corrected = (_P.show(value).text for value in (part.p_value, part.holm))
        return f"{said}; p {p}, by Holm {corrected}{chance}"

    @property
    def cautions(self) -> Sequence[str]:
        """What is to be known, and why a test may say too much."""
        return (*self.notes, *(self.ranking.cautions if self.differences else ()))

    def tables(self) -> Sequence[Table]:
        """Return the phenomena of each system, the differences, and the tests of ranks."""
        tables = [self._by_phenomenon()]
        if self.differences:
            tables.append(self._differences())
            tables += self.ranking.tables()
        return tables

    def images(self) -> Iterator[Picture]:
        """Return the figures of the ranking."""
        return self.ranking.images()

    def _by_phenomenon(self) -> Table:
        columns = [
            Column("system"), Column(self.by, key="phenomenon"), Column("pairs", "count"),
            Column(self.measured.measure, "percent", key="value"),
            Column("on the others", "percent", key="rest"),
            Column("difference", "percent", signed=True), Column("p", "p"),
            Column("Holm", "p", key="holm"),
        ]  # fmt: skip
        rows, apart = list[list[Cell]](), list[int]()
        for system, value in self.overall.items():
            apart.append(len(rows))
            rows.append([system, "all pairs", self.total, value, None, None, None, None])
            rows += [
                [
                    system, part.phenomenon, part.pairs, bounded_value(part.value, part.interval),
                    part.rest, bounded_value(part.difference, part.gap), part.p_value, part.holm,
                ]
                for part in self.parts if part.system == system
            ]  # fmt: skip
        note = (
            f"{self.tests[0]}; Holm: corrected for the phenomena, system by system; below "
            f"{FEW_HOLD} pairs not tested"
        )
        return Table("Phenomena", columns, rows, note, "by-phenomenon", apart=apart[1:], stub=2)

    def _differences(self) -> Table:
        counted = any(row.alone is not None for row in self.differences)
        columns = [
            Column(self.by, key="phenomenon"),
            Column("pairs", "count"),
            Column("system"),
            Column("against", key="baseline"),
            Column("difference", "percent", signed=True),
            *([Column("system alone right", "count", key="only_system"),
               Column("other alone right", "count", key="only_baseline")] if counted else []),
            Column("p", "p"),
            Column("Holm", "p", key="holm"),
        ]  # fmt: skip
        rows: list[list[Cell]] = [
            [
                x.phenomenon, x.pairs, x.system, x.baseline, x.difference,
                *([x.alone.system, x.alone.baseline] if x.alone else []),
                x.p_value, x.holm,
            ]
            for x in self.differences
        ]  # fmt: skip
        return Table("Systems on the same phenomenon", columns, rows, self.tests[1],
                     "systems-by-phenomenon", stub=1)  # fmt: skip


def bounded(value: float, interval: Interval) -> str:
    """Write a share in percent, with the bounds that it has."""
    said = f"{100 * value:.1f}"
    if isnan(interval.low):
        return said
    return f"{said} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"
