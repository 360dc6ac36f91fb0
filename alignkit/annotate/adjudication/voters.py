"""The voters on a pair: to whom it is assigned, or who annotated it; and whether all are done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from alignkit.annotate.project import queries, schema
from alignkit.annotate.project.events import decode_data
from alignkit.annotate.project.schema import (
    ACCOUNT,
    ASSIGNMENT,
    COUNTS,
    EVENT,
    EVENT_IS_IN_STREAM,
    STREAM,
)

_UNJUDGED = '"judgment":"","flags":[]'  # as states hold it


class Voter(NamedTuple):
    """A voter on a pair: whether it is assigned to them, and whether they are done."""

    account: int
    name: str
    assigned: bool
    done: bool


def voters(conn: Connection, k: int | None = None) -> dict[int, list[Voter]]:
    """Return the voters of each pair, or of one: to whom it is assigned, or who annotated it."""
    assigned = queries.has_assignments(conn)
    done: ColumnElement[bool] = COUNTS.done
    if assigned:
        pair = ASSIGNMENT.pair
        done = func.coalesce(done, False)
        same = and_(COUNTS.pair == pair, COUNTS.account == ASSIGNMENT.account)
        joined = schema.assignment.join(schema.account, ACCOUNT.id == ASSIGNMENT.account)
        joined = joined.outerjoin(schema.pair_counts, same)
        asked = select(pair, ACCOUNT.id, ACCOUNT.name, done).select_from(joined)
    else:
        pair = COUNTS.pair
        marks = COUNTS.links + COUNTS.nulls + COUNTS.comments
        said: ColumnElement[bool] = done | (marks > 0)
        if queries.task_of(conn) == "judge":  # who only aligned it has no vote
            own = select(STREAM.id).where(STREAM.pair == pair, STREAM.account == COUNTS.account)
            said = own.where(~STREAM.state.contains(_UNJUDGED)).exists()
            done = or_(done, own.where(STREAM.seq == 1).exists())  # it came with the corpus
        asked = select(pair, ACCOUNT.id, ACCOUNT.name, done).where(ACCOUNT.id == COUNTS.account)
        asked = asked.where(said, ACCOUNT.name.not_in(queries.not_annotating(conn)))
    if k is not None:
        asked = asked.where(pair == k)
    by_pair: dict[int, list[Voter]] = {}
    for number, id, name, is_done in conn.execute(asked.order_by(pair, ACCOUNT.id)):
        voter = Voter(id, name, assigned, bool(is_done))
        by_pair.setdefault(number, []).append(voter)
    return by_pair


def all_in(pair_voters: Sequence[Voter]) -> bool:
    """Return whether a pair can be adjudicated: all are done, at least two if none are assigned."""
    least = 1 if pair_voters and pair_voters[0].assigned else 2
    return len(pair_voters) >= least and all(voter.done for voter in pair_voters)


def were_all_in(conn: Connection, k: int, pair_voters: Sequence[Voter]) -> bool:
    """Return whether all voters on a pair were done at once, with the words that it has now."""
    asked = select(STREAM.account, EVENT.kind, EVENT.sent, EVENT.data)
    asked = asked.where(EVENT_IS_IN_STREAM, STREAM.pair == k)
    voting = {voter.account for voter in pair_voters}
    done = set[int]()  # the accounts that are done after the events so far
    were = False
    for account, kind, sent, text in conn.execute(asked.order_by(EVENT.n)):
        data = decode_data(text)
        turn = data if kind == "done" else data.done
        if turn is None:
            continue
        if turn.after:
            done.add(account)
        elif sent:
            done.discard(account)
        else:  # the words of the pair were corrected: everybody looks again
            done.clear()
            were = False
        were = were or voting <= done
    return were
