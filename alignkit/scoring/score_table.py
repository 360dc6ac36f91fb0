"""Show scores as tables: of a system, of its parts, and of systems beside each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import Union, cast

from alignkit.report.columns import Cell, Column, Value
from alignkit.report.table import Table, guessed_column
from alignkit.scoring.bootstrap import Interval
from alignkit.scoring.comparison import Comparison
from alignkit.scoring.macro import MacroScore
from alignkit.scoring.measures import LinkScore, PhraseScore

Part = Union[LinkScore, PhraseScore]
"""The measures of one level."""

Intervals = Mapping[str, Mapping[str, Interval]]

LEVEL_NAMES = {
    "links": "links",
    "links-identical": "links, identical",
    "links-non-identical": "links, non-identical",
    "phrases-possible": "phrases, possible",
    "phrases-sure": "phrases, sure",
}
"""What levels are called."""

_MEASURES = {"precision": "precision", "recall": "recall", "f1": "F1", "aer": "AER"}
MEASURE_NAMES = {
    **_MEASURES,
    "macro_precision": "macro precision",
    "macro_recall": "macro recall",
    "macro_f1": "macro F1",
    "mean_f1": "mean of F1",
    "exact_match": "exact match",
}
"""What measures are called."""

_LEFT = {name: f"left_out_{name}" for name in ("precision", "recall", "f1")}

_P_VALUES = (
    "p: two-sided, by paired bootstrap and by paired approximate randomization; Holm: corrected "
    "for the pairs of systems, measure by measure"
)

_OF_LINKS = ("hyp_possible", "ref_possible")  # what is said to be how many
_ATOMIC = ("hyp_atomic", "ref_atomic")


def score_table(
    parts: Mapping[str, Part],
    intervals: Intervals,
    *,
    macro: Mapping[str, MacroScore] | None = None,
    aggregate: str = "micro",
    title: str = "",
) -> Table:
    """Return the table of one score: a row for each level, and how many links or phrases it has."""
    macro = macro or {}
    columns = [
        Column("", key="level"),
        *_measures(_MEASURES),
        *([Column("exact match", "percent", key="exact_match")] if macro else []),
        Column("hypothesis", "count"),
        Column("reference", "count"),
    ]
    rows: list[list[Cell]] = []
    for level, part in parts.items():
        bounds = intervals.get(level, {})
        micro = [_value(part, name, bounds) for name in _MEASURES]
        sizes: list[Cell] = [
            part.counts[name] for name in (_OF_LINKS if level.startswith("links") else _ATOMIC)
        ]
        if not macro:
            rows.append([LEVEL_NAMES[level], *micro, *sizes])
            continue
        if aggregate == "both":
            rows.append([f"{LEVEL_NAMES[level]}, micro", *micro, None, *sizes])
            micro, sizes = [None] * len(micro), [None, None]
        rows += _macro_rows(LEVEL_NAMES[level], macro[level], bounds, micro[-1], sizes)
    return Table(title, columns, rows, "\n".join(_left_out(macro)))


def _macro_rows(
    name: str, found: MacroScore, bounds: Mapping[str, Interval], aer: Cell, sizes: Sequence[Cell]
) -> Iterator[list[Cell]]:
    values = {key: _bounded(value, bounds.get(key)) for key, value in found.measures().items()}
    *ratios, mean, exact = values.values()
    yield [f"{name}, macro", *ratios, aer, exact, *sizes]
    yield [f"{name}, mean of F1", None, None, mean, None, None, None, None]


def _left_out(macro: Mapping[str, MacroScore]) -> Iterator[str]:
    if not macro:
        return
    yield "macro: means over sentence pairs, those left out whose ratio is 0/0; AER is micro always"
    for level, found in macro.items():
        told = [f"{_MEASURES[name]} {count}" for name, count in found.left_out.items() if count]
        if told:
            yield f"left out, {LEVEL_NAMES[level]}: {', '.join(told)}"


def level_records(
    parts: Mapping[str, Part],
    intervals: Intervals,
    macro: Mapping[str, MacroScore] | None = None,
    **first: object,
) -> list[dict[str, object]]:
    """Return a record for each level: the measures, their bounds, the counts."""
    found = []
    for level, part in parts.items():
        record: dict[str, object] = {"level": level, **first}
        values = {name: getattr(part, name) for name in _MEASURES if hasattr(part, name)}
        values |= macro[level].measures() if macro and level in macro else {}
        for name, value in values.items():
            record[name] = value
            if name in intervals.get(level, {}):
                interval = intervals[level][name]
                record |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
        found.append(record | dict(part.counts))
    return found


def short(parts: Mapping[str, Part], macro: Mapping[str, MacroScore]) -> str:
    """Return what matters of a score in a few words."""
    said = []
    for level, part in parts.items():
        ratios = [f"F1 {percent(part.f1)}"]
        if level in macro:
            ratios.append(f"macro {percent(macro[level].f1)}")
        if isinstance(part, LinkScore):
            ratios.append(f"AER {percent(part.aer)}")
        said.append(f"{LEVEL_NAMES[level]}: {', '.join(ratios)}")
    return "; ".join(said)


def breakdown_table(
    records: Sequence[Mapping[str, object]], *, title: str = "", note: str = ""
) -> Table:
    """Return the table of what `pair_records` or `group_records` gives, without the counts."""
    names = [
        key
        for key in dict.fromkeys(key for record in records for key in record)
        if not key.startswith(("hyp_", "ref_", "left_out_"))
        and not key.endswith(("_low", "_high", "_reason"))
        and "_in_" not in key
    ]
    columns = [
        Column(MEASURE_NAMES[name], "percent", key=name)
        if name in MEASURE_NAMES
        else guessed_column(name, [record.get(name) for record in records])
        for name in names
    ]
    rows = [[_cell(record, name) for name in names] for record in records]
    if any(record.get(key) for record in records for key in _LEFT.values()):
        columns.append(Column("left out (0/0)", key="left_out"))
        for row, record in zip(rows, records, strict=True):
            counts = {_MEASURES[name]: record.get(key) for name, key in _LEFT.items()}
            row.append(", ".join(f"{name} {count}" for name, count in counts.items() if count))
    return Table(title, columns, rows, note)


def _cell(record: Mapping[str, object], name: str) -> Cell:
    if name == "level":
        return LEVEL_NAMES[str(record[name])]
    value = cast(Cell, record.get(name))
    if f"{name}_low" not in record or not isinstance(value, float) or isnan(value):
        return value
    low, high = (cast(float, record[f"{name}_{end}"]) for end in ("low", "high"))
    return Value(value, low, high, str(record.get(f"{name}_reason", "")))


def comparison_table(comparisons: Iterable[Comparison], *, note: str = "") -> Table:
    """Return the table of how systems differ from each other, at which level."""
    columns = [
        Column("system"),
        Column("against", key="baseline"),
        Column("", key="level"),
        Column("measure"),
        Column("difference", "percent", signed=True),
        Column("p", "p", "bootstrap", key="bootstrap_p"),
        Column("Holm", "p", "bootstrap", key="bootstrap_holm"),
        Column("p", "p", "randomization", key="randomization_p"),
        Column("Holm", "p", "randomization", key="randomization_holm"),
    ]
    rows: list[list[Cell]] = [
        [
            row.system, row.baseline, LEVEL_NAMES.get(row.level, row.level),
            MEASURE_NAMES.get(row.measure, row.measure), _bounded(row.difference, row.interval),
            row.bootstrap_p, row.bootstrap_holm, row.randomization_p, row.randomization_holm,
        ]
        for row in comparisons
    ]  # fmt: skip
    note = "\n".join(filter(None, [_P_VALUES, note]))
    return Table("", columns, rows, note, stub=4)


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
    return _bounded(getattr(part, name), intervals.get(name)) if hasattr(part, name) else None


def _bounded(value: float, interval: Interval | None) -> Cell:
    if interval is None or isnan(value):
        return value
    return Value(value, interval.low, interval.high, interval.reason)


def percent(value: float) -> str:
    """Return a ratio as a percentage with one decimal, ``-`` where undefined."""
    return Column("", "percent").show(value).text
