"""Count the labels that two annotators give to the same items: a table for each couple."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit._support.jit import readonly
from alignkit._support.parallel import executor
from alignkit.agreement.intervals import Floats
from alignkit.agreement.judgments import tables_kernel
from alignkit.agreement.judgments.consensus import LEAST, Labels
from alignkit.agreement.kappa import kappa_of_sums, weighted_kappas
from alignkit.stats.resampling import ratio


def apart(size: int, weights: str = "nominal") -> Floats:
    """Return the distances between K labels, (K, K)."""
    places = np.arange(size, dtype=np.float64)
    steps = np.abs(places[:, np.newaxis] - places)
    if weights == "linear":
        return steps
    return steps * steps if weights == "quadratic" else np.minimum(steps, 1)


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
        items, sizes = [np.empty(0, np.int32)], [np.zeros(1, np.int64)]
        count = couples[0][0].shape[-1] if couples else 0
        for first, second in couples:
            both = np.flatnonzero((first >= 0) & (second >= 0))
            cells = first.ravel()[both].astype(np.int16) * size + second.ravel()[both]
            items.append((both[np.argsort(cells, kind="stable")] % count).astype(np.int32))
            sizes.append(np.bincount(cells, minlength=size**2))
        return cls(size, np.cumsum(np.concatenate(sizes)), np.concatenate(items), count)

    def ratios(self, weights: NDArray[np.int32], far: Floats) -> Ratios:
        """Return the ratios of the tables, with items weighted by (P, R) weights."""
        sums = tables_kernel.couple_sums(
            readonly(self.offsets), readonly(self.items), readonly(weights), self.size,
            readonly(far),
        )  # fmt: skip
        items, same, seen, expected, squares = sums
        observed = ratio(same, items)
        # both label 2n times: 1 - the sum of squared shares is that of share * (1 - share)
        by_chance = (1 - ratio(squares, 4 * items * items)) / (self.size - 1)
        ac1 = (observed - by_chance) / (1 - by_chance)
        return Ratios(items, kappa_of_sums(items, seen, expected), observed, ac1)

    def total(self) -> Floats:
        """Return the (N, K, K) tables of all items."""
        return np.diff(self.offsets).reshape(-1, self.size, self.size).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Ratios:
    """The ratios of N tables in R resamples, each (N, R); NaN if undefined."""

    items: Floats  # how many items there are
    kappa: Floats  # Cohen's, weighted by how far labels are apart
    observed: Floats  # the share with equal labels
    ac1: Floats  # gwet's


def kappas(tables: Floats, far: Floats) -> Floats:
    """Return kappa of (..., K, K) tables; NaN if undefined."""
    size = tables.shape[-1]
    return weighted_kappas(tables.reshape(-1, size, size), far).reshape(tables.shape[:-2])


def mean_kappas(tables: Floats, far: Floats) -> Floats:
    """Return the mean kappa of (R, N, K, K) tables, (R,), weighted by items."""
    return mean_of(kappas(tables, far).T, tables.sum(axis=(2, 3)).T)


def mean_of(kappas: Floats, items: Floats) -> Floats:
    """Return the mean of (N, R) kappas, (R,), weighted by items."""
    known = ~np.isnan(kappas)
    total = (items * known).sum(axis=0)
    return ratio((items * np.where(known, kappas, 0)).sum(axis=0), total)


_CHUNK_BYTES, _MOST = 2**24, 64  # how many permutations are made at once


class NullQuestion(NamedTuple):
    """A view, and how to find the consensus in it."""

    values: Labels  # (A, P) labels; -1 where an annotator has not judged an item
    size: int  # K, how many labels there are
    far: Floats  # (K, K): how far two of them are apart
    ties: str = "leave-out"
    adjudicated: Labels | None = None  # (P,) labels, for ties="adjudicated"


class NullKappas(NamedTuple):
    """The kappas against the consensus in R permutations; NaN if undefined."""

    each: Floats  # (R, A): of each annotator
    mean: Floats
    pooled: Floats  # (R,): of all judgments in one table
    settled: Floats  # (R,): the share of items with two judgments or more that have a consensus


def null_kappas(
    questions: Sequence[NullQuestion], *, permutations: int = 1000, null: str = "all", seed: int,
    workers: int | None = None,
) -> list[NullKappas]:  # fmt: skip
    """Permute labels, find the new consensus, and compute the kappas against it."""
    data = _Judgments.of([question.values for question in questions])
    states = np.random.default_rng(seed).integers(1, 2**63, size=(permutations, 4), dtype=np.uint64)
    width = max((len(data.offsets) - 1) * question.size**2 for question in questions)
    step = max(1, min(_MOST, _CHUNK_BYTES // (len(data.codes) + 32 * width + 1)))

    def drawn(start: int) -> list[NullKappas]:
        permuted = tables_kernel.permute(data.codes, data.offsets, states[start : start + step])
        asked = zip(questions, data.meanings, strict=True)
        return [_kappas_of(question, data, meaning, permuted, null) for question, meaning in asked]

    with executor(workers) as threads:
        parts = list(threads.map(drawn, range(0, permutations, step)))
    return [
        NullKappas(*map(np.concatenate, zip(*chunks, strict=True)))
        for chunks in zip(*parts, strict=True)
    ]


class _Judgments(NamedTuple):
    """J judgments, annotator by annotator; a code means a label in each view."""

    codes: Labels
    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    meanings: NDArray[np.int8]

    @classmethod
    def of(cls, views: Sequence[Labels]) -> _Judgments:
        stacked = np.stack(views)
        annotator, item = np.nonzero(np.any(stacked >= 0, axis=0))
        offsets = np.searchsorted(annotator, np.arange(stacked.shape[1] + 1))
        meanings, codes = np.unique(stacked[:, annotator, item], axis=1, return_inverse=True)
        kinds, meanings = codes.reshape(-1).astype(np.int8), np.ascontiguousarray(meanings, np.int8)
        return cls(kinds, offsets.astype(np.int64), item.astype(np.int32), meanings)


def _kappas_of(
    question: NullQuestion, data: _Judgments, meaning: Labels, permuted: Labels, null: str
) -> NullKappas:
    size, ties = question.size, question.ties
    tied = np.full(question.values.shape[1], -1, np.int8)
    if ties == "adjudicated" and question.adjudicated is not None:
        tied[:] = question.adjudicated
    rest = (meaning, data.offsets, data.items, tied, size, LEAST, ties == "lowest")
    if null == "all":
        flat, settled = tables_kernel.consensus_tables(permuted, *rest)
    else:
        flat, settled = tables_kernel.one_permuted_tables(data.codes, permuted, *rest)
    judged = (question.values >= 0).sum(axis=0)
    enough = judged[judged >= LEAST]
    whole = len(enough) if null == "all" else int(enough.sum())
    tables = flat.reshape(*flat.shape[:2], size, size)
    return NullKappas(
        kappas(tables, question.far),
        mean_kappas(tables, question.far),
        kappas(tables.sum(axis=1), question.far),
        settled / whole if whole else np.full(len(settled), np.nan),
    )
