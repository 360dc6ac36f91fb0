"""Count what was taken from documents: pairs by document, and documents without any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import nan
from typing import Any

from sqlalchemy import select

from alignkit.annotate.errors import ProjectError
from alignkit.annotate.log.state import decode_state
from alignkit.annotate.store import Store
from alignkit.annotate.tables import queries, schema
from alignkit.annotate.tables.pair_lists import PairList
from alignkit.report.columns import Column, Value
from alignkit.report.table import Table


@dataclass(frozen=True)
class Harvest:
    """Count what one annotator took."""

    annotator: str  # who
    documents: int  # how many pairs of documents are theirs
    done: int  # how many of them are marked done; of these, how many gave a pair, and how many none
    with_pairs: int
    without: int
    pairs: int  # the pairs taken from documents that are done
    open: int  # the pairs taken from others so far

    @property
    def per_document(self) -> float | None:
        """Pairs for each document that is done, those without any too; None where none is done."""
        return self.pairs / self.done if self.done else None


@dataclass(frozen=True)
class Yield:
    """What all annotators of a project took from its documents."""

    rows: tuple[Harvest, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return {
            "annotators": [
                {**asdict(row), "pairs_per_document": row.per_document} for row in self.rows
            ]
        }

    def table(self) -> Table:
        """Return the table that is printed."""
        counts = ("documents", "done", "with pairs", "without", "pairs", "pairs of open ones")
        columns = [Column("annotator", "text"), *(Column(name, "count") for name in counts)]
        columns.append(Column("pairs a document", "number"))
        none = Value(nan, reason="no document is done yet")
        rows = [
            [*asdict(row).values(), none if row.per_document is None else row.per_document]
            for row in self.rows
        ]
        return Table("pairs taken from documents", columns, rows)

    def __str__(self) -> str:
        return str(self.table())


def count_yield(store: Store) -> Yield:
    """Count what was taken from the documents of a project."""
    with store.database.reading() as conn:
        if (task := queries.task_of(conn)) != "extract":
            raise ProjectError(
                f"{store.path}: is a project to {task}; pairs are taken in those that `alignkit "
                "annotate --task extract` makes"
            )
        table = schema.stream.c
        rows: list[Harvest] = []
        gold = queries.gold_name(conn)
        for account, name in enumerate(queries.annotators(conn), 1):
            own = PairList(conn, account)
            numbers = own.numbers()
            asked = select(table.pair, table.state).where(table.account == account, table.pair > 0)
            states = [decode_state(text) for k, text in conn.execute(asked) if k in numbers]
            if states or (numbers and name != gold):
                done = [len(state.extracts) for state in states if state.done]
                open_ = [len(state.extracts) for state in states if not state.done]
                rows.append(_counted(name, len(numbers), done, sum(open_)))
    return Yield(tuple(rows))


def _counted(name: str, documents: int, done: Sequence[int], open: int) -> Harvest:
    without = done.count(0)
    return Harvest(name, documents, len(done), len(done) - without, without, sum(done), open)
