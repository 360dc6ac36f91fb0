"""Scores of sentence pairs and of groups, as records and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
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
from alignkit.stats.resampling import FEW_PAIRS, SEED, Counts, Interval, Ratios, check_drawing
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
    aggregate : ``"macro"`` and ``"both"`` add ``exact_match``: 1 if both are the same, else 0.

    Returns
    -------
    list of dict
        For each pair and level: id, level, the measures (NaN if undefined) and the counts.
    """
    check_arguments(pair_records, locals())
    _check(rows, ids, "ids", aggregate)

    def measure(counts: Counts, level: str) -> dict[str, NDArray[np.float64]]:
        exact = {"exact_match": measures.macro_terms(counts, level)[:, _EXACT]}
        return measures.LEVELS[level](counts) | ({} if aggregate == "micro" else exact)

    named = {level: (counts, partial(measure, level=level)) for level, counts in rows.items()}
    return [{"id": ids[k], "level": level, **record} for k, level, record in _records(named)]


def group_records(
    rows: Mapping[str, Rows],
    groups: Sequence[str] | Sequence[Sequence[str]],
    *,
    name: str = "group",
    aggregate: str = "micro",
    resamples: int | None = None,
    confidence: float = 0.95,
    seed: int = SEED,
) -> list[dict[str, object]]:
    """Return the score of each group: the measures of the sums of its rows.

    Parameters
    ----------
    groups : The group of each of the P pairs; or the groups of each, which may overlap.
    name : The key of the group in the records.
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
    names = list(dict.fromkeys(group for several in memberships for group in several))
    numbers = {group: number for number, group in enumerate(names)}
    pair = [k for k, several in enumerate(memberships) for _ in several]
    member = [numbers[group] for several in memberships for group in several]
    sizes = np.bincount(np.array(member, np.int64), minlength=len(names)).tolist()
    sums: dict[str, tuple[Counts, Ratios]] = {}
    for level, counts in rows.items():
        more, ratios = measures.aggregated(counts, level, aggregate)
        total = np.zeros((len(names), more.shape[1]))
        np.add.at(total, member, more[pair])
        sums[level] = total, ratios
    bounds: list[dict[str, dict[str, Interval]]] = [{} for _ in names]
    if resamples is not None:
        order = np.argsort(member, kind="stable")
        places = np.split(np.array(pair, np.int64)[order], np.cumsum(sizes)[:-1])
        bounds = []
        for k, mine in enumerate(places[: len(names)]):
            # after the streams of the whole corpus, which are spawned from the seed first
            stream = np.random.SeedSequence(seed, spawn_key=(len(measures.LEVELS) + k,))
            some = {level: counts[mine] for level, counts in rows.items()}
            drawing: Any = {"resamples": resamples, "confidence": confidence, "seed": stream}
            bounds.append(measures.level_intervals(some, aggregate, **drawing))
    records: list[dict[str, object]] = []
    for k, level, record in _records(sums):
        bounded: dict[str, object] = {name: names[k], "pairs": sizes[k], "level": level}
        for key, value in record.items():
            bounded[key] = value
            if interval := bounds[k].get(level, {}).get(key):
                bounded |= {f"{key}_low": interval.low, f"{key}_high": interval.high}
                bounded |= {f"{key}_reason": interval.reason} if interval.reason else {}
        records.append(bounded)
        if aggregate != "micro":
            missing = measures.left_out(sums[level][0][k, -_TERMS:])
            records[-1] |= {_LEFT[ratio]: count for ratio, count in missing.items()}
    return records


def few_in_groups(records: Sequence[Mapping[str, object]], name: str) -> str:
    """Return a note on the groups with too few pairs for intervals, or ""."""
    sizes = {record[name]: record["pairs"] for record in records}
    few = sum(isinstance(size, int) and size < FEW_PAIRS for size in sizes.values())
    if not few or not any(key.endswith(("_low", "_reason")) for key in records[0]):
        return ""
    return (
        f"{few} of {how_many(len(sizes), 'group')} {'has' if few == 1 else 'have'} fewer "
        f"than about {FEW_PAIRS} sentence pairs: their intervals are too narrow"
    )


def _memberships(groups: Sequence[str] | Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    if isinstance(groups, (str, bytes)) or not isinstance(groups, Sequence):
        raise ArgumentError(f"groups is {kind_of(groups)}; expected a sequence with one a pair")
    memberships = []
    for k, given in enumerate(groups):
        several = (given,) if isinstance(given, str) else given
        if not isinstance(several, Sequence) or not all(isinstance(x, str) for x in several):
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
            values = {name: float(value[k]) for name, value in ratios[level].items()}
            numbers = map(int, counts[k, : len(columns)].tolist())
            yield k, level, {**values, **dict(zip(columns, numbers, strict=True))}


def _check(rows: Mapping[str, Rows], names: Sequence[object], what: str, aggregate: str) -> None:
    check_known("aggregate", aggregate, AGGREGATES)
    for level, counts in rows.items():
        if len(counts) != len(names):
            raise JoinError(f"{len(names)} {what} for {len(counts)} rows of {level}")


def breakdown_table(
    records: Sequence[Mapping[str, object]], *, title: str = "", note: str = ""
) -> Table:
    """Return the records of `pair_records` or `group_records` as a table, without counts."""
    keys = dict.fromkeys(key for record in records for key in record)
    names = [key for key in keys if not _APART.search(key)]
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
            counts = {MEASURE_NAMES[name]: record.get(key) for name, key in _LEFT.items()}
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
