"""Count in the work on a control sample what annotators have of the suggestions, in arrays.

A *work* is what one annotator did on one pair (`ControlWork`). The arrays have a row for each work,
in the order of the pairs, then of the annotators of each. Suggestions are counted by *bins* of
their probability: the edges .1, .6 and .9 make the bins 0 (below .1), 1 (from .1), 2 (from .6), 3
(from .9) and 4 (unknown).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import nan

import numpy as np

from alignkit._support.array_types import B1, F8, I8
from alignkit.annotate.control_sample import ControlPair, ControlWork
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays
from alignkit.scoring.counts import LINK_COLUMNS, count_links
from alignkit.stats.resampling import harmonic, ratio


@dataclass(frozen=True, eq=False)
class WorkRows:
    """The counts of W works, by B bins of the probability of suggestions."""

    pair: I8  # (W,) the number of its pair
    shown: B1  # (W,) whether suggestions were shown
    f1: F8  # (W,) F1 of its links and the suggestions; NaN where there are neither
    suggested: I8  # (W, B) how many suggestions the pair has
    taken: I8  # (W, B) how many of them the work has
    rejected: I8  # (W,) how many of the suggestions it has not, but put aside
    unseen: I8  # (W,) how many of those that it has nobody looked at


def count_works(
    pairs: Sequence[ControlPair], edges: Sequence[float], *, least: float = 0.0
) -> WorkRows:
    """Count for each work how many suggestions it shares.

    Parameters
    ----------
    edges : The probabilities at which a bin ends and the next begins.
    least : The least probability of suggestions that count.
    """
    links: list[Alignment] = []  # of each pair, its suggestions that count
    probabilities: list[list[float]] = []  # of these suggestions, NaN where unknown
    works: list[ControlWork] = []
    numbers: list[int] = []  # of each work, the number of its pair
    for k, pair in enumerate(pairs):
        counted = [(i, j, p) for i, j, p, _ in pair.suggested if p is None or p >= least]
        links.append(Alignment((), [(i, j) for i, j, _ in counted]))
        probabilities.append([nan if p is None else p for _, _, p in counted])
        works += pair.works.values()
        numbers += [k] * len(pair.works)
    pair_of = np.array(numbers, np.int64)
    drawn = LinkArrays.pack([work.links for work in works])
    put_aside = LinkArrays.pack([Alignment((), work.rejected) for work in works])
    not_looked_at = LinkArrays.pack([Alignment((), work.unseen) for work in works])
    # a hint is a suggestion to a work: those of a pair come again for each of its works
    hints = LinkArrays.pack(links).take(pair_of)
    work_of = np.repeat(np.arange(len(works)), np.diff(hints.offsets))  # the work of each hint
    of_hints = chain.from_iterable(probabilities[k] for k in numbers)
    p = np.array(list(of_hints), np.float64)
    unknown = len(edges) + 1  # the last bin
    bins = np.where(np.isnan(p), unknown, np.searchsorted(edges, p, side="right"))
    taken = hints.among(drawn)
    rejected = hints.among(put_aside)
    unseen = hints.among(not_looked_at)

    def by_bin(chosen: B1) -> I8:
        """Count some of the hints by work and bin."""
        width = unknown + 1
        cells = work_of[chosen] * width + bins[chosen]
        counts = np.bincount(cells, minlength=len(works) * width)
        return counts.reshape(len(works), width).astype(np.int64)

    return WorkRows(
        pair=pair_of,
        shown=np.array([work.shown for work in works], bool),
        f1=_f1(drawn, hints),
        suggested=by_bin(np.ones(len(p), bool)),
        taken=by_bin(taken),
        rejected=np.bincount(work_of[rejected & ~taken], minlength=len(works)),
        unseen=np.bincount(work_of[unseen & taken], minlength=len(works)),
    )


_FIRST = LINK_COLUMNS.index("hyp_possible")
_SECOND = LINK_COLUMNS.index("ref_possible")
_BOTH = LINK_COLUMNS.index("possible_in_possible")
"""The columns of counts of links: in the first alignment, in the second, in both."""


def _f1(first: LinkArrays, second: LinkArrays) -> F8:
    """Return F1 of each alignment and its counterpart; NaN if both are empty."""
    counts = count_links(first, second)
    both = counts[:, _BOTH]
    return harmonic(ratio(both, counts[:, _FIRST]), ratio(both, counts[:, _SECOND]))


def agreement_of_pairs(pairs: Sequence[ControlPair]) -> tuple[I8, F8]:
    """Return the pairs that two have done (if split, one with, one without), and mean F1 or NaN."""
    firsts = []
    others = []
    numbers = []  # of each two works, the number of their pair
    for k, pair in enumerate(pairs):
        for first, other in combinations(pair.works.values(), 2):
            if pair.arm != "split" or first.shown != other.shown:
                firsts.append(first.links)
                others.append(other.links)
                numbers.append(k)
    done, place = np.unique(np.array(numbers, np.int64), return_inverse=True)
    place = place.reshape(-1)
    f1 = _f1(LinkArrays.pack(firsts), LinkArrays.pack(others))
    defined = ~np.isnan(f1)
    totals = np.bincount(place, np.where(defined, f1, 0.0), len(done))
    counts = np.bincount(place, defined, len(done))
    return done, ratio(totals, counts)
