"""Compare words by spelling and by vectors, and lend evidence between words of one stem."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import F4, I2, I4, I8, U4
from alignkit._support.jit import fast, inlined, inlined_fast, jit
from alignkit.align.maximization_kernel import UNITS, plus

ONE = 1 << 14  # the length of a vector. A cosine is a sum of products over its square, below 2^31
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


@jit
def add_static(
    pairs: WordPairs, source: I2, target: I2, weight: float, least: float, prior: F4
) -> int:
    """Add the pseudo-count of each word pair to prior (K,); return how many have one.

    weight * (cosine - least) / (1 - least), where that is positive. source (Vs, d) and target
    (Vt, d) are vectors of the length `ONE`, or zeros.
    """
    rows, columns = pairs
    near = 0
    for word in range(len(rows) - 1):
        for place in range(rows[word], rows[word + 1]):
            total = 0
            for k in range(source.shape[1]):
                total += source[word, k] * target[columns[place], k]
            over = total / (ONE * ONE) - least
            if over > 0:
                prior[place] += weight * min(over / (1 - least), 1.0)
                near += 1
    return near


SHARPNESS = 10.0  # of the softmax of cosines
WINDOW = 2  # how many words of context count on each side
NO_WORD = -1  # where no word is left out


@inlined_fast
def cosine_of_sums(
    own: F4,
    other: F4,
    cross: F4,
    begin: int,
    end: int,
    skip: int,
    other_begin: int,
    other_end: int,
    other_skip: int,
) -> float:
    """Return the cosine of two sums of word vectors, one of each side.

    A sum has the words from begin to before end but `skip`, which may be `NO_WORD`. own and other
    are the cosines within the sides, cross (N, M) those between.
    """
    above = 0.0
    left = 0.0
    right = 0.0
    for i in range(begin, end):
        if i == skip:
            continue
        for j in range(other_begin, other_end):
            if j != other_skip:
                above += cross[i, j]
        for k in range(begin, end):
            if k != skip:
                left += own[i, k]
    for j in range(other_begin, other_end):
        if j == other_skip:
            continue
        for k in range(other_begin, other_end):
            if k != other_skip:
                right += other[j, k]
    below = left * right
    if below > 1e-9:
        return float(above / np.sqrt(below))
    return 0.0


# the features of a cell; `VECTORS` in alignkit.align.supervised.cells names them in this order
COSINE = 0
ABOVE_ROW = 1  # how far the cosine is above its rivals
ABOVE_COLUMN = 2
SHARE_OF_ROW = 3  # its softmax
SHARE_OF_COLUMN = 4
LEFT = 5  # the cosines of the contexts
RIGHT = 6
AROUND = 7
SECOND_WORD = 8  # what a second word adds
KNOWN = 9  # whether both words have vectors

# of each word: its greatest cosine, the next one, and the sum of exp(sharpness cosine)
GREATEST = 0
NEXT = 1
WEIGHTS = 2


@fast
def vector_features(
    own: F4, other: F4, cross: F4, places: I4, first: int, last: int, features: F4, column: int
) -> None:
    """Set the 10 features from a column on, of the cells from first to before last of a pair."""
    n, m = cross.shape
    by_source = np.zeros((n, 3), np.float32)
    by_target = np.zeros((m, 3), np.float32)
    by_source[:, :WEIGHTS] = -1
    by_target[:, :WEIGHTS] = -1
    for i in range(n):
        for j in range(m):
            x = cross[i, j]
            weight = np.exp(SHARPNESS * x)
            by_source[i, WEIGHTS] += weight
            by_target[j, WEIGHTS] += weight
            if x > by_source[i, GREATEST]:
                by_source[i, NEXT] = by_source[i, GREATEST]
                by_source[i, GREATEST] = x
            elif x > by_source[i, NEXT]:
                by_source[i, NEXT] = x
            if x > by_target[j, GREATEST]:
                by_target[j, NEXT] = by_target[j, GREATEST]
                by_target[j, GREATEST] = x
            elif x > by_target[j, NEXT]:
                by_target[j, NEXT] = x
    for row in range(first, last):
        i = places[row, 0]
        j = places[row, 1]
        x = cross[i, j]
        known = own[i, i] > 0.5 and other[j, j] > 0.5
        # the greatest cosine of the word with any other than this one
        if x >= by_source[i, GREATEST]:
            rival = by_source[i, NEXT]
        else:
            rival = by_source[i, GREATEST]
        if x >= by_target[j, GREATEST]:
            other_rival = by_target[j, NEXT]
        else:
            other_rival = by_target[j, GREATEST]
        # the context: words from begin to before end around the word itself
        begin = max(i - WINDOW, 0)
        end = min(i + WINDOW + 1, n)
        other_begin = max(j - WINDOW, 0)
        other_end = min(j + WINDOW + 1, m)
        # the best of two neighbouring words against one, either way; the word may be either of them
        two = -1.0
        for y in range(max(i - 1, 0), min(i + 1, n - 1)):
            two = max(two, cosine_of_sums(own, other, cross, y, y + 2, NO_WORD, j, j + 1, NO_WORD))
        for z in range(max(j - 1, 0), min(j + 1, m - 1)):
            two = max(two, cosine_of_sums(own, other, cross, i, i + 1, NO_WORD, z, z + 2, NO_WORD))
        weight = np.exp(SHARPNESS * x)
        out = features[row, column:]
        out[COSINE] = x
        out[ABOVE_ROW] = x - rival if known else 0
        out[ABOVE_COLUMN] = x - other_rival if known else 0
        out[SHARE_OF_ROW] = weight / by_source[i, WEIGHTS]
        out[SHARE_OF_COLUMN] = weight / by_target[j, WEIGHTS]
        out[LEFT] = cosine_of_sums(own, other, cross, begin, i, NO_WORD, other_begin, j, NO_WORD)
        out[RIGHT] = cosine_of_sums(
            own, other, cross, i + 1, end, NO_WORD, j + 1, other_end, NO_WORD
        )
        out[AROUND] = cosine_of_sums(own, other, cross, begin, end, i, other_begin, other_end, j)
        # at least -1, also where there is no second word and two is -1
        out[SECOND_WORD] = max(two - x, np.float32(-1))
        out[KNOWN] = known
