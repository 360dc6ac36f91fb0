"""Divide things of different sizes into parts whose sums are as near to what is asked as can be.

Few things are divided exactly, by going through all sums that can be reached (dynamic programming,
as for subset sums); many by search from random beginnings, where what is left over is less than a
small thing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_STATES = 800_000_000  # bits of the table of sums, 100 MB
_FEW = 500  # things that the table is made for
_DEEP = 4  # parts, beside the largest, likewise
_TRIES = 12
_LOOKED_AT = 192  # things on either side of an exchange
_TOTAL = 10.0  # weight of the whole against one stratum

Sizes = NDArray[np.int64]
Numbers = NDArray[np.float64]


def divide_evenly(strata: Sequence[int], shares: Sequence[float]) -> list[list[int]]:
    """Return how many of each stratum come into each part.

    Each number is the exact one, rounded up or down; which, is chosen so that the parts have the
    shares asked for when strata are added up.

    Examples
    --------
    >>> divide_evenly([5, 5], [0.5, 0.5])
    [[3, 2], [2, 3]]
    """
    owed = [0.0] * len(shares)
    found = []
    for size in strata:
        exact = [share * size for share in shares]
        counts = [int(value + 1e-9) for value in exact]
        owed = [debt + value - n for debt, value, n in zip(owed, exact, counts, strict=True)]
        open_parts = [k for k, value in enumerate(exact) if value - counts[k] > 1e-9]
        open_parts.sort(key=lambda k: -owed[k])
        for k in open_parts[: size - sum(counts)]:
            counts[k] += 1
            owed[k] -= 1
        found.append(counts)
    return found


def divide_groups(
    sizes: NDArray[np.integer], shares: Sequence[float], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the part (G,) of each group, such that parts have the shares asked for."""
    counts = np.asarray(sizes, np.int64)
    search = _Search(counts, np.asarray(shares, np.float64), rng)
    best = search.random()
    for _ in range(_TRIES):
        if search.misfit(best) <= 0.5 and counts.shape[1] == 1:
            return best
        best = search.better(best, search.random())
    if search.misfit(best) > 0.5 and len(counts) <= _FEW and len(shares) - 1 <= _DEEP:
        exact = _by_sums(counts.sum(axis=1), search.targets.sum(axis=1), search.misfit(best), rng)
        if exact is not None:
            best = search.better(best, exact)
            best = search.better(best, search.improved(exact))
    return best


class _Search:
    """Look for a division by moving and exchanging groups."""

    def __init__(self, counts: Sizes, shares: Numbers, rng: np.random.Generator) -> None:
        self.counts, self.rng = counts, rng
        self.targets = shares[:, None] * counts.sum(axis=0)[None, :]
        features = [_TOTAL * counts.sum(axis=1, keepdims=True)]
        if counts.shape[1] > 1:
            features.append(counts / np.sqrt(np.maximum(counts.sum(axis=0), 1))[None, :])
        self._features: Numbers = np.concatenate(features, axis=1).astype(np.float64)
        self._wanted = shares[:, None] * self._features.sum(axis=0)[None, :]

    def misfit(self, parts: Sizes) -> float:
        """Return the largest difference of a part from what it should hold, in things."""
        held = np.bincount(parts, self.counts.sum(axis=1), len(self.targets))
        return float(np.abs(held - self.targets.sum(axis=1)).max())

    def better(self, one: Sizes, other: Sizes) -> Sizes:
        """Return the better one of two divisions."""
        return min(one, other, key=lambda parts: (self.misfit(parts), self._distance(parts)))

    def random(self) -> Sizes:
        """Return a division made at random, in proportion to what is left, and improved."""
        sizes = self.counts.sum(axis=1)
        left = self.targets.sum(axis=1)
        parts = np.zeros(len(sizes), np.int64)
        for group in self.rng.permutation(len(sizes)):
            room = np.maximum(left, 0.0)
            total = room.sum()
            part = (
                int(np.searchsorted(np.cumsum(room), self.rng.random() * total, side="right"))
                if total > 0
                else int(left.argmax())
            )
            parts[group] = min(part, len(left) - 1)
            left[parts[group]] -= sizes[group]
        return self.improved(parts)

    def improved(self, parts: Sizes) -> Sizes:
        """Return what moves and exchanges of groups make of a division, until none is good."""
        parts = parts.copy()
        held = self._held(parts)
        idle, pairs = 0, [(a, b) for a in range(len(held)) for b in range(a)]
        while idle < 2 * len(pairs):
            idle += 1
            a, b = pairs[int(self.rng.integers(len(pairs)))] if len(pairs) > 1 else pairs[0]
            step = self._step(parts, held, a, b)
            if step is None:
                continue
            for group, part in step:
                held[parts[group]] -= self._features[group]
                held[part] += self._features[group]
                parts[group] = part
            idle = 0
        return parts

    def _step(self, parts: Sizes, held: Numbers, a: int, b: int) -> list[tuple[int, int]] | None:
        """Return the best move or exchange of groups between two parts, None where none is good."""
        mine, theirs = self._some(parts == a), self._some(parts == b)
        nothing = np.zeros((1, self._features.shape[1]))
        given = np.concatenate([nothing, self._features[mine]])
        taken = np.concatenate([nothing, self._features[theirs]])
        over, under = held[a] - self._wanted[a], held[b] - self._wanted[b]
        # half of |over - d|^2 + |under + d|^2 - |over|^2 - |under|^2, d what goes from a to b
        lean = over - under
        own = (given**2).sum(axis=1) - given @ lean
        back = (taken**2).sum(axis=1) + taken @ lean
        change = own[:, None] + back[None, :] - 2 * (given @ taken.T)
        first, second = divmod(int(change.argmin()), len(taken))
        if change[first, second] >= -1e-6:
            return None
        step = [(int(mine[first - 1]), b)] if first else []
        return step + ([(int(theirs[second - 1]), a)] if second else [])

    def _some(self, chosen: NDArray[np.bool_]) -> Sizes:
        found = np.flatnonzero(chosen)
        if len(found) > _LOOKED_AT:
            found = self.rng.choice(found, _LOOKED_AT, replace=False)
        return found

    def _held(self, parts: Sizes) -> Numbers:
        held: Numbers = np.zeros(self._wanted.shape)
        np.add.at(held, parts, self._features)
        return held

    def _distance(self, parts: Sizes) -> float:
        return float(((self._held(parts) - self._wanted) ** 2).sum())


