"""Train and apply a network of one hidden layer, in an order that never changes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import F4, F8, I8
from alignkit._support.eights import EIGHT, load_eight, sum_of_eight
from alignkit._support.jit import fast, inlined, inlined_fast, jit

HIDDEN = 24
LANES = 64  # rows that are computed at once: a constant, so that each is computed in the same way


@inlined
def total_of(values: F4) -> np.float32:
    """Return the sum of floats (64,), in an order that never changes."""
    sums = load_eight(values, 0)
    for at in range(EIGHT, LANES, EIGHT):
        sums = sums + load_eight(values, at)
    return sum_of_eight(sums)


@inlined_fast
def add_product(left: F4, right: F4, length: int, out: F4) -> None:
    """Add to out (24, w) the product of left (24, n) and right (n, w), of the first `length` of n.

    w is a multiple of 64, length of 4.
    """
    # two rows of out and four of right at a time, so that numbers are loaded once
    for h in range(0, HIDDEN, 2):
        for part in range(0, out.shape[1], LANES):
            even = out[h, part : part + LANES]
            odd = out[h + 1, part : part + LANES]
            for x in range(0, length, 4):
                p = right[x, part : part + LANES]
                q = right[x + 1, part : part + LANES]
                r = right[x + 2, part : part + LANES]
                s = right[x + 3, part : part + LANES]
                a = left[h, x]
                b = left[h, x + 1]
                c = left[h, x + 2]
                d = left[h, x + 3]
                h1 = h + 1
                e = left[h1, x]
                f = left[h1, x + 1]
                g = left[h1, x + 2]
                i = left[h1, x + 3]
                for k in range(LANES):
                    even[k] += a * p[k] + b * q[k] + c * r[k] + d * s[k]
                    odd[k] += e * p[k] + f * q[k] + g * r[k] + i * s[k]


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
    units = np.empty((HIDDEN, LANES), np.float32)
    odds = np.empty(LANES, np.float32)
    # blocks of 64 rows, turned so that each loop runs over the rows
    for start in range(0, len(rows), LANES):
        size = min(LANES, len(rows) - start)
        for k in range(size):
            for x in range(width):
                columns[x, k] = rows[start + k, x]
        forward(columns, padded, second, length, units, odds)
        for k in range(size):
            logits[start + k] += odds[k]


@inlined_fast
def adam(
    weights: F4,
    slopes: F4,
    mean: F4,
    square: F4,
    share: np.float32,
    decay: np.float32,
    pace: np.float32,
) -> None:
    """Move weights (n,) by a step of Adam."""
    last = np.float32(0.1)
    steady = np.float32(0.9)
    last_square = np.float32(0.001)
    steady_square = np.float32(0.999)
    for x in range(len(weights)):
        # mean and square are moving means of the slope and of its square
        g = slopes[x] * share + decay * weights[x]
        mean[x] = steady * mean[x] + last * g
        square[x] = steady_square * square[x] + last_square * g * g
        weights[x] -= pace * mean[x] / (np.sqrt(square[x]) + np.float32(1e-8))


class TrainedLayer(NamedTuple):
    """The weights of a layer, and the moving means of their slopes and squared slopes."""

    weights: F4
    mean: F4
    square: F4


@fast
def train_epoch(
    rows: F4,
    goals: F4,
    scale: F4,
    order: I8,
    rate: float,
    decay: float,
    step: int,
    first_layer: TrainedLayer,
    second_layer: TrainedLayer,
) -> int:
    """Go once over rows (C, n) in the order given, by Adam; return the number of steps so far.

    A column of rows is 1, for the biases. Each counts as often as scale (C,) says. The first layer
    is (24, w), of which n weights are in use; n is a multiple of 4, and w of 64. For Adam see
    Kingma & Ba 2015, "Adam: a method for stochastic optimization", ICLR, algorithm 1.
    """
    first, first_mean, first_square = first_layer
    second, second_mean, second_square = second_layer
    length = rows.shape[1]
    width = first.shape[1]
    block = np.zeros((LANES, width), np.float32)
    columns = np.zeros((length, LANES), np.float32)
    units = np.empty((HIDDEN, LANES), np.float32)
    back = np.empty((HIDDEN, LANES), np.float32)
    logits = np.empty(LANES, np.float32)
    rest = np.empty(LANES, np.float32)
    slopes = np.empty((HIDDEN, width), np.float32)
    last_slopes = np.empty(HIDDEN + 1, np.float32)
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
        # forward
        forward(columns, first, second, length, units, logits)
        # the slope of the log-loss by the log odds: p - goal, times the weight of the row
        rest[:] = 0
        for k in range(size):
            row = order[start + k]
            rest[k] = (1 / (1 + np.exp(-np.float64(logits[k]))) - goals[row]) * scale[row]
        # back through the output, and through the units that are above 0
        last_slopes[HIDDEN] = total_of(rest)
        for h in range(HIDDEN):
            for k in range(LANES):
                if units[h, k] > 0:
                    back[h, k] = rest[k] * second[h]
                else:
                    back[h, k] = np.float32(0)
                units[h, k] *= rest[k]
            last_slopes[h] = total_of(units[h])
        slopes[:] = 0
        add_product(back, block, LANES, slopes)
        step += 1
        # one step of Adam with the mean slope of the block
        share = np.float32(1 / size)
        pace = np.float32(rate * np.sqrt(1 - 0.999**step) / (1 - 0.9**step))
        for h in range(HIDDEN):
            adam(first[h], slopes[h], first_mean[h], first_square[h], share, weight, pace)
        adam(second, last_slopes, second_mean, second_square, share, weight, pace)
    return step


FLAT = 1e-4  # rows of which p (1 - p) is less say nothing of the curvature
CONSTANT = 1e-5  # a column of which the standard deviation is not more does not vary


@jit
def set_scale(rows: F4, mean: F8, spread: F8) -> None:
    """Set mean and standard deviation (D,) of the columns of rows (C, D); 1 where none varies."""
    count = max(len(rows), 1)
    width = rows.shape[1]
    mean[:] = 0
    spread[:] = 0
    # two passes: the mean, then the squares of what is apart from it
    for k in range(len(rows)):
        for x in range(width):
            mean[x] += rows[k, x]
    mean /= count
    for k in range(len(rows)):
        for x in range(width):
            apart = rows[k, x] - mean[x]
            spread[x] += apart * apart
    spread[:] = np.sqrt(spread / count)
    spread[spread <= CONSTANT] = 1


@jit
def standardize(rows: F4, columns: I8, mean: F8, spread: F8, out: F4) -> None:
    """Set the first columns of out (C, w) to some columns (n,) of rows (C, D), scaled.

    mean and spread (n,) become 0 and 1.
    """
    factors = 1 / spread
    for k in range(len(rows)):
        for x in range(len(columns)):
            out[k, x] = (rows[k, columns[x]] - mean[x]) * factors[x]


@jit
def linear_logits(rows: F4, weights: F8, bias: float, logits: F8) -> None:
    """Add to logits (C,) what weights (D,) and bias make of rows (C, D).

    Each sum waits for the one before, so four rows are added up side by side.
    """
    fours = len(rows) - len(rows) % 4
    for k in range(0, fours, 4):
        first = bias
        second = bias
        third = bias
        last = bias
        for x in range(rows.shape[1]):
            weight = weights[x]
            first += rows[k, x] * weight
            second += rows[k + 1, x] * weight
            third += rows[k + 2, x] * weight
            last += rows[k + 3, x] * weight
        logits[k] += first
        logits[k + 1] += second
        logits[k + 2] += third
        logits[k + 3] += last
    for k in range(fours, len(rows)):
        total = bias
        for x in range(rows.shape[1]):
            total += rows[k, x] * weights[x]
        logits[k] += total


@jit
def squash(logits: F8, probabilities: F4) -> None:
    """Set probabilities (C,) to those of the log odds."""
    for k in range(len(logits)):
        probabilities[k] = 1 / (1 + np.exp(-logits[k]))


@jit
def slope(
    rows: F4, logits: F8, goals: F4, ridge: F8, weights: F8, gradient: F8, spread: F8
) -> float:
    """Return the loss; set its gradient (D + 1,), and spread (C,) to p (1 - p).

    goals (C,) are 0 or 1; those below 0 are left out. weights (D + 1,) end in the bias.
    """
    gradient[:] = 0
    loss = 0.0
    width = rows.shape[1]
    for k in range(len(rows)):
        goal = goals[k]
        spread[k] = 0
        if goal < 0:
            continue
        # log(1 + exp(z)) - goal z, so that nothing overflows
        z = logits[k]
        e = np.exp(-abs(z))
        p = 1 / (1 + e) if z >= 0 else e / (1 + e)
        loss += np.log1p(e) + max(z, 0.0) - goal * z
        rest = p - goal
        spread[k] = p * (1 - p)
        if abs(rest) > 1e-9:
            for x in range(width):
                gradient[x] += rest * rows[k, x]
            gradient[width] += rest
    # ridge: half the weight times the square
    for x in range(width + 1):
        gradient[x] += ridge[x] * weights[x]
        loss += 0.5 * ridge[x] * weights[x] * weights[x]
    return loss


@jit
def curvature(rows: F4, spread: F8, ridge: F8, matrix: F8) -> None:
    """Set the lower triangle of matrix (D + 1, D + 1) to the second derivatives of the loss."""
    width = rows.shape[1]
    matrix[:] = 0
    row = np.empty(width + 1)
    row[width] = 1
    for k in range(len(rows)):
        if spread[k] < FLAT:
            continue
        for x in range(width):
            row[x] = rows[k, x]
        for x in range(width + 1):
            # sum of p (1 - p) x x', and the ridge on the diagonal
            factor = spread[k] * row[x]
            for y in range(x + 1):
                matrix[x, y] += factor * row[y]
    for x in range(width + 1):
        matrix[x, x] += ridge[x] + 1e-6


@jit
def solve(matrix: F8, right: F8) -> None:
    """Solve by Cholesky's decomposition, in place: the lower triangle of a positive matrix."""
    size = len(matrix)
    # matrix = L L', row by row of L
    for x in range(size):
        for y in range(x + 1):
            total = matrix[x, y]
            for z in range(y):
                total -= matrix[x, z] * matrix[y, z]
            if x == y:
                matrix[x, x] = np.sqrt(max(total, 1e-12))
            else:
                matrix[x, y] = total / matrix[y, y]
    # L z = right
    for x in range(size):
        for z in range(x):
            right[x] -= matrix[x, z] * right[z]
        right[x] /= matrix[x, x]
    # L' solution = z
    for x in range(size - 1, -1, -1):
        for z in range(x + 1, size):
            right[x] -= matrix[z, x] * right[z]
        right[x] /= matrix[x, x]
