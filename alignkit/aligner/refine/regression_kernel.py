"""Sum what logistic regression needs, in an order that never changes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.jit import jit

F4 = NDArray[np.float32]
F8 = NDArray[np.float64]
I8 = NDArray[np.int64]

FLAT = 1e-4
"""Rows of which p (1 - p) is less say nothing of the curvature."""
CONSTANT = 1e-5
"""A column of which the standard deviation is not more does not vary."""


@jit
def set_scale(rows: F4, mean: F8, spread: F8) -> None:
    """Set mean and standard deviation (D,) of the columns of rows (C, D); 1 where none varies."""
    count, width = max(len(rows), 1), rows.shape[1]
    mean[:] = 0
    spread[:] = 0
    for k in range(len(rows)):
        for x in range(width):
            mean[x] += rows[k, x]
    mean /= count
    for k in range(len(rows)):
        for x in range(width):
            apart = rows[k, x] - mean[x]
            spread[x] += apart * apart
    for x in range(width):
        spread[x] = np.sqrt(spread[x] / count)
        if spread[x] <= CONSTANT:
            spread[x] = 1


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
        one, other, third, last = bias, bias, bias, bias
        for x in range(rows.shape[1]):
            weight = weights[x]
            one += rows[k, x] * weight
            other += rows[k + 1, x] * weight
            third += rows[k + 2, x] * weight
            last += rows[k + 3, x] * weight
        logits[k] += one
        logits[k + 1] += other
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
            factor = spread[k] * row[x]
            for y in range(x + 1):
                matrix[x, y] += factor * row[y]
    for x in range(width + 1):
        matrix[x, x] += ridge[x] + 1e-6


@jit
def solve(matrix: F8, right: F8) -> None:
    """Solve by Cholesky's decomposition, in place: the lower triangle of a positive matrix."""
    size = len(matrix)
    for x in range(size):
        for y in range(x + 1):
            total = matrix[x, y]
            for z in range(y):
                total -= matrix[x, z] * matrix[y, z]
            if x == y:
                matrix[x, x] = np.sqrt(max(total, 1e-12))
            else:
                matrix[x, y] = total / matrix[y, y]
    for x in range(size):
        for z in range(x):
            right[x] -= matrix[x, z] * right[z]
        right[x] /= matrix[x, x]
    for x in range(size - 1, -1, -1):
        for z in range(x + 1, size):
            right[x] -= matrix[z, x] * right[z]
        right[x] /= matrix[x, x]
