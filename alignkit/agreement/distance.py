"""Define how far apart two sets are, as a function of their sizes and of what they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

__all__ = ["DISTANCES", "Distance", "dice", "jaccard", "masi"]

Sizes = NDArray[np.int64]
Distance = Callable[[Sizes, Sizes, Sizes], NDArray[np.float64]]
"""From |A & B|, |A| and |B|, arrays of one shape, to distances between 0 and 1."""


def jaccard(shared: Sizes, left: Sizes, right: Sizes) -> NDArray[np.float64]:
    """Return 1 - |A & B| / |A | B|; 0 between two empty sets.

    References
    ----------
    Jaccard 1912, The distribution of the flora in the alpine zone, New Phytologist 11:37-50,
    https://doi.org/10.1111/j.1469-8137.1912.tb05611.x.
    """
    return 1 - _similarity(shared, left + right - shared)


def dice(shared: Sizes, left: Sizes, right: Sizes) -> NDArray[np.float64]:
    """Return 1 - 2 |A & B| / (|A| + |B|); 0 between two empty sets.

    References
    ----------
    Dice 1945, Measures of the amount of ecologic association between species, Ecology 26:297-302,
    https://doi.org/10.2307/1932409.
    """
    return 1 - _similarity(2 * shared, left + right)


def masi(shared: Sizes, left: Sizes, right: Sizes) -> NDArray[np.float64]:
    """Return 1 - m |A & B| / |A | B|; 0 between two empty sets.

    m is 1 for equal sets, 2/3 where one holds the other, 1/3 for other sets that share something
    (nltk rounds them to 0.67 and 0.33).

    References
    ----------
    Passonneau 2006, Measuring agreement on set-valued items (MASI) for semantic and pragmatic
    annotation, LREC 2006.
    """
    equal = (shared == left) & (shared == right)
    nested = shared == np.minimum(left, right)
    monotonicity = np.where(equal, 1, np.where(nested, 2 / 3, 1 / 3))
    return 1 - monotonicity * _similarity(shared, left + right - shared)


DISTANCES: Mapping[str, Distance] = {"jaccard": jaccard, "dice": dice, "masi": masi}
"""The distances by name."""


def _similarity(above: Sizes, below: Sizes) -> NDArray[np.float64]:
    # 0 / 0 comes from two empty sets alone, and these are the same
    return np.where(below == 0, 1.0, above / np.maximum(below, 1))
