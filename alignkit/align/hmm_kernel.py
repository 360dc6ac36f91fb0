"""Run a first-order HMM over one sentence pair in one direction: forward-backward and Viterbi."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit._support.jit import inlined, inlined_fast
from alignkit.align.maximization_kernel import plus, total_of

F4 = NDArray[np.float32]
I4 = NDArray[np.int32]
I8 = NDArray[np.int64]

ONE = np.float32(1)
TINY = np.float32(1e-30)


@inlined
def transitions(
    n: int, s: int, kinds: I4, jumps: F4, p0: np.float32, steps: F4, back: F4, tail: F4, first: F4,
    last: F4,
) -> None:  # fmt: skip
    """Set the probabilities of going from each of n positions to each other one.

    steps[k * s + i] (and back, transposed) holds what a jump within the band has more than
    tail[k], the probability of each jump beyond it; first that of beginning at i, last that of
    ending after k. `jumps` has a row for each kind of word that is jumped from, the last being
    the beginning of the sentence; its last column is a jump beyond the band.
    """
    band = (jumps.shape[1] - 2) // 2
    beyond = 2 * band + 1
    begin = jumps.shape[0] - 1
    for i in range(s):
        tail[i] = 0
        first[i] = 0
        last[i] = 0
    for i in range(n * s):
        steps[i] = 0
        back[i] = 0
    total = np.float32(0)
    for i in range(n):
        first[i] = jumps[begin, i + 1 + band if i < band else beyond]
        total += first[i]
    for i in range(n):
        first[i] /= total
    for k in range(n):
        # a(i | k) = jumps[i - k] / total: the band alone is stored, less what is beyond it
        rest = jumps[kinds[k], beyond]
        low = max(0, k - band)
        size = min(n, k + band + 1) - low
        jump = jumps[kinds[k], low - k + band : low - k + band + size]
        end = jumps[kinds[k], n - k + band if n - k <= band else beyond]
        total = rest * (n - size) + end
        for i in range(size):
            total += jump[i]
        factor = (ONE - p0) / total
        last[k] = end / total
        tail[k] = rest * factor
        step = steps[k * s + low : k * s + low + size]
        for i in range(size):
            step[i] = (jump[i] - rest) * factor
            back[(low + i) * s + k] = step[i]


@inlined_fast
def multiply(n: int, s: int, band: int, vector: F4, matrix: F4, out: F4) -> None:
    """Add to out the product of a vector and a banded matrix, four rows at a time.

    Rows from n on, up to the next multiple of four, may hold any finite numbers: the vector is 0.
    """
    for k in range(0, n, 4):
        low = max(0, k - band) & ~7
        size = min(s, (k + band + 11) & ~7) - low
        at = k * s + low
        row = matrix[at : at + size]
        row1 = matrix[at + s : at + s + size]
        row2 = matrix[at + 2 * s : at + 2 * s + size]
        row3 = matrix[at + 3 * s : at + 3 * s + size]
        a, b, c, d = vector[k], vector[k + 1], vector[k + 2], vector[k + 3]
        sums = out[low : low + size]
        for i in range(size):
            sums[i] += a * row[i] + b * row1[i] + (c * row2[i] + d * row3[i])


@inlined_fast
def forward_backward(
    n: int, m: int, s: int, band: int, emission: F4, null: F4, p0: np.float32, steps: F4, back: F4,
    tail: F4, first: F4, last: F4, posterior: F4, alpha: F4, beta: F4, work: F4, scale: F4,
    nulls: F4, expected: F4, collect: bool,
) -> float:  # fmt: skip
    """Set the posteriors of n positions for each of m words; return the log-likelihood.

    A state is the position of the latest word that was not aligned to the empty word, so the
    empty word needs no states of its own. Rows have s >= n entries, the padding being zero.
    `last` becomes the posterior of ending after each position.
    """
    # forward: alpha_j(i) = (1 - p0) t(j|i) sum_k alpha_{j-1}(k) a(i|k) + p0 null_j alpha_{j-1}(i),
    # scaled to sum to 1; `product` collects the scales, and turns to a logarithm in time
    likelihood = 0.0
    product = 1.0
    before = alpha[:s]
    for j in range(m):
        o = j * s
        now = alpha[o : o + s]  # slices count from 0, so that the loops over them vectorize
        link = posterior[o : o + s]
        lexical = emission[o : o + s]
        pn = p0 * null[j]
        if j == 0:
            for i in range(s):
                link[i] = lexical[i] * first[i] * (ONE - p0)
                now[i] = link[i] + pn * first[i]
        else:
            # what jumps beyond the band bring is the same for all positions: a sum, not a product
            for i in range(s):
                work[i] = before[i] * tail[i]
            rest = total_of(work[:s])
            for i in range(s):
                work[i] = rest
            multiply(n, s, band, before, steps, work)
            for i in range(s):
                link[i] = lexical[i] * work[i]
                now[i] = link[i] + pn * before[i]
        total = max(total_of(now), TINY)
        inverse = ONE / total
        scale[j] = inverse
        product *= float(total)
        if product < 1e-200:
            likelihood += np.log(product)
            product = 1.0
        for i in range(s):
            now[i] *= inverse
            link[i] *= inverse
        before = now
    # the end: each position is left by a jump to behind the last word
    for i in range(s):
        work[i] = before[i] * last[i]
    total = max(total_of(work[:s]), TINY)
    likelihood += np.log(product) + np.log(total)
    inverse = ONE / total
    for i in range(s):
        beta[i] = last[i] * inverse
        last[i] = before[i] * beta[i]
    # backward: link holds alpha's share of links to word j; times beta_j(i), the posteriors. What
    # is left of 1 is that of the empty word. beta is scaled as alpha was
    for j in range(m - 1, -1, -1):
        o = j * s
        link = posterior[o : o + s]
        lexical = emission[o : o + s]
        inverse = scale[j]
        pn = p0 * null[j] * inverse
        for i in range(s):
            link[i] *= beta[i]
            work[i] = lexical[i] * beta[i] * inverse
        nulls[j] = max(ONE - total_of(link), np.float32(0))
        rest = total_of(work[:s])
        if j == 0:
            break
        if collect:
            # expected[k, i] times a(i | k) is how often i is jumped to from k; see `collect_jumps`
            before = alpha[o - s : o]
            for k in range(n):
                row = expected[k * s : k * s + s]
                x = before[k]
                for i in range(s):
                    row[i] += x * work[i]
        for i in range(s):
            beta[i] = rest * tail[i] + pn * beta[i]
        multiply(n, s, band, work, back, beta)
    return float(likelihood)


@inlined
def collect_jumps(
    n: int, s: int, kinds: I4, steps: F4, tail: F4, last: F4, posterior: F4, expected: F4,
    counts: I8,
) -> None:  # fmt: skip
    """Add the expected jumps of a sentence, in units, to counts: of the jump table's shape."""
    band = (counts.shape[1] - 2) // 2
    beyond = 2 * band + 1
    begin = counts.shape[0] - 1
    for k in range(n):
        row = kinds[k]
        for i in range(n):
            x = expected[k * s + i] * (steps[k * s + i] + tail[k])
            expected[k * s + i] = 0
            jump = i - k + band if abs(i - k) <= band else beyond
            counts[row, jump] = plus(counts[row, jump], x)
        jump = n - k + band if n - k <= band else beyond
        counts[row, jump] = plus(counts[row, jump], last[k])
    for i in range(n):
        jump = i + 1 + band if i < band else beyond
        counts[begin, jump] = plus(counts[begin, jump], posterior[i])


