"""Add numbers in whole units: a sum is the same in whatever order, and over however many parts.

The unit is 2^-32, of which 64 bits hold up to 2^31; log-likelihoods of whole texts, which are
larger, are added in units of 2^-16.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from alignkit.jit import inlined

F4 = NDArray[np.float32]
I8 = NDArray[np.int64]
F8 = NDArray[np.float64]

UNITS = 2.0**32
LARGEST = 2.0**30
"""The most that a sum holds; what is beyond is cut, so that no sum overflows."""
MOST = 2**62 - 1
LIKELIHOOD_UNITS = 2.0**16


@inlined
def total_of(values: F4) -> np.float32:
    """Return the sum of floats, of which there are a multiple of 8: eight sums side by side."""
    a, b, c, d = values[0], values[1], values[2], values[3]
    e, f, g, h = values[4], values[5], values[6], values[7]
    for i in range(8, len(values), 8):
        a += values[i]
        b += values[i + 1]
        c += values[i + 2]
        d += values[i + 3]
        e += values[i + 4]
        f += values[i + 5]
        g += values[i + 6]
        h += values[i + 7]
    return np.float32(((a + e) + (c + g)) + ((b + f) + (d + h)))


@inlined
def plus(total: int, number: float) -> int:
    """Return a sum of units with a number, at least 0, added to it."""
    more = total + np.int64(min(np.float64(number), LARGEST) * UNITS + 0.5)
    return min(int(more), MOST)


def add_up(sums: Iterable[I8]) -> I8:
    """Return the sum of arrays of units."""
    first, *others = sums
    total = first.copy()
    for other in others:
        total += other
        np.minimum(total, MOST, out=total)
    return total


def numbers_in(sums: I8) -> F8:
    """Return sums of units as numbers."""
    return sums / UNITS


def units_of_likelihoods(likelihoods: F8) -> I8:
    """Return the sums of log-likelihoods (P, 2), in units."""
    units: I8 = np.rint(likelihoods * LIKELIHOOD_UNITS).astype(np.int64)
    return np.asarray(units.sum(axis=0))


def likelihoods_in(sums: I8) -> F8:
    """Return sums of units as log-likelihoods."""
    return sums / LIKELIHOOD_UNITS
