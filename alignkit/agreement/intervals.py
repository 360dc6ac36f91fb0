"""Resample sentence pairs: confidence intervals of all statistics at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Union

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.statistic import Floats, Rows, Statistic
from alignkit.scoring.bootstrap import ONE_PAIR, Interval, check_drawing, chunks, interval_of

NO_PAIRS = "there is no sentence pair"

Intervals = dict[str, Union[Interval, str]]
"""By ``level.measure`` the interval, or the reason why there is none."""


def bootstrap(
    statistics: Sequence[Statistic],
    rows: Sequence[Rows],
    *,
    resamples: int,
    confidence: float,
    seed: int,
    sections: Sequence[NDArray[np.bool_]],
) -> list[Intervals]:
    """Return the percentile bootstrap intervals of statistics over the same P sentence pairs."""
    check_drawing(resamples, confidence)
    seeds = np.random.SeedSequence(seed).spawn(len(sections))
    intervals: list[Intervals] = []
    for mask, stream in zip(sections, seeds, strict=True):
        count = int(mask.sum())
        if count < 2:
            reason = ONE_PAIR if count else NO_PAIRS
            intervals.append(dict.fromkeys(_names(statistics), reason))
            continue
        parts = [one.part(mask) for one in rows]
        drawn = draw_weights(count, resamples, stream, width=max(one.width for one in parts))
        values = _measure(statistics, parts, drawn)
        intervals.append({name: reasoned(value, confidence) for name, value in values.items()})
    return intervals


def draw_weights(
    count: int, resamples: int, seeds: np.random.SeedSequence, *, width: int = 1
) -> Iterator[Floats]:
    """Yield, chunk by chunk, how often each of some pairs is drawn: (c, count)."""
    rng = np.random.default_rng(seeds)
    shares = np.full(count, 1 / count)
    for size in chunks(resamples, 2 * count + 4 * width):
        yield rng.multinomial(count, shares, size=size).astype(np.float64)


def _names(statistics: Sequence[Statistic]) -> list[str]:
    return [
        f"{statistic.level}.{measure}" for statistic in statistics for measure in statistic.measures
    ]


def _measure(
    statistics: Sequence[Statistic], rows: Sequence[Rows], drawn: Iterator[Floats]
) -> dict[str, Floats]:
    values: dict[str, list[Floats]] = {name: [] for name in _names(statistics)}
    for weights in drawn:
        for statistic, one in zip(statistics, rows, strict=True):
            for measure, drawn_values in one.measure(one.sums(weights)).items():
                values[f"{statistic.level}.{measure}"].append(drawn_values)
    return {name: np.concatenate(drawn_values) for name, drawn_values in values.items()}


def reasoned(values: Floats, confidence: float) -> Interval | str:
    """Return the interval of the values of some resamples, or the reason why there is none."""
    interval = interval_of(values, confidence)
    return interval.reason or interval
