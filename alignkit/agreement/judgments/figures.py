"""The figures of judgments in a view: who is compared, and what is measured.

`LabelComparisons` lists the couples and the measures of their tables; `joint_rows` counts for all
annotators together; `view_figures` computes each value, its interval, or why there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, compress
from math import isnan, nan
from typing import overload

import numpy as np
from numpy.typing import NDArray

from alignkit._support.jit import readonly
from alignkit._support.parallel import executor
from alignkit._support.values import FrozenMap
from alignkit.agreement.figures import At, Figure
from alignkit.agreement.fleiss import fleiss_ratios
from alignkit.agreement.intervals import NO_PAIRS, Floats, Rows, reasoned
from alignkit.agreement.judgments import consensus, tables
from alignkit.agreement.judgments.consensus import Labels
from alignkit.agreement.judgments.options import JudgmentOptions
from alignkit.agreement.judgments.tables_kernel import group_sums
from alignkit.model.corpus import Corpus
from alignkit.stats.resampling import ONE_PAIR, Interval, ratio, summarize, wilson_interval

# who is compared with whom
NOTHING_SHARED = "no item has a label of both"
ONE_LABEL = "both give the same label everywhere"
NO_KAPPA = "no kappa of two annotators is defined"


@dataclass(frozen=True, eq=False)
class Measure:
    """A figure of one couple, or a mean over several, computed from the tables of all."""

    kind: str  # as those of a Figure
    first: str
    second: str
    statistic: str
    items: int  # how many items it rests on; of a mean, added up over the couples
    reason: str  # why it is undefined, where it is
    couples: list[int]  # of one couple its value, of several the mean

    def of(self, ratios: tables.Ratios) -> Floats:
        """Return the (R,) values, one a resample."""
        if self.reason == NO_KAPPA:
            return tables.mean_of(ratios.kappa[self.couples], ratios.items[self.couples])
        values: Floats = getattr(ratios, self.statistic)[self.couples[0]]
        return values


@dataclass(eq=False)
class LabelComparisons:
    """The couples of a view, and the measures of their tables."""

    view: tables.ViewData
    couples: list[tuple[Labels, Labels]] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Add every two annotators, then each with the majorities and the adjudicated version."""
        names = self.view.annotators
        values = self.view.values
        groups = self.view.groups
        by_groups: dict[tuple[str, str], list[int]] = {}
        couples = []
        for (a, given), (b, other) in combinations(zip(names, values, strict=True), 2):
            couple = self._couple("pairing", a, b, given, other)
            couples.append(couple)
            if a in groups and b in groups:
                first, second = sorted((groups[a], groups[b]))
                by_groups.setdefault((first, second), []).append(couple)
        self._mean("mean", couples)
        for (first, second), of_groups in sorted(by_groups.items()):
            self._mean("groups", of_groups, first, second)
        if self.view.has_majority:
            self._with_consensus()
        if len(names) > 2:
            others = []
            for k in range(len(names)):
                labels, _ = consensus.others_label(values, len(self.view.labels), k)
                others.append(labels)
            self._with("leave-one-out", others)
        if self.view.adjudicated is not None:
            self._with("adjudicated", [self.view.adjudicated] * len(names))

    def _with_consensus(self) -> None:
        """Compare each annotator, and then all judgments in one table, with the majority."""
        view = self.view
        settled = consensus.majority_labels(
            view.values, len(view.labels), ties=view.ties, adjudicated=view.adjudicated
        )
        couples = self._with("consensus", [settled.labels] * len(view.annotators))
        pooled = len(self.couples)
        self.couples.append((view.values, np.broadcast_to(settled.labels, view.values.shape)))
        items = sum(map(self._shared, couples))
        measure = Measure("pooled consensus", "", "", "kappa", items, ONE_LABEL, [pooled])
        self.measures.append(measure)

    def _with(self, kind: str, others: Iterable[Labels]) -> list[int]:
        """Compare each annotator with the settled labels; return the couples."""
        couples = []
        for name, given, other in zip(self.view.annotators, self.view.values, others, strict=True):
            couple = self._couple(kind, name, "", given, other)
            couples.append(couple)
        self._mean(f"mean {kind}", couples)
        return couples

    def _couple(self, kind: str, first: str, second: str, given: Labels, other: Labels) -> int:
        """Add a couple and its measures; return its place among the couples."""
        couple = len(self.couples)
        self.couples.append((given, other))
        shared = self._shared(couple)
        reason = ONE_LABEL if shared else NOTHING_SHARED
        for name in ("kappa", "observed", "ac1"):
            self.measures.append(Measure(kind, first, second, name, shared, reason, [couple]))
        return couple

    def _mean(self, kind: str, couples: list[int], first: str = "", second: str = "") -> None:
        """Add the mean kappa of some couples."""
        items = sum(map(self._shared, couples))
        self.measures.append(Measure(kind, first, second, "kappa", items, NO_KAPPA, couples))

    def _shared(self, couple: int) -> int:
        """Return how many items both of a couple judged."""
        first, second = self.couples[couple]
        return int(np.sum((first >= 0) & (second >= 0)))


