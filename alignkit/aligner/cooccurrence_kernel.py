"""Find which words occur together, and where."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.jit import jit

I4 = NDArray[np.int32]
I8 = NDArray[np.int64]


@jit
def index_cells(
    source: I4, source_starts: I8, target: I4, target_starts: I8, cell_starts: I8, sizes: I8
) -> tuple[I8, I4, I4]:
    """Return rows (Vs + 1,), columns (K,) and cells (C,); `sizes` holds Vs, Vt and the most K.

    Columns and cells are empty where K would be more.

    Target word by target word, in their order: so the columns of each row rise without sorting,
    and time is linear in the cells.
    """
    pairs = len(source_starts) - 1
    first = np.zeros(sizes[1] + 1, np.int64)
    for word in target:
        first[word + 1] += 1
    for word in range(sizes[1]):
        first[word + 1] += first[word]
    pair_of = np.empty(len(target), np.int32)
    place = np.empty(len(target), np.int32)
    free = first[:-1].copy()
    for pair in range(pairs):
        for at in range(target_starts[pair], target_starts[pair + 1]):
            slot = free[target[at]]
            free[target[at]] += 1
            pair_of[slot] = pair
            place[slot] = at - target_starts[pair]
    rows = np.zeros(sizes[0] + 1, np.int64)
    latest = np.full(sizes[0], -1, np.int32)
    for word in range(sizes[1]):
        for slot in range(first[word], first[word + 1]):
            pair = pair_of[slot]
            for at in range(source_starts[pair], source_starts[pair + 1]):
                other = source[at]
                if latest[other] != word:
                    latest[other] = word
                    rows[other + 1] += 1
    for word in range(sizes[0]):
        rows[word + 1] += rows[word]
    if rows[-1] > sizes[2]:
        return rows, np.empty(0, np.int32), np.empty(0, np.int32)
    columns = np.empty(rows[-1], np.int32)
    cells = np.empty(cell_starts[pairs], np.int32)
    latest[:] = -1
    current = rows[:-1] - 1
    for word in range(sizes[1]):
        for slot in range(first[word], first[word + 1]):
            pair = pair_of[slot]
            length = target_starts[pair + 1] - target_starts[pair]
            cell = cell_starts[pair] + place[slot]
            for at in range(source_starts[pair], source_starts[pair + 1]):
                other = source[at]
                if latest[other] != word:
                    latest[other] = word
                    current[other] += 1
                    columns[current[other]] = word
                cells[cell] = current[other]
                cell += length
    return rows, columns, cells
