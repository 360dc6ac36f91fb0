"""Models that judge pairs by features of their texts: logistic regression, or random trees.

A model has the probabilities softmax(W x + b) of the labels, for standardized features x of a pair;
W are its coefficients, b its intercepts. It is fitted to training pairs. What options leave open,
the inverse strength C of the regularization and the features of ``auto``, is chosen by the loss on
pairs left out: the training pairs are divided into inner folds for this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import softmax

from alignkit._support.array_types import F8, I8
from alignkit.identification.features import NAMES, PairTexts, TextFrequencies
from alignkit.identification.labelled_pairs import LabelledPairs, folds
from alignkit.identification.options import AUTO, IdentifierOptions, Matrix
from alignkit.identification.similarity import sklearn
from alignkit.stats.clusters import cluster_error

_FOLDS = 5  # inner ones
_QUANTILES = 401  # of the values of training pairs: the thresholds of a cosine that are tried
_NEVER = -1e9  # intercept of a label that no pair has
_WIDE = 200  # features; with more, second derivatives take too long
_SETS = (("cosine",), ("overlap",), ("overlap", "align"))  # of auto, the simplest first
_WITH_ENCODER = (("overlap", "encoder"), ("overlap", "align", "encoder"))  # if there is one


@dataclass(frozen=True, kw_only=True, eq=False)
class PairModel:
    """A fitted model of K labels on F features: linear, or trees; cosine has a threshold."""

    features: tuple[str, ...]  # the names of feature sets
    frequencies: TextFrequencies
    center: F8  # (F,): what is subtracted from features, unless they are sparse
    scale: F8  # (F,): what they are then divided by
    coefficients: F8  # (K, F); (K, 0) of a forest
    intercepts: F8  # (K,)
    strength: float = 0.0  # C; 0 of a forest
    threshold: float | None = None  # the least cosine of label 1; None: the most probable label
    forest: Any = None  # of scikit-learn; None for a linear model

    @property
    def names(self) -> list[str]:
        """The names of the features that have one."""
        names: list[str] = []
        for part in self.features:
            names += NAMES.get(part, ())
        return names

    def probabilities(self, matrix: Matrix) -> F8:
        """Return the probability of each label, (P, K), from features (P, F)."""
        if self.forest is not None:
            values = np.zeros((matrix.shape[0], len(self.intercepts)))
            values[:, self.forest.classes_] = self.forest.predict_proba(matrix)
            return values
        if isinstance(matrix, np.ndarray):
            scaled: Matrix = (matrix - self.center) / self.scale
        else:  # a sparse one stays sparse: nothing is subtracted
            scaled = matrix.multiply(1 / self.scale).tocsr()
        result: F8 = softmax(scaled @ self.coefficients.T + self.intercepts, axis=1)
        return result

    def judge(self, texts: PairTexts) -> tuple[I8, F8]:
        """Return the place of the label of each pair, (P,), and the probabilities, (P, K)."""
        matrix = texts.matrix(self.features, self.frequencies)
        probabilities = self.probabilities(matrix)
        if self.threshold is not None:
            return (matrix[:, 0] >= self.threshold).astype(np.int64), probabilities
        return probabilities.argmax(1), probabilities


@dataclass(frozen=True, eq=False)
class _Training:
    """What models of the same features are fitted to: some of P pairs."""

    pairs: LabelledPairs
    places: I8
    features: tuple[str, ...]  # the names of feature sets
    frequencies: TextFrequencies  # in the texts of the pairs at these places
    matrix: Matrix  # (P, F), of all pairs


def _fit(training: _Training, strength: float, options: IdentifierOptions) -> PairModel:
    """Fit a model with a strength; a cosine of two labels gets a threshold, too."""
    matrix = training.matrix[training.places]
    labels = training.pairs.labels[training.places]
    classes = len(training.pairs.view.labels)
    is_sparse = sparse.issparse(matrix)
    width = matrix.shape[1]
    coefficients = np.zeros((classes, width))
    intercepts = np.full(classes, _NEVER)
    scaler = sklearn("preprocessing").StandardScaler(with_mean=not is_sparse).fit(matrix)
    center = np.zeros(width) if scaler.mean_ is None else scaler.mean_
    forest = None
    threshold = None
    if options.classifier == "forest":
        make = sklearn("ensemble").RandomForestClassifier
        forest = make(500, min_samples_leaf=5, random_state=options.seed)
        forest.fit(matrix, labels)
        coefficients = coefficients[:, :0]
    else:
        solver = "lbfgs" if is_sparse or width > _WIDE else "newton-cholesky"
        make = sklearn("linear_model").LogisticRegression
        linear = make(C=strength, max_iter=5000, solver=solver)
        linear.fit(scaler.transform(matrix), labels)
        rows = linear.coef_
        offsets = linear.intercept_
        if len(rows) == 1:  # of the second of two labels
            rows = np.vstack((np.zeros_like(rows), rows))
            offsets = np.append(0.0, offsets)
        coefficients[linear.classes_] = rows
        intercepts[linear.classes_] = offsets
        if training.features == ("cosine",) and classes == 2:
            threshold = _threshold(matrix[:, 0], labels, options.decide)
    return PairModel(
        features=training.features,
        frequencies=training.frequencies,
        center=center,
        scale=scaler.scale_,
        coefficients=coefficients,
        intercepts=intercepts,
        strength=strength,
        threshold=threshold,
        forest=forest,
    )


def _threshold(values: F8, labels: I8, decide: str) -> float:
    """Return the best of some quantiles of the values; a pair at or above it has the label 1.

    The best has the highest accuracy or, if `decide` is "f1", the highest F1 of label 1.
    """
    thresholds = np.quantile(values, np.linspace(0, 1, _QUANTILES))
    above = values >= thresholds[:, None]
    scores = (above == labels).mean(1)
    if decide == "f1":
        right = (above & (labels == 1)).sum(1)
        predicted_and_true = above.sum(1) + labels.sum()
        scores = 2 * right / np.maximum(1, predicted_and_true)
    return float(thresholds[scores.argmax()])


def clear_gain(gain: F8, groups: I8) -> bool:
    """Return whether the mean gain of pairs exceeds its standard error; groups are the units."""
    return bool(gain.mean() > cluster_error(gain, groups))


def fit_model(
    texts: PairTexts, pairs: LabelledPairs, places: I8, options: IdentifierOptions
) -> PairModel:
    """Fit a model to some of the pairs; inner folds choose C, and the features of ``auto``."""
    features, strength = _chosen(texts, pairs, places, options)
    return _fit(_training(texts, pairs, places, features), strength, options)


def _chosen(
    texts: PairTexts, pairs: LabelledPairs, places: I8, options: IdentifierOptions
) -> tuple[Sequence[str], float]:
    """Return the feature sets and C with the least loss on pairs that are left out.

    Feature sets are tried in their order: further ones must be clearly better than those before.
    """
    strengths = (0.0,) if options.classifier == "forest" else options.strengths
    choices: tuple[Sequence[str], ...] = (options.features,)
    if options.features == (AUTO,):
        choices = _SETS if options.encoder is None else _SETS + _WITH_ENCODER
    chosen = choices[0]
    strength = strengths[0]
    if len(choices) * len(strengths) == 1:
        return chosen, strength
    inner = list(folds(pairs, places, _FOLDS, options.seed))
    least = None  # the loss of each pair by what is chosen
    for features in choices:
        losses = np.zeros((len(strengths), len(pairs.labels)))
        for train, test in inner:
            training = _training(texts, pairs, train, features)
            for loss, trial in zip(losses, strengths, strict=True):
                model = _fit(training, trial, options)
                probabilities = model.probabilities(training.matrix[test])
                of_label = probabilities[np.arange(len(test)), pairs.labels[test]]
                loss[test] = -np.log(np.maximum(of_label, 1e-12))
        losses = losses[:, places]
        best = int(losses.mean(1).argmin())
        if least is None or clear_gain(least - losses[best], pairs.groups[places]):
            chosen = features
            strength = strengths[best]
            least = losses[best]
    return chosen, strength


def _training(
    texts: PairTexts, pairs: LabelledPairs, places: I8, features: Sequence[str]
) -> _Training:
    """Return what to fit models of some features to."""
    frequencies = texts.frequencies(places)
    matrix = texts.matrix(features, frequencies)
    return _Training(pairs, places, tuple(features), frequencies, matrix)
