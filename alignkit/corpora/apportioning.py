"""Divide strata or whole groups into parts with given shares, as closely as possible.

*Strata* can be cut anywhere (`divide_evenly`). *Groups* stay whole (`divide_groups`): they are
assigned to parts at random, in proportion to the room that is left, then moved and exchanged
between parts while the shares get closer; the best of several such tries is kept.

How close a division is depends on the features of each group: its size, and its size in each
stratum if there are several. The features of a part are the sums over its groups, and what is
wanted of a part is its share of the sums over all groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from alignkit._support.array_types import F8, I8

_TRIES = 12  # random divisions of many groups
_MORE_TRIES = 100  # random divisions of few groups
_FEW = 60  # groups, at most
_ALL_TRIED = 4096  # if there are at most so many divisions, all are tried
_LOOKED_AT = 192  # groups of each of two parts, at most, in a step
_SIZE_WEIGHT = 10.0  # of the size of a group, compared with that in one stratum


def divide_evenly(strata: Sequence[int], shares: Sequence[float]) -> list[list[int]]:
    """Return how many of each stratum go into each part: [[3, 2], [2, 3]] for [5, 5] in halves."""
    owed = np.zeros(len(shares))  # what rounding took from each part so far
    divided = []
    for size in strata:
        exact = np.multiply(shares, size)
        counts = (exact + 1e-9).astype(int)
        fractions = exact - counts
        owed += fractions
        # what rounding down left over goes to the parts that are owed most, if their share of this
        # stratum is not whole
        left_over = size - counts.sum()
        fractional = np.flatnonzero(fractions > 1e-9)
        by_debt = np.argsort(-owed[fractional], kind="stable")
        rounded_up = fractional[by_debt][:left_over]
        counts[rounded_up] += 1
        owed[rounded_up] -= 1
        divided.append(counts.tolist())
    return divided


def divide_groups(
    sizes: NDArray[np.integer], shares: Sequence[float], rng: np.random.Generator
) -> I8:
    """Return the part (G,) of each group, given its size in each stratum (G, S)."""
    counts = np.asarray(sizes, np.int64)
    n_groups, n_strata = counts.shape
    group_sizes = counts.sum(axis=1)
    features = _SIZE_WEIGHT * group_sizes[:, None].astype(np.float64)
    if n_strata > 1:
        scaled = counts / np.sqrt(np.maximum(counts.sum(axis=0), 1))
        features = np.concatenate([features, scaled], axis=1)
    wanted = np.multiply.outer(shares, features.sum(axis=0))
    room = wanted[:, 0] / _SIZE_WEIGHT

    def misfit(parts: I8) -> tuple[float, float]:
        """Return by how many pairs the worst part is off, then the squared distance of all."""
        columns = [np.bincount(parts, column, len(shares)) for column in features.T]
        distances = np.abs(np.stack(columns, axis=1) - wanted)
        pairs_off = distances[:, 0].max() / _SIZE_WEIGHT
        return round(pairs_off, 9), float((distances**2).sum())

    def is_close(parts: I8) -> bool:
        """Return whether the sizes of all parts are those wanted, rounded."""
        pairs_off, _ = misfit(parts)
        return pairs_off <= 0.5

    n_divisions = len(shares) ** n_groups
    if n_divisions > _ALL_TRIED and n_groups <= _FEW:
        tries = _MORE_TRIES
    else:
        tries = _TRIES
    best = None
    for _ in range(tries):
        parts = _improved(_dealt(group_sizes, room, rng), features, wanted, rng)
        if best is None:
            best = parts
        else:
            best = min(best, parts, key=misfit)
        if n_strata == 1 and is_close(best):
            return best
    assert best is not None
    if not is_close(best) and n_divisions <= _ALL_TRIED:
        divisions = product(range(len(shares)), repeat=n_groups)
        best = min(map(np.array, divisions), key=misfit)
    return best


def _dealt(sizes: I8, room: F8, rng: np.random.Generator) -> I8:
    """Assign groups in random order to parts, with probability by the room that is left."""
    room = room.copy()
    parts = np.zeros(len(sizes), np.int64)
    for group in rng.permutation(len(sizes)):
        odds = np.maximum(room, 0).cumsum()
        if odds[-1]:
            part = odds.searchsorted(rng.random() * odds[-1], "right")
        else:  # all parts are full
            part = room.argmax()
        part = min(int(part), len(room) - 1)  # a rounded product may be odds[-1] itself
        parts[group] = part
        room[part] -= sizes[group]
    return parts


def _improved(
    parts: I8,
    features: F8,
    wanted: F8,
    rng: np.random.Generator,
) -> I8:
    """Move and exchange groups between two parts until steps no longer improve the shares.

    Each step takes two parts at random, and makes the best of all exchanges of a group of part `a`
    for a group of part `b`. It ends after twice as many steps without effect as there are two parts
    to choose. The squared distance of the two parts from what is wanted is |over|^2 + |under|^2, if
    `a` has too much by `over`, and `b` by `under`. If `a` gives g and takes t, with d = g - t, this
    grows by |over - d|^2 + |under + d|^2 - |over|^2 - |under|^2 = 2 (|d|^2 - d (over - under)).
    Half of it is (|g|^2 - g lean) + (|t|^2 + t lean) - 2 g t, with lean = over - under.
    """
    held = np.zeros(wanted.shape)
    np.add.at(held, parts, features)
    two_parts = [(a, b) for a in range(len(held)) for b in range(a)]
    steps_without_effect = 0
    while steps_without_effect < 2 * len(two_parts):
        a, b = two_parts[rng.integers(len(two_parts))]
        in_a = _looked_at(np.flatnonzero(parts == a), rng)
        in_b = _looked_at(np.flatnonzero(parts == b), rng)
        # row 0 is no group at all: with it, an exchange is a move
        given = np.pad(features[in_a], ((1, 0), (0, 0)))
        taken = np.pad(features[in_b], ((1, 0), (0, 0)))
        lean = (held[a] - wanted[a]) - (held[b] - wanted[b])
        of_given = (given**2).sum(axis=1) - given @ lean
        of_taken = (taken**2).sum(axis=1) + taken @ lean
        change = np.add.outer(of_given, of_taken) - 2 * (given @ taken.T)
        i, j = divmod(int(change.argmin()), len(taken))
        if change[i, j] >= -1e-6:
            steps_without_effect += 1
            continue
        steps_without_effect = 0
        held[a] += taken[j] - given[i]
        held[b] += given[i] - taken[j]
        if i:
            parts[in_a[i - 1]] = b
        if j:
            parts[in_b[j - 1]] = a
    return parts


def _looked_at(places: I8, rng: np.random.Generator) -> I8:
    """Return the places, or as many of them as are looked at, drawn at random."""
    if len(places) <= _LOOKED_AT:
        return places
    return rng.choice(places, _LOOKED_AT, replace=False)
