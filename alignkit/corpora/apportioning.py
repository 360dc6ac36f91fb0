"""Divide groups of different sizes into parts with given shares, as closely as possible.

Groups are assigned to parts by size, then moved and exchanged while the shares get closer.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

# divisions that are tried: of many groups, and of few
_TRIES = 12
_MORE = 100
_FEW = 60  # groups
_EVERY = 4096  # divisions that are all tried
_LOOKED_AT = 192  # groups on either side of an exchange
_TOTAL = 10.0  # weight of the whole against one stratum


def divide_evenly(strata: Sequence[int], shares: Sequence[float]) -> list[list[int]]:
    """Return how many of each stratum go into each part: [[3, 2], [2, 3]] for [5, 5] in halves."""
    owed = np.zeros(len(shares))
    divided = []
    for size in strata:
        exact = np.multiply(shares, size)
        counts = (exact + 1e-9).astype(int)
        owed += exact - counts
        places = np.flatnonzero(exact - counts > 1e-9)
        places = places[np.argsort(-owed[places], kind="stable")][: size - counts.sum()]
        counts[places] += 1
        owed[places] -= 1
        divided.append(counts.tolist())
    return divided


def divide_groups(
    sizes: NDArray[np.integer], shares: Sequence[float], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the part (G,) of each group, given its size in each stratum (G, S)."""
    counts = np.asarray(sizes, np.int64)
    totals = counts.sum(axis=1)
    # what a part holds is compared in these columns: the total, and each of several strata
    features = _TOTAL * totals[:, None].astype(np.float64)
    if counts.shape[1] > 1:
        scaled = counts / np.sqrt(np.maximum(counts.sum(axis=0), 1))
        features = np.concatenate([features, scaled], axis=1)
    wanted = np.multiply.outer(shares, features.sum(axis=0))

    def misfit(parts: NDArray[np.int64]) -> tuple[float, float]:
        held = np.stack([np.bincount(parts, column, len(shares)) for column in features.T], 1)
        distances = np.abs(held - wanted)
        return round(distances[:, 0].max() / _TOTAL, 9), float((distances**2).sum())

    best = None
    every = len(shares) ** len(counts)
    for _ in range(_MORE if every > _EVERY and len(counts) <= _FEW else _TRIES):
        parts = _improved(_dealt(totals, wanted[:, 0] / _TOTAL, rng), features, wanted, rng)
        best = parts if best is None else min(best, parts, key=misfit)
        if misfit(best)[0] <= 0.5 and counts.shape[1] == 1:
            return best
    assert best is not None
    if misfit(best)[0] > 0.5 and every <= _EVERY:
        divisions = product(range(len(shares)), repeat=len(counts))
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
        parts[group] = part = min(int(part), len(room) - 1)
        room[part] -= totals[group]
    return parts


def _improved(
    parts: NDArray[np.int64],
    features: NDArray[np.float64],
    wanted: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Move and exchange groups between two parts until no such step improves the shares."""
    held = np.zeros(wanted.shape)
    np.add.at(held, parts, features)
    pairs = [(a, b) for a in range(len(held)) for b in range(a)]
    idle = 0
    while idle < 2 * len(pairs):
        a, b = pairs[rng.integers(len(pairs))]
        mine, theirs = (
            places if len(places) <= _LOOKED_AT else rng.choice(places, _LOOKED_AT, replace=False)
            for places in (np.flatnonzero(parts == a), np.flatnonzero(parts == b))
        )
        given, taken = (np.pad(features[places], ((1, 0), (0, 0))) for places in (mine, theirs))
        # half of |over - d|^2 + |under + d|^2 - |over|^2 - |under|^2, d what goes from a to b
        lean = (held[a] - wanted[a]) - (held[b] - wanted[b])
        change = np.add.outer(
            (given**2).sum(axis=1) - given @ lean, (taken**2).sum(axis=1) + taken @ lean
        ) - 2 * (given @ taken.T)
        i, j = divmod(int(change.argmin()), len(taken))
        if change[i, j] >= -1e-6:
            idle += 1
            continue
        idle = 0
        held[a] += taken[j] - given[i]
        held[b] += given[i] - taken[j]
        parts[mine[i - 1 : i]], parts[theirs[j - 1 : j]] = b, a
    return parts
