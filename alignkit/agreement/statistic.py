"""What a statistic of agreement is: rows of counts, and the measures of their sums.

Every figure is a function of a sum of rows, a row for each sentence pair. So the figure of a
corpus, of a group of its pairs and of a bootstrap resample are one mechanism: add up rows, and take
the measures (the idea is sacreBLEU's; Post 2018).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.pairs import PairData

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from typing_extensions import Self

Floats = NDArray[np.float64]

Measure = Callable[[Floats], Mapping[str, Floats]]
"""What turns (R, K) sums of rows into named measures, (R,) each; NaN where undefined."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The counts of P sentence pairs, and what is measured on sums of them."""

    counts: Floats | csr_array[np.float64]
    measure: Measure  # from (R, K) sums to the measures

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    @property
    def width(self) -> int:
        """K."""
        return int(self.counts.shape[1])

    def sums(self, weights: Floats) -> Floats:
        """Return the (R, K) sums of rows that count as often as (R, P) weights say."""
        found: Floats
        if isinstance(self.counts, np.ndarray):
            found = weights @ self.counts
        else:
            # left column by column, as those who take sums of sparse counts want them
            found = np.asarray(self.counts.T @ weights.T, np.float64).T
        return found

    def part(self, mask: NDArray[np.bool_]) -> Self:
        """Return the rows of the pairs that a (P,) mask chooses."""
        return replace(self, counts=self.counts[mask])

    def total(self) -> Floats:
        """Return the (1, K) sum of all rows."""
        return self.sums(np.ones((1, len(self))))

    def figures(self) -> dict[str, float]:
        """Return the measures of all pairs together."""
        measures = self.measure(self.total())
        return {name: float(values[0]) for name, values in measures.items()}


@dataclass(frozen=True, eq=False)
class Statistic:
    """Describe a statistic of agreement; what a module of a coefficient exports."""

    level: str  # what it is taken of, "words.sure" and so on; a figure is named level.measure
    measures: tuple[str, ...]  # the names of what is measured
    rows: Callable[[PairData], Rows]  # from the pairs that are compared to the counts of each


def weighted_mean(pairs: Sequence[tuple[int, float]]) -> float:
    """Return the mean of (weight, value); what is undefined is left out, with its weight."""
    known = [(weight, value) for weight, value in pairs if not isnan(value)]
    total = sum(weight for weight, _ in known)
    return sum(weight * value for weight, value in known) / total if total else nan
