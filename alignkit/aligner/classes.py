"""Word classes of monolingual text, by exchange, for the jumps of IBM 4."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.classes_kernel import exchange

SETTLED = 1000  # a round that moves fewer than one word in so many is the last


def word_classes(
    ids: NDArray[np.int32],
    offsets: NDArray[np.int64],
    vocabulary_size: int,
    number: int = 50,
    *,
    rounds: int = 20,
) -> NDArray[np.int32]:
    """Put words into classes such that the class bigrams of the text are most likely.

    The exchange algorithm, as in mkcls: each word in turn goes to the class that raises the
    likelihood of the text most, till few words move. At first, words that follow each other by
    number (falling frequency) share a class. Line boundaries are a word in a class of its own.

    References
    ----------
    R. Kneser, H. Ney (1993). Improved clustering techniques for class-based statistical language
    modelling. Eurospeech, 973-976; S. Martin, J. Liermann, H. Ney (1998). Algorithms for bigram
    and trigram word clustering. Speech Communication 24, 19-37; F. J. Och (1999). An efficient
    method for determining bilingual word classes. EACL, 71-76.

    Examples
    --------
    Articles, nouns and verbs of "a cat ran", "the dog ran", "a dog sat", "the cat sat":

    >>> a, the, cat, dog, ran, sat = range(6)
    >>> text = np.array([a, cat, ran, the, dog, ran, a, dog, sat, the, cat, sat], np.int32)
    >>> word_classes(text, np.array([0, 3, 6, 9, 12]), 6, 3).tolist()
    [0, 0, 1, 1, 2, 2]
    """
    order = np.arange(vocabulary_size + 1, dtype=np.int64)
    classes = (order * number // max(vocabulary_size, 1)).astype(np.int32)
    if number > 1 and ids.size:
        counts = np.arange(1, 1 << 16, dtype=np.float64)
        small = np.concatenate([[0.0], counts * np.log(counts)])
        least = max(1, vocabulary_size // SETTLED)
        exchange(_stream(ids, offsets, vocabulary_size), classes, number, rounds, least, small)
    return classes[:-1].copy()


def _stream(ids: NDArray[np.int32], offsets: NDArray[np.int64], boundary: int) -> NDArray[np.int32]:
    return np.append(np.int32(boundary), np.insert(ids, offsets[1:], boundary)).astype(np.int32)
