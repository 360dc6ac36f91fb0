"""Tell how long pairs take, from the times of an annotator's events."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import nan
from statistics import fmean, median

import numpy as np

from alignkit.annotate.errors import ProjectError
from alignkit.jsonable import jsonable

GAP = 60.0
"""From how many seconds on the time between two events is a break, and does not count."""

PAUSE = 1800.0
"""From how many seconds on a break ends a session."""


@dataclass(frozen=True)
class Pace:
    """Hold how long the pairs of one annotator took."""

    seconds: float  # all time spent
    by_pair: Mapping[int, float]
    finished: int  # how many of these are done
    sessions: int  # how often the annotator came; a break of PAUSE lies between
    pairs_a_session: float  # finished / sessions; NaN without sessions
    median: float  # the seconds that a pair took that is done; NaN where none is
    mean: float

    def remaining(self, pairs: int) -> float:
        """Return how many seconds so many open pairs will take; NaN where no pair is done.

        It is their number times the mean: times a pair lean to the long side, so that as many times
        the median would be too short.
        """
        return pairs * self.mean

    def to_dict(self) -> dict[str, object]:
        """Return everything but the single pairs as JSON takes it; NaN is None."""
        return {name: jsonable(value) for name, value in vars(self).items() if name != "by_pair"}


def pace_of(events: Iterable[tuple[int, str]], done: Collection[int], *, gap: float = GAP) -> Pace:
    """Return how long pairs took.

    Notes
    -----
    The time between two events that follow each other, whatever their pairs, counts if it is
    shorter than `gap`, for the pair of the later one: it led to that event. So to read a pair
    counts once something is done there, and what is longer than that does not: times are rather too
    short. Pairs that are open would make them shorter still, and are in no mean.

    Examples
    --------
    >>> pace = pace_of([(1, "2026-11-22T13:00:00Z"), (1, "2026-11-22T13:00:20Z"),
    ...                 (2, "2026-11-22T13:00:30Z"), (2, "2026-11-22T13:05:00Z")], done={1, 2})
    >>> pace.seconds, pace.by_pair, pace.remaining(10)
    (30.0, {1: 20.0, 2: 10.0}, 150.0)
    """
    rows = sorted((_seconds(at), place, k) for place, (k, at) in enumerate(events))
    times = np.array([time for time, *_ in rows])
    numbers, place = np.unique(np.array([k for *_, k in rows], np.int64), return_inverse=True)
    steps = np.diff(times, prepend=times[:1])
    counted = np.where(steps < gap, steps, 0.0)
    spent = np.bincount(place.reshape(-1), counted, len(numbers))
    by_pair = dict(zip(numbers.tolist(), spent.tolist(), strict=True))
    took = [seconds for k, seconds in by_pair.items() if k in done]
    sessions = int((steps >= PAUSE).sum()) + 1 if rows else 0
    return Pace(
        float(counted.sum()),
        by_pair,
        len(took),
        sessions,
        len(took) / sessions if sessions else nan,
        median(took) if took else nan,
        fmean(took) if took else nan,
    )


def _seconds(at: str) -> float:
    try:
        return datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError):
        raise ProjectError(f"an event of the log has the time {at[:40]!r}, which is none") from None
