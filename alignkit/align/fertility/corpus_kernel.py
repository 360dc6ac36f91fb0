"""Go through a bitext under IBM 3 or IBM 4: expected counts from the alignments near the best.

After Brown et al. 1993, section 4.4 and appendix: sums over all alignments are replaced by sums
over the best one found by hill climbing and its neighbours, one move or one swap away.

Each target word belongs to one *cept*, that of a source word or that of NULL (cept 0). For example,
"not go" / "ne vont pas" has cept 1 (not: ne, pas) and cept 2 (go: vont). A *move* puts one word
into another cept, such as "pas" into that of NULL; a *swap* exchanges the cepts of two words, such
as those of "ne" and "vont". So M words and N source words have up to M N moves and M^2 / 2 swaps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import F4, F8, I4, I8
from alignkit._support.jit import inlined, jit
from alignkit.align.fertility import kernel

FLOOR = 1e-9  # no probability of a word pair is below this
NEGLIGIBLE = 1e-3
"""Neighbours less likely than the best alignment by this factor leave no counts but of links."""
FAR = -10.0  # neighbours that lose more than this are left out


class KernelText(NamedTuple):
    """A bitext and the places of its cells, as the direction sees it.

    The word pair (i, j) of pair p is `cells[starts[p] + i * M + j]`, or, transposed,
    `cells[starts[p] + j * N + i]`.
    """

    sources: I4
    source_offsets: I8
    targets: I4
    target_offsets: I8
    starts: I8
    cells: I4
    transposed: bool


class Model(NamedTuple):
    """The tables of one direction; fertilities and steps are logs, all others probabilities."""

    lexical: F4  # (K,) count of each word pair, or its probability if all `totals` are 1
    prior: F4  # (K,) pseudo-count of each word pair
    totals: F4  # (V,) sum of the counts and pseudo-counts of each source word
    null: F4  # probability of each target word from NULL
    discount: float  # how much of its own counts a sentence pair does not see
    null_share: float  # the probability p1 that a word is followed by a NULL word
    distortion: F4  # d(j | i, N, M), N x M from the block of the sentence pair on; IBM 4: size 0
    blocks: I8  # (P,) where the block of each sentence pair begins
    fertilities: F4  # (V, F + 1) of each source word: n(s | word) for s from 0 to F words
    factorial: bool  # whether `fertilities` has n(s | word) s! instead (IBM 3)
    first: F4  # d1(step | class of the cept before, class of the word); IBM 3: size 0
    rest: F4  # d>1(step | class of the word), for steps from 1
    source_classes: I4  # the class of each source word
    target_classes: I4  # the class of each target word


class Counts(NamedTuple):
    """Expected counts of a part of the bitext, added to; nothing is counted if they are empty."""

    fertilities: F8  # (V, F + 1) of each source word and fertility; the last is for all beyond
    null: F8  # words that are not from NULL less those that are, and those that are, (2,)
    first: F8  # of the steps to the first word of a cept, shape as `Model.first`
    rest: F8  # of the steps to its further words, shape as `Model.rest`


class FertilePair(NamedTuple):
    """What a model sees of a sentence pair of N source words and M target words."""

    sources: I4  # (N,) the number of each word
    targets: I4  # (M,)
    probabilities: F4  # (N + 1, M) of each word from each cept: `translations`
    block: int  # where d(j | i, N, M) of IBM 3 begins in `Model.distortion`


@inlined
def place_of(p: int, i: int, j: int, n: int, m: int, text: KernelText) -> int:
    """Return the place of the word pair (i, j) of a pair of n and m words among all cells."""
    if text.transposed:
        return int(text.starts[p]) + j * n + i
    return int(text.starts[p]) + i * m + j


@jit
def null_logs(m: int, share: float) -> F8:
    """Return the log-probability of 0 to m NULL words; less than impossible grows steeply less."""
    logs = np.empty(m + 1)
    # k of m words come from NULL: C(m - k, k) p1^k p0^(m - 2k)
    logs[0] = m * np.log(1 - share)
    for k in range(1, m + 1):
        if 2 * k <= m:
            # from that of k - 1
            r = m - 2.0 * k
            # C(m - k, k) / C(m - k + 1, k - 1) = (r + 2)(r + 1) / (k (m - k + 1)), r = m - 2k
            ratio = (r + 2) * (r + 1) / (k * (m - k + 1.0))
            logs[k] = logs[k - 1] + np.log(ratio * share) - 2 * np.log(1 - share)
        else:
            logs[k] = -1e9 * (2 * k - m)
    return logs


@jit
def translations(p: int, n: int, m: int, text: KernelText, model: Model, own: F4) -> F4:
    """Return the probability of each word from each cept's word, (n + 1, m), row 0 from NULL."""
    lexical = np.empty((n + 1, m), np.float32)
    a = text.source_offsets[p]
    b = text.target_offsets[p]
    for j in range(m):
        lexical[0, j] = model.null[text.targets[b + j]]
    for i in range(n):
        # (count + prior) / total, the pair's own counts taken out of count and total first
        total = model.totals[text.sources[a + i]]
        if model.discount > 0:
            for j in range(m):
                total -= model.discount * own[place_of(p, i, j, n, m, text)]
            total = max(total, np.float32(1e-3))
        for j in range(m):
            at = place_of(p, i, j, n, m, text)
            word_pair = text.cells[at]
            count = model.lexical[word_pair]
            if model.discount > 0:
                count = max(count - model.discount * own[at], np.float32(0))
            lexical[i + 1, j] = (count + model.prior[word_pair]) / total
    return lexical


