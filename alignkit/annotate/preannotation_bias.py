"""Estimate how far suggestions pull annotators, from a control sample in which some see none.

The pull is how much closer links are to the suggestions if these are shown. On a *split* pair, some
annotators saw the suggestions and some did not. If the links of the first have an F1 of .9 with the
suggestions and those of the others .7, the pull on this pair is .2. The estimate is the mean over
the split pairs. Its interval comes from resamples of the pairs, each within its stratum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, isnan, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments, every
from alignkit._support.array_types import B1, F8, I8
from alignkit._support.wording import how_many
from alignkit.agreement.intervals import NO_PAIRS, Measure, Rows, reasoned
from alignkit.annotate.control_sample import ControlPair
from alignkit.annotate.pull_counts import WorkRows, agreement_of_pairs, count_works
from alignkit.annotate.pull_result import (
    AGREEMENT,
    MEANINGS,
    Estimate,
    Pull,
    PullBin,
    PullOptions,
)
from alignkit.stats.resampling import (
    FEW_PAIRS,
    ONE_PAIR,
    Interval,
    expanded,
    merged_strata,
    ratio,
    stratified_weights,
)


class StratifiedSample:
    """The rows of counts of a sample of pairs, and their resamples."""

    def __init__(
        self,
        rows: Rows,
        strata: I8,
        options: PullOptions,
        rng: np.random.Generator,
        left_out: int,
    ) -> None:
        self._confidence = options.confidence
        self._left_out = left_out
        self._pairs = len(rows)
        self._figures = rows.figures()
        self._drawn: dict[str, F8] = {}  # each figure of all resamples
        self._degrees = 0  # of freedom: pairs less strata
        if self._pairs:
            self._degrees = self._pairs - len(np.unique(merged_strata(strata)))
        if self._pairs > 1:
            draws = stratified_weights(strata, options.resamples, rng, width=rows.counts.shape[1])
            parts = [rows.measure(rows.sums(weights)) for weights in draws]
            for name in self._figures:
                self._drawn[name] = np.concatenate([part[name] for part in parts])

    def estimate(self, name: str) -> Estimate:
        """Return the estimate of a figure."""
        return Estimate(self._figures[name], self._interval(name), self._pairs, self._left_out)

    def less(self, other: StratifiedSample, name: str) -> Estimate:
        """Return a figure minus that of another sample, drawn independently."""
        fewer = min(self, other, key=lambda sample: sample._pairs)
        interval = fewer._interval(name)
        if self._drawn and other._drawn:
            drawn = self._drawn[name] - other._drawn[name]
            interval = self._spanned(drawn, min(self._degrees, other._degrees))
        difference = self._figures[name] - other._figures[name]
        left_out = self._left_out + other._left_out
        return Estimate(difference, interval, self._pairs + other._pairs, left_out)

    def _interval(self, name: str) -> Interval | str:
        """Return the interval of a figure, or the reason why there is none."""
        if not self._drawn:
            return ONE_PAIR if self._pairs else NO_PAIRS
        return self._spanned(self._drawn[name], self._degrees)

    def _spanned(self, drawn: F8, degrees: int) -> Interval | str:
        """Return the interval of resampled values; fewer degrees of freedom make it wider."""
        interval = reasoned(drawn, expanded(self._confidence, degrees))
        if isinstance(interval, str):
            return interval
        return replace(interval, confidence=self._confidence)


_SAMPLES = ("split", "coin shown", "coin hidden", "seen", "both shown", "both split", "both bare")
"""The samples of pairs. The draws of each follow from the seed and its place here."""


def estimate_pull(pairs: Iterable[ControlPair], options: PullOptions | None = None) -> Pull:
    """Estimate how far suggestions pull annotators: F1 with the suggestions, seen and unseen.

    Annotators of a split pair have the same words and suggestions, and a coin decides who sees
    them; so differences between pairs cancel out. Pairs without suggestions are left out.
    """
    check_arguments(estimate_pull, locals(), apart=["pairs"])
    given = every("pairs", pairs, ControlPair)
    data = _PullData.of(given, options or PullOptions())
    shown = data.side("split", True)
    hidden = data.side("split", False)
    both = np.flatnonzero(shown.done & hidden.done)
    split = _split_sample(data, shown, hidden, both)
    seen = _seen_sample(data)
    coin = {}
    for name in ("shown", "hidden"):
        side = data.side("coin", name == "shown")
        pairs_done = np.flatnonzero(side.done)
        has_suggestions = data.suggested[pairs_done].sum(axis=1) > 0
        coin[name] = data.mean(f"coin {name}", side.f1[pairs_done], pairs_done, has_suggestions)
    coin_means = {name: sample.estimate("mean") for name, sample in coin.items()}
    coin_means["pull"] = coin["shown"].less(coin["hidden"], "mean")
    numbers, f1 = agreement_of_pairs(given)
    between = {}
    for arm in AGREEMENT:
        chosen = data.arms[numbers] == arm
        arm_f1 = f1[chosen]
        between[arm] = data.mean(f"both {arm}", arm_f1, numbers[chosen], ~np.isnan(arm_f1))
    done = dict.fromkeys(MEANINGS, 0)
    unfinished = dict.fromkeys(MEANINGS, 0)
    for pair in given:
        counts = unfinished if pair.open else done
        counts[_arm(pair)] += 1
    counted = both[data.suggested[both].any(axis=1)]
    deviation = nan
    if len(counted) > 1:
        difference = shown.f1[counted] - hidden.f1[counted]
        deviation = float(difference.std(ddof=1))
    pull = Pull(
        options=data.options,
        pairs=done,
        open=unfinished,
        pull=split.estimate("pull"),
        shown=split.estimate("shown"),
        hidden=split.estimate("hidden"),
        deviation=deviation,
        coin=coin_means,
        suggestions=int(data.works.suggested[data.works.shown].sum()),
        accepted=seen.estimate("accepted"),
        unseen=seen.estimate("unseen"),
        rejected=seen.estimate("rejected"),
        bins=tuple(_bins(data, split, both)),
        agreement={name: sample.estimate("mean") for name, sample in between.items()},
        excess={name: between[name].less(between["bare"], "mean") for name in ("shown", "split")},
    )
    return replace(pull, cautions=tuple(_cautions(pull)))


class _Side(NamedTuple):
    """What some of the annotators have, on average, for each of P pairs."""

    done: B1  # (P,) whether any of them has done the pair; else the others are 0
    f1: F8  # (P,) F1 of links and suggestions
    taken: F8  # (P, B) how many suggestions they have, by bin


@dataclass(frozen=True, eq=False)
class _PullData:
    """The rows of all works; for each pair its suggestions by bin, its arm and stratum."""

    works: WorkRows
    suggested: I8  # (P, B) how many suggestions each pair has, by bin
    arms: NDArray[np.object_]  # (P,) see `_arm`
    strata: I8  # (P,) the number of the stratum
    options: PullOptions

    @classmethod
    def of(cls, pairs: Sequence[ControlPair], options: PullOptions) -> _PullData:
        """Count the works of some pairs."""
        arms = np.array([_arm(pair) for pair in pairs], object)
        _, strata = np.unique([pair.stratum for pair in pairs], return_inverse=True)
        works = count_works(pairs, options.edges, least=options.least)
        suggested = np.zeros((len(pairs), works.suggested.shape[1]), np.int64)
        suggested[works.pair] = works.suggested  # the same for all works of a pair
        strata = strata.reshape(-1).astype(np.int64)
        return cls(works, suggested, arms, strata, options)

    def side(self, arm: str, shown: bool) -> _Side:
        """Return for each pair of an arm the mean of those who saw suggestions, or did not."""
        works = self.works
        pairs = len(self.arms)
        of_arm = self.arms[works.pair] == arm
        chosen = np.flatnonzero(of_arm & (works.shown == shown))
        pair_of = works.pair[chosen]
        size = np.bincount(pair_of, minlength=pairs)
        taken = np.zeros((pairs, works.taken.shape[1]))
        np.add.at(taken, pair_of, works.taken[chosen])
        f1 = np.bincount(pair_of, works.f1[chosen], pairs)
        divisor = np.maximum(size, 1)
        return _Side(size > 0, f1 / divisor, taken / divisor[:, None])

    def sample(
        self, name: str, rows: F8, measure: Measure, pairs: I8, counts: B1
    ) -> StratifiedSample:
        """Return a sample with draws of its own.

        Parameters
        ----------
        name : One of `_SAMPLES`.
        rows : (S, N) N numbers of each of S pairs; `measure` makes figures of their sums.
        pairs : (S,) the numbers of these pairs.
        counts : (S,) which of them count. The others say nothing and are left out.
        """
        seeds = np.random.SeedSequence(self.options.seed).spawn(len(_SAMPLES))
        rng = np.random.default_rng(seeds[_SAMPLES.index(name)])
        return StratifiedSample(
            Rows(rows[counts], measure),
            self.strata[pairs[counts]],
            self.options,
            rng,
            left_out=int((~counts).sum()),
        )

    def mean(self, name: str, values: F8, pairs: I8, counts: B1) -> StratifiedSample:
        """Return a sample for the mean of a value of each pair; see `sample`."""
        rows = np.stack([np.ones(len(values)), values], axis=1)

        def measure(sums: F8) -> dict[str, F8]:
            count, total = sums.T
            return {"mean": ratio(total, count)}

        return self.sample(name, rows, measure, pairs, counts)


def _arm(pair: ControlPair) -> str:
    """Return the name of a pair's arm in results."""
    return pair.arm or "shown"


