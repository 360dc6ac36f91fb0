"""Merge the sorted links and phrase pairs of two annotations into rows of counts.

The columns are those of `alignkit.scoring.counts`, the public interface of these kernels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit._support.jit import jit


@jit
def merge_links(
    hyp: NDArray[np.int32],
    hyp_sure: NDArray[np.uint8],
    hyp_offsets: NDArray[np.int64],
    ref: NDArray[np.int32],
    ref_sure: NDArray[np.uint8],
    ref_offsets: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the (P, 8) `LINK_COLUMNS` of two sets of rising links."""
    pairs = len(hyp_offsets) - 1
    rows = np.zeros((pairs, 8), np.int64)
    for k in range(pairs):
        a = hyp_offsets[k]
        a_end = hyp_offsets[k + 1]
        b = ref_offsets[k]
        b_end = ref_offsets[k + 1]
        sure_a = sure_b = sure_possible = possible_sure = both_sure = both = 0
        for x in range(a, a_end):
            sure_a += hyp_sure[x]
        for y in range(b, b_end):
            sure_b += ref_sure[y]
        rows[k, 1], rows[k, 3] = a_end - a, b_end - b
        # merge: every link before a or b is counted, and no link before either is in the rest
        while a < a_end and b < b_end:
            # step < 0: hyp[a] comes first; > 0: ref[b] does; 0: the same link (i, j)
            step = hyp[a, 0] - ref[b, 0]
            if step == 0:
                step = hyp[a, 1] - ref[b, 1]
            if step == 0:
                sure_possible += hyp_sure[a]
                possible_sure += ref_sure[b]
                both_sure += hyp_sure[a] & ref_sure[b]
                both += 1
            a += step <= 0
            b += step >= 0
        rows[k, 0], rows[k, 2] = sure_a, sure_b
        # |A_S & B_P|, |A_P & B_S|, |A_S & B_S|, |A_P & B_P|
        rows[k, 4], rows[k, 5] = sure_possible, possible_sure
        rows[k, 6], rows[k, 7] = both_sure, both
    return rows


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
        # the same merge, over boxes (start, end, start, end) in lexicographic order
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
            a += step <= 0
            b += step >= 0
    return rows
