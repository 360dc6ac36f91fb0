"""Weigh the words of rules by how the words of a corpus are linked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.jit import jit
from alignkit.rules.derivation.fragments_kernel import BITS, VARIABLE, WORD

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]


@jit
def weigh_words(
    symbols: Ints,
    offsets: Longs,
    links: Ints,
    link_offsets: Longs,
    keys: Longs,
    weights: Floats,
    lone: Floats,
) -> Floats:
    """Return the lexical weights of some rules: of the target words, and of the source words.

    A word weighs the mean of the weights of its links, or as a word that is linked to nothing; a
    rule the product of its words.

    Parameters
    ----------
    symbols, offsets, links, link_offsets
        The rules; see `alignkit.rules.derivation.fragments_kernel`.
    keys, weights, lone
        As `alignkit.rules.lexicon.Weights` has them.
    """
    found = np.ones((len(link_offsets) - 1, 2), np.float64)
    for r in range(len(found)):
        source = yielded(symbols[offsets[2 * r] : offsets[2 * r + 1]])
        target = yielded(symbols[offsets[2 * r + 1] : offsets[2 * r + 2]])
        sums = (np.zeros(len(target)), np.zeros(len(source)))
        counts = (np.zeros(len(target), np.int32), np.zeros(len(source), np.int32))
        for link in range(link_offsets[r], link_offsets[r + 1], 2):
            i, j = links[link], links[link + 1]
            place = np.searchsorted(keys, np.int64(source[i]) << 32 | target[j])
            sums[0][j] += weights[place, 0]
            sums[1][i] += weights[place, 1]
            counts[0][j] += 1
            counts[1][i] += 1
        for way in range(2):
            words = target if way == 0 else source
            for i in range(len(words)):
                if counts[way][i]:
                    found[r, way] *= sums[way][i] / counts[way][i]
                elif words[i] >= 0:
                    found[r, way] *= lone[words[i], way]
    return found


@jit
def yielded(symbols: Ints) -> Ints:
    """Return the words of a side in order, -1 for a variable."""
    found = np.empty(len(symbols), np.int32)
    count, at = 0, 0
    while at < len(symbols):
        what = symbols[at] & ((1 << BITS) - 1)
        if what == WORD:
            found[count] = symbols[at] >> BITS
            count += 1
        elif what >= VARIABLE:
            found[count] = -1
            count += 1
            at += 1
        at += 1
    return found[:count]
