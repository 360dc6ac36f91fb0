"""Assign the pairs of a project, and tell what was done: by annotator and by stratum."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from alignkit.annotate.assignment.assignment import (
    apart,
    assigned_rows,
    draw_rows,
    read_items,
    read_plan,
    revised,
    write_rows,
)
from alignkit.annotate.assignment.drawing import Drawn
from alignkit.annotate.assignment.strata import CONTROL, Item, named_stratum, stratum_of
from alignkit.annotate.log.project_events import Assigned, AssignmentPlan
from alignkit.annotate.store import Store
from alignkit.annotate.tables import queries
from alignkit.report.columns import Column
from alignkit.report.table import Table


@dataclass(frozen=True)
class Share:
    """Count the pairs of one annotator."""

    annotator: str  # whose they are
    pairs: int  # how many there are, and how many of them are new
    new: int
    trial: int  # those of the trial set, and of the others those that somebody else annotates too
    double: int
    split: int  # those of the control sample, by arm
    bare: int
    coin: int
    hidden: int  # those without suggestions


@dataclass(frozen=True)
class Stratum:
    """Count the pairs of a stratum; `by` says what the strata are for."""

    by: str  # double, whose share is kept in the strata, or control, likewise
    name: str  # which pairs they are
    pairs: int  # how many there are; in the trial set; of the others, with several annotators
    trial: int
    double: int
    split: int  # in the control sample, by arm
    bare: int
    coin: int


@dataclass(frozen=True)
class Assignment:
    """What is assigned in a project, and what an assignment added."""

    plan: AssignmentPlan  # how it was done, and how new pairs are assigned
    pairs: int  # how many pairs there are, and how many of them are somebody's
    assigned: int
    new: int  # how many rows were added: a pair and an annotator each
    annotators: tuple[Share, ...]  # the counts
    strata: tuple[Stratum, ...]
    suggested: int  # for how many pairs links are suggested
    apart: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return the assignment as plain values."""
        plan = {name: getattr(self.plan, name) for name in self.plan.__struct_fields__}
        return {**asdict(self), "plan": msgspec.to_builtins(plan)}

    def tables(self) -> tuple[Table, ...]:
        """Return a table of the annotators, and one of the strata for each thing they are for."""
        counts = (
            f"{self.assigned:,} of {self.pairs:,} pairs are assigned; {self.new:,} rows are new"
        )
        tables = [_table(f"pairs of each annotator: {counts}", self.annotators, ())]
        titles = {"double": "by what is annotated twice", "control": "by the control sample"}
        for by, title in titles.items():
            if rows := [row for row in self.strata if row.by == by]:
                tables.append(_table(f"strata, {title}", rows, ("by",)))
        return tuple(tables)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.tables()))


def assign_pairs(
    store: Store,
    annotators: Sequence[str] = (),
    *,
    double: float | None = None,
    trial: int | None = None,
    seed: int | None = None,
    stratify: Sequence[str] | None = None,
    order: str | None = None,
    control: float | None = None,
    least: int | None = None,
    dry_run: bool = False,
) -> Assignment:
    """Assign pairs that are not assigned yet; what is assigned stays as it is.

    A server may be running. What is None is as it was when pairs were first assigned; then it has
    the default of `AssignmentPlan`, which says what each means.

    Notes
    -----
    There is no control sample by default where pairs are judged or extracted: nothing is suggested.
    """
    options = {
        "double": double, "trial": trial, "seed": seed, "order": order, "control": control,
        "least": least, "stratify": None if stratify is None else tuple(stratify),
    }  # fmt: skip
    opened = store.database.reading() if dry_run else store.database.writing()
    with opened as conn:
        before = read_plan(conn)
        if before is None and control is None and queries.task_of(conn) != "align":
            options["control"] = 0.0  # nothing is suggested
        drawn = draw_rows(conn, revised(before, annotators, options))
        items, rows = read_items(conn), assigned_rows(conn)
        others = apart(conn, drawn.plan.annotators)
        if not dry_run:
            write_rows(conn, drawn)
    return _counted(items, rows, drawn, others)


def _counted(
    items: Sequence[Item], before: Sequence[Assigned], drawn: Drawn, others: dict[str, int]
) -> Assignment:
    plan, rows = drawn.plan, [*before, *drawn.rows]
    held = Counter(row.k for row in rows if not row.trial)
    new = Counter(row.annotator for row in drawn.rows)
    shares = []
    for name in dict.fromkeys((*plan.annotators, *(row.annotator for row in before))):
        own = [row for row in rows if row.annotator == name]
        hidden = sum(not row.shown for row in own)
        trial = sum(row.trial for row in own)
        double = sum(held[row.k] > 1 for row in own if not row.trial)
        arms = Counter(row.arm for row in own)
        counts = trial, double, arms["split"], arms["bare"], arms["coin"], hidden
        shares.append(Share(name, len(own), new[name], *counts))
    strata = []
    for by, names in (("double", plan.stratify), ("control", CONTROL)):
        strata += _strata(by, names, items, rows, drawn.plan)
    sizes = len(items), len({row.k for row in rows}), len(drawn.rows)
    suggested = sum(item.doubt is not None for item in items)
    return Assignment(plan, *sizes, tuple(shares), tuple(strata), suggested, others)


def _strata(
    by: str,
    names: Sequence[str],
    items: Sequence[Item],
    rows: Iterable[Assigned],
    plan: AssignmentPlan,
) -> list[Stratum]:
    by_pair: defaultdict[int, list[Assigned]] = defaultdict(list)
    for row in rows:
        by_pair[row.k].append(row)
    groups: defaultdict[tuple[str, ...], list[list[Assigned]]] = defaultdict(list)
    for item in items:
        groups[stratum_of(item, names, plan.cuts)].append(by_pair[item.k])
    strata = []
    for key, pairs in sorted(groups.items()):
        trial = sum(any(row.trial for row in own) for own in pairs)
        double = sum(len(own) > 1 and not own[0].trial for own in pairs)
        arms = Counter(next((row.arm for row in own if row.arm), "") for own in pairs)
        counts = len(pairs), trial, double, arms["split"], arms["bare"], arms["coin"]
        strata.append(Stratum(by, named_stratum(key, names, plan.cuts), *counts))
    return strata


def _table(title: str, rows: Sequence[Share | Stratum], left_out: Sequence[str]) -> Table:
    records = [
        {name: value for name, value in asdict(row).items() if name not in left_out} for row in rows
    ]
    text = {"annotator", "name"}
    columns = [
        Column("stratum" if name == "name" else name, "text" if name in text else "count")
        for name in records[0]
    ]
    return Table(title, columns, [list(record.values()) for record in records])
