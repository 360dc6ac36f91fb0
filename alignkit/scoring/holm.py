"""Correct p-values for how many there are, by Holm's method."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan

from alignkit.arguments import check_arguments


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's corrected p-values, in the order of the given ones.

    With the m defined p-values in rising order p(1), ..., p(m), the k-th becomes the largest of
    min(1, (m - j + 1) p(j)) for j = 1, ..., k. To reject where it is at most alpha keeps the
    chance of any false rejection at most alpha, however the tests depend on each other. NaN stays
    NaN, and counts for nothing.

    References
    ----------
    Holm 1979, Scandinavian Journal of Statistics 6(2):65-70.

    Examples
    --------
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03, 0.005])]
    [0.03, 0.06, 0.06, 0.02]
    """
    check_arguments(holm, locals())
    order = sorted((k for k, p in enumerate(p_values) if not isnan(p)), key=lambda k: p_values[k])
    found = [nan] * len(p_values)
    largest = 0.0
    for rank, k in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p_values[k]))
        found[k] = largest
    return found
