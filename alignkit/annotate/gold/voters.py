"""Find whose votes count on a pair, and whether they are all in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from alignkit.annotate.tables import queries, schema
from alignkit.annotate.tables.pair_lists import has_assignments

_UNJUDGED = '"judgment":"","flags":[]'  # as states hold it


class Voter(NamedTuple):
    """Who votes on a pair, whether it is assigned to them, and whether they are done."""

    account: int
    name: str
    assigned: bool
    done: bool


def voters(conn: Connection, k: int | None = None) -> dict[int, list[Voter]]:
    """Return the voters of each pair, or of one, in the order of their entry.

    Those whom a pair is assigned to. Where nothing is assigned, all who have annotated it, here or
    in the corpus, but for the one whose links are the suggestions.
    """
    counts, account = schema.pair_counts, schema.account
    assigned = has_assignments(conn)
    if assigned:
        table = schema.assignment
        own = and_(counts.c.pair == table.c.pair, counts.c.account == table.c.account)
        joined = table.join(account, account.c.id == table.c.account).outerjoin(counts, own)
        pair = table.c.pair
        done: ColumnElement[bool] = func.coalesce(counts.c.done, False)
        asked = select(pair, account.c.id, account.c.name, done).select_from(joined)
    else:
        said: ColumnElement[bool] = counts.c.done | (
            counts.c.links + counts.c.nulls + counts.c.comments > 0
        )
        pair = counts.c.pair
        done = counts.c.done
        if queries.task_of(conn) == "judge":  # whoever only aligned it has no vote
            judged = ~schema.stream.c.state.contains(_UNJUDGED)
            own = and_(schema.stream.c.pair == pair, schema.stream.c.account == counts.c.account)
            said = select(schema.stream.c.id).where(own, judged).exists()
            came = select(schema.stream.c.id).where(own, schema.stream.c.seq == 1).exists()
            done = or_(done, came)  # with the corpus, where nothing is marked done
        others = [queries.gold_name(conn), queries.project_info(conn).suggestions or ""]
        asked = (
            select(pair, account.c.id, account.c.name, done)
            .select_from(counts.join(account, account.c.id == counts.c.account))
            .where(or_(said), account.c.name.not_in(others))
        )
    if k is not None:
        asked = asked.where(pair == k)
    by_pair: dict[int, list[Voter]] = {}
    for row in conn.execute(asked.order_by(pair, account.c.id)):
        by_pair.setdefault(row[0], []).append(Voter(row[1], row[2], assigned, bool(row[3])))
    return by_pair


def all_in(pair_voters: Sequence[Voter]) -> bool:
    """Return whether a pair can be adjudicated: all are done; two, where nothing is assigned."""
    least = 1 if pair_voters and pair_voters[0].assigned else 2
    return len(pair_voters) >= least and all(voter.done for voter in pair_voters)
