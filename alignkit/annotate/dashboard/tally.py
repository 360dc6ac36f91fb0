"""What every two annotators have in common, a row of counts a pair, to recount a pair alone.

The rows are those of `alignkit.agree`: of words (precision, recall, F1) and of cells (kappa). A
figure is a function of their sum, which is kept, so that it costs nothing to ask again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select

from alignkit.agreement.intervals import (
    Intervals,
    Measure,
    Rows,
    Statistic,
    bootstrap,
    weighted_mean,
)
from alignkit.agreement.kappa import CELLS, table_ratios
from alignkit.agreement.overlaps import OVERLAP, overlap_ratios
from alignkit.agreement.pairs import CorpusData, PairData
from alignkit.annotate.dashboard.view import Corrections, CorrectionsPart
from alignkit.annotate.project import queries, schema
from alignkit.annotate.project.state import decode_state
from alignkit.model.alignment import Alignment
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair

Cell = tuple[int, int]
Counts = NDArray[np.int32]

FIGURES = ("words.possible.f1", "words.sure.f1", "cells.all.kappa", "different.cells.all.kappa")
"""The figures that are kept as of now, by their names in an `Agreement`."""


@dataclass(frozen=True)
class _Part:
    """Some columns of the rows: a statistic, its measure, and whether equal words count."""

    statistic: Statistic
    measure: Measure
    columns: slice
    different: bool

    def count(self, data: PairData, different: PairData) -> Floats:
        counts = self.statistic.rows(different if self.different else data).counts
        return np.asarray(counts)


def _parts() -> tuple[_Part, ...]:
    words = [
        (statistic, overlap_ratios, True)
        for statistic in OVERLAP
        if statistic.level in ("words.possible", "words.sure")
    ]
    cells = next(statistic for statistic in CELLS if statistic.level == "cells.all")
    other = replace(cells, level="different.cells.all")
    asked = [*words, (cells, table_ratios, False), (other, table_ratios, True)]
    parts, start = [], 0
    for statistic, measure, different in asked:
        end = start + (4 if measure is overlap_ratios else 9)
        parts.append(_Part(statistic, measure, slice(start, end), different))
        start = end
    return tuple(parts)


_PARTS = _parts()
_WORDS = _PARTS[:2]
_WIDTH = _PARTS[-1].columns.stop
_APART = _WORDS[-1].columns.stop  # so many columns again: of words, without what both took in bulk


@dataclass(frozen=True)
class TalliedPair:
    """A pair with what is done of it."""

    k: int  # its number; rows are in the order of these
    pair: SentencePair  # the pair, with the annotations that are done and no others
    bulk: Mapping[str, Collection[Cell]]


class PairF1(NamedTuple):
    """F1 of one pair, by all links of different words and by the sure ones."""

    possible: float
    sure: float


class Two:
    """The rows of two annotators, of the pairs that both have done."""

    def __init__(self) -> None:
        self._row: dict[int, int] = {}
        self._rows = np.zeros((16, _WIDTH + _APART), np.int32)
        self._free: list[int] = []
        self._sum = np.zeros(_WIDTH + _APART, np.int64)
        self.version = 0
        self._measured_at = -1  # the version that these are of
        self._figures: dict[str, float] = {}
        self._apart: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._row)

    def put(self, k: int, counts: Counts | None) -> None:
        """Set the row of a pair; None where not both have done it."""
        row = self._row.get(k)
        if row is None and counts is None:
            return
        self.version += 1
        if row is None:
            row = self._row[k] = self._new()
        self._sum -= self._rows[row]
        self._rows[row] = 0 if counts is None else counts
        self._sum += self._rows[row]
        if counts is None:
            self._free.append(self._row.pop(k))

    def _new(self) -> int:
        if self._free:
            return self._free.pop()
        row = len(self._row)
        if row == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        return row

    def figures(self) -> dict[str, float]:
        """Return the figures of all pairs together, by the names of `FIGURES`; NaN for 0/0."""
        self._measure()
        return self._figures

    def apart(self) -> dict[str, float]:
        """Return F1 of words without the links that both took in bulk and did not look at."""
        self._measure()
        return self._apart

    def _measure(self) -> None:
        if self._measured_at != self.version:
            self._figures = _named(_PARTS, self._sum[:_WIDTH])
            self._apart = _named(_WORDS, self._sum[_WIDTH:])
            self._measured_at = self.version

    def shared(self) -> tuple[int, int]:
        """Return how many links both have, and how many of these both took in bulk."""
        column = _WORDS[0].columns.start + 1
        every, apart = int(self._sum[column]), int(self._sum[_WIDTH + column])
        return every, every - apart

    def f1_of(self, k: int) -> PairF1 | None:
        """Return F1 of a pair: 0 where nothing is shared, NaN where neither has a link.

        None where not both have done it.
        """
        row = self._row.get(k)
        if row is None:
            return None
        figures = _named(_WORDS, self._rows[row])
        return PairF1(figures["words.possible.f1"], figures["words.sure.f1"])

    def table(self) -> Counts:
        """Return the rows, in the order of the pairs."""
        return self._rows[[self._row[k] for k in sorted(self._row)], :_WIDTH]

    def total(self) -> NDArray[np.int64]:
        """Return the sums of all columns, those without links in bulk last."""
        return self._sum.copy()


def intervals_of(table: Counts, *, resamples: int, confidence: float, seed: int) -> Intervals:
    """Return the intervals of the figures of some rows, as `alignkit.agree` draws them."""
    statistics = [part.statistic for part in _PARTS]
    rows = [Rows(table[:, part.columns].astype(np.float64), part.measure) for part in _PARTS]
    every = np.ones(len(table), bool)
    (intervals,) = bootstrap(
        statistics, rows, resamples=resamples, confidence=confidence, seed=seed, sections=[every]
    )
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
        """Compare one more, who has done nothing yet."""
        self.twos.update({(other, name): Two() for other in self.names})
        self.names += (name,)

    def put(self, works: Sequence[TalliedPair], changed: AbstractSet[str] | None = None) -> None:
        """Count pairs anew, each once; `changed`: whose work may have changed, None for all."""
        asked = [two for two in self.twos if changed is None or not changed.isdisjoint(two)]
        matches = [
            _Match(work, *two)
            for work in works
            for two in asked
            if all(map(work.pair.aligned_by, two))
        ]
        rows = {
            (match.work.k, match.first, match.second): row
            for match, row in zip(matches, _rows(matches), strict=True)
        }
        for two in asked:
            for work in works:
                self.twos[two].put(work.k, rows.get((work.k, *two)))

    def f1_of(self, k: int) -> PairF1 | None:
        """Return the mean F1 of every two who have done a pair; None where no two have."""
        each = [f1 for two in self.twos.values() if (f1 := two.f1_of(k)) is not None]
        if not each:
            return None
        possible, sure = (
            weighted_mean([(1, value) for value in values]) for values in zip(*each, strict=True)
        )
        return PairF1(possible, sure)


class _Match(NamedTuple):
    """A pair that two have done."""

    work: TalliedPair
    first: str
    second: str

    @property
    def bulk(self) -> set[Cell]:
        """The links that both took in bulk."""
        first, second = (set(self.work.bulk.get(name, ())) for name in self[1:])
        return first & second

    def pair(self, without: Collection[Cell] = ()) -> SentencePair:
        """Return the pair with the work of the two, or with what is left of it."""
        source, target = self.work.pair.words
        kept = [self.work.pair.alignment(name) for name in (self.first, self.second)]
        if without:
            gone = Alignment((), without)
            kept = [alignment.difference(gone) for alignment in kept]
        return SentencePair("", source, target, dict(zip(_BOTH, kept, strict=True)))


_BOTH = ("first", "second")


def _rows(matches: Sequence[_Match]) -> Counts:
    """Return the rows of pairs that two have done, all at once: a call costs more than a row."""
    whole = _counted([match.pair() for match in matches], _PARTS)
    apart = whole[:, :_APART].copy()
    bulk = [match.bulk for match in matches]
    some = [number for number, cells in enumerate(bulk) if cells]
    apart[some] = _counted([matches[number].pair(bulk[number]) for number in some], _WORDS)
    return np.hstack([whole, apart])


def _counted(pairs: Sequence[SentencePair], parts: Sequence[_Part]) -> Counts:
    if not pairs:
        return np.zeros((0, parts[-1].columns.stop), np.int32)
    data, places = CorpusData(Corpus(pairs)), np.arange(len(pairs))
    every = PairData(data, _BOTH, places)
    different = PairData(data, _BOTH, places, ignore_identical=True)
    return np.hstack([part.count(every, different) for part in parts]).astype(np.int32)


CUT = 0.5
"""The least probability of a suggested link that counts."""

_MOST = 300  # pairs that are drawn one by one, and points of the line
_PARTS_CORRECTIONS, _LEAST = 12, 5  # rows of the table, and pairs of each
_SHARE = 20  # of all pairs are in the window of the mean, to either side

Floats = NDArray[np.float64]


class Corrected(NamedTuple):
    """How a pair was corrected."""

    k: int  # the pair, who has done it and when
    annotator: int
    at: str
    suggested: int  # how many links were suggested, are there now, and are only one of both
    drawn: int
    differ: int
    taught: int  # from how many done pairs the suggestions were learned; 0 for others


def gathered(conn: Connection) -> Corrections | None:
    """Return the corrections of a project; None where no pair with suggestions is done."""
    made = select(schema.learned_set.c.made).order_by(schema.learned_set.c.number)
    return _summed(corrections_of(conn), list(conn.execute(made).scalars()))


def corrections_of(conn: Connection) -> list[Corrected]:
    """Return how the done pairs of a project were corrected, in the order of done."""
    suggested = queries.suggested_cells(conn)
    sets = schema.learned_set.c
    taught = {row[0]: row[1] for row in conn.execute(select(sets.set, sets.pairs))}
    hidden, gold = _hidden(conn), queries.gold_name(conn)
    names = queries.annotators(conn)
    found = []
    for k, account, at, text in _done(conn):
        if k not in suggested or (k, account) in hidden or names[account - 1] == gold:
            continue
        name, cells = suggested[k]
        hints = {(i, j) for i, j, p, _ in cells if min(i, j) >= 0 and (p is None or p >= CUT)}
        links = {cell for cell in decode_state(text).cells if min(cell) >= 0}
        sizes = len(hints), len(links), len(hints ^ links)
        found.append(Corrected(k, account, at, *sizes, taught.get(name, 0)))
    return sorted(found, key=lambda one: one.at)


def _done(conn: Connection) -> Iterator[tuple[int, int, str, str]]:
    """Yield what was marked done on a page: pair, account, when, and the state."""
    event, stream, counts = schema.event_table.c, schema.stream.c, schema.pair_counts.c
    last = (
        select(event.stream, func.max(event.at).label("at"))
        .where(event.kind == "done", event.sent != "")
        .group_by(event.stream)
        .subquery()
    )
    own = (counts.account == stream.account) & (counts.pair == stream.pair)
    asked = select(stream.pair, stream.account, last.c.at, stream.state).where(
        last.c.stream == stream.id, own, counts.done.is_(True)
    )
    yield from (tuple(row) for row in conn.execute(asked))


def _hidden(conn: Connection) -> set[tuple[int, int]]:
    """Return who is not to see the suggestions for which pairs."""
    table = schema.assignment.c
    asked = select(table.pair, table.account).where(table.shown.is_(False))
    return {(k, account) for k, account in conn.execute(asked)}


def _summed(found: Sequence[Corrected], made: Sequence[str]) -> Corrections | None:
    if not found:
        return None
    times = [one.at for one in found]
    differ = np.array([one.differ for one in found], np.float64)
    line = smoothed(differ, max(2, len(found) // _SHARE))
    steps = np.unique(np.linspace(1, len(found), min(len(found), _MOST)).astype(np.int64))
    marks = sorted({bisect_right(times, at) for at in made})
    return Corrections(
        len(found),
        [one.differ for one in found] if len(found) <= _MOST else [],
        [(step, float(line[step - 1])) for step in steps.tolist()],
        marks[:: 1 + len(marks) // _MOST],
        list(_parts_corrections(found)),
    )


def smoothed(values: Floats, half: int) -> Floats:
    """Return the mean of each value, of as many before it and behind it; fewer at the ends.

    Examples
    --------
    >>> smoothed(np.array([1.0, 4.0, 4.0, 1.0]), 1).tolist()
    [2.5, 3.0, 3.0, 2.5]
    """
    sums = np.concatenate([[0.0], np.cumsum(values)])
    places = np.arange(len(values))
    first, end = np.maximum(places - half, 0), np.minimum(places + half + 1, len(values))
    return np.asarray((sums[end] - sums[first]) / (end - first))


def _parts_corrections(found: Sequence[Corrected]) -> Iterator[CorrectionsPart]:
    """Yield equal parts of the pairs, in order."""
    count = max(1, min(_PARTS_CORRECTIONS, len(found) // _LEAST))
    bounds = [len(found) * k // count for k in range(count + 1)]
    for first, end in pairwise(bounds):
        some = found[first:end]
        differ, drawn = sum(one.differ for one in some), sum(one.drawn for one in some)
        total = drawn + sum(one.suggested for one in some)
        taught = [one.taught for one in some]
        yield CorrectionsPart(
            first + 1,
            end,
            some[-1].at,
            min(taught),
            max(taught),
            differ / len(some),
            drawn / len(some),
            (total - differ) / total if total else None,
        )
