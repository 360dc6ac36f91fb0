"""McNemar's test: whether two systems are right equally often on the same pairs."""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from alignkit.arguments import check_arguments
from alignkit.errors import OptionError


@dataclass(frozen=True)
class Alone:
    """On how many pairs one system alone is right, and the other alone."""

    system: int
    baseline: int


def alone_right(system: NDArray[np.bool_], baseline: NDArray[np.bool_]) -> Alone:
    """Count on how many of the same pairs one of two systems alone is right."""
    return Alone(int((system & ~baseline).sum()), int((baseline & ~system).sum()))


def mcnemar(first: int, second: int, *, exact: bool = True) -> float:
    """Return the two-sided p-value of McNemar's test; NaN where nothing differs.

    Of the pairs in which one of two systems alone is right, half should be each one's. Exact:
    p = min(1, 2 P(X <= min)), X binomial with as many tries and the chance 1/2. Else the
    chi-square of one degree of freedom, (first - second)^2 / (first + second), without correction
    for continuity.

    Parameters
    ----------
    first, second
        In how many pairs the one alone, and the other alone, is right.

    References
    ----------
    McNemar 1947, Psychometrika 12(2):153-157.

    Examples
    --------
    >>> mcnemar(1, 7), round(mcnemar(1, 7, exact=False), 4)
    (0.0703125, 0.0339)
    """
    check_arguments(mcnemar, locals())
    if min(first, second) < 0:
        raise OptionError(f"counts are {first} and {second}; give 0 or more")
    if not first + second:
        return nan
    if not exact:
        return erfc(abs(first - second) / sqrt(2 * (first + second)))
    from scipy.stats import binom  # takes a second to import

    return min(1.0, 2 * float(binom.cdf(min(first, second), first + second, 0.5)))