@jit
def local_logs(probabilities: F4, model: Model, block: int) -> F4:
    """Return the log of what each link of a pair costs by itself, (n + 1, m)."""
    local = np.empty_like(probabilities)
    m = local.shape[1]
    for i in range(local.shape[0]):
        for j in range(m):
            x = np.log(max(np.float64(probabilities[i, j]), FLOOR))
            if i > 0 and model.distortion.size > 0:
                # IBM 3: d(j | i, N, M) belongs to the link alone
                x += np.log(np.float64(model.distortion[block + (i - 1) * m + j]))
            local[i, j] = x
    return local


@jit
def open_pair(sources: I4, targets: I4, local: F4, model: Model) -> kernel.KernelPair:
    """Return a pair without an alignment, from its words and the logs of its links."""
    n = sources.size
    m = targets.size
    fertilities = np.empty((n + 1, model.fertilities.shape[1]), np.float32)
    source_classes = np.empty(n + 1, np.int32)
    # the last class is the start of the sentence
    source_classes[0] = model.first.shape[0] - 1
    target_classes = np.empty(m, np.int32)
    for i in range(n):
        fertilities[i + 1] = model.fertilities[sources[i]]
        source_classes[i + 1] = model.source_classes[sources[i]]
    for j in range(m):
        target_classes[j] = model.target_classes[targets[j]]
    return kernel.KernelPair(
        local,
        fertilities,
        model.factorial,
        null_logs(m, model.null_share),
        model.first,
        model.rest,
        source_classes,
        target_classes,
        np.empty((2, m), np.int32),  # links, cepts and growth: `put_all` sets them
        np.empty((4, n + 1), np.int32),
        np.empty(n + 1),
    )


