"""A figure of an audit, and the bootstrap interval of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from alignkit.scoring.bootstrap import confidence_interval

ALL = "all judges"
"""Who judged, of a figure over all judgments."""

EVERY = "every judge"
"""Who judged, of the share of items that all who judged it uphold."""

ONE = "there is one item, and nothing to resample"


@dataclass(frozen=True)
class Drawing:
    """How intervals are drawn."""

    confidence: float = 0.95  # between 0 and 1
    resamples: int = 1000  # of the bootstrap
    seed: int = 12345  # of its draws


@dataclass(frozen=True)
class Figure:
    """One figure, and all that tells it from others.

    Parameters
    ----------
    kind
        ``"share"`` of a judgment; ``"agreement"`` of two judges, ``"mean agreement"`` of all;
        ``"rate"`` as it was scored, ``"strict rate"`` and ``"lenient rate"`` as judgments correct
        it; ``"upheld"``, the share of items that are upheld, ``"difference"`` of the two shares.
    first, second
        The judge, or the two; `ALL`; `EVERY`; empty where it is of no judge.
    origin
        Of the items; empty for all.
    statistic
        The judgment, ``"observed"``, ``"kappa"``, the name of the rate, or ``"upheld"``.
    value
        NaN where undefined.
    low, high
        The bounds of its interval; NaN where it has none.
    interval
        ``"wilson"``, ``"newcombe"``, ``"bootstrap"`` over items, or empty.
    count, total
        The judgments behind a share: so many of so many.
    items
        How many items it rests on; of a rate as it was scored, how many phrase pairs.
    reason
        Why there is no value, or no interval.
    group
        The value of the attribute that figures are told by; empty for all items.
    """

    kind: str
    first: str
    second: str
    origin: str
    statistic: str
    value: float
    low: float = nan
    high: float = nan
    interval: str = ""
    count: int | None = None
    total: int | None = None
    items: int = 0
    reason: str = ""
    group: str = ""


Measure = Callable[[NDArray[np.float64]], Mapping[str, NDArray[np.float64]]]
"""What turns (R, C) sums of rows into named measures, (R,) each."""


def bounded(
    rows: NDArray[np.float64], measure: Measure, drawing: Drawing
) -> dict[str, tuple[float, float, str]]:
    """Return for each measure the bounds of a bootstrap over items, or why there are none."""
    names = list(measure(rows.sum(axis=0)[np.newaxis]))
    if len(rows) < 2:
        return dict.fromkeys(names, (nan, nan, ONE if len(rows) else ""))
    found = confidence_interval(
        rows,
        lambda sums: dict(measure(np.asarray(sums, np.float64))),
        resamples=drawing.resamples,
        confidence=drawing.confidence,
        seed=drawing.seed,
    )
    return {
        name: (nan, nan, one.reason) if one.reason else (one.low, one.high, "")
        for name, one in found.items()
    }
