"""Find the pairs that annotators will open next."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain, islice

from sqlalchemy import Connection, select

from alignkit.annotate.tables import queries, schema


def pairs_ahead(
    conn: Connection, last: Mapping[int, int], closed: Collection[int], most: int
) -> list[int]:
    """Return the numbers of pairs that annotators will open next, if they go on as they do."""
    lists = _lists(conn, last)
    ahead: dict[int, None] = {}
    for account, pairs in lists.items():
        at = last.get(account, 0)
        start = pairs.index(at) + 1 if at in pairs else 0
        order = chain(islice(pairs, start, None), islice(pairs, start))
        ahead |= dict.fromkeys(islice((k for k in order if k not in closed), most))
    return sorted(ahead)


def _lists(conn: Connection, last: Mapping[int, int]) -> dict[int, list[int] | range]:
    table = schema.assignment.c
    assigned: dict[int, list[int] | range] = {}
    asked = select(table.account, table.pair).order_by(table.account, table.place)
    for account, k in conn.execute(asked):
        own = assigned.setdefault(account, [])
        assert isinstance(own, list)
        own.append(k)
    return assigned or dict.fromkeys(last, range(1, queries.count_pairs(conn) + 1))
