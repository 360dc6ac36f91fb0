"""Fleiss' kappa over the source words that annotators proposed for each target word.

An *item* is a target word (or the NULL at position 0 of every target sentence) together with one
source position, or null, that at least one annotator proposed for it (Brockett 2007). For a target
word, an annotator proposes:

- each source position linked to it, as *sure* or *possible*;
- *null* if it has no link. An explicit null on the word means the same and changes nothing; on a
  word that also has links it is not counted.

For the NULL, an annotator proposes the source words that were explicitly aligned to nothing
(`Link(i, NULL)`), sure or possible, and null if there are none. Each pair has this NULL, even in
formats without nulls, so kappa does not depend on the format if no source word is marked.

The category of an item is sure, possible or null. An annotator who did not propose the position of
an item also counts as null; only the counts of agreeing annotators distinguish the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from alignkit._support.arguments import check_arguments, naming_keywords
from alignkit._support.array_types import F8, I8, U1
from alignkit._support.values import FrozenMap
from alignkit.agreement.intervals import Rows, Statistic
from alignkit.agreement.pairs import CorpusData, PairData
from alignkit.errors import OptionError
from alignkit.model.alignment import NULL
from alignkit.model.arrays import whole_numbers
from alignkit.model.corpus import Corpus
from alignkit.stats.resampling import only_values, ratio

CATEGORIES = ("null", "possible", "sure")
_NOT_PROPOSED, _NULL, _POSSIBLE, _SURE = range(4)


@dataclass(frozen=True)
class FleissKappa:
    """Fleiss' kappa and the counts behind it.

    Returned by `fleiss_kappa`.

    Parameters
    ----------
    kappa : (observed - expected) / (1 - expected); NaN without items, or if all judgements have
        the same category (expected = 1).
    observed : The share of agreeing pairs of judgements, averaged over the items.
    expected : The sum of the squared proportions of the categories.
    items, annotators, pairs : The numbers of items, annotators and sentence pairs.
    categories : For each category, its share of all items x annotators judgements.
    agreeing : For n from all annotators down to 1, the number of items on which exactly n agree;
        "not proposed" and null count as different here.

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.agreement import fleiss_kappa
    >>> corpus = Corpus.from_texts(["he left"], ["she went"], A=["0-0 1-1"], B=["0-0"])
    >>> result = fleiss_kappa(corpus)
    >>> result.items, result.observed, dict(result.agreeing)
    (4, 0.75, {2: 2, 1: 2})
    """

    kappa: float
    observed: float
    expected: float
    items: int
    annotators: int
    pairs: int
    categories: FrozenMap[str, float]
    agreeing: FrozenMap[int, int]

    @classmethod
    def of(cls, rows: Rows, annotators: int) -> FleissKappa:
        """Compute everything from the rows of `FLEISS`, or some of them; see `_rows`."""
        items, _, *counts = rows.total()[0].astype(np.int64).tolist()
        judged = counts[: len(CATEGORIES)]  # judgements of each category
        alike = counts[len(CATEGORIES) :]  # items on which 1, 2, ... annotators said the same
        judgements = items * annotators
        shares = [count / judgements if items else nan for count in judged]
        return cls(
            **rows.figures(),
            items=items,
            annotators=annotators,
            pairs=len(rows),
            categories=FrozenMap(zip(CATEGORIES, shares, strict=True)),
            agreeing=FrozenMap(zip(range(annotators, 0, -1), reversed(alike), strict=True)),
        )


@naming_keywords
def fleiss_kappa(corpus: Corpus, annotators: Sequence[str] | None = None) -> FleissKappa:
    """Compute Fleiss' kappa over the pairs that all annotators annotated.

    All links count, including identical ones. Time and memory are linear in links and words, except
    for one sort of the items.

    Parameters
    ----------
    corpus : The sentence pairs, with words.
    annotators : Two or more names; None: all annotators of the corpus.

    Raises
    ------
    OptionError, UnknownNameError : If the annotators cannot be compared.
    MissingTextError : If the words of a pair are not known: words without links are items too.

    Examples
    --------
    >>> from alignkit.model.alignment import Alignment
    >>> from alignkit.model.corpus import SentencePair
    >>> pair = SentencePair("1", ("he", "left"), ("he", "went", "away"), {
    ...     "A": Alignment.parse("0-0 1-1 1-2"), "B": Alignment.parse("0-0 1-1")})
    >>> result = fleiss_kappa(Corpus([pair]))
    >>> result.items, dict(result.agreeing), result.observed
    (5, {2: 3, 1: 2}, 0.8)

    References
    ----------
    Fleiss 1971, Measuring nominal scale agreement among many raters, Psychological Bulletin
    76:378-382, https://doi.org/10.1037/h0031619. Items: Brockett 2007, Aligning the RTE 2006
    corpus, MSR-TR-2007-77.
    """
    check_arguments(fleiss_kappa, locals(), apart=["annotators"])
    data = PairData.of(CorpusData(corpus), annotators)
    return FleissKappa.of(_rows(data), len(data.annotators))


def _rows(data: PairData) -> Rows:
    """Return the counts of each pair of sentences, summed over its items.

    The columns: items; agreeing ordered pairs of judgements; judgements of each category; items on
    which 1, 2, ... annotators, and no more, said the same.
    """
    judgements, pair_of_item = _proposals(data)
    raters = judgements.shape[1]
    # categories are numbered without "not proposed", which counts as null, the first of them
    categories = np.maximum(judgements, _NULL) - _NULL
    counts = _tally(categories, len(CATEGORIES))
    agreeing = (counts * (counts - 1)).sum(axis=1)
    # in the numbers of annotators who said the same, "not proposed" and null differ
    most_alike = _tally(judgements, 4).max(axis=1, initial=0)
    is_so_many = most_alike[:, np.newaxis] == np.arange(1, raters + 1)
    ones = np.ones(len(pair_of_item), np.int64)
    columns = np.column_stack([ones, agreeing, counts, is_so_many])
    # `reduceat` adds up from each start to the next: items come pair after pair, and each pair has
    # one or more, since its NULL has
    starts = np.searchsorted(pair_of_item, np.arange(len(data)))
    if len(data):
        summed = np.add.reduceat(columns, starts, axis=0)
    else:
        summed = columns

    def measure(sums: F8) -> Mapping[str, F8]:
        totals = sums[:, 2 : 2 + len(CATEGORIES)]
        return fleiss_ratios(sums[:, 0], sums[:, 1], totals, raters)

    return Rows(summed.astype(np.float64), measure)


def fleiss_ratios(items: F8, agreeing: F8, totals: F8, raters: int) -> dict[str, F8]:
    """Return kappa, observed and expected agreement, (R,), of R sums over items.

    `items` and `agreeing` (ordered pairs of judgements) are (R,), `totals` (judgements of each
    category) are (R, categories). Each item has `raters` judgements.
    """
    observed = ratio(agreeing, items * raters * (raters - 1))
    # whole numbers until they are divided: an expected agreement of 1 is met exactly
    expected = ratio((totals * totals).sum(axis=1), (items * raters) ** 2)
    kappa = ratio(observed - expected, 1 - expected)
    return {"kappa": kappa, "observed": observed, "expected": expected}


FLEISS = (Statistic("fleiss", ("kappa", "observed", "expected"), _rows),)
"""Fleiss' kappa over the pairs annotated by all; all links count."""


