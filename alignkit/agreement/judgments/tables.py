"""Count the labels that two annotators give to the same items: a table for each couple.

The table of a couple has a row for each label of the first, and a column for each label of the
second: cell (k, l) counts the items that the first labelled k and the second l.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit._support.array_types import F8, I4, I8
from alignkit._support.jit import readonly
from alignkit.agreement.judgments import tables_kernel
from alignkit.agreement.judgments.consensus import Consensus, Labels, label_counts, majority_labels
from alignkit.errors import OptionError
from alignkit.stats.resampling import ratio


def label_distances(size: int, weights: str = "nominal") -> F8:
    """Return the distances between K labels, (K, K)."""
    places = np.arange(size, dtype=np.float64)
    steps = np.abs(places[:, np.newaxis] - places)
    if weights == "linear":
        return steps
    if weights == "quadratic":
        return steps * steps
    return np.minimum(steps, 1)


@dataclass(frozen=True)
class ViewData:
    """The labels that annotators gave, and how to compare them."""

    name: str  # of the view
    annotators: tuple[str, ...]  # the A names
    labels: tuple[str, ...]  # the K names of the labels, in their order; used or not
    values: Labels  # (A, P) numbers of labels; -1 where someone has not judged an item
    ordered: bool = False  # whether the order of the labels means something
    weights: str = "nominal"  # of kappa: "nominal", "linear" or "quadratic"
    ties: str = "leave-out"
    adjudicated: Labels | None = None
    groups: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.labels) < 2:
            raise OptionError(f"the view {self.name} has only one label; choose another view")
        if self.ties == "lowest":
            what = "`ties='lowest'`"
        elif self.weights != "nominal":
            what = f"`weights={self.weights!r}`"
        else:
            what = ""
        if what and not self.ordered:
            raise OptionError(
                f"{what} needs ordered labels, but those of the view {self.name} have no order: "
                "choose another view, or leave it out"
            )

    @property
    def has_majority(self) -> bool:
        """Whether the majority can be other than the shared label of two annotators."""
        return len(self.annotators) > 2 or self.ties in ("lowest", "adjudicated")

    @property
    def size(self) -> int:
        """K, the number of labels."""
        return len(self.labels)

    @cached_property
    def counts(self) -> I4:
        """(P, K): how many annotators give each item each label."""
        return label_counts(self.values, self.size)

    @cached_property
    def majority(self) -> Consensus:
        """The label that most annotators give each item."""
        return majority_labels(self.values, self.size, ties=self.ties, adjudicated=self.adjudicated)

    @property
    def far(self) -> F8:
        """The distances between labels, (K, K)."""
        return label_distances(self.size, self.weights)

    def part(self, members: NDArray[np.intp]) -> ViewData:
        """Return the same for some of the items."""
        adjudicated = self.adjudicated
        if adjudicated is not None:
            adjudicated = adjudicated[members]
        values = np.ascontiguousarray(self.values[:, members])
        return replace(self, values=values, adjudicated=adjudicated)


@dataclass(frozen=True)
class LabelTables:
    """The N tables of couples, with the items of each cell, so that any weights can be summed.

    The cells are in the order of couples, rows and columns; the items of cell c are
    items[offsets[c] : offsets[c + 1]].
    """

    size: int  # K, the number of labels
    offsets: I8  # (N * K * K + 1,)
    items: I4  # numbers below P
    count: int  # P, the number of items

    @classmethod
    def of(cls, couples: Sequence[tuple[Labels, Labels]], size: int) -> LabelTables:
        """Collect the items that both annotators of a couple judged."""
        items = [np.empty(0, np.int32)]
        sizes = [np.zeros(1, np.int64)]
        count = 0
        for first, second in couples:
            count = first.shape[-1]
            # places in the flat labels: of a pooled couple, (A, P), an item has A of them
            both = np.flatnonzero((first >= 0) & (second >= 0))
            rows = first.ravel()[both].astype(np.int16)
            cells = rows * size + second.ravel()[both]
            by_cell = both[np.argsort(cells, kind="stable")]
            items.append((by_cell % count).astype(np.int32))
            sizes.append(np.bincount(cells, minlength=size**2))
        return cls(size, np.cumsum(np.concatenate(sizes)), np.concatenate(items), count)

    def ratios(self, weights: I4, far: F8) -> Ratios:
        """Return the ratios of the tables, with items weighted by (P, R) weights."""
        sums = tables_kernel.couple_sums(
            readonly(self.offsets),
            readonly(self.items),
            readonly(weights),
            self.size,
            readonly(far),
        )
        items, same, distances, expected, squares = sums
        kappa = ratio(expected - items * distances, expected)
        observed = ratio(same, items)
        # Gwet 2014, chapter 4: with weights this is AC2, without AC1. Both label 2 n times, so
        # squares / (2 n)^2 is the sum of squared shares s, and 1 less that is the sum of s (1 - s)
        alike = 1 - ratio(distances, items * far.max())
        among = self.size * (self.size - 1)
        by_chance = (1 - ratio(squares, 4 * items * items)) * (1 - far / far.max()).sum() / among
        ac1 = ratio(alike - by_chance, 1 - by_chance)
        return Ratios(items, kappa, observed, ac1)

    def total(self) -> F8:
        """Return the (N, K, K) tables of all items."""
        return np.diff(self.offsets).reshape(-1, self.size, self.size).astype(np.float64)


class Ratios(NamedTuple):
    """The ratios of N tables in R resamples, each (N, R); NaN if undefined."""

    items: F8  # how many items there are
    kappa: F8  # Cohen's, weighted by how far labels are apart
    observed: F8  # the share with equal labels
    ac1: F8  # Gwet's, weighted like kappa


def mean_of(kappas: F8, items: F8) -> F8:
    """Return the mean of (N, R) kappas, (R,), weighted by items."""
    known = ~np.isnan(kappas)
    weighted = items * np.where(known, kappas, 0)
    return ratio(weighted.sum(axis=0), (items * known).sum(axis=0))