@inlined_fast
def viterbi(
    n: int, m: int, s: int, emission: F4, null: F4, p0: np.float32, steps: F4, tail: F4, first: F4,
    last: F4, best: F4, origins: I4, path: I4,
) -> float:  # fmt: skip
    """Set path (m,) to the position of each word in the most probable alignment, -1 for null.

    Returns its log-probability. `best` (m * s,) and `origins` (m * s,) are room to work in:
    origins holds k + 1 where word j itself went to the position, coming from k, and -1 - k where
    it is null and the state is kept.
    """
    # best_j(i) = max of (1 - p0) t(j | i) max_k best_{j-1}(k) a(i | k) and p0 null_j best_{j-1}(i)
    likelihood = 0.0
    for j in range(m):
        o = j * s
        q = o - s
        top = np.float32(0)
        for i in range(n):
            if j == 0:
                link = emission[i] * first[i] * (ONE - p0)
                stay = p0 * null[0] * first[i]
                origin = i
            else:
                link = np.float32(0)
                origin = 0
                for k in range(n):
                    x = best[q + k] * (steps[k * s + i] + tail[k])
                    if x > link:
                        link = x
                        origin = k
                link *= emission[o + i]
                stay = p0 * null[j] * best[q + i]
            if link >= stay:
                best[o + i] = link
                origins[o + i] = origin + 1
            else:
                best[o + i] = stay
                origins[o + i] = -1 - i
            top = max(top, best[o + i])
        top = max(top, TINY)
        likelihood += np.log(top)
        for i in range(n):
            best[o + i] /= top
    # back from the best end along the origins
    o = (m - 1) * s
    state = 0
    top = np.float32(-1)
    for i in range(n):
        x = best[o + i] * last[i]
        if x > top:
            top = x
            state = i
    for j in range(m - 1, -1, -1):
        origin = origins[j * s + state]
        if origin > 0:
            path[j] = state
            state = origin - 1
        else:
            path[j] = -1
    return float(likelihood + np.log(max(top, TINY)))
