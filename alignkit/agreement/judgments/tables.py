"""Count who gives which labels to the same items: a table for every two annotators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.judgments.consensus import Labels
from alignkit.agreement.judgments.tables_kernel import couple_sums
from alignkit.agreement.kappa import kappa_of_sums, weighted_kappas
from alignkit.agreement.statistic import Floats
from alignkit.errors import UnknownNameError
from alignkit.jit import readonly
from alignkit.scoring.measures import ratio

WEIGHTS = ("nominal", "linear", "quadratic")
"""How far two labels are apart: any two as far, or by their places in the order."""


def apart(size: int, weights: str = "nominal") -> Floats:
    """Return how far any two of K labels are apart, (K, K)."""
    if weights not in WEIGHTS:
        raise UnknownNameError("weights", weights, WEIGHTS)
    places = np.arange(size, dtype=np.float64)
    steps = np.abs(places[:, np.newaxis] - places)
    if weights == "linear":
        return steps
    return steps * steps if weights == "quadratic" else np.minimum(steps, 1)


@dataclass(frozen=True, eq=False)
class LabelTables:
    """The labels that each of N pairs of annotators give to the items that both judged."""

    size: int  # K, how many labels there are
    offsets: NDArray[np.int64]
    items: NDArray[np.int32]  # the items of one cell after the other, as numbers below P
    count: int  # P, how many items there are

    @classmethod
    def of(cls, couples: Sequence[tuple[Labels, Labels]], size: int) -> LabelTables:
        """Collect the items that both of a couple judged."""
        items, sizes = [np.empty(0, np.int32)], [np.zeros(1, np.int64)]
        count = couples[0][0].shape[-1] if couples else 0
        for first, second in couples:
            both = np.flatnonzero((first >= 0) & (second >= 0))
            cells = first.ravel()[both].astype(np.int16) * size + second.ravel()[both]
            items.append((both[np.argsort(cells, kind="stable")] % count).astype(np.int32))
            sizes.append(np.bincount(cells, minlength=size**2))
        return cls(size, np.cumsum(np.concatenate(sizes)), np.concatenate(items), count)

    def ratios(self, weights: NDArray[np.int32], far: Floats) -> Ratios:
        """Return what the tables say where items count as often as (P, R) weights say."""
        sums = couple_sums(
            readonly(self.offsets), readonly(self.items), readonly(weights), self.size,
            readonly(far),
        )  # fmt: skip
        items, same, seen, expected, squares = sums
        observed = ratio(same, items)
        # both label 2n times: 1 - the sum of squared shares is that of share * (1 - share)
        by_chance = (1 - ratio(squares, 4 * items * items)) / (self.size - 1)
        return Ratios(
            items,
            kappa_of_sums(items, seen, expected),
            observed,
            (observed - by_chance) / (1 - by_chance),
        )

    def total(self) -> Floats:
        """Return the (N, K, K) tables of all items."""
        return np.diff(self.offsets).reshape(-1, self.size, self.size).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Ratios:
    """What N tables say in R resamples, each (N, R); NaN where undefined."""

    items: Floats  # how many items there are
    kappa: Floats  # Cohen's, weighted by how far labels are apart
    observed: Floats  # the share with equal labels
    ac1: Floats  # gwet's


def kappas(tables: Floats, far: Floats) -> Floats:
    """Return kappa of (..., K, K) tables; NaN where undefined."""
    size = tables.shape[-1]
    values = weighted_kappas(tables.reshape(-1, size, size), far)
    return values.reshape(tables.shape[:-2])


def mean_kappas(tables: Floats, far: Floats) -> Floats:
    """Return the mean kappa of (R, N, K, K) tables, (R,), each weighing as much as its items."""
    return mean_of(kappas(tables, far).T, tables.sum(axis=(2, 3)).T)


def mean_of(kappas: Floats, items: Floats) -> Floats:
    """Return the mean of (N, R) kappas, (R,), each weighing as much as its items."""
    known = ~np.isnan(kappas)
    total = (items * known).sum(axis=0)
    above = (items * np.where(known, kappas, 0)).sum(axis=0)
    return ratio(above, total)
