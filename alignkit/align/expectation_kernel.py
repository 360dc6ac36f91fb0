"""Compute the posteriors of the links of sentence pairs: the E-step of IBM 1, IBM 2 and the HMM."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit._support.array_types import F4, F8, I4, I8, U1
from alignkit._support.jit import fast, inlined, inlined_fast
from alignkit.align.maximization_kernel import plus, total_of

LEVELS = 255
"""Expected links are kept in 255ths: their sums are exact, whatever the order of summing."""
UNIT = np.float32(1 / 255)
EMPTY = 1e-4  # added to what each word is expected to be aligned to the empty word
NOTHING = np.float32(EMPTY * LEVELS)
LEAST = np.float32(1e-9)  # added to each emission: no sentence is impossible
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


class PositionTables(NamedTuple):
    """The position tables of IBM 2: cell (i, j) of pair p is at places[p] + i * M + j.

    Where `places` (P,) is empty, all positions are equally probable.
    """

    places: I8
    forward: F4
    reverse: F4


class Jumps(NamedTuple):
    """The jump tables of the HMM in both directions: a row for each kind of word jumped from."""

    forward: F4
    reverse: F4


class JumpCounts(NamedTuple):
    """Where expected jumps are added, in units: in one pair of `every` (none: 0).

    The first of all pairs has the number `first_pair`.
    """

    forward: I8
    reverse: I8
    first_pair: int
    every: int


class StepOutput(NamedTuple):
    """What a step writes: agreement or posteriors, whichever is not empty, from cell `base` on.

    Also the posteriors of the empty word, for each word, and the log-likelihoods (P, 2) of each
    pair in both directions.
    """

    agreement: U1
    forward: F4
    reverse: F4
    base: int
    source_nulls: F4
    target_nulls: F4
    likelihoods: F8


class ViterbiPaths(NamedTuple):
    """Paths to be set: a source position, or -1, for each target word, from `target_base` on.

    `source` and `source_base` are the other direction.
    """

    target: I4
    source: I4
    target_base: int
    source_base: int


class Emitted(NamedTuple):
    """What each position emits, a row of padded positions for each word; the empty word too."""

    words: F4
    null: F4
    p0: np.float32


class Moves(NamedTuple):
    """The probabilities of going from each of n positions to each other one; see `transitions`."""

    steps: F4
    back: F4
    tail: F4
    first: F4
    last: F4


class ForwardRoom(NamedTuple):
    """Room for `forward_backward`, and the `expected` jumps that it collects."""

    alpha: F4
    beta: F4
    work: F4
    scale: F4
    expected: F4


@inlined
def padded(size: int) -> int:
    """Return a number of positions, padded to eights, so that the loops over them vectorize."""
    return (size + 7) & ~7


@inlined
def emissions(
    p: int, pairs: Pairs, tables: Tables, evidence: U1, forward: F4, reverse: F4, rows: F4, cols: F4
) -> None:
    """Set forward (M x padded N) and reverse (N x padded M) to the lexical probabilities."""
    a = pairs.source_starts[p]
    b = pairs.target_starts[p]
    n = pairs.source_starts[p + 1] - a
    m = pairs.target_starts[p + 1] - b
    sn = padded(n)
    sm = padded(m)
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
    sn = padded(n)
    sm = padded(m)
    for i in range(n):
        for j in range(m):
            out_forward[start + i * m + j] = forward[j * sn + i]
            out_reverse[start + i * m + j] = reverse[i * sm + j]


@inlined
def write_agreement(
    start: int, n: int, m: int, forward: F4, reverse: F4, sharp: bool, evidence: U1
) -> None:
    """Set the evidence to the product of both posteriors; sharper, times their mean."""
    sn = padded(n)
    sm = padded(m)
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
    s = padded(n)
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


@inlined
def column_of(jump: int, band: int) -> int:
    """Return the column of a jump in the table: the last one if it is beyond the band."""
    if abs(jump) <= band:
        return jump + band
    return 2 * band + 1


@inlined
def transitions(n: int, kinds: I4, jumps: F4, p0: np.float32, moves: Moves) -> None:
    """Set the probabilities of going from each of n positions to each other one.

    steps[k * s + i] (and back, transposed) holds what a jump within the band has more than
    tail[k], the probability of each jump beyond it; first that of beginning at i, last that of
    ending after k. Rows have s = padded(n) entries. `jumps` has a row for each kind of word that is
    jumped from, the last being the beginning of the sentence; its last column is a jump beyond the
    band.
    """
    s = padded(n)
    steps, back, tail, first, last = moves
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
        first[i] = jumps[begin, column_of(i + 1, band)]
        total += first[i]
    for i in range(n):
        first[i] /= total
    for k in range(n):
        # a(i | k) = jumps[i - k] / total: the band alone is stored, less what is beyond it
        rest = jumps[kinds[k], beyond]
        low = max(0, k - band)
        size = min(n, k + band + 1) - low
        jump = jumps[kinds[k], low - k + band : low - k + band + size]
        end = jumps[kinds[k], column_of(n - k, band)]
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
        a = vector[k]
        b = vector[k + 1]
        c = vector[k + 2]
        d = vector[k + 3]
        sums = out[low : low + size]
        for i in range(size):
            sums[i] += a * row[i] + b * row1[i] + (c * row2[i] + d * row3[i])


@inlined_fast
def forward_backward(
    n: int,
    m: int,
    band: int,
    emitted: Emitted,
    moves: Moves,
    room: ForwardRoom,
    posterior: F4,
    nulls: F4,
    collect: bool,
) -> float:
    """Set the posteriors of n positions for each of m words; return the log-likelihood.

    A state is the position of the latest word that was not aligned to the empty word, so the
    empty word needs no states of its own. Rows have s = padded(n) entries, the padding being zero.
    `moves.last` becomes the posterior of ending after each position.
    """
    s = padded(n)
    emission, null, p0 = emitted
    steps, back, tail, first, last = moves
    alpha, beta, work, scale, expected = room
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
def collect_jumps(n: int, kinds: I4, moves: Moves, posterior: F4, expected: F4, counts: I8) -> None:
    """Add the expected jumps of a sentence, in units, to counts: of the jump table's shape."""
    s = padded(n)
    steps = moves.steps
    tail = moves.tail
    last = moves.last
    band = (counts.shape[1] - 2) // 2
    begin = counts.shape[0] - 1
    for k in range(n):
        row = kinds[k]
        for i in range(n):
            x = expected[k * s + i] * (steps[k * s + i] + tail[k])
            expected[k * s + i] = 0
            jump = column_of(i - k, band)
            counts[row, jump] = plus(counts[row, jump], x)
        jump = column_of(n - k, band)
        counts[row, jump] = plus(counts[row, jump], last[k])
    for i in range(n):
        jump = column_of(i + 1, band)
        counts[begin, jump] = plus(counts[begin, jump], posterior[i])


