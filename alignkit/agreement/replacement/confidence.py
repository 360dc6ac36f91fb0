"""Which pairs a system may do alone: those of whose links it is most certain."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from alignkit._support.array_types import B1, F8
from alignkit.agreement.replacement.comparison import OthersComparison, Units
from alignkit.agreement.replacement.decision import Decision, decide
from alignkit.model.corpus import Corpus

_SHARES = range(100, 0, -1)  # percent of the pairs, the most first


@dataclass(frozen=True)
class CertainPairs:
    """The largest share of pairs, the most certain first, for which the test passes.

    The threshold is chosen on one half of the pairs and tested on the other.

    Parameters
    ----------
    threshold : The least mean probability of the links of a pair; NaN if no share passes on the
        first half.
    share : The share of the pairs of the second half that reach it.
    decision : The test of these pairs; None without a threshold.
    unknown : The number of pairs without probabilities of links; they never reach the threshold.
    """

    threshold: float
    share: float
    decision: Decision | None
    unknown: int

    @property
    def passes(self) -> bool:
        """Whether the share passes on the second half too."""
        return self.decision is not None and bool(self.decision.may_replace)


def mean_probabilities(corpus: Corpus, system: str) -> F8:
    """(Q,): the mean of the weights of the system's links in each pair; NaN for none."""
    means = np.full(len(corpus), np.nan)
    for place, pair in enumerate(corpus):
        alignment = pair.alignments.get(system)
        if alignment is not None and alignment.weights:
            means[place] = np.mean(list(alignment.weights.values()))
    return means


def certain_pairs(
    comparison: OthersComparison, units: Units, probabilities: F8, epsilon: float, *, seed: int
) -> CertainPairs | None:
    """Find the largest share of pairs that passes; None if no links have probabilities.

    Parameters
    ----------
    probabilities : (Q,) the mean probability of the links of each pair, NaN if not known.
    seed : The seed of the random halves; groups, and copies in them, stay together.
    """
    compared = comparison.compared
    known = compared & ~np.isnan(probabilities)
    if not known.any():
        return None
    unknown = int((compared & ~known).sum())
    numbers = np.unique(units.group_of)
    order = np.random.default_rng(seed).permutation(numbers)
    first = np.isin(units.group_of, order[: len(order) // 2])
    threshold = _largest(comparison, units, np.where(known, probabilities, -np.inf), first, epsilon)
    if threshold is None:
        return CertainPairs(np.nan, 0.0, None, unknown)
    certain = known & (probabilities >= threshold)
    second = compared & ~first
    decision = _decided(comparison, units, epsilon, certain & second)
    share = float((certain & second).sum() / max(1, second.sum()))
    return CertainPairs(threshold, share, decision, unknown)


def _largest(
    comparison: OthersComparison, units: Units, probabilities: F8, half: B1, epsilon: float
) -> float | None:
    """Return the lowest threshold that passes on a half of the pairs; None if there is none."""
    inside = half & comparison.compared
    everybody = len(_decided(comparison, units, epsilon, inside).tests)
    falling = np.sort(probabilities[inside])[::-1]
    for share in _SHARES:
        if not len(falling):
            break
        threshold = falling[ceil(share * len(falling) / 100) - 1]
        if threshold == -np.inf:  # some of these have no probabilities
            continue
        chosen = inside & (probabilities >= threshold)
        decision = _decided(comparison, units, epsilon, chosen)
        # with fewer pairs, an annotator who is hard to replace could drop out
        if decision.may_replace and len(decision.tests) == everybody:
            return float(threshold)
    return None


def _decided(comparison: OthersComparison, units: Units, epsilon: float, chosen: B1) -> Decision:
    """Return the decision for some pairs, a mask."""
    places = np.flatnonzero(chosen)
    return decide(comparison.take(places), units.take(places), epsilon)
