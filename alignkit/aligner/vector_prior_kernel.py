"""Compare the vectors of words, in whole numbers: the same for any machine and order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.jit import jit

F4 = NDArray[np.float32]
F8 = NDArray[np.float64]
I2 = NDArray[np.int16]
I4 = NDArray[np.int32]
I8 = NDArray[np.int64]

ONE = 1 << 14
"""The length of a vector. A cosine is a sum of products over its square, below 2^31."""


@jit
def add_static(
    rows: I8, columns: I4, source: I2, target: I2, weight: float, least: float, prior: F4
) -> int:
    """Add the pseudo-count of each word pair to prior (K,); return how many have one.

    weight * (cosine - least) / (1 - least), where that is positive. source (Vs, d) and target
    (Vt, d) are vectors of the length `ONE`, or zeros.
    """
    found = 0
    for word in range(len(rows) - 1):
        for place in range(rows[word], rows[word + 1]):
            total = 0
            for k in range(source.shape[1]):
                total += source[word, k] * target[columns[place], k]
            over = total / (ONE * ONE) - least
            if over > 0:
                prior[place] += weight * min(over / (1 - least), 1.0)
                found += 1
    return found


@jit
def add_in_context(
    cells: I4, source: I2, target: I2, weight: float, least: float, sums: F8, counts: I4
) -> None:
    """Add the pseudo-counts of the cells of a sentence pair to the sums (K,) of their word pairs.

    cells (N * M,) are the word pairs; source (N, d) and target (M, d) are as in `add_static`.
    """
    for i in range(len(source)):
        for j in range(len(target)):
            total = 0
            for k in range(source.shape[1]):
                total += source[i, k] * target[j, k]
            over = total / (ONE * ONE) - least
            place = cells[i * len(target) + j]
            counts[place] += 1
            if over > 0:
                sums[place] += weight * min(over / (1 - least), 1.0)
