"""Features of pairs of texts: how alike their words are, and how they align.

All features are symmetric: exchanging the two texts of a pair changes none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
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
from alignkit.model.texts import porter_stem

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
ALIGN = (*_BY_PAIR, *(f"{name}, {end}" for name in _BY_SIDE for end in ("min", "max")))
NAMES = {"cosine": ("cosine of letters",), "overlap": OVERLAP, "align": ALIGN}

_COSINE = OVERLAP.index("cosine of letters")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|nowhere|neither|nor|without|cannot)\b|n['’]t\b"
)
_LINK = 0.5  # least posterior of a link, and of a word that counts as aligned


def tokens(text: str) -> list[str]:
    """Return words and signs in lower case."""
    return _TOKEN.findall(text.lower())


def train_aligner(pairs: Iterable[Texts]) -> Aligner:
    """Train the aligner of the features: an HMM on pairs in both orders, whatever their order."""
    words = sorted(sorted(map(_cut, pair)) for pair in pairs)
    whole = [(first, second) for first, second in words if first]
    return Aligner.train([*whole, *(pair[::-1] for pair in whole)], model="hmm", identity=3)


def _cut(text: str) -> list[str]:
    return tokens(text)[:LONGEST_PIECE]


class TextFrequencies(NamedTuple):
    """The inverse document frequencies of n training texts: ln((1 + n)/(1 + df)) + 1."""

    words: dict[str, float]
    letters: dict[str, float]  # of the n-grams
    unseen: float  # of other words


class _Counts:
    """How often each text has each word or n-gram."""

    def __init__(self, texts: Sequence[Sequence[str]], **options: Any) -> None:
        counter = sklearn("feature_extraction.text").CountVectorizer(dtype=np.float32, **options)
        counted = counter.fit_transform([*texts[0], *texts[1]])
        n = len(texts[0])
        self.names: list[str] = counter.get_feature_names_out().tolist()
        self.sides = counted[:n], counted[n:]

    @cached_property
    def _products(self) -> list[Matrix]:
        first, second = self.sides
        return [a.multiply(b).tocsr() for a, b in ((first, second), (first,) * 2, (second,) * 2)]

    def idf(self, places: I8) -> tuple[dict[str, float], float]:
        """Return the idf of what the texts of some pairs have, and of what they do not have."""
        held = np.concatenate([side[places].indices for side in self.sides])
        known, df = np.unique(held, return_counts=True)
        values = np.log((1 + 2 * len(places)) / (1 + df)) + 1
        names = [self.names[k] for k in known.tolist()]
        return dict(zip(names, values.tolist(), strict=True)), log(1 + 2 * len(places)) + 1

    def weights(self, idf: dict[str, float], unseen: float) -> F8:
        """Return the idf of each name."""
        return np.array([idf.get(name, unseen) for name in self.names], float)

    def cosine(self, idf: F8) -> F8:
        """Return the cosine of the two texts of each pair, (P,)."""
        dot, *squares = (product @ idf**2 for product in self._products)
        return _divided(dot, np.sqrt(squares[0] * squares[1]))


@dataclass(frozen=True, eq=False)
class PairTexts:
    """Pairs of texts, and what their features need.

    Parameters
    ----------
    texts : The two texts of each of P pairs.
    aligner : The aligner of the feature set ``align``.
    options : The function words, and the encoders of ``vectors`` and ``pairs``.
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
        makers: dict[str, Callable[[TextFrequencies], Matrix]] = {
            "cosine": lambda idf: self._overlap(idf)[:, [_COSINE]],
            "overlap": self._overlap,
            "align": self._align,
            "bow": self._bag,
            "vectors": lambda _: self._vectors,
            "pairs": lambda _: encoded(self.options.encode_pairs, self.texts),
        }
        parts = [makers[name](frequencies) for name in features]
        if any(map(sparse.issparse, parts)):
            return sparse.hstack(parts, "csr")
        return np.hstack(parts)

    @cached_property
    def _sides(self) -> tuple[list[str], list[str]]:
        return [first for first, _ in self.texts], [second for _, second in self.texts]

    @cached_property
    def _words(self) -> _Counts:
        return _Counts(self._sides, analyzer=tokens)

    @cached_property
    def _letters(self) -> _Counts:
        return _Counts(self._sides, analyzer="char_wb", ngram_range=(2, 4))

    @cached_property
    def _vectors(self) -> Matrix:
        """|u - v| and u v of the vectors u, v of the two texts: (P, 2 d)."""
        both = encoded(self.options.encode, [*self._sides[0], *self._sides[1]])
        return _difference_and_product(both[: len(self.texts)], both[len(self.texts) :])

    def _bag(self, idf: TextFrequencies) -> Matrix:
        """Return |u - v| and u v of binary bags of training words u, v: (P, 2 words), sparse."""
        places = {word: k for k, word in enumerate(idf.words)}
        kept = [(k, places[word]) for k, word in enumerate(self._words.names) if word in places]
        rows, columns = np.array(kept, int).reshape(-1, 2).T
        shape = len(self._words.names), len(places)
        chosen = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape)
        return _difference_and_product(*((side > 0) @ chosen for side in self._words.sides))

    def _overlap(self, idf: TextFrequencies) -> F8:
        """Return the features of shared words and letters, (P, 21)."""
        words = self._words.weights(idf.words, idf.unseen)
        letters = self._letters.weights(idf.letters, 0.0)
        first, second = (side > 0 for side in self._words.sides)
        shared = first.multiply(second) @ words
        masses = np.sort([_divided(shared, side @ words) for side in (first, second)], axis=0)
        cosines = self._letters.cosine(letters), self._words.cosine(words)
        return np.column_stack((self._shared, *cosines, *masses))

    @cached_property
    def _shared(self) -> F8:
        """The features of shared words and letters that need no frequencies."""
        stem = porter_stem()
        content = self._is_content
        rows = []
        for pair in self.texts:
            stems = [{stem(word) for word in {*tokens(text)} if content(word)} for text in pair]
            rows.append(_shared_words(pair, stems))
        return np.column_stack((rows, self._letters.cosine(np.ones(len(self._letters.names)))))

    def _is_content(self, word: str) -> bool:
        """Return whether a word has letters or digits and is no function word."""
        return bool(re.match(r"\w", word)) and word not in self.options.function_words

    def _align(self, idf: TextFrequencies) -> F8:
        """Return the features of the posteriors of an aligner, (P, 31)."""
        values, masses = self._aligned
        words = self._words.weights(idf.words, idf.unseen)
        content = words * [self._is_content(word) for word in self._words.names]
        by_idf = [
            np.sort(
                [
                    _divided(mass[k] @ weights, counts @ weights)
                    for mass, counts in zip(masses, self._words.sides, strict=True)
                ],
                axis=0,
            )
            for k, weights in enumerate((words, content))
        ]
        return np.column_stack((values, *by_idf[0], *by_idf[1]))

    @cached_property
    def _aligned(self) -> tuple[F8, list[tuple[Matrix, Matrix]]]:
        """The features that need no frequencies, and what the others weigh.

        For both sides, the best posteriors of each word, added up, and how often it is unaligned:
        (P, words), sparse.
        """
        assert self.aligner is not None
        # sorted: an aligner is not quite the same in both directions
        words = [sorted(map(_cut, pair)) for pair in self.texts]
        whole = [k for k, pair in enumerate(words) if all(pair)]
        values = np.zeros((len(words), len(ALIGN) - 4))
        places = {word: k for k, word in enumerate(self._words.names)}
        cells: list[list[Any]] = [[np.zeros((4, 0))], [np.zeros((4, 0))]]
        scores = self.aligner.scores([(words[k][0], words[k][1]) for k in whole]) if whole else ()
        for k, score in zip(whole, scores, strict=True):
            pair = words[k]
            turned = words[k][0] != _cut(self.texts[k][0])
            forward, reverse = (x.astype(float) for x in self.aligner.posteriors(*pair))
            mean = (forward + reverse) / 2
            sides = []
            for s, posterior in enumerate((reverse, forward.T)):
                best = mean.max(1 - s)
                content = np.array([self._is_content(word) for word in pair[s]])
                sides.append(_of_side(pair[s], content, best, posterior, float(score[1 - s])))
                codes = [places[word] for word in pair[s]]
                cells[s ^ turned].append((np.full(len(codes), k), codes, best, best < _LINK))
            ends = []
            for both in zip(*sides, strict=True):
                ends.extend(sorted(both))
            values[k] = *_of_pair(pair[0], pair[1], forward, reverse), *ends
        masses = []
        for side in cells:
            rows, columns, *weights = np.hstack(side)
            at = (rows.astype(int), columns.astype(int))
            shape = (len(words), len(places))
            best, bare = (sparse.csr_matrix((x, at), shape) for x in weights)
            masses.append((best, bare))
        return values, masses