@jit
def weigh_neighbours(
    pair: kernel.KernelPair, post: F4
) -> tuple[float, list[tuple[int, int, float]]]:
    """Set the posterior of each link from the alignment and all that are one step away.

    Returns the sum of their probabilities over that of the alignment, and the likely ones: (j, i)
    for the move of word j to cept i, (j, -1 - k) for a swap of j and k, with the share of each.
    """
    m = pair.links.shape[1]
    gains = np.empty(pair.cepts.shape[1])
    # the first entry is the alignment itself; numba needs one to know the type
    likely = [(0, 0, 0.0)]
    # probabilities relative to that of the alignment, which is 1
    total = 1.0
    post[:] = 0
    burdens = kernel.order_burdens(pair)
    for j in range(m):
        old = pair.links[kernel.CEPT, j]
        kernel.take(j, pair)
        kernel.word_gains(j, old, pair, gains)
        kernel.put(j, old, pair)
        # moves of word j to another cept
        for i in range(gains.size):
            if i != old and gains[i] > gains[old] + FAR:
                ratio = np.exp(min(gains[i] - gains[old], 0.0))
                post[i, j] += ratio
                total += ratio
                if ratio > NEGLIGIBLE:
                    likely.append((j, i, ratio))
        # swaps of j with an earlier word of another cept
        for k in range(j):
            other = pair.links[kernel.CEPT, k]
            if old != other and kernel.swap_bound(j, k, pair, burdens) > FAR:
                ratio = np.exp(min(kernel.swap_gain(j, k, pair), 0.0))
                post[other, j] += ratio
                post[old, k] += ratio
                total += ratio
                if ratio > NEGLIGIBLE:
                    likely.append((j, -1 - k, ratio))
    # normalized; each word keeps for its own cept what the neighbours leave
    for j in range(m):
        others = 0.0
        for i in range(gains.size):
            post[i, j] /= total
            others += post[i, j]
        post[pair.links[kernel.CEPT, j], j] = max(1 - others, 0.0)
    return total, likely


@jit
def collect(weight: float, sources: I4, pair: kernel.KernelPair, counts: Counts) -> None:
    """Count the fertilities, the NULL words and the steps of an alignment."""
    m = pair.links.shape[1]
    last = counts.fertilities.shape[1] - 1
    for i in range(sources.size):
        # the last column counts all fertilities from there on
        fertility = min(pair.cepts[kernel.SIZE, i + 1], last)
        counts.fertilities[sources[i], fertility] += weight
    nulls = pair.cepts[kernel.SIZE, 0]
    # p0 is counted for the M - 2 nulls words without a NULL word behind them
    counts.null[0] += weight * max(m - 2 * nulls, 0)
    counts.null[1] += weight * nulls
    if pair.first.size == 0:
        return
    before = 0
    band = counts.first.shape[2] // 2
    reach = counts.rest.shape[1]
    for i in range(1, sources.size + 1):
        j = pair.cepts[kernel.HEAD, i]
        if j < 0:
            continue
        # the head by its step from the centre of the cept before, the rest from word to word
        step = j + 1 - pair.cepts[kernel.CENTRE, before]
        step = min(max(step, -band), band)
        counts.first[pair.sources[before], pair.targets[j], step + band] += weight
        k = pair.links[kernel.NEXT, j]
        while k >= 0:
            step = min(k - j, reach)
            counts.rest[pair.targets[k], step - 1] += weight
            j = k
            k = pair.links[kernel.NEXT, k]
        before = i


@jit
def collect_neighbours(
    total: float,
    likely: list[tuple[int, int, float]],
    sources: I4,
    pair: kernel.KernelPair,
    counts: Counts,
) -> None:
    """Count the alignment and its likely neighbours, each by its share."""
    # the alignment gets its own share and that of all neighbours that are not listed
    weight = 1.0
    for _, _, ratio in likely:
        weight -= ratio / total
    collect(weight, sources, pair, counts)
    for j, i, ratio in likely[1:]:
        old = pair.links[kernel.CEPT, j]
        if i < 0:
            # to the neighbour, count, and back
            kernel.swap(j, -1 - i, pair)
        else:
            kernel.take(j, pair)
            kernel.put(j, i, pair)
        collect(ratio / total, sources, pair, counts)
        if i < 0:
            kernel.swap(j, -1 - i, pair)
        else:
            kernel.take(j, pair)
            kernel.put(j, old, pair)


@jit
def climb_from(
    text: FertilePair, model: Model, sweeps: int, alignment: I4
) -> tuple[float, kernel.KernelPair]:
    """Improve an alignment in place; return its score, and the pair aligned like this."""
    local = local_logs(text.probabilities, model, text.block)
    pair = open_pair(text.sources, text.targets, local, model)
    score = kernel.put_all(alignment, pair)
    score += kernel.climb(sweeps, pair)
    # cept i is source word i - 1; -1 is NULL
    for j in range(alignment.size):
        alignment[j] = pair.links[kernel.CEPT, j] - 1
    return score, pair


