"""Take one annotator as the reference of another: precision, recall and F1 of words and phrases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.shared import SharedPairs
from alignkit.arguments import check_arguments
from alignkit.arrays import LinkArrays, TokenArrays
from alignkit.corpus import Corpus
from alignkit.scoring.counts import LINK_COLUMNS, PHRASE_COLUMNS, count_links, count_phrases

__all__ = ["Overlap", "OverlapRow", "overlap"]


@dataclass(frozen=True)
class OverlapRow:
    """Hold precision, recall and F1 with the counts behind them.

    Parameters
    ----------
    precision
        `hypothesis_found` / `hypothesis`; NaN for 0/0.
    recall
        `reference_found` / `reference`; NaN for 0/0.
    f1
        Their harmonic mean; NaN where either is undefined or both are 0.
    hypothesis, hypothesis_found
        The items of the annotator, and how many of them the reference annotator has.
    reference, reference_found
        The items of the reference annotator, and how many of them the annotator has.
    """

    precision: float
    recall: float
    f1: float
    hypothesis: int
    hypothesis_found: int
    reference: int
    reference_found: int

    @classmethod
    def of(
        cls, hypothesis: int, hypothesis_found: int, reference: int, reference_found: int
    ) -> OverlapRow:
        """Compute the ratios from the counts."""
        precision = hypothesis_found / hypothesis if hypothesis else nan
        recall = reference_found / reference if reference else nan
        both = precision + recall
        f1 = 2 * precision * recall / both if both else nan
        return cls(precision, recall, f1, hypothesis, hypothesis_found, reference, reference_found)


@dataclass(frozen=True)
class Overlap:
    """Hold the overlap of an annotator (A) with a reference annotator (B); counts are pooled.

    Exchanging the annotators exchanges precision and recall in every row.

    Parameters
    ----------
    hypothesis, reference
        The annotators A and B.
    pairs
        The sentence pairs that both annotated.
    include_identical
        Whether identical links and phrase pairs take part.
    words_possible
        All links of A with all links of B.
    words_sure
        The sure links of A with the sure links of B.
    words_eq2
        The sure links of each with all links of the other (METHOD section 2).
    phrases_possible, phrases_sure
        The atomic phrase pairs of each with all phrase pairs of the other, made of all links or of
        the sure ones (METHOD section 4).
    """

    hypothesis: str
    reference: str
    pairs: int
    include_identical: bool
    words_possible: OverlapRow
    words_sure: OverlapRow
    words_eq2: OverlapRow
    phrases_possible: OverlapRow
    phrases_sure: OverlapRow

    def rows(self) -> Mapping[str, OverlapRow]:
        """Return the rows by level and links, ``words.possible`` and so on."""
        return {
            "words.possible": self.words_possible,
            "words.sure": self.words_sure,
            "words.eq2": self.words_eq2,
            "phrases.possible": self.phrases_possible,
            "phrases.sure": self.phrases_sure,
        }


def overlap(
    corpus: Corpus, hypothesis: str, reference: str, *, include_identical: bool = False
) -> Overlap:
    """Compare one annotator with another who is taken as the reference.

    Parameters
    ----------
    corpus
        The pairs; their words are needed only to leave identical ones out.
    hypothesis, reference
        The two annotators.
    include_identical
        Whether links and phrase pairs of equal words take part (METHOD section 1).

    Raises
    ------
    OptionError, UnknownNameError
        If the annotators cannot be compared.
    MissingTextError
        If identical items are to be left out and words are not known.

    Examples
    --------
    >>> from alignkit.alignment import Alignment
    >>> from alignkit.corpus import SentencePair
    >>> pair = SentencePair("1", ("he", "left"), ("he", "went", "away"), {
    ...     "A": Alignment.parse("0-0 1-1 1-2"), "B": Alignment.parse("0-0 1-1")})
    >>> result = overlap(Corpus([pair]), "A", "B")
    >>> result.words_sure.precision, result.words_sure.recall
    (0.5, 1.0)
    """
    check_arguments(overlap, locals())
    shared = SharedPairs.of(corpus, (hypothesis, reference))
    mine, other = shared.links(hypothesis), shared.links(reference)
    source, target = (None, None) if include_identical else shared.words()
    phrases = {
        links: count_phrases(
            mine,
            other,
            links=links,
            ignore_identical=not include_identical,
            source=source,
            target=target,
        ).sum(axis=0)
        for links in ("possible", "sure")
    }
    words = _count_words(mine, other, source, target)
    return Overlap(
        hypothesis,
        reference,
        len(shared),
        include_identical,
        OverlapRow.of(
            words["hyp_possible"],
            words["possible_in_possible"],
            words["ref_possible"],
            words["possible_in_possible"],
        ),
        OverlapRow.of(
            words["hyp_sure"], words["sure_in_sure"], words["ref_sure"], words["sure_in_sure"]
        ),
        OverlapRow.of(
            words["hyp_sure"],
            words["hyp_sure_in_ref_possible"],
            words["ref_sure"],
            words["hyp_possible_in_ref_sure"],
        ),
        _phrase_row(phrases["possible"]),
        _phrase_row(phrases["sure"]),
    )


def _count_words(
    mine: LinkArrays, other: LinkArrays, source: TokenArrays | None, target: TokenArrays | None
) -> dict[str, int]:
    if source is not None and target is not None:
        mine, other = (links.without_identical(source, target) for links in (mine, other))
    return dict(zip(LINK_COLUMNS, count_links(mine, other).sum(axis=0).tolist(), strict=True))


def _phrase_row(counts: NDArray[np.int64]) -> OverlapRow:
    n = dict(zip(PHRASE_COLUMNS, counts.tolist(), strict=True))
    return OverlapRow.of(
        n["hyp_atomic"], n["hyp_atomic_in_ref"], n["ref_atomic"], n["hyp_in_ref_atomic"]
    )
