"""The tables of a comparison of systems: a row for each system, or for each difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan, nan

from alignkit._support.wording import how_many
from alignkit.scoring.comparison import Comparison, SystemIntervals
from alignkit.scoring.result import LEVEL_NAMES, MEASURE_NAMES, Score, bounded_value
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.table import Table
from alignkit.tables.text_width import cut_middle

_P_VALUES = (
    "p: two-sided, by paired bootstrap and by paired approximate randomization; Holm: corrected "
    "for the pairs of systems, measure by measure; <: an upper bound, as no resample (or trial) "
    "spoke against the difference"
)

_HEADINGS = {
    "precision": "P  ",
    "recall": "R  ",
    "f1": "F1  ",
    "aer": "AER  ",
    "macro_precision": "macro P",
    "macro_recall": "macro R",
    "macro_f1": "macro F1",
    "mean_f1": "mean F1",
    "exact_match": "exact",
}
"""The headings of a table of systems; the spaces make room for marks below."""

# of a table of systems; of a name; if that is too wide
_WIDTH = 100
_LONGEST = 20
_SHORTER = 15


def system_tables(
    differences: Sequence[Comparison],
    scores: Mapping[str, Score],
    intervals: Mapping[str, SystemIntervals],
    *,
    confidence: float,
    pairs: int,
    draws: str,
) -> Iterator[Table]:
    """Yield a table for each level: systems, measures with intervals, marks of significance.

    `draws` says how many random draws there were; it ends the note below a table.
    """
    first = differences[0].baseline
    marks = _marks(row for row in differences if row.baseline == first)
    for level, level_name in LEVEL_NAMES.items():
        shown = {}
        for name, score in scores.items():
            shown[name] = _measures(score, level, intervals[name])
        if not shown[first]:
            continue
        for longest, bounded in ((_LONGEST, True), (_SHORTER, True), (_LONGEST, False)):
            table = _system_table(shown, marks.get(level, {}), longest, bounded=bounded)
            if table.width <= _WIDTH:
                break
        what = level_name[0].upper() + level_name[1:]
        title = f"{what}, {how_many(pairs, 'sentence pair')}, percent"
        if bounded:
            title += f" [{100 * confidence:g}% of bootstrap resamples]"
        note = (
            f"* p < .05, ** p < .01 against {first}, by paired bootstrap and randomization "
            f"(Holm over comparisons)\n{draws}"
        )
        yield replace(table, title=title, anchor=f"systems-{level}", note=note)


def _measures(score: Score, level: str, intervals: SystemIntervals) -> dict[str, Cell]:
    """Return the measures of a level with their intervals."""
    part = score.parts().get(level)
    if part is None:
        return {}
    values: dict[str, float] = {}
    if score.aggregate != "macro":
        names = ("precision", "recall", "f1", "aer")
        values |= {name: getattr(part, name) for name in names if hasattr(part, name)}
    macro = score.macro.get(level)
    if macro is not None:
        values |= macro.measures()
    bounds = intervals.get(level, {})
    return {name: bounded_value(value, bounds.get(name)) for name, value in values.items()}


def _system_table(
    shown: Mapping[str, Mapping[str, Cell]],
    marks: Mapping[tuple[str, str], str],
    longest: int,
    *,
    bounded: bool,
) -> Table:
    """Return a row for each system; marks take two characters, to keep numbers in line."""
    percent = Column("", "percent")
    rows = list[list[Cell]]()
    short = {system: cut_middle(system, longest) for system in shown}
    counts = Counter(short.values())
    for system, measures in shown.items():
        row: list[Cell] = [system if counts[short[system]] > 1 else short[system]]
        for measure, cell in measures.items():
            value = cell
            if isinstance(cell, Value) and not bounded:
                value = cell.value
            mark = marks.get((measure, system), "")
            row.append(f"{percent.show(value).text}{mark:2}")
        rows.append(row)
    columns = [Column("", key="system")]
    columns += [Column(_HEADINGS[key], key=key, right=True) for key in next(iter(shown.values()))]
    return Table("", columns, rows, ruled=False)


def _marks(rows: Iterable[Comparison]) -> dict[str, dict[tuple[str, str], str]]:
    """Return the marks ``*`` and ``**`` by level, then by measure and system."""
    marks: dict[str, dict[tuple[str, str], str]] = {}
    for row in rows:
        both = row.bootstrap_holm, row.randomization_holm
        p = nan if any(map(isnan, both)) else max(both)
        if p < 0.01:
            mark = "**"
        elif p < 0.05:
            mark = "*"
        else:
            mark = ""
        marks.setdefault(row.level, {})[row.measure, row.system] = mark
    return marks


def comparison_table(comparisons: Iterable[Comparison], *, note: str = "") -> Table:
    """Return the table of differences between systems, with their levels."""
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
    rows: list[list[Cell]] = []
    for row in comparisons:
        level = LEVEL_NAMES.get(row.level, row.level)
        measure = MEASURE_NAMES.get(row.measure, row.measure)
        difference = bounded_value(row.difference, row.interval)
        rows.append([row.system, row.baseline, level, measure, difference, *row.p_values()])
    note = "\n".join(filter(None, [_P_VALUES, note]))
    return Table("", columns, rows, note, stub=4)