def mean_vectors(vectors: WordVectors) -> Encoder:
    """Return a function that gives each text the mean vector of its words."""
    return lambda texts: [vectors.of(tokens(text) or [""]).mean(0) for text in texts]


def _divided(part: F8, whole: F8) -> F8:
    result: F8 = np.divide(part, whole, where=whole > 0, out=np.zeros_like(part, float))
    return result


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _difference_and_product(u: Matrix, v: Matrix) -> Matrix:
    kind: Any = sparse if sparse.issparse(u) else np
    return kind.hstack((abs(u - v), u.multiply(v) if kind is sparse else u * v))


def _shared_words(pair: Texts, stems: Sequence[set[str]]) -> list[float]:
    """Return the features of a pair that count shared words."""
    first, second = (tokens(text) for text in pair)
    types = set(first), set(second)
    shared = len(types[0] & types[1])
    both = len(types[0] | types[1])
    (fewer, more), (shorter, longer) = sorted(map(len, types)), sorted((len(first), len(second)))
    common = _longest_common(first, second)
    digits = [Counter(word for word in side if word.isdigit()) for side in (first, second)]
    shared_digits = (digits[0] & digits[1]).total()
    negations = [len(_NEGATION.findall(text.lower())) for text in pair]
    return [
        _share(shared, both),
        _share(len(stems[0] & stems[1]), len(stems[0] | stems[1])),
        _share(shared, fewer),
        _share(shared, more),
        *(_dice(first, second, n) for n in (1, 2, 3)),
        _share(common, shorter),
        _share(common, longer),
        _share(shorter, longer),
        log1p(longer - shorter),
        shared_digits,
        (digits[0] | digits[1]).total() - shared_digits,
        abs(negations[0] - negations[1]),
        _share(*sorted(map(len, pair))),
        first == second,
    ]


