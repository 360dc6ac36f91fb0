"""Compare an annotator with another as reference: precision, recall, F1 of words and phrases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from alignkit._support.arguments import check_arguments
from alignkit._support.array_types import F8, I8
from alignkit.agreement.intervals import Rows, Statistic
from alignkit.agreement.pairs import CorpusData, PairData, check_case
from alignkit.model.corpus import Corpus
from alignkit.scoring.counts import LINK_COLUMNS, PHRASE_COLUMNS, count_phrases
from alignkit.stats.resampling import harmonic, ratio

MEASURES = ("precision", "recall", "f1")


@dataclass(frozen=True)
class OverlapRow:
    """Precision, recall and F1 with the counts behind them.

    Part of `Overlap.words_possible` and of its other fields.

    Parameters
    ----------
    precision : `hypothesis_found` / `hypothesis`; NaN for 0/0.
    recall : `reference_found` / `reference`; NaN for 0/0.
    f1 : Their harmonic mean; 0 if nothing is shared, NaN if neither has anything.
    hypothesis, reference : The number of items of the annotator, and of the reference annotator.
    hypothesis_found, reference_found : How many of these the other one also has.

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.agreement import overlap
    >>> corpus = Corpus.from_texts(["he left"], ["she went"], A=["0-0 1-1"], B=["0-0"])
    >>> row = overlap(corpus, "A", "B").words_sure
    >>> row.hypothesis, row.hypothesis_found, row.reference, row.f1
    (2, 1, 1, 0.6666666666666666)
    """

    precision: float
    recall: float
    f1: float
    hypothesis: int
    hypothesis_found: int
    reference: int
    reference_found: int

    @classmethod
    def of(cls, rows: Rows) -> OverlapRow:
        """Compute everything from the rows of a statistic of `OVERLAP`, or some of them."""
        hypothesis, hypothesis_found, reference, reference_found = rows.total()[0].tolist()
        return cls(
            **rows.figures(),  # precision, recall and f1
            hypothesis=int(hypothesis),
            hypothesis_found=int(hypothesis_found),
            reference=int(reference),
            reference_found=int(reference_found),
        )


@dataclass(frozen=True)
class Overlap:
    """The overlap of an annotator (A) with a reference annotator (B), over pooled counts.

    Exchanging the annotators exchanges precision and recall in every row.

    Returned by `overlap`.

    Parameters
    ----------
    hypothesis, reference : The annotators A and B.
    pairs : The number of sentence pairs that both annotated.
    ignore_identical : Whether identical links and phrase pairs are left out.
    words_possible : All links of A with all links of B.
    words_sure : The sure links of A with the sure links of B.
    words_eq2 : The sure links of each with all links of the other (eq. 2 of Cohn et al. 2008).
    phrases_possible, phrases_sure : The atomic phrase pairs of each with all phrase pairs of the
        other, made of all links or of the sure ones (eq. 3 of Cohn et al. 2008).

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.agreement import overlap
    >>> corpus = Corpus.from_texts(["he left"], ["she went"], A=["0-0 1-1"], B=["0-0"])
    >>> result = overlap(corpus, "A", "B")
    >>> result.hypothesis, result.words_sure.precision, result.phrases_sure.recall
    ('A', 0.5, 1.0)
    """

    hypothesis: str
    reference: str
    pairs: int
    ignore_identical: bool
    words_possible: OverlapRow
    words_sure: OverlapRow
    words_eq2: OverlapRow
    phrases_possible: OverlapRow
    phrases_sure: OverlapRow

    def rows(self) -> Mapping[str, OverlapRow]:
        """Return the rows by level and links: ``words.possible`` and so on.

        Examples
        --------
        >>> from alignkit import Corpus
        >>> from alignkit.agreement import overlap
        >>> corpus = Corpus.from_texts(["he left"], ["she went"], A=["0-0 1-1"], B=["0-0"])
        >>> list(overlap(corpus, "A", "B").rows())[:2]
        ['words.possible', 'words.sure']
        """
        return {level: getattr(self, _field_of(level)) for level in _LEVELS}


def overlap_ratios(sums: F8) -> Mapping[str, F8]:
    """Return precision, recall and F1 of (R, 4) sums: |A|, |A found|, |B|, |B found|."""
    hypothesis, hypothesis_found, reference, reference_found = sums.T
    precision = ratio(hypothesis_found, hypothesis)
    recall = ratio(reference_found, reference)
    return {"precision": precision, "recall": recall, "f1": harmonic(precision, recall)}


# for each kind of links, the columns of the counts that are |A|, |A found|, |B|, |B found|
_WORDS = {
    "possible": ("hyp_possible", "possible_in_possible", "ref_possible", "possible_in_possible"),
    "sure": ("hyp_sure", "sure_in_sure", "ref_sure", "sure_in_sure"),
    "eq2": ("hyp_sure", "hyp_sure_in_ref_possible", "ref_sure", "hyp_possible_in_ref_sure"),
}
# the same of phrase pairs
_PHRASES = ("hyp_atomic", "hyp_atomic_in_ref", "ref_atomic", "hyp_in_ref_atomic")


def word_columns(counts: I8, kind: str) -> F8:
    """Return what `overlap_ratios` needs of (P, 8) counts of links, for an entry of `_WORDS`."""
    return columns(counts, LINK_COLUMNS, _WORDS[kind])


def _word_rows(data: PairData, kind: str) -> Rows:
    return Rows(word_columns(data.link_counts, kind), overlap_ratios)


def phrase_columns(data: PairData, links: Literal["possible", "sure"]) -> F8:
    """Count in each pair what `overlap_ratios` needs of phrase pairs."""
    first, second = data.annotators
    source = target = None
    if data.ignore_identical:
        source, target = data.words
    counts = count_phrases(
        data.all_links(first),
        data.all_links(second),
        links=links,
        ignore_identical=data.ignore_identical,
        source=source,
        target=target,
    )
    return columns(counts, PHRASE_COLUMNS, _PHRASES)


def _phrase_rows(data: PairData, links: Literal["possible", "sure"]) -> Rows:
    return Rows(phrase_columns(data, links), overlap_ratios)


def columns(counts: I8, names: Sequence[str], wanted: Sequence[str]) -> F8:
    """Return the named columns of counts as floats."""
    return counts[:, [names.index(name) for name in wanted]].astype(np.float64)


_SIZES = (0, 2)  # the columns |A| and |B|, whose sum is the size of a pair for the jackknife


def _words(kind: str) -> Statistic:
    """Return the statistic of an entry of `_WORDS`."""
    return Statistic(f"words.{kind}", MEASURES, partial(_word_rows, kind=kind), _SIZES)


def _phrases(links: Literal["possible", "sure"]) -> Statistic:
    """Return the statistic of phrase pairs that are made of all or of sure links."""
    return Statistic(f"phrases.{links}", MEASURES, partial(_phrase_rows, links=links), _SIZES)


OVERLAP = (*map(_words, _WORDS), _phrases("possible"), _phrases("sure"))
"""Precision, recall and F1 of words and of phrases."""

_LEVELS = [statistic.level for statistic in OVERLAP]


def _field_of(level: str) -> str:
    """Return the field of `Overlap` with a level: ``words_sure`` for ``words.sure``."""
    return level.replace(".", "_")


def overlap(
    corpus: Corpus,
    hypothesis: str,
    reference: str,
    *,
    ignore_identical: bool = True,
    exact_case: bool = False,
) -> Overlap:
    """Compare one annotator with another one as the reference.

    Parameters
    ----------
    corpus : The pairs; their words are only needed to leave out identical ones.
    hypothesis, reference : The two annotators.
    ignore_identical : Whether to leave out links and phrase pairs of equal words.
    exact_case : Whether words that differ only in case are different.

    Raises
    ------
    OptionError, UnknownNameError : If the annotators cannot be compared, or `exact_case` has no
        effect.
    MissingTextError : If `ignore_identical` is True and words are not known.

    References
    ----------
    Cohn, Callison-Burch & Lapata 2008, Constructing corpora for the development and evaluation of
    paraphrase systems, Computational Linguistics 34(4):597-614, eq. 2 and 3.

    Examples
    --------
    >>> from alignkit.model.alignment import Alignment
    >>> from alignkit.model.corpus import SentencePair
    >>> pair = SentencePair("1", ("he", "left"), ("he", "went", "away"), {
    ...     "A": Alignment.parse("0-0 1-1 1-2"), "B": Alignment.parse("0-0 1-1")})
    >>> result = overlap(Corpus([pair]), "A", "B")
    >>> result.words_sure.precision, result.words_sure.recall
    (0.5, 1.0)
    """
    check_arguments(overlap, locals())
    check_case(ignore_identical, exact_case)
    arrays = CorpusData(corpus, exact_case=exact_case)
    data = PairData.of(arrays, (hypothesis, reference), ignore_identical=ignore_identical)
    rows = {statistic.level: statistic.rows(data) for statistic in OVERLAP}
    return overlap_of(data, rows)


def overlap_of(data: PairData, rows: Mapping[str, Rows], pairs: int | None = None) -> Overlap:
    """Return the overlap of two annotators from the rows of `OVERLAP`, by level.

    `pairs` is how many pairs they are of; None for all pairs of the data.
    """
    hypothesis, reference = data.annotators
    return Overlap(
        hypothesis=hypothesis,
        reference=reference,
        pairs=len(data) if pairs is None else pairs,
        ignore_identical=data.ignore_identical,
        **{_field_of(level): OverlapRow.of(rows[level]) for level in _LEVELS},
    )
