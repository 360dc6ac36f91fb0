"""Who stands apart: the two groups of annotators that differ most."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import nan

import numpy as np
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from alignkit.agreement.figures import Pairing
from alignkit.agreement.numbers import ALL, f1_of


def sides_of(
    names: Sequence[str], pairings: Sequence[Pairing]
) -> tuple[list[str], list[str]] | None:
    """Return the two groups of annotators that differ most, the larger first.

    They differ if every F1 within a group is above every F1 across, with its whole interval. None
    if no two groups differ.
    """
    weights = np.zeros((len(names), len(names)))
    for two in pairings:  # the heavier, the less they share; scipy takes 0 for no edge
        weights[names.index(two.first), names.index(two.second)] = 2 - f1_of(two, ALL).value
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
        gap = _gap(first, pairings)
        if gap > widest:  # false where there is no interval
            widest = gap
            best = (first, second) if len(first) >= len(second) else (second, first)
    return best


def parted(twos: Iterable[Pairing], side: Sequence[str]) -> tuple[list[Pairing], list[Pairing]]:
    """Return the pairings within two groups, and those across; `side` is one of the groups."""
    within: list[Pairing] = []
    across: list[Pairing] = []
    for two in twos:
        if (two.first in side) == (two.second in side):
            within.append(two)
        else:
            across.append(two)
    return within, across


def _gap(side: Sequence[str], pairings: Iterable[Pairing]) -> float:
    """Return the gap between the lowest bound within two groups and the highest across."""
    within, across = parted(pairings, side)
    low = min((f1_of(two, ALL).bounds[0] for two in within), default=nan)
    return low - max((f1_of(two, ALL).bounds[1] for two in across), default=nan)
