"""Compute the figures of an audit: shares, upheld items, agreement, corrected rates.

Each figure has an interval: Wilson's for the share of one judge, Newcombe's for the difference of
two such shares, and a bootstrap over items for several judges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan, nan
from typing import Any

import numpy as np

from alignkit._support.array_types import F8
from alignkit.agreement.kappa import Contingency, table_ratios
from alignkit.audit.audit import Audit
from alignkit.audit.filled import Filled
from alignkit.stats import resampling

ALL = "all judges"  # the judge of figures over all judgments

EVERY = "every judge"  # the judge of the share of items that all their judges uphold

NOTHING = "none of it was judged"

_AGREEMENT = ("observed", "kappa")

Counts = F8

Measure = Callable[[Counts], Mapping[str, Counts]]
"""Turns (R, C) sums of rows into named measures, (R,) each."""


@dataclass(frozen=True)
class AuditResamples:
    """The options of intervals."""

    confidence: float = 0.95  # between 0 and 1
    resamples: int = 1000  # of the bootstrap
    seed: int = 12345  # of its draws


@dataclass(frozen=True)
class AuditFigure:
    """One figure, with all that identifies it.

    Parameters
    ----------
    kind : ``"share"`` of a judgment; ``"agreement"`` of two judges, ``"mean agreement"`` of all;
        ``"rate"`` as scored, ``"strict rate"`` and ``"lenient rate"`` as corrected by judgments;
        ``"upheld"``, the share of upheld items, ``"difference"`` of two such shares.
    first, second : The judge, or the two; `ALL`; `EVERY`; empty without a judge.
    origin : The origin of the items; empty for all.
    statistic : The judgment, ``"observed"``, ``"kappa"``, the name of the rate, or ``"upheld"``.
    value : The value; NaN if undefined.
    low, high : The bounds of the interval; NaN without one.
    interval : ``"wilson"``, ``"newcombe"``, ``"bootstrap"`` over items, or empty.
    count, total : The judgments behind a share: count out of total.
    items : The number of items it is based on; for a scored rate, the number of phrase pairs.
    reason : Why there is no value, or no interval.
    group : The value of the attribute that figures are grouped by; empty for all items.
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


def all_figures(
    audit: Audit, filled: Filled, by: str, drawing: AuditResamples
) -> tuple[AuditFigure, ...]:
    """Return every figure; those for each value of the attribute `by` come last."""
    given = audit, filled, drawing
    figures = [*_shares(*given), *_upheld(*given), *_agreement(*given), *_corrections(*given)]
    for value, part in audit.groups(by).items() if by else ():
        grouped = [x for x in _agreement(part, filled, drawing) if not x.origin and x.items]
        several = (*_upheld(part, filled, drawing), *grouped)
        figures += [replace(figure, group=value or f"(no {by})") for figure in several]
    return tuple(figures)


def _bounded(
    rows: Counts, measure: Measure, drawing: AuditResamples
) -> dict[str, tuple[float, float, str]]:
    """Return the bounds of each measure from a bootstrap over items, or why there are none."""
    if len(rows) < 2:
        none = "there is only one item, so nothing to resample" if len(rows) else ""
        return dict.fromkeys(measure(rows.sum(axis=0)[np.newaxis]), (nan, nan, none))
    intervals = resampling.confidence_interval(
        rows, lambda sums: dict(measure(np.asarray(sums, np.float64))), **vars(drawing)
    )
    return {
        name: (nan, nan, interval.reason) if interval.reason else (interval.low, interval.high, "")
        for name, interval in intervals.items()
    }


def _judges(filled: Filled, *several: str) -> tuple[str, ...]:
    """Return the judges, then names for all of them if there is more than one."""
    return (*filled.judges, *(several if len(filled.judges) > 1 else ()))


def _judged(audit: Audit, filled: Filled, origin: str, who: str) -> Counts:
    """Count the judgments of each judged item of an origin: (Q, K)."""
    items = audit.of(origin)
    counts = np.zeros((len(items), len(audit.scale.names)))
    for k, item in enumerate(items):
        for judge in filled.judges if who == ALL else (who,):
            if (judgment := filled.judgments[judge].get(item.id)) is not None:
                counts[k, audit.scale.place(judgment)] += 1
    judged: Counts = counts[counts.sum(axis=1) > 0]
    return judged


