"""How far annotators are in the training round, and who has passed, as a table."""

from __future__ import annotations

from collections.abc import Collection
from math import nan
from typing import Any, Literal

from msgspec import Struct, to_builtins
from sqlalchemy import Connection

from alignkit._support.wording import how_many
from alignkit.annotate.assignment import assigned_rows
from alignkit.annotate.project import queries
from alignkit.annotate.project.training import (
    Standing,
    known_f1,
    present_round,
    standings,
    total,
)
from alignkit.tables.columns import Cell, Column
from alignkit.tables.table import Table


class TrainingLine(Struct):
    """How far an annotator is in the training round."""

    name: str
    # `open` is in the middle of an attempt, `failed` has not passed and not begun again
    state: Literal["passed", "by hand", "begun", "failed", "open", "not begun"]
    attempt: int = 0
    done: int = 0  # answered pairs of this attempt
    f1: float | None = None  # over them
    at: str = ""  # when the annotator passed, or was let in
    by: str = ""  # who did that


class TrainingTable(Struct):
    """The training round in force, and how far all are."""

    round: int
    gold: str
    pairs: list[str]  # their ids
    mark: float
    lines: list[TrainingLine]

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain values."""
        values: dict[str, Any] = to_builtins(self)
        return values


def training_table(conn: Connection, names: Collection[str] = ()) -> TrainingTable | None:
    """Return how far annotators are, also those of some names or with pairs who have not begun.

    It is None if there is no round. Answers to training pairs are counted here alone.
    """
    in_force = present_round(conn)
    if in_force is None:
        return None
    size = len(in_force.pairs)
    known = standings(conn, in_force.number)
    names = {*names, *(row.annotator for row in assigned_rows(conn))}
    lines = []
    annotators = queries.annotators(conn)
    for account, name in enumerate(annotators, 1):
        if account in known:
            lines.append(_line(name, known[account], size))
        elif name in names:
            lines.append(TrainingLine(name, "not begun"))
    absent = sorted(names.difference(annotators))  # who were never here yet
    lines.extend(TrainingLine(name, "not begun") for name in absent)
    ids = [pair.id for pair in in_force.pairs]
    return TrainingTable(in_force.number, in_force.gold, ids, in_force.mark, lines)


def _line(name: str, known: Standing, size: int) -> TrainingLine:
    """Return how far an annotator is, who has answered or may work."""
    entry = known.entry
    attempt = known.last
    if entry is not None and entry.attempt:
        attempt = entry.attempt
    given = known.of_attempt(attempt)
    f1 = known_f1(total(each.counts for each in given)) if given else None
    line = TrainingLine(name, "open", attempt, len(given), f1)
    if entry is not None:
        line.state = entry.how  # type: ignore[assignment]
        line.at = entry.at
        line.by = entry.by
    elif len(given) == size:
        line.state = "failed"
    return line


def printed(table: TrainingTable) -> Table:
    """Return who has passed, as a table."""
    columns = [
        Column("annotator"),
        Column("training"),
        Column("attempt", "count"),
        Column("pairs", "count"),
        Column("F1", "percent"),
        Column("at"),
        Column("by"),
    ]
    rows: list[list[Cell]] = []
    for line in table.lines:
        f1 = nan if line.f1 is None else line.f1
        rows.append([line.name, line.state, line.attempt, line.done, f1, line.at[:10], line.by])
    title = (
        f"Training round: {how_many(len(table.pairs), 'pair')} with the links of {table.gold}; "
        f"F1 of {100 * table.mark:.1f}% passes"
    )
    return Table(title, columns, rows, "" if rows else "nobody has begun yet")
