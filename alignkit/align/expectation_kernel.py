"""Compute the posteriors of the links of sentence pairs: the E-step of IBM 1, IBM 2 and the HMM."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit._support.array_types import F4, F8, I4, I8, U1
from alignkit._support.eights import (
    EIGHT,
    load_eight,
    repeat_eight,
    spread_eight,
    store_eight,
    sum_of_eight,
)
from alignkit._support.jit import fast, inlined, inlined_fast
from alignkit.align.maximization_kernel import plus

LEVELS = 255
"""Expected links are kept in 255ths: their sums are exact, whatever the order of summing."""
UNIT = np.float32(1 / 255)
EMPTY = 1e-4  # added to what each word is expected to be aligned to the empty word
NOTHING = np.float32(EMPTY * LEVELS)
LEAST = np.float32(1e-9)  # added to each emission: no sentence is impossible
ZERO = np.float32(0)
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
    """Room for `forward_backward`: a row of padded positions for each word, and single rows."""

    alpha: F4  # rows: what led to each position
    coming: F4  # rows: what each position emits and what follows from it
    beta: F4  # what follows from each position
    scale: F4  # a number for each word


@inlined
def from_start(place: int) -> np.uint64:
    """Return a place as an unsigned number, for which numba need not ask if it is from the end."""
    return np.uint64(place)


@inlined
def padded(size: int) -> int:
    """Return a number of positions, padded to eights, which are what is computed at a time."""
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
    # no slices in these loops: each would count its references, which takes as long as a row.
    # First the divisors, without what the pair itself gave: rows[i] = 1 / (total(i) - own(i, .))
    for j in range(m):
        cols[j] = 0
    for i in range(n):
        taken = ZERO
        for j in range(m):
            x = ZERO
            if own:
                x = np.float32(evidence[from_start(start + i * m + j)]) * UNIT
            reverse[from_start(i * sm + j)] = x
            cols[j] += x
            taken += x
        rows[i] = ONE / max(tables.source_totals[pairs.source[a + i]] - taken, least)
    for j in range(m):
        cols[j] = ONE / max(tables.target_totals[pairs.target[b + j]] - cols[j], least)
    # the weights lie anywhere in memory: a loop that does nothing else waits for many at once
    for i in range(n):
        for j in range(m):
            place = pairs.cells[from_start(start + i * m + j)]
            forward[from_start(j * sn + i)] = tables.forward[from_start(place)]
    # then t(j | i) = (weight - own) / divisor + LEAST: forward by target word, reverse by source
    for i in range(n):
        row = rows[i]
        for j in range(m):
            to = from_start(j * sn + i)
            back = from_start(i * sm + j)
            taken = reverse[back]
            reverse_weight = tables.reverse[from_start(pairs.cells[from_start(start + i * m + j)])]
            forward[to] = max(forward[to] - taken, ZERO) * row + LEAST
            reverse[back] = max(reverse_weight - taken, ZERO) * cols[j] + LEAST
        for j in range(m, sm):
            reverse[from_start(i * sm + j)] = 0
    for j in range(m):
        for i in range(n, sn):
            forward[from_start(j * sn + i)] = 0


@inlined
def write_posteriors(
    start: int, n: int, m: int, forward: F4, reverse: F4, out_forward: F4, out_reverse: F4
) -> None:
    """Copy the posteriors of a pair, padded to eights until here, to their places."""
    sn = padded(n)
    sm = padded(m)
    for i in range(n):
        for j in range(m):
            cell = from_start(start + i * m + j)
            out_forward[cell] = forward[from_start(j * sn + i)]
            out_reverse[cell] = reverse[from_start(i * sm + j)]


@inlined
def write_agreement(
    start: int, n: int, m: int, forward: F4, reverse: F4, sharp: bool, evidence: U1
) -> None:
    """Set the evidence to the product of both posteriors; sharper, times their mean."""
    sn = padded(n)
    sm = padded(m)
    for i in range(n):
        for j in range(m):
            to = forward[from_start(j * sn + i)]
            back = reverse[from_start(i * sm + j)]
            both = to * back
            if sharp:
                # where the two directions disagree, sharper evidence is less of it
                both *= (to + back) * np.float32(0.5)
            level = np.uint8(min(both, ONE) * np.float32(255) + np.float32(0.5))
            evidence[from_start(start + i * m + j)] = level


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
        kind = kinds[k]
        rest = jumps[kind, beyond]
        low = max(0, k - band)
        size = min(n, k + band + 1) - low
        end = jumps[kind, column_of(n - k, band)]
        total = rest * (n - size) + end
        high = low + size
        for i in range(low, high):
            total += jumps[kind, from_start(i - k + band)]
        factor = (ONE - p0) / total
        last[k] = end / total
        tail[k] = rest * factor
        for i in range(low, high):
            probability = (jumps[kind, from_start(i - k + band)] - rest) * factor
            steps[from_start(k * s + i)] = probability
            back[from_start(i * s + k)] = probability


@inlined_fast
def add_product(
    column: int, n: int, s: int, band: int, vector: F4, first: int, matrix: F4, sums: F4
) -> F4:
    """Add to eight sums eight columns of the product of a vector and a banded matrix.

    The vector is that from `first` on. Four rows at a time; rows from n on, up to the next multiple
    of four, may hold any finite numbers: the vector is 0 there.
    """
    begin = max(0, column - band) & ~3  # the rows whose band reaches these columns
    end = min(n, column + EIGHT + band)
    for k in range(begin, end, 4):
        at = k * s + column
        row = load_eight(matrix, at)
        row1 = load_eight(matrix, at + s)
        row2 = load_eight(matrix, at + 2 * s)
        row3 = load_eight(matrix, at + 3 * s)
        a = repeat_eight(vector, first + k)
        b = repeat_eight(vector, first + k + 1)
        c = repeat_eight(vector, first + k + 2)
        d = repeat_eight(vector, first + k + 3)
        sums = sums + (a * row + b * row1 + (c * row2 + d * row3))
    return sums


@inlined_fast
def sum_of_products(size: int, x: F4, first: int, y: F4) -> np.float32:
    """Return the sum of the products of x, from `first` on, and y: a multiple of eight floats."""
    sums = load_eight(x, first) * load_eight(y, 0)
    for at in range(EIGHT, size, EIGHT):
        sums = sums + load_eight(x, first + at) * load_eight(y, at)
    return sum_of_eight(sums)


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
) -> float:
    """Set the posteriors of n positions for each of m words; return the log-likelihood.

    A state is the position of the latest word that was not aligned to the empty word, so the
    empty word needs no states of its own. Rows have s = padded(n) entries, the padding being zero.
    `moves.last` becomes the posterior of ending after each position.
    """
    # no slices: each would count its references, which takes longer than a row
    s = padded(n)
    emission, null, p0 = emitted
    steps, back, tail, first, last = moves
    alpha, coming, beta, scale = room
    # forward: alpha_j(i) = (1 - p0) t(j|i) sum_k alpha_{j-1}(k) a(i|k) + p0 null_j alpha_{j-1}(i),
    # scaled to sum to 1; `product` collects the scales, and turns to a logarithm in time
    likelihood = 0.0
    product = 1.0
    for j in range(m):
        now = j * s
        before = now - s
        pn = p0 * null[j]
        sums = spread_eight(ZERO)
        if j == 0:
            for i in range(0, s, EIGHT):
                start = load_eight(first, i)
                linked = load_eight(emission, i) * start * (ONE - p0)
                both = linked + pn * start
                store_eight(posterior, i, linked)
                store_eight(alpha, i, both)
                sums = sums + both
        else:
            # what jumps beyond the band bring is the same for all positions: a sum, not a product
            rest = spread_eight(sum_of_products(s, alpha, before, tail))
            for i in range(0, s, EIGHT):
                reached = add_product(i, n, s, band, alpha, before, steps, rest)
                linked = load_eight(emission, now + i) * reached
                both = linked + pn * load_eight(alpha, before + i)
                store_eight(posterior, now + i, linked)
                store_eight(alpha, now + i, both)
                sums = sums + both
        total = max(sum_of_eight(sums), TINY)
        inverse = ONE / total
        scale[j] = inverse
        product *= float(total)
        if product < 1e-200:
            likelihood += np.log(product)
            product = 1.0
        for at in range(now, now + s, EIGHT):
            store_eight(alpha, at, load_eight(alpha, at) * inverse)
            store_eight(posterior, at, load_eight(posterior, at) * inverse)
    # the end: each position is left by a jump to behind the last word
    now = (m - 1) * s
    total = max(sum_of_products(s, alpha, now, last), TINY)
    likelihood += np.log(product) + np.log(total)
    inverse = ONE / total
    for i in range(0, s, EIGHT):
        after = load_eight(last, i) * inverse
        store_eight(beta, i, after)
        store_eight(last, i, load_eight(alpha, now + i) * after)
    # backward: the posterior holds alpha's share of links to word j; times beta_j(i), it is that.
    # What is left of 1 is that of the empty word. beta is scaled as alpha was
    for j in range(m - 1, -1, -1):
        now = j * s
        inverse = scale[j]
        pn = p0 * null[j] * inverse
        links = spread_eight(ZERO)
        sums = spread_eight(ZERO)
        for i in range(0, s, EIGHT):
            after = load_eight(beta, i)
            linked = load_eight(posterior, now + i) * after
            store_eight(posterior, now + i, linked)
            links = links + linked
            comes = load_eight(emission, now + i) * after * inverse
            store_eight(coming, now + i, comes)
            sums = sums + comes
        nulls[j] = max(ONE - sum_of_eight(links), ZERO)
        if j == 0:
            break
        total = sum_of_eight(sums)
        for i in range(0, s, EIGHT):
            beyond = total * load_eight(tail, i) + pn * load_eight(beta, i)
            store_eight(beta, i, add_product(i, n, s, band, coming, now, back, beyond))
    return float(likelihood)


@inlined_fast
def collect_jumps(
    n: int, m: int, kinds: I4, moves: Moves, room: ForwardRoom, posterior: F4, counts: I8
) -> None:
    """Add the expected jumps of a sentence, in units, to counts: of the jump table's shape.

    A jump from position k to i is expected sum_j alpha_{j-1}(k) a(i | k) coming_j(i) times.
    """
    s = padded(n)
    steps = moves.steps
    tail = moves.tail
    last = moves.last
    alpha = room.alpha
    coming = room.coming
    expected = room.beta  # of the jumps from a position; nothing needs beta any more
    band = (counts.shape[1] - 2) // 2
    begin = counts.shape[0] - 1
    for k in range(n):
        for at in range(0, s, EIGHT):
            sums = spread_eight(ZERO)
            for j in range(m - 1, 0, -1):
                sums = sums + repeat_eight(alpha, (j - 1) * s + k) * load_eight(coming, j * s + at)
            probability = load_eight(steps, k * s + at) + tail[k]
            store_eight(expected, at, sums * probability)
        row = kinds[k]
        low = max(0, k - band)
        high = min(n, k + band + 1)
        beyond = counts[row, 2 * band + 1]
        for i in range(low):
            beyond = plus(beyond, expected[i])
        for i in range(high, n):
            beyond = plus(beyond, expected[i])
        counts[row, 2 * band + 1] = beyond
        for i in range(low, high):
            column = from_start(i - k + band)
            counts[row, column] = plus(counts[row, column], expected[i])
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
    coming = np.zeros(n_most * m_most, np.float32)
    steps = np.zeros(most * most, np.float32)
    back = np.zeros(most * most, np.float32)
    # one array for all that is as long as a sentence: fewer to allocate and to pass
    small = np.zeros((6, most), np.float32)
    moves = Moves(steps, back, small[0], small[1], small[2])
    room = ForwardRoom(alpha, coming, small[3], small[4])
    null = small[5]
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
        likelihoods[p, 0] = forward_backward(n, m, band, emitted, moves, room, links_forward, nulls)
        if collect:
            collect_jumps(n, m, kinds, moves, room, links_forward, counts.forward)
        # the other direction: states are the target words
        take(m, tables.target_kinds, pairs.target, b, kinds)
        take_null(n, tables.source_null, pairs.source, a, own.source, tables.source_unit, null)
        transitions(m, kinds, jumps.reverse, p0, moves)
        emitted = Emitted(reverse, null, p0)
        nulls = to.source_nulls[a : a + n]
        likelihoods[p, 1] = forward_backward(m, n, band, emitted, moves, room, links_reverse, nulls)
        if collect:
            collect_jumps(m, n, kinds, moves, room, links_reverse, counts.reverse)
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
