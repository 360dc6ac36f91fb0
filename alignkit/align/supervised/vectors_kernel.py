"""Compute the features of cells that word vectors give.

A cell is a word of one side and a word of the other. Its features compare the cosine of their
vectors with those of its rivals in the row and in the column, and with those of their neighbours.
"""

from __future__ import annotations

import numpy as np

from alignkit._support.array_types import F4, I4
from alignkit._support.jit import fast, inlined_fast

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
