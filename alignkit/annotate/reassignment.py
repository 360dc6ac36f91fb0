"""Move pairs that are not begun: to another annotator, to nobody, or from nobody back to somebody.

A pair is begun when its annotator has any event on it but that it was opened. The assignment has a
row for each pair and annotator (`Assigned`). What stands in the row of a pair that is moved (its
arm, and whether suggestions are shown) stays the same.

The events of the project add rows and take rows away. A row that was taken away is *free* until
somebody is assigned the pair again. Say ben has pair 7, and it is taken away: ben's row is free.
It can be given back to ben, or to anna, who then has what stood in ben's row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace
from sqlalchemy import Connection, select

from alignkit._support.wording import how_many
from alignkit.annotate.assignment import read_plan, write_rows
from alignkit.annotate.project import queries, training
from alignkit.annotate.project.names import ProjectError, check_annotator
from alignkit.annotate.project.project_events import Assigned, AssignmentPlan
from alignkit.annotate.project.schema import ACCOUNT, ASSIGNMENT, EVENT, EVENT_IS_IN_STREAM, STREAM
from alignkit.annotate.project.store import Store


class MovedPairs(NamedTuple):
    """The numbers of the pairs, and how many they are, with reasons if they are too few."""

    pairs: list[int]
    text: str


def move_pairs(
    store: Store,
    giver: str | None,
    taker: str | None,
    count: int,
    *,
    pairs: Collection[int] | None = None,
    actor: str = "",
    dry_run: bool = False,
) -> MovedPairs:
    """Move up to `count` pairs that the giver has not begun, the last in their order first.

    Parameters
    ----------
    giver : Who has the pairs; None to give pairs back that are nobody's, because they were taken
        from somebody.
    taker : Who gets them; None for nobody.
    pairs : The only pairs that may be moved; None: any.
    """
    if giver == taker:
        raise ProjectError("name two different annotators")
    if dry_run:
        opened = store.reading()
    else:
        opened = store.writing()
    with opened as conn:
        if taker is not None:
            check_annotator(taker, queries.gold_name(conn), queries.sources(conn))
        history = _History(conn)
        if giver is not None:
            movable = _rows_not_begun(conn, history, giver)
        else:
            assert taker is not None  # the two differ
            movable = _free_rows(conn, history, taker)
        if pairs is not None:
            movable = [row for row in movable if row.k in pairs]
        chosen = _choose(history, movable, taker, count)
        # events take rows away and add rows in the same order, so that no event of a long move
        # adds a row before that of the giver is gone
        moved = chosen.rows[::-1]
        if moved and not dry_run:
            plan = read_plan(conn)
            if giver is None and taker is not None and plan is not None:
                plan = _planned_for(plan, taker)
            new = [] if taker is None else _rows_of_taker(history, moved, taker)
            gone = [] if giver is None else moved
            write_rows(conn, new, plan, gone, actor)
    return MovedPairs(sorted(row.k for row in moved), _in_words(chosen, count, giver, taker))


def _planned_for(plan: AssignmentPlan, annotator: str) -> AssignmentPlan:
    """Return a plan by which an annotator gets later pairs, too."""
    if annotator in plan.annotators:
        return plan
    return replace(plan, annotators=(*plan.annotators, annotator))


def take_back(store: Store, name: str, actor: str = "") -> list[int]:
    """Take all pairs that an annotator has not begun, and plan no more; return their numbers."""
    with store.writing() as conn:
        plan = read_plan(conn)
        rows = _rows_not_begun(conn, _History(conn), name)
        if plan is not None and (rows or name in plan.annotators):
            others = tuple(other for other in plan.annotators if other != name)
            write_rows(conn, [], replace(plan, annotators=others), rows[::-1], actor)
    return sorted(row.k for row in rows)


def begun_pairs(conn: Connection) -> set[tuple[int, str]]:
    """Return the assigned pairs that are begun, each with its annotator."""
    work = select(EVENT.n).where(EVENT_IS_IN_STREAM)
    work = work.where(STREAM.account == ASSIGNMENT.account, STREAM.pair == ASSIGNMENT.pair)
    work = work.where(EVENT.kind.not_in(("open", "text")))  # texts are corrected by others
    asked = select(ASSIGNMENT.pair, ACCOUNT.name).where(
        ACCOUNT.id == ASSIGNMENT.account, work.exists()
    )
    return {(k, name) for k, name in conn.execute(asked)}


class _History:
    """The rows of the assignment now and before, from its events in order."""

    def __init__(self, conn: Connection) -> None:
        self.held: defaultdict[int, dict[str, Assigned]] = defaultdict(dict)
        """The present rows: by pair and annotator."""
        self.free: defaultdict[int, list[Assigned]] = defaultdict(list)
        """The free rows of each pair, the one that was taken away last at the end."""
        self.places: dict[tuple[int, str], int] = {}
        """The last place that each pair had in the list of each annotator."""
        for event in queries.assignments(conn):
            for k, name in event.gone:
                row = self.held[k].pop(name)
                self.free[k].append(row)
            for row in event.rows:
                self.held[row.k][row.annotator] = row
                self.places[row.k, row.annotator] = row.place
                free = self.free[row.k]
                if free:  # with the pair given to somebody, it lacks one annotator less
                    free.remove(_own_or_last(free, row.annotator))


def _own_or_last(free: Sequence[Assigned], annotator: str) -> Assigned:
    """Return the free row that was an annotator's, else the one that was taken away last."""
    for row in free:
        if row.annotator == annotator:
            return row
    return free[-1]


