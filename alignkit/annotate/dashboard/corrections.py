"""How many links annotators correct in the suggestions, pair by pair in the order of done."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection, func, select

from alignkit._support.array_types import F8
from alignkit.annotate.dashboard import view
from alignkit.annotate.project import queries
from alignkit.annotate.project.schema import (
    COUNTS_ARE_OF_STREAM,
    EVENT,
    EVENT_IS_IN_STREAM,
    IS_DONE,
    LEARNED_SET,
    STREAM,
)
from alignkit.annotate.project.state import decode_state
from alignkit.annotate.project.suggestions import read_starts, suggested_cells

_MOST = 300  # corrected pairs that are drawn one by one, and points of their line
_ROWS = 12  # rows of the table of corrections, at most
_LEAST = 5  # pairs in each of them, at least
_SHARE = 20  # the window of the mean is one in so many pairs, to either side
CUT = 0.5  # the least probability of a suggested link that counts


class Corrected(NamedTuple):
    """The corrections of one pair."""

    k: int  # the pair
    annotator: int  # the account of who has done it
    at: str  # when it was done
    suggested: int  # links that were suggested
    drawn: int  # links that are there now
    differ: int  # links that are only suggested or only there
    taught: int  # from how many done pairs the suggestions were learned; 0 if they were not


def gathered(conn: Connection) -> view.Corrections | None:
    """Return the corrections of a project; None if no pair with suggestions is done."""
    asked = select(LEARNED_SET.made).order_by(LEARNED_SET.number)
    made = list(conn.execute(asked).scalars())
    return summed(corrections_of(conn), made)


def corrections_of(conn: Connection) -> list[Corrected]:
    """Return the corrections of the done pairs of a project, in the order of done."""
    suggested = suggested_cells(conn)
    sets = conn.execute(select(LEARNED_SET.set, LEARNED_SET.pairs))
    taught = {row.set: row.pairs for row in sets}
    hidden = {place for place, start in read_starts(conn).items() if not start}
    gold = queries.gold_name(conn)
    names = queries.annotators(conn)
    corrected = []
    # what was marked done on a page: pair, account, time, and state
    done = select(STREAM.pair, STREAM.account, func.max(EVENT.at), STREAM.state)
    done = done.where(EVENT_IS_IN_STREAM, EVENT.kind == "done", EVENT.sent != "")
    done = done.where(COUNTS_ARE_OF_STREAM, IS_DONE)
    done = done.group_by(STREAM.id).order_by(STREAM.id)
    for k, account, at, text in conn.execute(done):
        if k not in suggested or (k, account) in hidden or names[account - 1] == gold:
            continue
        set_name, cells = suggested[k]
        likely = [(i, j) for i, j, p, _ in cells if p is None or p >= CUT]
        hints = {cell for cell in likely if min(cell) >= 0}  # without nulls, which have a -1
        links = {cell for cell in decode_state(text).cells if min(cell) >= 0}
        corrected.append(
            Corrected(
                k=k,
                annotator=account,
                at=at,
                suggested=len(hints),
                drawn=len(links),
                differ=len(hints ^ links),
                taught=taught.get(set_name, 0),
            )
        )
    return sorted(corrected, key=lambda pair: pair.at)


def summed(pairs: Sequence[Corrected], made: Sequence[str]) -> view.Corrections | None:
    """Return the corrections of pairs, in the order of done; `made`: when sets were learned."""
    if not pairs:
        return None
    times = [pair.at for pair in pairs]
    differ = np.array([pair.differ for pair in pairs], np.float64)
    line = smoothed(differ, max(2, len(pairs) // _SHARE))
    points = np.linspace(1, len(pairs), min(len(pairs), _MOST))
    steps = np.unique(points.astype(np.int64))
    # after how many of the pairs each set of suggestions came
    marks = sorted({bisect_right(times, at) for at in made})
    each = []
    if len(pairs) <= _MOST:
        each = [pair.differ for pair in pairs]
    count = max(1, min(_ROWS, len(pairs) // _LEAST))
    bounds = [len(pairs) * k // count for k in range(count + 1)]
    drawn = [(step, float(line[step - 1])) for step in steps.tolist()]
    sets = marks[:: 1 + len(marks) // _MOST]
    parts = [_part(begin, pairs[begin:end]) for begin, end in pairwise(bounds)]
    return view.Corrections(len(pairs), each, drawn, sets, parts)


def smoothed(values: F8, half: int) -> F8:
    """Return a moving mean: of each value and `half` values on both sides, fewer at the ends."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    places = np.arange(len(values))
    first = np.maximum(places - half, 0)
    end = np.minimum(places + half + 1, len(values))
    return np.asarray((sums[end] - sums[first]) / (end - first))


def _part(begin: int, some: Sequence[Corrected]) -> view.CorrectionsPart:
    """Return the row of the table for some pairs, after the first `begin`."""
    differ = sum(pair.differ for pair in some)
    drawn = sum(pair.drawn for pair in some)
    total = drawn + sum(pair.suggested for pair in some)
    taught = [pair.taught for pair in some]
    return view.CorrectionsPart(
        first=begin + 1,
        last=begin + len(some),
        until=some[-1].at,
        taught_from=min(taught),
        taught_to=max(taught),
        differ=differ / len(some),
        drawn=drawn / len(some),
        f1=(total - differ) / total if total else None,
    )