# what all annotators together have
def joint_rows(
    counts: NDArray[np.int32], *, ordered: bool = True, weights: str = "nominal"
) -> Rows:
    """Return the rows behind alpha, AC1 and Fleiss' kappa, for (P, K) counts of labels.

    AC1 is weighted: with `weights` other than nominal, it is Gwet's AC2.

    The columns: K x K coincidences of the labels of an item, over its judgments less 1; the share
    of each label; its count; whether there is a judgment, and whether there are two; the share of
    agreeing ordered pairs of judgments (weighted), and their number (without weights).
    """
    # Krippendorff 2019, Content Analysis, chapter 12; Gwet 2014, Handbook of Inter-Rater
    # Reliability, chapter 4; Fleiss 1971, Psychological Bulletin 76
    votes = counts.astype(np.float64)
    items, size = votes.shape
    judged = votes.sum(axis=1)
    pairable = judged >= 2
    scale = np.where(pairable, 1 / np.maximum(judged - 1, 1), 0)
    together = votes[:, :, np.newaxis] * (votes[:, np.newaxis] - np.eye(size))
    seen = (together * scale[:, np.newaxis, np.newaxis]).reshape(items, -1)
    agreeing = np.trace(together, axis1=1, axis2=2)
    pairs = judged * (judged - 1)
    far = tables.apart(size, weights)
    agree = 1 - far / far.max()
    alike = (together * agree).sum(axis=(1, 2))
    same = np.zeros(items)
    np.divide(alike, pairs, out=same, where=pairs > 0)
    shares = votes / np.maximum(judged, 1)[:, np.newaxis]
    last = np.column_stack([judged > 0, pairable, same, agreeing])
    table = np.hstack([seen, shares, votes, last])
    raters = np.unique(judged[judged > 0])
    even = 0  # how many judgments all items have, if it is the same number
    if len(raters) == 1 and raters[0] >= 2:
        even = int(raters[0])
    measure = partial(_measures, size=size, ordered=ordered, raters=even, agree=agree.sum())
    return Rows(table, measure)


def _measures(
    sums: Floats, size: int, ordered: bool, raters: int, agree: float
) -> Mapping[str, Floats]:
    """Return the measures of R sums of `joint_rows`.

    `raters` is 0 if items differ in them; `agree` is the sum of how much each two labels agree.
    """
    seen = sums[:, : size * size].reshape(-1, size, size)
    shares = sums[:, size * size :][:, :size]
    votes = sums[:, size * (size + 1) :][:, :size]
    judged, pairable, same, agreeing = sums[:, -4:].T
    totals = seen.sum(axis=2)
    nominal = np.broadcast_to(1 - np.eye(size), seen.shape)
    fleiss = ordinal = np.full(len(sums), np.nan)
    if ordered:
        middle = np.cumsum(totals, axis=1) - totals / 2
        steps = middle[:, :, np.newaxis] - middle[:, np.newaxis]  # between labels, in ranks
        ordinal = _alpha(seen, totals, steps * steps)
    observed = ratio(same, pairable)
    label_shares = shares / np.where(judged, judged, np.nan)[:, np.newaxis]
    among = size * (size - 1)
    expected = (label_shares * (1 - label_shares)).sum(axis=1) * agree / among
    if raters:
        fleiss = fleiss_ratios(judged, agreeing, votes, raters)["kappa"]
    return {
        "alpha.nominal": _alpha(seen, totals, nominal),
        "alpha.ordinal": ordinal,
        "ac1": ratio(observed - expected, 1 - expected),
        "fleiss": fleiss,
    }


def _alpha(seen: Floats, totals: Floats, apart: Floats) -> Floats:
    """Return 1 - observed / expected disagreement of (R, K, K) coincidences."""
    whole = totals.sum(axis=1)
    by_chance = totals[:, :, np.newaxis] * totals[:, np.newaxis]
    observed = (seen * apart).sum(axis=(1, 2)) * (whole - 1)
    expected = (by_chance * apart).sum(axis=(1, 2))
    return 1 - ratio(observed, expected)