def _share(rows: Counts, places: list[int], who: str, drawing: AuditResamples) -> dict[str, Any]:
    """Return the figure of the share of some columns in the counts (Q, K) of items."""

    def measure(sums: Counts) -> dict[str, Counts]:
        return {"share": resampling.ratio(sums[:, places].sum(axis=1), sums.sum(axis=1))}

    count, total = int(rows[:, places].sum()), int(rows.sum())
    if who == ALL:
        low, high, reason = _bounded(rows, measure, drawing)["share"]
    else:
        (low, high), reason = resampling.wilson_interval(count, total, drawing.confidence), ""
    return {
        "value": count / total if total else nan, "low": low, "high": high,
        "interval": "bootstrap" if who == ALL else "wilson", "count": count, "total": total,
        "items": len(rows), "reason": reason if total else NOTHING,
    }  # fmt: skip


def _shares(audit: Audit, filled: Filled, drawing: AuditResamples) -> Iterator[AuditFigure]:
    """Yield the share of each judgment, by origin and judge."""
    for origin in audit.origins:
        for who in _judges(filled, ALL):
            rows = _judged(audit, filled, origin, who)
            for k, name in enumerate(audit.scale.names):
                yield AuditFigure("share", who, "", origin, name, **_share(rows, [k], who, drawing))


def _corrections(audit: Audit, filled: Filled, drawing: AuditResamples) -> Iterator[AuditFigure]:
    """Yield each rate as scored, and without the errors that were judged right."""
    for name, rate in audit.rates.items():
        plain = rate.hits / rate.total if rate.total else nan
        yield AuditFigure("rate", "", "", rate.origin, name, plain, items=rate.total)
        for who in _judges(filled, ALL):
            rows = _judged(audit, filled, rate.origin, who)
            for way, right in (("strict", rate.strict), ("lenient", rate.lenient)):
                share = _share(rows, [*map(audit.scale.place, right)], who, drawing)
                if rate.hits == rate.total:
                    none = "there is no error to correct"
                    share |= {"value": 0.0, "low": nan, "high": nan, "reason": none}
                for x in ("value", "low", "high"):
                    errors = rate.total - rate.hits
                    share[x] = (rate.hits + share[x] * errors) / rate.total if rate.total else nan
                share |= {"count": None, "total": None}
                yield AuditFigure(f"{way} rate", who, "", rate.origin, name, **share)


def _upheld(audit: Audit, filled: Filled, drawing: AuditResamples) -> Iterator[AuditFigure]:
    """Yield the shares of upheld items, and the difference between the two origins."""
    for who in _judges(filled, EVERY, ALL) if audit.upheld else ():
        rows = {origin: _upheld_rows(audit, filled, origin, who) for origin in audit.origins}
        for origin, part in rows.items():
            share = _share(part, [0], who, drawing)
            yield AuditFigure("upheld", who, "", origin, "upheld", **share)
        yield _difference(list(rows.values()), tuple(audit.origins), who, drawing)


def _upheld_rows(audit: Audit, filled: Filled, origin: str, who: str) -> Counts:
    """Return how often each judged item of an origin is upheld, and is not: (Q, 2)."""
    judges = filled.judges if who in (ALL, EVERY) else (who,)
    rows = []
    for item in audit.of(origin):
        said = [filled.judgments[judge].get(item.id) for judge in judges]
        upheld = [judgment in audit.upheld for judgment in said if judgment is not None]
        if who == EVERY:
            upheld = [all(upheld)] if upheld else []
        if upheld:
            rows.append([sum(upheld), len(upheld) - sum(upheld)])
    return np.array(rows, np.float64).reshape(-1, 2)


