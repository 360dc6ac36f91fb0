"""A profile: the scores of systems on the pairs with each phenomenon."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan
from statistics import correlation

from alignkit._support.wording import how_many
from alignkit.scoring.ranking import FEW_HOLD, Measured, Ranking
from alignkit.scoring.result import bounded_value
from alignkit.stats.resampling import Interval
from alignkit.stats.tests import AloneRight
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.result import Picture, Result
from alignkit.tables.table import Table

_P = Column("p", "p")


@dataclass(frozen=True)
class OnPhenomenon:
    """The score of a system on the pairs with a phenomenon.

    Part of `Profile.parts`.

    Parameters
    ----------
    system, phenomenon : Their names.
    pairs : Number of pairs with the phenomenon.
    value, rest : The measure on these pairs, and on all others; NaN if undefined.
    interval, gap : The intervals of `value`, and of `value` - `rest`.
    p_value, holm : The p-value that both are equal, and the same corrected for all tested
        phenomena; NaN if not tested.
    p_bound, holm_bound : Whether `p_value` and `holm` are only upper bounds, because no trial
        reached the difference.

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.scoring import profile_labels
    >>> gold = ["0", "1"] * 4
    >>> corpus = Corpus.from_texts(gold, gold, judgments={"gold": gold, "a": ["0"] * 8},
    ...                            attributes={"phenomena": ["idiom", "tense"] * 4})
    >>> part = profile_labels(corpus, ["a"], "gold", scheme="binary").parts[0]
    >>> part.phenomenon, part.pairs, part.value, part.rest
    ('tense', 4, 0.0, 1.0)
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
    p_bound: bool = False
    holm_bound: bool = False

    @property
    def difference(self) -> float:
        """The difference between the measure and that on all others."""
        return self.value - self.rest


@dataclass(frozen=True)
class Difference:
    """The comparison of two systems on a phenomenon; `holm` is over the phenomena.

    `p_bound` and `holm_bound` say whether the p-values are only upper bounds, as in `OnPhenomenon`.
    """

    phenomenon: str
    pairs: int
    system: str
    baseline: str
    difference: float
    p_value: float
    holm: float
    alone: AloneRight | None = None
    p_bound: bool = False
    holm_bound: bool = False


