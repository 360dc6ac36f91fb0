"""Carry lexical tables over to the word pairs of another bitext."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.jit import jit

__all__ = ["adapt"]

F4 = NDArray[np.float32]
I4 = NDArray[np.int32]
I8 = NDArray[np.int64]


@jit
def adapt(
    rows: I8,
    columns: I4,
    source_numbers: I4,
    target_numbers: I4,
    known_rows: I8,
    known_columns: I4,
    forward: F4,
    reverse: F4,
    new_forward: F4,
    new_reverse: F4,
) -> None:
    """Replace new_forward and new_reverse (K',) where the word pair is known.

    source_numbers (Vs',) and target_numbers (Vt',) are the known numbers of the words, or -1.
    """
    for row in range(len(rows) - 1):
        word = source_numbers[row]
        if word < 0:
            continue
        for place in range(rows[row], rows[row + 1]):
            other = target_numbers[columns[place]]
            if other < 0:
                continue
            low, high = known_rows[word], known_rows[word + 1]
            while low < high:
                middle = (low + high) // 2
                if known_columns[middle] < other:
                    low = middle + 1
                else:
                    high = middle
            if low < known_rows[word + 1] and known_columns[low] == other:
                new_forward[place] = forward[low]
                new_reverse[place] = reverse[low]
