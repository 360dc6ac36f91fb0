"""Divide groups of different sizes into parts with given shares, as closely as possible.

Groups are assigned to parts by size, then moved and exchanged while the shares get closer.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

_TRIES = 12  # random divisions of many groups
_MORE_TRIES = 100  # random divisions of few groups
_FEW = 60  # groups
_EVERY = 4096  # at most so many divisions are all tried
_LOOKED_AT = 192  # groups on either side of an exchange
_TOTAL = 10.0  # weight of the whole against one stratum


def divide_evenly(strata: Sequence[int], shares: Sequence[float]) -> list[list[int]]:
    """Return how many of each stratum go into each part: [[3, 2], [2, 3]] for [5, 5] in halves."""
    owed = np.zeros(len(shares))
    divided = []
    for size in strata:
        exact = np.multiply(shares, size)
        counts = (exact + 1e-9).astype(int)
        fractions = exact - counts
        owed += fractions
        # what rounding down left over goes to the parts that are owed most
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
) -> NDArray[np.int64]:
    """Return the part (G,) of each group, given its size in each stratum (G, S)."""
    counts = np.asarray(sizes, np.int64)
    n_groups, n_strata = counts.shape
    totals = counts.sum(axis=1)
    # what a part holds is compared in these columns: the total, and each of several strata
    features = _TOTAL * totals[:, None].astype(np.float64)
    if n_strata > 1:
        scaled = counts / np.sqrt(np.maximum(counts.sum(axis=0), 1))
        features = np.concatenate([features, scaled], axis=1)
    wanted = np.multiply.outer(shares, features.sum(axis=0))
    room = wanted[:, 0] / _TOTAL

    def misfit(parts: NDArray[np.int64]) -> tuple[float, float]:
        """Return by how many pairs the worst part is off, then the squared distance of all."""
        columns = [np.bincount(parts, column, len(shares)) for column in features.T]
        distances = np.abs(np.stack(columns, axis=1) - wanted)
        pairs_off = distances[:, 0].max() / _TOTAL
        return round(pairs_off, 9), float((distances**2).sum())

    n_divisions = len(shares) ** n_groups
    if n_divisions > _EVERY and n_groups <= _FEW:
        tries = _MORE_TRIES
    else:
        tries = _TRIES
    best = None
    for _ in range(tries):
        parts = _improved(_dealt(totals, room, rng), features, wanted, rng)
        if best is None:
            best = parts
        else:
            best = min(best, parts, key=misfit)
        if misfit(best)[0] <= 0.5 and n_strata == 1:
            return best
    assert best is not None
    if misfit(best)[0] > 0.5 and n_divisions <= _EVERY:
        divisions = product(range(len(shares)), repeat=n_groups)
        best = min(map(np.array, divisions), key=misfit)
    return best


def _dealt(
    totals: NDArray[np.int64], room: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Assign groups in random order to parts, with probability by the room that is left."""
    room = room.copy()
    parts = np.zeros(len(totals), np.int64)
    for group in rng.permutation(len(totals)):
        odds = np.maximum(room, 0).cumsum()
        if odds[-1]:
            part = odds.searchsorted(rng.random() * odds[-1], "right")
        else:
            part = room.argmax()
        part = min(int(part), len(room) - 1)
        parts[group] = part
        room[part] -= totals[group]
    return parts


def _improved(
    parts: NDArray[np.int64],
    features: NDArray[np.float64],
    wanted: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Move and exchange groups between two parts until no such step improves the shares.

    Each step looks at all exchanges of a group of part `a` for one of part `b`, and takes the best.
    """
    held = np.zeros(wanted.shape)
    np.add.at(held, parts, features)
    pairs = [(a, b) for a in range(len(held)) for b in range(a)]
    idle = 0
    while idle < 2 * len(pairs):
        a, b = pairs[rng.integers(len(pairs))]
        in_a = _at_most(_LOOKED_AT, np.flatnonzero(parts == a), rng)
        in_b = _at_most(_LOOKED_AT, np.flatnonzero(parts == b), rng)
        # row 0 is no group at all: with it, an exchange is a move
        given = np.pad(features[in_a], ((1, 0), (0, 0)))
        taken = np.pad(features[in_b], ((1, 0), (0, 0)))
        # half of |over - d|^2 + |under + d|^2 - |over|^2 - |under|^2, d what goes from a to b
        lean = (held[a] - wanted[a]) - (held[b] - wanted[b])
        of_given = (given**2).sum(axis=1) - given @ lean
        of_taken = (taken**2).sum(axis=1) + taken @ lean
        change = np.add.outer(of_given, of_taken) - 2 * (given @ taken.T)
        i, j = divmod(int(change.argmin()), len(taken))
        if change[i, j] >= -1e-6:
            idle += 1
            continue
        idle = 0
        held[a] += taken[j] - given[i]
        held[b] += given[i] - taken[j]
        if i:
            parts[in_a[i - 1]] = b
        if j:
            parts[in_b[j - 1]] = a
    return parts


def _at_most(number: int, places: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the places, or so many of them drawn at random."""
    if len(places) <= number:
        return places
    return rng.choice(places, number, replace=False)