@inlined_fast
def viterbi(
    n: int, m: int, emitted: Emitted, moves: Moves, best: F4, origins: I4, path: I4
) -> float:
    """Set path (m,) to the position of each word in the most probable alignment, -1 for null.

    Returns its log-probability. `best` and `origins`, a row of padded(n) for each word, are room to
    work in: origins holds k + 1 where word j itself went to the position, coming from k, and -1 - k
    where it is null and the state is kept.
    """
    s = padded(n)
    emission, null, p0 = emitted
    steps = moves.steps
    tail = moves.tail
    first = moves.first
    last = moves.last
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


@fast
def lexical_step(
    begin: int,
    end: int,
    pairs: Pairs,
    tables: Tables,
    positions: PositionTables,
    own: Own,
    to: StepOutput,
) -> None:
    """Run IBM 1 or 2 in both directions over the pairs from begin to before end."""
    places = positions.places
    likelihoods = to.likelihoods
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
        sn = padded(n)
        sm = padded(m)
        start = pairs.starts[p]
        emissions(p, pairs, tables, own.links, forward, reverse, rows, cols)
        if len(places) > 0:
            for i in range(n):
                for j in range(m):
                    # `share_out` divides by n, which is right for IBM 1; here the positions say it
                    forward[j * sn + i] *= n * positions.forward[places[p] + i * m + j]
                    reverse[i * sm + j] *= m * positions.reverse[places[p] + i * m + j]
        # source words generate target words, then the other way round
        take_null(m, tables.target_null, pairs.target, b, own.target, tables.target_unit, null)
        likelihoods[p, 0] = share_out(m, n, forward, b, null, tables.p0, to.target_nulls)
        take_null(n, tables.source_null, pairs.source, a, own.source, tables.source_unit, null)
        likelihoods[p, 1] = share_out(n, m, reverse, a, null, tables.p0, to.source_nulls)
        if len(to.agreement) > 0:
            write_agreement(start, n, m, forward, reverse, False, to.agreement)
        else:
            write_posteriors(start - to.base, n, m, forward, reverse, to.forward, to.reverse)


