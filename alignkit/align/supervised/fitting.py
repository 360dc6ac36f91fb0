"""Fits of a round to the cells of gold pairs: by logistic regression, networks, or both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit.align.supervised.cells import STRONG, STRONG_SECOND, Cells, set_neighbours
from alignkit.align.supervised.network_kernel import (
    HIDDEN,
    LANES,
    curvature,
    linear_logits,
    network_logits,
    set_scale,
    slope,
    solve,
    squash,
    standardize,
    train_epoch,
)

F4 = NDArray[np.float32]
F8 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Layers:
    """A network of one hidden layer."""

    first: F4  # (D + 1, H) float32: from the features to the hidden units; last row, the biases
    second: F4  # (H + 1,) float32: from the hidden units to the log odds; last, the bias


@dataclass(frozen=True, eq=False)
class SupervisedRound:
    """Log odds from features: a weighted sum, and the mean of networks."""

    weights: F8  # (D,) float64
    bias: float  # what is added
    networks: tuple[Layers, ...] = ()  # perhaps none

    @classmethod
    def named(cls, names: tuple[str, ...], weights: Mapping[str, float]) -> SupervisedRound:
        """Return the round of weights by name of feature; ``bias`` is one of them."""
        return cls(np.array([weights.get(name, 0.0) for name in names]), weights.get("bias", 0.0))

    def logits(self, features: F4) -> F8:
        """Return the log odds (K,) of cells with these features (K, D)."""
        logits = np.zeros(len(features))
        for network in self.networks:
            network_logits(features, network.first, network.second, logits)
        if self.networks:
            logits /= len(self.networks)
        if self.weights.any() or self.bias:
            linear_logits(features, self.weights, self.bias, logits)
        return logits


@dataclass(frozen=True, eq=False)
class StackedModel:
    """Two rounds: the first sees the cell, the second what the first says of those around it."""

    first: SupervisedRound
    second: SupervisedRound

    def probabilities(self, cells: Cells) -> F4:
        """Return the probabilities (K,) of cells, whose other features are set."""
        first = probabilities_of(self.first.logits(cells.features))
        set_neighbours(cells, first, cells.features)
        return probabilities_of(self.second.logits(cells.features))


def probabilities_of(logits: F8) -> F4:
    """Return the probabilities of log odds."""
    probabilities = np.empty(len(logits), np.float32)
    squash(logits, probabilities)
    return probabilities


I8 = NDArray[np.int64]

SEEDS = 2
EPOCHS, EPOCHS_OF_FEW, FEW = 12, 24, 30_000
"""How often a network sees all rows; more often where an epoch has few."""
RATE = 3e-3
DECAY = 1e-4
EASY, THINNED = -6.0, 8
"""Cells of which the prior's log odds are less are no links; a network sees few of them."""
_ROUNDS = 40  # of Newton's method at most
_CLOSE = 1e-7  # of the gradient to the number of rows


class FitKind(NamedTuple):
    """A way to fit a round."""

    name: str  # what reports call it
    features: str
    ridge: float  # the weight of the squared weights, of features of variance 1

    @property
    def has_networks(self) -> bool:
        """Whether networks are trained."""
        return self.features in ("network", "both")


KINDS = {
    kind.name: kind
    for kind in (
        FitKind("platt", "prior", 3),
        FitKind("strong", "strong", 10),
        FitKind("all-300", "all", 300),
        FitKind("all-30", "all", 30),
        FitKind("all-3", "all", 3),
        FitKind("network", "network", 0),
        FitKind("both", "both", 30),
    )
}
"""The ways, by name."""


def fit(
    kinds: Sequence[FitKind],
    prior: SupervisedRound,
    names: Sequence[str],
    features: F4,
    goals: F4,
    *,
    second: bool,
) -> list[SupervisedRound]:
    """Fit a round in each of some ways."""
    kept = goals >= 0
    if not kept.all():
        features, goals = features[kept], goals[kept]
    wanted = (*STRONG, *STRONG_SECOND) if second else STRONG
    strong = np.array([at for at, name in enumerate(names) if name in wanted])
    fits = _Fits(prior, features, goals, strong)
    return [fits.of(kind) for kind in kinds]


