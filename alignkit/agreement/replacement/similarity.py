"""How alike two annotations of a pair are: the measures of the test, for all pairs at once.

A measure has *rows*: that of everything, and of links also one for each kind of link. So what it
returns are arrays (R, Q), for R rows and the Q pairs of the corpus.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from alignkit._support.array_types import B1, F8, I8
from alignkit._support.cached_methods import cached_method
from alignkit.agreement.overlaps import overlap_ratios, phrase_columns
from alignkit.agreement.pairs import CorpusData, PairData
from alignkit.agreement.replacement.options import ReplaceOptions
from alignkit.corpora.labelled import judgments_of
from alignkit.model.arrays import LinkArrays, identical_links, offsets_of
from alignkit.model.corpus import Corpus
from alignkit.model.labels import View
from alignkit.stats.resampling import ratio

ALL = "all"
"""The row of everything."""

EQUAL = "equal words"
ONE_TO_ONE = "one to one"
SEVERAL = "several words"
"""The kinds of links: of equal words; of other words, which both have no other link; all others."""

NULLS = "nulls"
"""The row of words without a link, which are compared as if they were links."""


class PairSimilarity(ABC):
    """The measure of Q pairs, in rows: of everything, and perhaps of kinds of links."""

    rows: tuple[str, ...] = (ALL,)
    most: float = 1.0
    """How alike equal annotations are."""

    @abstractmethod
    def aligned(self, name: str) -> B1:
        """(Q,): the pairs that have an annotation of this name, a mask."""

    @abstractmethod
    def between(self, first: str, second: str) -> F8:
        """(R, Q): how alike two annotations are in each row; NaN where one is missing."""

    @abstractmethod
    def items(self, name: str) -> F8:
        """(R, Q): how many items an annotation has; pairs in which nobody has any say nothing."""


class LinkSimilarity(PairSimilarity):
    """F1 of the links of two annotations, also by kind of link; 1 if neither has any.

    For a kind, F1 is (|A(k) & B| + |A & B(k)|) / (|A(k)| + |B(k)|): A(k) has the links of A that
    are of this kind in A, which B may link in another way.
    """

    def __init__(self, data: CorpusData, options: ReplaceOptions) -> None:
        self._data = data
        self._sure = options.measure == "sure"
        self._ignore_identical = options.ignore_identical
        if options.ignore_identical:
            for pair in data.corpus:
                _ = pair.words  # an error names the pair whose words are not known
        # if links of equal words are left out, their words would count as nulls
        if data.known.all() and not self._ignore_identical:
            self.rows = (ALL, EQUAL, ONE_TO_ONE, SEVERAL, NULLS)
        else:
            self.rows = (ALL, ONE_TO_ONE, SEVERAL)

    def aligned(self, name: str) -> B1:
        """(Q,): the pairs that somebody aligned, a mask."""
        return self._data.aligned(name)

    def between(self, first: str, second: str) -> F8:
        """(R, Q): F1 of the links, of those of each kind, and of the words without links."""
        a = self.links(first)
        b = self.links(second)
        in_a, in_b = a.shared(b)  # the places of the links of both
        hits = np.zeros((len(self.rows), len(a)))
        sizes = self.items(first) + self.items(second)
        for k, row in enumerate(self.rows):
            if row == NULLS:
                nulls = self._nulls_of(first)
                in_first, _ = nulls.shared(self._nulls_of(second))
                hits[k] = 2 * np.bincount(nulls.pair_of[in_first], minlength=len(a))
                continue
            of_row_in_a = self._is_of(k, first)[in_a]
            of_row_in_b = self._is_of(k, second)[in_b]
            hits[k] = np.bincount(a.pair_of[in_a[of_row_in_a]], minlength=len(a))
            hits[k] += np.bincount(b.pair_of[in_b[of_row_in_b]], minlength=len(a))
        alike = np.where(sizes == 0, 1.0, ratio(hits, sizes))
        alike[:, ~(self.aligned(first) & self.aligned(second))] = np.nan
        return alike

    @cached_method
    def links(self, name: str) -> LinkArrays:
        """Return the links that are compared."""
        links = self._data.links(name)
        if self._sure:
            links = links.sure_only()
        if self._ignore_identical:
            links = links.without_identical(*self._data.words)
        return links

    @cached_method
    def items(self, name: str) -> F8:
        """(R, Q): the number of links, of those of each kind, and of words without links."""
        links = self.links(name)
        counts = np.zeros((len(self.rows), len(links)))
        for k, row in enumerate(self.rows):
            if row == NULLS:  # an annotator who did not align a pair left no word unaligned
                counts[k] = np.diff(self._nulls_of(name).offsets) * self.aligned(name)
            else:
                counts[k] = np.bincount(links.pair_of[self._is_of(k, name)], minlength=len(links))
        return counts

    def _is_of(self, row: int, name: str) -> B1:
        """(L,): whether each link is of a row, which is given by its place; a mask."""
        kinds = self._kinds_of(name)
        if row == 0:  # that of everything
            return np.ones(len(kinds), bool)
        of_row: B1 = kinds == row
        return of_row

    @cached_method
    def _kinds_of(self, name: str) -> I8:
        """(L,): the place of the row of the kind of each link."""
        links = self.links(name)
        alone = np.ones(len(links.links), bool)
        for side in (0, 1):
            alone &= _links_of_its_word(links, side) == 1
        kinds = np.where(alone, self.rows.index(ONE_TO_ONE), self.rows.index(SEVERAL))
        if EQUAL in self.rows:
            kinds[identical_links(links, *self._data.words)] = self.rows.index(EQUAL)
        return kinds

    @cached_method
    def _nulls_of(self, name: str) -> LinkArrays:
        """Return the words without links as cells: their place and their side, 0 or 1."""
        return _nulls(self.links(name), self._data.lengths)


def _links_of_its_word(links: LinkArrays, side: int) -> I8:
    """(L,): how many links the word of each link has on a side."""
    width = int(links.links.max(initial=0)) + 1
    word = links.pair_of * width + links.links[:, side]  # a number for each word of each pair
    _, place, counts = np.unique(word, return_inverse=True, return_counts=True)
    numbers: I8 = counts[place.reshape(-1)]
    return numbers


def _nulls(links: LinkArrays, lengths: I8) -> LinkArrays:
    """Return the words of each pair without links, as (place, side) cells."""
    pairs = len(links)
    cells = []
    owners = []
    for side in (0, 1):
        sizes = lengths[:, side]
        starts = offsets_of(sizes)
        linked = np.zeros(starts[-1], bool)
        linked[starts[links.pair_of] + links.links[:, side]] = True
        free = np.flatnonzero(~linked)
        owner = np.repeat(np.arange(pairs), sizes)[free]
        place = free - starts[owner]
        cells.append(np.column_stack([place, np.full(len(free), side)]))
        owners.append(owner)
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    points = np.concatenate(cells)[order].astype(np.int32)
    offsets = offsets_of(np.bincount(owner, minlength=pairs))
    sure = np.ones(len(points), np.uint8)
    return LinkArrays.trusted(points, sure, offsets, LinkArrays.extents(points, offsets))


class PhraseSimilarity(PairSimilarity):
    """F1 of the phrase pairs of two annotations (eq. 3 of Cohn et al. 2008); 1 if neither has any.

    Precision counts the atomic phrase pairs of the first among all of the second, recall those of
    the second among all of the first.
    """

    def __init__(self, data: CorpusData, options: ReplaceOptions) -> None:
        self._data = data
        self._ignore_identical = options.ignore_identical

    def aligned(self, name: str) -> B1:
        """(Q,): the pairs that somebody aligned, a mask."""
        return self._data.aligned(name)

    def between(self, first: str, second: str) -> F8:
        """(1, Q): F1 of the phrase pairs."""
        counts = self._counts(first, second)
        none = (counts[:, 0] == 0) & (counts[:, 2] == 0)  # neither has phrase pairs
        alike = np.where(none, 1.0, overlap_ratios(counts)["f1"])
        alike[~(self.aligned(first) & self.aligned(second))] = np.nan
        return alike[None]

    def items(self, name: str) -> F8:
        """(1, Q): the number of atomic phrase pairs."""
        return self._counts(name, name)[None, :, 0]

    def _counts(self, first: str, second: str) -> F8:
        """(Q, 4): the phrase pairs of two annotations, as `overlap_ratios` takes them."""
        every = np.arange(len(self._data.corpus))
        pairs = PairData(self._data, (first, second), every, self._ignore_identical)
        return phrase_columns(pairs, "possible")


class JudgmentSimilarity(PairSimilarity):
    """Whether two judgments are equal, 1 or 0; if ordered, minus the square of their distance.

    Of the authors, ordered labels are compared by minus the root of the mean squared difference
    from the others. A root does not change which of two is the larger, so it is left out.
    """

    def __init__(self, corpus: Corpus, names: Sequence[str], view: View, *, lenient: bool) -> None:
        matrix = judgments_of(corpus, names, view, lenient_labels=lenient)
        self.left_out = dict(matrix.left_out)
        self._names = matrix.annotators
        values = matrix.values.astype(np.float64)
        if view.order is not None:
            places = np.array([view.order.index(label) for label in matrix.labels], float)
            values = places[matrix.values]
            self.most = 0.0
        values[matrix.values < 0] = np.nan  # no label
        self._values = values

    def aligned(self, name: str) -> B1:
        """(Q,): the pairs that somebody judged, a mask."""
        return ~np.isnan(self._of(name))

    def between(self, first: str, second: str) -> F8:
        """(1, Q): how alike the judgments are."""
        difference = self._of(first) - self._of(second)
        if self.most == 0:  # ordered
            return -(difference**2)[None]
        alike = np.where(np.isnan(difference), np.nan, difference == 0)
        return alike[None]

    def items(self, name: str) -> F8:
        """(1, Q): one judgment in each pair."""
        return self.aligned(name)[None].astype(np.float64)

    def _of(self, name: str) -> F8:
        """(Q,): the numbers of labels."""
        values: F8 = self._values[self._names.index(name)]
        return values