def _longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    row = np.zeros(len(second) + 1, int)
    other = np.array(second, str)
    for word in first:
        row[1:] = np.maximum.accumulate(np.where(other == word, row[:-1] + 1, row[1:]))
    return int(row[-1])


def _dice(first: Sequence[str], second: Sequence[str], n: int) -> float:
    grams = [Counter(zip(*(side[k:] for k in range(n)), strict=False)) for side in (first, second)]
    return _share(2 * (grams[0] & grams[1]).total(), grams[0].total() + grams[1].total())


def _of_side(
    words: Sequence[str], content: B1, best: F8, posterior: F8, score: float
) -> list[float]:
    """Return the features of a side; posterior (words, others) is its own distribution."""
    bare = best < _LINK
    null = np.clip(1 - posterior.sum(1), 0, 1)
    whole = np.column_stack((posterior, null))
    entropy = -(whole * np.log(whole, where=whole > 0, out=np.zeros_like(whole))).sum(1)
    unaligned = int((bare & content).sum())
    return [
        best.mean(),
        best[content].mean() if content.any() else 0.0,
        _share(unaligned, int(content.sum())),
        sum(bare[k] and word.isdigit() for k, word in enumerate(words)),
        log1p(unaligned),
        entropy.mean(),
        entropy[content].mean() if content.any() else 0.0,
        score / len(words),
        null.mean(),
    ]


def _of_pair(
    first: Sequence[str], second: Sequence[str], forward: F8, reverse: F8
) -> tuple[float, ...]:
    """Return the features that belong to no side."""
    mean = (forward + reverse) / 2
    unequal = float(mean[np.not_equal.outer(np.array(first), np.array(second))].sum())
    agreed = _share(np.minimum(forward, reverse).sum(), np.maximum(forward, reverse).sum())
    largest = max(mean.sum(0).max(), mean.sum(1).max())
    shorter = min(mean.shape)
    shares = agreed, _share(unequal, mean.sum()), unequal / shorter
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
    blocks = [_block_sizes(links), _block_sizes(links[np.lexsort((i, j))][:, ::-1])]
    number = sum(map(len, blocks)) / 2
    longest = max(sizes.max() for sizes in blocks)
    return *shares, tau, crossing, distance, number / len(links), longest / shorter, largest


def _block_sizes(links: I8) -> I8:
    """Return the numbers of links in runs that go on by at most one word on both sides."""
    i, j = links.T
    joined = (np.diff(i) <= 1) & (np.diff(j) <= 1) & (np.diff(j) >= 0)
    return np.diff(np.flatnonzero(np.concatenate(([True], ~joined, [True]))))
