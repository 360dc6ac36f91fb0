"""The figures of judgments in a view: each value, its interval, or why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Union

import numpy as np
from numpy.typing import NDArray

from alignkit._support.array_types import F8, I4
from alignkit._support.jit import readonly
from alignkit._support.parallel import executor
from alignkit._support.wording import how_many
from alignkit.agreement.figures import Figure
from alignkit.agreement.intervals import NO_PAIRS, Rows, reasoned
from alignkit.agreement.judgments import consensus, permutations, tables
from alignkit.agreement.judgments.coefficients import ALL_ALIKE, NO_TWO_LABELS
from alignkit.agreement.judgments.comparisons import LabelComparisons, Measure, compare_labels
from alignkit.agreement.judgments.joint import joint_rows
from alignkit.agreement.judgments.options import JudgmentOptions
from alignkit.agreement.judgments.tables_kernel import group_sums
from alignkit.stats.resampling import ONE_PAIR, Interval, summarize
from alignkit.stats.shares import wilson_interval

UNEQUAL = "items have different numbers of judgments"  # then Fleiss' kappa is undefined
NO_ORDER = "the labels have no order"
TWO = "the majority of two is what both say; see their kappa"
# resamples that are drawn at once: as many as need about so much memory, within two limits
_CHUNK_BYTES = 2**24
_LEAST_AT_ONCE = 8
_MOST_AT_ONCE = 128

Bounds = Union[Interval, str]
"""An interval, or the reason why there is none."""

Weights = I4
"""How often items count in resamples: (P, R)."""


def view_figures(
    view: tables.ViewData,
    null: permutations.NullKappas | None,
    options: JudgmentOptions,
    section: str = "all",
) -> tuple[Figure, ...]:
    """Return every figure of a view."""
    counts = consensus.label_counts(view.values, len(view.labels))
    computed = _Computed.of(view, counts)
    values = computed.values(np.ones((len(counts), 1), np.int32))
    bounds_of_couples, bounds_of_all = _bounds(computed, len(counts), options)
    level = f"judgments.{view.name}"
    figures: list[Figure] = []
    for k, measure in enumerate(computed.measures):
        at = Figure(
            measure.kind, measure.first, measure.second, section, level, measure.statistic, nan
        )
        value = float(values.of_couples[k][0])
        figures.append(
            _figure(at, value, measure.items, measure.reason_if_undefined, bounds_of_couples[k])
        )
    judged = counts.sum(axis=1)
    items = int((judged > 0).sum())
    for name, (drawn,) in values.of_all.items():
        at = Figure("joint", "", "", section, level, name, nan)
        value = float(drawn)
        reason = _why_undefined(name, value, view, judged)
        figures.append(_figure(at, value, items, reason, bounds_of_all[name]))
    if null is not None:
        figures += list(_against_null(figures, view, null, options.confidence))
    if not view.has_majority:
        figures.append(Figure("consensus", "", "", section, level, "kappa", nan, reason=TWO))
    figures += list(_shares(view, null, section, options.confidence))
    return tuple(figures)


def _why_undefined(name: str, value: float, view: tables.ViewData, judged: I4) -> str:
    """Return why a figure of all annotators together has no value, or ""."""
    if name == "alpha.ordinal" and not view.ordered:
        return NO_ORDER
    if not (judged >= 2).any():
        return NO_TWO_LABELS
    if name == "fleiss" and len(set(judged[judged > 0].tolist())) > 1:
        return UNEQUAL
    if isnan(value):
        return ALL_ALIKE
    return ""


def _figure(at: Figure, value: float, items: int, reason: str, bounds: Bounds) -> Figure:
    """Return a figure with its value and bounds, or with the reason why there are none."""
    if isnan(value):
        return replace(at, pairs=items, reason=reason)
    if isinstance(bounds, str):
        return replace(at, value=value, pairs=items, reason=bounds)
    note = ""
    if bounds.undefined:
        note = f"undefined in {how_many(bounds.undefined, 'resample')}, left out"
    return replace(at, value=value, low=bounds.low, high=bounds.high, pairs=items, reason=note)


# values and intervals of all measures, on the same resamples
@dataclass(frozen=True, eq=False)
class _Values:
    """The (R,) values of each measure of couples, and of each figure of all annotators."""

    of_couples: list[F8]
    of_all: Mapping[str, F8]


@dataclass(frozen=True, eq=False)
class _Computed:
    """All that is computed from the labels of a view, for any weights of its items.

    Items with the same counts of labels are one kind: all annotators together need only how often
    items of a kind are drawn.
    """

    measures: Sequence[Measure]
    label_tables: tables.LabelTables
    far: F8  # the distances between labels
    joint: Rows  # a row for each kind of items
    kinds: NDArray[np.intp]  # (P,): the kind of each item

    @classmethod
    def of(cls, view: tables.ViewData, counts: I4) -> _Computed:
        """Compare all labels of a view; `counts` (P, K) says how often each is given."""
        compared: LabelComparisons = compare_labels(view)
        counts_of_kinds, kinds = np.unique(counts, axis=0, return_inverse=True)
        return cls(
            measures=compared.measures,
            label_tables=tables.LabelTables.of(compared.couples, len(view.labels)),
            far=view.far,
            joint=joint_rows(counts_of_kinds, ordered=view.ordered, weights=view.weights),
            kinds=kinds.reshape(-1),
        )

    def values(self, weights: Weights) -> _Values:
        """Return all values, with items counted as often as the (P, R) weights say."""
        ratios = self.label_tables.ratios(weights, self.far)
        kind_weights = group_sums(self.kinds, readonly(weights), len(self.joint)).T
        of_all = self.joint.measure(self.joint.sums(kind_weights))
        return _Values([measure.of(ratios) for measure in self.measures], of_all)


def _bounds(
    computed: _Computed, items: int, options: JudgmentOptions
) -> tuple[list[Bounds], dict[str, Bounds]]:
    """Return the bootstrap intervals over P items, of couples and of all, or why there are none."""
    names = list(computed.joint.figures())
    if items < 2:
        reason = ONE_PAIR if items else NO_PAIRS
        return [reason] * len(computed.measures), dict.fromkeys(names, reason)
    fitting = _CHUNK_BYTES // (4 * items)
    at_once = min(_MOST_AT_ONCE, max(_LEAST_AT_ONCE, fitting))
    starts = range(0, options.resamples, at_once)
    sizes = [min(at_once, options.resamples - start) for start in starts]
    seeds = np.random.SeedSequence(options.seed).spawn(len(sizes))

    def drawn(size: int, seed: np.random.SeedSequence) -> _Values:
        """Return the values in some resamples."""
        return computed.values(_drawn_weights(items, size, np.random.default_rng(seed)))

    with executor(options.workers) as threads:
        chunks = list(threads.map(drawn, sizes, seeds))
    of_couples: list[Bounds] = []
    for k in range(len(computed.measures)):
        values = np.concatenate([chunk.of_couples[k] for chunk in chunks])
        of_couples.append(reasoned(values, options.confidence))
    of_all: dict[str, Bounds] = {}
    for name in names:
        values = np.concatenate([chunk.of_all[name] for chunk in chunks])
        of_all[name] = reasoned(values, options.confidence)
    return of_couples, of_all


def _drawn_weights(items: int, resamples: int, rng: np.random.Generator) -> Weights:
    """Draw as many items as there are, and return how often each is drawn: (P, R)."""
    counts = np.empty((resamples, items), np.int32)
    for row in counts:  # one by one is faster than rng.multinomial
        places = rng.integers(0, items, items, dtype=np.int32)
        row[:] = np.bincount(places, minlength=items)
    return np.ascontiguousarray(counts.T)


# kappas by chance, and shares of items
def _against_null(
    figures: Sequence[Figure],
    view: tables.ViewData,
    null: permutations.NullKappas,
    confidence: float,
) -> Iterator[Figure]:
    """Yield the null of each kappa against the consensus, and the kappa corrected by it."""
    null_of = dict(zip(view.annotators, null.each.T, strict=True))
    for figure in figures:
        if figure.statistic != "kappa":
            continue
        if figure.kind == "consensus":
            values = null_of[figure.first]
        elif figure.kind == "mean consensus":
            values = null.mean
        elif figure.kind == "pooled consensus":
            values = null.pooled
        else:
            continue
        bounds = summarize(values, confidence)
        known = values[~np.isnan(values)]
        mean = float(known.mean()) if len(known) else nan
        yield replace(
            figure,
            statistic="null",
            value=mean,
            low=bounds.low,
            high=bounds.high,
            reason=bounds.reason,
        )
        yield _corrected(figure, mean)


def _corrected(figure: Figure, null: float) -> Figure:
    """Return a kappa, with its bounds, corrected by its mean null: (kappa - null) / (1 - null)."""
    if null == 1:
        value = low = high = nan
        reason = "chance alone agrees completely"
    else:
        numbers = (figure.value, figure.low, figure.high)
        value, low, high = ((number - null) / (1 - null) for number in numbers)
        reason = figure.reason
    return replace(figure, statistic="corrected", value=value, low=low, high=high, reason=reason)


def _shares(
    view: tables.ViewData, null: permutations.NullKappas | None, section: str, confidence: float
) -> Iterator[Figure]:
    """Yield the shares of items that have a consensus, are left out, or are overruled."""
    level = f"judgments.{view.name}"
    size = len(view.labels)

    def share(kind: str, name: str, statistic: str, count: int, total: int) -> Figure:
        value = count / total if total else nan
        low, high = wilson_interval(count, total, confidence)
        reason = "" if total else "there is no such item"
        return Figure(kind, name, "", section, level, statistic, value, low, high, total, reason)

    if view.has_majority:
        most = consensus.majority_labels(
            view.values, size, ties=view.ties, adjudicated=view.adjudicated
        )
        yield share("consensus", "", "settled", most.settled, most.items)
        yield share("consensus", "", "tied", most.tied, most.items)
        if null is not None:
            bounds = summarize(null.settled, confidence)
            value = float(null.settled.mean())
            at = ("consensus", "", "", section, level, "settled.null", value)
            yield Figure(*at, bounds.low, bounds.high, most.items, bounds.reason)
        for k, name in enumerate(view.annotators):
            labels, tied = consensus.others_label(view.values, size, k)
            total = int((labels >= 0).sum()) + tied
            yield share("leave-one-out", name, "left_out", tied, total)
    if view.adjudicated is not None:
        counts = consensus.label_counts(view.values, size)
        judged = counts.sum(axis=1)
        alike = (judged >= 2) & (counts.max(axis=1) == judged) & (view.adjudicated >= 0)
        overruled = alike & (counts.argmax(axis=1) != view.adjudicated)
        yield share("adjudicated", "", "overruled", int(overruled.sum()), int(alike.sum()))