def _rows_not_begun(conn: Connection, history: _History, annotator: str) -> list[Assigned]:
    """Return the rows of the pairs that an annotator has and has not begun, the last first."""
    begun = begun_pairs(conn)
    held = [rows[annotator] for rows in history.held.values() if annotator in rows]
    return _last_first(row for row in held if (row.k, annotator) not in begun)


def _free_rows(conn: Connection, history: _History, taker: str) -> list[Assigned]:
    """Return for each pair with free rows the one that a taker gets, the last first."""
    for_training = training.training_pairs(conn)
    rows = []
    for k, free in history.free.items():
        if free and k not in for_training:
            rows.append(_own_or_last(free, taker))
    return _last_first(rows)


def _last_first(rows: Iterable[Assigned]) -> list[Assigned]:
    return sorted(rows, key=lambda row: -row.place)


class _Chosen(NamedTuple):
    """The rows to move, the last in their order first, and how many pairs must stay."""

    rows: list[Assigned]
    already_held: int  # pairs that the taker has already
    compared: int  # pairs that compare work with and without suggestions


def _choose(
    history: _History, movable: Iterable[Assigned], taker: str | None, count: int
) -> _Chosen:
    """Choose the first `count` rows that need not stay."""
    rows: list[Assigned] = []
    already_held = 0
    compared = 0
    for row in movable:
        if len(rows) == count:
            break
        holders = history.held[row.k]
        if taker is not None and taker in holders:
            already_held += 1
        elif taker is None and _ends_comparison(row, holders.values()):
            compared += 1
        else:
            rows.append(row)
    return _Chosen(rows, already_held, compared)


def _ends_comparison(row: Assigned, rows_of_pair: Iterable[Assigned]) -> bool:
    """Return whether nothing is compared any more on a split pair without one of its rows.

    Of a split pair, some annotators see suggestions and some do not. It stays as it is if two or
    more others would be left who all see them, or all do not.
    """
    if row.arm != "split":
        return False
    shown_to_others = [other.shown for other in rows_of_pair if other != row]
    return len(shown_to_others) > 1 and row.shown not in shown_to_others


def _rows_of_taker(history: _History, rows: Iterable[Assigned], taker: str) -> list[Assigned]:
    """Return the new rows of a taker, given the rows of before in order.

    A pair returns to the place that it had in the taker's list before, if that is not taken. All
    others come at the end.
    """
    taken = {held[taker].place for held in history.held.values() if taker in held}
    new = []
    for row in rows:
        place = history.places.get((row.k, taker))
        if place is None or place in taken:
            place = max(taken, default=0) + 1
        taken.add(place)
        new.append(row._replace(annotator=taker, place=place))
    return new


def _in_words(chosen: _Chosen, wanted: int, giver: str | None, taker: str | None) -> str:
    """Return how many pairs were moved, and why not all that were wanted."""
    moved = len(chosen.rows)
    if moved == wanted:
        return how_many(moved, "pair")
    reasons = []
    if chosen.already_held:
        verb = "is" if chosen.already_held == 1 else "are"
        reasons.append(f"{chosen.already_held} {verb} already {taker}'s")
    if chosen.compared:
        reasons.append(f"{chosen.compared} compare work with and without suggestions")
    if moved + chosen.already_held + chosen.compared < wanted:
        if giver is not None:
            reasons.append(f"{giver} has no more that are not begun")
        else:
            reasons.append("the others are somebody's")
    return f"{moved} of {wanted}: {'; '.join(reasons)}"