def _difference(
    rows: Sequence[Counts], origins: Sequence[str], who: str, drawing: AuditResamples
) -> AuditFigure:
    (count, total), (other, of) = ((int(part[:, 0].sum()), int(part.sum())) for part in rows)
    value, reason = nan, "one of the two has no judged items"
    if total and of:
        value, reason = count / total - other / of, ""
    low, high = resampling.newcombe_interval(count, total, other, of, drawing.confidence)
    if who == ALL and not reason:
        rng = np.random.default_rng(drawing.seed)
        drawn = [
            np.concatenate(list(resampling.resample(part, drawing.resamples, rng))) for part in rows
        ]
        shares = [sums[:, 0] / sums.sum(axis=1) for sums in drawn]
        below = (1 - drawing.confidence) / 2
        low, high = map(float, np.quantile(shares[0] - shares[1], [below, 1 - below]))
        if low == high:
            low, high, reason = nan, nan, resampling.ALIKE
    return AuditFigure(
        "difference", who, "", " - ".join(origins), "upheld", value, low, high,
        "bootstrap" if who == ALL else "newcombe", items=sum(map(len, rows)), reason=reason,
    )  # fmt: skip


def confusions(audit: Audit, filled: Filled) -> dict[tuple[str, str], Contingency]:
    """Return the table of judgments of every two judges."""
    names, size = audit.scale.names, len(audit.scale.names)
    tables = {
        two: _tables(audit, filled, two).sum(axis=0).astype(np.int64).reshape(size, size)
        for two in combinations(filled.judges, 2)
    }
    return {two: Contingency.of(names, table.tolist()) for two, table in tables.items()}


def _tables(audit: Audit, filled: Filled, two: tuple[str, str]) -> Counts:
    """Return the flat table of two judges for each item: (Q, K * K), with one 1 or none."""
    size = len(audit.scale.names)
    rows = np.zeros((len(audit.items), size * size))
    for k, item in enumerate(audit.items):
        first, second = (filled.judgments[judge].get(item.id) for judge in two)
        if first is not None and second is not None:
            rows[k, audit.scale.place(first) * size + audit.scale.place(second)] = 1
    return rows


def _agreement(audit: Audit, filled: Filled, drawing: AuditResamples) -> list[AuditFigure]:
    """Return the observed agreement and Cohen's kappa of every two judges, and the means."""
    figures: list[AuditFigure] = []
    tables = {two: _tables(audit, filled, two) for two in combinations(filled.judges, 2)}
    origins = np.array([item.origin for item in audit.items])
    width = len(audit.scale.names) ** 2

    def mean(sums: Counts) -> dict[str, Counts]:
        """Return the mean measures over the tables of all pairs of judges."""
        parts = [sums[:, k : k + width] for k in range(0, sums.shape[1], width)]
        ratios = [_ratios(part) for part in parts]
        weights = np.stack([part.sum(axis=1) for part in parts])
        return {x: _weighted(np.stack([of[x] for of in ratios]), weights) for x in _AGREEMENT}

    for origin in ("", *audit.origins):
        chosen = np.ones(len(origins), bool) if not origin else origins == origin
        for two, rows in tables.items():
            figures += _agreement_of("agreement", two, origin, rows[chosen], _ratios, drawing)
        if len(tables) > 1:
            every = np.concatenate([rows[chosen] for rows in tables.values()], axis=1)
            figures += _agreement_of("mean agreement", (ALL, ""), origin, every, mean, drawing)
    return figures


def _agreement_of(
    kind: str, who: tuple[str, str], origin: str, rows: Counts, measure: Measure,
    drawing: AuditResamples,
) -> list[AuditFigure]:  # fmt: skip
    rows = rows[rows.sum(axis=1) > 0]
    values, bounds = measure(rows.sum(axis=0)[np.newaxis]), _bounded(rows, measure, drawing)
    undefined = "both gave the same judgment everywhere"
    if kind != "agreement":
        undefined = "it is undefined for every two judges"
    elif not len(rows):
        undefined = "no item was judged by both"
    figures = []
    for name in _AGREEMENT:
        value = float(values[name][0])
        low, high, reason = (nan, nan, undefined) if isnan(value) else bounds[name]
        figures.append(
            AuditFigure(kind, *who, origin, name, value, low, high, "bootstrap", items=len(rows),
                        reason=reason)
        )  # fmt: skip
    return figures


def _ratios(sums: Counts) -> dict[str, Counts]:
    ratios = table_ratios(sums)
    return {name: ratios[name] for name in _AGREEMENT}


def _weighted(values: Counts, weights: Counts) -> Counts:
    """Return the (R,) weighted means of (L, R) values, without undefined ones."""
    used = np.where(np.isnan(values), 0.0, weights)
    return resampling.ratio((np.nan_to_num(values) * used).sum(axis=0), used.sum(axis=0))
