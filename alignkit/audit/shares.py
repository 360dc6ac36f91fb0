"""Count judgments: the share of each, by origin and judge, and the rates that they correct."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from alignkit.audit.audit import Audit, Rate
from alignkit.audit.filled import Filled
from alignkit.stats.intervals import wilson_interval
from alignkit.stats.ratios import ratio
from alignkit.stats.resampling import confidence_interval

ALL = "all judges"
"""Who judged, of a figure over all judgments."""

EVERY = "every judge"
"""Who judged, of the share of items that all who judged it uphold."""

ONE = "there is one item, and nothing to resample"


@dataclass(frozen=True)
class AuditResamples:
    """How intervals are drawn."""

    confidence: float = 0.95  # between 0 and 1
    resamples: int = 1000  # of the bootstrap
    seed: int = 12345  # of its draws


@dataclass(frozen=True)
class AuditFigure:
    """One figure, and all that tells it from others.

    Parameters
    ----------
    kind
        ``"share"`` of a judgment; ``"agreement"`` of two judges, ``"mean agreement"`` of all;
        ``"rate"`` as it was scored, ``"strict rate"`` and ``"lenient rate"`` as judgments correct
        it; ``"upheld"``, the share of items that are upheld, ``"difference"`` of the two shares.
    first, second
        The judge, or the two; `ALL`; `EVERY`; empty where it is of no judge.
    origin
        Of the items; empty for all.
    statistic
        The judgment, ``"observed"``, ``"kappa"``, the name of the rate, or ``"upheld"``.
    value
        NaN where undefined.
    low, high
        The bounds of its interval; NaN where it has none.
    interval
        ``"wilson"``, ``"newcombe"``, ``"bootstrap"`` over items, or empty.
    count, total
        The judgments behind a share: so many of so many.
    items
        How many items it rests on; of a rate as it was scored, how many phrase pairs.
    reason
        Why there is no value, or no interval.
    group
        The value of the attribute that figures are told by; empty for all items.
    """

    kind: str
    first: str
    second: str
    origin: str
    statistic: str
    value: float
    low: float = nan
    high: float = nan
    interval: str = ""
    count: int | None = None
    total: int | None = None
    items: int = 0
    reason: str = ""
    group: str = ""


Measure = Callable[[NDArray[np.float64]], Mapping[str, NDArray[np.float64]]]
"""What turns (R, C) sums of rows into named measures, (R,) each."""


def bounded(
    rows: NDArray[np.float64], measure: Measure, drawing: AuditResamples
) -> dict[str, tuple[float, float, str]]:
    """Return for each measure the bounds of a bootstrap over items, or why there are none."""
    names = list(measure(rows.sum(axis=0)[np.newaxis]))
    if len(rows) < 2:
        return dict.fromkeys(names, (nan, nan, ONE if len(rows) else ""))
    intervals = confidence_interval(
        rows,
        lambda sums: dict(measure(np.asarray(sums, np.float64))),
        resamples=drawing.resamples,
        confidence=drawing.confidence,
        seed=drawing.seed,
    )
    return {
        name: (nan, nan, interval.reason) if interval.reason else (interval.low, interval.high, "")
        for name, interval in intervals.items()
    }


Counts = NDArray[np.float64]

NOTHING = "nothing of it was judged"


def share_figures(audit: Audit, filled: Filled, drawing: AuditResamples) -> list[AuditFigure]:
    """Return, by origin and judge, the share of each judgment among those given."""
    figures: list[AuditFigure] = []
    for origin in audit.origins:
        for judge in filled.judges:
            figures += _judge_shares(audit, filled, origin, judge, drawing)
        if len(filled.judges) > 1:
            figures += _pooled_shares(audit, filled, origin, drawing)
    return figures


def _judge_shares(
    audit: Audit, filled: Filled, origin: str, judge: str, drawing: AuditResamples
) -> list[AuditFigure]:
    counts = _counts(audit, filled, origin, [judge]).sum(axis=0).astype(int).tolist()
    total = sum(counts)
    figures = []
    for name, count in zip(audit.scale.names, counts, strict=True):
        low, high = wilson_interval(count, total, drawing.confidence)
        value, reason = (count / total, "") if total else (nan, NOTHING)
        figures.append(
            AuditFigure("share", judge, "", origin, name, value, low, high, "wilson", count, total,
                   total, reason)
        )  # fmt: skip
    return figures


def _pooled_shares(
    audit: Audit, filled: Filled, origin: str, drawing: AuditResamples
) -> list[AuditFigure]:
    counts = _counts(audit, filled, origin, filled.judges)
    counts = counts[counts.sum(axis=1) > 0]
    sums = counts.sum(axis=0)

    def measure(rows: Counts) -> dict[str, Counts]:
        total = rows.sum(axis=1)
        return {name: ratio(rows[:, k], total) for k, name in enumerate(audit.scale.names)}

    bounds = bounded(counts, measure, drawing)
    return [
        AuditFigure(
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


def correction_figures(audit: Audit, filled: Filled, drawing: AuditResamples) -> list[AuditFigure]:
    """Return each rate as it was scored, and what it were if right errors were no errors."""
    figures: list[AuditFigure] = []
    judges = [*filled.judges, *([ALL] if len(filled.judges) > 1 else [])]
    for name, rate in audit.rates.items():
        plain = rate.hits / rate.total if rate.total else nan
        figures.append(AuditFigure("rate", "", "", rate.origin, name, plain, items=rate.total))
        for judge in judges:
            for way, right in (("strict", rate.strict), ("lenient", rate.lenient)):
                figures.append(_corrected(audit, filled, drawing, name, rate, judge, way, right))
    return figures


def _corrected(
    audit: Audit,
    filled: Filled,
    drawing: AuditResamples,
    name: str,
    rate: Rate,
    judge: str,
    way: str,
    right: Sequence[str],
) -> AuditFigure:
    who = filled.judges if judge == ALL else [judge]
    counts = _counts(audit, filled, rate.origin, who)
    counts = counts[counts.sum(axis=1) > 0]
    places = [audit.scale.place(name_of) for name_of in right]
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
    return AuditFigure(
        f"{way} rate", judge, "", rate.origin, name, value, raise_to(low), raise_to(high), kind,
        items=len(counts), reason=reason,
    )  # fmt: skip


def _raised(rate: Rate) -> Callable[[float], float]:
    rest = rate.total - rate.hits
    return lambda share: (rate.hits + share * rest) / rate.total if rate.total else nan