# the figures
UNEQUAL = "items have different numbers of judgments"  # then Fleiss' kappa is undefined
NO_ORDER = "the labels have no order"
TWO = "the majority of two is what both say; see their kappa"
_LEAST = 8
_MOST = 128
_CHUNK_BYTES = 2**24
"""The number of resamples drawn at once; they are stored side by side."""


def view_figures(
    view: tables.ViewData,
    null: tables.NullKappas | None,
    options: JudgmentOptions,
    section: str = "all",
) -> tuple[Figure, ...]:
    """Return every figure of a view."""
    compared = LabelComparisons(view)
    counted = tables.LabelTables.of(compared.couples, len(view.labels))
    counts = consensus.label_counts(view.values, len(view.labels))
    # items with the same counts are drawn together
    kinds, group, times = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
    joint = joint_rows(kinds, ordered=view.ordered, weights=view.weights)
    once = times[np.newaxis].astype(np.float64)
    together = joint.measure(joint.sums(once))
    level = f"judgments.{view.name}"
    drawn, drawn_joint = _resampled(compared, counted, joint, group.reshape(-1), options)
    total = counted.ratios(np.ones((counted.count, 1), np.int32), view.far)
    figures: list[Figure] = []
    for measure, bounds in zip(compared.measures, drawn, strict=True):
        at = (measure.kind, measure.first, measure.second, section, level, measure.statistic)
        number = float(measure.of(total)[0])
        figures.append(_figure(at, number, measure.items, measure.reason, bounds))
    used = int((counts.sum(axis=1) > 0).sum())
    for name, (value,) in together.items():
        whom = ("joint", "", "", section, level, name)
        reason = _why(name, value, view, counts)
        figures.append(_figure(whom, float(value), used, reason, drawn_joint.get(name)))
    if null is not None:
        figures += list(_against_null(figures, null, options.confidence))
    figures += list(_shares(view, null, section, options.confidence))
    return tuple(figures)


def _why(name: str, value: float, view: tables.ViewData, counts: NDArray[np.int32]) -> str:
    """Return why a figure of all annotators together has no value, or ""."""
    judged = counts.sum(axis=1)
    if name == "alpha.ordinal" and not view.ordered:
        return NO_ORDER
    if not (judged >= 2).any():
        return NOTHING_SHARED
    if name == "fleiss" and len(set(judged[judged > 0].tolist())) > 1:
        return UNEQUAL
    if isnan(value):
        return "all give the same label everywhere"
    return ""


def _figure(at: At, value: float, items: int, reason: str, bounds: Interval | str | None) -> Figure:
    if isnan(value):
        return Figure(*at, value, pairs=items, reason=reason)
    if isinstance(bounds, Interval):
        note = ""
        if bounds.undefined:
            note = f"undefined in {bounds.undefined} resamples, left out"
        return Figure(*at, value, bounds.low, bounds.high, items, note)
    return Figure(*at, value, pairs=items, reason=bounds or "")


def _resampled(
    compared: LabelComparisons,
    counted: tables.LabelTables,
    joint: Rows,
    group: NDArray[np.intp],
    options: JudgmentOptions,
) -> tuple[list[Interval | str | None], Mapping[str, Interval | str]]:
    """Return the interval of each measure, and of the joint ones, on the same draws."""
    measures = compared.measures
    names = list(joint.figures())
    if counted.count < 2:
        reason = ONE_PAIR if counted.count else NO_PAIRS
        return [reason] * len(measures), dict.fromkeys(names, reason)
    far = compared.view.far
    fitting = _CHUNK_BYTES // (4 * counted.count)
    most = min(_MOST, max(_LEAST, fitting))
    sizes = [min(most, options.resamples - k) for k in range(0, options.resamples, most)]
    seeds = np.random.SeedSequence(options.seed).spawn(len(sizes))

    def drawn(size: int, seed: np.random.SeedSequence) -> list[Floats]:
        """Return the values of each measure, (size,), then those of the joint ones."""
        counts = np.empty((size, counted.count), np.int32)
        rng = np.random.default_rng(seed)
        for row in counts:  # how often each item is drawn; sooner than a multinomial does
            places = rng.integers(0, counted.count, counted.count, dtype=np.int32)
            row[:] = np.bincount(places, minlength=counted.count)
        weights = np.ascontiguousarray(counts.T)
        ratios = counted.ratios(weights, far)
        group_weights = group_sums(group, readonly(weights), len(joint)).T
        together = joint.measure(joint.sums(group_weights))
        values = [measure.of(ratios) for measure in measures]
        values += [together[name] for name in names]
        return values

    with executor(options.workers) as threads:
        parts = list(threads.map(drawn, sizes, seeds))
    intervals: list[Interval | str | None] = []
    joint_intervals: dict[str, Interval | str] = {}
    for k, values in enumerate(zip(*parts, strict=True)):
        interval = reasoned(np.concatenate(values), options.confidence)
        if k < len(measures):
            intervals.append(interval)
        else:
            joint_intervals[names[k - len(measures)]] = interval
    return intervals, joint_intervals


