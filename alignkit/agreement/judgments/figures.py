"""Compute every figure of the judgments in one view, each with its interval and its reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from alignkit._support.jit import readonly
from alignkit._support.parallel import executor
from alignkit.agreement.fleiss import fleiss_ratios
from alignkit.agreement.intervals import NO_PAIRS, Floats, Rows, reasoned
from alignkit.agreement.judgments.comparisons import NOTHING_SHARED, LabelComparisons, ViewData
from alignkit.agreement.judgments.consensus import label_counts, majority_labels, others_label
from alignkit.agreement.judgments.tables import LabelTables, NullKappas
from alignkit.agreement.judgments.tables_kernel import group_sums
from alignkit.agreement.result import Figure
from alignkit.stats.intervals import wilson_interval
from alignkit.stats.ratios import ratio
from alignkit.stats.resampling import ONE_PAIR, Interval, summarize

UNEQUAL = "items have different numbers of judgments"  # why Fleiss' kappa is undefined


def joint_rows(counts: NDArray[np.int32], *, ordered: bool = True) -> Rows:
    """Return what alpha, AC1 and Fleiss' kappa are functions of, for (P, K) counts of labels."""
    # Krippendorff 2019, Content Analysis, chapter 12; Gwet 2008, British Journal of Mathematical
    # and Statistical Psychology 61; Fleiss 1971, Psychological Bulletin 76
    votes = counts.astype(np.float64)
    items, size = votes.shape
    judged = votes.sum(axis=1)
    pairable = judged >= 2
    scale = np.where(pairable, 1 / np.maximum(judged - 1, 1), 0)
    together = votes[:, :, np.newaxis] * (votes[:, np.newaxis] - np.eye(size))
    seen = (together * scale[:, np.newaxis, np.newaxis]).reshape(items, -1)
    agreeing = np.trace(together, axis1=1, axis2=2)
    raters = np.unique(judged[judged > 0])
    columns = [
        seen,
        votes / np.maximum(judged, 1)[:, np.newaxis],
        votes,
        np.column_stack([judged > 0, pairable, _agreeing_share(agreeing, judged), agreeing]),
    ]
    even = int(raters[0]) if len(raters) == 1 and raters[0] >= 2 else 0
    return Rows(np.hstack(columns), partial(_measures, size=size, ordered=ordered, raters=even))


def _agreeing_share(agreeing: Floats, judged: Floats) -> Floats:
    """Return the share of an item's pairs of judgments that agree; 0 where it has no pair."""
    pairs = judged * (judged - 1)
    return np.divide(agreeing, pairs, out=np.zeros(len(pairs)), where=pairs > 0)


def _measures(sums: Floats, size: int, ordered: bool, raters: int) -> Mapping[str, Floats]:
    seen = sums[:, : size * size].reshape(-1, size, size)
    shares, votes = sums[:, size * size :][:, :size], sums[:, size * (size + 1) :][:, :size]
    judged, pairable, same, agreeing = sums[:, -4:].T
    nothing = np.full(len(sums), np.nan)
    observed = ratio(same, pairable)
    spread = shares / np.where(judged, judged, np.nan)[:, np.newaxis]
    expected = (spread * (1 - spread)).sum(axis=1) / (size - 1)
    totals = seen.sum(axis=2)
    nominal = np.broadcast_to(1 - np.eye(size), seen.shape)
    fleiss = fleiss_ratios(judged, agreeing, votes, raters)["kappa"] if raters else nothing
    return {
        "alpha.nominal": _alpha(seen, totals, nominal),
        "alpha.ordinal": _alpha(seen, totals, _ranks_apart(totals)) if ordered else nothing,
        "ac1": (observed - expected) / (1 - expected),
        "fleiss": fleiss,
    }


def _alpha(seen: Floats, totals: Floats, apart: Floats) -> Floats:
    """Return 1 - observed / expected disagreement of (R, K, K) coincidences."""
    whole = totals.sum(axis=1)
    observed = (seen * apart).sum(axis=(1, 2)) * (whole - 1)
    expected = (totals[:, :, np.newaxis] * totals[:, np.newaxis] * apart).sum(axis=(1, 2))
    return 1 - ratio(observed, expected)


