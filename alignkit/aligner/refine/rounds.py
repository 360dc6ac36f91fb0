"""The stacked model of links: features of cells become probabilities, in two rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.refine.cells import Cells, set_neighbours
from alignkit.aligner.refine.network_kernel import network_logits
from alignkit.aligner.refine.regression_kernel import linear_logits, squash

F4 = NDArray[np.float32]
F8 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Layers:
    """A network of one hidden layer."""

    first: F4  # (D + 1, H) float32: from the features to the hidden units; last row, the biases
    second: F4  # (H + 1,) float32: from the hidden units to the log odds; last, the bias


@dataclass(frozen=True, eq=False)
class Round:
    """Log odds from features: a weighted sum, and the mean of networks."""

    weights: F8  # (D,) float64
    bias: float  # what is added
    networks: tuple[Layers, ...] = ()  # perhaps none

    @classmethod
    def named(cls, names: tuple[str, ...], weights: Mapping[str, float]) -> Round:
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

    first: Round
    second: Round

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