def _with_total(counts: NDArray[Any]) -> NDArray[Any]:
    """Put the sum of each row before it."""
    return np.hstack([counts.sum(axis=1, keepdims=True), counts])


def _split_sample(data: _PullData, shown: _Side, hidden: _Side, pairs: I8) -> StratifiedSample:
    """Return the sample of split pairs: F1 of both sides, and what they have of the suggestions."""
    suggested = _with_total(data.suggested[pairs])
    taken = _with_total(shown.taken[pairs])
    drawn = _with_total(hidden.taken[pairs])
    f1 = np.stack([np.ones(len(pairs)), shown.f1[pairs], hidden.f1[pairs]], axis=1)
    width = suggested.shape[1]

    def measure(sums: F8) -> dict[str, F8]:
        pairs, with_them, without = sums[:, :3].T
        measures = {
            "shown": ratio(with_them, pairs),
            "hidden": ratio(without, pairs),
            "pull": ratio(with_them - without, pairs),
        }
        some, took, drew = np.split(sums[:, 3:], 3, axis=1)  # a column for all, and for each bin
        for k in range(width):
            measures[f"taken {k}"] = ratio(took[:, k], some[:, k])
            measures[f"unseen {k}"] = ratio(drew[:, k], some[:, k])
            measures[f"pull {k}"] = ratio(took[:, k] - drew[:, k], some[:, k])
        return measures

    rows = np.hstack([f1, suggested, taken, drawn])
    return data.sample("split", rows, measure, pairs, suggested[:, 0] > 0)


