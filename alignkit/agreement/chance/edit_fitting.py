"""Find the most probable line mu = a + b x, if the rate of each observation is p = mu / c.

The data are hits and failures at x, with limits c. The log-likelihood sum(hits log p + failures
log(1 - p)) must be maximized over the lines with 0 <= p <= 1 on all data. This is how it is done:

1. With t running from 0 to 1 over the range of x, a line is given by its ends u = mu(0) and
   v = mu(1): mu(t) = (1 - t) u + t v. The likelihood is concave in (u, v) (`Likelihood`).
2. A line that keeps all limits is one that keeps a few of them: mu >= 0 at both ends, and mu <= c
   at the corners of the lower convex hull of the points (t, c). Each is a half-plane of points
   (u, v), so that (u, v) must lie in a polygon with few sides (`Bound`, `bounds_of`).
3. If the maximum is inside of the polygon, Newton's method finds it (`_climb`).
4. If not, it lies on a side, and on each side it is a search in one dimension (`_best_on_side`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import xlog1py, xlogy

from alignkit._support.array_types import F8

_STEPS = 100  # the most steps of a search
_BARRIERS = (1.0, 1e-2, 1e-4, 1e-6)  # how much the logarithms of distances to the sides weigh
_TOLERANCE = 1e-18  # a step that gains no more than this share of the likelihood ends the climb
_LEAST_STEP = 1e-6  # a climb that can only take a smaller share of a Newton step is at a side
_TO_SIDE = 0.95  # the share of the way to the next side that a step takes at the most


def most_probable_line(x: F8, limits: F8, hits: F8, failures: F8) -> tuple[float, float]:
    """Return a and b of the line; b is 0 if all x are equal. All arguments are (F,)."""
    low = float(x.min())
    high = float(x.max())
    if high == low:
        likelihood = Likelihood(np.zeros_like(x), limits, hits, failures)
        origin = np.zeros(2)
        level = likelihood.best_between(origin, np.ones(2), 0.0, float(limits.min()))
        return float(level[0]), 0.0
    likelihood = Likelihood((x - low) / (high - low), limits, hits, failures)
    bounds = bounds_of(likelihood.t, likelihood.limits)
    best, is_optimum = _best_inside(likelihood, Polygon(bounds))
    if not is_optimum:
        candidates = [best]
        for side in bounds:
            point = _best_on_side(likelihood, side, bounds)
            if point is not None:
                candidates.append(point)
        best = max(candidates, key=likelihood.at)
    u, v = best.tolist()
    b = (v - u) / (high - low)
    return u - b * low, b


class Likelihood:
    """The log-likelihood of lines, without the terms that are the same for all lines.

    Observations with the same t and limit are one: their hits and failures are added up.
    """

    def __init__(self, t: F8, limits: F8, hits: F8, failures: F8) -> None:
        order = np.lexsort((limits, t))
        t = t[order]
        limits = limits[order]
        new = np.ones(len(t), bool)
        new[1:] = (t[1:] != t[:-1]) | (limits[1:] != limits[:-1])
        starts = np.flatnonzero(new)
        self.t = t[starts]
        self.limits = limits[starts]
        self.hits = np.add.reduceat(hits[order], starts)
        self.failures = np.add.reduceat(failures[order], starts)
        self._design = np.stack([1 - self.t, self.t], axis=1)  # its product with (u, v) is mu

    def at(self, point: F8) -> float:
        """Return the log-likelihood at a point (u, v)."""
        p = np.clip(self._design @ point / self.limits, 0.0, 1.0)
        return float((xlogy(self.hits, p) + xlog1py(self.failures, -p)).sum())

    def slope_and_bend(self, point: F8) -> tuple[F8, F8]:
        """Return the gradient (2,), and the matrix of second derivatives (2, 2) times -1."""
        mu = self._design @ point
        rest = self.limits - mu
        slope = self._design.T @ (self.hits / mu - self.failures / rest)
        weights = self.hits / mu**2 + self.failures / rest**2
        return slope, (self._design.T * weights) @ self._design

    def middle(self) -> F8:
        """Return a point inside of the polygon: a level line of about the common rate."""
        least = float(self.limits.min())
        mean = float(self.hits.sum() / ((self.hits + self.failures) / self.limits).sum())
        return np.full(2, min(max(mean, 0.01 * least), 0.9 * least))

    def best_between(self, origin: F8, way: F8, low: float, high: float) -> F8:
        """Return the best of the points origin + s way, s from low to high.

        The slope falls along the way, for the likelihood is concave: bisection finds where it is 0.
        The ends are compared too, so that a best point at an end is exact.
        """
        base = self._design @ origin
        rate = self._design @ way
        has_hits = self.hits > 0
        has_failures = self.failures > 0
        left = low
        right = high
        for _ in range(_STEPS):
            middle = (left + right) / 2
            if not left < middle < right:
                break
            mu = base + middle * rate
            rest = self.limits - mu
            with np.errstate(divide="ignore", invalid="ignore"):  # rounding, next to a corner
                slope = (rate * self.hits)[has_hits] @ (1 / mu[has_hits])
                slope -= (rate * self.failures)[has_failures] @ (1 / rest[has_failures])
            if slope > 0:
                left = middle
            else:
                right = middle
        points = [origin + place * way for place in (low, high, (left + right) / 2)]
        return max(points, key=self.at)


class Bound(NamedTuple):
    """What a line must keep at a place t: mu(t) <= limit, or mu(t) >= limit if `is_floor`."""

    t: float
    limit: float
    is_floor: bool = False

    def distance(self, mu: float) -> float:
        """Return how far the value of a line at t is from breaking the bound."""
        return mu - self.limit if self.is_floor else self.limit - mu

    @property
    def wall(self) -> tuple[float, float]:
        """How `distance` grows with u and with v."""
        if self.is_floor:
            return 1 - self.t, self.t
        return self.t - 1, -self.t


def bounds_of(t: F8, limits: F8) -> list[Bound]:
    """Return the sides of the polygon: the bounds that keep 0 <= mu(t) <= limit at all places.

    `t` (K,) must rise from 0 to 1, and `limits` (K,) rise within the same t. A line below two
    points is also below all points above the segment between them. So only corners of the lower
    hull count: from left to right, a corner goes if it is not below the line from the corner before
    it to the new point (Andrew 1979, Information Processing Letters 9(5):216-219).
    """
    corners: list[tuple[float, float]] = []
    for place, limit in zip(t.tolist(), limits.tolist(), strict=True):
        if corners and corners[-1][0] == place:
            continue  # the first limit of a place is the least
        while len(corners) > 1 and not _is_below(corners[-1], corners[-2], (place, limit)):
            corners.pop()
        corners.append((place, limit))
    floors = [Bound(0.0, 0.0, is_floor=True), Bound(1.0, 0.0, is_floor=True)]
    return floors + [Bound(place, limit) for place, limit in corners]


def _is_below(
    middle: tuple[float, float], left: tuple[float, float], right: tuple[float, float]
) -> bool:
    """Return whether a point lies below the line between two others."""
    rise = right[1] - left[1]
    run = right[0] - left[0]
    return (middle[1] - left[1]) * run < rise * (middle[0] - left[0])


class Polygon:
    """The points (u, v) that keep all bounds."""

    def __init__(self, bounds: Sequence[Bound]) -> None:
        self._walls = np.array([bound.wall for bound in bounds])
        self._at_origin = np.array([bound.distance(0.0) for bound in bounds])

    def distances(self, point: F8) -> F8:
        """Return the distance to each bound; all are above 0 inside."""
        return np.asarray(self._walls @ point + self._at_origin)

    def slope_and_bend(self, distances: F8) -> tuple[F8, F8]:
        """Return those of the sum of the logarithms of the distances, see `Likelihood`."""
        slope = self._walls.T @ (1 / distances)
        return slope, (self._walls.T / distances**2) @ self._walls

    def way_out(self, distances: F8, step: F8) -> float:
        """Return how often a step can be taken until it reaches a side; 2 if twice is inside."""
        toward = -(self._walls @ step)
        nearer = toward > 0
        return float(np.min(distances[nearer] / toward[nearer], initial=2))


def _best_inside(likelihood: Likelihood, polygon: Polygon) -> tuple[F8, bool]:
    """Look for a maximum inside; return the last point, and whether it is a maximum.

    A climb may run into a side and creep along it although the maximum is inside. It is repeated
    from a better start: sides repel the climb, by a barrier that is lowered step by step.
    """
    point = likelihood.middle()
    last, is_optimum = _climb(likelihood, polygon, point, 0.0)
    if is_optimum:
        return last, True
    for barrier in _BARRIERS:
        point, _ = _climb(likelihood, polygon, point, barrier)
    return _climb(likelihood, polygon, point, 0.0)


def _climb(likelihood: Likelihood, polygon: Polygon, point: F8, barrier: float) -> tuple[F8, bool]:
    """Take Newton steps from a point inside; return the last point, and whether it is a maximum.

    The height that is climbed is the likelihood plus barrier * sum(log(distance to a side)).
    """

    def height(point: F8) -> float:
        if not barrier:
            return likelihood.at(point)
        logs = np.log(polygon.distances(point))
        return likelihood.at(point) + barrier * float(logs.sum())

    reached = height(point)
    for _ in range(_STEPS):
        distances = polygon.distances(point)
        slope, bend = likelihood.slope_and_bend(point)
        if barrier:
            slope_of_sides, bend_of_sides = polygon.slope_and_bend(distances)
            slope += barrier * slope_of_sides
            bend += barrier * bend_of_sides
        step = np.asarray(np.linalg.solve(bend, slope), np.float64)
        gain = float(slope @ step)  # twice what the step would gain on a parabola
        if gain < _TOLERANCE * (1 + abs(reached)):
            return point, True
        size = min(1.0, _TO_SIDE * polygon.way_out(distances, step))
        if size < _LEAST_STEP:
            return point, False
        trial = point + size * step
        value = height(trial)
        # a step that is too long to gain is halved; but near the maximum Newton's steps are safe,
        # and gains are too small to be compared
        while gain > 0.01 and value < reached + 0.1 * size * gain:
            size /= 2
            trial = point + size * step
            value = height(trial)
        point = trial
        reached = value
    return point, False


def _best_on_side(likelihood: Likelihood, side: Bound, bounds: Sequence[Bound]) -> F8 | None:
    """Return the best point of a side of the polygon, or None if no point of it is possible.

    On the side, mu(t) is the bound's limit: all of these lines go through one point.
    """
    at_side = likelihood.t == side.t
    if side.is_floor:
        impossible = likelihood.hits[at_side]  # the rate is 0 there
    else:
        impossible = likelihood.failures[at_side & (likelihood.limits == side.limit)]  # it is 1
    if impossible.any():
        return None
    level = np.full(2, side.limit)
    turn = np.array([-side.t, 1 - side.t])  # turns the line about its point at the side
    # turned by s, the distance to another bound is `distance` + s * `toward`
    low = -np.inf
    high = np.inf
    for other in bounds:
        if other == side:
            continue
        distance = other.distance(side.limit)
        of_u, of_v = other.wall
        toward = of_v * (1 - side.t) - of_u * side.t
        if toward > 0:
            low = max(low, -distance / toward)
        elif toward < 0:
            high = min(high, -distance / toward)
        elif distance < 0:
            return None
    if low > high:
        return None
    return likelihood.best_between(level, turn, low, high)