def _against_null(
    figures: Sequence[Figure], null: tables.NullKappas, confidence: float
) -> Iterator[Figure]:
    """Yield the null of each kappa against the consensus, and the kappa corrected by it."""
    each = iter(null.each.T)
    for figure in figures:
        if figure.statistic != "kappa" or figure.kind.split()[-1] != "consensus":
            continue
        if figure.kind == "consensus":
            values = next(each)
        elif figure.kind == "mean consensus":
            values = null.mean
        else:
            values = null.pooled
        bounds = summarize(values, confidence)
        known = values[~np.isnan(values)]
        mean = float(known.mean()) if len(known) else nan
        at = (figure.kind, figure.first, figure.second, figure.section, figure.level)
        yield Figure(*at, "null", mean, bounds.low, bounds.high, figure.pairs, bounds.reason)
        if mean == 1:
            value = low = high = nan
            reason = "chance alone agrees completely"
        else:
            numbers = (figure.value, figure.low, figure.high)
            value, low, high = ((number - mean) / (1 - mean) for number in numbers)
            reason = figure.reason
        yield Figure(*at, "corrected", value, low, high, figure.pairs, reason)


def _shares(
    view: tables.ViewData, null: tables.NullKappas | None, section: str, confidence: float
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
    else:
        yield Figure("consensus", "", "", section, level, "kappa", nan, reason=TWO)
    if view.adjudicated is not None:
        counts = consensus.label_counts(view.values, size)
        judged = counts.sum(axis=1)
        alike = (judged >= 2) & (counts.max(axis=1) == judged) & (view.adjudicated >= 0)
        overruled = alike & (counts.argmax(axis=1) != view.adjudicated)
        yield share("adjudicated", "", "overruled", int(overruled.sum()), int(alike.sum()))


# who differs where
@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pair with different judgments."""

    id: str  # of the pair
    source: str  # its texts; empty where the words are not known
    target: str
    judgments: Mapping[str, str]
    views: tuple[str, ...]  # the names of the views in which they differ; never empty


class JudgmentDisagreements(Sequence[Disagreement]):
    """The pairs with different labels in a view; those that differ in more views first."""

    def __init__(
        self, corpus: Corpus, views: Sequence[tables.ViewData], names: Sequence[str]
    ) -> None:
        self._corpus = corpus
        self._names = tuple(names)
        self._views = tuple(view.name for view in views)
        flags = []
        for view in views:
            labels = view.values
            if view.adjudicated is not None:
                labels = np.vstack([labels, view.adjudicated])
            given = np.where(labels < 0, len(view.labels), labels)
            flags.append(labels.max(axis=0) > given.min(axis=0))
        self._differ: NDArray[np.bool_] = np.array(flags)
        counts = self._differ.sum(axis=0)
        places = np.flatnonzero(counts)
        self._places = places[np.argsort(-counts[places], kind="stable")]

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> Disagreement: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Disagreement]: ...

    def __getitem__(self, place: int | slice) -> Disagreement | Sequence[Disagreement]:
        if isinstance(place, slice):
            return [self[k] for k in range(*place.indices(len(self)))]
        p = int(self._places[place])
        pair = self._corpus[p]
        given = {}
        for name in self._names:
            if name in pair.annotations:
                judgment = pair.annotations[name].judgment
                if judgment:
                    given[name] = judgment
        source = target = ""
        if pair.has_text:
            source, target = (" ".join(text) for text in pair.words)
        views = tuple(compress(self._views, self._differ[:, p]))
        return Disagreement(pair.id, source, target, FrozenMap(given), views)

    def __repr__(self) -> str:
        return f"Disagreements({len(self)} pairs)"
