"""The errors of a system by kinds of links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit.brief import how_many
from alignkit.frozen import FrozenMap
from alignkit.profiles.error_counts import ratios
from alignkit.profiles.findings import Findings
from alignkit.profiles.link_classes import called, explained
from alignkit.profiles.phenomena import bounded
from alignkit.report.columns import Cell, Column, Value
from alignkit.report.table import Table
from alignkit.scoring.bootstrap import Interval, confidence_interval, few_pairs
from alignkit.scoring.measures import Counts

_FEW = 10


class Gap(NamedTuple):
    """Precision or recall of all other links, and how far that of a class is from it."""

    others: float
    value: float
    interval: Interval


def _with_others(sums: Counts) -> dict[str, NDArray[np.float64]]:
    mine, others = map(ratios, np.hsplit(np.asarray(sums, np.float64), 2))
    found = dict(mine)
    for key, values in others.items():
        found |= {f"others {key}": values, f"gap {key}": mine[key] - values}
    return found


@dataclass(frozen=True)
class ClassErrors:
    """The counts of a class of links, with precision and recall.

    Parameters
    ----------
    by, name
        What links are told apart by, and the class.
    hypothesis, right
        Links of the system in the class, and those of them that the reference has.
    reference, found
        Links of the reference in the class, and those of them that the system has.
    sure_as_possible
        Of `right`, those that are only possible in the reference.
    precision, recall
        `right` / `hypothesis` and `found` / `reference`; NaN where 0/0.
    intervals
        Those of both.
    gaps
        By ``"precision"`` and ``"recall"``, how far the class is from all other links; empty for
        what is no class of links.
    """

    by: str
    name: str
    hypothesis: int
    right: int
    reference: int
    found: int
    sure_as_possible: int
    precision: float
    recall: float
    intervals: Mapping[str, Interval]
    gaps: Mapping[str, Gap] = FrozenMap()

    @classmethod
    def of(
        cls,
        by: str,
        name: str,
        rows: NDArray[np.int64],
        drawn: Mapping[str, Any],
        whole: NDArray[np.int64] | None = None,
    ) -> ClassErrors:
        """Make them of (P, 5) counts; `whole`, those of all links, to compare with the others."""
        sums = rows.sum(axis=0)
        values = {key: float(value[0]) for key, value in ratios(sums[None]).items()}
        hypothesis, right, reference, found, possible = map(int, sums)
        if whole is None:
            intervals, gaps = confidence_interval(rows, ratios, **drawn), dict[str, Gap]()
        else:
            both = np.hstack([rows, whole - rows])
            bounds = confidence_interval(both, _with_others, **drawn)
            intervals = {key: bounds[key] for key in values}
            told = {key: float(v[0]) for key, v in _with_others(both.sum(0)[None]).items()}
            gaps = {
                key: Gap(told[f"others {key}"], told[f"gap {key}"], bounds[f"gap {key}"])
                for key in values
            }
        return cls(
            by, name, hypothesis, right, reference, found, possible,
            values["precision"], values["recall"], intervals, FrozenMap(gaps),
        )  # fmt: skip

    @property
    def wrong(self) -> int:
        """Links of the system that the reference lacks."""
        return self.hypothesis - self.right

    @property
    def missed(self) -> int:
        """Links of the reference that the system lacks."""
        return self.reference - self.found

    def value(self, name: str) -> Value:
        """Return precision or recall with its bounds."""
        interval = self.intervals[name]
        number: float = getattr(self, name)
        if isnan(number):
            return Value(number)
        return Value(number, interval.low, interval.high, interval.reason)


class _Fault(NamedTuple):
    """What precision or recall lacks: in which counts, and in words."""

    counted: str
    of: str
    verb: str


_FAULTS = {
    "recall": _Fault("missed", "reference", "misses"),
    "precision": _Fault("wrong", "hypothesis", "draws wrongly"),
}
_COLUMNS = (
    "right: sure links of the system that the reference has too, sure or possible; wrong: its "
    "others; as possible: those right that are only possible in the reference; found: sure links "
    "of the reference that the system has; missed: the others. Precision goes by the class of the "
    "system's link, recall by that of the reference's"
)
NO_LINKS = ("sure", "possible", "null")
"""Rows that divide no links: they overlap with the others, or count words."""


class Shown(NamedTuple):
    """An example of an error: of what class, where it is, and its words."""

    by: str
    name: str
    error: str
    pair: str
    link: str
    source: str
    target: str


@dataclass(frozen=True)
class LinkErrors(Findings):
    """The errors of a system by kinds of links.

    Parameters
    ----------
    classes
        The classes: first all links, then by each way that was asked for.
    examples
        Some errors of each class.
    pairs, skipped
        Sentence pairs that both aligned, and those left out.
    notes
        What is to be known of the classes.
    signature
        The settings in one line.
    system
        What the system is called.
    """

    classes: tuple[ClassErrors, ...]
    examples: tuple[Shown, ...] = ()
    pairs: int = 0
    skipped: int = 0
    notes: tuple[str, ...] = ()
    signature: str = ""
    system: str = "the system"

    @property
    def head(self) -> Sequence[str]:
        """On how many pairs, and where most errors are."""
        return tuple(self._head())

    def _head(self) -> Iterator[str]:
        left = f", {self.skipped} left out (not annotated)" if self.skipped else ""
        yield f"{how_many(self.pairs, 'sentence pair')}{left}"
        for one in self._of("")[:1]:
            for key, fault in _FAULTS.items():
                if not isnan(getattr(one, key)):
                    number, every = getattr(one, fault.counted), getattr(one, fault.of)
                    yield (
                        f"{self.system} {fault.verb} {number} of {every} links: {key} "
                        f"{bounded(getattr(one, key), one.intervals[key])}"
                    )
        for way in self._ways():
            links = [one for one in self._of(way) if one.name not in NO_LINKS]
            for key, fault in _FAULTS.items():
                yield from self._worst(way, links, key, fault)

    def _worst(
        self, way: str, links: Sequence[ClassErrors], key: str, fault: _Fault
    ) -> Iterator[str]:
        known = [
            one for one in links
            if getattr(one, fault.of) >= _FEW and one.gaps and not isnan(one.gaps[key].value)
        ]  # fmt: skip
        worst = min(known, key=lambda one: float(getattr(one, key)), default=None)
        if worst is None or not getattr(worst, fault.counted):
            return
        number, every = getattr(worst, fault.counted), getattr(worst, fault.of)
        gap = worst.gaps[key]
        where = "below" if gap.value < 0 else "above"
        others = "the links of all other pairs" if way == "phenomenon" else "all other links"
        low, high = gap.interval.low, gap.interval.high
        turned = replace(gap.interval, low=-high, high=-low) if gap.value < 0 else gap.interval
        chance = "" if high < 0 else ": it may be chance"
        most = max(links, key=lambda one: int(getattr(one, fault.counted)))
        more = ""
        if most.name != worst.name:
            counts = f"{getattr(most, fault.counted)} of {getattr(most, fault.of)}"
            more = f"; the largest number in {called(way, most.name)}: {counts}"
        yield (
            f"by {way}, {self.system} {fault.verb} the largest share in "
            f"{called(way, worst.name)}: {number} of {every}, "
            f"{key} {bounded(getattr(worst, key), worst.intervals[key])}, "
            f"{bounded(abs(gap.value), turned)} points {where} {others} "
            f"({100 * gap.others:.1f}){chance}{more}"
        )

    @property
    def cautions(self) -> Sequence[str]:
        """What is to be known of the classes and the intervals."""
        return (*self.notes, *few_pairs(self.pairs))

    def _ways(self) -> list[str]:
        return [way for way in dict.fromkeys(one.by for one in self.classes) if way]

    def _of(self, way: str) -> list[ClassErrors]:
        return [one for one in self.classes if one.by == way]

    def tables(self) -> Sequence[Table]:
        """Return a table for each way to tell links apart, and one of examples."""
        found = [self._table(way) for way in self._ways()]
        if self.examples:
            found.append(self._examples())
        return found

    def _examples(self) -> Table:
        columns = [
            *map(Column, ("by", "class", "error", "pair", "link")),
            Column("source word", key="source"),
            Column("target word", key="target"),
        ]
        rows: list[list[Cell]] = [list(one) for one in self.examples]
        kinds = [(one.by, one.name) for one in self.examples]
        apart = [k for k in range(1, len(rows)) if kinds[k] != kinds[k - 1]]
        note = "link: the places of both words in their sentences, from 0"
        return Table("Examples", columns, rows, note, "examples", apart=apart, stub=2)

    def _table(self, way: str) -> Table:
        columns = [
            Column(way, key="class"),
            Column("system", "count", key="hypothesis"),
            Column("right", "count"),
            Column("wrong", "count"),
            Column("as possible", "count", key="sure_as_possible"),
            Column("precision", "percent"),
            Column("reference", "count"),
            Column("found", "count"),
            Column("missed", "count"),
            Column("recall", "percent"),
        ]
        rows: list[list[Cell]] = [
            [
                one.name, one.hypothesis, one.right, one.wrong, one.sure_as_possible,
                one.value("precision"), one.reference, one.found, one.missed, one.value("recall"),
            ]
            for one in (*self._of(""), *self._of(way))
        ]  # fmt: skip
        apart = [k for k, row in enumerate(rows) if row[0] in ("sure", "null") or k == 1]
        note = explained(way, [one.name for one in self._of(way)])
        if way == self._ways()[0]:
            note = f"{_COLUMNS}\n{note}"
        return Table(f"Links by {way}", columns, rows, note.strip(), f"by-{way}", apart=apart)
