"""Links that two annotators both kept without looking at them, and F1 without these.

Annotators accept suggestions in bulk, or keep them by marking a pair as done (`Annotation.unseen`).
Where both did so, their links agree because the suggestion is the same, not because two people
decided alike.
"""

from __future__ import annotations

from dataclasses import dataclass

from alignkit._support.array_types import F8, I8
from alignkit._support.values import FrozenMap
from alignkit.agreement.overlaps import overlap_ratios, word_columns
from alignkit.agreement.pairs import CorpusData, PairData
from alignkit.scoring.counts import LINK_COLUMNS, count_links

KINDS = ("possible", "sure")
"""The kinds of links, by their names in figures: all links, and sure ones."""

NO_LINKS = "neither has another link"
"""The reason why F1 without the unseen links is undefined."""


@dataclass(frozen=True)
class SharedLinks:
    """The links of two annotators, in the P pairs that both have aligned."""

    places: I8  # (P,): the positions of the pairs in the corpus
    whole: I8  # (P, 8): the columns `LINK_COLUMNS`
    without_unseen: I8  # (P, 8): without the links that both kept without looking at them

    @property
    def common(self) -> int:
        """How many links both have."""
        return _common(self.whole)

    @property
    def unseen(self) -> int:
        """How many of these both kept without looking at them."""
        return self.common - _common(self.without_unseen)


def shared_links(
    data: CorpusData, first: str, second: str, *, ignore_identical: bool = True
) -> SharedLinks:
    """Count the links of two annotators, also without those that both kept unseen."""
    names = (first, second)
    places = data.places(names)
    pairs = PairData(data, names, places, ignore_identical)
    unseen, others = (data.unseen(name).take(places) for name in names)
    by_both = unseen.keep(unseen.among(others))
    if not len(by_both.links):
        return SharedLinks(places, pairs.link_counts, pairs.link_counts)
    links, other_links = map(pairs.links, names)
    without_unseen = count_links(
        links.keep(~links.among(by_both)), other_links.keep(~other_links.among(by_both))
    )
    return SharedLinks(places, pairs.link_counts, without_unseen)


def _common(counts: I8) -> int:
    """Return how many links both have, of (P, 8) counts."""
    return int(counts[:, LINK_COLUMNS.index("possible_in_possible")].sum())


def f1_of(counts: I8, kind: str) -> F8:
    """(P,): F1 of the possible or the sure links of (P, 8) counts; NaN without links."""
    return overlap_ratios(word_columns(counts, kind))["f1"]


def f1_of_all(counts: I8, kind: str) -> float:
    """Return F1 of the possible or the sure links of all pairs together; NaN without links."""
    return float(f1_of(counts.sum(axis=0, keepdims=True), kind)[0])


@dataclass(frozen=True)
class UnseenLinks:
    """The common links of two annotators that both kept without looking at them.

    Parameters
    ----------
    common : The number of links that both have, without those of equal words if these are left out.
    unseen : How many of these both kept without looking at them.
    f1 : F1 without these, of ``"possible"`` and of ``"sure"`` links; NaN without links.
    """

    common: int
    unseen: int
    f1: FrozenMap[str, float]


def unseen_links(
    data: CorpusData, first: str, second: str, *, ignore_identical: bool
) -> UnseenLinks | None:
    """Count what both kept without looking at it; None if nobody in the corpus did so."""
    if not data.has_unseen:
        return None
    shared = shared_links(data, first, second, ignore_identical=ignore_identical)
    f1 = {kind: f1_of_all(shared.without_unseen, kind) for kind in KINDS}
    return UnseenLinks(shared.common, shared.unseen, FrozenMap(f1))
