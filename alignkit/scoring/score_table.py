"""Show scores as tables: of a system, of its parts, and of systems beside each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Union, cast

from alignkit.report.columns import Cell, Column, Value
from alignkit.report.table import Table, guessed_column
from alignkit.scoring.bootstrap import Interval
from alignkit.scoring.comparison import Comparison
from alignkit.scoring.measures import LinkScore, PhraseScore

__all__ = [
    "Part",
    "breakdown_table",
    "comparison_table",
    "level_records",
    "percent",
    "phrase_list_table",
    "score_table",
    "short",
]

Part = Union[LinkScore, PhraseScore]
"""The measures of one level."""

Intervals = Mapping[str, Mapping[str, Interval]]

_NAMES = {
    "links": "links",
    "phrases-possible": "phrases, possible",
    "phrases-sure": "phrases, sure",
}
_MEASURES = {"precision": "precision", "recall": "recall", "f1": "F1", "aer": "AER"}
_SIZES = {"links": ("hyp_possible", "ref_possible")}  # what is said to be how many
_ATOMIC = ("hyp_atomic", "ref_atomic")


def score_table(
    parts: Mapping[str, Part], intervals: Intervals, *, title: str = "", note: str = ""
) -> Table:
    """Return the table of one score: a row for each level, and how many links or phrases it has."""
    columns = [
        Column("", key="level"),
        *_measures(_MEASURES),
        Column("hypothesis", "count"),
        Column("reference", "count"),
    ]
    rows = [
        [
            _NAMES[level],
            *(_value(part, name, intervals.get(level, {})) for name in _MEASURES),
            *(part.counts[name] for name in _SIZES.get(level, _ATOMIC)),
        ]
        for level, part in parts.items()
    ]
    return Table(title, columns, rows, note)


def level_records(
    parts: Mapping[str, Part], intervals: Intervals, **first: object
) -> list[dict[str, object]]:
    """Return a record for each level: the measures, their bounds, the counts."""
    bounds = any(intervals.values())
    found = []
    for level, part in parts.items():
        record: dict[str, object] = {"level": level, **first}
        for name in _MEASURES:
            if hasattr(part, name):
                record[name] = getattr(part, name)
                if bounds:
                    interval = intervals[level][name]
                    record |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
        found.append(record | dict(part.counts))
    return found


def short(parts: Mapping[str, Part]) -> str:
    """Return what matters of a score in a few words."""
    said = []
    for level, part in parts.items():
        ratios = [f"F1 {percent(part.f1)}"]
        if isinstance(part, LinkScore):
            ratios.append(f"AER {percent(part.aer)}")
        said.append(f"{_NAMES[level]}: {', '.join(ratios)}")
    return "; ".join(said)


def breakdown_table(records: Sequence[Mapping[str, object]]) -> Table:
    """Return the table of what `pair_records` or `group_records` gives, without the counts."""
    names = list(
        dict.fromkeys(
            key
            for record in records
            for key in record
            if not key.startswith(("hyp_", "ref_")) and "_in_" not in key
        )
    )
    columns = [
        Column(_MEASURES[name], "percent", key=name)
        if name in _MEASURES
        else guessed_column(name, [record.get(name) for record in records])
        for name in names
    ]
    rows = [
        [
            _NAMES[str(record[name])] if name == "level" else cast(Cell, record.get(name))
            for name in names
        ]
        for record in records
    ]
    return Table("", columns, rows)


def comparison_table(found: Iterable[tuple[str, Comparison]], *, note: str = "") -> Table:
    """Return the table of how systems differ from the baseline, at which level."""
    columns = [
        Column("system"),
        Column("against", key="baseline"),
        Column("", key="level"),
        Column("measure"),
        Column("difference", "percent", signed=True),
        Column("p bootstrap", "decimal", key="bootstrap_p", digits=4),
        Column("p randomization", "decimal", key="randomization_p", digits=4),
    ]
    rows: list[list[Cell]] = [
        [
            one.system,
            one.baseline,
            _NAMES[level],
            one.measure,
            Value(one.difference, one.interval.low, one.interval.high),
            one.bootstrap_p,
            one.randomization_p,
        ]
        for level, one in found
    ]
    return Table("", columns, rows, note)


def phrase_list_table(
    part: PhraseScore, intervals: Mapping[str, Interval], *, title: str, note: str
) -> Table:
    """Return the table of the score of a list of phrase pairs."""
    names = ("precision", "recall", "f1")
    columns = [*_measures(names), Column("occurrences", "count"), Column("gold", "count")]
    row = [*(_value(part, name, intervals) for name in names), *(part.counts[k] for k in _ATOMIC)]
    return Table(title, columns, [row], note, stub=0)


def _measures(names: Iterable[str]) -> list[Column]:
    return [Column(_MEASURES[name], "percent", key=name) for name in names]


def _value(part: Part, name: str, intervals: Mapping[str, Interval]) -> Cell:
    if not hasattr(part, name):
        return None
    value: float = getattr(part, name)
    if name not in intervals:
        return value
    return Value(value, intervals[name].low, intervals[name].high)


def percent(value: float) -> str:
    """Return a ratio as a percentage with one decimal, ``-`` where undefined."""
    return Column("", "percent").show(value).text
