"""Score alignments under IBM 3 and IBM 4 by the formulas of Brown et al. 1993: plain and slow.

An alignment gives each target word its source word, -1 for NULL. Positions are 1-based inside.
"""

from itertools import combinations
from math import comb, exp, factorial, inf, log

import numpy as np


def cepts_of(alignment, n):
    """List the 1-based positions of each source word's cept; [0] is that of NULL."""
    cepts = [[] for _ in range(n + 1)]
    for j, i in enumerate(alignment):
        cepts[i + 1].append(j + 1)
    return cepts


def fertility(share, size, last):
    """Probability of a fertility: from `last` on each further word halves it, and all sum to 1."""
    return share[size] if size < last else share[last] / 2 ** (size - last + 1)


def null_probability(m, nulls, p1):
    """Probability of so many NULL words among m (eq. 31): each other word has one or none."""
    if 2 * nulls > m:
        return 0.0
    return comb(m - nulls, nulls) * p1**nulls * (1 - p1) ** (m - 2 * nulls)


def step(table, distance):
    """Look up a distance in a table with columns for -R to R, or 1 to R; the ends stand for all."""
    reach = len(table) // 2 if len(table) % 2 else len(table)
    if len(table) % 2:
        return table[min(max(distance, -reach), reach) + reach]
    return table[min(distance, reach) - 1]


def log_probability(case, alignment):
    """Log of P(f, a | e) of IBM 3 (eq. 32) or IBM 4 (eq. 38 and after)."""
    n = len(case.fertilities)
    cepts, last = cepts_of(alignment, n), case.fertilities.shape[1] - 1
    found = [null_probability(len(alignment), len(cepts[0]), case.p1)]
    found += [case.t[i + 1][j] for j, i in enumerate(alignment)]
    for i in range(n):
        size = len(cepts[i + 1])
        found.append(fertility(case.fertilities[i], size, last))
        if case.d is not None:
            found.append(factorial(size))
            found += [case.d[i][j - 1] for j in cepts[i + 1]]
    if case.d is None:
        found += order(case, cepts)
    return sum(log(float(x)) for x in found) if min(found) > 0 else -inf


def order(case, cepts):
    found = []
    centre, group = 0, len(case.d1) - 1
    for i, cept in enumerate(cepts[1:]):
        for k, j in enumerate(cept):
            word = case.target_classes[j - 1]
            if k == 0:
                found.append(step(case.d1[group][word], j - centre))
            else:
                found.append(step(case.d2[word], j - cept[k - 1]))
        if cept:
            centre, group = -(-sum(cept) // len(cept)), case.source_classes[i]
    return found


def neighbours(alignment, n):
    found = []
    for j, old in enumerate(alignment):
        others = (i for i in range(-1, n) if i != old)
        found += [[*alignment[:j], i, *alignment[j + 1 :]] for i in others]
    for j, k in combinations(range(len(alignment)), 2):
        if alignment[j] != alignment[k]:
            other = list(alignment)
            other[j], other[k] = other[k], other[j]
            found.append(other)
    return found


def posteriors(case, alignment):
    """Probability of each link, (N, M), over the alignment and its neighbours."""
    n, best = len(case.fertilities), log_probability(case, alignment)
    total, found = 0.0, np.zeros((n, len(alignment)))
    for other in [list(alignment), *neighbours(alignment, n)]:
        weight = exp(log_probability(case, other) - best)
        total += weight
        for j, i in enumerate(other):
            if i >= 0:
                found[i, j] += weight
    return found / total
