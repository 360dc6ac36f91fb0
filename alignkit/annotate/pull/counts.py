"""Count what annotators took of suggestions, and how far they agree: a row a work and a pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from alignkit.alignment import Alignment
from alignkit.annotate.pull.control import ControlPair, Suggested, Work
from alignkit.arrays import LinkArrays
from alignkit.scoring.counts import LINK_COLUMNS, count_links
from alignkit.scoring.measures import harmonic, ratio

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_COLUMNS = [
    LINK_COLUMNS.index(name) for name in ("hyp_possible", "ref_possible", "possible_in_possible")
]


@dataclass(frozen=True, eq=False)
class WorkRows:
    """A row for each of W works, in the order of pairs, and of annotators within them."""

    pair: Ints  # (W,) the number of its pair
    shown: NDArray[np.bool_]  # (W,) whether suggestions were shown
    f1: Floats  # (W,) F1 of its links and the suggestions; NaN where there are neither
    suggested: Ints
    taken: Ints
    rejected: Ints  # (W,) how many of the suggestions it has not, but put aside


@dataclass(frozen=True, eq=False)
class PairFigures:
    """How far the annotators of pairs agree."""

    pair: Ints  # (K,) the numbers of the pairs on which two can be compared
    f1: Floats


def count_works(
    pairs: Sequence[ControlPair], edges: Sequence[float], *, least: float = 0.0
) -> WorkRows:
    """Count for each work what it has of the suggestions."""
    kept = [
        [cell for cell in pair.suggested if cell[2] is None or cell[2] >= least] for pair in pairs
    ]
    works = [(k, work) for k, pair in enumerate(pairs) for work in pair.works.values()]
    drawn = LinkArrays.pack([work.links for _, work in works])
    packed = LinkArrays.pack([_alignment(some) for some in kept])
    number = np.array([k for k, _ in works], np.int64)
    hints = packed.take(number)
    bins = _bins([kept[k] for k, _ in works], edges)
    of = np.repeat(np.arange(len(works)), np.diff(hints.offsets))
    taken, rejected = _among(hints, drawn), _among(hints, _rejected([work for _, work in works]))
    size = len(works), len(edges) + 2
    return WorkRows(
        number,
        np.array([work.shown for _, work in works], bool),
        _f1(drawn, hints),
        _table(of, bins, size),
        _table(of[taken], bins[taken], size),
        np.bincount(of[rejected & ~taken], minlength=len(works)),
    )


def agreement_of_pairs(pairs: Sequence[ControlPair]) -> PairFigures:
    """Return for each pair how far every two agree; on split pairs, who saw suggestions and not."""
    twos = [
        (k, first.links, other.links)
        for k, pair in enumerate(pairs)
        for first, other in combinations(pair.works.values(), 2)
        if pair.arm != "split" or first.shown != other.shown
    ]
    numbers, place = np.unique(np.array([k for k, *_ in twos], np.int64), return_inverse=True)
    f1 = _f1(
        LinkArrays.pack([first for _, first, _ in twos]),
        LinkArrays.pack([other for *_, other in twos]),
    )
    defined = ~np.isnan(f1)
    totals, counts = (
        np.bincount(place.reshape(-1)[defined], weights, len(numbers))
        for weights in (f1[defined], None)
    )
    return PairFigures(numbers, ratio(totals, counts.astype(np.float64)))


def _f1(first: LinkArrays, second: LinkArrays) -> Floats:
    size, other, both = count_links(first, second)[:, _COLUMNS].T
    return harmonic(ratio(both, size), ratio(both, other))


def _alignment(suggested: Sequence[Suggested]) -> Alignment:
    return Alignment((), [(i, j) for i, j, *_ in suggested])


def _rejected(works: Sequence[Work]) -> LinkArrays:
    return LinkArrays.pack([Alignment((), work.rejected) for work in works])


def _bins(suggested: Sequence[Sequence[Suggested]], edges: Sequence[float]) -> Ints:
    known = [np.nan if p is None else p for _, _, p, _ in chain.from_iterable(suggested)]
    p = np.array(known, np.float64)
    bins = np.searchsorted(np.asarray(edges, np.float64), p, side="right")
    bins[np.isnan(p)] = len(edges) + 1
    return bins.astype(np.int64)


def _among(links: LinkArrays, others: LinkArrays) -> NDArray[np.bool_]:
    n, m = np.maximum(
        links.lengths.max(axis=0, initial=1), others.lengths.max(axis=0, initial=1)
    ).tolist()
    keys = []
    for arrays in (links, others):
        row = np.repeat(np.arange(len(arrays)), np.diff(arrays.offsets))
        keys.append((row * n + arrays.links[:, 0]) * m + arrays.links[:, 1])
    return np.isin(*keys)


def _table(rows: Ints, columns: Ints, size: tuple[int, int]) -> Ints:
    counts = np.bincount(rows * size[1] + columns, minlength=size[0] * size[1])
    return counts.reshape(size).astype(np.int64)
