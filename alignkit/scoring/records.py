"""Scores of sentence pairs and of groups, as records and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from math import isnan
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments, check_known, kind_of
from alignkit._support.wording import how_many
from alignkit.errors import ArgumentError, JoinError
from alignkit.scoring import measures
from alignkit.scoring.counts import Rows
from alignkit.scoring.result import LEVEL_NAMES, MEASURE_NAMES
from alignkit.scoring.settings import AGGREGATES
from alignkit.stats.defaults import CONFIDENCE, SEED
from alignkit.stats.resampling import FEW_PAIRS, Counts, Interval, Ratios, check_drawing
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.table import Table, guessed_column

_TERMS = len(measures.MACRO_COLUMNS)
_EXACT = measures.MACRO_COLUMNS.index("exact")
_APART = re.compile("^(hyp|ref|left_out)_|_(low|high|reason)$|_in_")  # counts and bounds
_LEFT = {name: f"left_out_{name}" for name in ("precision", "recall", "f1")}


def pair_records(
    rows: Mapping[str, Rows], ids: Sequence[str], *, aggregate: str = "micro"
) -> list[dict[str, object]]:
    """Return the score of each sentence pair.

    Parameters
    ----------
    rows : For each level of `LEVELS` its (P, C) counts.
    ids : The ids of the P pairs.
    aggregate : ``"macro"`` and ``"both"`` add ``exact_match``: 1 if both are the same, else 0.

    Returns
    -------
    list of dict
        For each pair and level: id, level, the measures (NaN if undefined) and the counts.

    Raises
    ------
    JoinError : If there is not one id for each row.
    UnknownNameError : If `aggregate` is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> rows = {"links": np.array([[1, 1, 1, 1, 1, 1, 1, 1]])}
    >>> [(record["id"], record["aer"]) for record in pair_records(rows, ["p1"])]
    [('p1', 0.0)]
    """
    check_arguments(pair_records, locals())
    _check(rows, ids, "ids", aggregate)

    def measure(counts: Counts, level: str) -> dict[str, NDArray[np.float64]]:
        values = measures.LEVELS[level](counts)
        if aggregate != "micro":
            values["exact_match"] = measures.macro_terms(counts, level)[:, _EXACT]
        return values

    named = {level: (counts, partial(measure, level=level)) for level, counts in rows.items()}
    return [{"id": ids[k], "level": level, **record} for k, level, record in _records(named)]


def group_records(
    rows: Mapping[str, Rows],
    groups: Sequence[str] | Sequence[Sequence[str]],
    *,
    name: str = "group",
    aggregate: str = "micro",
    resamples: int | None = None,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
) -> list[dict[str, object]]:
    """Return the score of each group: the measures of the sums of its rows.

    Parameters
    ----------
    rows : For each level of `LEVELS` its (P, C) counts.
    groups : The group of each of the P pairs; or the groups of each, which may overlap.
    name : The key of the group in the records.
    aggregate : ``"macro"`` and ``"both"`` add the means over the pairs of each group.
    resamples, confidence, seed : Of bootstrap intervals over the pairs of each group, as in
        `confidence_interval`; no intervals without `resamples`. Each group has its own random
        numbers.

    Returns
    -------
    list of dict
        For each group, in the order of first use, and level: the group, the number of pairs, the
        level, the measures (NaN if undefined), their bounds (``f1_low``, ``f1_high``) or why there
        are none (``f1_reason``), and the counts; with means over pairs, also the number of pairs
        left out of each mean because of 0/0 (``left_out_f1``).

    Raises
    ------
    JoinError : If there is not one group for each row.
    OptionError : If a number is out of range.
    UnknownNameError : If `aggregate` is unknown.

    Examples
    --------
    >>> rows = {"links": np.array([[1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0, 0, 0]])}
    >>> [(record["genre"], record["pairs"], record["aer"])
    ...  for record in group_records(rows, ["news", "news"], name="genre")]
    [('news', 2, 0.5)]
    """
    check_arguments(group_records, locals(), apart=["groups"])
    check_drawing(1 if resamples is None else resamples, confidence, seed)
    memberships = _memberships(groups)
    _check(rows, memberships, "groups", aggregate)
    places: dict[str, list[int]] = {}  # of the pairs of each group
    for k, several in enumerate(memberships):
        for group in several:
            places.setdefault(group, []).append(k)
    members = {group: np.array(of_group, np.int64) for group, of_group in places.items()}
    sums = _group_sums(rows, members, aggregate)
    bounds: dict[str, dict[str, dict[str, Interval]]] = {group: {} for group in members}
    if resamples is not None:
        for k, (group, of_group) in enumerate(members.items()):
            # after the streams of the whole corpus, which are spawned from the seed first
            stream = np.random.SeedSequence(seed, spawn_key=(len(measures.LEVELS) + k,))
            some = {level: counts[of_group] for level, counts in rows.items()}
            drawing: Any = {"resamples": resamples, "confidence": confidence, "seed": stream}
            bounds[group] = measures.level_intervals(some, aggregate, **drawing)
    names = list(members)
    records: list[dict[str, object]] = []
    for k, level, values in _records(sums):
        group = names[k]
        record: dict[str, object] = {name: group, "pairs": len(members[group]), "level": level}
        intervals = bounds[group].get(level, {})
        for key, value in values.items():
            record[key] = value
            if key in intervals:
                interval = intervals[key]
                record[f"{key}_low"] = interval.low
                record[f"{key}_high"] = interval.high
                if interval.reason:
                    record[f"{key}_reason"] = interval.reason
        if aggregate != "micro":
            terms, _ = sums[level]
            for ratio, count in measures.left_out(terms[k, -_TERMS:]).items():
                record[_LEFT[ratio]] = count
        records.append(record)
    return records


def _group_sums(
    rows: Mapping[str, Rows], members: Mapping[str, NDArray[np.int64]], aggregate: str
) -> dict[str, tuple[Counts, Ratios]]:
    """Return by level the sums of the rows of each group, (G, C), and their measures."""
    sizes = [len(of_group) for of_group in members.values()]
    group_of_row = np.repeat(np.arange(len(members)), sizes)
    row = np.concatenate([np.empty(0, np.int64), *members.values()])
    sums: dict[str, tuple[Counts, Ratios]] = {}
    for level, counts in rows.items():
        terms, ratios = measures.aggregated(counts, level, aggregate)
        total = np.zeros((len(members), terms.shape[1]))
        np.add.at(total, group_of_row, terms[row])
        sums[level] = total, ratios
    return sums


def few_in_groups(records: Sequence[Mapping[str, object]], name: str) -> str:
    """Return a note on the groups with too few pairs for intervals, or ""."""
    sizes = {record[name]: record["pairs"] for record in records}
    few = sum(isinstance(size, int) and size < FEW_PAIRS for size in sizes.values())
    if not few or not any(key.endswith(("_low", "_reason")) for key in records[0]):
        return ""
    has = "has" if few == 1 else "have"
    return (
        f"{few} of {how_many(len(sizes), 'group')} {has} fewer than about {FEW_PAIRS} sentence "
        "pairs: their intervals are too narrow"
    )


def _memberships(groups: Sequence[str] | Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the groups of each pair; raise an error if they are none."""
    if isinstance(groups, (str, bytes)) or not isinstance(groups, Sequence):
        raise ArgumentError(f"groups is {kind_of(groups)}; expected a sequence with one a pair")
    memberships = []
    for k, given in enumerate(groups):
        several = (given,) if isinstance(given, str) else given
        if not isinstance(several, Sequence) or not all(isinstance(name, str) for name in several):
            raise ArgumentError(
                f"groups[{k}] is {kind_of(given)}; it must be a string, or a sequence of strings"
            )
        memberships.append(tuple(dict.fromkeys(several)))
    return memberships