def _ranks_apart(totals: Floats) -> Floats:
    """Return the squares of how far labels are apart in ranks, (R, K, K)."""
    middle = np.cumsum(totals, axis=1) - totals / 2
    steps: Floats = middle[:, :, np.newaxis] - middle[:, np.newaxis]
    return steps * steps


NO_ORDER = "the labels have no order"
TWO = "the majority of two is what both say: see their kappa"
_LEAST, _MOST, _CHUNK_BYTES = 8, 128, 2**24
"""How many resamples are drawn at once: they lie side by side, in so many bytes."""


@dataclass(frozen=True)
class Resamples:
    """How intervals are drawn: over items, percentile; 0 resamples for none."""

    resamples: int = 1000
    confidence: float = 0.95
    seed: int = 12345
    workers: int | None = None


def view_figures(
    view: ViewData, null: NullKappas | None, drawing: Resamples, section: str = "all"
) -> tuple[Figure, ...]:
    """Return every figure of a view."""
    compared = LabelComparisons(view)
    tables = compared.tables()
    counts = label_counts(view.values, len(view.labels))
    # items with the same counts are drawn together
    kinds, group, times = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
    joint = joint_rows(kinds, ordered=view.ordered)
    together = joint.measure(joint.sums(times[np.newaxis].astype(np.float64)))
    level = f"judgments.{view.name}"
    drawn, drawn_joint = _resampled(compared, tables, joint, group.reshape(-1), drawing)
    total = tables.ratios(np.ones((tables.count, 1), np.int32), view.far)
    figures: list[Figure] = []
    for k, one in enumerate(compared.measures):
        value = float(one.of(total)[0])
        at = (one.kind, one.first, one.second, section, level, one.statistic)
        figures.append(_figure(at, value, one.items, one.reason, drawn[k]))
    used = int((counts.sum(axis=1) > 0).sum())
    for name, (value,) in together.items():
        whom = ("joint", "", "", section, level, name)
        reason = _why(name, value, view, counts)
        figures.append(_figure(whom, float(value), used, reason, drawn_joint.get(name)))
    if null is not None:
        figures += list(_against_null(figures, null, drawing.confidence))
    figures += list(_shares(view, null, section, drawing.confidence))
    return tuple(figures)


def _why(name: str, value: float, view: ViewData, counts: NDArray[np.int32]) -> str:
    judged = counts.sum(axis=1)
    if name == "alpha.ordinal" and not view.ordered:
        return NO_ORDER
    if not (judged >= 2).any():
        return NOTHING_SHARED
    if name == "fleiss" and len(set(judged[judged > 0].tolist())) > 1:
        return UNEQUAL
    return "all give one and the same label everywhere" if isnan(value) else ""


def _figure(
    at: tuple[str, str, str, str, str, str],
    value: float,
    items: int,
    reason: str,
    bounds: Interval | str | None,
) -> Figure:
    if isnan(value):
        return Figure(*at, value, pairs=items, reason=reason)
    if isinstance(bounds, Interval):
        left = f"undefined in {bounds.undefined} resamples, left out" if bounds.undefined else ""
        return Figure(*at, value, bounds.low, bounds.high, items, left)
    return Figure(*at, value, pairs=items, reason=bounds or "")


