"""Features of sentence pairs for identification: likeness of texts, and of their alignment.

All features are symmetric: exchanging the sides of a pair changes none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from math import log, log1p
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import kendalltau

from alignkit.align.aligner import Aligner
from alignkit.identification.similarity import Encoder, Matrix, encoded, sklearn
from alignkit.model.texts import porter_stem

F8 = NDArray[np.float64]
Texts = tuple[str, str]
Words = Sequence[str]

_TOKEN = re.compile(r"\w+|[^\w\s]")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|nowhere|neither|nor|without|cannot)\b|n['’]t\b"
)
_LINK = 0.5  # posterior of a link, and of a word that counts as aligned

OVERLAP = (
    "jaccard", "jaccard of stems", "shared/shorter", "shared/longer", "dice 1", "dice 2", "dice 3",
    "lcs/shorter", "lcs/longer", "length ratio", "length difference", "cosine of letters, tf",
    "cosine of letters", "cosine of words", "digits shared", "digits unshared",
    "negation difference", "ratio of characters", "idf shared, min", "idf shared, max", "equal",
)  # fmt: skip
_BY_SIDE = (
    "coverage", "coverage of content", "coverage by idf", "unaligned content", "unaligned idf",
    "unaligned digits", "unaligned content words", "entropy", "entropy of content", "likelihood",
    "null",
)  # fmt: skip
_BY_PAIR = (
    "agreement of directions", "share on unequal words", "mass on unequal words", "kendall tau",
    "crossing", "distance from diagonal", "blocks", "longest block", "largest sum",
)  # fmt: skip
ALIGN = (*(f"{name}, {end}" for name in _BY_SIDE for end in ("min", "max")), *_BY_PAIR)


def tokens(text: str) -> list[str]:
    """Return words and signs in lower case."""
    return _TOKEN.findall(text.lower())


@dataclass
class Weights:
    """What training texts say of words: inverse document frequencies, and function words."""

    idf: dict[str, float]
    unseen: float
    function_words: Collection[str] = ()

    @classmethod
    def of(cls, texts: Iterable[str], function_words: Collection[str] = ()) -> Weights:
        """Return idf = ln((1 + n)/(1 + df)) + 1 of each word of n texts."""
        df: Counter[str] = Counter()
        n = 0
        for text in texts:
            n += 1
            df.update(set(tokens(text)))
        idf = {word: log((1 + n) / (1 + count)) + 1 for word, count in df.items()}
        return cls(idf, log(1 + n) + 1, function_words)

    def __call__(self, words: Iterable[str]) -> F8:
        """Return the idf of each word."""
        return np.array([self.idf.get(word, self.unseen) for word in words], float)

    def content(self, words: Words) -> NDArray[np.bool_]:
        """Return which words are content words: letters or digits, and no function words."""
        return np.array(
            [
                (word[0].isalnum() or word[0] == "_") and word not in self.function_words
                for word in words
            ],
            bool,
        )


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _longest_common(first: Words, second: Words) -> int:
    """Return the length of the longest common subsequence."""
    row = np.zeros(len(second) + 1, int)
    codes: dict[str, int] = {}
    other = np.array([codes.setdefault(word, len(codes)) for word in second], int)
    for word in first:
        best = np.where(other == codes.get(word, -1), row[:-1] + 1, row[1:])
        row[1:] = np.maximum.accumulate(best)
    return int(row[-1])


@dataclass
class OverlapFeatures:
    """Features of shared words and letters."""

    weights: Weights
    letters: Any = field(repr=False)  # a fitted TfidfVectorizer
    names = OVERLAP

    @classmethod
    def fit(cls, texts: Sequence[str], weights: Weights) -> OverlapFeatures:
        """Fit the frequencies of n-grams to training texts."""
        vectorizer = sklearn("feature_extraction.text").TfidfVectorizer
        return cls(weights, vectorizer(analyzer="char_wb", ngram_range=(2, 4)).fit(texts))

    def __call__(self, pairs: Sequence[Texts]) -> F8:
        """Return the features, (P, 21)."""
        sides = [self.letters.transform([pair[k] for pair in pairs]) for k in (0, 1)]
        weighted = np.asarray(sides[0].multiply(sides[1]).sum(1)).ravel()
        # the vectors have unit length: divided by the idf they are proportional to frequencies
        plain = [sklearn("preprocessing").normalize(side / self.letters.idf_) for side in sides]
        unweighted = np.asarray(plain[0].multiply(plain[1]).sum(1)).ravel()
        stem = porter_stem()
        rows = [
            self._row(pair, float(a), float(b), stem)
            for pair, a, b in zip(pairs, unweighted, weighted, strict=True)
        ]
        return np.array(rows, float).reshape(-1, len(OVERLAP))

    def _row(
        self, pair: Texts, tf: float, tf_idf: float, stem: Callable[[str], str]
    ) -> list[float]:
        words = [tokens(text) for text in pair]
        types = [set(side) for side in words]
        shared, every = types[0] & types[1], types[0] | types[1]
        sizes = sorted(map(len, types))
        stems = [
            {
                stem(word)
                for word, content in zip(side, self.weights.content(side), strict=True)
                if content
            }
            for side in (sorted(types[0]), sorted(types[1]))
        ]
        lengths = sorted(map(len, words))
        common = _longest_common(*words)
        digits = [Counter(word for word in side if word.isdigit()) for side in words]
        shared_digits = (digits[0] & digits[1]).total()
        negations = [len(_NEGATION.findall(text.lower())) for text in pair]
        characters = sorted(map(len, pair))
        mass = [float(self.weights(sorted(side)).sum()) for side in types]
        shared_mass = float(self.weights(sorted(shared)).sum())
        of_sides = sorted(_share(shared_mass, each) for each in mass)
        counts = [Counter(side) for side in words]
        vectors = [
            {word: n * self.weights.idf.get(word, self.weights.unseen) for word, n in side.items()}
            for side in counts
        ]
        dot = sum(vectors[0][word] * vectors[1][word] for word in sorted(shared))
        norms = [float(np.sqrt(sum(x * x for x in side.values()))) for side in vectors]
        return [
            _share(len(shared), len(every)),
            _share(len(stems[0] & stems[1]), len(stems[0] | stems[1])),
            _share(len(shared), sizes[0]), _share(len(shared), sizes[1]),
            *(_dice(*words, n) for n in (1, 2, 3)),
            _share(common, lengths[0]), _share(common, lengths[1]),
            _share(*lengths), log1p(lengths[1] - lengths[0]),
            tf, tf_idf, _share(dot, norms[0] * norms[1]),
            shared_digits, (digits[0] | digits[1]).total() - shared_digits,
            abs(negations[0] - negations[1]), _share(*characters), *of_sides,
            float(words[0] == words[1]),
        ]  # fmt: skip


def _dice(first: Words, second: Words, n: int) -> float:
    grams = [Counter(zip(*(side[k:] for k in range(n)), strict=False)) for side in (first, second)]
    return _share(2 * (grams[0] & grams[1]).total(), grams[0].total() + grams[1].total())


@dataclass
class AlignmentFeatures:
    """Features of the posteriors of an aligner."""

    weights: Weights
    aligner: Aligner
    names = ALIGN

    def __call__(self, pairs: Sequence[Texts]) -> F8:
        """Return the features, (P, 31)."""
        words = [(tokens(source), tokens(target)) for source, target in pairs]
        whole = [k for k, pair in enumerate(words) if all(pair)]
        values = np.zeros((len(pairs), len(ALIGN)))
        if whole:
            scores = self.aligner.scores([words[k] for k in whole])
            for k, score in zip(whole, scores, strict=True):
                values[k] = self._row(words[k], score)
        return values

    def _row(self, words: tuple[list[str], list[str]], score: F8) -> list[float]:
        forward, reverse = (each.astype(float) for each in self.aligner.posteriors(*words))
        mean = (forward + reverse) / 2
        n, m = mean.shape
        sides = [
            self._of_side(words[0], mean.max(1), reverse, score[1]),
            self._of_side(words[1], mean.max(0), forward.T, score[0]),
        ]
        ends = [end for pair in zip(*sides, strict=True) for end in sorted(pair)]
        unequal = np.array([[a != b for b in words[1]] for a in words[0]])
        off = float(mean[unequal].sum())
        return [*ends, *_of_pair(forward, reverse, mean, off, n, m)]

    def _of_side(self, words: Words, best: F8, posterior: F8, score: float) -> list[float]:
        """Return the features of a side; posterior (words, others) is its own distribution."""
        content, idf = self.weights.content(words), self.weights(words)
        bare = best < _LINK
        null = np.clip(1 - posterior.sum(1), 0, 1)
        whole = np.column_stack((posterior, null))
        entropy = -(whole * np.log(whole, where=whole > 0, out=np.zeros_like(whole))).sum(1)
        digits = sum(bool(bare[k]) and word.isdigit() for k, word in enumerate(words))
        return [
            float(best.mean()),
            float(best[content].mean()) if content.any() else 0.0,
            _share(float((best * idf).sum()), float(idf.sum())),
            _share(float((bare & content).sum()), float(content.sum())),
            _share(float(idf[bare & content].sum()), float(idf[content].sum())),
            float(digits),
            log1p(float((bare & content).sum())),
            float(entropy.mean()),
            float(entropy[content].mean()) if content.any() else 0.0,
            score / len(words),
            float(null.mean()),
        ]


def _of_pair(forward: F8, reverse: F8, mean: F8, off: float, n: int, m: int) -> list[float]:
    """Return the features that belong to no side."""
    links = np.argwhere(mean > _LINK)
    tau, crossing, distance, blocks, longest = 1.0, 0.0, 1.0, 0.0, 0.0
    if len(links):
        i, j = links.T
        distance = float(np.abs(i / n - j / m).mean())
        if len(links) > 1:
            tau = float(np.nan_to_num(kendalltau(i, j).statistic, nan=1.0))
            order = np.sign(np.subtract.outer(i, i)) * np.sign(np.subtract.outer(j, j))
            pairs = len(links) * (len(links) - 1) / 2
            crossing = float((order < 0).sum() / 2 / pairs)
        joined = (np.diff(i) <= 1) & (np.diff(j) <= 1) & (np.diff(j) >= 0)
        sizes = np.diff(np.flatnonzero(np.concatenate(([True], ~joined, [True]))))
        blocks = len(sizes) / len(links)
        longest = float(sizes.max()) / min(n, m)
    return [
        _share(float(np.minimum(forward, reverse).sum()), float(np.maximum(forward, reverse).sum())),
        _share(off, float(mean.sum())), off / min(n, m), tau, crossing, distance, blocks, longest,
        float(max(mean.sum(0).max(), mean.sum(1).max())),
    ]  # fmt: skip


def train_aligner(pairs: Sequence[Texts]) -> Aligner:
    """Train the aligner of the features: an HMM on pairs in both orders."""
    words = [(tokens(source), tokens(target)) for source, target in pairs]
    whole = [pair for pair in words if all(pair)]
    both = [*whole, *((target, source) for source, target in whole)]
    return Aligner.train(both, model="hmm", identity=3)


def bag_features(texts: Sequence[Texts], vocabulary: dict[str, int]) -> Matrix:
    """Return |u - v| and u v of binary bags of words u, v: (P, 2 words), sparse."""
    sides = []
    for k in (0, 1):
        bags = [
            sorted({vocabulary[w] for w in tokens(pair[k]) if w in vocabulary}) for pair in texts
        ]
        at = np.concatenate(([0], np.cumsum([len(bag) for bag in bags])))
        places = np.array([place for bag in bags for place in bag], int)
        shape = len(texts), len(vocabulary)
        sides.append(sparse.csr_matrix((np.ones(len(places)), places, at), shape))
    return sparse.hstack((abs(sides[0] - sides[1]), sides[0].multiply(sides[1])), format="csr")


def vector_features(texts: Sequence[Texts], encode: Encoder) -> Matrix:
    """Return |u - v| and u v of the vectors of the two texts: (P, 2 d)."""
    both = encoded(encode, [text for k in (0, 1) for text in (pair[k] for pair in texts)])
    u, v = both[: len(texts)], both[len(texts) :]
    if sparse.issparse(both):
        return sparse.hstack((abs(u - v), u.multiply(v)), format="csr")
    return np.hstack((np.abs(u - v), u * v))