@fast
def hmm_step(
    begin: int,
    end: int,
    pairs: Pairs,
    tables: Tables,
    jumps: Jumps,
    own: Own,
    to: StepOutput,
    counts: JumpCounts,
) -> None:
    """Run the HMM in both directions over the pairs from begin to before end."""
    likelihoods = to.likelihoods
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
    small = np.zeros((7, most), np.float32)
    moves = Moves(steps, back, small[0], small[1], small[2])
    room = ForwardRoom(alpha, small[3], small[4], small[5], expected)
    null = small[6]
    rows = np.zeros(n_most, np.float32)
    cols = np.zeros(m_most, np.float32)
    kinds = np.zeros(most, np.int32)
    p0 = tables.p0
    band = (jumps.forward.shape[1] - 2) // 2
    for p in range(begin, end):
        a = pairs.source_starts[p]
        b = pairs.target_starts[p]
        n = pairs.source_starts[p + 1] - a
        m = pairs.target_starts[p + 1] - b
        likelihoods[p] = 0
        if n == 0 or m == 0:
            continue
        collect = counts.every > 0 and (counts.first_pair + p) % counts.every == 0
        emissions(p, pairs, tables, own.links, forward, reverse, rows, cols)
        # states are the n source words, and the m target words are what they emit
        take(n, tables.source_kinds, pairs.source, a, kinds)
        take_null(m, tables.target_null, pairs.target, b, own.target, tables.target_unit, null)
        transitions(n, kinds, jumps.forward, p0, moves)
        emitted = Emitted(forward, null, p0)
        nulls = to.target_nulls[b : b + m]
        likelihoods[p, 0] = forward_backward(
            n, m, band, emitted, moves, room, links_forward, nulls, collect
        )
        if collect:
            collect_jumps(n, kinds, moves, links_forward, expected, counts.forward)
        # the other direction: states are the target words
        take(m, tables.target_kinds, pairs.target, b, kinds)
        take_null(n, tables.source_null, pairs.source, a, own.source, tables.source_unit, null)
        transitions(m, kinds, jumps.reverse, p0, moves)
        emitted = Emitted(reverse, null, p0)
        nulls = to.source_nulls[a : a + n]
        likelihoods[p, 1] = forward_backward(
            m, n, band, emitted, moves, room, links_reverse, nulls, collect
        )
        if collect:
            collect_jumps(m, kinds, moves, links_reverse, expected, counts.reverse)
        if len(to.agreement) > 0:
            write_agreement(pairs.starts[p], n, m, links_forward, links_reverse, True, to.agreement)
        else:
            start = pairs.starts[p] - to.base
            write_posteriors(start, n, m, links_forward, links_reverse, to.forward, to.reverse)


@fast
def hmm_paths(
    begin: int,
    end: int,
    pairs: Pairs,
    tables: Tables,
    jumps: Jumps,
    own: Own,
    paths: ViterbiPaths,
) -> None:
    """Set, for each word of the pairs from begin to before end, what Viterbi aligns it to."""
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
    moves = Moves(steps, back, small[0], small[1], small[2])
    null = small[3]
    rows = np.zeros(n_most, np.float32)
    cols = np.zeros(m_most, np.float32)
    kinds = np.zeros(most, np.int32)
    for p in range(begin, end):
        a = pairs.source_starts[p]
        b = pairs.target_starts[p]
        n = pairs.source_starts[p + 1] - a
        m = pairs.target_starts[p + 1] - b
        target_path = paths.target[b - paths.target_base : b - paths.target_base + m]
        source_path = paths.source[a - paths.source_base : a - paths.source_base + n]
        target_path[:] = -1
        source_path[:] = -1
        if n == 0 or m == 0:
            continue
        emissions(p, pairs, tables, own.links, forward, reverse, rows, cols)
        take(n, tables.source_kinds, pairs.source, a, kinds)
        take_null(m, tables.target_null, pairs.target, b, own.target, tables.target_unit, null)
        transitions(n, kinds, jumps.forward, tables.p0, moves)
        viterbi(n, m, Emitted(forward, null, tables.p0), moves, best, origins, target_path)
        take(m, tables.target_kinds, pairs.target, b, kinds)
        take_null(n, tables.source_null, pairs.source, a, own.source, tables.source_unit, null)
        transitions(m, kinds, jumps.reverse, tables.p0, moves)
        viterbi(m, n, Emitted(reverse, null, tables.p0), moves, best, origins, source_path)
