"""Align word by word with loops and float64, as the books have it: IBM 1 and 2, the HMM, counts.

Tables are t[i][j], source-major; `null` is t(word j | the empty word). The HMM's state is the
position of the latest word that was not aligned to the empty word.
"""

from collections import Counter, defaultdict
from itertools import product
from math import log, sqrt

import numpy as np

LEAST = 1e-9
BARE = str.maketrans("áçё", "acе")
"""Letters with marks, and what they are without."""


def random_pairs(rng, sizes, words):
    """Make sentence pairs of given sizes from a few words, so that words are repeated."""
    return [
        ([f"s{x}" for x in rng.integers(0, words, n)], [f"t{x}" for x in rng.integers(0, words, m)])
        for n, m in sizes
    ]


def random_text(seed, number, words=60):
    """Make sentence pairs that are word-by-word translations, now and then with words more."""
    rng, pairs = np.random.default_rng(seed), []
    for _ in range(number):
        spoken = np.minimum(rng.geometric(0.06, rng.integers(1, 12)), words)
        source = [f"{word}{'abcdefg'[word % 7]}s" for word in spoken]
        target = [f"{word}{'abcdefg'[word % 7]}t" for word in spoken if rng.random() > 0.1]
        if len(target) > 2 and rng.random() < 0.3:
            target[0], target[1] = target[1], target[0]
        pairs.append((source, target + ["."] * int(rng.random() < 0.7)))
    return pairs


def emissions(weights, totals, own=None):
    """t(j | i) of one direction: weights (N, M) over totals (N,), a pair's own links taken out."""
    own = np.zeros_like(weights) if own is None else own
    left = np.maximum(totals - own.sum(axis=1), 1e-3)
    return np.maximum(weights - own, 0) / left[:, None] + LEAST


def empty(null, own, unit, least):
    """t(word | the empty word) of some words, what each has itself taken out; own in 255ths."""
    return np.maximum(null - unit * own.astype(float), unit * 255 * least)


def lexical(t, null, p0, positions=None):
    """Posteriors (N, M), those of the empty word (M,), and log P(target | source): IBM 1 and 2."""
    n, m = t.shape
    positions = np.full((n, m), 1 / n) if positions is None else positions
    links, nulls, likelihood = np.zeros((n, m)), np.zeros(m), 0.0
    for j in range(m):
        shares = [(1 - p0) * positions[i, j] * t[i, j] for i in range(n)]
        total = sum(shares) + p0 * null[j]
        links[:, j] = [share / total for share in shares]
        nulls[j] = p0 * null[j] / total
        likelihood += log(total)
    return links, nulls, likelihood


def chain(jumps, kinds):
    """Where a sentence of n words begins (n,), goes (n, n) and ends (n,)."""
    n, band = len(kinds), (jumps.shape[1] - 2) // 2

    def weight(row, jump):
        return float(row[jump + band] if abs(jump) <= band else row[-1])

    first = np.array([weight(jumps[-1], i + 1) for i in range(n)])
    goes, last = np.zeros((n, n)), np.zeros(n)
    for k in range(n):
        row = [weight(jumps[kinds[k]], i - k) for i in range(n + 1)]
        goes[k] = np.array(row[:n]) / sum(row)
        last[k] = row[n] / sum(row)
    return first / first.sum(), goes, last


def hmm_by_enumeration(t, null, p0, first, goes, last):
    """All that the HMM says of a tiny pair: posteriors, nulls, log-likelihood, best path's log."""
    n, m = t.shape
    links, nulls, whole, best = np.zeros((n, m)), np.zeros(m), 0.0, defaultdict(float)
    for start in range(n):
        for moves in product(range(-1, n), repeat=m):
            state, chance = start, first[start]
            for j, to in enumerate(moves):
                if to < 0:
                    chance *= p0 * null[j]
                elif j == 0:
                    chance *= (1 - p0) * t[to, j] * (to == start)
                else:
                    chance *= (1 - p0) * t[to, j] * goes[state, to]
                state = state if to < 0 else to
            chance *= last[state]
            whole += chance
            best[moves] = max(best[moves], chance)
            for j, to in enumerate(moves):
                if to < 0:
                    nulls[j] += chance
                else:
                    links[to, j] += chance
    return links / whole, nulls / whole, log(whole), log(max(best.values()))


def hmm(t, null, p0, first, goes, last):
    """Run forward-backward over 2 N states, null ones apart (Och & Ney 2003)."""
    n, m = t.shape
    emit = [np.concatenate([(1 - p0) * t[:, j], np.full(n, p0 * null[j])]) for j in range(m)]
    step = np.zeros((2 * n, 2 * n))
    for origin, stays in product((0, n), range(n)):
        step[origin + stays, :n] = goes[stays]
        step[origin + stays, n + stays] = 1
    alphas, scales = [], []
    for j in range(m):
        now = emit[j] * (np.tile(first, 2) if j == 0 else alphas[-1] @ step)
        scales.append(now.sum())
        alphas.append(now / now.sum())
    ends = np.tile(last, 2)
    final = float(alphas[-1] @ ends)
    beta = ends / final
    states, jumps = [alphas[-1] * beta], np.zeros((n, n))
    for j in range(m - 1, 0, -1):
        pairs = alphas[j - 1][:, None] * step * (emit[j] * beta) / scales[j]
        jumps += pairs[:n, :n] + pairs[n:, :n]
        beta = step @ (emit[j] * beta) / scales[j]
        states.append(alphas[j - 1] * beta)
    found, likelihood = np.array(states[::-1]), sum(map(log, scales)) + log(final)
    ended = found[-1, :n] + found[-1, n:]
    return found[:, :n].T, found[:, n:].sum(axis=1), likelihood, jumps, ended


