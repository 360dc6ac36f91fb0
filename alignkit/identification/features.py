"""Features of pairs of texts, in sets: shared words, alignment, vectors of encoders.

All features are symmetric: exchanging the two texts of a pair changes none. Some depend on how many
training texts have a word (`TextFrequencies`): they are computed anew for each training part, and
all others once (`PairTexts`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from alignkit._support.array_types import F8, I8
from alignkit.align.aligner import Aligner
from alignkit.align.vectors.word_vectors import WordVectors
from alignkit.identification.alignment_features import ALIGN, AlignedTexts, align_texts
from alignkit.identification.options import Encoder, IdentifierOptions, Matrix, Texts
from alignkit.identification.overlap_features import OVERLAP, shared_words, tokens
from alignkit.identification.similarity import encoded, sklearn
from alignkit.model.texts import porter_stem

ENCODER = ("cosine of mean vectors", "matched words")
NAMES = {
    "cosine": ("cosine of letters",),
    "overlap": OVERLAP,
    "align": ALIGN,
    "encoder": ENCODER,
}

_COSINE = OVERLAP.index("cosine of letters")


class TextFrequencies(NamedTuple):
    """The inverse document frequencies of n training texts: ln((1 + n)/(1 + df)) + 1."""

    words: dict[str, float]
    letters: dict[str, float]  # of the n-grams
    unseen: float  # of other words


class _Counts:
    """How often each text has each word or n-gram."""

    def __init__(self, firsts: Sequence[str], seconds: Sequence[str], **options: Any) -> None:
        make = sklearn("feature_extraction.text").CountVectorizer
        counter = make(dtype=np.float32, **options)
        counted = counter.fit_transform([*firsts, *seconds])
        n = len(firsts)
        self.names: list[str] = counter.get_feature_names_out().tolist()
        self.sides = (counted[:n], counted[n:])

    @cached_property
    def _products(self) -> list[Matrix]:
        """The counts of both texts multiplied with each other, and with themselves."""
        first, second = self.sides
        products = (first.multiply(second), first.multiply(first), second.multiply(second))
        return [product.tocsr() for product in products]

    def idf(self, places: I8) -> tuple[dict[str, float], float]:
        """Return the idf of what the texts of some pairs have, and of what they do not have."""
        held = np.concatenate([side[places].indices for side in self.sides])
        known, df = np.unique(held, return_counts=True)  # df: how many texts have it
        texts = 2 * len(places)
        values = np.log((1 + texts) / (1 + df)) + 1
        names = [self.names[k] for k in known.tolist()]
        return dict(zip(names, values.tolist(), strict=True)), log(1 + texts) + 1

    def weights(self, idf: dict[str, float], unseen: float) -> F8:
        """Return the idf of each name."""
        return np.array([idf.get(name, unseen) for name in self.names], float)

    def cosine(self, idf: F8) -> F8:
        """Return the cosine of the two texts of each pair, (P,)."""
        dot, first, second = (product @ idf**2 for product in self._products)
        return _divided(dot, np.sqrt(first * second))


@dataclass(frozen=True, eq=False)
class PairTexts:
    """Pairs of texts, and what their features need.

    Parameters
    ----------
    texts : The two texts of each of P pairs.
    aligner : The aligner of the feature set ``align``.
    options : The function words, and the encoders of ``vectors``, ``pairs`` and ``encoder``.
    """

    texts: Sequence[Texts]
    aligner: Aligner | None
    options: IdentifierOptions

    def frequencies(self, places: I8) -> TextFrequencies:
        """Return the frequencies in the texts of some pairs."""
        words, unseen = self._words.idf(places)
        return TextFrequencies(words, self._letters.idf(places)[0], unseen)

    def matrix(self, features: Iterable[str], frequencies: TextFrequencies) -> Matrix:
        """Return the values of feature sets, (P, F)."""
        parts = [self._values(name, frequencies) for name in features]
        if any(map(sparse.issparse, parts)):
            return sparse.hstack(parts, "csr")
        return np.hstack(parts)

    def _values(self, name: str, frequencies: TextFrequencies) -> Matrix:
        """Return the values of one feature set."""
        if name == "cosine":
            return self._overlap(frequencies)[:, [_COSINE]]
        if name == "overlap":
            return self._overlap(frequencies)
        if name == "align":
            return self._align(frequencies)
        if name == "bow":
            return self._bag(frequencies)
        if name == "vectors":
            return self._vectors
        if name == "encoder":
            return self._encoder
        return encoded(self.options.encode_pairs, self.texts)

    @cached_property
    def _sides(self) -> tuple[list[str], list[str]]:
        """The first texts, and the second ones."""
        return [first for first, _ in self.texts], [second for _, second in self.texts]

    @cached_property
    def _words(self) -> _Counts:
        """The words of the texts."""
        return _Counts(*self._sides, analyzer=tokens)

    @cached_property
    def _letters(self) -> _Counts:
        """The n-grams of letters of the texts."""
        return _Counts(*self._sides, analyzer="char_wb", ngram_range=(2, 4))

    @cached_property
    def _vectors(self) -> Matrix:
        """|u - v| and u v of the vectors u, v of the two texts: (P, 2 d)."""
        firsts, seconds = self._sides
        vectors = encoded(self.options.encode, [*firsts, *seconds])
        return _difference_and_product(vectors[: len(firsts)], vectors[len(firsts) :])

    @cached_property
    def _encoder(self) -> F8:
        """The features of an encoder, (P, 2)."""
        assert self.options.text_encoder is not None
        return self.options.text_encoder.features(self.texts)

    def _bag(self, idf: TextFrequencies) -> Matrix:
        """Return |u - v| and u v of binary bags of training words u, v: (P, 2 words), sparse."""
        column_of = {word: k for k, word in enumerate(idf.words)}
        names = self._words.names
        kept = [(k, column_of[word]) for k, word in enumerate(names) if word in column_of]
        rows, columns = np.array(kept, int).reshape(-1, 2).T
        ones = np.ones(len(rows))
        # its product with counts of all words are the counts of the training words
        selection = sparse.csr_matrix((ones, (rows, columns)), (len(names), len(column_of)))
        first, second = self._words.sides
        return _difference_and_product((first > 0) @ selection, (second > 0) @ selection)

    def _overlap(self, idf: TextFrequencies) -> F8:
        """Return the features of shared words and letters, (P, 21)."""
        words = self._words.weights(idf.words, idf.unseen)
        letters = self._letters.weights(idf.letters, 0.0)
        first, second = (side > 0 for side in self._words.sides)
        shared = first.multiply(second) @ words
        shares = [_divided(shared, first @ words), _divided(shared, second @ words)]
        letter_cosine = self._letters.cosine(letters)
        word_cosine = self._words.cosine(words)
        return np.column_stack((self._shared, letter_cosine, word_cosine, *np.sort(shares, axis=0)))

    @cached_property
    def _shared(self) -> F8:
        """The features of shared words and letters that need no frequencies."""
        stem = porter_stem()
        content = self._is_content

        def stems(text: str) -> set[str]:
            return {stem(word) for word in set(tokens(text)) if content(word)}

        rows = [shared_words(pair, list(map(stems, pair))) for pair in self.texts]
        equal_weights = np.ones(len(self._letters.names))
        return np.column_stack((rows, self._letters.cosine(equal_weights)))

    def _is_content(self, word: str) -> bool:
        """Return whether a word has letters or digits and is no function word."""
        return bool(re.match(r"\w", word)) and word not in self.options.function_words

    def _align(self, idf: TextFrequencies) -> F8:
        """Return the features of the posteriors of an aligner, (P, 31)."""
        words = self._words.weights(idf.words, idf.unseen)
        content = words * [self._is_content(word) for word in self._words.names]
        covered = []
        unaligned = []
        for sums, counts in zip(self._aligned.sums, self._words.sides, strict=True):
            covered.append(_divided(sums.best @ words, counts @ words))
            unaligned.append(_divided(sums.unaligned @ content, counts @ content))
        by_idf = (*np.sort(covered, axis=0), *np.sort(unaligned, axis=0))
        return np.column_stack((self._aligned.values, *by_idf))

    @cached_property
    def _aligned(self) -> AlignedTexts:
        """What the alignment of the texts gives without frequencies."""
        assert self.aligner is not None
        return align_texts(self.aligner, self.texts, self._words.names, self._is_content)


def mean_vectors(vectors: WordVectors) -> Encoder:
    """Return a function that gives each text the mean vector of its words."""
    return lambda texts: [vectors.of(tokens(text) or [""]).mean(0) for text in texts]


def _divided(part: F8, whole: F8) -> F8:
    """Divide, with 0 where the whole is 0."""
    result: F8 = np.divide(part, whole, where=whole > 0, out=np.zeros_like(part, float))
    return result


def _difference_and_product(u: Matrix, v: Matrix) -> Matrix:
    """Return |u - v| and u v of each row, side by side."""
    is_sparse = sparse.issparse(u)
    if is_sparse:
        return sparse.hstack((abs(u - v), u.multiply(v)))
    return np.hstack((abs(u - v), u * v))
