"""Calibrate the probabilities of links from what the rest of a text says of the two words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit._support.jit import inlined, jit
from alignkit.align.expectation_kernel import Own, Pairs, Tables
from alignkit.align.priors_kernel import common_prefix
from alignkit.align.supervised.cells_kernel import kth, logit

F4 = NDArray[np.float32]
F8 = NDArray[np.float64]
I8 = NDArray[np.int64]
U1 = NDArray[np.uint8]
U4 = NDArray[np.uint32]

LEAST = 0.1
"""Cells with a lower mean posterior keep it."""
CLIP = 0.001
"""Probabilities are this far from 0 and 1 when their log odds are taken."""


@inlined
def against_rival(x: float, best: float, second: float) -> float:
    """Return the logarithm of a mean over the greatest other one."""
    rival = second if x >= best else best
    return float(np.log((x + 0.01) / (rival + 0.01)))


@jit
def calibrate(
    begin: int, end: int, pairs: Pairs, tables: Tables, own: Own, few: bool, forward: F4,
    reverse: F4, source_letters: U4, source_starts: I8, target_letters: U4, target_starts: I8,
    source_signs: U1, target_signs: U1, source_counts: F4, target_counts: F4, agreement: float,
    weights: F8, probabilities: F4, features: F4,
) -> None:  # fmt: skip
    """Set the probabilities (C,) of the cells of the pairs from begin to before end.

    `weights` (F + 1,) are those of the features and the bias. `features` (C, F) are set too where
    it is not empty. Words are given by their letters, whether they are signs without letters, and
    how often the text of training has them. In texts of few pairs, whose own links are not taken
    out of the tables, they are taken out here.
    """
    some = np.zeros(len(weights) - 1, np.float64)
    longest = 0
    other = 0
    for p in range(begin, end):
        longest = max(longest, pairs.source_starts[p + 1] - pairs.source_starts[p])
        other = max(other, pairs.target_starts[p + 1] - pairs.target_starts[p])
    bests = np.zeros((longest, 2), np.float32)
    others = np.zeros((other, 2), np.float32)
    rows = np.zeros(longest, np.float32)
    columns = np.zeros(other, np.float32)
    means = np.zeros(longest * other, np.float32)
    mine = np.zeros(longest * other, np.float32)
    base = 0
    for p in range(begin, end):
        a, b = pairs.source_starts[p], pairs.target_starts[p]
        n, m = pairs.source_starts[p + 1] - a, pairs.target_starts[p + 1] - b
        start = pairs.starts[p]
        rows[:n] = 0
        columns[:m] = 0
        for i in range(n):
            for j in range(m):
                cell = i * m + j
                to, back = forward[base + cell], reverse[base + cell]
                means[cell] = min((to + back) * np.float32(0.5), np.float32(1))
                # what the pair itself gave to the tables
                mine[cell] = 0
                if len(own.links) > 0:
                    mine[cell] = np.float32(own.links[start + cell]) / np.float32(255)
                elif few:
                    mine[cell] = to * back * means[cell]
                rows[i] += mine[cell]
                columns[j] += mine[cell]
        for i in range(n):
            kth(means, i * m, 1, m, bests[i])
        for j in range(m):
            kth(means, j, m, n, others[j])
        for i in range(n):
            source = pairs.source[a + i]
            first = source_starts[source]
            letters = source_starts[source + 1] - first
            for j in range(m):
                cell = i * m + j
                x = float(means[cell])
                probabilities[base + cell] = x
                if x < LEAST:
                    continue
                target = pairs.target[b + j]
                at = target_starts[target]
                more = target_starts[target + 1] - at
                prefix = common_prefix(source_letters, first, letters, target_letters, at, more)
                equal = prefix == letters and prefix == more
                sign, other_sign = source_signs[source] > 0, target_signs[target] > 0
                to, back = float(forward[base + cell]), float(reverse[base + cell])
                # s, how far other pairs link the two words, and its shares of all their links
                weight = float(tables.forward[pairs.cells[start + cell]])
                support = max(weight - mine[cell], 0.0)
                total = max(float(tables.source_totals[source]) - rows[i], 0.0)
                other_total = max(float(tables.target_totals[target]) - columns[j], 0.0)
                share = (support + 0.05) / (total + 0.5)
                other_share = (support + 0.05) / (other_total + 0.5)
                # the features are those of `FEATURES`, in its order
                some[0] = logit(x, CLIP)
                some[1] = (logit(to, CLIP) + logit(back, CLIP)) / 2
                some[2] = logit(min(to, back), CLIP)
                some[3] = against_rival(x, bests[i, 0], bests[i, 1])
                some[4] = against_rival(x, others[j, 0], others[j, 1])
                some[5] = np.log(support + 0.1)
                some[6] = np.log(min(share, other_share, 2.0))
                some[7] = np.log(max(source_counts[source], target_counts[target], 1.0))
                some[8] = equal
                some[9] = 0.0 if equal or prefix < 3 else prefix / max(letters, more)
                some[10] = sign != other_sign
                some[11] = abs((i + 0.5) / n - (j + 0.5) / m)
                some[12] = 0.0 if equal or (sign and other_sign) else agreement
                odds = weights[len(some)]
                for k in range(len(some)):
                    odds += weights[k] * some[k]
                probabilities[base + cell] = 1 / (1 + np.exp(-odds))
                if len(features) > 0:
                    features[base + cell] = some
        base += n * m
