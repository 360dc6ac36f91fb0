"""Compute the figures of an audit: shares, upheld items, agreement, corrected rates.

Each figure has an interval. Its unit is the sentence pair: items of one pair, and judgments of one
item, are alike. Shares have Wilson's interval for the information in the pairs, differences of two
shares Newcombe's, made from Wilson's, and agreement a bootstrap over pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan, nan
from typing import Any

import numpy as np

from alignkit._support.array_types import F8
from alignkit.agreement.kappa import Contingency, table_ratios
from alignkit.audit.audit import Audit, Item, Rate
from alignkit.audit.filled import Filled
from alignkit.stats import resampling, shares
from alignkit.stats.clusters import share_interval
from alignkit.stats.defaults import CONFIDENCE, RESAMPLES, SEED

ALL = "all judges"  # the judge of figures over all judgments

EVERY = "every judge"  # the judge of the share of items that all their judges uphold

NOTHING = "none of it was judged"

_AGREEMENT = ("observed", "kappa")

Counts = F8


@dataclass(frozen=True)
class AuditResamples:
    """The options of intervals."""

    confidence: float = CONFIDENCE  # between 0 and 1
    resamples: int = RESAMPLES  # of the bootstrap
    seed: int = SEED  # of its draws


@dataclass(frozen=True)
class AuditFigure:
    r"""One figure, with all that identifies it.

    Part of `AuditResult.figures`.

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
    interval : ``"wilson"``, ``"newcombe"``, ``"bootstrap"``, or empty.
    count, total : The judgments behind a share: count out of total.
    items : The number of items it is based on; for a scored rate, the number of phrase pairs.
    units : The number of sentence pairs of these items, the units of the interval.
    reason : Why there is no value, or no interval.
    group : The value of the attribute that figures are grouped by; empty for all items.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from alignkit import read_corpus
    >>> from alignkit.audit import draw_phrases, read_audit, write_audit
    >>> audit = draw_phrases(read_corpus("samples/paraphrases.jsonl"), "eflomal", "gold", n=4)
    >>> with TemporaryDirectory() as folder:
    ...     sheet, key = write_audit(audit, folder, judges=["anna"])
    ...     empty = Path(sheet).read_text("utf-8")
    ...     _ = Path(sheet).write_text(empty.replace("\t\t\t", "\tcorrect\t\t"), "utf-8")
    ...     figure = read_audit(sheet, key).figures[0]
    >>> figure.kind, figure.statistic, figure.value
    ('share', 'correct', 1.0)
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
    units: int = 0


def all_figures(
    audit: Audit, filled: Filled, by: str, drawing: AuditResamples
) -> tuple[AuditFigure, ...]:
    """Return every figure; those for each value of the attribute `by` come last."""
    figures = list(_shares(audit, filled, drawing))
    figures += _upheld(audit, filled, drawing)
    figures += _agreement(audit, filled, drawing)
    figures += _corrections(audit, filled, drawing)
    groups = audit.groups(by) if by else {}
    for value, part in groups.items():
        agreement = _agreement(part, filled, drawing)
        of_group = list(_upheld(part, filled, drawing))
        of_group += [figure for figure in agreement if not figure.origin and figure.items]
        figures += [replace(figure, group=value or f"(no {by})") for figure in of_group]
    return tuple(figures)


def _by_unit(rows: Counts, items: Sequence[Item]) -> Counts:
    """Return the sums of the rows of each sentence pair, without pairs that have nothing."""
    _, unit_of = np.unique([item.unit for item in items], return_inverse=True)
    sums = np.zeros((len(items), rows.shape[1]))
    np.add.at(sums, unit_of.reshape(-1), rows)
    units: Counts = sums[sums.sum(axis=1) > 0]
    return units


def _judges(filled: Filled, *several: str) -> tuple[str, ...]:
    """Return the judges, then names for all of them if there is more than one."""
    if len(filled.judges) > 1:
        return (*filled.judges, *several)
    return filled.judges


