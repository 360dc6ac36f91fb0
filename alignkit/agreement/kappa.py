"""Cohen's kappa and Gwet's AC1, for any table, and for two annotators cell by cell.

A cell is a source word with a target word of the same sentence pair. The N x M cells are counted
without an array: time and memory are linear in links and words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import nan
from typing import Literal

import numpy as np

from alignkit._support.arguments import check_arguments, every, naming_keywords
from alignkit._support.array_types import F8, I8
from alignkit.agreement.intervals import Rows, Statistic
from alignkit.agreement.pairs import CorpusData, PairData, check_case
from alignkit.errors import OptionError
from alignkit.model.arrays import whole_numbers
from alignkit.model.corpus import Corpus
from alignkit.scoring.counts import LINK_COLUMNS
from alignkit.stats.resampling import only_values, ratio

Table = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Contingency:
    """The counts of two annotators who put the same items into Q categories, and the coefficients.

    Parameters
    ----------
    categories : The Q names.
    table : Q x Q counts: rows are categories of the first annotator, columns of the second.
    items : The sum of the table.
    observed : The share of items with the same category; NaN without items.
    kappa : Cohen's kappa; NaN if undefined, see `cohen_kappa`.
    ac1 : Gwet's AC1; NaN if undefined, see `gwet_ac1`.
    prevalence : For each category, its share of all 2 x items judgements; NaN without items.

    Examples
    --------
    >>> table = Contingency.of(["link", "none"], [[20, 5], [10, 15]])
    >>> table.items, table.observed, round(table.kappa, 3)
    (50, 0.7, 0.4)
    """

    categories: tuple[str, ...]
    table: tuple[tuple[int, ...], ...]
    items: int
    observed: float
    kappa: float
    ac1: float
    prevalence: tuple[float, ...]

    @classmethod
    def of(cls, categories: Sequence[str], table: Table) -> Contingency:
        """Compute everything from Q x Q counts; other tables raise an OptionError.

        Parameters
        ----------
        categories : The Q names.
        table : Q x Q counts: rows are categories of the first annotator, columns of the second.

        Examples
        --------
        >>> from alignkit.agreement import Contingency
        >>> table = Contingency.of(("no", "yes"), ((20, 5), (10, 15)))
        >>> round(table.kappa, 3)
        0.4
        """
        counts = _checked(table)
        ratios = _ratios_of(counts)
        if len(categories) != len(counts):
            raise OptionError(f"{len(categories)} categories, but {len(counts)} rows in the table")
        items = sum(map(sum, counts))
        shares = []
        for row, column in zip(counts, zip(*counts, strict=True), strict=True):
            judgements = sum(row) + sum(column)
            shares.append(judgements / (2 * items) if items else nan)
        return cls(
            tuple(categories),
            counts,
            items,
            observed=ratios["observed"],
            kappa=ratios["kappa"],
            ac1=ratios["ac1"],
            prevalence=tuple(shares),
        )

    def collapse(self, name: str, rest: str, *, categories: Sequence[str]) -> Contingency:
        """Return the 2 x 2 table of some `categories`, called `name`, against the `rest`.

        Parameters
        ----------
        name, rest : The names of the two categories of the new table.
        categories : The categories that become `name`.

        Examples
        --------
        >>> from alignkit.agreement import Contingency
        >>> table = Contingency.of(("none", "possible", "sure"), ((5, 1, 0), (1, 2, 0), (0, 1, 3)))
        >>> table.collapse("link", "none", categories=["possible", "sure"]).table
        ((5, 1), (1, 6))
        """
        unknown = [category for category in categories if category not in self.categories]
        if unknown:
            raise OptionError(f"no category {unknown[0]!r}; there are {', '.join(self.categories)}")
        kept = np.array([category in categories for category in self.categories], int)
        sums = np.zeros((2, 2), int)
        # cell (i, j) is added to (kept[i], kept[j]); `at` adds each of several at one place
        np.add.at(sums, np.ix_(kept, kept), self.table)
        return Contingency.of((rest, name), sums.tolist())


@naming_keywords
def cohen_kappa(table: Table) -> float:
    """Return Cohen's kappa of a Q x Q table of counts.

    kappa = (observed - expected) / (1 - expected); expected is the sum over the categories of the
    product of the two annotators' shares. Kappa is NaN without items, or if both annotators put
    every item into the same category (expected = 1).

    Parameters
    ----------
    table : Q x Q counts of items: rows are the categories of the first annotator, columns those of
        the second.

    Raises
    ------
    OptionError : If the table is not Q x Q or holds anything else than counts.

    Examples
    --------
    >>> round(cohen_kappa([[20, 5], [10, 15]]), 3)
    0.4

    References
    ----------
    Cohen 1960, A coefficient of agreement for nominal scales, Educational and Psychological
    Measurement 20:37-46, https://doi.org/10.1177/001316446002000104.
    """
    return _ratios_of(_checked(table))["kappa"]


def gwet_ac1(table: Table) -> float:
    """Return Gwet's AC1 of a Q x Q table of counts.

    AC1 = (observed - expected) / (1 - expected) with expected = sum pi_q (1 - pi_q) / (Q - 1);
    pi_q is the share of category q among the judgements of both annotators. AC1 is NaN without
    items.

    Parameters
    ----------
    table : Q x Q counts of items: rows are the categories of the first annotator, columns those of
        the second.

    Raises
    ------
    OptionError : If the table is not Q x Q or holds anything else than counts.

    Examples
    --------
    If a category is rare, kappa is low although 118 of 125 judgements agree (Gwet 2008).

    >>> table = [[118, 5], [2, 0]]
    >>> round(gwet_ac1(table), 2), round(cohen_kappa(table), 2)
    (0.94, -0.02)

    References
    ----------
    Gwet 2008, Computing inter-rater reliability and its variance in the presence of high
    agreement, British Journal of Mathematical and Statistical Psychology 61:29-48,
    https://doi.org/10.1348/000711006X126600.
    """
    return _ratios_of(_checked(table))["ac1"]


def table_ratios(sums: F8) -> dict[str, F8]:
    """Return the observed agreement, kappa and AC1 of R tables of Q categories, (R, Q * Q)."""
    size = round(sums.shape[1] ** 0.5)
    tables = sums.reshape(-1, size, size)
    items = sums.sum(axis=1)
    same = np.trace(tables, axis1=1, axis2=2)
    first = tables.sum(axis=2)
    second = tables.sum(axis=1)
    shares = (first + second) / (2 * np.where(items, items, nan))[:, np.newaxis]
    expected = (shares * (1 - shares)).sum(axis=1) / (size - 1)
    observed = ratio(same, items)
    return {
        "observed": observed,
        "kappa": weighted_kappas(tables, 1 - np.eye(size)),
        "ac1": (observed - expected) / (1 - expected),
    }


def weighted_kappas(tables: F8, distances: F8) -> F8:
    """Return kappa of tables of Q categories, (..., Q, Q), with (Q, Q) distances between them."""
    # 1 - sum(distance observed) / sum(distance expected): Cohen 1968, Psychological Bulletin 70.
    # Not shares, but counts: `observed` is the first sum times items, `expected` the second times
    # items squared; whole numbers until they are divided meet an expected agreement of 1 exactly.
    items = tables.sum(axis=(-2, -1))
    observed = tables.reshape(*items.shape, distances.size) @ distances.ravel()
    first = tables.sum(axis=-1)
    second = tables.sum(axis=-2)
    expected = ((first @ distances) * second).sum(axis=-1)
    return ratio(expected - items * observed, expected)


def _ratios_of(counts: tuple[tuple[int, ...], ...]) -> dict[str, float]:
    return only_values(table_ratios(np.array(counts, np.float64).reshape(1, -1)))


def _checked(table: Table) -> tuple[tuple[int, ...], ...]:
    """Return a table of counts as tuples; raise an OptionError if it is none."""
    rows: tuple[object, ...] = every("the table", table, object)
    counts = tuple(tuple(whole_numbers("a row of the table", row, 1).tolist()) for row in rows)
    if len(counts) < 2 or any(len(row) != len(counts) for row in counts):
        raise OptionError("a contingency table needs equal numbers of rows and columns, at least 2")
    if min(map(min, counts)) < 0:
        raise OptionError("a contingency table contains counts; they must be 0 or more")
    return counts


CATEGORIES = ("none", "possible", "sure")


@dataclass(frozen=True)
class CellAgreement:
    """The agreement of two annotators over cells: Cohen's kappa and Gwet's AC1.

    Nearly all cells are empty, so check the prevalence of the links in each `Contingency`.

    Returned by `cell_agreement`.

    Parameters
    ----------
    annotators : The two names: rows, then columns of the tables.
    pairs : The number of sentence pairs that both annotated.
    all : Over {none, possible, sure}; possible means *only* possible.
    possible : Cells with a link (sure or possible) against cells without.
    sure : Cells with a sure link against all others.

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.agreement import cell_agreement
    >>> corpus = Corpus.from_texts(["he left"], ["he went away"], A=["0-0 1-1"], B=["0-0 1?1"])
    >>> cells = cell_agreement(corpus, "A", "B")
    >>> cells.pairs, cells.possible.kappa, cells.sure.table
    (1, 1.0, ((4, 0), (1, 1)))
    """

    annotators: tuple[str, str]
    pairs: int
    all: Contingency
    possible: Contingency
    sure: Contingency

    @classmethod
    def of(cls, annotators: tuple[str, str], rows: Rows) -> CellAgreement:
        """Compute everything from the rows of level ``cells.all``, or some of them."""
        whole = Contingency.of(CATEGORIES, rows.total().reshape(3, 3).astype(np.int64).tolist())
        linked = whole.collapse("linked", "none", categories=("possible", "sure"))
        sure = whole.collapse("sure", "not sure", categories=("sure",))
        return cls(annotators, len(rows), whole, linked, sure)


@naming_keywords
def cell_agreement(
    corpus: Corpus,
    first: str,
    second: str,
    *,
    ignore_identical: bool = False,
    exact_case: bool = False,
    universe: Literal["all", "judged"] = "all",
) -> CellAgreement:
    """Compare two annotators over the cells of all pairs that both annotated, pooled.

    Parameters
    ----------
    corpus : The pairs, with their words; these give the number of cells.
    first, second : The two annotators.
    ignore_identical : Whether to leave out all cells of equal words, linked or not.
    exact_case : Whether words that differ only in case are different.
    universe : ``"all"`` cells, or those that both ``"judged"``: cells with a link or a label, if
        the format keeps labels on cells without a link.

    Raises
    ------
    OptionError, UnknownNameError : If the annotators cannot be compared, `exact_case` has no
        effect, or the corpus does not record which cells were judged.
    MissingTextError : If the words of a pair are needed but not known.

    References
    ----------
    Cohen 1960, Educational and Psychological Measurement 20:37-46; Gwet 2008, British Journal of
    Mathematical and Statistical Psychology 61:29-48.

    Examples
    --------
    >>> from alignkit.model.alignment import Alignment
    >>> from alignkit.model.corpus import SentencePair
    >>> pair = SentencePair("1", ("he", "left"), ("he", "went", "away"), {
    ...     "A": Alignment.parse("0-0 1-1 1?2"), "B": Alignment.parse("0-0 1?1")})
    >>> result = cell_agreement(Corpus([pair]), "A", "B")
    >>> result.all.table
    ((3, 0, 0), (1, 0, 0), (0, 1, 1))
    >>> round(result.possible.kappa, 3)
    0.667
    """
    check_arguments(cell_agreement, locals())
    check_case(ignore_identical, exact_case)
    arrays = CorpusData(corpus, exact_case=exact_case)
    two = (first, second)
    data = PairData.of(arrays, two, ignore_identical=ignore_identical, universe=universe)
    return CellAgreement.of((first, second), _whole_rows(data))


def _tables(data: PairData) -> I8:
    """Return the (P, 3, 3) tables, from the sizes of S and P of both and of their overlaps.

    The rows of a table are the categories of the first annotator (`hyp`), the columns those of the
    second (`ref`). Of the cells of at least a category, those of at least the next are subtracted.
    """
    n = dict(zip(LINK_COLUMNS, data.cell_counts.T, strict=True))
    at_least = np.array(
        [
            [data.cells, n["ref_possible"], n["ref_sure"]],
            [n["hyp_possible"], n["possible_in_possible"], n["hyp_possible_in_ref_sure"]],
            [n["hyp_sure"], n["hyp_sure_in_ref_possible"], n["sure_in_sure"]],
        ]
    )
    none_above_sure = np.pad(at_least, ((0, 1), (0, 1), (0, 0)))
    exactly_first = none_above_sure[:-1] - none_above_sure[1:]
    exactly: I8 = exactly_first[:, :-1] - exactly_first[:, 1:]
    return exactly.transpose(2, 0, 1)


def _whole_rows(data: PairData) -> Rows:
    """Count cells of each two categories: (P, 9)."""
    return Rows(_tables(data).reshape(-1, 9).astype(np.float64), table_ratios)


def _binary_rows(data: PairData, least: int) -> Rows:
    """Count cells of at least a category (its place in `CATEGORIES`) against the rest: (P, 4)."""
    of_three = _tables(data).astype(np.float64)
    of_two = np.zeros((len(of_three), 2, 2))
    for row in range(3):
        for column in range(3):
            of_two[:, int(row >= least), int(column >= least)] += of_three[:, row, column]

    def measure(sums: F8) -> Mapping[str, F8]:
        """Return the ratios of tables, and the share of judgements that are in the category."""
        # how many annotators put the cells of each place of the table into the category
        judgements = sums @ np.array([0.0, 1.0, 1.0, 2.0])
        return table_ratios(sums) | {"prevalence": ratio(judgements, 2 * sums.sum(axis=1))}

    return Rows(of_two.reshape(-1, 4), measure)


_RATIOS = ("observed", "kappa", "ac1")
_BINARY = (*_RATIOS, "prevalence")

CELLS = (
    Statistic("cells.all", _RATIOS, _whole_rows),
    Statistic("cells.possible", _BINARY, partial(_binary_rows, least=1)),
    Statistic("cells.sure", _BINARY, partial(_binary_rows, least=2)),
)
"""Kappa and AC1 over cells; the prevalence is that of the links."""