def _records(
    rows: Mapping[str, tuple[Counts, Ratios]],
) -> Iterator[tuple[int, str, dict[str, object]]]:
    """Yield (row number, level, measures and counts), with all levels of a row together."""
    ratios = {level: measure(counts) for level, (counts, measure) in rows.items()}
    for k in range(max((len(counts) for counts, _ in rows.values()), default=0)):
        for level, (counts, _) in rows.items():
            columns = measures.LEVEL_COLUMNS[level]
            record: dict[str, object] = {}
            record |= {name: float(value[k]) for name, value in ratios[level].items()}
            record |= zip(columns, map(int, counts[k, : len(columns)].tolist()), strict=True)
            yield k, level, record


def _check(rows: Mapping[str, Rows], names: Sequence[object], what: str, aggregate: str) -> None:
    """Raise an error for an unknown aggregate, or rows that are not one for each name."""
    check_known("aggregate", aggregate, AGGREGATES)
    for level, counts in rows.items():
        if len(counts) != len(names):
            raise JoinError(f"{len(names)} {what} for {len(counts)} rows of {level}")


def breakdown_table(
    records: Sequence[Mapping[str, object]], *, title: str = "", note: str = ""
) -> Table:
    """Return the records of `pair_records` or `group_records` as a table, without counts."""
    names = [key for key in dict.fromkeys(chain.from_iterable(records)) if not _APART.search(key)]
    columns = []
    for name in names:
        if name in MEASURE_NAMES:
            columns.append(Column(MEASURE_NAMES[name], "percent", key=name))
        else:
            columns.append(guessed_column(name, [record.get(name) for record in records]))
    rows = [[_cell(record, name) for name in names] for record in records]
    left_out = [_left_out(record) for record in records]
    if any(left_out):
        columns.append(Column("left out (0/0)", key="left_out"))
        for row, text in zip(rows, left_out, strict=True):
            row.append(text)
    return Table(title, columns, rows, note)


def _left_out(record: Mapping[str, object]) -> str:
    """Return the numbers of pairs that means leave out, as a text."""
    counts = {MEASURE_NAMES[name]: record.get(key) for name, key in _LEFT.items()}
    return ", ".join(f"{name} {count}" for name, count in counts.items() if count)


def _cell(record: Mapping[str, object], name: str) -> Cell:
    """Return the cell of a record, a measure with its bounds."""
    if name == "level":
        return LEVEL_NAMES[str(record[name])]
    value = cast(Cell, record.get(name))
    if f"{name}_low" not in record or not isinstance(value, float) or isnan(value):
        return value
    low = cast(float, record[f"{name}_low"])
    high = cast(float, record[f"{name}_high"])
    return Value(value, low, high, str(record.get(f"{name}_reason", "")))
