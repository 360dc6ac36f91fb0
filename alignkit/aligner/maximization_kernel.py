"""Sum expected links into lexical tables: the M-step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.fixed_kernel import plus
from alignkit.jit import jit

F4 = NDArray[np.float32]
I4 = NDArray[np.int32]
I8 = NDArray[np.int64]
U1 = NDArray[np.uint8]


@jit
def add_chances(starts: I8, cells: I4, sums: I8) -> None:
    """Add 1 / (N M) for each cell to the sums (K,) of their word pairs: all links alike."""
    for pair in range(len(starts) - 1):
        begin, end = starts[pair], starts[pair + 1]
        chance = plus(0, 1.0 / max(end - begin, 1))
        for cell in range(begin, end):
            sums[cells[cell]] += chance


@jit
def add_levels(cells: I4, evidence: U1, sums: I8) -> None:
    """Add the evidence (C,) of all cells to the sums (K,) of their word pairs."""
    for cell in range(len(cells)):
        if evidence[cell] > 0:
            sums[cells[cell]] += evidence[cell]


@jit
def add_posteriors(cells: I4, posteriors: F4, sums: NDArray[np.float64]) -> None:
    """Add the posteriors (C,) of all cells to the sums (K,) of their word pairs."""
    for cell in range(len(cells)):
        sums[cells[cell]] += posteriors[cell]


@jit
def add_nulls(ids: I4, posteriors: F4, sums: I8) -> None:
    """Add the posteriors (T,) of the empty word to the sums (V,) of the words it is linked to."""
    for at in range(len(ids)):
        sums[ids[at]] = plus(sums[ids[at]], posteriors[at])


@jit
def sum_totals(rows: I8, columns: I4, weights: F4, source_totals: I8, target_totals: I8) -> None:
    """Set the totals (Vs,) of the source words, and add to those (Vt,) of the target words."""
    for word in range(len(rows) - 1):
        total = 0
        for place in range(rows[word], rows[word + 1]):
            column = columns[place]
            total = plus(total, weights[place])
            target_totals[column] = plus(target_totals[column], weights[place])
        source_totals[word] = total


@jit
def add_positions(places: I8, starts: I8, posteriors: F4, sums: NDArray[np.float64]) -> None:
    """Add the posteriors (C,) to the position tables (S,) of the sentence lengths."""
    for pair in range(len(places)):
        start = starts[pair]
        for cell in range(start, starts[pair + 1]):
            sums[places[pair] + cell - start] += posteriors[cell]
