"""Train and apply a network of one hidden layer, in an order that never changes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.fixed_kernel import total_of
from alignkit.jit import fast, inlined_fast

F4 = NDArray[np.float32]
F8 = NDArray[np.float64]
I8 = NDArray[np.int64]

HIDDEN = 24
LANES = 64
"""Rows that are computed at once: a constant, so that each is computed in the same way."""


@inlined_fast
def add_product(left: F4, right: F4, length: int, out: F4) -> None:
    """Add to out (24, w) the product of left (24, n) and right (n, w), of the first `length` of n.

    w is a multiple of 64, length of 4.
    """
    for h in range(0, HIDDEN, 2):
        for part in range(0, out.shape[1], LANES):
            one, other = out[h, part : part + LANES], out[h + 1, part : part + LANES]
            for x in range(0, length, 4):
                p, q = right[x, part : part + LANES], right[x + 1, part : part + LANES]
                r, s = right[x + 2, part : part + LANES], right[x + 3, part : part + LANES]
                a, b, c, d = left[h, x], left[h, x + 1], left[h, x + 2], left[h, x + 3]
                h1 = h + 1
                e, f, g, i = left[h1, x], left[h1, x + 1], left[h1, x + 2], left[h1, x + 3]
                for k in range(LANES):
                    one[k] += a * p[k] + b * q[k] + c * r[k] + d * s[k]
                    other[k] += e * p[k] + f * q[k] + g * r[k] + i * s[k]


@inlined_fast
def forward(columns: F4, first: F4, second: F4, length: int, units: F4, logits: F4) -> None:
    """Set units (24, 64), 0 at least, and logits (64,) of the rows that are columns (n, 64)."""
    units[:] = 0
    add_product(first, columns, length, units)
    for k in range(LANES):
        logits[k] = second[HIDDEN]
    for h in range(HIDDEN):
        weight = second[h]
        for k in range(LANES):
            units[h, k] = max(units[h, k], np.float32(0))
            logits[k] += units[h, k] * weight


@fast
def network_logits(rows: F4, first: F4, second: F4, logits: F8) -> None:
    """Add to logits (C,) what the network makes of rows (C, D).

    first (D + 1, 24) leads to the hidden units, its last row the biases; second (25,) from them.
    """
    width = rows.shape[1]
    length = width + 4 - width % 4  # of D + 1 features, the last of them 1
    columns = np.zeros((length, LANES), np.float32)
    columns[width] = 1
    padded = np.zeros((HIDDEN, length), np.float32)
    padded[:, : width + 1] = first.T
    units, found = np.empty((HIDDEN, LANES), np.float32), np.empty(LANES, np.float32)
    for start in range(0, len(rows), LANES):
        size = min(LANES, len(rows) - start)
        for k in range(size):
            for x in range(width):
                columns[x, k] = rows[start + k, x]
        forward(columns, padded, second, length, units, found)
        for k in range(size):
            logits[start + k] += found[k]


@inlined_fast
def adam(
    weights: F4, slopes: F4, mean: F4, square: F4, share: np.float32, decay: np.float32,
    pace: np.float32,
) -> None:  # fmt: skip
    """Move weights (n,) by a step of Adam."""
    last, steady = np.float32(0.1), np.float32(0.9)
    last_square, steady_square = np.float32(0.001), np.float32(0.999)
    for x in range(len(weights)):
        g = slopes[x] * share + decay * weights[x]
        mean[x] = steady * mean[x] + last * g
        square[x] = steady_square * square[x] + last_square * g * g
        weights[x] -= pace * mean[x] / (np.sqrt(square[x]) + np.float32(1e-8))


@fast
def train_epoch(
    rows: F4, goals: F4, scale: F4, order: I8, rate: float, decay: float, step: int,
    first: F4, second: F4, first_mean: F4, first_square: F4, second_mean: F4, second_square: F4,
) -> int:  # fmt: skip
    """Go once over rows (C, n) in the order given, by Adam; return the number of steps so far.

    A column of rows is 1, for the biases. Each counts as often as scale (C,) says. first is
    (24, w), of which n weights are in use; n is a multiple of 4, and w of 64.

    References
    ----------
    Kingma & Ba 2015, "Adam: a method for stochastic optimization", ICLR, algorithm 1.
    """
    length, width = rows.shape[1], first.shape[1]
    block, columns = np.zeros((LANES, width), np.float32), np.zeros((length, LANES), np.float32)
    units, back = np.empty((HIDDEN, LANES), np.float32), np.empty((HIDDEN, LANES), np.float32)
    logits, rest = np.empty(LANES, np.float32), np.empty(LANES, np.float32)
    slopes, last_slopes = np.empty((HIDDEN, width), np.float32), np.empty(HIDDEN + 1, np.float32)
    weight = np.float32(decay)
    for start in range(0, len(order), LANES):
        size = min(LANES, len(order) - start)
        for k in range(size):
            row = rows[order[start + k]]
            for x in range(length):
                block[k, x] = row[x]
        for k in range(LANES):
            for x in range(length):
                columns[x, k] = block[k, x]
        forward(columns, first, second, length, units, logits)
        rest[:] = 0
        for k in range(size):
            row = order[start + k]
            rest[k] = (1 / (1 + np.exp(-np.float64(logits[k]))) - goals[row]) * scale[row]
        last_slopes[HIDDEN] = total_of(rest)
        for h in range(HIDDEN):
            for k in range(LANES):
                back[h, k] = rest[k] * second[h] if units[h, k] > 0 else np.float32(0)
                units[h, k] *= rest[k]
            last_slopes[h] = total_of(units[h])
        slopes[:] = 0
        add_product(back, block, LANES, slopes)
        step += 1
        share = np.float32(1 / size)
        pace = np.float32(rate * np.sqrt(1 - 0.999**step) / (1 - 0.9**step))
        for h in range(HIDDEN):
            adam(first[h], slopes[h], first_mean[h], first_square[h], share, weight, pace)
        adam(second, last_slopes, second_mean, second_square, share, weight, pace)
    return step
