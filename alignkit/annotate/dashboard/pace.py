"""How long pairs take, from the times of an annotator's events."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import nan
from statistics import fmean, median

import numpy as np

from alignkit.annotate.errors import ProjectError

GAP = 60.0
"""From how many seconds on the time between two events is a break, and does not count."""


@dataclass(frozen=True)
class Pace:
    """How long the pairs of one annotator took, in seconds."""

    seconds: float  # all time spent
    by_pair: Mapping[int, float]
    median: float  # of the pairs that are done; NaN where none is
    mean: float


def pace_of(events: Iterable[tuple[int, str]], done: Collection[int]) -> Pace:
    """Return how long pairs took, from the pair and time of each event.

    The time between two consecutive events, whatever their pairs, counts for the pair of the later
    one if it is shorter than `GAP`. So reading a pair counts once something is done there, and
    times are rather too short. Open pairs would make them shorter still, and are in no mean.

    Examples
    --------
    >>> pace = pace_of([(1, "2026-11-22T13:00:00Z"), (1, "2026-11-22T13:00:20Z"),
    ...                 (2, "2026-11-22T13:00:30Z"), (2, "2026-11-22T13:05:00Z")], done={1, 2})
    >>> pace.seconds, pace.by_pair, pace.mean
    (30.0, {1: 20.0, 2: 10.0}, 15.0)
    """
    rows = sorted((_seconds(at), place, k) for place, (k, at) in enumerate(events))
    times = np.array([time for time, *_ in rows])
    numbers, place = np.unique(np.array([k for *_, k in rows], np.int64), return_inverse=True)
    steps = np.diff(times, prepend=times[:1])
    counted = np.where(steps < GAP, steps, 0.0)
    spent = np.bincount(place.reshape(-1), counted, len(numbers))
    by_pair = dict(zip(numbers.tolist(), spent.tolist(), strict=True))
    took = [seconds for k, seconds in by_pair.items() if k in done]
    return Pace(
        float(counted.sum()), by_pair, median(took) if took else nan, fmean(took) if took else nan
    )


def _seconds(at: str) -> float:
    try:
        return datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError):
        raise ProjectError(f"an event of the log has the time {at[:40]!r}, which is none") from None
