"""Move pairs that are not begun to another annotator or to nobody, and back.

A pair is begun when its annotator has any event on it but that it was opened. What stands in the
assignment about a pair (its arm, and whether suggestions are shown) goes with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace
from sqlalchemy import Connection, select

from alignkit._support.wording import how_many
from alignkit.annotate.assignment import read_plan, write_rows
from alignkit.annotate.project import queries, schema
from alignkit.annotate.project.names import ProjectError, check_annotator
from alignkit.annotate.project.project_events import Assigned
from alignkit.annotate.project.store import Store
from alignkit.annotate.project.training import training_pairs

_row = schema.assignment.c


class MovedPairs(NamedTuple):
    """The numbers of the pairs, and how many they are, with reasons if they are too few."""

    pairs: list[int]
    text: str


def move_pairs(
    store: Store,
    from_: str,
    to: str | None,
    count: int,
    *,
    pairs: Collection[int] | None = None,
    actor: str = "",
    dry_run: bool = False,
) -> MovedPairs:
    """Move up to `count` pairs that `from_` has not begun, the last in their order first.

    `pairs` are the only ones that may be moved. If `from_` is empty, they are given (back) to `to`,
    if they were taken from somebody and are still nobody's.
    """
    if from_ == (to or ""):
        raise ProjectError("name two different annotators")
    if dry_run:
        opened = store.database.reading()
    else:
        opened = store.database.writing()
    with opened as conn:
        if to is not None:
            check_annotator(to, queries.gold_name(conn), queries.sources(conn))
        move = _Move(conn, from_, to)
        rows = move.candidates()
        if pairs is not None:
            rows = [row for row in rows if row.k in pairs]
        chosen = move.chosen(rows, count)
        if chosen and not dry_run:
            plan = read_plan(conn)
            if plan is not None and to and not from_:  # who gets pairs back is planned for again
                annotators = dict.fromkeys((*plan.annotators, to))
                plan = replace(plan, annotators=tuple(annotators))
            gone = chosen[::-1] if from_ else []
            write_rows(conn, move.given(chosen), plan, gone, actor)
    return MovedPairs(sorted(row.k for row in chosen), move.text(len(chosen), count))


def take_back(store: Store, name: str, actor: str = "") -> list[int]:
    """Take all pairs that an annotator has not begun, and plan no more; return their numbers."""
    with store.database.writing() as conn:
        plan = read_plan(conn)
        own = _Move(conn, name, None).candidates()
        if plan is not None and (own or name in plan.annotators):
            others = tuple(other for other in plan.annotators if other != name)
            write_rows(conn, [], replace(plan, annotators=others), own[::-1], actor)
    return sorted(row.k for row in own)


def begun_pairs(conn: Connection) -> set[tuple[int, str]]:
    """Return the assigned pairs that are begun, each with its annotator."""
    event = schema.event_table.c
    stream = schema.stream.c
    account = schema.account.c
    work = select(event.n).where(event.stream == stream.id)
    work = work.where(stream.account == _row.account, stream.pair == _row.pair)
    work = work.where(event.kind.not_in(("open", "text")))  # texts are corrected by others
    asked = select(_row.pair, account.name).where(account.id == _row.account, work.exists())
    return {(k, name) for k, name in conn.execute(asked)}


class _Move:
    """The rows of the assignment, and why some cannot be moved."""

    def __init__(self, conn: Connection, from_: str, to: str | None) -> None:
        self._conn = conn
        self._from = from_
        self._to = to
        self._theirs = 0  # how many pairs cannot be moved: the other annotator has them already
        self._mixed = 0  # or they compare work with and without suggestions
        self._held: defaultdict[int, dict[str, Assigned]] = defaultdict(dict)
        self._free: defaultdict[int, list[Assigned]] = defaultdict(list)  # nobody's
        self._past: dict[tuple[int, str], Assigned] = {}
        for event in queries.assignments(conn):
            for k, name in event.gone:
                self._free[k].append(self._held[k].pop(name))
            for row in event.rows:
                self._held[row.k][row.annotator] = row
                self._past[row.k, row.annotator] = row
                if self._free[row.k]:
                    self._take_free(row)

    def _take_free(self, row: Assigned) -> None:
        """Take away a row that is nobody's: that of the same annotator, or the last."""
        free = self._free[row.k]
        same = (other for other in free if other.annotator == row.annotator)
        free.remove(next(same, free[-1]))

    def candidates(self) -> list[Assigned]:
        """Return the rows that could be moved, the last first."""
        if self._from:
            begun = begun_pairs(self._conn)
            held = [rows[self._from] for rows in self._held.values() if self._from in rows]
            candidates = [row for row in held if (row.k, self._from) not in begun]
        else:
            candidates = []
            trained = training_pairs(self._conn)
            for k, rows in self._free.items():
                if rows and k not in trained:  # of several, that of the same annotator
                    free = {row.annotator: row for row in rows}
                    *_, last = free.values()
                    candidates.append(free.get(self._to or "", last))
        return sorted(candidates, key=lambda row: -row.place)

    def chosen(self, rows: Iterable[Assigned], count: int) -> list[Assigned]:
        """Return up to `count` of the rows, without those that must stay."""
        chosen: list[Assigned] = []
        for row in rows:
            if len(chosen) == count:
                break
            if self._to in self._held[row.k]:
                self._theirs += 1
            elif self._to is None and self._is_compared(row):
                self._mixed += 1
            else:
                chosen.append(row)
        return chosen

    def _is_compared(self, row: Assigned) -> bool:
        """Return whether all others of a split pair (two or more) have the other arm."""
        rest = [other.shown for other in self._held[row.k].values() if other != row]
        return row.arm == "split" and len(rest) > 1 and row.shown not in rest

    def given(self, rows: Sequence[Assigned]) -> list[Assigned]:
        """Return the new rows, behind those of their annotator or at the place they had before."""
        if self._to is None:
            return []
        taken = {rows[self._to].place for rows in self._held.values() if self._to in rows}
        given = []
        for row in reversed(rows):
            before = self._past.get((row.k, self._to))
            place = max(taken, default=0) + 1
            if before is not None and before.place not in taken:
                place = before.place
            taken.add(place)
            given.append(row._replace(annotator=self._to, place=place))
        return given

    def text(self, moved: int, wanted: int) -> str:
        """Return how many were moved, and why not all."""
        if moved == wanted:
            return how_many(moved, "pair")
        reasons = []
        if self._theirs:
            verb = "is" if self._theirs == 1 else "are"
            reasons.append(f"{self._theirs} {verb} already {self._to}'s")
        if self._mixed:
            reasons.append(f"{self._mixed} compare work with and without suggestions")
        if moved + self._theirs + self._mixed < wanted:
            if self._from:
                reasons.append(f"{self._from} has no more that are not begun")
            else:
                reasons.append("the others are somebody's")
        return f"{moved} of {wanted}: {'; '.join(reasons)}"
