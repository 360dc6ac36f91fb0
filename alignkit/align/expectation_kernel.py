"""Compute the posteriors of the links of sentence pairs: the E-step of IBM 1, IBM 2 and the HMM."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit._support.jit import fast, inlined
from alignkit.align.hmm_kernel import collect_jumps, forward_backward, transitions, viterbi

F4 = NDArray[np.float32]
F8 = NDArray[np.float64]
I4 = NDArray[np.int32]
I8 = NDArray[np.int64]
U1 = NDArray[np.uint8]

LEVELS = 255
"""Expected links are kept in 255ths: their sums are exact, whatever the order of summing."""
UNIT = np.float32(1 / 255)
EMPTY = 1e-4
"""Added to what each word is expected to be aligned to the empty word."""
NOTHING = np.float32(EMPTY * LEVELS)
LEAST = np.float32(1e-9)
"""Added to each emission: no sentence is impossible."""
ONE = np.float32(1)
TINY = np.float32(1e-30)


class Pairs(NamedTuple):
    """P sentence pairs: word numbers, where sentences begin, and the place of each cell."""

    source: I4
    source_starts: I8
    target: I4
    target_starts: I8
    starts: I8
    cells: I4


class Tables(NamedTuple):
    """What the E-step reads: a lexical table as weights over totals, null tables, kinds of words.

    t(target word | source word) = forward[place] / source_totals[source word], and the other
    direction likewise; a pair's own links (`Own`) are taken out of both beforehand. A 255th of an
    expected link to the empty word is `source_unit` in source_null, `target_unit` in target_null.
    """

    forward: F4
    reverse: F4
    source_totals: F4
    target_totals: F4
    source_null: F4
    target_null: F4
    source_kinds: I4
    target_kinds: I4
    p0: np.float32
    source_unit: np.float32
    target_unit: np.float32


class Own(NamedTuple):
    """What is taken out before a pair is aligned: its own expected links, in 255ths.

    `links` (C,), and those to the empty word, `source` (Ts,) and `target` (Tt,), word by word; all
    are empty where nothing is taken out.
    """

    links: U1
    source: U1
    target: U1


@inlined
def emissions(
    p: int, pairs: Pairs, tables: Tables, evidence: U1, forward: F4, reverse: F4, rows: F4, cols: F4
) -> None:
    """Set forward (M x padded N) and reverse (N x padded M) to the lexical probabilities."""
    a = pairs.source_starts[p]
    b = pairs.target_starts[p]
    n = pairs.source_starts[p + 1] - a
    m = pairs.target_starts[p + 1] - b
    sn = (n + 7) & ~7
    sm = (m + 7) & ~7
    start = pairs.starts[p]
    own = len(evidence) > 0
    least = np.float32(1e-3) if own else TINY  # what is left of a total must divide
    # first the divisors, without what the pair itself gave: rows[i] = 1 / (total(i) - own(i, .))
    for j in range(m):
        cols[j] = 0
    for i in range(n):
        taken = np.float32(0)
        if own:
            levels = evidence[start + i * m : start + i * m + m]
            for j in range(m):
                x = np.float32(levels[j]) * UNIT
                taken += x
                cols[j] += x
        rows[i] = ONE / max(tables.source_totals[pairs.source[a + i]] - taken, least)
    for j in range(m):
        cols[j] = ONE / max(tables.target_totals[pairs.target[b + j]] - cols[j], least)
    # then t(j | i) = (weight - own) / divisor + LEAST: forward by target word, reverse by source
    for i in range(n):
        row = rows[i]
        places = pairs.cells[start + i * m : start + i * m + m]
        out = reverse[i * sm : i * sm + sm]
        column = forward[i : m * sn]
        if own:
            levels = evidence[start + i * m : start + i * m + m]
            for j in range(m):
                taken = np.float32(levels[j]) * UNIT
                column[j * sn] = max(tables.forward[places[j]] - taken, np.float32(0)) * row + LEAST
                out[j] = max(tables.reverse[places[j]] - taken, np.float32(0)) * cols[j] + LEAST
        else:
            for j in range(m):
                column[j * sn] = tables.forward[places[j]] * row + LEAST
                out[j] = tables.reverse[places[j]] * cols[j] + LEAST
        for j in range(m, sm):
            out[j] = 0
    for j in range(m):
        rest = forward[j * sn + n : j * sn + sn]
        for i in range(sn - n):
            rest[i] = 0


@inlined
def write_posteriors(
    start: int, n: int, m: int, forward: F4, reverse: F4, out_forward: F4, out_reverse: F4
) -> None:
    """Copy the posteriors of a pair, padded to eights until here, to their places."""
    sn = (n + 7) & ~7
    sm = (m + 7) & ~7
    for i in range(n):
        for j in range(m):
            out_forward[start + i * m + j] = forward[j * sn + i]
            out_reverse[start + i * m + j] = reverse[i * sm + j]


@inlined
def write_agreement(
    start: int, n: int, m: int, forward: F4, reverse: F4, sharp: bool, evidence: U1
) -> None:
    """Set the evidence to the product of both posteriors; sharper, times their mean."""
    sn = (n + 7) & ~7
    sm = (m + 7) & ~7
    for i in range(n):
        levels = evidence[start + i * m : start + i * m + m]
        row = reverse[i * sm : i * sm + m]
        column = forward[i : m * sn]
        for j in range(m):
            both = column[j * sn] * row[j]
            if sharp:
                # where the two directions disagree, sharper evidence is less of it
                both *= (column[j * sn] + row[j]) * np.float32(0.5)
            levels[j] = np.uint8(min(both, ONE) * np.float32(255) + np.float32(0.5))


@inlined
def longest(starts: I8, begin: int, end: int) -> int:
    """Return the length of the longest sentence, with room for padding to eights."""
    most = 0
    for p in range(begin, end):
        most = max(most, starts[p + 1] - starts[p])
    return (most + 15) & ~7


@inlined
def take(size: int, table: NDArray[Any], words: I4, begin: int, out: NDArray[Any]) -> None:
    """Set out to the entries of a table for the words from begin on."""
    for at in range(size):
        out[at] = table[words[begin + at]]


@inlined
def take_null(
    size: int, table: F4, words: I4, begin: int, own: U1, unit: np.float32, out: F4
) -> None:
    """Set out to t(word | the empty word) of the words from begin on, each without its own."""
    for at in range(size):
        out[at] = table[words[begin + at]]
    if len(own) > 0:
        for at in range(size):
            # leave one out: what the pair itself gave to the table is no evidence for it
            out[at] = max(out[at] - unit * np.float32(own[begin + at]), unit * NOTHING)


@inlined
def share_out(
    size: int, n: int, emission: F4, begin: int, null: F4, p0: np.float32, nulls: F4
) -> float:
    """Turn the emissions of words, each a row of n padded positions, into posteriors.

    Sets the posterior of the empty word too, and returns the log-likelihood.
    """
    s = (n + 7) & ~7
    likelihood = 0.0
    for j in range(size):
        # P(i | j) = (1 - p0) t(j | i) / n over (1 - p0) sum_i t(j | i) / n + p0 null_j
        row = emission[j * s : j * s + s]
        total = np.float32(0)
        for i in range(s):
            total += row[i]
        empty = p0 * null[j]
        total = max(total * (ONE - p0) / n + empty, TINY)
        likelihood += np.log(total)
        nulls[begin + j] = empty / total
        factor = (ONE - p0) / (n * total)
        for i in range(s):
            row[i] *= factor
    return likelihood


@fast
def lexical_step(
    begin: int, end: int, pairs: Pairs, tables: Tables, places: I8, forward_positions: F4,
    reverse_positions: F4, own: Own, agreement: U1, source_nulls: F4, target_nulls: F4,
    out_forward: F4, out_reverse: F4, base: int, likelihoods: F8,
) -> None:  # fmt: skip
    """Run IBM 1 or 2 in both directions over the pairs from begin to before end.

    Where `places` (P,) is not empty, cell (i, j) of pair p stands in the position tables at
    places[p] + i * M + j; else all positions are equally probable. Either `agreement` or the two
    posterior arrays `out_forward` and `out_reverse` (from cell `base` on) are written, whichever is
    not empty.

    `likelihoods` (P, 2) is set to the log-likelihood of each pair in both directions.
    """
    n_most = longest(pairs.source_starts, begin, end)
    m_most = longest(pairs.target_starts, begin, end)
    forward = np.zeros(n_most * m_most, np.float32)
    reverse = np.zeros(n_most * m_most, np.float32)
    rows = np.zeros(n_most, np.float32)
    cols = np.zeros(m_most, np.float32)
    null = np.zeros(max(n_most, m_most), np.float32)
    for p in range(begin, end):
        a = pairs.source_starts[p]
        b = pairs.target_starts[p]
        n = pairs.source_starts[p + 1] - a
        m = pairs.target_starts[p + 1] - b
        likelihoods[p] = 0
        if n == 0 or m == 0:
            continue
        sn = (n + 7) & ~7
        sm = (m + 7) & ~7
        start = pairs.starts[p]
        emissions(p, pairs, tables, own.links, forward, reverse, rows, cols)
        if len(places) > 0:
            for i in range(n):
                for j in range(m):
                    # `share_out` divides by n, which is right for IBM 1; here the positions say it
                    forward[j * sn + i] *= n * forward_positions[places[p] + i * m + j]
                    reverse[i * sm + j] *= m * reverse_positions[places[p] + i * m + j]
        # source words generate target words, then the other way round
        take_null(m, tables.target_null, pairs.target, b, own.target, tables.target_unit, null)
        likelihoods[p, 0] = share_out(m, n, forward, b, null, tables.p0, target_nulls)
        take_null(n, tables.source_null, pairs.source, a, own.source, tables.source_unit, null)
        likelihoods[p, 1] = share_out(n, m, reverse, a, null, tables.p0, source_nulls)
        if len(agreement) > 0:
            write_agreement(start, n, m, forward, reverse, False, agreement)
        else:
            write_posteriors(start - base, n, m, forward, reverse, out_forward, out_reverse)


@fast
def hmm_step(
    begin: int, end: int, pairs: Pairs, tables: Tables, forward_jumps: F4, reverse_jumps: F4,
    own: Own, agreement: U1, source_nulls: F4, target_nulls: F4, out_forward: F4, out_reverse: F4,
    base: int, likelihoods: F8, first_pair: int, every: int, forward_counts: I8, reverse_counts: I8,
) -> None:  # fmt: skip
    """Run the HMM in both directions over the pairs from begin to before end.

    Expected jumps are counted, in units, in one pair of `every` (none: 0), the first of all pairs
    being numbered `first_pair`. For the rest see `lexical_step`.
    """
    n_most = longest(pairs.source_starts, begin, end)
    m_most = longest(pairs.target_starts, begin, end)
    most = max(n_most, m_most)
    forward = np.zeros(n_most * m_most, np.float32)
    reverse = np.zeros(n_most * m_most, np.float32)
    links_forward = np.zeros(n_most * m_most, np.float32)
    links_reverse = np.zeros(n_most * m_most, np.float32)
    alpha = np.zeros(n_most * m_most, np.float32)
    steps = np.zeros(most * most, np.float32)
    back = np.zeros(most * most, np.float32)
    expected = np.zeros(most * most, np.float32)
    # one array for all that is as long as a sentence: fewer to allocate and to pass
    small = np.zeros((8, most), np.float32)
    beta, work, tail, first = small[0], small[1], small[2], small[3]
    last, scale, null, nulls = small[4], small[5], small[6], small[7]
    rows = np.zeros(n_most, np.float32)
    cols = np.zeros(m_most, np.float32)
    kinds = np.zeros(most, np.int32)
    p0 = tables.p0
    band = (forward_jumps.shape[1] - 2) // 2
    for p in range(begin, end):
        a = pairs.source_starts[p]
        b = pairs.target_starts[p]
        n = pairs.source_starts[p + 1] - a
        m = pairs.target_starts[p + 1] - b
        likelihoods[p] = 0
        if n == 0 or m == 0:
            continue
        # rows are padded to eights, so that the loops over them vectorize
        sn = (n + 7) & ~7
        sm = (m + 7) & ~7
        collect = every > 0 and (first_pair + p) % every == 0
        emissions(p, pairs, tables, own.links, forward, reverse, rows, cols)
        # states are the n source words, and the m target words are what they emit
        take(n, tables.source_kinds, pairs.source, a, kinds)
        take_null(m, tables.target_null, pairs.target, b, own.target, tables.target_unit, null)
        transitions(n, sn, kinds, forward_jumps, p0, steps, back, tail, first, last)
        likelihoods[p, 0] = forward_backward(
            n, m, sn, band, forward, null, p0, steps, back, tail, first, last,
            links_forward, alpha, beta, work, scale, nulls, expected, collect,
        )  # fmt: skip
        for j in range(m):
            target_nulls[b + j] = nulls[j]
        if collect:
            collect_jumps(n, sn, kinds, steps, tail, last, links_forward, expected, forward_counts)
        # the other direction: states are the target words
        take(m, tables.target_kinds, pairs.target, b, kinds)
        take_null(n, tables.source_null, pairs.source, a, own.source, tables.source_unit, null)
        transitions(m, sm, kinds, reverse_jumps, p0, steps, back, tail, first, last)
        likelihoods[p, 1] = forward_backward(
            m, n, sm, band, reverse, null, p0, steps, back, tail, first, last,
            links_reverse, alpha, beta, work, scale, nulls, expected, collect,
        )  # fmt: skip
        for i in range(n):
            source_nulls[a + i] = nulls[i]
        if collect:
            collect_jumps(m, sm, kinds, steps, tail, last, links_reverse, expected, reverse_counts)
        if len(agreement) > 0:
            write_agreement(pairs.starts[p], n, m, links_forward, links_reverse, True, agreement)
        else:
            write_posteriors(
                pairs.starts[p] - base, n, m, links_forward, links_reverse, out_forward, out_reverse
            )


@fast
def hmm_paths(
    begin: int, end: int, pairs: Pairs, tables: Tables, forward_jumps: F4, reverse_jumps: F4,
    own: Own, target_path: I4, source_path: I4, target_base: int, source_base: int,
) -> None:  # fmt: skip
    """Set, for each word of the pairs from begin to before end, what Viterbi aligns it to.

    target_path holds a source position, or -1, for each target word, from word `target_base` on;
    source_path the other direction.
    """
    n_most = longest(pairs.source_starts, begin, end)
    m_most = longest(pairs.target_starts, begin, end)
    most = max(n_most, m_most)
    forward = np.zeros(n_most * m_most, np.float32)
    reverse = np.zeros(n_most * m_most, np.float32)
    best = np.zeros(n_most * m_most, np.float32)
    origins = np.zeros(n_most * m_most, np.int32)
    steps = np.zeros(most * most, np.float32)
    back = np.zeros(most * most, np.float32)
    small = np.zeros((4, most), np.float32)
    tail, first, last, null = small[0], small[1], small[2], small[3]
    rows = np.zeros(n_most, np.float32)
    cols = np.zeros(m_most, np.float32)
    kinds = np.zeros(most, np.int32)
    for p in range(begin, end):
        a = pairs.source_starts[p]
        b = pairs.target_starts[p]
        n = pairs.source_starts[p + 1] - a
        m = pairs.target_starts[p + 1] - b
        target_path[b - target_base : b - target_base + m] = -1
        source_path[a - source_base : a - source_base + n] = -1
        if n == 0 or m == 0:
            continue
        sn = (n + 7) & ~7
        sm = (m + 7) & ~7
        emissions(p, pairs, tables, own.links, forward, reverse, rows, cols)
        take(n, tables.source_kinds, pairs.source, a, kinds)
        take_null(m, tables.target_null, pairs.target, b, own.target, tables.target_unit, null)
        transitions(n, sn, kinds, forward_jumps, tables.p0, steps, back, tail, first, last)
        viterbi(
            n, m, sn, forward, null, tables.p0, steps, tail, first, last, best, origins,
            target_path[b - target_base :],
        )  # fmt: skip
        take(m, tables.target_kinds, pairs.target, b, kinds)
        take_null(n, tables.source_null, pairs.source, a, own.source, tables.source_unit, null)
        transitions(m, sm, kinds, reverse_jumps, tables.p0, steps, back, tail, first, last)
        viterbi(
            m, n, sm, reverse, null, tables.p0, steps, tail, first, last, best, origins,
            source_path[a - source_base :],
        )  # fmt: skip
