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
    """Return the (P, 5) `PHRASE_COLUMNS` of two sets of phrase pairs.

    `hyp` and `ref` have a row (start, end, start, end) for each phrase pair, those of a sentence
    pair sorted; `offsets` (P + 1,) has where each sentence pair begins; `atomic` marks the atomic
    ones, A_atom and B_atom below.
    """
    pairs = len(hyp_offsets) - 1
    rows = np.zeros((pairs, 5), np.int64)
    for k in range(pairs):
        a = hyp_offsets[k]
        a_end = hyp_offsets[k + 1]
        b = ref_offsets[k]
        b_end = ref_offsets[k + 1]
        for x in range(a, a_end):
            rows[k, 0] += hyp_atomic[x]  # |A_atom|
        for y in range(b, b_end):
            rows[k, 1] += ref_atomic[y]  # |B_atom|
        # merge two sorted lists: go on with the smaller row, or with both if they are equal. All
        # rows before a and b are counted, and none of them is in the rest of the other list
        while a < a_end and b < b_end:
            step = hyp[a, 0] - ref[b, 0]  # below 0: hyp[a] is smaller; above: ref[b]
            for side in range(1, 4):  # the first number that differs decides
                if step == 0:
                    step = hyp[a, side] - ref[b, side]
            if step == 0:
                rows[k, 2] += hyp_atomic[a]  # |A_atom & B|
                rows[k, 3] += ref_atomic[b]  # |A & B_atom|
                rows[k, 4] += hyp_atomic[a] & ref_atomic[b]  # |A_atom & B_atom|
            if step <= 0:
                a += 1
            if step >= 0:
                b += 1
    return rows
