"""What lists of projects show of each one: how far the work is, for all and for one annotator."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from sqlalchemy import Connection, Integer, and_, bindparam, cast, func, select, union

from alignkit.annotate import training_answers
from alignkit.annotate.project import pair_lists, queries, schema, training
from alignkit.annotate.project.events import GAP
from alignkit.annotate.project.schema import (
    ACCOUNT,
    ASSIGNMENT,
    COUNTS,
    COUNTS_ARE_OF_STREAM,
    EVENT,
    EVENT_IS_IN_STREAM,
    IS_DONE,
    STREAM,
    STREAM_IS_OF_ACCOUNT,
)

_LEAST = 5  # pairs that a pace is computed from, at least
_MOST_EVENTS = 500  # the most events that it is computed from
_MOST_REOPENED = 20  # pairs in a list


_COUNTS_OF_ASSIGNED = and_(COUNTS.account == ASSIGNMENT.account, COUNTS.pair == ASSIGNMENT.pair)
_NUMBER_DONE = func.coalesce(func.sum(cast(COUNTS.done, Integer)), 0)


class ListCounts(NamedTuple):
    """What lists show of a project after its event n."""

    n: int
    pairs: int
    done: int  # pairs that all their annotators have finished, or whose gold is finished
    decided: int | None  # pairs whose gold is finished; None if it was not looked at
    ready: int | None  # pairs to adjudicate; None if it was not looked at
    assigned: bool
    own: dict[str, tuple[int, int]]  # by annotator: done pairs, and all
    last: float | None  # the time of the event n


def read_list_counts(conn: Connection, annotators: Collection[str], n: int) -> ListCounts:
    """Read the counts of a project at its last event `n`, without the pairs to adjudicate.

    `annotators` are the people whose own counts are wanted.
    """
    gold = queries.gold_account(conn)
    decided = 0
    if gold is not None:
        decided = pair_lists.PairList(conn, gold, everything=True).count_done()
    assigned = conn.execute(_SELECT_ASSIGNED).all()
    own = {name: (int(done), pairs) for name, pairs, done in assigned if name in annotators}
    at = conn.execute(select(EVENT.at).where(EVENT.n == n)).scalar()
    return ListCounts(
        n=n,
        pairs=queries.count_pairs(conn) - _only_for_training(conn, gold),
        done=int(conn.execute(_COUNT_FINISHED, {"gold": gold}).scalar_one()),
        decided=decided,
        ready=None,
        assigned=bool(assigned),
        own=own,
        last=datetime.fromisoformat(at).timestamp() if at else None,
    )


def _only_for_training(conn: Connection, gold: int | None) -> int:
    """Return how many pairs wait for nobody: they are for training, and not finished."""
    trained = training.training_pairs(conn)
    if not trained:
        return 0
    finished = conn.execute(_SELECT_FINISHED, {"gold": gold}).scalars()
    return len(trained.difference(finished))


# a row for each annotator with assigned pairs: the name, and how many pairs are assigned and done
_SELECT_ASSIGNED = (
    select(ACCOUNT.name, func.count(), _NUMBER_DONE)
    .select_from(
        schema.assignment.join(schema.account).outerjoin(schema.pair_counts, _COUNTS_OF_ASSIGNED)
    )
    .group_by(ACCOUNT.name)
)

_FINISHED_BY_ALL = (
    select(ASSIGNMENT.pair)
    .select_from(schema.assignment.outerjoin(schema.pair_counts, _COUNTS_OF_ASSIGNED))
    .group_by(ASSIGNMENT.pair)
    .having(func.count() == _NUMBER_DONE)
)
_FINISHED_GOLD = select(COUNTS.pair).where(COUNTS.account == bindparam("gold"), IS_DONE)
# the pairs that need no annotator any more, before, during and after adjudication: all to whom they
# are assigned are done with them, or they have gold
_SELECT_FINISHED = union(_FINISHED_BY_ALL, _FINISHED_GOLD)
_COUNT_FINISHED = select(func.count()).select_from(_SELECT_FINISHED.subquery())


class OwnWork(NamedTuple):
    """What the first page shows of somebody's work in a project."""

    reopened: list[tuple[int, str]]  # pairs that were opened again: number, reason
    left: float | None  # minutes, by one's pace; None where unknown
    hidden: int  # pairs without suggestions
    trains: bool = False  # whether the training round comes first


NO_WORK = OwnWork([], None, 0)


def read_own_work(conn: Connection, name: str, own: tuple[int, int] | None) -> OwnWork:
    """Read the work of an annotator, given their done pairs and all; None if they have none."""
    trains = training_answers.summary(conn, name) is not None
    if own is None:
        return NO_WORK._replace(trains=trains)
    done, pairs = own
    minutes = _minutes_a_pair(conn, name)
    reopened = conn.execute(_SELECT_REOPENED, {"name": name}).all()
    return OwnWork(
        reopened=[(k, _reopened_reason(was_reworded)) for k, was_reworded in reopened],
        left=None if minutes is None else minutes * (pairs - done),
        hidden=int(conn.execute(_COUNT_HIDDEN, {"name": name}).scalar_one()),
        trains=trains,
    )


def _minutes_a_pair(conn: Connection, name: str) -> float | None:
    """Return the pace of an annotator by the last events; None if they are of too few pairs."""
    last_sent = conn.execute(_SELECT_LAST_SENT, {"name": name}).all()
    pairs = len({k for _, k in last_sent})
    if pairs < _LEAST:
        return None
    times = [datetime.fromisoformat(at).timestamp() for at, _ in reversed(last_sent)]
    steps = [after - before for before, after in pairwise(times)]
    seconds = sum(step for step in steps if step < GAP)  # without the breaks
    return seconds / 60 / pairs


def _reopened_reason(was_reworded: int) -> str:
    """Return why a pair is open again; its new words are the reason if there are several."""
    if was_reworded:
        return "its words were corrected"
    return "it is to be aligned now"


_EVENTS = schema.event_table.join(schema.stream, EVENT_IS_IN_STREAM).join(
    schema.account, STREAM_IS_OF_ACCOUNT
)
# the time and the pair of each of an annotator's last events that a page sent, the last first
_SELECT_LAST_SENT = (
    select(EVENT.at, STREAM.pair)
    .select_from(_EVENTS)
    .where(ACCOUNT.name == bindparam("name"), EVENT.sent != "")
    .order_by(EVENT.n.desc())
    .limit(_MOST_EVENTS)
)

_WAS_REWORDED = func.max(cast(EVENT.kind == "text", Integer))
# a row for each pair of an annotator that others have opened again: its number, and whether its
# words were corrected (1 or 0)
_SELECT_REOPENED = (
    select(STREAM.pair, _WAS_REWORDED)
    .select_from(_EVENTS.join(schema.pair_counts, COUNTS_ARE_OF_STREAM))
    .where(ACCOUNT.name == bindparam("name"), EVENT.actor != bindparam("name"))
    .where(EVENT.kind.in_(("text", "done")), COUNTS.done.is_(False))
    .group_by(STREAM.pair)
    .limit(_MOST_REOPENED)
)

# how many of an annotator's pairs are without suggestions
_COUNT_HIDDEN = (
    select(func.count())
    .select_from(schema.assignment.join(schema.account))
    .where(ACCOUNT.name == bindparam("name"), ASSIGNMENT.shown.is_(False))
)
