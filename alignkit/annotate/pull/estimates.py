"""Estimate figures of a stratified sample of pairs, and differences between two, with intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.intervals import NO_PAIRS, reasoned
from alignkit.agreement.statistic import Floats, Rows
from alignkit.jsonable import jsonable
from alignkit.scoring.bootstrap import ONE_PAIR, Interval
from alignkit.scoring.strata import expanded, merged_strata, stratified_weights


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval."""

    value: float  # naN where undefined
    interval: Interval | str  # the interval, or the reason why there is none
    pairs: int  # how many sentence pairs it stands on
    left_out: int = 0  # how many more there are that say nothing: for them it is 0/0

    def to_dict(self) -> dict[str, object]:
        """Return value, ``low`` and ``high``, or the ``reason``, and pairs; NaN is None."""
        record: dict[str, object] = {"value": jsonable(self.value)}
        if isinstance(self.interval, Interval):
            record |= {"low": jsonable(self.interval.low), "high": jsonable(self.interval.high)}
        else:
            record["reason"] = self.interval
        return record | {"pairs": self.pairs, "left_out": self.left_out}


class Sample:
    """The rows of counts of a sample of pairs, and what resamples of it give."""

    def __init__(
        self,
        rows: Rows,
        strata: NDArray[np.int64],
        *,
        resamples: int,
        confidence: float,
        seeds: np.random.SeedSequence,
        left_out: int = 0,
    ) -> None:
        self._confidence, self._left_out = confidence, left_out
        self._pairs = len(rows)
        self._figures = rows.figures()
        self._drawn: dict[str, Floats] = {}
        self._degrees = self._pairs - len(np.unique(merged_strata(strata))) if self._pairs else 0
        if self._pairs > 1:
            rng = np.random.default_rng(seeds)
            parts = [
                rows.measure(rows.sums(weights))
                for weights in stratified_weights(strata, resamples, rng, width=rows.width)
            ]
            self._drawn = {
                name: np.concatenate([part[name] for part in parts]) for name in self._figures
            }

    def estimate(self, name: str) -> Estimate:
        """Return a figure."""
        return Estimate(self._figures[name], self._interval(name), self._pairs, self._left_out)

    def less(self, other: Sample, name: str) -> Estimate:
        """Return a figure less that of another sample, drawn independently."""
        fewer = min(self, other, key=lambda sample: sample._pairs)
        interval = fewer._interval(name)
        if self._drawn and other._drawn:
            drawn = self._drawn[name] - other._drawn[name]
            interval = self._spanned(drawn, min(self._degrees, other._degrees))
        value = self._figures[name] - other._figures[name]
        left_out = self._left_out + other._left_out
        return Estimate(value, interval, self._pairs + other._pairs, left_out)

    def _interval(self, name: str) -> Interval | str:
        if not self._drawn:
            return ONE_PAIR if self._pairs else NO_PAIRS
        return self._spanned(self._drawn[name], self._degrees)

    def _spanned(self, drawn: Floats, degrees: int) -> Interval | str:
        interval = reasoned(drawn, expanded(self._confidence, degrees))
        return (
            replace(interval, confidence=self._confidence)
            if isinstance(interval, Interval)
            else interval
        )
