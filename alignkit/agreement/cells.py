"""Compare two annotators cell by cell: every source word with every target word of every pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.contingency import Contingency
from alignkit.agreement.shared import SharedPairs
from alignkit.arguments import check_arguments
from alignkit.arrays import TokenArrays
from alignkit.corpus import Corpus
from alignkit.scoring.counts import LINK_COLUMNS, count_links

__all__ = ["CellAgreement", "cell_agreement"]

CATEGORIES = ("none", "possible", "sure")


@dataclass(frozen=True)
class CellAgreement:
    """Hold the agreement of two annotators over all cells, with Cohen's kappa and Gwet's AC1.

    Parameters
    ----------
    annotators
        The two names: rows, then columns of the tables.
    pairs
        The sentence pairs that both annotated.
    all
        Over {none, possible, sure}, possible meaning *only* possible.
    possible
        Linked at all against not linked.
    sure
        Surely linked against all else.

    Notes
    -----
    Nearly all cells are empty, so look at the prevalence of the links in each `Contingency`: the
    observed agreement and AC1 are close to 1 wherever links are rare.
    """

    annotators: tuple[str, str]
    pairs: int
    all: Contingency
    possible: Contingency
    sure: Contingency


def cell_agreement(
    corpus: Corpus, first: str, second: str, *, include_identical: bool = True
) -> CellAgreement:
    """Compare two annotators over the cells of all pairs that both annotated, pooled.

    Parameters
    ----------
    corpus
        The pairs, with their words: the number of cells is needed.
    first, second
        The two annotators.
    include_identical
        Whether the cells of equal words take part (METHOD section 5b takes all cells); if not,
        they are left out altogether, linked or not.

    Raises
    ------
    OptionError, UnknownNameError
        If the annotators cannot be compared.
    MissingTextError
        If the words of a pair are not known.

    Notes
    -----
    The N x M cells are counted, never made: time and memory are linear in links and words.

    Examples
    --------
    >>> from alignkit.alignment import Alignment
    >>> from alignkit.corpus import SentencePair
    >>> pair = SentencePair("1", ("he", "left"), ("he", "went", "away"), {
    ...     "A": Alignment.parse("0-0 1-1 1?2"), "B": Alignment.parse("0-0 1?1")})
    >>> result = cell_agreement(Corpus([pair]), "A", "B")
    >>> result.all.table
    ((3, 0, 0), (1, 0, 0), (0, 1, 1))
    >>> round(result.possible.kappa, 3)
    0.667
    """
    check_arguments(cell_agreement, locals())
    shared = SharedPairs.of(corpus, (first, second))
    cells = sum(n * m for n, m in shared.lengths())
    mine, other = shared.links(first), shared.links(second)
    if not include_identical:
        source, target = shared.words()
        cells -= _identical_cells(source, target)
        mine, other = (links.without_identical(source, target) for links in (mine, other))
    whole = Contingency.of(CATEGORIES, _table(cells, count_links(mine, other).sum(axis=0)))
    return CellAgreement(
        (first, second),
        len(shared),
        whole,
        whole.collapse("linked", "none", categories=("possible", "sure")),
        whole.collapse("sure", "not sure", categories=("sure",)),
    )


def _table(cells: int, counts: NDArray[np.int64]) -> list[list[int]]:
    """Derive the 3 x 3 table from the sizes of S and P of both and of their intersections."""
    n = dict(zip(LINK_COLUMNS, counts.tolist(), strict=True))
    both = n["sure_in_sure"]
    sure_weak = n["hyp_sure_in_ref_possible"] - both
    weak_sure = n["hyp_possible_in_ref_sure"] - both
    weak_weak = n["possible_in_possible"] - both - sure_weak - weak_sure
    sure_none = n["hyp_sure"] - both - sure_weak
    none_sure = n["ref_sure"] - both - weak_sure
    weak_none = n["hyp_possible"] - n["hyp_sure"] - weak_sure - weak_weak
    none_weak = n["ref_possible"] - n["ref_sure"] - sure_weak - weak_weak
    linked = n["hyp_possible"] + n["ref_possible"] - n["possible_in_possible"]
    return [
        [cells - linked, none_weak, none_sure],
        [weak_none, weak_weak, weak_sure],
        [sure_none, sure_weak, both],
    ]


def _identical_cells(source: TokenArrays, target: TokenArrays) -> int:
    """Count the cells that join equal words: over each pair and word, the product of its counts."""
    words = 1 + max(source.ids.max(initial=0), target.ids.max(initial=0))
    sides = []
    for side in (source, target):
        pair = np.repeat(np.arange(len(side.offsets) - 1), np.diff(side.offsets))
        sides.append(np.unique(pair * np.int64(words) + side.ids, return_counts=True))
    (left, left_counts), (right, right_counts) = sides
    _, in_left, in_right = np.intersect1d(left, right, assume_unique=True, return_indices=True)
    return int((left_counts[in_left] * right_counts[in_right]).sum())
