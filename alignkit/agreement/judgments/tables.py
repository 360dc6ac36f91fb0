"""Count the labels that two annotators give to the same items: a table for each couple."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit._support.jit import readonly
from alignkit._support.parallel import executor
from alignkit.agreement.intervals import Floats
from alignkit.agreement.judgments import tables_kernel
from alignkit.agreement.judgments.consensus import LEAST, Labels
from alignkit.agreement.judgments.options import JudgmentOptions
from alignkit.agreement.kappa import weighted_kappas
from alignkit.errors import OptionError
from alignkit.stats.resampling import ratio


def apart(size: int, weights: str = "nominal") -> Floats:
    """Return the distances between K labels, (K, K)."""
    places = np.arange(size, dtype=np.float64)
    steps = np.abs(places[:, np.newaxis] - places)
    if weights == "linear":
        return steps
    if weights == "quadratic":
        return steps * steps
    return np.minimum(steps, 1)


@dataclass(frozen=True, eq=False)
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
    def far(self) -> Floats:
        """The distances between labels, (K, K)."""
        return apart(len(self.labels), self.weights)

    def part(self, members: NDArray[np.intp]) -> ViewData:
        """Return the same for some of the items."""
        adjudicated = self.adjudicated
        if adjudicated is not None:
            adjudicated = adjudicated[members]
        values = np.ascontiguousarray(self.values[:, members])
        return replace(self, values=values, adjudicated=adjudicated)


@dataclass(frozen=True, eq=False)
class LabelTables:
    """The labels that N pairs of annotators give to the items that both judged."""

    size: int  # K, how many labels there are
    offsets: NDArray[np.int64]
    items: NDArray[np.int32]  # the items of one cell after the other, as numbers below P
    count: int  # P, how many items there are

    @classmethod
    def of(cls, couples: Sequence[tuple[Labels, Labels]], size: int) -> LabelTables:
        """Collect the items that both annotators of a couple judged."""
        items = [np.empty(0, np.int32)]
        sizes = [np.zeros(1, np.int64)]
        count = 0
        for first, second in couples:
            count = first.shape[-1]
            both = np.flatnonzero((first >= 0) & (second >= 0))
            rows = first.ravel()[both].astype(np.int16)
            cells = rows * size + second.ravel()[both]
            by_cell = both[np.argsort(cells, kind="stable")]
            items.append((by_cell % count).astype(np.int32))
            sizes.append(np.bincount(cells, minlength=size**2))
        return cls(size, np.cumsum(np.concatenate(sizes)), np.concatenate(items), count)

    def ratios(self, weights: NDArray[np.int32], far: Floats) -> Ratios:
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
        # Gwet 2014, chapter 4: with weights this is AC2, without AC1. Both label 2n times:
        # 1 - the sum of squared shares is that of share * (1 - share)
        alike = 1 - ratio(distances, items * far.max())
        among = self.size * (self.size - 1)
        by_chance = (1 - ratio(squares, 4 * items * items)) * (1 - far / far.max()).sum() / among
        ac1 = ratio(alike - by_chance, 1 - by_chance)
        return Ratios(items, kappa, observed, ac1)

    def total(self) -> Floats:
        """Return the (N, K, K) tables of all items."""
        return np.diff(self.offsets).reshape(-1, self.size, self.size).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Ratios:
    """The ratios of N tables in R resamples, each (N, R); NaN if undefined."""

    items: Floats  # how many items there are
    kappa: Floats  # Cohen's, weighted by how far labels are apart
    observed: Floats  # the share with equal labels
    ac1: Floats  # Gwet's, weighted like kappa


def mean_of(kappas: Floats, items: Floats) -> Floats:
    """Return the mean of (N, R) kappas, (R,), weighted by items."""
    known = ~np.isnan(kappas)
    weighted = items * np.where(known, kappas, 0)
    return ratio(weighted.sum(axis=0), (items * known).sum(axis=0))


# how many permutations are made at once
_CHUNK_BYTES = 2**24
_MOST = 64


class NullKappas(NamedTuple):
    """The kappas against the consensus in R permutations; NaN if undefined."""

    each: Floats  # (R, A): of each annotator
    mean: Floats
    pooled: Floats  # (R,): of all judgments in one table
    settled: Floats  # (R,): the share of items with two judgments or more that have a consensus


def null_kappas(views: Sequence[ViewData], options: JudgmentOptions) -> list[NullKappas]:
    """Permute labels, find the new consensus, and compute the kappas against it."""
    data = _Judgments.of([view.values for view in views])
    rng = np.random.default_rng(options.seed)
    states = rng.integers(1, 2**63, size=(options.permutations, 4), dtype=np.uint64)
    most_labels = max(len(view.labels) for view in views)
    width = (len(data.offsets) - 1) * most_labels**2
    fitting = _CHUNK_BYTES // (len(data.codes) + 32 * width + 1)
    step = max(1, min(_MOST, fitting))

    def drawn(start: int) -> list[NullKappas]:
        """Return the kappas of each view in some permutations."""
        permuted = tables_kernel.permute(data.codes, data.offsets, states[start : start + step])
        return [
            _kappas_of(view, data, meaning, permuted, options.null)
            for view, meaning in zip(views, data.meanings, strict=True)
        ]

    with executor(options.workers) as threads:
        parts = list(threads.map(drawn, range(0, options.permutations, step)))
    nulls = []
    for of_view in zip(*parts, strict=True):
        fields = zip(*of_view, strict=True)
        each, mean, pooled, settled = map(np.concatenate, fields)
        nulls.append(NullKappas(each, mean, pooled, settled))
    return nulls


class _Judgments(NamedTuple):
    """J judgments, annotator by annotator; a code means a label in each view."""

    codes: Labels
    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    meanings: NDArray[np.int8]

    @classmethod
    def of(cls, views: Sequence[Labels]) -> _Judgments:
        """Collect the judgments, from the (A, P) labels in each view."""
        stacked = np.stack(views)
        annotator, item = np.nonzero(np.any(stacked >= 0, axis=0))
        offsets = np.searchsorted(annotator, np.arange(stacked.shape[1] + 1))
        meanings, codes = np.unique(stacked[:, annotator, item], axis=1, return_inverse=True)
        kinds = codes.reshape(-1).astype(np.int8)
        meanings = np.ascontiguousarray(meanings, np.int8)
        return cls(kinds, offsets.astype(np.int64), item.astype(np.int32), meanings)


def _kappas_of(
    view: ViewData, data: _Judgments, meaning: Labels, permuted: Labels, null: str
) -> NullKappas:
    """Return the kappas of a view in R permutations, (R, J), of all or of one annotator at once."""
    size = len(view.labels)
    ties = view.ties
    tied = np.full(view.values.shape[1], -1, np.int8)
    if ties == "adjudicated" and view.adjudicated is not None:
        tied[:] = view.adjudicated
    rest = (meaning, data.offsets, data.items, tied, size, LEAST, ties == "lowest")
    judged = (view.values >= 0).sum(axis=0)
    enough = judged[judged >= LEAST]
    if null == "all":
        flat, settled = tables_kernel.consensus_tables(permuted, *rest)
        items = len(enough)
    else:
        flat, settled = tables_kernel.one_permuted_tables(data.codes, permuted, *rest)
        items = int(enough.sum())  # each for each of its annotators
    tables = flat.reshape(*flat.shape[:2], size, size)
    each = weighted_kappas(tables, view.far)
    return NullKappas(
        each=each,
        mean=mean_of(each.T, tables.sum(axis=(2, 3)).T),
        pooled=weighted_kappas(tables.sum(axis=1), view.far),
        settled=settled / items if items else np.full(len(settled), np.nan),
    )