@dataclass(frozen=True, eq=False)
class _Judged:
    """The judgments of some items, each in one of K columns."""

    rows: Counts  # (U, K), a row for each sentence pair with judged items
    items: int  # how many items are judged

    @classmethod
    def of(cls, items: Sequence[Item], counts: Counts) -> _Judged:
        """Make it from the (Q, K) counts of the judgments of items."""
        judged = np.count_nonzero(counts.sum(axis=1))
        return cls(_by_unit(counts, items), int(judged))

    def share(self, places: list[int], drawing: AuditResamples) -> dict[str, Any]:
        """Return the figure of the share of some columns."""
        counts = self.rows[:, places].sum(axis=1)
        totals = self.rows.sum(axis=1)
        count = int(counts.sum())
        total = int(totals.sum())
        confidence = drawing.confidence
        low, high = share_interval(counts.astype(np.int64), totals.astype(np.int64), confidence)
        reason = ""
        if not total:
            reason = NOTHING
        elif isnan(low):
            reason = resampling.ONE_PAIR
        return {
            "value": count / total if total else nan,
            "low": low,
            "high": high,
            "interval": "wilson",
            "count": count,
            "total": total,
            "items": self.items,
            "units": len(self.rows),
            "reason": reason,
        }


def _counts(audit: Audit, filled: Filled, origin: str, who: str) -> Counts:
    """Return how often the items of an origin got each judgment, (Q, K)."""
    items = audit.of(origin)
    judges = filled.judges if who in (ALL, EVERY) else (who,)
    counts = np.zeros((len(items), len(audit.scale.names)))
    for k, item in enumerate(items):
        for judge in judges:
            judgment = filled.judgments[judge].get(item.id)
            if judgment is not None:
                counts[k, audit.scale.place(judgment)] += 1
    return counts


def _judged(audit: Audit, filled: Filled, origin: str, who: str) -> _Judged:
    """Count the judgments of the items of an origin."""
    return _Judged.of(audit.of(origin), _counts(audit, filled, origin, who))


def _shares(audit: Audit, filled: Filled, drawing: AuditResamples) -> Iterator[AuditFigure]:
    """Yield the share of each judgment, by origin and judge."""
    for origin in audit.origins:
        for who in _judges(filled, ALL):
            judged = _judged(audit, filled, origin, who)
            for k, name in enumerate(audit.scale.names):
                yield AuditFigure("share", who, "", origin, name, **judged.share([k], drawing))


def _corrections(audit: Audit, filled: Filled, drawing: AuditResamples) -> Iterator[AuditFigure]:
    """Yield each rate as scored, and without the errors that were judged right."""
    for name, rate in audit.rates.items():
        scored = rate.hits / rate.total if rate.total else nan
        yield AuditFigure("rate", "", "", rate.origin, name, scored, items=rate.total)
        for who in _judges(filled, ALL):
            judged = _judged(audit, filled, rate.origin, who)
            for way, right in (("strict", rate.strict), ("lenient", rate.lenient)):
                share = judged.share(list(map(audit.scale.place, right)), drawing)
                figure = {**share, **_corrected(rate, share), "count": None, "total": None}
                yield AuditFigure(f"{way} rate", who, "", rate.origin, name, **figure)


def _corrected(rate: Rate, share: Mapping[str, Any]) -> dict[str, Any]:
    """Return a rate if a share of its errors is right: its value, bounds and reason."""
    if rate.hits == rate.total:
        value = 1.0 if rate.total else nan
        none = "there is no error to correct"
        return {"value": value, "low": nan, "high": nan, "reason": none}
    errors = rate.total - rate.hits
    bounds = ("value", "low", "high")
    return {name: (rate.hits + share[name] * errors) / rate.total for name in bounds}


def _upheld(audit: Audit, filled: Filled, drawing: AuditResamples) -> Iterator[AuditFigure]:
    """Yield the shares of upheld items, and the difference between the two origins."""
    if not audit.upheld:
        return
    upholding = sorted(set(map(audit.scale.place, audit.upheld)))  # a name may stand there twice
    for who in _judges(filled, EVERY, ALL):
        shares = []
        for origin in audit.origins:
            counts = _counts(audit, filled, origin, who)
            upheld = counts[:, upholding].sum(axis=1)
            judged = counts.sum(axis=1)
            if who == EVERY:  # an item counts once, as upheld if all its judges uphold it
                upheld = np.where(upheld < judged, 0, np.minimum(judged, 1))
                judged = np.minimum(judged, 1)
            both = np.stack([upheld, judged - upheld], axis=1)
            share = _Judged.of(audit.of(origin), both).share([0], drawing)
            shares.append(AuditFigure("upheld", who, "", origin, "upheld", **share))
        yield from shares
        yield _difference(*shares)


def _difference(first: AuditFigure, second: AuditFigure) -> AuditFigure:
    """Return the difference of two shares of different sentence pairs."""
    value = nan
    low = nan
    high = nan
    reason = "one of the two has no judged items"
    if first.total and second.total:
        value = first.value - second.value
        reason = first.reason or second.reason
        low, high = shares.difference_interval(
            first.value, (first.low, first.high), second.value, (second.low, second.high)
        )
    return AuditFigure(
        kind="difference",
        first=first.first,
        second="",
        origin=f"{first.origin} - {second.origin}",
        statistic="upheld",
        value=value,
        low=low,
        high=high,
        interval="newcombe",
        items=first.items + second.items,
        units=first.units + second.units,
        reason=reason,
    )


