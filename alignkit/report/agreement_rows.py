"""Who stands in the rows of an agreement's tables, and what stands in their cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan

from alignkit.agreement.beyond_chance.c_result import BeyondChanceSection
from alignkit.agreement.figures import without
from alignkit.agreement.result import Agreement
from alignkit.agreement.result_parts import Pairing
from alignkit.report.columns import Cell, Column, Value
from alignkit.report.table import Table
from alignkit.scoring.bootstrap import ONE_PAIR, UNDEFINED, Interval

LINKS = {"possible": "poss", "sure": "sure", "eq2": "eq. 2", "all": "3-way"}
"""How kinds of links are called in tables."""

LEVEL_NAMES = {
    f"{unit}.{links}": f"{unit}, {LINKS[links]}"
    for unit in ("phrases", "words")
    for links in ("possible", "sure")
}
"""How the levels of C are called in tables."""

UNKNOWN_WORDS = "the words are not known"


@dataclass(frozen=True)
class Subject:
    """Whom a row is of: two who are compared, in a section, or a mean over several such."""

    name: str  # what stands in the row
    pairing: Pairing | None = None  # the two; None for a mean
    section: str = "all"  # "all", or a group
    mean: Mapping[str, float] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)

    def cell(self, name: str) -> Cell:
        """Return a figure with its interval, or the reason why there is none; None if unknown."""
        if self.pairing is None:
            mean = self.mean.get(name)
            return mean if mean is None else value(mean, without(mean, self.left_out.get(name, 0)))
        section = self.pairing.section(self.section)
        if name not in section.figures:
            return None
        return value(section.figures[name], section.intervals.get(name))

    def plain(self, name: str) -> Cell:
        """Return a figure without its interval."""
        found = self.cell(name)
        return found.value if isinstance(found, Value) and self.pairing else found

    def chance(self, level: str, model: str | None = None) -> BeyondChanceSection | None:
        """Return the agreement beyond chance, by the main model or another; None for a mean."""
        if self.pairing is None or (model or self.pairing.chance) not in self.pairing.beyond:
            return None
        return self.pairing.part(level, self.section, model)

    def corrected(self, level: str, model: str | None = None) -> Cell:
        """Return C."""
        if self.pairing is None:
            mean = self.cell(f"{level}.C")
            return nan if mean is None else mean
        part = self.chance(level, model)
        if part is None:
            why = self.pairing.no_edits if self.pairing.beyond else UNKNOWN_WORDS
            return Value(nan, reason=why)
        if part.undefined:
            return Value(nan, reason=part.undefined)
        return value(part.C, part.interval or part.no_interval)


def value(number: float, interval: Interval | str | None) -> Cell:
    """Join a figure with its interval, or with the reason why there is none."""
    if isinstance(interval, Interval):
        return Value(number, interval.low, interval.high)
    if not interval or (isnan(number) and interval in (UNDEFINED, ONE_PAIR)):
        return number  # that there is no interval says nothing new
    return Value(number, reason=interval)


def subjects(agreement: Agreement, kind: str) -> list[Subject]:
    """Return the rows for a kind of pairings: the groups, every two, and their mean."""
    return [*_groups(agreement, kind), *_whole(agreement, kind)]


def label(pairing: Pairing) -> str:
    """Name a pairing in a row; whoever is not the first is all of the consensus."""
    return f"{pairing.first} ~ others" if pairing.kind == "consensus" else pairing.name


def _groups(agreement: Agreement, kind: str) -> Iterator[Subject]:
    pairings, means = agreement.of(kind), _means(agreement, kind)
    for name, (mean, left_out) in zip(agreement.sections[1:], means[1:], strict=True):
        if len(pairings) == 1:
            yield Subject(name or "(none)", pairings[0], name)
        elif mean:
            yield Subject(f"{name or '(none)'}, mean", mean=mean, left_out=left_out)


def _whole(agreement: Agreement, kind: str) -> Iterator[Subject]:
    pairings, (mean, left_out) = agreement.of(kind), _means(agreement, kind)[0]
    alone = len(pairings) == 1 and len(agreement.sections) > 1 and kind == "annotators"
    for pairing in pairings:
        yield Subject("all" if alone else label(pairing), pairing)
    if len(pairings) > 1 and mean:
        yield Subject("mean", mean=mean, left_out=left_out)


def _means(agreement: Agreement, kind: str) -> list[tuple[Mapping[str, float], Mapping[str, int]]]:
    names = {"annotators": "mean", "automatic": "automatic"}
    if kind not in names:
        return [({}, {}) for _ in agreement.together]
    name = names[kind]
    return [
        (getattr(together, name), getattr(together, f"{name}_left_out"))
        for together in agreement.together
    ]


def chance_of(pairings: Sequence[Pairing]) -> str:
    """Name the model of chance in the tables of some pairings."""
    return ", ".join(dict.fromkeys(pairing.chance for pairing in pairings))


def identical(agreement: Agreement) -> str:
    """Return whether identical items take part."""
    return "left out" if agreement.options.ignore_identical else "included"


def apart(rows: int, blocks: int) -> range:
    """Return where blocks of so many rows begin, to be set apart; single rows are not."""
    return range(rows, rows * blocks, rows) if rows > 1 else range(0)


def grouped(
    title: str,
    names: Sequence[str],
    columns: Iterable[Column],
    rows: Sequence[Sequence[Cell]],
    anchor: str,
    groups: Sequence[int],
    note: str = "",
) -> Table:
    """Return a table of rows with two names, set apart in groups."""
    heads = [Column("", key=name) for name in names]
    return Table(title, [*heads, *columns], rows, note, anchor, groups, len(heads), ruled=False)


def known(numbers: Sequence[float]) -> list[float]:
    """Return the numbers that are defined."""
    return [number for number in numbers if not isnan(number)]