@jit
def align_pair(
    text: FertilePair, model: Model, sweeps: int, alignment: I4, posteriors: F4
) -> float:
    """Improve an alignment in place, set the posteriors of its links; return its score.

    `alignment` (M,) is the source word of each target word, -1 for NULL; `posteriors` (N + 1, M)
    get those of each word in each cept.
    """
    score, pair = climb_from(text, model, sweeps, alignment)
    weigh_neighbours(pair, posteriors)
    return score


@jit
def expect(
    low: int,
    high: int,
    text: KernelText,
    model: Model,
    sweeps: int,
    viterbi: I4,
    posteriors: F4,
    counts: Counts,
) -> float:
    """Align the pairs from low to high; return the sum of their scores.

    `viterbi` (T,) is improved in place; `posteriors` (C,) is read where counts are discounted,
    then set; `counts` is added to, unless it is empty.
    """
    score = 0.0
    counting = counts.fertilities.size > 0
    for p in range(low, high):
        sources = text.sources[text.source_offsets[p] : text.source_offsets[p + 1]]
        targets = text.targets[text.target_offsets[p] : text.target_offsets[p + 1]]
        alignment = viterbi[text.target_offsets[p] : text.target_offsets[p + 1]]
        n = sources.size
        m = targets.size
        if n == 0 or m == 0:
            # an empty side: all words are NULL's
            alignment[:] = -1
            continue
        lexical = translations(p, n, m, text, model, posteriors)
        pair_text = FertilePair(sources, targets, lexical, model.blocks[p])
        pair_score, pair = climb_from(pair_text, model, sweeps, alignment)
        score += pair_score
        post = np.empty((n + 1, m), np.float32)
        total, likely = weigh_neighbours(pair, post)
        if counting:
            collect_neighbours(total, likely, sources, pair, counts)
        for i in range(n):
            for j in range(m):
                posteriors[place_of(p, i, j, n, m, text)] = post[i + 1, j]
    return score


@jit
def scatter(
    text: KernelText,
    posteriors: F4,
    blocks: I8,
    lexical: F8,
    null: F8,
    distortion: F8,
) -> None:
    """Add the posteriors of all links to the counts of word pairs and, if any, of positions."""
    for p in range(text.starts.size - 1):
        b = text.target_offsets[p]
        n = text.source_offsets[p + 1] - text.source_offsets[p]
        m = text.target_offsets[p + 1] - b
        # what the links to words leave of each target word is NULL's
        rest = np.ones(m)
        for i in range(n):
            for j in range(m):
                at = place_of(p, i, j, n, m, text)
                posterior = posteriors[at]
                lexical[text.cells[at]] += posterior
                rest[j] -= posterior
                if distortion.size > 0:
                    distortion[blocks[p] + i * m + j] += posterior
        if n > 0:
            for j in range(m):
                null[text.targets[b + j]] += max(rest[j], 0.0)


@jit
def count(text: KernelText, model: Model, viterbi: I4, posteriors: F4, counts: Counts) -> None:
    """Count the alignments of all pairs as they are, and set their links in `posteriors` to 1."""
    posteriors[:] = 0
    for p in range(text.starts.size - 1):
        sources = text.sources[text.source_offsets[p] : text.source_offsets[p + 1]]
        targets = text.targets[text.target_offsets[p] : text.target_offsets[p + 1]]
        n = sources.size
        m = targets.size
        if n == 0 or m == 0:
            continue
        alignment = viterbi[text.target_offsets[p] : text.target_offsets[p + 1]]
        pair = open_pair(sources, targets, np.zeros((n + 1, m), np.float32), model)
        kernel.put_all(alignment, pair)
        collect(1.0, sources, pair, counts)
        for j in range(m):
            i = alignment[j]
            if i >= 0:
                posteriors[place_of(p, i, j, n, m, text)] = 1
