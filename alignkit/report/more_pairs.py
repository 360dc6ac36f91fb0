"""How many further sentence pairs would make an interval as narrow as is wanted."""

from __future__ import annotations

from math import ceil, isnan

from alignkit.agreement.beyond_chance.c_result import BeyondChance


def further_pairs(result: BeyondChance, width: float) -> int | None:
    """Extrapolate how many further pairs two annotators would have to annotate."""
    interval = result.interval
    if interval is None or isnan(interval.high - interval.low) or not result.used:
        return None
    now = interval.high - interval.low
    if now <= 0 or width <= 0:  # all pairs are alike, which says nothing of others
        return None
    if now <= width:
        return 0
    wanted = result.used * (now / width) ** 2
    return ceil((wanted - result.used) * len(result.sentences) / result.used)
