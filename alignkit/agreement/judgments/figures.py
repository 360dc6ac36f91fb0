"""The figures of judgments in a view: each value, its interval, or why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isnan, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit._support.array_types import F8, I4
from alignkit._support.jit import readonly
from alignkit._support.parallel import executor
from alignkit._support.wording import how_many
from alignkit.agreement.figures import At, Figure
from alignkit.agreement.intervals import NO_PAIRS, Bounds, Rows, reasoned
from alignkit.agreement.judgments import consensus, permutations, tables
from alignkit.agreement.judgments.coefficients import ALL_ALIKE, NO_TWO_LABELS
from alignkit.agreement.judgments.comparisons import LabelComparisons, Measure, compare_labels
from alignkit.agreement.judgments.joint import joint_rows
from alignkit.agreement.judgments.options import JudgmentOptions
from alignkit.agreement.judgments.tables_kernel import group_sums
from alignkit.stats.resampling import ONE_PAIR, summarize
from alignkit.stats.shares import wilson_interval

UNEQUAL = "items have different numbers of judgments"  # then Fleiss' kappa is undefined
NO_ORDER = "the labels have no order"
TWO = "the majority of two is what both say; see their kappa"
# resamples that are drawn at once: as many as need about so much memory, within two limits
_CHUNK_BYTES = 2**24
_LEAST_AT_ONCE = 8
_MOST_AT_ONCE = 128


Weights = I4
"""How often items count in resamples: (P, R)."""


def view_figures(
    view: tables.ViewData,
    null: permutations.NullKappas | None,
    options: JudgmentOptions,
    section: str = "all",
) -> tuple[Figure, ...]:
    """Return every figure of a view."""
    counts = view.counts
    computed = _Computed.of(view)
    values = [float(value) for (value,) in computed.values(np.ones((len(counts), 1), np.int32))]
    bounds = _bounds(computed, len(counts), len(values), options)
    level = f"judgments.{view.name}"
    figures: list[Figure] = []
    for k, measure in enumerate(computed.measures):
        at = (measure.kind, measure.first, measure.second, section, level, measure.statistic)
        reason = measure.reason_if_undefined
        figures.append(_figure(at, values[k], measure.items, reason, bounds[k]))
    judged = counts.sum(axis=1)
    items = int((judged > 0).sum())
    for k, name in enumerate(computed.joint_names, len(computed.measures)):
        at = ("joint", "", "", section, level, name)
        reason = _why_undefined(name, values[k], view, judged)
        figures.append(_figure(at, values[k], items, reason, bounds[k]))
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


def _figure(at: At, value: float, items: int, reason: str, bounds: Bounds) -> Figure:
    """Return a figure with its value and bounds, or with the reason why there are none."""
    if isnan(value):
        return Figure(*at, nan, pairs=items, reason=reason)
    if isinstance(bounds, str):
        return Figure(*at, value, pairs=items, reason=bounds)
    note = ""
    if bounds.undefined:
        note = f"undefined in {how_many(bounds.undefined, 'resample')}, left out"
    return Figure(*at, value, bounds.low, bounds.high, items, note)


# values and intervals of all measures, on the same resamples
class _Computed(NamedTuple):
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
    def of(cls, view: tables.ViewData) -> _Computed:
        """Compare all labels of a view."""
        compared: LabelComparisons = compare_labels(view)
        counts_of_kinds, kinds = np.unique(view.counts, axis=0, return_inverse=True)
        return cls(
            measures=compared.measures,
            label_tables=tables.LabelTables.of(compared.couples, view.size),
            far=view.far,
            joint=joint_rows(counts_of_kinds, ordered=view.ordered, weights=view.weights),
            kinds=kinds.reshape(-1),
        )

    @property
    def joint_names(self) -> list[str]:
        """The names of the figures of all annotators."""
        return list(self.joint.figures())

    def values(self, weights: Weights) -> list[F8]:
        """Return the (R,) values, with items counted as often as the (P, R) weights say.

        They are those of each measure of couples, then those of each figure of all annotators.
        """
        ratios = self.label_tables.ratios(weights, self.far)
        kind_weights = group_sums(self.kinds, readonly(weights), len(self.joint)).T
        of_all = self.joint.measure(self.joint.sums(kind_weights))
        return [*(measure.of(ratios) for measure in self.measures), *of_all.values()]


def _bounds(computed: _Computed, items: int, values: int, options: JudgmentOptions) -> list[Bounds]:
    """Return the bootstrap intervals of all values over P items, or why there are none."""
    if items < 2:
        return [ONE_PAIR if items else NO_PAIRS] * values
    fitting = _CHUNK_BYTES // (4 * items)
    at_once = min(_MOST_AT_ONCE, max(_LEAST_AT_ONCE, fitting))
    starts = range(0, options.resamples, at_once)
    sizes = [min(at_once, options.resamples - start) for start in starts]
    seeds = np.random.SeedSequence(options.seed).spawn(len(sizes))

    def drawn(size: int, seed: np.random.SeedSequence) -> list[F8]:
        """Return the values in some resamples."""
        return computed.values(_drawn_weights(items, size, np.random.default_rng(seed)))

    with executor(options.workers) as threads:
        chunks = list(threads.map(drawn, sizes, seeds))
    joined = map(np.concatenate, zip(*chunks, strict=True))
    return [reasoned(drawn_values, options.confidence) for drawn_values in joined]


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
    nulls = {("mean consensus", ""): null.mean, ("pooled consensus", ""): null.pooled}
    for name, of_annotator in zip(view.annotators, null.each.T, strict=True):
        nulls["consensus", name] = of_annotator
    for figure in figures:
        values = nulls.get((figure.kind, figure.first))
        if values is None or figure.statistic != "kappa":
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
    size = view.size

    def share(kind: str, name: str, statistic: str, count: int, total: int) -> Figure:
        value = count / total if total else nan
        low, high = wilson_interval(count, total, confidence)
        reason = "" if total else "there is no such item"
        return Figure(kind, name, "", section, level, statistic, value, low, high, total, reason)

    if view.has_majority:
        most = view.majority
        yield share("consensus", "", "settled", most.settled, most.items)
        yield share("consensus", "", "tied", most.tied, most.items)
        if null is not None:
            bounds = summarize(null.settled, confidence)
            value = float(null.settled.mean())
            at = ("consensus", "", "", section, level, "settled.null")
            yield Figure(*at, value, bounds.low, bounds.high, most.items, bounds.reason)
        for k, name in enumerate(view.annotators):
            labels, tied = consensus.others_label(view.values, size, k)
            total = int((labels >= 0).sum()) + tied
            yield share("leave-one-out", name, "left_out", tied, total)
    if view.adjudicated is not None:
        counts = view.counts
        judged = counts.sum(axis=1)
        alike = (judged >= 2) & (counts.max(axis=1) == judged) & (view.adjudicated >= 0)
        overruled = alike & (counts.argmax(axis=1) != view.adjudicated)
        yield share("adjudicated", "", "overruled", int(overruled.sum()), int(alike.sum()))