class _Fits:
    """Fits of a round to the same cells in several ways, which share what they can."""

    def __init__(self, prior: SupervisedRound, features: F4, goals: F4, strong: I8) -> None:
        self._prior, self._features, self._goals = prior, features, goals
        self._offset = prior.logits(features)
        self._columns = {"all": np.arange(features.shape[1]), "strong": strong}
        self._rows: dict[str, tuple[F4, F8, F8]] = {}
        self._linear: dict[tuple[str, float], SupervisedRound] = {}

    def of(self, kind: FitKind) -> SupervisedRound:
        """Return the round of a kind."""
        if kind.features == "prior":  # as Platt scaling: a factor and a bias of the prior
            prior, column = self._prior, self._offset[:, None].astype(np.float32)
            weights, bias = _regression(column, self._offset, self._goals, kind.ridge)
            factor = 1 + weights[0]
            return SupervisedRound(prior.weights * factor, prior.bias * factor + bias)
        if kind.features == "network":
            return self._networks
        if kind.features == "both":
            linear, networks = self._weighed("all", kind.ridge), self._networks.networks
            halves = [Layers(each.first, each.second * np.float32(0.5)) for each in networks]
            return SupervisedRound(linear.weights / 2, linear.bias / 2, tuple(halves))
        return self._weighed(kind.features, kind.ridge)

    def _weighed(self, which: str, ridge: float) -> SupervisedRound:
        if (which, ridge) not in self._linear:
            columns = self._columns[which]
            if which not in self._rows:
                self._rows[which] = _scaled(self._features, columns, len(columns))
            rows, mean, spread = self._rows[which]
            slopes, bias = _regression(rows, self._offset, self._goals, ridge)
            weights = self._prior.weights.copy()
            weights[columns] += slopes / spread
            bias += self._prior.bias - float((slopes * mean / spread).sum())
            self._linear[which, ridge] = SupervisedRound(weights, bias)
        return self._linear[which, ridge]

    @cached_property
    def _networks(self) -> SupervisedRound:
        self._rows.clear()
        width, easy = self._features.shape[1], self._offset < EASY
        rows, mean, spread = _scaled(self._features, np.arange(width), width + 4 - width % 4)
        rows[:, width] = 1
        networks = [_trained(rows, self._goals, easy, mean, spread, seed) for seed in range(SEEDS)]
        return SupervisedRound(np.zeros(width), 0.0, tuple(networks))


def _scaled(features: F4, columns: I8, width: int) -> tuple[F4, F8, F8]:
    """Return rows (C, width) of the columns, standardized, zeros behind; mean and spread (n,)."""
    mean, spread = np.empty(features.shape[1]), np.empty(features.shape[1])
    set_scale(features, mean, spread)
    rows = np.zeros((len(features), width), np.float32)
    mean, spread = mean[columns], spread[columns]
    standardize(features, columns, mean, spread, rows)
    return rows, mean, spread


def _regression(rows: F4, offset: F8, goals: F4, ridge: float) -> tuple[F8, float]:
    """Return weights and bias of the logistic regression that is added to log odds.

    Newton's method; its matrix is made anew while a step shrinks the gradient less than tenfold.
    """
    width = rows.shape[1]
    penalty = np.append(np.full(width, float(ridge)), 1e-3)
    weights, spread = np.zeros(width + 1), np.empty(len(rows))
    gradient, next_gradient = np.empty(width + 1), np.empty(width + 1)
    matrix, known = np.empty((width + 1, width + 1)), False
    loss = slope(rows, offset, goals, penalty, weights, gradient, spread)
    for _ in range(_ROUNDS):
        size = np.abs(gradient).max()
        if size <= _CLOSE * (1 + len(rows)):
            break
        if not known:
            curvature(rows, spread, penalty, matrix)
            known = True
        step = gradient.copy()
        solve(matrix.copy(), step)
        scale = 1.0
        while True:
            trial = weights - scale * step
            logits = offset.copy()
            linear_logits(rows, trial[:-1], float(trial[-1]), logits)
            trial_loss = slope(rows, logits, goals, penalty, trial, next_gradient, spread)
            if trial_loss <= loss + 1e-9 * abs(loss) or scale < 1e-4:
                break
            scale /= 2
        if scale < 1 or np.abs(next_gradient).max() > 0.1 * size:
            known = False
        weights, loss = trial, trial_loss
        gradient, next_gradient = next_gradient, gradient
    return weights[:-1], float(weights[-1])


def _trained(
    rows: F4, goals: F4, easy: NDArray[np.bool_], mean: F8, spread: F8, seed: int
) -> Layers:
    """Return a network; each epoch sees an eighth of the easy rows, which count eight times."""
    scale = np.where(easy, np.float32(THINNED), np.float32(1))
    hard, others = np.flatnonzero(~easy), np.flatnonzero(easy)
    rng = np.random.default_rng(seed)
    width = len(mean)
    first = np.zeros((HIDDEN, -(-rows.shape[1] // LANES) * LANES), np.float32)
    first[:, :width] = rng.normal(0, np.sqrt(2 / width), (width, HIDDEN)).T
    second = np.zeros(HIDDEN + 1, np.float32)
    second[:-1] = rng.normal(0, np.sqrt(1 / HIDDEN), HIDDEN)
    moments = [np.zeros_like(layer) for layer in (first, first, second, second)]
    step = 0
    epochs = EPOCHS_OF_FEW if len(hard) + len(others) // THINNED < FEW else EPOCHS
    for epoch in range(epochs):
        rate = RATE * (1 - epoch / epochs)
        order = rng.permutation(np.concatenate([hard, others[epoch % THINNED :: THINNED]]))
        step = train_epoch(rows, goals, scale, order, rate, DECAY, step, first, second, *moments)
    scaled = np.array(first[:, : width + 1].T, np.float64, order="C")
    scaled[:-1] /= spread[:, None]
    scaled[-1] -= (mean[:, None] * scaled[:-1]).sum(axis=0)
    return Layers(scaled.astype(np.float32), second)
