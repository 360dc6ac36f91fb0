"""A model of the labels of pairs: logistic regression, or random trees, on their features."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import softmax

from alignkit._support.arguments import check_attributes, check_known
from alignkit._support.array_types import F8, I8
from alignkit.align.aligner import Aligner
from alignkit.errors import OptionError
from alignkit.identification.features import (
    FEATURES,
    NAMES,
    PairEncoder,
    PairTexts,
    TextFrequencies,
)
from alignkit.identification.labelled_pairs import LabelledPairs, folds
from alignkit.identification.options import Encoder, Matrix
from alignkit.identification.similarity import sklearn

DECIDE = ("accuracy", "f1")
CLASSIFIERS = ("logistic", "forest")
AUTO = "auto"
_FOLDS = 5
_QUANTILES = 401
_NEVER = -1e9  # intercept of a label that no pair has
_WIDE = 200  # features; with more, second derivatives take too long
_CHOICES = (("cosine",), ("overlap",), ("overlap", "align"))  # of auto, the simplest first


@dataclass(frozen=True, kw_only=True)
class IdentifierOptions:
    """How a system is trained.

    Parameters
    ----------
    features : Some of `FEATURES`, or ``("auto",)``: cosine, overlap, or overlap and align, chosen
        by cross-validation; a larger set must gain more than a standard error.
    group : The attribute of pairs that belong together, or ``"none"``; needed if pairs have an
        attribute that usually names groups.
    encode : For `vectors`: a function that returns a vector for each text, (n, d).
    encode_pairs : For `pairs`: a function that returns features for pairs of texts, (n, d).
    decide : What the threshold of `cosine` makes as high as possible.
    strengths : The values of C to choose from: a smaller one shrinks the weights more.
    classifier : ``"logistic"``, or ``"forest"``: 500 random trees, which cannot be saved.
    function_words : Words that are not content words.
    seed : For folds and trees.
    """

    features: tuple[str, ...] = ("overlap", "align")
    group: str | None = None
    encode: Encoder | None = None
    encode_pairs: PairEncoder | None = None
    decide: str = "accuracy"
    strengths: tuple[float, ...] = (0.01, 0.1, 1.0)
    classifier: str = "logistic"
    function_words: Collection[str] = frozenset()
    seed: int = 0

    def __post_init__(self) -> None:
        check_attributes(self)
        for name, kind in (
            ("features", tuple),
            ("strengths", tuple),
            ("function_words", frozenset),
        ):
            object.__setattr__(self, name, kind(getattr(self, name)))
        for name in self.features:
            check_known("feature set", name, (*FEATURES, AUTO))
        if len(set(self.features)) < max(1, len(self.features)):
            raise OptionError("name one feature set or more, each once")
        if AUTO in self.features and len(self.features) > 1:
            raise OptionError("auto chooses the feature set: leave the others out")
        for name, encode in (("vectors", self.encode), ("pairs", self.encode_pairs)):
            if name in self.features and encode is None:
                raise OptionError(f"the feature set {name!r} needs vectors: give what makes them")
        if not self.strengths or not all(x > 0 for x in self.strengths):
            raise OptionError("C must be above 0")
        if self.seed < 0:
            raise OptionError("the seed must be 0 or more")
        check_known("aim", self.decide, DECIDE)
        check_known("classifier", self.classifier, CLASSIFIERS)

    @property
    def aligns(self) -> bool:
        """Whether an aligner is needed."""
        return bool({"align", AUTO} & set(self.features))

    def pair_texts(self, texts: Iterable[tuple[str, str]], aligner: Aligner | None) -> PairTexts:
        """Return texts that know what these features need."""
        return PairTexts(
            list(texts), function_words=self.function_words, aligner=aligner, encode=self.encode,
            encode_pairs=self.encode_pairs,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class PairModel:
    """A fitted model of K labels on F features: linear, or trees; cosine has a threshold."""

    features: tuple[str, ...]
    frequencies: TextFrequencies
    center: F8
    scale: F8
    coefficients: F8  # (K, F)
    intercepts: F8  # (K,)
    strength: float = 0.0
    threshold: float | None = None
    forest: Any = None

    @property
    def names(self) -> list[str]:
        """The names of the features that have one."""
        return [name for part in self.features for name in NAMES.get(part, ())]

    def probabilities(self, matrix: Matrix) -> F8:
        """Return the probability of each label, (P, K), from features (P, F)."""
        if self.forest is not None:
            values = np.zeros((matrix.shape[0], len(self.intercepts)))
            values[:, self.forest.classes_] = self.forest.predict_proba(matrix)
            return values
        scores = np.asarray(self._scaled(matrix) @ self.coefficients.T) + self.intercepts
        result: F8 = softmax(scores, axis=1)
        return result

    def judge(self, texts: PairTexts) -> tuple[I8, F8]:
        """Return the place of the label of each pair, (P,), and the probabilities, (P, K)."""
        matrix = texts.matrix(self.features, self.frequencies)
        probabilities = self.probabilities(matrix)
        if self.threshold is not None:
            return (matrix[:, 0] >= self.threshold).astype(np.int64), probabilities
        return probabilities.argmax(1), probabilities

    def _scaled(self, matrix: Any) -> Matrix:
        if isinstance(matrix, np.ndarray):
            return (matrix - self.center) / self.scale
        return matrix.multiply(1 / self.scale).tocsr()


def _fit(
    start: PairModel, matrix: Matrix, labels: I8, strength: float, options: IdentifierOptions
) -> PairModel:
    """Fit a model to features (P, F); a cosine of two labels gets a threshold, too."""
    if options.classifier == "forest":
        make = sklearn("ensemble").RandomForestClassifier
        forest = make(500, min_samples_leaf=5, random_state=options.seed)
        return replace(start, forest=forest.fit(matrix, labels))
    scaler = sklearn("preprocessing").StandardScaler(with_mean=not sparse.issparse(matrix))
    scaler.fit(matrix)
    center = np.zeros(matrix.shape[1]) if scaler.mean_ is None else scaler.mean_
    fitted = replace(start, center=center, scale=scaler.scale_, strength=strength)
    solver = "lbfgs" if sparse.issparse(matrix) or matrix.shape[1] > _WIDE else "newton-cholesky"
    linear = sklearn("linear_model").LogisticRegression(C=strength, max_iter=5000, solver=solver)
    linear.fit(fitted._scaled(matrix), labels)
    rows, offsets = linear.coef_, linear.intercept_
    if len(rows) == 1:  # of the second of two labels
        rows, offsets = np.vstack((np.zeros_like(rows), rows)), np.append(0.0, offsets)
    classes = len(start.intercepts)
    coefficients = np.zeros((classes, matrix.shape[1]))
    intercepts = np.full(classes, _NEVER)
    coefficients[linear.classes_], intercepts[linear.classes_] = rows, offsets
    threshold = None
    if fitted.features == ("cosine",) and classes == 2:
        threshold = _threshold(matrix[:, 0], labels, options.decide)
    return replace(fitted, coefficients=coefficients, intercepts=intercepts, threshold=threshold)


def _threshold(values: F8, labels: I8, decide: str) -> float:
    """Return the best of 401 quantiles of the values; a pair at or above it has the label 1."""
    thresholds = np.quantile(values, np.linspace(0, 1, _QUANTILES))
    above = values >= thresholds[:, None]
    scores = (above == labels).mean(1)
    if decide == "f1":
        scores = 2 * (above & (labels == 1)).sum(1) / np.maximum(1, above.sum(1) + labels.sum())
    return float(thresholds[scores.argmax()])


def fit_model(
    texts: PairTexts, pairs: LabelledPairs, places: I8, classes: int, options: IdentifierOptions
) -> PairModel:
    """Fit a model to some of the pairs; inner folds choose C, and the features of ``auto``."""
    strengths = (0.0,) if options.classifier == "forest" else options.strengths
    sets = _CHOICES if options.features == (AUTO,) else (options.features,)

    def started(train: I8, features: tuple[str, ...]) -> tuple[PairModel, Matrix]:
        frequencies, none = texts.frequencies(train), np.zeros((classes, 0))
        start = PairModel(
            features=features, frequencies=frequencies, center=none, scale=none, coefficients=none,
            intercepts=none.sum(1),
        )  # fmt: skip
        return start, texts.matrix(features, frequencies)

    chosen, strength, least = sets[0], strengths[0], np.zeros(0)
    if len(sets) * len(strengths) > 1:
        inner = list(folds(pairs, places, _FOLDS, options.seed))
        for features in sets:
            losses = np.zeros((len(strengths), len(pairs.labels)))
            for train, test in inner:
                start, matrix = started(train, features)
                for loss, each in zip(losses, strengths, strict=True):
                    model = _fit(start, matrix[train], pairs.labels[train], each, options)
                    right = model.probabilities(matrix[test])[range(len(test)), pairs.labels[test]]
                    loss[test] = -np.log(np.maximum(right, 1e-12))
            losses = losses[:, places]
            k = int(losses.mean(1).argmin())
            gain = least - losses[k] if len(least) else np.ones(1)
            if gain.mean() > gain.std() / np.sqrt(len(gain)):
                chosen, strength, least = features, strengths[k], losses[k]
    start, matrix = started(places, chosen)
    return _fit(start, matrix[places], pairs.labels[places], strength, options)