def confusions(audit: Audit, filled: Filled) -> dict[tuple[str, str], Contingency]:
    """Return the table of judgments of every two judges."""
    names = audit.scale.names
    confusions = {}
    for two in combinations(filled.judges, 2):
        counts = _tables(audit, filled, two).sum(axis=0).astype(np.int64)
        table = counts.reshape(len(names), len(names))
        confusions[two] = Contingency.of(names, table.tolist())
    return confusions


def _tables(audit: Audit, filled: Filled, two: tuple[str, str]) -> Counts:
    """Return the flat table of two judges for each item: (Q, K * K), with one 1 or none."""
    size = len(audit.scale.names)
    rows = np.zeros((len(audit.items), size * size))
    first, second = two
    firsts = filled.judgments[first]
    seconds = filled.judgments[second]
    for k, item in enumerate(audit.items):
        if item.id in firsts and item.id in seconds:
            row = audit.scale.place(firsts[item.id])
            column = audit.scale.place(seconds[item.id])
            rows[k, row * size + column] = 1
    return rows


def _agreement(audit: Audit, filled: Filled, drawing: AuditResamples) -> list[AuditFigure]:
    """Return the observed agreement and Cohen's kappa of every two judges, and the means."""
    figures: list[AuditFigure] = []
    tables = {two: _tables(audit, filled, two) for two in combinations(filled.judges, 2)}

    def mean(sums: resampling.Counts) -> dict[str, Counts]:
        """Return the mean measures over the tables of all pairs of judges."""
        parts = np.split(np.asarray(sums, np.float64), len(tables), axis=1)
        measures = [_ratios(part) for part in parts]
        weights = np.stack([part.sum(axis=1) for part in parts])
        means = {}
        for name in _AGREEMENT:
            values = np.stack([measure[name] for measure in measures])
            means[name] = _weighted(values, weights)
        return means

    for origin in ("", *audit.origins):
        chosen = [k for k, item in enumerate(audit.items) if origin in ("", item.origin)]
        items = [audit.items[k] for k in chosen]
        for two, rows in tables.items():
            judged = _Judged.of(items, rows[chosen])
            figures += _agreement_of("agreement", two, origin, judged, _ratios, drawing)
        if len(tables) > 1:
            every = np.concatenate([rows[chosen] for rows in tables.values()], axis=1)
            judged = _Judged.of(items, every)
            figures += _agreement_of("mean agreement", (ALL, ""), origin, judged, mean, drawing)
    return figures


def _agreement_of(
    kind: str,
    who: tuple[str, str],
    origin: str,
    judged: _Judged,
    measure: resampling.Ratios,
    drawing: AuditResamples,
) -> list[AuditFigure]:
    """Return both figures of agreement, of two judges or the means, with their intervals."""
    rows = judged.rows
    values = measure(rows.sum(axis=0, keepdims=True))
    intervals = resampling.confidence_interval(rows, measure, **vars(drawing))
    undefined = "both gave the same judgment everywhere"
    if kind != "agreement":
        undefined = "it is undefined for every two judges"
    elif not len(rows):
        undefined = "no item was judged by both"
    figures = []
    for name in _AGREEMENT:
        value = float(values[name][0])
        interval = intervals[name]
        first, second = who
        figures.append(
            AuditFigure(
                kind=kind,
                first=first,
                second=second,
                origin=origin,
                statistic=name,
                value=value,
                low=interval.low,
                high=interval.high,
                interval="bootstrap",
                items=judged.items,
                units=len(rows),
                reason=undefined if isnan(value) else interval.reason,
            )
        )
    return figures


def _ratios(sums: resampling.Counts) -> dict[str, Counts]:
    """Return observed agreement and kappa, (R,) each, of (R, K * K) flat tables."""
    ratios = table_ratios(np.asarray(sums, np.float64))
    return {name: ratios[name] for name in _AGREEMENT}


def _weighted(values: Counts, weights: Counts) -> Counts:
    """Return the (R,) weighted means of (L, R) values, without undefined ones."""
    used = np.where(np.isnan(values), 0.0, weights)
    sums = (np.nan_to_num(values) * used).sum(axis=0)
    return resampling.ratio(sums, used.sum(axis=0))
