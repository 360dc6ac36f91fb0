"""Where words go: the position tables of IBM 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from alignkit.align.bitext import Bitext
from alignkit.align.maximization_kernel import add_positions

if TYPE_CHECKING:
    from alignkit.align.estimators import Estimator


F4 = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Positions:
    """Tables a(i | j, N, M) and a(j | i, N, M) for all sentence lengths that occur."""

    shapes: NDArray[np.int64]  # (H, 2) int64: the distinct (N, M)
    shape_starts: NDArray[np.int64]  # (H + 1,) int64: the table of shape h, N x M, begins there
    places: NDArray[np.int64]
    forward: F4  # (S,) float32: the tables; forward adds up to 1 over i, reverse over j
    reverse: F4

    @classmethod
    def uniform(cls) -> Positions:
        """Return tables in which all positions are equally probable."""
        nothing = np.empty(0, np.float32)
        shapes = np.empty((0, 2), np.int64)
        return cls(shapes, np.zeros(1, np.int64), np.empty(0, np.int64), nothing, nothing)

    def of(self, bitext: Bitext) -> Positions:
        """Return the same tables with the places of the pairs of another bitext."""
        if not len(self.shapes):
            return self
        known = {
            tuple(shape): start
            for shape, start in zip(self.shapes.tolist(), self.shape_starts.tolist(), strict=False)
        }
        starts = []
        more: list[tuple[int, int]] = []
        end = int(self.shape_starts[-1])
        for shape in zip(
            bitext.source.lengths.tolist(), bitext.target.lengths.tolist(), strict=True
        ):
            if shape not in known:
                known[shape] = end
                more.append(shape)
                end += shape[0] * shape[1]
            starts.append(known[shape])
        tables = []
        for table, side in ((self.forward, 0), (self.reverse, 1)):
            new = [np.full(n * m, 1 / max(1, (n, m)[side])) for n, m in more]
            tables.append(np.concatenate([table, *new]).astype(np.float32))
        return Positions(
            self.shapes, self.shape_starts, np.array(starts, np.int64), tables[0], tables[1]
        )

    def updated(self, bitext: Bitext, estimator: Estimator, *, diagonal: bool) -> Positions:
        """Return the tables that the expected links of an E-step call for."""
        shapes, starts, places = self.shapes, self.shape_starts, self.places
        if not len(places):
            lengths = np.stack([bitext.source.lengths, bitext.target.lengths], axis=1)
            shapes, inverse = np.unique(lengths, axis=0, return_inverse=True)
            starts = np.zeros(len(shapes) + 1, np.int64)
            np.cumsum(shapes.prod(axis=1), out=starts[1:])
            places = starts[inverse.reshape(-1)]
        tables = []
        for axis, posteriors in enumerate(estimator.expected()):
            sums = np.zeros(starts[-1])
            add_positions(places, bitext.starts, posteriors, sums)
            cut = [
                sums[a:b].reshape(shape)
                for a, b, shape in zip(starts[:-1], starts[1:], shapes, strict=True)
            ]
            if diagonal:
                cut = _diagonal(cut, axis)
            shares = [_shares(table, axis).ravel() for table in cut]
            tables.append(np.concatenate([np.empty(0), *shares]).astype(np.float32))
        return Positions(shapes, starts, places, tables[0], tables[1])


def _shares(table: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    if not table.size:
        return table
    totals = table.sum(axis=axis, keepdims=True)
    known = np.where(totals > 0, totals, 1)
    return np.where(totals > 0, table / known, 1 / table.shape[axis])


def _diagonal(tables: list[NDArray[np.float64]], axis: int) -> list[NDArray[np.float64]]:
    """Return exp(-tension |i / N - j / M|) with the tension that fits the expected distance."""
    distances = [
        np.abs(np.arange(n)[:, None] / max(n, 1) - np.arange(m) / max(m, 1))
        for n, m in (table.shape for table in tables)
    ]
    goal = sum(float((table * far).sum()) for table, far in zip(tables, distances, strict=True))
    low, high = 0.0, 100.0
    for _ in range(30):
        tension = (low + high) / 2
        distance = 0.0
        for table, far in zip(tables, distances, strict=True):
            model = _shares(np.exp(-tension * far), axis)
            distance += float((table.sum(axis=axis, keepdims=True) * model * far).sum())
        low, high = (tension, high) if distance > goal else (low, tension)
    return [np.exp(-tension * far) for far in distances]
