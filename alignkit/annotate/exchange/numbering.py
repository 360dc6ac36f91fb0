"""Number what was made of a pair: rewrites, and pairs extracted from documents.

The numbers go by the time at which things were first made, by whomever: they are the same in each
export of a project, whose ever work it holds, and stay when others follow or are taken back, so
that a number never comes to mean another pair. So they may have gaps. An id that a pair of the
project has is left out, and pairs of one id share their numbers: no id is given twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from sqlalchemy import Connection, select

from alignkit.annotate.log.events import decode_data
from alignkit.annotate.log.new_pairs import key_number
from alignkit.annotate.tables import queries, schema
from alignkit.annotate.tables.last_changes import last_change
from alignkit.annotate.tables.queries import PairRow

LETTERS = {"rewrites": "r", "extracts": "x"}


def numbered(
    conn: Connection, pair: PairRow, kind: str, alone: int | None = None
) -> dict[tuple[int, str], tuple[int, str | None]]:
    """Return of all that was ever made of a pair its number, and when it was changed last."""
    begun: dict[tuple[int, int, str], int] = {}
    changed: dict[tuple[int, int, str], str | None] = {}
    for k in _of_one_id(conn, pair.id):
        for account, log in queries.pair_log(conn, k).items():
            for event, _ in log if alone in (None, account) else ():
                for key, _, after in getattr(decode_data(event.data), kind):
                    if after is not None:
                        begun.setdefault((k, account, key), event.n)
                        changed[k, account, key] = last_change([event])
    ordered = sorted(begun, key=lambda one: (begun[one], one[1], key_number(one[2])))
    numbers = zip(ordered, _free(conn, f"{pair.id}/{LETTERS[kind]}"), strict=False)
    return {one[1:]: (number, changed[one]) for one, number in numbers if one[0] == pair.k}


def _of_one_id(conn: Connection, id: str) -> list[int]:
    table = schema.pair.c
    return list(conn.execute(select(table.k).where(table.id == id, table.k > 0)).scalars())


def _free(conn: Connection, begin: str) -> Iterator[int]:
    return (number for number in count(1) if not _of_one_id(conn, f"{begin}{number}"))
