"""How many pairs the test needs: simulation of a system that is as good as the annotators."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10
from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import F8
from alignkit.agreement.planning import ASSURANCE
from alignkit.agreement.replacement.decision import LEAST_PAIRS, p_values, passes

SIZES = (50, 100, 200, 400, 800, 1600)
"""The numbers of pairs in the table."""

_MOST_UNITS = 1_000_000  # no more are looked at
_MOST_PATTERNS = 2_000  # of means of groups there may be as many as groups; d itself has few values
_CLOSE = 1.05  # two numbers of pairs that differ by less need no third between them


@dataclass(frozen=True)
class Power:
    """How often a system that is as good as the annotators passes the test.

    Parameters
    ----------
    units : The number of pairs, or groups, at hand.
    passing : The share of samples of this size in which it passes.
    by_size : The same for other numbers of pairs.
    needed : The number of pairs with which it passes in 80% of samples, rounded up to two digits;
        None if that is more than a million.
    drawn_from : The number of units that samples are drawn from: all, or 2,000 of them, chosen at
        random, if there are many different ones.
    """

    units: int
    passing: float
    by_size: tuple[tuple[int, float], ...]
    needed: int | None
    drawn_from: int


def passing_power(differences: F8, epsilon: float, *, samples: int, seed: int) -> Power:
    """Simulate the test with samples of the units at hand, with replacement.

    A system that is as good as the annotators wins as often as it loses. So in each drawn unit, the
    signs of all d are exchanged with probability 1/2: the ties, and how far annotators have the
    same d, are those of the units at hand.

    Parameters
    ----------
    differences : (A, U) d of each unit, NaN where an annotator is not compared.
    """
    known = differences[:, ~np.isnan(differences).all(axis=0)].T
    missing = 9.0  # no d is as large; NaN would differ from itself
    units = np.nan_to_num(known, nan=missing)
    patterns, counts = np.unique(units, axis=0, return_counts=True)
    if len(patterns) > _MOST_PATTERNS:
        rng = np.random.default_rng(seed)
        chosen = rng.choice(len(units), _MOST_PATTERNS, replace=False)
        patterns, counts = np.unique(units[chosen], axis=0, return_counts=True)
    present = patterns != missing
    values = np.where(present, patterns, 0.0)
    # each kind of unit twice, with half of its probability: with its signs, and with the others
    simulation = _Simulation(
        present=np.concatenate([present, present]).astype(np.float64),
        values=np.concatenate([values, -values]),
        shares=np.concatenate([counts, counts]) / (2 * counts.sum()),
        epsilon=epsilon,
        samples=samples,
        seed=seed,
    )
    at_hand = len(known)
    return Power(
        units=at_hand,
        passing=simulation.passing(at_hand),
        by_size=tuple((size, simulation.passing(size)) for size in SIZES),
        needed=_needed(simulation),
        drawn_from=int(counts.sum()),
    )


class _Simulation(NamedTuple):
    """Samples of K kinds of units."""

    present: F8  # (K, A) 1 where the annotator is compared, else 0
    values: F8  # (K, A) d
    shares: F8  # (K,) the probability of each kind
    epsilon: float
    samples: int
    seed: int

    def passing(self, size: int) -> float:
        """Return the share of samples of this many units in which the test passes."""
        rng = np.random.default_rng([self.seed, size])
        passed = 0
        step = max(1, 4_000_000 // len(self.shares))  # samples at once: 32 MB
        for start in range(0, self.samples, step):
            count = min(step, self.samples - start)
            drawn = rng.multinomial(size, self.shares, size=count).astype(np.float64)
            units = drawn @ self.present
            mean = (drawn @ self.values) / np.maximum(units, 1)
            squares = drawn @ self.values**2
            spread = np.maximum(squares - units * mean**2, 0) / np.maximum(units - 1, 1)
            p = p_values(units, mean, np.sqrt(spread), self.epsilon)
            passed += int(passes(p).sum())
        return passed / self.samples


def _needed(simulation: _Simulation) -> int | None:
    """Return the least number of units with which 80% of samples pass, rounded up."""
    low = LEAST_PAIRS
    if simulation.passing(low) >= ASSURANCE:
        return low
    high = low
    while simulation.passing(high) < ASSURANCE:
        low = high
        high = 2 * high
        if high > _MOST_UNITS:
            return None
    # `low` is too few, `high` enough
    while high > _CLOSE * low:
        middle = round((low * high) ** 0.5)
        if simulation.passing(middle) < ASSURANCE:
            low = middle
        else:
            high = middle
    step: int = 10 ** max(0, floor(log10(high)) - 1)  # of the second digit
    return -(-high // step) * step  # rounded up
