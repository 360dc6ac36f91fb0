"""Count judgments: the share of each, by origin and judge, and the rates that they correct."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from alignkit.audit.audit import Audit, Rate
from alignkit.audit.figures import ALL, Drawing, Figure, bounded
from alignkit.audit.filled import Filled
from alignkit.scoring.measures import ratio
from alignkit.scoring.wilson import wilson_interval

Counts = NDArray[np.float64]

NOTHING = "nothing of it was judged"


def share_figures(audit: Audit, filled: Filled, drawing: Drawing) -> list[Figure]:
    """Return, by origin and judge, the share of each judgment among those given."""
    figures: list[Figure] = []
    for origin in audit.origins:
        for judge in filled.judges:
            figures += _judge_shares(audit, filled, origin, judge, drawing)
        if len(filled.judges) > 1:
            figures += _pooled_shares(audit, filled, origin, drawing)
    return figures


def _judge_shares(
    audit: Audit, filled: Filled, origin: str, judge: str, drawing: Drawing
) -> list[Figure]:
    counts = _counts(audit, filled, origin, [judge]).sum(axis=0).astype(int).tolist()
    total = sum(counts)
    figures = []
    for name, count in zip(audit.scale.names, counts, strict=True):
        low, high = wilson_interval(count, total, drawing.confidence)
        value, reason = (count / total, "") if total else (nan, NOTHING)
        figures.append(
            Figure("share", judge, "", origin, name, value, low, high, "wilson", count, total,
                   total, reason)
        )  # fmt: skip
    return figures


def _pooled_shares(audit: Audit, filled: Filled, origin: str, drawing: Drawing) -> list[Figure]:
    counts = _counts(audit, filled, origin, filled.judges)
    counts = counts[counts.sum(axis=1) > 0]
    sums = counts.sum(axis=0)

    def measure(rows: Counts) -> dict[str, Counts]:
        total = rows.sum(axis=1)
        return {name: ratio(rows[:, k], total) for k, name in enumerate(audit.scale.names)}

    bounds = bounded(counts, measure, drawing)
    return [
        Figure(
            "share", ALL, "", origin, name, float(value[0]), *bounds[name][:2], "bootstrap",
            int(sums[k]), int(sums.sum()), len(counts), bounds[name][2] if len(counts) else NOTHING,
        )
        for k, (name, value) in enumerate(measure(sums[np.newaxis]).items())
    ]  # fmt: skip


def _counts(audit: Audit, filled: Filled, origin: str, judges: Sequence[str]) -> Counts:
    """Return for each item of an origin how many of the judges gave it each judgment: (Q, K)."""
    items = audit.of(origin)
    counts = np.zeros((len(items), len(audit.scale.names)))
    for k, item in enumerate(items):
        for judge in judges:
            said = filled.judgments[judge].get(item.id)
            if said is not None:
                counts[k, audit.scale.place(said)] += 1
    return counts


def correction_figures(audit: Audit, filled: Filled, drawing: Drawing) -> list[Figure]:
    """Return each rate as it was scored, and what it were if right errors were no errors."""
    figures: list[Figure] = []
    judges = [*filled.judges, *([ALL] if len(filled.judges) > 1 else [])]
    for name, rate in audit.rates.items():
        plain = rate.hits / rate.total if rate.total else nan
        figures.append(Figure("rate", "", "", rate.origin, name, plain, items=rate.total))
        for judge in judges:
            for way, right in (("strict", rate.strict), ("lenient", rate.lenient)):
                figures.append(_corrected(audit, filled, drawing, name, rate, judge, way, right))
    return figures


def _corrected(
    audit: Audit,
    filled: Filled,
    drawing: Drawing,
    name: str,
    rate: Rate,
    judge: str,
    way: str,
    right: Sequence[str],
) -> Figure:
    who = filled.judges if judge == ALL else [judge]
    counts = _counts(audit, filled, rate.origin, who)
    counts = counts[counts.sum(axis=1) > 0]
    places = [audit.scale.place(one) for one in right]
    raise_to = _raised(rate)

    def measure(rows: Counts) -> dict[str, Counts]:
        return {way: ratio(rows[:, places].sum(axis=1), rows.sum(axis=1))}

    share = float(measure(counts.sum(axis=0)[np.newaxis])[way][0])
    if judge == ALL:
        low, high, reason = bounded(counts, measure, drawing)[way]
        kind = "bootstrap"
    else:
        count, total = int(counts[:, places].sum()), int(counts.sum())
        low, high = wilson_interval(count, total, drawing.confidence)
        kind, reason = "wilson", ""
    value = raise_to(share)
    if isnan(share):
        reason = NOTHING
    if rate.hits == rate.total:
        value, low, high, reason = raise_to(0.0), nan, nan, "there is no error to correct"
    return Figure(
        f"{way} rate", judge, "", rate.origin, name, value, raise_to(low), raise_to(high), kind,
        items=len(counts), reason=reason,
    )  # fmt: skip


def _raised(rate: Rate) -> Callable[[float], float]:
    rest = rate.total - rate.hits
    return lambda share: (rate.hits + share * rest) / rate.total if rate.total else nan