@naming_keywords
def fleiss_from_counts(counts: ArrayLike) -> tuple[float, float, float]:
    """Return kappa, observed and expected agreement of a table of judgements.

    Without items everything is NaN; if all judgements have one category, only kappa is.

    Parameters
    ----------
    counts : (items, categories): how many annotators put each item into each category. Each item
        needs the same number of annotators, two or more.

    Raises
    ------
    OptionError : If the counts are not such a table.

    References
    ----------
    Fleiss 1971, Measuring nominal scale agreement among many raters, Psychological Bulletin
    76:378-382, https://doi.org/10.1037/h0031619.

    Examples
    --------
    Two items, three annotators.

    >>> fleiss_from_counts([[3, 0], [0, 3]])
    (1.0, 1.0, 0.5)
    """
    table = whole_numbers("counts", counts, 2)
    if table.size == 0:
        return nan, nan, nan
    judged = table.sum(axis=1)
    raters = int(judged[0])
    if raters < 2 or (judged != raters).any() or (table < 0).any():
        raise OptionError("each item needs the same number of judgements, two or more")
    items = np.array([len(table)], np.float64)
    agreeing = np.array([(table * (table - 1)).sum()])
    totals = table.sum(axis=0, dtype=np.float64)[np.newaxis]
    ratios = only_values(fleiss_ratios(items, agreeing, totals, raters))
    return ratios["kappa"], ratios["observed"], ratios["expected"]


