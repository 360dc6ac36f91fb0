"""Maximize a binomial likelihood whose rate is linear, under its constraints, exactly.

With t running from 0 to 1 over the range of x, the rate is p = mu / c with mu = (1 - t) u + t v,
and the log-likelihood sum h log p + f log(1 - p) over hits h and failures f is concave in (u, v).
mu >= 0 everywhere is u, v >= 0; mu <= c everywhere is mu <= c at the corners of the lower convex
hull of the points (t, c). So (u, v) lies in a small polygon. If the optimum is inside, Newton's
method finds it; if not, it lies on an edge, and on each edge it is a search in one dimension.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

__all__ = ["maximize"]

Floats = NDArray[np.float64]

_STEPS = 100
_BARRIERS = (1.0, 1e-2, 1e-4, 1e-6)


def maximize(x: Floats, limits: Floats, hits: Floats, failures: Floats) -> tuple[float, float]:
    """Return the a and b of mu = a + b x that make p = mu / limit most likely.

    Parameters
    ----------
    x, limits, hits, failures
        (F,): at least one, limits above 0, hits + failures above 0. They may be weighted.

    Returns
    -------
    a, b
        b is 0 where all x are equal.
    """
    low, high = x.min(), x.max()
    data = _Data.group((x - low) / (high - low) if high > low else np.zeros_like(x), limits,
                       hits, failures)  # fmt: skip
    if high == low:
        mu = data.along(np.zeros(2), np.ones(2), 0.0, float(data.limits.min()))
        return float(mu[0]), 0.0
    edges = data.edges()
    best, found = data.inside(edges)
    if not found:
        bounds = (data.on_edge(edge, edges) for edge in edges)
        best = max([best, *(point for point in bounds if point is not None)], key=data.likelihood)
    u, v = best.tolist()
    b = (v - u) / float(high - low)
    return u - b * float(low), b


class _Data:
    """Hold the distinct (t, limit) with their hits and failures."""

    def __init__(self, t: Floats, limits: Floats, hits: Floats, failures: Floats) -> None:
        self.t, self.limits, self.hits, self.failures = t, limits, hits, failures
        self.design = np.stack([1 - t, t], axis=1)

    @classmethod
    def group(cls, t: Floats, limits: Floats, hits: Floats, failures: Floats) -> _Data:
        order = np.lexsort((limits, t))
        t, limits = t[order], limits[order]
        new = np.ones(len(t), bool)
        new[1:] = (t[1:] != t[:-1]) | (limits[1:] != limits[:-1])
        starts = np.flatnonzero(new)
        sums = (np.add.reduceat(part[order], starts) for part in (hits, failures))
        return cls(t[starts], limits[starts], *sums)

    def likelihood(self, point: Floats) -> float:
        p = np.clip(self.design @ point / self.limits, 0.0, 1.0)
        return float((xlogy(self.hits, p) + xlog1py(self.failures, -p)).sum())

    def edges(self) -> list[tuple[float, float]]:
        """Return the (t, c) where mu(t) may reach 0, then those where it may reach a limit."""
        corners: list[tuple[float, float]] = []
        for t, c in zip(self.t.tolist(), self.limits.tolist(), strict=True):
            if corners and corners[-1][0] == t:
                continue  # sorted: the first limit of a t is the least
            while len(corners) > 1 and _not_below(corners[-2], corners[-1], (t, c)):
                corners.pop()
            corners.append((t, c))
        return [(0.0, 0.0), (1.0, 0.0), *corners]

    def inside(self, edges: list[tuple[float, float]]) -> tuple[Floats, bool]:
        """Look for an optimum inside; return the last point, and whether it is one.

        Newton's method goes there straight, unless a wall is in the way: then a barrier, weaker in
        each round, leads around it.
        """
        least = float(self.limits.min())
        mean = float(self.hits.sum() / ((self.hits + self.failures) / self.limits).sum())
        point = np.full(2, min(max(mean, 0.01 * least), 0.9 * least))
        walls = np.array([[1 - t, t] if c == 0 else [t - 1, -t] for t, c in edges])
        room = np.array([c for _, c in edges])
        last, found = self._climb(point, walls, room, 0.0)
        if found:
            return last, True
        for barrier in _BARRIERS:
            point, _ = self._climb(point, walls, room, barrier)
        return self._climb(point, walls, room, 0.0)

    def _climb(
        self, point: Floats, walls: Floats, room: Floats, barrier: float
    ) -> tuple[Floats, bool]:
        """Take damped Newton steps up the likelihood plus barrier * sum(log(slack of a wall))."""

        def height(point: Floats) -> float:
            slack = np.log(walls @ point + room).sum() if barrier else 0.0
            return self.likelihood(point) + barrier * float(slack)

        value = height(point)
        for _ in range(_STEPS):
            mu, slack = self.design @ point, walls @ point + room
            rest = self.limits - mu
            slope = self.design.T @ (self.hits / mu - self.failures / rest)
            bend = (self.design.T * (self.hits / mu**2 + self.failures / rest**2)) @ self.design
            slope += barrier * (walls.T @ (1 / slack))
            bend += barrier * ((walls.T / slack**2) @ walls)
            step = np.linalg.solve(bend, slope)
            gain = float(slope @ step)
            if gain < 1e-18 * (1 + abs(value)):
                return point, True
            toward = -(walls @ step)
            size = min(1.0, 0.95 * float(np.min(slack[toward > 0] / toward[toward > 0], initial=2)))
            if size < 1e-6:
                return point, False
            trial = point + size * step
            found = height(trial)
            # near the optimum Newton's steps are safe, and gains are too small to be compared
            while gain > 0.01 and found < value + 0.1 * size * gain:
                size /= 2
                trial = point + size * step
                found = height(trial)
            point, value = trial, found
        return point, False

    def on_edge(self, edge: tuple[float, float], edges: list[tuple[float, float]]) -> Floats | None:
        """Return the best point of an edge, None where the likelihood is 0 all along it."""
        t, c = edge
        here = self.t == t
        if np.any((self.hits if c == 0 else self.failures)[here & ((c == 0) | (self.limits == c))]):
            return None
        origin, way = np.full(2, c), np.array([-t, 1 - t])
        low, high = -np.inf, np.inf
        for place, limit in edges:
            if (place, limit) == edge:
                continue
            sign = 1.0 if limit == 0 else -1.0
            slack = sign * (c - limit)
            toward = sign * float((1 - place) * way[0] + place * way[1])
            if toward > 0:
                low = max(low, -slack / toward)
            elif toward < 0:
                high = min(high, -slack / toward)
            elif slack < 0:
                return None
        return self.along(origin, way, low, high) if low <= high else None

    def along(self, origin: Floats, way: Floats, low: float, high: float) -> Floats:
        """Return the best point of a segment; its ends are tried exactly."""
        base, rate = self.design @ origin, self.design @ way
        above, below = self.hits > 0, self.failures > 0
        left, right = low, high
        for _ in range(_STEPS):
            middle = (left + right) / 2
            if not left < middle < right:
                break
            mu = base + middle * rate
            rest = self.limits - mu
            with np.errstate(divide="ignore", invalid="ignore"):  # rounding, next to a corner
                slope = (rate * self.hits)[above] @ (1 / mu[above])
                slope -= (rate * self.failures)[below] @ (1 / rest[below])
            left, right = (middle, right) if slope > 0 else (left, middle)
        points = [origin + place * way for place in (low, high, (left + right) / 2)]
        return max(points, key=self.likelihood)


def _not_below(
    one: tuple[float, float], middle: tuple[float, float], other: tuple[float, float]
) -> bool:
    """Say whether the middle corner lies on or above the line between the two others."""
    return (middle[1] - one[1]) * (other[0] - one[0]) >= (other[1] - one[1]) * (middle[0] - one[0])
