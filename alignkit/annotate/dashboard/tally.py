"""The agreement of each two annotators as a row of counts per pair; one pair is quickly recounted.

The rows are those of `alignkit.agree`: of words (precision, recall, F1) and of cells (kappa). A
figure is a function of their sum. The sum is kept, so reading a figure costs nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.intervals import (
    Intervals,
    Measure,
    Rows,
    Statistic,
    bootstrap,
    weighted_mean,
)
from alignkit.agreement.kappa import CELLS, table_ratios
from alignkit.agreement.options import Draws
from alignkit.agreement.overlaps import OVERLAP, overlap_ratios
from alignkit.agreement.pairs import CorpusData, PairData
from alignkit.model.alignment import Alignment
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair

Cell = tuple[int, int]
Counts = NDArray[np.int32]

FIGURES = ("words.possible.f1", "words.sure.f1", "cells.all.kappa", "different.cells.all.kappa")
"""The figures that are always up to date, by their names in an `Agreement`."""


@dataclass(frozen=True)
class _Part:
    """Some columns of the rows: a statistic, its measure, and whether equal words count."""

    statistic: Statistic
    measure: Measure
    columns: slice
    different: bool

    def count(self, data: PairData, different: PairData) -> NDArray[np.float64]:
        return np.asarray(self.statistic.rows(different if self.different else data).counts)


_levels = {statistic.level: statistic for statistic in (*OVERLAP, *CELLS)}
_cells = _levels["cells.all"]
_PARTS = (
    _Part(_levels["words.possible"], overlap_ratios, slice(0, 4), True),
    _Part(_levels["words.sure"], overlap_ratios, slice(4, 8), True),
    _Part(_cells, table_ratios, slice(8, 17), False),
    _Part(replace(_cells, level="different.cells.all"), table_ratios, slice(17, 26), True),
)
_WORDS = _PARTS[:2]
_WIDTH = _PARTS[-1].columns.stop
_APART = _WORDS[-1].columns.stop  # as many columns again: words, without links both took in bulk


@dataclass(frozen=True)
class TalliedPair:
    """A pair with its finished annotations."""

    k: int  # its number; rows are in the order of these
    pair: SentencePair  # with no other annotations
    bulk: Mapping[str, Collection[Cell]]


class PairF1(NamedTuple):
    """F1 of one pair: of all links of different words, and of the sure links."""

    possible: float
    sure: float


class Two:
    """The rows of two annotators, for the pairs that both have done."""

    def __init__(self) -> None:
        self._rows: dict[int, Counts] = {}  # by pair
        self._sum = np.zeros(_WIDTH + _APART, np.int64)
        self.version = 0
        self._measured_at = -1  # the version of the figures
        self._figures: tuple[dict[str, float], dict[str, float]] = ({}, {})

    def __len__(self) -> int:
        return len(self._rows)

    def put(self, k: int, counts: Counts | None) -> None:
        """Set the row of a pair; None unless both have done it."""
        if counts is None and k not in self._rows:
            return
        self.version += 1
        self._sum -= self._rows.pop(k, 0)
        if counts is not None:
            self._rows[k] = counts
            self._sum += counts

    def figures(self) -> dict[str, float]:
        """Return the figures over all pairs, by the names of `FIGURES`; NaN for 0/0."""
        return self._measured()[0]

    def apart(self) -> dict[str, float]:
        """Return F1 of words without the links that both took in bulk and did not look at."""
        return self._measured()[1]

    def _measured(self) -> tuple[dict[str, float], dict[str, float]]:
        if self._measured_at != self.version:
            self._figures = _named(_PARTS, self._sum[:_WIDTH]), _named(_WORDS, self._sum[_WIDTH:])
            self._measured_at = self.version
        return self._figures

    def shared(self) -> tuple[int, int]:
        """Return how many links both have, and how many of these both took in bulk."""
        column = _WORDS[0].columns.start + 1
        every = int(self._sum[column])
        apart = int(self._sum[_WIDTH + column])
        return every, every - apart

    def f1_of(self, k: int) -> PairF1 | None:
        """Return F1 of a pair: NaN if neither has a link, None if not both have done it."""
        if k not in self._rows:
            return None
        figures = _named(_WORDS, self._rows[k])
        return PairF1(figures["words.possible.f1"], figures["words.sure.f1"])

    def table(self) -> Counts:
        """Return the rows, in the order of the pairs."""
        rows = [self._rows[k][:_WIDTH] for k in sorted(self._rows)]
        return np.array(rows, np.int32).reshape(-1, _WIDTH)


def intervals_of(table: Counts, options: Draws) -> Intervals:
    """Return the intervals of the figures of some rows, as `alignkit.agree` draws them."""
    statistics = [part.statistic for part in _PARTS]
    rows = [Rows(table[:, part.columns].astype(np.float64), part.measure) for part in _PARTS]
    (intervals,) = bootstrap(statistics, rows, [np.ones(len(table), bool)], options)
    return {name: intervals[name] for name in FIGURES}


def _named(parts: Sequence[_Part], sums: NDArray[np.integer]) -> dict[str, float]:
    figures: dict[str, float] = {}
    for part in parts:
        measured = part.measure(sums[part.columns].astype(np.float64)[np.newaxis])
        figures |= {f"{part.statistic.level}.{name}": float(v[0]) for name, v in measured.items()}
    return {name: figures[name] for name in FIGURES if name in figures}


class Tally:
    """The rows of every two of some annotators."""

    def __init__(self, names: Sequence[str] = ()) -> None:
        self.names: tuple[str, ...] = ()
        self.twos: dict[tuple[str, str], Two] = {}
        for name in names:
            self.add(name)

    def add(self, name: str) -> None:
        """Add an annotator who has done nothing yet."""
        self.twos.update({(other, name): Two() for other in self.names})
        self.names += (name,)

    def put(self, works: Sequence[TalliedPair], changed: AbstractSet[str] | None = None) -> None:
        """Count each pair again; `changed`: whose work may have changed, None for all."""
        asked = [two for two in self.twos if changed is None or not changed.isdisjoint(two)]
        both = [(work, two) for work in works for two in asked]
        done = [all(map(work.pair.aligned_by, two)) for work, two in both]
        rows = iter(_rows([(work, *two) for work, two in compress(both, done)]))
        for (work, two), has_row in zip(both, done, strict=True):
            self.twos[two].put(work.k, next(rows) if has_row else None)

    def f1_of(self, k: int) -> PairF1 | None:
        """Return the mean F1 over each two who have done a pair; None if no two have."""
        each = [f1 for two in self.twos.values() if (f1 := two.f1_of(k)) is not None]
        means = [weighted_mean([(1, f1) for f1 in values]) for values in zip(*each, strict=True)]
        return PairF1(*means) if each else None


_BOTH = ("first", "second")


def _rows(matches: Sequence[tuple[TalliedPair, str, str]]) -> Counts:
    """Return the rows of pairs that two have done; one call, as a call costs more than a row."""
    pairs = []
    bulk = []
    for work, *two in matches:
        links = map(work.pair.alignment, two)
        pairs.append(SentencePair("", *work.pair.words, dict(zip(_BOTH, links, strict=True))))
        bulk.append(set.intersection(*(set(work.bulk.get(name, ())) for name in two)))
    whole = _counted(pairs, _PARTS)
    apart = whole[:, :_APART].copy()
    some = [number for number, cells in enumerate(bulk) if cells]
    apart[some] = _counted([_without(pairs[number], bulk[number]) for number in some], _WORDS)
    return np.hstack([whole, apart])


def _without(pair: SentencePair, cells: Collection[Cell]) -> SentencePair:
    gone = Alignment((), cells)
    kept = {name: links.difference(gone) for name, links in pair.alignments.items()}
    return SentencePair("", *pair.words, kept)


def _counted(pairs: Sequence[SentencePair], parts: Sequence[_Part]) -> Counts:
    if not pairs:
        return np.zeros((0, parts[-1].columns.stop), np.int32)
    data = CorpusData(Corpus(pairs))
    places = np.arange(len(pairs))
    every = PairData(data, _BOTH, places)
    different = PairData(data, _BOTH, places, ignore_identical=True)
    return np.hstack([part.count(every, different) for part in parts]).astype(np.int32)
