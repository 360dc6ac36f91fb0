"""Compare the spelling of words, and lend evidence between words of one stem."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit._support.jit import jit
from alignkit.align.maximization_kernel import UNITS, plus

F4 = NDArray[np.float32]
F8 = NDArray[np.float64]
I4 = NDArray[np.int32]
I8 = NDArray[np.int64]
U4 = NDArray[np.uint32]


@jit
def add_similarity(
    rows: I8,
    columns: I4,
    source: U4,
    source_starts: I8,
    target: U4,
    target_starts: I8,
    least: int,
    weight: float,
    identity: float,
    prior: F4,
) -> None:
    """Add `weight` times the similarity of the two words to each place of prior (K,).

    1 for equal words, which get `identity` besides; else the common prefix over the longer
    length, if it has `least` letters.
    """
    for word in range(len(rows) - 1):
        a = source_starts[word]
        m = source_starts[word + 1] - a
        for place in range(rows[word], rows[word + 1]):
            b = target_starts[columns[place]]
            n = target_starts[columns[place] + 1] - b
            if m == 0 or n == 0 or source[a] != target[b]:
                continue
            common = 1
            while common < m and common < n and source[a + common] == target[b + common]:
                common += 1
            if common == m and common == n:
                prior[place] += weight + identity
            elif common >= least:
                prior[place] += weight * common / max(m, n)


@jit
def sum_stems(
    members: I4,
    member_starts: I8,
    rows: I8,
    columns: I4,
    target_stems: I4,
    number: int,
    stem_pairs: I4,
) -> int:
    """Give numbers to the pairs of stems that occur, in stem_pairs (K,); return how many.

    `members` lists the source words of each source stem; `target_stems` (Vt,) has `number` values.
    """
    where = np.full(number, -1, np.int64)
    count = 0
    for stem in range(len(member_starts) - 1):
        begin = count
        for at in range(member_starts[stem], member_starts[stem + 1]):
            word = members[at]
            for place in range(rows[word], rows[word + 1]):
                other = target_stems[columns[place]]
                if where[other] < begin:
                    where[other] = count
                    count += 1
                stem_pairs[place] = where[other]
    return count


@jit
def add_to_stems(
    rows: I8,
    columns: I4,
    counts: F4,
    stem_pairs: I4,
    source_stems: I4,
    target_stems: I4,
    pair_sums: I8,
    source_sums: I8,
    target_sums: I8,
) -> None:
    """Add the counts (K,) of the word pairs to the sums of their stems, in units."""
    for word in range(len(rows) - 1):
        total = source_sums[source_stems[word]]
        for place in range(rows[word], rows[word + 1]):
            count = counts[place]
            if count > 0:
                pair, other = stem_pairs[place], target_stems[columns[place]]
                pair_sums[pair] = plus(pair_sums[pair], count)
                target_sums[other] = plus(target_sums[other], count)
                total = plus(total, count)
        source_sums[source_stems[word]] = total


@jit
def add_backing(
    rows: I8,
    columns: I4,
    counts: F4,
    stem_pairs: I4,
    source_stems: I4,
    target_stems: I4,
    source_share: F4,
    target_share: F4,
    pair_sums: I8,
    source_sums: F8,
    target_sums: F8,
    strength: float,
    weights: F4,
) -> None:
    """Add to each place what the other words of its two stems tell.

    strength * (c(stem pair) - c(place)) / sqrt(c(stem) c(stem)) * sqrt(share share); the sums of
    pairs are in units, those of stems are not.
    """
    factors = 1 / np.sqrt(target_sums)
    for word in range(len(rows) - 1):
        factor = strength * np.sqrt(source_share[word] / source_sums[source_stems[word]])
        for place in range(rows[word], rows[word + 1]):
            other = pair_sums[stem_pairs[place]] - plus(0, counts[place])
            if other > 0:
                column = columns[place]
                weights[place] += (
                    factor * (other / UNITS) * factors[target_stems[column]] * target_share[column]
                )
