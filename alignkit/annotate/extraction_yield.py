"""Count the pairs that annotators took from documents, for a project with the task to extract."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import nan
from typing import Any

from sqlalchemy import Connection

from alignkit.annotate.project import events as log
from alignkit.annotate.project import pair_lists, queries
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.project.schema import STREAM
from alignkit.annotate.project.state import PairState
from alignkit.annotate.project.store import Store
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.result import TableResult
from alignkit.tables.table import Table


@dataclass(frozen=True)
class Harvest:
    """The counts of the pairs that one annotator took."""

    annotator: str
    documents: int  # pairs of documents in the annotator's list
    done: int  # of these, those that are marked as done
    with_pairs: int  # done documents from which a pair was taken
    without: int  # done documents without a pair
    pairs: int  # pairs taken from done documents
    open: int  # pairs taken from the other documents so far
    characters: int  # of the texts of done documents
    covered: int  # of these, those that are in a pair
    taken: int  # characters of the texts of all pairs of done documents

    @property
    def ratios(self) -> dict[str, float | None]:
        """The ratios of done documents; None if undefined."""
        terms = {
            "pairs_per_document": (self.pairs, self.done),
            "pairs_per_nonempty": (self.pairs, self.with_pairs),
            "empty": (self.without, self.done),
            "coverage": (self.covered, self.characters),
            "length": (self.taken, 2 * self.pairs),
        }
        return {name: part / whole if whole else None for name, (part, whole) in terms.items()}


_RATIOS = {
    "pairs_per_document": "number",
    "pairs_per_nonempty": "number",
    "empty": "percent",
    "coverage": "percent",
    "length": "number",
}


@dataclass(frozen=True)
class Yield(TableResult):
    """The pairs that all annotators of a project took from its documents."""

    rows: tuple[Harvest, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        rows = [{**asdict(row), **row.ratios} for row in self.rows]
        return {"annotators": rows}

    def table(self) -> Table:
        """Return the table that is printed."""
        names = ("documents", "done", "with pairs", "without", "pairs", "pairs of open ones")
        columns = [Column("annotator", "text"), *(Column(name, "count") for name in names)]
        ratios = [Column(name.replace("_", " "), kind) for name, kind in _RATIOS.items()]
        rows: list[list[Cell]] = []
        for row in self.rows:
            reason = "no pair is taken" if row.done else "no document is done yet"
            undefined = Value(nan, reason=reason)
            shown = [undefined if ratio is None else ratio for ratio in row.ratios.values()]
            counts = [row.documents, row.done, row.with_pairs, row.without, row.pairs, row.open]
            rows.append([row.annotator, *counts, *shown])
        note = "coverage, length: characters of done documents in pairs, and of an extracted text"
        return Table("pairs taken from documents", [*columns, *ratios], rows, note)


def count_yield(store: Store) -> Yield:
    """Count the pairs taken from the documents of a project."""
    with store.reading() as conn:
        task = queries.task_of(conn)
        if task != "extract":
            raise ProjectError(
                f"{store.path}: is a project to {task}; only projects made by `alignkit annotate "
                "--task extract` have pairs to count"
            )
        rows: list[Harvest] = []
        gold = queries.gold_name(conn)
        for account, name in enumerate(queries.annotators(conn), 1):
            numbers = pair_lists.PairList(conn, account).numbers()
            stored = queries.states(conn, STREAM.account == account, STREAM.pair > 0)
            states = [(k, state) for k, _, state in stored if k in numbers]
            if states or (numbers and name != gold):
                rows.append(_harvest(conn, name, len(numbers), states))
    return Yield(tuple(rows))


def _harvest(
    conn: Connection, name: str, documents: int, states: Iterable[tuple[int, PairState]]
) -> Harvest:
    """Count what an annotator took from documents, given the state of each that was opened."""
    done: dict[int, list[log.Spans]] = {}
    pairs_of_open = 0
    for k, state in states:
        if state.done:
            done[k] = list(state.extracts.values())
        else:
            pairs_of_open += len(state.extracts)
    without = sum(not spans for spans in done.values())
    characters, covered, taken = _characters(conn, done)
    return Harvest(
        annotator=name,
        documents=documents,
        done=len(done),
        with_pairs=len(done) - without,
        without=without,
        pairs=sum(map(len, done.values())),
        open=pairs_of_open,
        characters=characters,
        covered=covered,
        taken=taken,
    )


def _characters(conn: Connection, done: dict[int, list[log.Spans]]) -> tuple[int, int, int]:
    """Count the characters of documents, those in a pair, and those of the texts of all pairs."""
    characters = covered = taken = 0
    for k, spans in done.items():
        pair = queries.pair_row(conn, k)
        characters += sum(map(len, pair.texts))
        sources = [range(begin, end) for begin, end, _, _ in spans]
        targets = [range(begin, end) for _, _, begin, end in spans]
        for places in (sources, targets):
            taken += sum(map(len, places))
            covered += len(set().union(*places))
    return characters, covered, taken