def _by_sums(
    sizes: Sizes, targets: Numbers, known: float, rng: np.random.Generator
) -> Sizes | None:
    """Return the best division of all, None where too many sums would have to be looked at.

    A table says which sums the parts but the largest can have, group after group; those that differ
    by more from what is asked than a division that is known are left out.
    """
    order = rng.permutation(len(sizes))
    largest = int(targets.argmax())
    small = [k for k in range(len(targets)) if k != largest]
    unit, shape = _scale(targets[small], known, len(sizes))
    if unit * np.sqrt(len(sizes)) > 4 * known + 1:
        return None  # so coarse that search is better
    scaled = np.maximum(1, np.rint(sizes / unit)).astype(np.int64) if unit > 1 else sizes
    layers = _reached(scaled[order], shape)
    last = np.unpackbits(layers[-1], count=int(np.prod(shape))).astype(bool).reshape(shape)
    sums = np.argwhere(last)
    misfits = np.abs(sums * unit - targets[small])
    rest = np.abs((sizes.sum() - sums.sum(axis=1) * unit) - targets[largest])
    worst = np.maximum(misfits.max(axis=1), rest)
    best = np.flatnonzero(worst <= worst.min() + 1e-9)
    best = best[np.argsort((misfits[best] ** 2).sum(axis=1) + rest[best] ** 2, kind="stable")]
    place = sums[best[0]]
    parts = np.full(len(sizes), largest, np.int64)
    left_of_largest = float(scaled.sum() - place.sum())
    for k in range(len(sizes) - 1, -1, -1):
        part = _last_part(layers[k], shape, place, int(scaled[order[k]]), left_of_largest, rng)
        if part is None:
            left_of_largest -= float(scaled[order[k]])
        else:
            parts[order[k]] = small[part]
            place[part] -= scaled[order[k]]
    return parts


def _scale(targets: Numbers, known: float, groups: int) -> tuple[int, tuple[int, ...]]:
    """Return the unit in which sums are counted, and the shape of the table of sums."""
    unit = 1
    while True:
        shape = tuple(int((target + known) / unit) + 1 for target in targets)
        if float(np.prod(np.asarray(shape, np.float64))) * groups <= _STATES:
            return unit, shape
        unit *= 2


def _reached(sizes: Sizes, shape: tuple[int, ...]) -> list[NDArray[np.uint8]]:
    """Return, before each group and after the last, which sums can be had; packed to bits."""
    table = np.zeros(shape, bool)
    table[(0,) * len(shape)] = True
    layers = [np.packbits(table)]
    for size in sizes.tolist():
        more = table.copy()  # where the group is in the largest part
        for axis, room in enumerate(shape):
            if size < room:
                to = [slice(None)] * len(shape)
                by = [slice(None)] * len(shape)
                to[axis], by[axis] = slice(size, None), slice(None, room - size)
                more[tuple(to)] |= table[tuple(by)]
        table = more
        layers.append(np.packbits(table))
    return layers


def _last_part(
    layer: NDArray[np.uint8],
    shape: tuple[int, ...],
    place: Sizes,
    size: int,
    left: float,
    rng: np.random.Generator,
) -> int | None:
    """Return in which part a group is by which a sum was reached, None for the largest part.

    Where there are several, the odds are as what the parts hold, so that groups of any size come
    into each.
    """
    found: list[int | None] = []
    odds = []
    if _has(layer, shape, place):
        found, odds = [None], [max(left, 1e-9)]
    for part, held in enumerate(place.tolist()):
        if held >= size:
            before = place.copy()
            before[part] -= size
            if _has(layer, shape, before):
                found.append(part)
                odds.append(float(held))
    total = sum(odds)
    return found[int(rng.choice(len(found), p=[one / total for one in odds]))]


def _has(layer: NDArray[np.uint8], shape: tuple[int, ...], place: Sizes) -> bool:
    at = int(np.ravel_multi_index(tuple(place.tolist()), shape))
    return bool(layer[at >> 3] >> (7 - (at & 7)) & 1)