def _resampled(
    compared: LabelComparisons,
    tables: LabelTables,
    joint: Rows,
    group: NDArray[np.intp],
    drawing: Resamples,
) -> tuple[list[Interval | str | None], Mapping[str, Interval | str]]:
    """Return the interval of each measure, and of those of all together, on the same draws."""
    measures = compared.measures
    if not drawing.resamples:
        return [None] * len(measures), {}
    names = list(joint.figures())
    if tables.count < 2:
        reason = ONE_PAIR if tables.count else NO_PAIRS
        return [reason] * len(measures), dict.fromkeys(names, reason)
    far = compared.view.far
    most = min(_MOST, max(_LEAST, _CHUNK_BYTES // (4 * tables.count)))
    sizes = [min(most, drawing.resamples - k) for k in range(0, drawing.resamples, most)]
    seeds = np.random.SeedSequence(drawing.seed).spawn(len(sizes))

    def drawn(size: int, seed: np.random.SeedSequence) -> tuple[list[Floats], list[Floats]]:
        weights = _draw(np.random.default_rng(seed), tables.count, size)
        ratios = tables.ratios(weights, far)
        together = joint.measure(joint.sums(group_sums(group, readonly(weights), len(joint)).T))
        return [measure.of(ratios) for measure in measures], [together[name] for name in names]

    with executor(drawing.workers) as threads:
        parts = list(threads.map(drawn, sizes, seeds))
    level = drawing.confidence
    each = [np.concatenate(part) for part in zip(*(part[0] for part in parts), strict=True)]
    every = [np.concatenate(part) for part in zip(*(part[1] for part in parts), strict=True)]
    return (
        [reasoned(values, level) for values in each],
        {name: reasoned(values, level) for name, values in zip(names, every, strict=True)},
    )


def _draw(rng: np.random.Generator, count: int, size: int) -> NDArray[np.int32]:
    """Return how often each item is drawn, (count, size); sooner than a multinomial does."""
    counts = np.empty((size, count), np.int32)
    for row in counts:
        row[:] = np.bincount(rng.integers(0, count, count, dtype=np.int32), minlength=count)
    return np.ascontiguousarray(counts.T)


def _against_null(
    figures: Sequence[Figure], null: NullKappas, confidence: float
) -> Iterator[Figure]:
    """Yield the null of each kappa against the consensus, and that kappa corrected for it."""
    each = iter(null.each.T)
    for figure in figures:
        if figure.statistic != "kappa":
            continue
        if figure.kind == "consensus":
            values = next(each)
        elif figure.kind in ("mean consensus", "pooled consensus"):
            values = null.mean if figure.kind.startswith("mean") else null.pooled
        else:
            continue
        bounds = summarize(values, confidence)
        known = values[~np.isnan(values)]
        mean = float(known.mean()) if len(known) else nan
        at = (figure.kind, figure.first, figure.second, figure.section, figure.level)
        drawn = bounds.low, bounds.high, figure.pairs, bounds.reason
        yield Figure(*at, "null", mean, *drawn)
        numbers = (figure.value, figure.low, figure.high)
        value, low, high = ((one - mean) / (1 - mean) if mean != 1 else nan for one in numbers)
        reason = figure.reason if mean != 1 else "chance alone agrees everywhere"
        yield Figure(*at, "corrected", value, low, high, figure.pairs, reason)


def _shares(
    view: ViewData, null: NullKappas | None, section: str, confidence: float
) -> Iterator[Figure]:
    """Yield how many items have a consensus, are left out, or are overruled."""
    level, size = f"judgments.{view.name}", len(view.labels)

    def share(kind: str, name: str, statistic: str, count: int, total: int) -> Figure:
        value = count / total if total else nan
        low, high = wilson_interval(count, total, confidence)
        reason = "" if total else "there is no such item"
        return Figure(kind, name, "", section, level, statistic, value, low, high, total, reason)

    if view.has_majority:
        found = majority_labels(view.values, size, ties=view.ties, adjudicated=view.adjudicated)
        yield share("consensus", "", "settled", found.settled, found.items)
        yield share("consensus", "", "tied", found.tied, found.items)
        if null is not None:
            bounds = summarize(null.settled, confidence)
            value = float(null.settled.mean())
            at = ("consensus", "", "", section, level, "settled.null", value)
            yield Figure(*at, bounds.low, bounds.high, found.items, bounds.reason)
        for k, name in enumerate(view.annotators):
            labels, tied = others_label(view.values, size, k)
            total = int((labels >= 0).sum()) + tied
            yield share("leave-one-out", name, "left_out", tied, total)
    else:
        yield Figure("consensus", "", "", section, level, "kappa", nan, reason=TWO)
    if view.adjudicated is not None:
        counts = label_counts(view.values, size)
        judged = counts.sum(axis=1)
        alike = (judged >= 2) & (counts.max(axis=1) == judged) & (view.adjudicated >= 0)
        overruled = alike & (counts.argmax(axis=1) != view.adjudicated)
        yield share("adjudicated", "", "overruled", int(overruled.sum()), int(alike.sum()))
