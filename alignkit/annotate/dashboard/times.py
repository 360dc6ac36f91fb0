"""How far each annotator is, how long pairs take, and how long the open ones will take."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import isnan, nan
from operator import itemgetter
from statistics import fmean, median

from sqlalchemy import Connection, select

from alignkit.annotate.dashboard.view import AnnotatorLine
from alignkit.annotate.dashboard.work import assigned_pairs, compared, done_pairs
from alignkit.annotate.project import names, queries
from alignkit.annotate.project.events import GAP
from alignkit.annotate.project.schema import EVENT, EVENT_IS_IN_STREAM, STREAM


@dataclass(frozen=True)
class Pace:
    """How long the pairs of one annotator took, in seconds."""

    by_pair: Mapping[int, float]
    median: float  # of the pairs that are done; NaN if there are none
    mean: float


def pace_of(events: Iterable[tuple[int, str]], done: Collection[int]) -> Pace:
    """Return how long done pairs took: times between events below `GAP`, by the later one."""
    times = [(_seconds(at), k) for k, at in events]
    times.sort(key=itemgetter(0))  # events of the same time keep their order
    by_pair: defaultdict[int, float] = defaultdict(float)
    before = nan
    for seconds, k in times:
        step = seconds - before
        by_pair[k] += step if step < GAP else 0.0
        before = seconds
    took = [seconds for k, seconds in by_pair.items() if k in done] or [nan]
    return Pace(by_pair, median(took), fmean(took))


def _seconds(at: str) -> float:
    """Return the time of an event in seconds."""
    try:
        return datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError):
        raise names.ProjectError(
            f"an event of the log has the time {at[:40]!r}, not a time"
        ) from None


def _events(conn: Connection, account: int) -> Iterator[tuple[int, str]]:
    """Return the pair and the time of each event that an annotator sent."""
    asked = select(STREAM.pair, EVENT.at).where(EVENT_IS_IN_STREAM)
    sent = asked.where(STREAM.account == account, EVENT.sent != "")
    return ((row[0], row[1]) for row in conn.execute(sent))


def annotator_lines(conn: Connection) -> Iterator[AnnotatorLine]:
    """Yield the progress of each annotator who has done something, or has work."""
    all_done = done_pairs(conn)
    assigned = assigned_pairs(conn)
    count = queries.count_pairs(conn)
    for name, account in compared(conn).annotators.items():
        done = all_done.get(account, set())
        pace = pace_of(_events(conn, account), done)
        pairs = count
        if assigned is not None:
            own = assigned.get(account, set())
            if not done and not own:
                continue
            done = done & own
            pairs = len(own)
        line = AnnotatorLine(name, len(done), pairs)
        if isnan(pace.mean):
            line.reason = "no pair is done on the page yet"
        else:
            line.seconds = pace.median
            line.left = pace.mean * (pairs - len(done))
        yield line
