"""The tables of positions of IBM model 2."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from alignkit.align.bitext import F4, F8, I8, Bitext
from alignkit.align.maximization_kernel import add_positions


@dataclass(frozen=True, eq=False)
class Positions:
    """The position tables of IBM 2: a(i | j, N, M) and a(j | i, N, M) for all sizes that occur."""

    shapes: I8  # (H, 2) the distinct (N, M)
    shape_starts: I8  # (H + 1,) the table of shape h, N x M, begins there
    places: I8  # (P,) where the table of each pair of a bitext begins
    forward: F4  # (S,) the tables; forward adds up to 1 over i, reverse over j
    reverse: F4

    @classmethod
    def uniform(cls) -> Positions:
        """Return tables in which all positions are equally probable."""
        nothing, shapes = np.empty(0, np.float32), np.empty((0, 2), np.int64)
        return cls(shapes, np.zeros(1, np.int64), np.empty(0, np.int64), nothing, nothing)

    def of(self, bitext: Bitext) -> Positions:
        """Return the same tables with the places for the pairs of another bitext."""
        if not len(self.shapes):
            return self
        starts = self.shape_starts.tolist()
        known = dict(zip(map(tuple, self.shapes.tolist()), starts, strict=False))
        end = starts[-1]
        places: list[int] = []
        more: list[tuple[int, int]] = []
        sides = bitext.source.lengths.tolist(), bitext.target.lengths.tolist()
        for shape in zip(*sides, strict=True):
            if shape not in known:
                known[shape] = end
                more.append(shape)
                end += shape[0] * shape[1]
            places.append(known[shape])
        tables = []
        for table, side in ((self.forward, 0), (self.reverse, 1)):
            new = [np.full(n * m, 1 / max(1, (n, m)[side])) for n, m in more]
            tables.append(np.concatenate([table, *new]).astype(np.float32))
        return Positions(self.shapes, self.shape_starts, np.array(places, np.int64), *tables)

    def updated(self, bitext: Bitext, expected: tuple[F4, F4], *, diagonal: bool) -> Positions:
        """Return the tables estimated from the expected links (C,) of both directions."""
        shapes, starts, places = self.shapes, self.shape_starts, self.places
        if not len(places):
            lengths = np.stack([bitext.source.lengths, bitext.target.lengths], axis=1)
            shapes, inverse = np.unique(lengths, axis=0, return_inverse=True)
            starts = np.append(0, np.cumsum(shapes.prod(axis=1)))
            places = starts[inverse.reshape(-1)]
        tables = []
        for axis, posteriors in enumerate(expected):
            sums = np.zeros(starts[-1])
            add_positions(places, bitext.starts, posteriors, sums)
            blocks = zip(pairwise(starts), shapes, strict=True)
            cut = [sums[begin:end].reshape(shape) for (begin, end), shape in blocks]
            if diagonal:
                cut = _diagonal(cut, axis)
            shares = [_shares(table, axis).ravel() for table in cut]
            tables.append(np.concatenate([np.empty(0), *shares]).astype(np.float32))
        return Positions(shapes, starts, places, *tables)


def _shares(table: F8, axis: int) -> F8:
    if not table.size:
        return table
    totals = table.sum(axis=axis, keepdims=True)
    known = np.where(totals > 0, totals, 1)
    return np.where(totals > 0, table / known, 1 / table.shape[axis])


def _diagonal(tables: list[F8], axis: int) -> list[F8]:
    """Return exp(-tension |i / N - j / M|); the tension is fitted to the expected distance."""
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
