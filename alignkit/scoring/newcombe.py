"""Bound the difference of two shares: Newcombe's interval from Wilson's scores."""

from __future__ import annotations

from math import nan, sqrt

from alignkit.arguments import check_arguments
from alignkit.scoring.wilson import wilson_interval


def newcombe_interval(
    count: int, total: int, other_count: int, other_total: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Return the bounds of `count` / `total` - `other_count` / `other_total`, independent shares.

    With Wilson's bounds (l1, u1) of the first share p1 and (l2, u2) of the second share p2, they
    are d - sqrt((p1 - l1)^2 + (u2 - p2)^2) and d + sqrt((u1 - p1)^2 + (p2 - l2)^2), where
    d = p1 - p2. They never leave -1 to 1.

    Returns
    -------
    (low, high)
        NaN where a total is 0.

    References
    ----------
    Newcombe 1998, Interval estimation for the difference between independent proportions,
    Statistics in Medicine 17:873-890, method 10; the example is (a) of its table II.

    Examples
    --------
    >>> low, high = newcombe_interval(56, 70, 48, 80)
    >>> round(low, 4), round(high, 4)
    (0.0524, 0.3339)
    """
    check_arguments(newcombe_interval, locals())
    low, high = wilson_interval(count, total, confidence)
    other_low, other_high = wilson_interval(other_count, other_total, confidence)
    if not (total and other_total):
        return nan, nan
    share, other = count / total, other_count / other_total
    down = sqrt((share - low) ** 2 + (other_high - other) ** 2)
    up = sqrt((high - share) ** 2 + (other - other_low) ** 2)
    return share - other - down, share - other + up
