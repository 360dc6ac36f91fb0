"""Measure how far judges agree: every two of them, over the items that both judged."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import nan

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.kappa import Contingency, table_ratios
from alignkit.audit.audit import Audit
from alignkit.audit.figures import ALL, Drawing, Figure, bounded
from alignkit.audit.filled import Filled

MEASURES = ("observed", "kappa")
NO_ITEM = "there is no item that both judged"
ONE_JUDGMENT = "both gave one and the same judgment throughout"
NO_PAIR = "no two judges have it defined"

Counts = NDArray[np.float64]


def confusions(audit: Audit, filled: Filled) -> dict[tuple[str, str], Contingency]:
    """Return for every two judges how the one judged what the other judged."""
    return {
        two: Contingency.of(
            audit.scale.names, _as_table(_tables(audit, filled, two).sum(axis=0)).tolist()
        )
        for two in combinations(filled.judges, 2)
    }


def agreement_figures(audit: Audit, filled: Filled, drawing: Drawing) -> list[Figure]:
    """Return the observed agreement and Cohen's kappa of every two judges, and the means."""
    found: list[Figure] = []
    pairs = list(combinations(filled.judges, 2))
    tables = {two: _tables(audit, filled, two) for two in pairs}
    origins = np.array([item.origin for item in audit.items])
    for origin in ("", *audit.origins):
        of = np.ones(len(origins), bool) if not origin else origins == origin
        for two in pairs:
            found += _pair_figures(two, origin, tables[two][of], drawing)
        if len(pairs) > 1:
            found += _mean_figures(origin, [tables[two][of] for two in pairs], drawing)
    return found


def _pair_figures(
    two: tuple[str, str], origin: str, rows: Counts, drawing: Drawing
) -> list[Figure]:
    rows = rows[rows.sum(axis=1) > 0]
    values = table_ratios(rows.sum(axis=0)[np.newaxis])
    bounds = bounded(rows, _ratios, drawing)
    found = []
    for name in MEASURES:
        value = float(values[name][0])
        low, high, reason = bounds[name]
        if np.isnan(value):
            low, high, reason = nan, nan, ONE_JUDGMENT if len(rows) else NO_ITEM
        found.append(
            Figure("agreement", *two, origin, name, value, low, high, "bootstrap",
                   items=len(rows), reason=reason)
        )  # fmt: skip
    return found


def _ratios(sums: Counts) -> dict[str, Counts]:
    found = table_ratios(sums)
    return {name: found[name] for name in MEASURES}


def _mean_figures(origin: str, tables: Sequence[Counts], drawing: Drawing) -> list[Figure]:
    rows = np.concatenate(tables, axis=1)
    rows = rows[rows.sum(axis=1) > 0]
    width = tables[0].shape[1]

    def measure(sums: Counts) -> dict[str, Counts]:
        parts = [sums[:, k : k + width] for k in range(0, sums.shape[1], width)]
        ratios = [_ratios(part) for part in parts]
        weights = np.stack([part.sum(axis=1) for part in parts])
        return {
            name: _weighted(np.stack([one[name] for one in ratios]), weights) for name in MEASURES
        }

    values = measure(rows.sum(axis=0)[np.newaxis])
    bounds = bounded(rows, measure, drawing)
    found = []
    for name in MEASURES:
        value = float(values[name][0])
        low, high, reason = bounds[name]
        if np.isnan(value):
            low, high, reason = nan, nan, NO_PAIR
        found.append(
            Figure("mean agreement", ALL, "", origin, name, value, low, high, "bootstrap",
                   items=len(rows), reason=reason)
        )  # fmt: skip
    return found


def _weighted(values: Counts, weights: Counts) -> Counts:
    """Return the (R,) means of (L, R) values, what is undefined left out."""
    used = np.where(np.isnan(values), 0.0, weights)
    total = used.sum(axis=0)
    sums = (np.nan_to_num(values) * used).sum(axis=0)
    means: Counts = np.divide(sums, total, out=np.full(total.shape, nan), where=total > 0)
    return means


def _tables(audit: Audit, filled: Filled, two: tuple[str, str]) -> Counts:
    """Return for each item the table of two judges, laid flat: (Q, K * K), one 1 or none."""
    size = len(audit.scale.names)
    rows = np.zeros((len(audit.items), size * size))
    for k, item in enumerate(audit.items):
        said = [filled.judgments[judge].get(item.id) for judge in two]
        if said[0] is not None and said[1] is not None:
            rows[k, audit.scale.place(said[0]) * size + audit.scale.place(said[1])] = 1
    return rows


def _as_table(flat: Counts) -> NDArray[np.int64]:
    size = round(len(flat) ** 0.5)
    return flat.astype(np.int64).reshape(size, size)
