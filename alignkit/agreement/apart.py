"""Who stands apart: the two groups of annotators that differ most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan

import numpy as np
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from alignkit.agreement.figures import Pairing
from alignkit.agreement.numbers import Numbers, all_f1
from alignkit.tables.columns import Value


def sides_of(
    names: Sequence[str], pairings: Sequence[Pairing]
) -> tuple[list[str], list[str]] | None:
    """Return the two groups of annotators that differ most by F1 of all links; see `sides_by`."""
    return sides_by(names, {two.names: f1.cell for two, f1 in all_f1(pairings).items()})


def sides_by(
    names: Sequence[str], values: Mapping[tuple[str, str], Value]
) -> tuple[list[str], list[str]] | None:
    """Return the two groups of annotators that differ most, the larger first.

    They differ if every F1 within a group is above every F1 across, with its whole interval. None
    if no two groups differ.

    Parameters
    ----------
    names : The annotators.
    values : F1 of every two annotators, with its interval.

    Examples
    --------
    >>> alike, apart = Value(0.9, 0.85, 0.95), Value(0.6, 0.5, 0.7)
    >>> sides_by(["A", "B", "C"], {("A", "B"): alike, ("A", "C"): apart, ("B", "C"): apart})
    (['A', 'B'], ['C'])
    """
    weights = np.zeros((len(names), len(names)))
    for two, value in values.items():
        # the heavier, the less they share; scipy takes 0 for no edge
        row, column = map(names.index, two)
        weights[row, column] = 2 - value.value
    tree = minimum_spanning_tree(weights).toarray()
    best = None
    widest = 0.0
    for edge in zip(*tree.nonzero(), strict=True):
        cut = tree.copy()
        cut[edge] = 0
        count, labels = connected_components(cut, directed=False)
        if count != 2:
            continue
        first = [name for name, label in zip(names, labels.tolist(), strict=True) if not label]
        second = [name for name in names if name not in first]
        gap = _gap(first, values)
        if gap > widest:  # false where there is no interval
            widest = gap
            best = (first, second) if len(first) >= len(second) else (second, first)
    return best


def parted(numbers: Numbers, side: Sequence[str]) -> tuple[Numbers, Numbers]:
    """Return the figures within two groups, and those across; `side` is one of the groups."""
    within = {}
    across = {}
    for two, number in numbers.items():
        if (two.first in side) == (two.second in side):
            within[two] = number
        else:
            across[two] = number
    return within, across


def _gap(side: Sequence[str], values: Mapping[tuple[str, str], Value]) -> float:
    """Return the gap between the lowest bound within two groups and the highest across."""
    within = []
    across = []
    for (first, second), value in values.items():
        if (first in side) == (second in side):
            within.append(value.low)
        else:
            across.append(value.high)
    return min(within, default=nan) - max(across, default=nan)
