"""Fit how many cells an annotator changes as a linear function of the number of words.

The rate of a pair is p = mu / c, mu = a + b x: x is N + M, and c the cells (so that the number of
edits is linear) or 1 (so that their probability is). With t running from 0 to 1 over the range of
x, mu = (1 - t) u + t v, and the binomial log-likelihood sum h log p + f log(1 - p) over hits h and
failures f is concave in (u, v). mu >= 0 everywhere is u, v >= 0; mu <= c everywhere is mu <= c at
the corners of the lower convex hull of the points (t, c). So (u, v) lies in a small polygon. If the
optimum is inside, Newton's method finds it; if not, it lies on an edge, and on each edge it is a
search in one dimension.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlog1py, xlogy

from alignkit._support.arguments import check_arguments, check_known
from alignkit._support.values import named_json
from alignkit.errors import OptionError
from alignkit.model.arrays import whole_numbers

READINGS = ("count", "probability")
"""The quantity that is linear in N + M: the expected number or the probability of edits."""

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]
Point = tuple[float, float]

_ROUNDING = 1e-13
_STEPS = 100
_BARRIERS = (1.0, 1e-2, 1e-4, 1e-6)


@dataclass(frozen=True, eq=False)
class EditData:
    """The cells of F sentence pairs that an annotator changed.

    Parameters
    ----------
    words : (F,) N + M.
    trials : (F,) the cells that could have been changed.
    edits : (F,) the cells that were changed; more edits than trials raise an OptionError.
    """

    words: Numbers
    trials: Numbers
    edits: Numbers

    def __post_init__(self) -> None:
        for name in ("words", "trials", "edits"):
            array = whole_numbers(name, getattr(self, name), 1)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if not len(self.words) == len(self.trials) == len(self.edits):
            raise OptionError("words, trials and edits must have the same length, one per pair")
        if np.any((self.edits < 0) | (self.edits > self.trials)):
            raise OptionError("edits must lie between 0 and the number of trials")

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True)
class EditModel:
    """A fitted edit model.

    Parameters
    ----------
    a, b : The constant and the slope over N + M; NaN if there were no data.
    reading : ``"count"``: the expected number of edits is a + b (N + M); ``"probability"``: the
        probability of an edit is.
    log_likelihood : The log of the binomial probability of the data.
    pairs : The number of fitted sentence pairs: those with trials.
    data : The data of the fitted pairs.
    """

    a: float
    b: float
    reading: str
    log_likelihood: float
    pairs: int
    data: EditData

    def rates(self, words: Sequence[int] | Numbers, trials: Sequence[int] | Numbers) -> Floats:
        """Return the probability of an edit in each of P sentence pairs, clipped to 0 and 1.

        `words` are N + M, `trials` the cells that can be changed, both (P,). The probability is 0
        without trials or without data to fit.
        """
        cells = np.asarray(trials, np.float64)
        value = self.a + self.b * np.asarray(words, np.float64)
        if self.reading == "count":
            value = np.divide(value, cells, out=np.zeros_like(cells), where=cells > 0)
        value = np.clip(np.where((cells > 0) & ~np.isnan(value), value, 0.0), 0.0, 1.0)
        # a constraint that holds with equality is met but for rounding
        value[value < _ROUNDING] = 0.0
        value[value > 1 - _ROUNDING] = 1.0
        return value

    @property
    def dispersion(self) -> float:
        """Pearson's X2 over the degrees of freedom (NaN if 0); near 1 if the model fits.

        X2 is the sum of (edits - trials p)^2 / (trials p (1 - p)) over the fitted pairs. If it is
        above 2, the edits vary far more between pairs than the model allows (McCullagh & Nelder
        1989, Generalized Linear Models, 2nd edition, section 4.5).
        """
        free = self.pairs - min(len(np.unique(self.data.words)), 2)
        if free <= 0:
            return nan
        p = self.rates(self.data.words, self.data.trials)
        spread = self.data.trials * p * (1 - p)
        excess = (self.data.edits - self.data.trials * p) ** 2
        # a rate of 0 or 1 is fitted only where all its pairs have exactly so many edits
        squares = np.divide(excess, spread, out=np.zeros_like(spread), where=spread > 0)
        return float(squares.sum()) / free

    def to_json(self) -> dict[str, object]:
        """Return the model for JSON; NaN becomes None."""
        names = ("a", "b", "reading", "log_likelihood", "dispersion", "pairs", "data")
        return named_json(self, names)


def fit_edit_model(
    data: EditData, *, reading: str = "count", weights: Sequence[float] | Floats | None = None
) -> EditModel:
    """Fit the number of edits as a linear function of N + M.

    Maximizes the binomial likelihood with 0 <= p <= 1 on all fitted pairs. If all pairs have the
    same N + M, b is 0.

    Parameters
    ----------
    data : The edits; pairs without trials are left out.
    reading : One of `READINGS`.
    weights : (F,): how often each pair counts, for a bootstrap; None counts each once.

    Raises
    ------
    UnknownNameError : If `reading` is not a known name.
    OptionError : If the numbers of weights and pairs differ, or a weight is negative.

    References
    ----------
    Cohn, Callison-Burch & Lapata 2008, Computational Linguistics 34(4):597-614, fit "the number of
    changes" by a binomial that is linear in N + M; `READINGS` are the two readings of that.

    Examples
    --------
    >>> data = EditData([10, 20, 30], [25, 100, 225], [2, 4, 6])
    >>> model = fit_edit_model(data)
    >>> round(model.a, 6) + 0.0, round(model.b, 6)
    (0.0, 0.2)
    >>> model.rates([20], [100]).round(6)
    array([0.04])
    """
    check_arguments(fit_edit_model, locals())
    check_known("reading of the edit model", reading, READINGS)
    if weights is None:
        counts = np.ones(len(data))
    else:
        counts = np.asarray(weights, np.float64)
    if counts.shape != (len(data),) or not np.all(counts >= 0):
        raise OptionError("weights must be one number for each pair, 0 or more")
    kept = (data.trials > 0) & (counts > 0)
    fitted = data
    if not kept.all():
        fitted = EditData(data.words[kept], data.trials[kept], data.edits[kept])
    if not len(fitted):
        return EditModel(nan, nan, reading, 0.0, 0, fitted)
    counts = counts[kept]
    words = fitted.words.astype(np.float64)
    trials = fitted.trials.astype(np.float64)
    edits = fitted.edits.astype(np.float64)
    rest = trials - edits
    limits = trials if reading == "count" else np.ones_like(trials)
    a, b = _maximize(words, limits, counts * edits, counts * rest)
    model = EditModel(a, b, reading, nan, len(fitted), fitted)
    rates = model.rates(fitted.words, fitted.trials)
    chosen = gammaln(trials + 1) - gammaln(edits + 1) - gammaln(rest + 1)
    logs = chosen + xlogy(edits, rates) + xlog1py(rest, -rates)
    return replace(model, log_likelihood=float(counts @ logs))


def _maximize(x: Floats, limits: Floats, hits: Floats, failures: Floats) -> tuple[float, float]:
    """Return a and b of mu = a + b x that maximize the likelihood of p = mu / limit."""
    low = float(x.min())
    high = float(x.max())
    if high == low:
        data = _Grouped(np.zeros_like(x), limits, hits, failures)
        mu = data.along(np.zeros(2), np.ones(2), 0.0, float(data.limits.min()))
        return float(mu[0]), 0.0
    data = _Grouped((x - low) / (high - low), limits, hits, failures)
    edges = data.edges()
    best, is_optimum = data.inside(edges)
    if not is_optimum:
        points = [best]
        for edge in edges:
            point = data.on_edge(edge, edges)
            if point is not None:
                points.append(point)
        best = max(points, key=data.likelihood)
    u, v = best.tolist()
    b = (v - u) / (high - low)
    return u - b * low, b


class _Grouped:
    """The distinct (t, limit) with their hits and failures."""

    def __init__(self, t: Floats, limits: Floats, hits: Floats, failures: Floats) -> None:
        order = np.lexsort((limits, t))
        t = t[order]
        limits = limits[order]
        new = np.ones(len(t), bool)
        new[1:] = (t[1:] != t[:-1]) | (limits[1:] != limits[:-1])
        starts = np.flatnonzero(new)
        self.hits = np.add.reduceat(hits[order], starts)
        self.failures = np.add.reduceat(failures[order], starts)
        self.t = t[starts]
        self.limits = limits[starts]
        self.design = np.stack([1 - self.t, self.t], axis=1)

    def likelihood(self, point: Floats) -> float:
        """Return the log-likelihood at (u, v), without the constant terms."""
        p = np.clip(self.design @ point / self.limits, 0.0, 1.0)
        return float((xlogy(self.hits, p) + xlog1py(self.failures, -p)).sum())

    def edges(self) -> list[Point]:
        """Return the (t, c) at which mu(t) may reach 0, then those for the limits."""
        corners: list[Point] = []
        for t, c in zip(self.t.tolist(), self.limits.tolist(), strict=True):
            if corners and corners[-1][0] == t:
                continue  # sorted: the first limit of a t is the least
            while len(corners) > 1:
                left, middle = corners[-2:]
                rise = c - left[1]
                run = t - left[0]
                if (middle[1] - left[1]) * run < rise * (middle[0] - left[0]):
                    break  # the middle one lies below the line between the two others
                corners.pop()
            corners.append((t, c))
        return [(0.0, 0.0), (1.0, 0.0), *corners]

    def inside(self, edges: list[Point]) -> tuple[Floats, bool]:
        """Look for an optimum inside; return the last point, and whether it is one."""
        least = float(self.limits.min())
        mean = float(self.hits.sum() / ((self.hits + self.failures) / self.limits).sum())
        point = np.full(2, min(max(mean, 0.01 * least), 0.9 * least))
        walls = np.array([[1 - t, t] if c == 0 else [t - 1, -t] for t, c in edges])
        room = np.array([c for _, c in edges])
        last, is_optimum = self._climb(point, walls, room, 0.0)
        if is_optimum:
            return last, True
        for barrier in _BARRIERS:
            point, _ = self._climb(point, walls, room, barrier)
        return self._climb(point, walls, room, 0.0)

    def _climb(
        self, point: Floats, walls: Floats, room: Floats, barrier: float
    ) -> tuple[Floats, bool]:
        """Take damped Newton steps up the likelihood plus barrier * sum(log(slack of a wall))."""

        def height(point: Floats) -> float:
            """Return what is climbed; the likelihood alone without a barrier."""
            if not barrier:
                return self.likelihood(point)
            logs = np.log(walls @ point + room)
            return self.likelihood(point) + barrier * float(logs.sum())

        value = height(point)
        for _ in range(_STEPS):
            mu = self.design @ point
            slack = walls @ point + room
            rest = self.limits - mu
            slope = self.design.T @ (self.hits / mu - self.failures / rest)
            bend = (self.design.T * (self.hits / mu**2 + self.failures / rest**2)) @ self.design
            slope += barrier * (walls.T @ (1 / slack))
            bend += barrier * ((walls.T / slack**2) @ walls)
            step = np.linalg.solve(bend, slope)
            gain = float(slope @ step)
            if gain < 1e-18 * (1 + abs(value)):
                return point, True
            # no step to a wall or beyond it
            toward = -(walls @ step)
            nearer = toward > 0
            to_walls = slack[nearer] / toward[nearer]
            size = min(1.0, 0.95 * float(np.min(to_walls, initial=2)))
            if size < 1e-6:
                return point, False
            trial = point + size * step
            reached = height(trial)
            # near the optimum Newton's steps are safe, and gains are too small to be compared
            while gain > 0.01 and reached < value + 0.1 * size * gain:
                size /= 2
                trial = point + size * step
                reached = height(trial)
            point = trial
            value = reached
        return point, False

    def on_edge(self, edge: Point, edges: list[Point]) -> Floats | None:
        """Return the best point of an edge, or None if the likelihood is 0 all along it."""
        t, c = edge
        at_edge = self.t == t
        if c == 0:
            impossible = self.hits[at_edge]
        else:
            impossible = self.failures[at_edge & (self.limits == c)]
        if impossible.any():
            return None
        origin = np.full(2, c)
        way = np.array([-t, 1 - t])
        # the part of the edge on the right side of all others
        low = -np.inf
        high = np.inf
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
        if low <= high:
            return self.along(origin, way, low, high)
        return None

    def along(self, origin: Floats, way: Floats, low: float, high: float) -> Floats:
        """Return the best point of a segment, including its exact ends."""
        base = self.design @ origin
        rate = self.design @ way
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
        return max(points, key=self.likelihood)
