"""Two annotators who have exactly the same links in nearly all sentence pairs."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np

from alignkit._support.array_types import B1, I8
from alignkit.agreement.pairs import CorpusData, PairData
from alignkit.model.arrays import LinkArrays, identical_links

LONG = 4  # with fewer links, careful annotators are often equal without any help
NEARLY = 0.7  # from this share of the longer pairs on, two annotators are nearly identical
LEAST = 10  # with fewer longer pairs, nobody can say


@dataclass(frozen=True)
class SamePairs:
    """In how many pairs two annotators have exactly the same links, sure and possible.

    A longer pair has something to differ about: one of the two has four links or more there, one of
    them has a link of different words, and they do not both have the initial alignment unchanged.

    Parameters
    ----------
    same, pairs : The pairs with the same links, and all that both annotated.
    same_long, long : The same of the longer pairs.
    """

    same: int
    pairs: int
    same_long: int
    long: int

    @property
    def share(self) -> float:
        """The share of the longer pairs with the same links; NaN if there are none."""
        return self.same_long / self.long if self.long else nan

    @property
    def nearly_identical(self) -> bool:
        """Whether so many longer pairs are the same that one may have copied from the other."""
        return self.long >= LEAST and self.share >= NEARLY


def same_pairs(data: CorpusData, first: str, second: str, initial: str | None = None) -> SamePairs:
    """Count the pairs in which two annotators have exactly the same links.

    Parameters
    ----------
    data : The corpus; where words are not known, they are taken to be different.
    initial : The alignment that both started from, if any.
    """
    both = PairData.of(data, (first, second))
    links = both.all_links(first)
    others = both.all_links(second)
    same = _same(links, others)
    long = np.maximum(np.diff(links.offsets), np.diff(others.offsets)) >= LONG
    long &= _different(both, links) | _different(both, others)
    if initial is not None:
        started = data.aligned(initial)[both.places]
        long &= ~(started & same & _same(links, both.all_links(initial)))
    return SamePairs(
        same=int(same.sum()),
        pairs=len(both),
        same_long=int((same & long).sum()),
        long=int(long.sum()),
    )


def _same(links: LinkArrays, others: LinkArrays) -> B1:
    """(P,): whether two have the same links, sure and possible, a mask."""
    in_links, in_others = links.shared(others)  # the places of the links of both
    alike = np.zeros(len(links.links), bool)
    alike[in_links] = links.sure[in_links] == others.sure[in_others]
    sizes = np.diff(links.offsets)
    same: B1 = (_in_pairs(links, alike) == sizes) & (sizes == np.diff(others.offsets))
    return same


def _different(both: PairData, links: LinkArrays) -> B1:
    """(P,): whether there is a link of different words, or of words not known, a mask."""
    different: B1 = np.diff(links.offsets) > 0
    known = np.flatnonzero(both.data.known[both.places])
    of_known = links.take(known)
    source, target = (side.take(both.places[known]) for side in both.data.words)
    different[known] = _in_pairs(of_known, ~identical_links(of_known, source, target)) > 0
    return different


def _in_pairs(links: LinkArrays, chosen: B1) -> I8:
    """(P,): how many of the chosen links, a mask, each pair has."""
    return np.bincount(links.pair_of[chosen], minlength=len(links)).astype(np.int64)
