"""Compute Cohen's kappa and Gwet's AC1 from a table of two annotators' categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

from alignkit.agreement.whole_numbers import whole_numbers
from alignkit.arguments import every
from alignkit.errors import OptionError

__all__ = ["Contingency", "cohen_kappa", "gwet_ac1"]

Table = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Contingency:
    """Hold how two annotators put the same items into Q categories, and what follows.

    Parameters
    ----------
    categories
        The Q names.
    table
        Q x Q counts: row, the category of the first annotator; column, that of the second.
    items
        The sum of the table.
    observed
        The share of items with the same category; NaN without items.
    kappa
        Cohen's kappa; NaN where undefined, see `cohen_kappa`.
    ac1
        Gwet's AC1; NaN where undefined, see `gwet_ac1`.
    prevalence
        For each category its share of all 2 x items judgements; NaN without items.
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
        """Compute everything from the table.

        Raises
        ------
        OptionError
            If the table is not Q x Q counts.
        """
        counts = _checked(table)
        if len(categories) != len(counts):
            raise OptionError(f"{len(categories)} categories for a table of {len(counts)}")
        items = sum(map(sum, counts))
        shares = [total / (2 * items) if items else nan for total in _totals(counts)]
        return cls(
            tuple(categories),
            counts,
            items,
            _diagonal(counts) / items if items else nan,
            cohen_kappa(counts),
            gwet_ac1(counts),
            tuple(shares),
        )

    def collapse(self, name: str, rest: str, *, categories: Sequence[str]) -> Contingency:
        """Return the 2 x 2 table of some `categories`, as `name`, against the `rest`.

        Raises
        ------
        OptionError
            If a category is not among those of the table.
        """
        unknown = [one for one in categories if one not in self.categories]
        if unknown:
            raise OptionError(f"no category {unknown[0]!r}; there are {', '.join(self.categories)}")
        sums = [[0, 0], [0, 0]]
        for row, first in zip(self.table, self.categories, strict=True):
            for count, second in zip(row, self.categories, strict=True):
                sums[first in categories][second in categories] += count
        return Contingency.of((rest, name), sums)


def cohen_kappa(table: Table) -> float:
    """Return Cohen's kappa of a Q x Q table of counts.

    kappa = (observed - expected) / (1 - expected), where expected is the sum over the categories
    of the product of the two annotators' own shares. It is NaN without items, and where both
    annotators put every item into one and the same category (expected = 1).

    Raises
    ------
    OptionError
        If the table is not Q x Q counts.

    Examples
    --------
    >>> round(cohen_kappa([[20, 5], [10, 15]]), 3)
    0.4

    References
    ----------
    Cohen 1960, A coefficient of agreement for nominal scales, Educational and Psychological
    Measurement 20:37-46, https://doi.org/10.1177/001316446002000104.
    """
    counts = _checked(table)
    items = sum(map(sum, counts))
    columns = [sum(column) for column in zip(*counts, strict=True)]
    # whole numbers until the last line: an expected agreement of 1 is met exactly
    chance = sum(sum(row) * column for row, column in zip(counts, columns, strict=True))
    beyond = items * items - chance
    return (items * _diagonal(counts) - chance) / beyond if beyond else nan


def gwet_ac1(table: Table) -> float:
    """Return Gwet's AC1 of a Q x Q table of counts.

    AC1 = (observed - expected) / (1 - expected) with expected = sum pi_q (1 - pi_q) / (Q - 1),
    where pi_q is the share of category q among the judgements of both annotators. It is defined
    whenever there are items, for expected is at most 1/Q; without items it is NaN.

    Raises
    ------
    OptionError
        If the table is not Q x Q counts.

    Examples
    --------
    Where one category is rare, kappa is low although 118 of 125 judgements agree (Gwet 2008).

    >>> table = [[118, 5], [2, 0]]
    >>> round(gwet_ac1(table), 2), round(cohen_kappa(table), 2)
    (0.94, -0.02)

    References
    ----------
    Gwet 2008, Computing inter-rater reliability and its variance in the presence of high
    agreement, British Journal of Mathematical and Statistical Psychology 61:29-48,
    https://doi.org/10.1348/000711006X126600.
    """
    counts = _checked(table)
    items = sum(map(sum, counts))
    if not items:
        return nan
    shares = [total / (2 * items) for total in _totals(counts)]
    chance = sum(share * (1 - share) for share in shares) / (len(counts) - 1)
    return (_diagonal(counts) / items - chance) / (1 - chance)


def _checked(table: Table) -> tuple[tuple[int, ...], ...]:
    rows: tuple[object, ...] = every("the table", table, object)
    counts = tuple(tuple(whole_numbers("a row of the table", row, 1).tolist()) for row in rows)
    if len(counts) < 2 or any(len(row) != len(counts) for row in counts):
        raise OptionError("a contingency table needs as many rows as columns, two or more")
    if min(map(min, counts)) < 0:
        raise OptionError("a contingency table holds counts, none below 0")
    return counts


def _diagonal(counts: tuple[tuple[int, ...], ...]) -> int:
    return sum(row[place] for place, row in enumerate(counts))


def _totals(counts: tuple[tuple[int, ...], ...]) -> list[int]:
    """Count the judgements of both annotators in each category."""
    return [
        sum(row) + sum(column)
        for row, column in zip(counts, zip(*counts, strict=True), strict=True)
    ]
