"""How often does the alternative annotator test let a system pass? By simulation.

    python -m benchmarks.replace            # 1,000 samples each: 40 seconds

Three annotators and a system start from a common truth: pairs of 15 links each. Each drops every
link with a probability, the error rate, and adds as many of its own, which nobody else has.
Annotators err at a rate of 10%; the system at the same rate, or at twice the rate.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.replacement.comparison import Units, compare_with_others
from alignkit.agreement.replacement.decision import decide
from alignkit.agreement.replacement.similarity import PairSimilarity

ANNOTATORS = ("A", "B", "C")
SYSTEM = "system"
LINKS = 15
RATE = 0.1
CASES = (
    (50, 0.1, RATE),
    (200, 0.1, RATE),
    (800, 0.1, RATE),
    (50, 0.2, RATE),
    (200, 0.2, RATE),
    (50, 0.2, 2 * RATE),
    (200, 0.2, 2 * RATE),
    (800, 0.2, 2 * RATE),
)
"""The pairs, epsilon, and the error rate of the system."""

Links = NDArray[np.bool_]


class SimulatedLinks(PairSimilarity):
    """F1 of simulated links: those of the truth, and added ones that nobody else has."""

    def __init__(self, kept: dict[str, Links], added: dict[str, NDArray[np.int64]]) -> None:
        self._kept = kept
        self._sizes = {name: kept[name].sum(axis=1) + added[name] for name in kept}

    @classmethod
    def drawn(cls, rng: np.random.Generator, pairs: int, rates: dict[str, float]) -> SimulatedLinks:
        """Draw the links of each name, which errs at a rate."""
        kept = {}
        added = {}
        for name, rate in rates.items():
            kept[name] = rng.random((pairs, LINKS)) >= rate
            added[name] = rng.binomial(LINKS, rate, pairs)
        return cls(kept, added)

    def aligned(self, name: str) -> Links:
        """Return that everybody aligned each pair."""
        return np.ones(len(self._kept[name]), bool)

    def between(self, first: str, second: str) -> NDArray[np.float64]:
        """Return F1 of each pair, as one row."""
        shared = (self._kept[first] & self._kept[second]).sum(axis=1)
        sizes = self._sizes[first] + self._sizes[second]
        return np.where(sizes > 0, 2 * shared / np.maximum(sizes, 1), 1.0)[None]

    def items(self, name: str) -> NDArray[np.float64]:
        """Return the number of links of each pair, as one row."""
        return self._sizes[name][None].astype(np.float64)


def passing(samples: int, pairs: int, epsilon: float, rate: float, seed: int = 1) -> float:
    """Return in which share of samples the system may replace an annotator."""
    rng = np.random.default_rng([seed, pairs])
    rates = dict.fromkeys(ANNOTATORS, RATE) | {SYSTEM: rate}
    numbers = np.arange(pairs)
    units = Units(numbers, numbers, grouped=False)
    passed = 0
    for _ in range(samples):
        links = SimulatedLinks.drawn(rng, pairs, rates)
        comparison = compare_with_others(links, SYSTEM, ANNOTATORS)
        passed += bool(decide(comparison, units, epsilon).may_replace)
    return passed / samples


def main(samples: int = 1000) -> None:
    """Print a row for each case."""
    print("pairs  epsilon  error rate  may replace")
    for pairs, epsilon, rate in CASES:
        share = passing(samples, pairs, epsilon, rate)
        print(f"{pairs:5}  {epsilon:7g}  {rate:10.0%}  {share:11.1%}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
