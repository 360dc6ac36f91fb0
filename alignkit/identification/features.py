"""Features of pairs of texts: how alike their words are, and how they align.

All features are symmetric: exchanging the two texts of a pair changes none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import log, log1p
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.stats import kendalltau

from alignkit._support.array_types import B1, F8, I8
from alignkit.align.aligner import Aligner
from alignkit.align.settings import LONGEST_PIECE
from alignkit.align.vectors.word_vectors import WordVectors
from alignkit.identification.options import Encoder, IdentifierOptions, Matrix, Texts
from alignkit.identification.similarity import encoded, sklearn
from alignkit.model.texts import porter_stem, words_and_signs

OVERLAP = (
    "jaccard",
    "jaccard of stems",
    "shared/shorter",
    "shared/longer",
    "dice 1",
    "dice 2",
    "dice 3",
    "lcs/shorter",
    "lcs/longer",
    "length ratio",
    "length difference",
    "digits shared",
    "digits unshared",
    "negation difference",
    "ratio of characters",
    "equal",
    "cosine of letters, tf",
    "cosine of letters",
    "cosine of words",
    "idf shared, min",
    "idf shared, max",
)
_BY_SIDE = (
    "coverage",
    "coverage of content",
    "unaligned content",
    "unaligned digits",
    "unaligned content words",
    "entropy",
    "entropy of content",
    "likelihood",
    "null",
    "coverage by idf",
    "unaligned idf",
)
_BY_PAIR = (
    "agreement of directions",
    "share on unequal words",
    "mass on unequal words",
    "kendall tau",
    "crossing",
    "distance from diagonal",
    "blocks",
    "longest block",
    "largest sum",
)
ALIGN = (*_BY_PAIR, *map(", ".join, product(_BY_SIDE, ("min", "max"))))
ENCODER = ("cosine of mean vectors", "matched words")
NAMES = {
    "cosine": ("cosine of letters",),
    "overlap": OVERLAP,
    "align": ALIGN,
    "encoder": ENCODER,
}

_COSINE = OVERLAP.index("cosine of letters")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|nowhere|neither|nor|without|cannot)\b|n['’]t\b"
)
_LINK = 0.5  # least posterior of a link, and of a word that counts as aligned


def tokens(text: str) -> list[str]:
    """Return words and signs in lower case."""
    return words_and_signs(text.lower())


def train_aligner(pairs: Iterable[Texts]) -> Aligner:
    """Train the aligner of the features: an HMM on pairs in both orders, whatever their order."""
    words = sorted(map(_ordered, pairs))
    whole = [(first, second) for first, second in words if first]
    turned = [(second, first) for first, second in whole]
    return Aligner.train(whole + turned, model="hmm", identity=3)


def _ordered(pair: Texts) -> tuple[list[str], list[str]]:
    """Return the words of both texts in a fixed order: an aligner depends a little on it."""
    first, second = sorted(map(_cut, pair))
    return first, second


def _cut(text: str) -> list[str]:
    """Return the words that are aligned."""
    return tokens(text)[:LONGEST_PIECE]


class _WordMasses:
    """What the words of one side of P pairs weigh in the features of alignment."""

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._columns: list[int] = []
        self._best: list[float] = []
        self._bare: list[float] = []

    def add(self, pair: int, codes: list[int], best: F8) -> None:
        """Add the words of a pair, each with its best posterior."""
        self._rows += [pair] * len(codes)
        self._columns += codes
        self._best += best.tolist()
        self._bare += (best < _LINK).astype(float).tolist()

    def matrices(self, shape: tuple[int, int]) -> tuple[Matrix, Matrix]:
        """Return the sums of best posteriors, and how often words are unaligned: (P, words)."""
        places = (np.array(self._rows, int), np.array(self._columns, int))
        best = sparse.csr_matrix((np.array(self._best), places), shape)
        bare = sparse.csr_matrix((np.array(self._bare), places), shape)
        return best, bare


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
        known, df = np.unique(held, return_counts=True)
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
        places = {word: k for k, word in enumerate(idf.words)}
        names = self._words.names
        kept = [(k, places[word]) for k, word in enumerate(names) if word in places]
        rows, columns = np.array(kept, int).reshape(-1, 2).T
        ones = np.ones(len(rows))
        chosen = sparse.csr_matrix((ones, (rows, columns)), (len(names), len(places)))
        first, second = self._words.sides
        return _difference_and_product((first > 0) @ chosen, (second > 0) @ chosen)

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

        rows = [_shared_words(pair, list(map(stems, pair))) for pair in self.texts]
        equal_weights = np.ones(len(self._letters.names))
        return np.column_stack((rows, self._letters.cosine(equal_weights)))

    def _is_content(self, word: str) -> bool:
        """Return whether a word has letters or digits and is no function word."""
        return bool(re.match(r"\w", word)) and word not in self.options.function_words

    def _align(self, idf: TextFrequencies) -> F8:
        """Return the features of the posteriors of an aligner, (P, 31)."""
        values, masses = self._aligned
        words = self._words.weights(idf.words, idf.unseen)
        content = words * [self._is_content(word) for word in self._words.names]
        covered = []
        unaligned = []
        for (best, bare), counts in zip(masses, self._words.sides, strict=True):
            covered.append(_divided(best @ words, counts @ words))
            unaligned.append(_divided(bare @ content, counts @ content))
        return np.column_stack((values, *np.sort(covered, axis=0), *np.sort(unaligned, axis=0)))

    @cached_property
    def _aligned(self) -> tuple[F8, list[tuple[Matrix, Matrix]]]:
        """The features that need no frequencies, and what the others weigh.

        For both sides, the best posteriors of each word, added up, and how often it is unaligned:
        (P, words), sparse.
        """
        assert self.aligner is not None
        words = list(map(_ordered, self.texts))
        whole = [k for k, pair in enumerate(words) if all(pair)]
        values = np.zeros((len(words), len(ALIGN) - 4))
        places = {word: k for k, word in enumerate(self._words.names)}
        masses = [_WordMasses(), _WordMasses()]
        scores: Iterable[Any] = ()
        if whole:
            scores = self.aligner.scores([words[k] for k in whole])
        for k, score in zip(whole, scores, strict=True):
            pair = words[k]
            turned = pair[0] != _cut(self.texts[k][0])
            forward, reverse = (array.astype(float) for array in self.aligner.posteriors(*pair))
            mean = (forward + reverse) / 2
            sides = []
            for side, posterior in enumerate((reverse, forward.T)):
                other = 1 - side
                best = mean.max(other)
                content = np.array([self._is_content(word) for word in pair[side]])
                likelihood = float(score[other])
                sides.append(_of_side(pair[side], content, best, posterior, likelihood))
                codes = [places[word] for word in pair[side]]
                given_side = other if turned else side
                masses[given_side].add(k, codes, best)
            ends = []
            for both in zip(*sides, strict=True):
                ends.extend(sorted(both))
            values[k] = (*_of_pair(*pair, forward, reverse), *ends)
        shape = (len(words), len(places))
        return values, [side_masses.matrices(shape) for side_masses in masses]


def mean_vectors(vectors: WordVectors) -> Encoder:
    """Return a function that gives each text the mean vector of its words."""
    return lambda texts: [vectors.of(tokens(text) or [""]).mean(0) for text in texts]


def _divided(part: F8, whole: F8) -> F8:
    """Divide, with 0 where the whole is 0."""
    result: F8 = np.divide(part, whole, where=whole > 0, out=np.zeros_like(part, float))
    return result


def _share(part: float, whole: float) -> float:
    """Divide; 0 if the whole is 0."""
    return part / whole if whole else 0.0


def _difference_and_product(u: Matrix, v: Matrix) -> Matrix:
    """Return |u - v| and u v of each row, side by side."""
    is_sparse = sparse.issparse(u)
    if is_sparse:
        return sparse.hstack((abs(u - v), u.multiply(v)))
    return np.hstack((abs(u - v), u * v))


def _shared_words(pair: Texts, stems: Sequence[set[str]]) -> list[float]:
    """Return the features of a pair that count shared words, in the order of `OVERLAP`."""
    first, second = (tokens(text) for text in pair)
    first_types = set(first)
    second_types = set(second)
    shared = len(first_types & second_types)
    fewer, more = sorted((len(first_types), len(second_types)))
    shorter, longer = sorted((len(first), len(second)))
    common = _longest_common(first, second)
    first_stems, second_stems = stems
    first_digits = Counter(filter(str.isdigit, first))
    second_digits = Counter(filter(str.isdigit, second))
    shared_digits = (first_digits & second_digits).total()
    first_negations, second_negations = (len(_NEGATION.findall(text.lower())) for text in pair)
    fewer_characters, more_characters = sorted(map(len, pair))
    return [
        _share(shared, len(first_types | second_types)),
        _share(len(first_stems & second_stems), len(first_stems | second_stems)),
        _share(shared, fewer),
        _share(shared, more),
        _dice(first, second, 1),
        _dice(first, second, 2),
        _dice(first, second, 3),
        _share(common, shorter),
        _share(common, longer),
        _share(shorter, longer),
        log1p(longer - shorter),
        shared_digits,
        (first_digits | second_digits).total() - shared_digits,
        abs(first_negations - second_negations),
        _share(fewer_characters, more_characters),
        first == second,
    ]


def _longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    row = np.zeros(len(second) + 1, int)
    other = np.array(second, str)
    for word in first:
        longer = np.where(other == word, row[:-1] + 1, row[1:])
        row[1:] = np.maximum.accumulate(longer)
    return int(row[-1])


def _dice(first: Sequence[str], second: Sequence[str], n: int) -> float:
    """Return twice the number of shared n-grams, divided by the number of all n-grams."""
    grams = _grams(first, n)
    others = _grams(second, n)
    return _share(2 * (grams & others).total(), grams.total() + others.total())


def _grams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """Count the n-grams of words."""
    return Counter(tuple(words[k : k + n]) for k in range(len(words) - n + 1))


def _of_side(
    words: Sequence[str], content: B1, best: F8, posterior: F8, score: float
) -> list[float]:
    """Return the features of a side, in the order of `_BY_SIDE` without the last two.

    posterior (words, others) is the side's own distribution.
    """
    bare = best < _LINK
    null = np.clip(1 - posterior.sum(1), 0, 1)
    whole = np.column_stack((posterior, null))
    logarithms = np.log(whole, where=whole > 0, out=np.zeros_like(whole))
    entropy = -(whole * logarithms).sum(1)
    unaligned = int((bare & content).sum())
    digits = np.array([word.isdigit() for word in words])
    return [
        best.mean(),
        _mean(best[content]),
        _share(unaligned, int(content.sum())),
        np.count_nonzero(bare & digits),
        log1p(unaligned),
        entropy.mean(),
        _mean(entropy[content]),
        score / len(words),
        null.mean(),
    ]


def _mean(values: F8) -> float:
    """Return the mean; 0 if there are no values."""
    return float(values.mean()) if len(values) else 0.0


def _of_pair(
    first: Sequence[str], second: Sequence[str], forward: F8, reverse: F8
) -> tuple[float, ...]:
    """Return the features that belong to no side, in the order of `_BY_PAIR`."""
    mean = (forward + reverse) / 2
    are_unequal = np.not_equal.outer(np.array(first), np.array(second))
    unequal = float(mean[are_unequal].sum())
    agreed = _share(np.minimum(forward, reverse).sum(), np.maximum(forward, reverse).sum())
    largest = max(mean.sum(0).max(), mean.sum(1).max())
    shorter = min(mean.shape)
    shares = (agreed, _share(unequal, mean.sum()), unequal / shorter)
    links = np.argwhere(mean > _LINK)
    if not len(links):
        return *shares, 1.0, 0.0, 1.0, 0.0, 0.0, largest
    i, j = links.T
    tau = 1.0
    crossing = 0.0
    if len(links) > 1:
        tau = float(np.nan_to_num(kendalltau(i, j).statistic, nan=1.0))
        order = np.subtract.outer(i, i) * np.subtract.outer(j, j)
        crossing = float((order < 0).sum()) / (len(links) * (len(links) - 1))
    distance = float(np.abs(i / mean.shape[0] - j / mean.shape[1]).mean())
    by_column = links[np.lexsort((i, j))]
    sizes = _block_sizes(links)
    other_sizes = _block_sizes(by_column[:, ::-1])
    number = (len(sizes) + len(other_sizes)) / 2
    longest = max(sizes.max(), other_sizes.max())
    return *shares, tau, crossing, distance, number / len(links), longest / shorter, largest


def _block_sizes(links: I8) -> I8:
    """Return the numbers of links in runs that go on by at most one word on both sides."""
    i_steps, j_steps = np.diff(links.T)
    joined = (i_steps <= 1) & (j_steps <= 1) & (j_steps >= 0)
    is_bound = np.concatenate(([True], ~joined, [True]))
    return np.diff(np.flatnonzero(is_bound))
