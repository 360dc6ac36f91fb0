"""Compare words by spelling, and lend evidence between words of one stem."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import F4, I4, I8, U4
from alignkit._support.jit import inlined, jit
from alignkit.align.maximization_kernel import UNITS, plus

SMOOTH = 0.5  # added to the count of a stem before it divides


class WordPairs(NamedTuple):
    """K word pairs, as in `Cooccurrence`: the places of a source word, and their target words."""

    rows: I8  # (Vs + 1,)
    columns: I4  # (K,)


class Spellings(NamedTuple):
    """The letters of V words."""

    letters: U4  # the code points of one word after the other
    starts: I8  # (V + 1,) where each word begins


class Similarity(NamedTuple):
    """What words of similar spelling add to the prior; see `add_similarity`."""

    least: int  # the fewest letters that a common prefix counts from
    weight: float
    identity: float


class Stems(NamedTuple):
    """The stems of words: their first letters."""

    numbers: I4  # (V,) the stem of each word
    size: int  # how many stems there are
    shares: F4  # (V,) the share of each word in the occurrences of its stem


class StemSums(NamedTuple):
    """The counts of pairs of stems, of source stems, and of target stems, in units."""

    pairs: I8
    source: I8
    target: I8


@inlined
def common_prefix(source: U4, a: int, m: int, target: U4, b: int, n: int) -> int:
    """Return how many letters two words begin with alike; they are m and n letters from a and b."""
    common = 0
    while common < m and common < n and source[a + common] == target[b + common]:
        common += 1
    return common


@jit
def add_similarity(
    pairs: WordPairs, source: Spellings, target: Spellings, similarity: Similarity, prior: F4
) -> None:
    """Add `weight` times the similarity of the two words to each place of prior (K,).

    1 for equal words, which get `identity` besides; else the common prefix over the longer
    length, if it has `least` letters.
    """
    rows, columns = pairs
    target_starts = target.starts
    least, weight, identity = similarity
    for word in range(len(rows) - 1):
        a = source.starts[word]
        m = source.starts[word + 1] - a
        for place in range(rows[word], rows[word + 1]):
            b = target_starts[columns[place]]
            n = target_starts[columns[place] + 1] - b
            common = common_prefix(source.letters, a, m, target.letters, b, n)
            if common == 0:
                continue
            if common == m and common == n:
                prior[place] += weight + identity
            elif common >= least:
                prior[place] += weight * common / max(m, n)


@jit
def sum_stems(
    pairs: WordPairs, members: I4, member_starts: I8, target: Stems, stem_pairs: I4
) -> int:
    """Give numbers to the pairs of stems that occur, in stem_pairs (K,); return how many.

    `members` lists the source words of each source stem.
    """
    rows, columns = pairs
    # where[stem] is the number of its pair with the source stem at hand, if it is `begin` or more
    where = np.full(target.size, -1, np.int64)
    # one source stem after the other, so that one array of target stems serves all
    count = 0
    for stem in range(len(member_starts) - 1):
        begin = count
        for at in range(member_starts[stem], member_starts[stem + 1]):
            word = members[at]
            for place in range(rows[word], rows[word + 1]):
                other = target.numbers[columns[place]]
                if where[other] < begin:
                    where[other] = count
                    count += 1
                stem_pairs[place] = where[other]
    return count


@jit
def add_to_stems(
    pairs: WordPairs, counts: F4, stem_pairs: I4, source: Stems, target: Stems, sums: StemSums
) -> None:
    """Add the counts (K,) of the word pairs to the sums of their stems, in units."""
    rows, columns = pairs
    pair_sums, source_sums, target_sums = sums
    source_stems = source.numbers
    target_stems = target.numbers
    for word in range(len(rows) - 1):
        total = source_sums[source_stems[word]]
        for place in range(rows[word], rows[word + 1]):
            count = counts[place]
            if count > 0:
                pair = stem_pairs[place]
                other = target_stems[columns[place]]
                pair_sums[pair] = plus(pair_sums[pair], count)
                target_sums[other] = plus(target_sums[other], count)
                total = plus(total, count)
        source_sums[source_stems[word]] = total


@jit
def add_backing(
    pairs: WordPairs,
    counts: F4,
    stem_pairs: I4,
    source: Stems,
    target: Stems,
    sums: StemSums,
    strength: float,
    weights: F4,
) -> None:
    """Add to each place of weights (K,) what the other words of its two stems tell.

    strength * (c(stem pair) - c(place)) / sqrt(c(stem) c(stem)) * sqrt(share share); the counts of
    stems are smoothed.
    """
    rows, columns = pairs
    pair_sums = sums.pairs
    target_stems = target.numbers
    target_root = np.sqrt(target.shares)
    source_sums = sums.source / UNITS + SMOOTH
    factors = 1 / np.sqrt(sums.target / UNITS + SMOOTH)
    for word in range(len(rows) - 1):
        factor = strength * np.sqrt(source.shares[word] / source_sums[source.numbers[word]])
        for place in range(rows[word], rows[word + 1]):
            # c(stem pair) less what the word pair itself counted
            other = pair_sums[stem_pairs[place]] - plus(0, counts[place])
            if other > 0:
                column = columns[place]
                weights[place] += (
                    factor * (other / UNITS) * factors[target_stems[column]] * target_root[column]
                )
