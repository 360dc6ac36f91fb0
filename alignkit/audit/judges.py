"""Measure how far judges agree: every two of them, over the items that both judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import nan

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.kappa import Contingency, table_ratios
from alignkit.audit.audit import Audit
from alignkit.audit.filled import Filled
from alignkit.audit.shares import ALL, EVERY, NOTHING, AuditFigure, AuditResamples, Measure, bounded
from alignkit.stats.intervals import newcombe_interval, wilson_interval
from alignkit.stats.ratios import ratio
from alignkit.stats.resampling import ALIKE, resample

MEASURES = ("observed", "kappa")
NO_ITEM = "there is no item that both judged"
ONE_JUDGMENT = "both gave one and the same judgment throughout"
NO_PAIR = "no two judges have it defined"

Counts = NDArray[np.float64]


def confusions(audit: Audit, filled: Filled) -> dict[tuple[str, str], Contingency]:
    """Return for every two judges how the one judged what the other judged."""
    names, size = audit.scale.names, len(audit.scale.names)
    return {
        two: Contingency.of(
            names,
            _tables(audit, filled, two).sum(axis=0).astype(np.int64).reshape(size, size).tolist(),
        )
        for two in combinations(filled.judges, 2)
    }


def agreement_figures(audit: Audit, filled: Filled, drawing: AuditResamples) -> list[AuditFigure]:
    """Return the observed agreement and Cohen's kappa of every two judges, and the means."""
    figures: list[AuditFigure] = []
    pairs = list(combinations(filled.judges, 2))
    tables = {two: _tables(audit, filled, two) for two in pairs}
    origins = np.array([item.origin for item in audit.items])
    for origin in ("", *audit.origins):
        of = np.ones(len(origins), bool) if not origin else origins == origin
        for two in pairs:
            rows = tables[two][of]
            figures += _figures("agreement", two, origin, rows, _ratios, drawing, ONE_JUDGMENT)
        if len(pairs) > 1:
            every = np.concatenate([tables[two][of] for two in pairs], axis=1)
            mean = _mean_measure(len(audit.scale.names) ** 2)
            who = ALL, ""
            figures += _figures("mean agreement", who, origin, every, mean, drawing, NO_PAIR)
    return figures


def _ratios(sums: Counts) -> dict[str, Counts]:
    ratios = table_ratios(sums)
    return {name: ratios[name] for name in MEASURES}


def _mean_measure(width: int) -> Measure:
    """Return what turns the tables of all pairs of judges, side by side, into mean measures."""

    def measure(sums: Counts) -> dict[str, Counts]:
        parts = [sums[:, k : k + width] for k in range(0, sums.shape[1], width)]
        ratios = [_ratios(part) for part in parts]
        weights = np.stack([part.sum(axis=1) for part in parts])
        return {
            name: _weighted(np.stack([ratio_of[name] for ratio_of in ratios]), weights)
            for name in MEASURES
        }

    return measure


def _figures(
    kind: str, who: tuple[str, str], origin: str, rows: Counts, measure: Measure, drawing: AuditResamples,
    undefined: str,
) -> list[AuditFigure]:  # fmt: skip
    rows = rows[rows.sum(axis=1) > 0]
    values, bounds = measure(rows.sum(axis=0)[np.newaxis]), bounded(rows, measure, drawing)
    figures = []
    for name in MEASURES:
        value = float(values[name][0])
        low, high, reason = bounds[name]
        if np.isnan(value):
            low, high, reason = nan, nan, undefined if len(rows) or kind != "agreement" else NO_ITEM
        figures.append(
            AuditFigure(kind, *who, origin, name, value, low, high, "bootstrap", items=len(rows),
                   reason=reason)
        )  # fmt: skip
    return figures


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


ONE_SIDED = "nothing of one of the two was judged"


def upheld_figures(audit: Audit, filled: Filled, drawing: AuditResamples) -> list[AuditFigure]:
    """Return the shares of items that are upheld, and the difference of the two origins."""
    if not audit.upheld:
        return []
    figures: list[AuditFigure] = []
    several = len(filled.judges) > 1
    for who in (*filled.judges, *((EVERY, ALL) if several else ())):
        rows = {origin: _rows(audit, filled, origin, who) for origin in audit.origins}
        figures += [_share(rows[origin], origin, who, drawing) for origin in audit.origins]
        figures.append(_difference(list(rows.values()), tuple(audit.origins), who, drawing))
    return figures


def group_figures(
    audit: Audit, filled: Filled, by: str, drawing: AuditResamples
) -> list[AuditFigure]:
    """Return what is upheld, and how far judges agree, for each value of an attribute."""
    grouped: list[AuditFigure] = []
    for value, part in audit.groups(by).items():
        figures = [*upheld_figures(part, filled, drawing)]
        figures += [
            figure
            for figure in agreement_figures(part, filled, drawing)
            if not figure.origin and figure.items
        ]
        grouped += [replace(figure, group=value or f"(no {by})") for figure in figures]
    return grouped


def _rows(audit: Audit, filled: Filled, origin: str, who: str) -> Counts:
    """Return for each judged item of an origin how often it is upheld, of how often: (Q, 2)."""
    judges = filled.judges if who in (ALL, EVERY) else (who,)
    rows = []
    for item in audit.of(origin):
        said = [filled.judgments[judge].get(item.id) for judge in judges]
        upheld = [judgment in audit.upheld for judgment in said if judgment is not None]
        if not upheld:
            continue
        rows.append([all(upheld), 1] if who == EVERY else [sum(upheld), len(upheld)])
    return np.array(rows, np.float64).reshape(-1, 2)


def _share(rows: Counts, origin: str, who: str, drawing: AuditResamples) -> AuditFigure:
    count, total = map(int, rows.sum(axis=0))
    value, reason = (count / total, "") if total else (nan, NOTHING)
    low, high = wilson_interval(count, total, drawing.confidence)
    if who == ALL:
        low, high, none = bounded(rows, _pooled, drawing)["upheld"]
        reason = reason or none
    return AuditFigure(
        "upheld", who, "", origin, "upheld", value, low, high,
        "bootstrap" if who == ALL else "wilson", count, total, len(rows), reason,
    )  # fmt: skip


def _pooled(sums: Counts) -> dict[str, Counts]:
    return {"upheld": ratio(sums[:, 0], sums[:, 1])}


def _difference(
    rows: Sequence[Counts], origins: Sequence[str], who: str, drawing: AuditResamples
) -> AuditFigure:
    (count, total), (other, of) = (map(int, part.sum(axis=0)) for part in rows)
    value, reason = (count / total - other / of, "") if total and of else (nan, ONE_SIDED)
    low, high = newcombe_interval(count, total, other, of, drawing.confidence)
    if who == ALL and not reason:
        low, high = _drawn(rows, drawing)
        if low == high:
            low, high, reason = nan, nan, ALIKE
    return AuditFigure(
        "difference", who, "", " - ".join(origins), "upheld", value, low, high,
        "bootstrap" if who == ALL else "newcombe", items=sum(map(len, rows)), reason=reason,
    )  # fmt: skip


def _drawn(rows: Sequence[Counts], drawing: AuditResamples) -> tuple[float, float]:
    rng = np.random.default_rng(drawing.seed)
    shares = []
    for part in rows:
        sums = np.concatenate(list(resample(part, drawing.resamples, rng)))
        shares.append(sums[:, 0] / sums[:, 1])
    below = (1 - drawing.confidence) / 2
    low, high = np.quantile(shares[0] - shares[1], [below, 1 - below])
    return float(low), float(high)
