"""Draw the bootstrap intervals of all levels of a score, of the corpus or of a group."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from alignkit.scoring.bootstrap import Interval, drawn_intervals
from alignkit.scoring.counts import Rows
from alignkit.scoring.macro import aggregated
from alignkit.scoring.measures import LEVELS


def level_intervals(
    rows: Mapping[str, Rows],
    aggregate: str,
    *,
    resamples: int,
    confidence: float,
    seed: int | np.random.SeedSequence,
) -> dict[str, dict[str, Interval]]:
    """Return by level the interval of each measure."""
    streams = dict(zip(LEVELS, np.random.default_rng(seed).spawn(len(LEVELS)), strict=True))
    return {
        level: drawn_intervals(
            *aggregated(counts, level, aggregate),
            resamples=resamples,
            confidence=confidence,
            rng=streams[level],
        )
        for level, counts in rows.items()
    }
