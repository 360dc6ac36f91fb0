"""Count how many suggested links are corrected in each pair, in the order of done.

To have the links that an annotator has in the end, some of the suggested are deleted, others
added: as many as differ. Suggested counts what is so from a probability of 50 % up, or without one.
Pairs count that were marked done on a page, by whom suggestions are shown.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select

from alignkit.annotate.dashboard.view import Corrections, CorrectionsPart
from alignkit.annotate.log.state import decode_state
from alignkit.annotate.tables import queries, schema

CUT = 0.5
"""The least probability of a suggested link that counts."""

_MOST = 300  # pairs that are drawn one by one, and points of the line
_PARTS, _LEAST = 12, 5  # rows of the table, and pairs of each
_SHARE = 20  # of all pairs are in the window of the mean, to either side

Floats = NDArray[np.float64]


class Corrected(NamedTuple):
    """How a pair was corrected."""

    k: int  # the pair, who has done it and when
    annotator: int
    at: str
    suggested: int  # how many links were suggested, are there now, and are only one of both
    drawn: int
    differ: int
    taught: int  # from how many done pairs the suggestions were learned; 0 for others


def gathered(conn: Connection) -> Corrections | None:
    """Return the corrections of a project; None where no pair with suggestions is done."""
    made = select(schema.learned_set.c.made).order_by(schema.learned_set.c.number)
    return _summed(corrections_of(conn), list(conn.execute(made).scalars()))


def corrections_of(conn: Connection) -> list[Corrected]:
    """Return how the done pairs of a project were corrected, in the order of done."""
    suggested = queries.suggested_cells(conn)
    sets = schema.learned_set.c
    taught = {row[0]: row[1] for row in conn.execute(select(sets.set, sets.pairs))}
    hidden, gold = _hidden(conn), queries.gold_name(conn)
    names = queries.annotators(conn)
    found = []
    for k, account, at, text in _done(conn):
        if k not in suggested or (k, account) in hidden or names[account - 1] == gold:
            continue
        name, cells = suggested[k]
        hints = {(i, j) for i, j, p, _ in cells if min(i, j) >= 0 and (p is None or p >= CUT)}
        links = {cell for cell in decode_state(text).cells if min(cell) >= 0}
        sizes = len(hints), len(links), len(hints ^ links)
        found.append(Corrected(k, account, at, *sizes, taught.get(name, 0)))
    return sorted(found, key=lambda one: one.at)


def _done(conn: Connection) -> Iterator[tuple[int, int, str, str]]:
    """Yield what was marked done on a page: pair, account, when, and the state."""
    event, stream, counts = schema.event.c, schema.stream.c, schema.pair_counts.c
    last = (
        select(event.stream, func.max(event.at).label("at"))
        .where(event.kind == "done", event.sent != "")
        .group_by(event.stream)
        .subquery()
    )
    own = (counts.account == stream.account) & (counts.pair == stream.pair)
    asked = select(stream.pair, stream.account, last.c.at, stream.state).where(
        last.c.stream == stream.id, own, counts.done.is_(True)
    )
    yield from (tuple(row) for row in conn.execute(asked))


def _hidden(conn: Connection) -> set[tuple[int, int]]:
    """Return who is not to see the suggestions for which pairs."""
    table = schema.assignment.c
    asked = select(table.pair, table.account).where(table.shown.is_(False))
    return {(k, account) for k, account in conn.execute(asked)}


def _summed(found: Sequence[Corrected], made: Sequence[str]) -> Corrections | None:
    if not found:
        return None
    times = [one.at for one in found]
    differ = np.array([one.differ for one in found], np.float64)
    line = smoothed(differ, max(2, len(found) // _SHARE))
    steps = np.unique(np.linspace(1, len(found), min(len(found), _MOST)).astype(np.int64))
    marks = sorted({bisect_right(times, at) for at in made})
    return Corrections(
        len(found),
        [one.differ for one in found] if len(found) <= _MOST else [],
        [(step, float(line[step - 1])) for step in steps.tolist()],
        marks[:: 1 + len(marks) // _MOST],
        list(_parts(found)),
    )


def smoothed(values: Floats, half: int) -> Floats:
    """Return the mean of each value, of as many before it and behind it; fewer at the ends.

    Examples
    --------
    >>> smoothed(np.array([1.0, 4.0, 4.0, 1.0]), 1).tolist()
    [2.5, 3.0, 3.0, 2.5]
    """
    sums = np.concatenate([[0.0], np.cumsum(values)])
    places = np.arange(len(values))
    first, end = np.maximum(places - half, 0), np.minimum(places + half + 1, len(values))
    return np.asarray((sums[end] - sums[first]) / (end - first))


def _parts(found: Sequence[Corrected]) -> Iterator[CorrectionsPart]:
    """Yield equal parts of the pairs, in order."""
    count = max(1, min(_PARTS, len(found) // _LEAST))
    bounds = [len(found) * k // count for k in range(count + 1)]
    for first, end in pairwise(bounds):
        some = found[first:end]
        differ, drawn = sum(one.differ for one in some), sum(one.drawn for one in some)
        total = drawn + sum(one.suggested for one in some)
        taught = [one.taught for one in some]
        yield CorrectionsPart(
            first + 1,
            end,
            some[-1].at,
            min(taught),
            max(taught),
            differ / len(some),
            drawn / len(some),
            (total - differ) / total if total else None,
        )
