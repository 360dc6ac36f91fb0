"""Intervals of shares: Wilson's of one share, Newcombe's of the difference of two."""

from __future__ import annotations

from math import nan, sqrt

from alignkit._support.arguments import check_arguments
from alignkit.errors import OptionError
from alignkit.stats.defaults import CONFIDENCE
from alignkit.stats.resampling import check_confidence


def wilson_interval(count: int, total: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return Wilson's score interval of a share `count` / `total`; NaN if `total` is 0.

    It has the shares p with |count / total - p| <= z sqrt(p (1 - p) / total), where z is the normal
    quantile of the confidence: (count + z^2 / 2 -+ z sqrt(count (total - count) / total + z^2 / 4))
    / (total + z^2). Unlike the simple normal interval, it stays within 0 to 1, and its width is not
    0 if the share is 0 or 1. There is no correction for continuity.

    Parameters
    ----------
    count, total : The numerator and denominator of the share.
    confidence : Between 0 and 1.

    Raises
    ------
    OptionError : If a count is above its total or negative, or `confidence` is not between 0 and 1.

    References
    ----------
    Wilson 1927, Probable inference, the law of succession, and statistical inference, Journal of
    the American Statistical Association 22:209-212. Newcombe 1998, Two-sided confidence intervals
    for the single proportion, Statistics in Medicine 17:857-872, method 3.

    Examples
    --------
    >>> low, high = wilson_interval(81, 263)
    >>> round(low, 4), round(high, 4)
    (0.2553, 0.3662)
    """
    check_arguments(wilson_interval, locals())
    check_confidence(confidence)
    if not 0 <= count <= total:
        raise OptionError(f"{count} of {total} is not a share; expected 0 <= count <= total")
    if not total:
        return nan, nan
    from statistics import NormalDist

    z = NormalDist().inv_cdf((1 + confidence) / 2)
    middle = count + z * z / 2
    below = total + z * z
    reach = z * sqrt(count * (total - count) / total + z * z / 4)
    low = 0.0 if count == 0 else (middle - reach) / below
    high = 1.0 if count == total else (middle + reach) / below
    return low, high


def newcombe_interval(
    count: int, total: int, other_count: int, other_total: int, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Return the interval of the difference `count` / `total` - `other_count` / `other_total`.

    The two shares are independent. With Wilson's bounds (l1, u1) of the first share p1 and (l2, u2)
    of the second share p2, the bounds are d - sqrt((p1 - l1)^2 + (u2 - p2)^2) and
    d + sqrt((u1 - p1)^2 + (p2 - l2)^2), d = p1 - p2. They stay within -1 to 1; NaN if a total is 0.

    Parameters
    ----------
    count, total : The numerator and denominator of the first share.
    other_count, other_total : Those of the second share.
    confidence : Between 0 and 1.

    Raises
    ------
    OptionError : If a count is above its total or negative, or `confidence` is not between 0 and 1.

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
    share = count / total
    other = other_count / other_total
    return difference_interval(share, (low, high), other, (other_low, other_high))


def difference_interval(
    share: float, bounds: tuple[float, float], other: float, other_bounds: tuple[float, float]
) -> tuple[float, float]:
    """Return the interval of the difference of two independent shares from their intervals."""
    low, high = bounds
    other_low, other_high = other_bounds
    down = sqrt((share - low) ** 2 + (other_high - other) ** 2)
    up = sqrt((high - share) ** 2 + (other - other_low) ** 2)
    return share - other - down, share - other + up