def _bins(data: _PullData, split: StratifiedSample, pairs: I8) -> Iterator[PullBin]:
    """Yield the outcome of all suggestions, of each bin, and of those without a probability."""
    counts = _with_total(data.suggested[pairs].sum(axis=0, keepdims=True))[0].tolist()
    spans = [(0.0, 1.0), *pairwise((0.0, *data.options.edges, 1.0)), (nan, nan)]
    for k, (low, high) in enumerate(spans):
        if counts[k] or not isnan(low):
            taken = split.estimate(f"taken {k}")
            unseen = split.estimate(f"unseen {k}")
            pull = split.estimate(f"pull {k}")
            yield PullBin(low, high, counts[k], taken, unseen, pull)


def _seen_sample(data: _PullData) -> StratifiedSample:
    """Return the sample of pairs on which suggestions were shown: what became of these."""
    works = data.works
    size = len(data.arms)
    pair_of = works.pair[works.shown]
    counts = (
        works.suggested.sum(axis=1),
        works.taken.sum(axis=1),
        works.unseen,
        works.rejected,
    )
    sums = [np.bincount(pair_of, count[works.shown], minlength=size) for count in counts]
    rows = np.stack(sums, axis=1).astype(np.float64)

    def measure(sums: F8) -> dict[str, F8]:
        seen, accepted, unseen, rejected = sums.T
        return {
            "accepted": ratio(accepted, seen),
            "unseen": ratio(unseen, accepted),
            "rejected": ratio(rejected, seen),
        }

    pairs = np.unique(pair_of)
    return data.sample("seen", rows[pairs], measure, pairs, rows[pairs, 0] > 0)


ENOUGH = 97  # the split pairs needed for an interval of +-0.05 if the standard deviation is 0.25


def _cautions(pull: Pull) -> Iterator[str]:
    """Yield what to know before reading the figures."""
    pairs = pull.pull.pairs
    if pairs < ENOUGH:
        half_width = 0.05
        normal = 1.959964  # the 97.5 % point of the normal distribution
        caution = (
            f"the pull is estimated from {how_many(pairs, 'split pair')}: an "
            f"interval of {half_width:g} to either side needs {ENOUGH} if the difference within a "
            "pair has a standard deviation of 0.25"
        )
        if pull.deviation > 0:
            needed = ceil((normal * pull.deviation / half_width) ** 2)
            caution += f"; here it is {pull.deviation:.2f}, which needs {needed}"
        yield caution
    if 1 < pairs < FEW_PAIRS:
        yield f"with fewer than about {FEW_PAIRS} pairs, bootstrap intervals are too narrow"
    unfinished = pull.open["split"] + pull.open["bare"]
    if unfinished:
        of = "of the control sample"
        are = how_many(unfinished, f"pair {of} is", f"pairs {of} are")
        yield f"{are} not done by all yet; the rest may differ from those done first"
    last = pull.bins[-1]
    if last.suggestions and isnan(last.low):
        yield f"{last.suggestions} suggestions have no probability; they are in a separate bin"