class _Proposals(NamedTuple):
    """What an annotator proposes: the number of the cell of each proposal, and its category."""

    cells: I8
    categories: U1


def _proposals(data: PairData) -> tuple[U1, I8]:
    """Return the proposal of each annotator for each item, (items, annotators), and its pair.

    An item is a cell that somebody proposed. Items are in the order of the cells.
    """
    proposals = [_proposed(data, name) for name in data.annotators]
    cells = np.concatenate([proposed.cells for proposed in proposals])
    # item_of: the item of each proposal, those of one annotator after those of the other
    item_cells, item_of = np.unique(cells, return_inverse=True)
    judgements = np.full((len(item_cells), len(proposals)), _NOT_PROPOSED, np.uint8)
    start = 0
    for annotator, proposed in enumerate(proposals):
        end = start + len(proposed.cells)
        judgements[item_of[start:end], annotator] = proposed.categories
        start = end
    cell_ends = np.cumsum((data.lengths + 1).prod(axis=1))  # one after the last cell of each pair
    pair_of_item = np.searchsorted(cell_ends, item_cells, "right")
    return judgements, pair_of_item


def _proposed(data: PairData, name: str) -> _Proposals:
    """Return the proposals of an annotator.

    Cells are numbered over all pairs, row by row. A pair has a row for the NULL, then one for each
    target word, and a column for null, then one for each source word. With two source words and one
    target word, these are

        0 1 2   NULL: null, source word 0, source word 1
        3 4 5   target word 0: null, source word 0, source word 1

    and the next pair begins with cell 6.
    """
    rows = data.lengths[:, 1] + 1
    columns = data.lengths[:, 0] + 1
    first_row = np.cumsum(rows) - rows
    first_cell = np.cumsum(rows * columns) - rows * columns
    linked = _linked_cells(data, name)
    in_pair = linked.row * columns[linked.pair] + linked.column
    linked_cells = first_cell[linked.pair] + in_pair
    linked_categories = np.where(linked.sure, _SURE, _POSSIBLE).astype(np.uint8)
    # rows without links have null, their column 0
    is_linked = np.zeros(int(rows.sum()), np.bool_)
    is_linked[first_row[linked.pair] + linked.row] = True
    bare = np.flatnonzero(~is_linked)
    pair_of_bare = np.repeat(np.arange(len(rows)), rows)[bare]
    row_of_bare = bare - first_row[pair_of_bare]
    null_cells = first_cell[pair_of_bare] + row_of_bare * columns[pair_of_bare]
    null_categories = np.full(len(bare), _NULL, np.uint8)
    return _Proposals(
        cells=np.concatenate([linked_cells, null_cells]),
        categories=np.concatenate([linked_categories, null_categories]),
    )


class _LinkedCells(NamedTuple):
    """The cells of the links and the marked nulls of an annotator."""

    pair: I8
    row: I8  # a target word, from 1; 0 is the NULL
    column: I8  # a source word, from 1
    sure: I8


def _linked_cells(data: PairData, name: str) -> _LinkedCells:
    """Return the cell of each link, and of each source word that is marked as null."""
    arrays = data.all_links(name)
    nulls = _marked_nulls(data, name)
    target_words = arrays.links[:, 1]
    row_of_null = np.zeros(len(nulls), np.int64)
    source_words = np.concatenate([arrays.links[:, 0], nulls[:, 1]])
    return _LinkedCells(
        pair=np.concatenate([arrays.pair_of, nulls[:, 0]]),
        row=np.concatenate([target_words + 1, row_of_null]),
        column=source_words + 1,
        sure=np.concatenate([arrays.sure, nulls[:, 2]]),
    )


def _marked_nulls(data: PairData, name: str) -> I8:
    """Return (pair, word, sure) of the source words explicitly aligned to nothing."""
    corpus = data.data.corpus
    marked: list[tuple[int, int, bool]] = []
    for pair, place in enumerate(data.places.tolist()):
        alignment = corpus[place].alignment(name)
        nulls = [null for null in alignment.nulls if null.j == NULL]
        marked += [(pair, null.i, null in alignment.sure_nulls) for null in nulls]
    return np.array(marked, np.int64).reshape(-1, 3)


def _tally(judgements: U1, categories: int) -> I8:
    """Return how many annotators chose each category, (items, categories)."""
    chosen = judgements[:, :, np.newaxis] == np.arange(categories)
    return np.asarray(chosen.sum(axis=1), np.int64)