def path_score(path, t, null, p0, first, goes, last):
    """Log-probability of the best sequence of states that has this path, -1 for null."""
    best = -np.inf
    for start in range(len(t)):
        state, score, begun = start, log(first[start]), True
        for j, to in enumerate(path):
            if to < 0:
                score += log(max(p0 * null[j], 1e-300))
                continue
            if j == 0:
                begun = to == start
            score += log((1 - p0) * t[to, j]) + (log(goes[state, to]) if j else 0)
            state = to
        if begun:
            best = max(best, score + log(last[state]))
    return best


def best_score(t, null, p0, first, goes, last):
    """Log-probability of the most probable sequence of states (Viterbi)."""
    n, m = t.shape
    scores = np.zeros(n)
    with np.errstate(divide="ignore"):
        for j in range(m):
            if j == 0:
                link = np.log(first) + np.log((1 - p0) * t[:, 0])
                stay = np.log(first) + np.log(p0 * null[0])
            else:
                came = (scores[:, None] + np.log(goes)).max(axis=0)
                link, stay = came + np.log((1 - p0) * t[:, j]), scores + np.log(p0 * null[j])
            scores = np.maximum(link, stay)
        return float((scores + np.log(last)).max())


def agreement(forward, reverse, *, sharp):
    """What both directions expect (Liang, Taskar & Klein 2006); sharper, times their mean."""
    both = forward * reverse
    return both * (forward + reverse) / 2 if sharp else both


def count_jumps(jumps, ended, links, kinds, table):
    """Add expected jumps (N, N), ends (N,) and first links (N,) to a table like that of jumps."""
    n, band = len(ended), (table.shape[1] - 2) // 2

    def add(row, jump, count):
        table[row, jump + band if abs(jump) <= band else -1] += count

    for k in range(n):
        for i in range(n):
            add(kinds[k], i - k, jumps[k, i])
        add(kinds[k], n - k, ended[k])
    for i in range(n):
        add(-1, i + 1, links[i])


def counts(pairs, evidence):
    """Sum expected links, a (N, M) array for each pair, by word pair."""
    found = defaultdict(float)
    for (source, target), links in zip(pairs, evidence, strict=True):
        for i, one in enumerate(source):
            for j, other in enumerate(target):
                found[one, other] += float(links[i][j])
    return found


def alike(one, other, weight, identity):
    one, other = one.translate(BARE), other.translate(BARE)
    if one == other:
        return weight + identity if one else 0.0
    common = 0
    while common < min(len(one), len(other)) and one[common] == other[common]:
        common += 1
    return weight * common / max(len(one), len(other)) if common >= 3 else 0.0


def backing(found, pairs, length, strength):
    """What the other words of both stems tell of each word pair."""

    def stem(word):
        return word.translate(BARE)[:length]

    sources = Counter(word for source, _ in pairs for word in source)
    targets = Counter(word for _, target in pairs for word in target)
    stem_pairs, source_sums, target_sums = Counter(), Counter(), Counter()
    for (one, other), count in found.items():
        stem_pairs[stem(one), stem(other)] += count
        source_sums[stem(one)] += count
        target_sums[stem(other)] += count

    def share(word, words):
        return words[word] / sum(words[w] for w in words if stem(w) == stem(word))

    lent = {}
    for (one, other), count in found.items():
        a, b = stem(one), stem(other)
        rest = stem_pairs[a, b] - count
        shares = sqrt(share(one, sources) * share(other, targets))
        sums = sqrt((source_sums[a] + 0.5) * (target_sums[b] + 0.5))
        lent[one, other] = strength * rest * shares / sums
    return lent


def tables(pairs, found, settings, dictionary):
    """Weights of word pairs and totals of words after the M-step of collapsed inference."""
    lent = backing(found, pairs, settings.stem, settings.stem_weight)
    weights, sources, targets = {}, Counter(), Counter()
    for (one, other), count in found.items():
        weight = count + settings.floor + dictionary.get((one, other), 0)
        weight += alike(one, other, settings.spelling, settings.identity) + lent[one, other]
        weights[one, other] = weight
        sources[one] += weight
        targets[other] += weight
    c = settings.concentration
    return (
        weights,
        {word: total + c for word, total in sources.items()},
        {word: total + c for word, total in targets.items()},
    )


def train_lexical(pairs, rounds, p0=0.0):
    """Plain EM of IBM 1, one direction: t[source word, target word] and the log-likelihoods."""
    vocabulary = {word for _, target in pairs for word in target}
    t = defaultdict(lambda: 1 / len(vocabulary))
    null, history = dict.fromkeys(vocabulary, 1 / len(vocabulary)), []
    for _ in range(rounds):
        evidence, empty, likelihood = [], Counter(), 0.0
        for source, target in pairs:
            if not source or not target:
                evidence.append(np.zeros((len(source), len(target))))
                continue
            table = np.array([[t[one, other] for other in target] for one in source])
            links, nulls, score = lexical(table, [null[word] for word in target], p0)
            evidence.append(links)
            likelihood += score
            for word, x in zip(target, nulls, strict=True):
                empty[word] += x
        found, totals = counts(pairs, evidence), Counter()
        for (one, _), count in found.items():
            totals[one] += count
        t = {pair: count / totals[pair[0]] for pair, count in found.items()}
        if p0:
            null = {word: empty[word] / sum(empty.values()) for word in vocabulary}
        history.append(likelihood)
    return t, history
