"""Compute chance agreement by its definitions, in plain Python: slow, simple."""

from itertools import product
from math import inf, isnan, log, nan, sqrt


def components(links):
    """Return the connected components of the links, two links being joined by a shared word."""
    found = []
    for link in sorted(links):
        touching = [part for part in found if any(link[0] == i or link[1] == j for i, j in part)]
        found = [part for part in found if part not in touching]
        found.append({link}.union(*touching))
    return found


def closure(part, links):
    """Grow the bounding box of some links until no link leaves it: (first, last) of both sides."""
    inside = part
    while True:
        low_i, high_i = min(i for i, _ in inside), max(i for i, _ in inside)
        low_j, high_j = min(j for _, j in inside), max(j for _, j in inside)
        grown = {(i, j) for i, j in links if low_i <= i <= high_i or low_j <= j <= high_j}
        if len(grown) == len(inside):
            return low_i, high_i, low_j, high_j
        inside = grown


def items(links, unit, source, target, include_identical):
    """Return the atomic phrase pairs, or the links, as boxes; identical ones perhaps left out."""
    if unit == "links":
        boxes = {(i, i, j, j) for i, j in links}
    else:
        boxes = {closure(part, links) for part in components(links)}
    if include_identical:
        return frozenset(boxes)
    return frozenset((a, b, c, d) for a, b, c, d in boxes if source[a : b + 1] != target[c : d + 1])


def norm(a, b, normalizer):
    return {"min": min, "max": max}[normalizer](a, b)


def flipped(initial, n, m, add, delete, random):
    cells = product(range(n), range(m))
    return {c for c in cells if (c in initial) != (random() < (delete if c in initial else add))}


def sampled(initial, n, m, rates, samples, random, *, unit, source, target, normalizer):
    """Return the mean ratio of some samples, as `monte_carlo` does; nan if all are empty."""
    ratios = []
    for _ in range(samples):
        first, second = (
            items(flipped(initial, n, m, *rates[k : k + 2], random), unit, source, target, False)
            for k in (0, 2)
        )
        if first or second:
            below = norm(len(first), len(second), normalizer)
            ratios.append(len(first & second) / below if below else 0.0)
    return sum(ratios) / len(ratios) if ratios else nan


def stratum(cell, initial, source, target):
    """Return which of four rates a cell flips at: empty, filled, the same of equal words."""
    return 2 * (source[cell[0]] == target[cell[1]]) + (cell in initial)


def outcomes(initial, n, m, rates, unit, source, target, include_identical, universe=None):
    """Return the chance of each set of items, over all 2^(n m) alignments."""
    cells = list(product(range(n), range(m)))
    four = [*rates, *rates] if len(rates) == 2 else list(rates)
    found = {}
    for bits in product((False, True), repeat=len(cells)):
        chance = 1.0
        for cell, bit in zip(cells, bits, strict=True):
            rate = four[stratum(cell, initial, source, target)]
            if universe is not None and cell not in universe:
                rate = 0.0
            chance *= rate if bit != (cell in initial) else 1 - rate
        if chance:
            links = {cell for cell, bit in zip(cells, bits, strict=True) if bit}
            key = items(links, unit, source, target, include_identical)
            found[key] = found.get(key, 0.0) + chance
    return found


def exact(
    initial,
    n,
    m,
    rates,
    *,
    unit,
    source,
    target,
    normalizer="min",
    include_identical=False,
    universe=None,
):
    """Enumerate all pairs of alignments: the expected ratio, common items, norm; nan if empty.

    `rates` are two for either annotator (empty and filled cells), or four (`stratum`).
    """
    words, half = (unit, source, target, include_identical, universe), len(rates) // 2
    first, second = (outcomes(initial, n, m, rates[k : k + half], *words) for k in (0, half))
    ratio = filled = common = norms = 0.0
    for (a, p), (b, q) in product(first.items(), second.items()):
        below, both = norm(len(a), len(b), normalizer), len(a & b)
        common += p * q * both
        norms += p * q * below
        if a or b:
            filled += p * q
            ratio += p * q * both / below if below else 0.0
    return ratio / filled if filled else nan, common, norms


def log_likelihood(a, b, reading, data):
    """Return the log of the probability of the cells, -inf outside 0 <= p <= 1."""
    total = 0.0
    for words, trials, edits in data:
        p = a + b * words
        p = p / trials if reading == "count" else p
        if p < -1e-9 or p > 1 + 1e-9:
            return -inf
        for count, chance in ((edits, p), (trials - edits, 1 - p)):
            if count:
                if chance <= 0:
                    return -inf
                total += count * log(chance)
    return total


def near(terms, truth):
    """Check sampled terms against `exact` ones: within four standard errors."""
    assert isnan(terms.ratio[0]) == isnan(truth[0])
    for name, known in zip(("ratio", "common", "norm"), truth, strict=True):
        value, variance = getattr(terms, name)[0], getattr(terms, f"{name}_variance")[0]
        assert isnan(known) or abs(value - known) <= 4 * sqrt(variance) + 1e-12
