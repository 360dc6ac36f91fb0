"""Merge the sorted phrase pairs of two annotations into rows of counts.

The columns are those of `alignkit.scoring.counts`, the public interface of this kernel.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit._support.jit import jit


@jit
def merge_phrases(
    hyp: NDArray[np.int32],
    hyp_atomic: NDArray[np.uint8],
    hyp_offsets: NDArray[np.int64],
    ref: NDArray[np.int32],
    ref_atomic: NDArray[np.uint8],
    ref_offsets: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the (P, 5) `PHRASE_COLUMNS` of two sets of rising phrase pairs."""
    pairs = len(hyp_offsets) - 1
    rows = np.zeros((pairs, 5), np.int64)
    for k in range(pairs):
        a = hyp_offsets[k]
        a_end = hyp_offsets[k + 1]
        b = ref_offsets[k]
        b_end = ref_offsets[k + 1]
        for x in range(a, a_end):
            rows[k, 0] += hyp_atomic[x]
        for y in range(b, b_end):
            rows[k, 1] += ref_atomic[y]
        # merge: boxes (start, end, start, end) rise; every box before a or b is counted, and no box
        # before either is in the rest. step < 0: hyp[a] comes first; > 0: ref[b] does
        while a < a_end and b < b_end:
            step = hyp[a, 0] - ref[b, 0]
            for side in range(1, 4):
                if step == 0:
                    step = hyp[a, side] - ref[b, side]
            if step == 0:
                # |A_atom & B|, |A & B_atom|, |A_atom & B_atom|
                rows[k, 2] += hyp_atomic[a]
                rows[k, 3] += ref_atomic[b]
                rows[k, 4] += hyp_atomic[a] & ref_atomic[b]
            if step <= 0:
                a += 1
            if step >= 0:
                b += 1
    return rows
