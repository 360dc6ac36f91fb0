"""Tables of two annotators, for resamples or permuted labels: the loops over judgments.

`alignkit.agreement.judgments.tables` calls `couple_sums`, `figures` calls `group_sums`, and
`permutations` all others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit._support.array_types import F8, I4, I8, U8
from alignkit._support.jit import inlined, jit
from alignkit.agreement.chance.sampling_kernel import uniform

Labels = NDArray[np.int8]


@jit
def couple_sums(offsets: I8, items: I4, weights: I4, size: int, far: F8) -> F8:
    """Return the sums behind kappa and AC1 of N tables in R resamples: (5, N, R).

    `offsets`, `items`, `size`: see `alignkit.agreement.judgments.tables.LabelTables`. `weights`
    (P, R) is how often an item is drawn. `far` (K, K) are the distances between labels. Resamples
    are stored side by side and added at once.
    """
    couples = (len(offsets) - 1) // (size * size)
    resamples = weights.shape[1]
    sums = np.zeros((5, couples, resamples))
    count = sums[0]  # of items
    same = sums[1]  # items with equal labels
    distances = sums[2]  # between the two labels of an item
    expected = sums[3]  # the same by the margins, times items
    squares = sums[4]  # of how often each label is given, by both annotators together
    cell = np.empty(resamples, np.int32)  # how often the items of a cell are drawn
    # the margins of a table: how often items with a label of the first, or of the second, are drawn
    first = np.empty((size, resamples))
    second = np.empty((size, resamples))
    for n in range(couples):
        first[:] = 0
        second[:] = 0
        for i in range(size):
            for j in range(size):
                cell_number = (n * size + i) * size + j
                begin = offsets[cell_number]
                end = offsets[cell_number + 1]
                if begin == end:
                    continue
                cell[:] = 0
                for place in range(begin, end):
                    row = weights[items[place]]
                    for r in range(resamples):
                        cell[r] += row[r]
                for r in range(resamples):
                    first[i, r] += cell[r]
                    second[j, r] += cell[r]
                    distances[n, r] += far[i, j] * cell[r]
                if i == j:
                    for r in range(resamples):
                        same[n, r] += cell[r]
        for i in range(size):
            for r in range(resamples):
                count[n, r] += first[i, r]
                squares[n, r] += (first[i, r] + second[i, r]) ** 2
            for j in range(size):
                for r in range(resamples):
                    expected[n, r] += far[i, j] * first[i, r] * second[j, r]
    return sums


@jit
def group_sums(group: I8, weights: I4, groups: int) -> F8:
    """Return the (G, R) sums of (P, R) weights of items; `group` (P,) is the group of each."""
    sums = np.zeros((groups, weights.shape[1]))
    for p in range(len(group)):
        to = sums[group[p]]
        row = weights[p]
        for r in range(len(row)):
            to[r] += row[r]
    return sums


@jit
def permute(codes: Labels, offsets: I8, states: U8) -> Labels:
    """Return (R, J) codes, permuted within each annotator (Fisher & Yates).

    The codes of annotator a begin at `offsets[a]`. `states` are (R, 4), the random states, which
    change.
    """
    mixed = np.empty((len(states), len(codes)), np.int8)
    for r in range(len(states)):
        row = mixed[r]
        state = states[r]
        row[:] = codes
        for a in range(len(offsets) - 1):
            begin = offsets[a]
            # the labels from k + 1 on are final: each is drawn from those that were left
            for k in range(offsets[a + 1] - 1, begin, -1):
                # `uniform` may be 1, which would give the place after k
                other = begin + min(k - begin, int(uniform(state) * (k - begin + 1)))
                row[k], row[other] = row[other], row[k]
    return mixed


class PermutedLabels(NamedTuple):
    """J judgments, annotator by annotator, and R permutations of them.

    codes: (J,): what was judged.
    permuted: (R, J): the permuted codes.
    meaning: The label in a view that each code means; -1 for none.
    offsets: (A + 1,): where the judgments of each annotator begin.
    items: (J,): the item that is judged.
    """

    codes: Labels
    permuted: Labels
    meaning: Labels
    offsets: I8
    items: I4


class MajorityRule(NamedTuple):
    """How the consensus of P items is found.

    size: K, the number of labels.
    least: The least number of votes that an item needs.
    lowest: Whether the lowest of tied labels is the consensus.
    label_of_tie: (P,): the consensus of a tied item otherwise: its adjudicated label; -1 for none.
    """

    size: int
    least: int
    lowest: bool
    label_of_tie: Labels


@inlined
def most(counts: I4, least: int, lowest: bool, tie: int) -> int:
    """Return the label with most votes; -1 if there are fewer than `least` votes.

    Of tied labels the lowest is returned, or `tie`: the adjudicated label, -1 if there is none.
    """
    best = 0
    total = 0
    tied = False
    for label in range(len(counts)):
        total += counts[label]
        if label > 0 and counts[label] == counts[best]:
            tied = True
        elif counts[label] > counts[best]:
            best = label
            tied = False
    if total < least:
        return -1
    return tie if tied and not lowest else best


@jit
def consensus_tables(labels: PermutedLabels, rule: MajorityRule) -> tuple[F8, I8]:
    """Return each annotator against the consensus of R permutations of all annotators.

    The first result are (R, A, K * K) tables: rows are the labels of the annotator, columns those
    of the consensus. The second one is the number of items with a consensus, (R,).
    """
    _, permuted, meaning, offsets, items = labels
    size, least, lowest, label_of_tie = rule
    annotators = len(offsets) - 1
    count = len(label_of_tie)
    tables = np.zeros((len(permuted), annotators, size * size))
    settled_items = np.zeros(len(permuted), np.int64)
    votes = np.zeros((count, size), np.int16)
    consensus = np.empty(count, np.int8)
    for r in range(len(permuted)):
        votes[:] = 0
        for j in range(len(items)):
            label = meaning[permuted[r, j]]
            if label >= 0:
                votes[items[j], label] += 1
        for p in range(count):
            consensus[p] = most(votes[p], least, lowest, label_of_tie[p])
            settled_items[r] += consensus[p] >= 0
        for a in range(annotators):
            for j in range(offsets[a], offsets[a + 1]):
                label = meaning[permuted[r, j]]
                other = consensus[items[j]]
                if label >= 0 and other >= 0:
                    tables[r, a, label * size + other] += 1
    return tables, settled_items


@jit
def one_permuted_tables(labels: PermutedLabels, rule: MajorityRule) -> tuple[F8, I8]:
    """Return each annotator, with only their labels permuted, against the consensus.

    As `consensus_tables`, but the second result counts an item with a consensus once for each
    annotator who judged it.
    """
    codes, permuted, meaning, offsets, items = labels
    size, least, lowest, label_of_tie = rule
    annotators = len(offsets) - 1
    count = len(label_of_tie)
    tables = np.zeros((len(permuted), annotators, size * size))
    settled_judgments = np.zeros(len(permuted), np.int64)
    votes = np.zeros((count, size), np.int16)
    for j in range(len(items)):
        if meaning[codes[j]] >= 0:
            votes[items[j], meaning[codes[j]]] += 1
    for r in range(len(permuted)):
        for a in range(annotators):
            for j in range(offsets[a], offsets[a + 1]):
                # the given vote is replaced by the permuted one, and put back below
                label = meaning[permuted[r, j]]
                given = meaning[codes[j]]
                p = items[j]
                if given >= 0:
                    votes[p, given] -= 1
                if label >= 0:
                    votes[p, label] += 1
                    other = most(votes[p], least, lowest, label_of_tie[p])
                    if other >= 0:
                        tables[r, a, label * size + other] += 1
                        settled_judgments[r] += 1
                    votes[p, label] -= 1
                if given >= 0:
                    votes[p, given] += 1
    return tables, settled_judgments