@dataclass(frozen=True, eq=False)
class Profile(Result):
    """A profile of systems by phenomenon.

    Returned by `profile_labels` and `profile_rows`.

    Parameters
    ----------
    measured : The measure as a table of phenomena by systems.
    overall : The measure of each system on all pairs.
    parts : The score of each system on each phenomenon.
    differences : The comparison of every two systems on each phenomenon.
    ranking : The tests of ranks.
    by : The attribute with the phenomena.
    total : Number of pairs.
    tests : The notes below the tables of phenomena and of differences: how p was computed.
    alpha : The probability of a false difference.
    notes, signature : Notes, and the settings in one line.
    by_label : For two labels of the reference, the pairs with each phenomenon of `measured`.

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.scoring import profile_labels
    >>> gold = ["0", "1"] * 4
    >>> corpus = Corpus.from_texts(gold, gold, judgments={"gold": gold, "a": ["0"] * 8},
    ...                            attributes={"phenomena": ["idiom", "tense"] * 4})
    >>> profile = profile_labels(corpus, ["a"], "gold", scheme="binary")
    >>> profile.overall, profile.measured.phenomena
    ({'a': 0.5}, ('tense', 'idiom'))
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
    by_label: Mapping[str, Sequence[int]] = field(default_factory=dict)

    @property
    def pearson(self) -> float:
        """Pearson's r of the counts of `by_label`; NaN if undefined."""
        if not self.by_label or min(len(set(counts)) for counts in self.by_label.values()) < 2:
            return nan
        return correlation(*self.by_label.values())

    def to_json(self) -> dict[str, object]:
        """Return the records of each table, and Pearson's r of the phenomena in two labels.

        Examples
        --------
        >>> from alignkit import Corpus
        >>> from alignkit.scoring import profile_labels
        >>> gold = ["0", "1"] * 4
        >>> corpus = Corpus.from_texts(gold, gold, judgments={"gold": gold, "a": ["0"] * 8},
        ...                            attributes={"phenomena": ["idiom", "tense"] * 4})
        >>> sorted(profile_labels(corpus, ["a"], "gold", scheme="binary").to_json())[:2]
        ['by-label', 'by-phenomenon']
        """
        values = super().to_json()
        if self.by_label:
            values["pearson"] = None if isnan(self.pearson) else self.pearson
        return values

    @property
    def head(self) -> Sequence[str]:
        """The number of pairs, and where each system is worst, by how much."""
        return tuple(self._head())

    def _head(self) -> Iterator[str]:
        """Yield the number of pairs, and for each system where it is worst."""
        name = self.measured.measure
        yield f"{name} of {how_many(self.total, 'sentence pair')} by {self.by}"
        if self.by_label:
            r = Column("", "decimal").show(self.pearson).text
            yield f"phenomena of the labels {' and '.join(self.by_label)}: Pearson's r {r}"
        for system, value in self.overall.items():
            of_system = [part for part in self.parts if part.system == system]
            compared = [part for part in of_system if not isnan(part.difference)]
            if isnan(value) or not compared:
                continue
            yield f"{system}: {name} {100 * value:.1f} on all pairs"
            worst = self._worst(compared)
            yield f"{system}{self._fails(worst)}{self._lower(compared, worst)}"
            frequent = [part for part in compared if part.pairs >= FEW_HOLD]
            if frequent and worst.pairs < FEW_HOLD:
                worst = self._worst(frequent)
                yield (
                    f"{system}, among phenomena of {FEW_HOLD} pairs or "
                    f"more,{self._fails(worst)}{self._lower(frequent, worst)}"
                )

    def _lower(self, parts: Sequence[OnPhenomenon], worst: OnPhenomenon) -> str:
        """Return the phenomenon with the worst value, if that is another one than `worst`."""
        last = min(parts, key=self._place)
        if last.value == worst.value:
            return ""
        where = "above" if self.measured.lower_is_better else "below"
        return (
            f"; {last.phenomenon} ({100 * last.value:.1f} on {how_many(last.pairs, 'pair')}) is "
            f"{where} that, but it may be chance"
        )

    def _fails(self, part: OnPhenomenon) -> str:
        """Return the phenomenon on which a system fails most, if any clearly."""
        if self._below(part):
            return f" fails most on {self._said(part)}"
        end = "highest" if self.measured.lower_is_better else "lowest"
        return (
            f" fails on no phenomenon clearly more than on others; {self.measured.measure} "
            f"is {end} on {self._said(part)}"
        )

    def _below(self, part: OnPhenomenon) -> bool:
        """Return whether a system is clearly worse on a phenomenon than on all other pairs."""
        worse = -1 if self.measured.lower_is_better else 1
        ends = sorted((worse * part.gap.low, worse * part.gap.high))
        return worse * part.difference < 0 and (ends[1] < 0 or part.holm <= self.alpha)

    def _worst(self, parts: Sequence[OnPhenomenon]) -> OnPhenomenon:
        """Return the worst of the clearly worse phenomena, or of all if there are none."""
        clear = [part for part in parts if self._below(part)]
        return min(clear or parts, key=self._place)

    def _place(self, part: OnPhenomenon) -> tuple[float, int]:
        """Return a sort key: the worst value first, then the phenomenon with most pairs."""
        sign = -1 if self.measured.lower_is_better else 1
        return sign * part.value, -part.pairs

    def _said(self, part: OnPhenomenon) -> str:
        """Return the value on a phenomenon, its gap to the others, and the test, in words."""
        value = bounded(part.value, part.interval)
        gap = part.gap
        if part.difference > 0:
            where = "above"
        else:
            where = "below"
            gap = replace(gap, low=-gap.high, high=-gap.low)
        points = bounded(abs(part.difference), gap)
        said = (
            f"{part.phenomenon}: {self.measured.measure} {value} on its "
            f"{how_many(part.pairs, 'pair')}, {points} points {where} the other "
            f"{how_many(self.total - part.pairs, 'pair')} ({100 * part.rest:.1f})"
        )
        if isnan(part.p_value):
            surely = self._below(part)
            if part.pairs < FEW_HOLD:
                said += f"; fewer than {FEW_HOLD} pairs, so not tested"
        else:
            surely = part.holm <= self.alpha
            p, corrected = (_P.show(value).text for value in p_values_of(part))
            said += f"; p {p}, by Holm {corrected}"
        return said if surely else f"{said}: it may be chance"

    @property
    def cautions(self) -> Sequence[str]:
        """Notes on the profile and the limits of its tests."""
        if self.differences:
            return (*self.notes, *self.ranking.cautions)
        return self.notes

    def tables(self) -> Sequence[Table]:
        """Return the phenomena of each system, the differences, and the tests of ranks."""
        tables = [self._by_phenomenon()]
        if self.by_label:
            columns = [Column(self.by, key="phenomenon")]
            columns += [Column(f"label {label}", "count") for label in self.by_label]
            rows = list(zip(self.measured.phenomena, *self.by_label.values(), strict=True))
            tables.append(Table("Pairs of each label", columns, rows, anchor="by-label", stub=1))
        if self.differences:
            tables.append(self._differences())
            tables += self.ranking.tables()
        return tables

    def images(self) -> Iterator[Picture]:
        """Return the figures of the ranking."""
        return self.ranking.images()

    def _by_phenomenon(self) -> Table:
        """Return a row for each system on all pairs, then on each phenomenon."""
        columns = [
            Column("system"),
            Column(self.by, key="phenomenon"),
            Column("pairs", "count"),
            Column(self.measured.measure, "percent", key="value"),
            Column("on the others", "percent", key="rest"),
            Column("difference", "percent", signed=True),
            Column("p", "p"),
            Column("Holm", "p", key="holm"),
        ]
        rows = list[list[Cell]]()
        apart = list[int]()
        for system, value in self.overall.items():
            apart.append(len(rows))
            rows.append([system, "all pairs", self.total, value, None, None, None, None])
            for part in self.parts:
                if part.system != system:
                    continue
                share = bounded_value(part.value, part.interval)
                gap = bounded_value(part.difference, part.gap)
                row: list[Cell] = [system, part.phenomenon, part.pairs, share, part.rest, gap]
                rows.append([*row, *p_values_of(part)])
        note = (
            f"{self.tests[0]}; Holm: corrected for the phenomena, system by system; below "
            f"{FEW_HOLD} pairs not tested"
        )
        return Table("Phenomena", columns, rows, note, "by-phenomenon", apart=apart[1:], stub=2)

    def _differences(self) -> Table:
        """Return a row for every two systems on each phenomenon."""
        columns = [
            Column(self.by, key="phenomenon"),
            Column("pairs", "count"),
            Column("system"),
            Column("against", key="baseline"),
            Column("difference", "percent", signed=True),
        ]
        if any(each.alone is not None for each in self.differences):
            columns.append(Column("system alone right", "count", key="only_system"))
            columns.append(Column("other alone right", "count", key="only_baseline"))
        columns += [Column("p", "p"), Column("Holm", "p", key="holm")]
        rows: list[list[Cell]] = []
        for each in self.differences:
            row: list[Cell] = [each.phenomenon, each.pairs, each.system, each.baseline]
            row.append(each.difference)
            if each.alone is not None:
                row += [each.alone.system, each.alone.baseline]
            rows.append([*row, *p_values_of(each)])
        title = "Systems on the same phenomenon"
        return Table(title, columns, rows, self.tests[1], "systems-by-phenomenon", stub=1)


def p_values_of(part: OnPhenomenon | Difference) -> tuple[Value, Value]:
    """Return the p-value and the corrected one, each with whether it is only an upper bound."""
    return Value(part.p_value, bound=part.p_bound), Value(part.holm, bound=part.holm_bound)


def bounded(value: float, interval: Interval) -> str:
    """Return a share in percent, with its bounds."""
    return Column("", "percent").show(bounded_value(value, interval)).text
