"""Estimate how far suggestions pull annotators, from a control sample in which some see none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, isnan, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.statistic import Floats, Measure, Rows
from alignkit.annotate.pull.control import ControlPair
from alignkit.annotate.pull.counts import WorkRows, agreement_of_pairs, count_works
from alignkit.annotate.pull.estimates import Sample
from alignkit.annotate.pull.result import Pull, PullBin, PullOptions
from alignkit.arguments import check_arguments, every
from alignkit.scoring.bootstrap import FEW_PAIRS
from alignkit.scoring.measures import ratio

ENOUGH = 97
"""How many split pairs an interval of +-.05 takes where the difference has a deviation of .25."""

_HALF_WIDTH = 0.05
_NORMAL = 1.959964  # the 97.5 % point of the normal distribution
_SAMPLES = ("split", "coin shown", "coin hidden", "seen", "both shown", "both split", "both bare")

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


def estimate_pull(pairs: Iterable[ControlPair], options: PullOptions | None = None) -> Pull:
    """Estimate how far suggestions pull annotators.

    Notes
    -----
    On a split pair annotators have the same words and suggestions before them, and a coin says who
    sees these. So the difference of their F1 with the suggestions is due to seeing them, and what
    pairs differ in drops out. F1 is that of all links, sure and possible: 2 |A & B| / (|A| + |B|);
    of several who saw suggestions, or did not, the mean. Pairs without suggestions say nothing and
    are left out. Intervals are percentiles of a bootstrap over pairs within strata
    (`alignkit.scoring.strata`).

    Examples
    --------
    >>> from alignkit.alignment import Alignment
    >>> from alignkit.annotate.pull.control import Work
    >>> pair = ControlPair("1", "split", {"A": Work(True, Alignment.parse("0-0 1-1")),
    ...                                   "B": Work(False, Alignment.parse("0-0"))},
    ...                    [(0, 0, 0.99, 2), (1, 1, 0.7, 2)])
    >>> round(estimate_pull([pair]).pull.value, 3)
    0.333
    """
    check_arguments(estimate_pull, locals(), apart=["pairs"])
    given = every("pairs", pairs, ControlPair)
    data = _Data.of(given, options or PullOptions())
    shown, hidden = data.side("split", True), data.side("split", False)
    split = _split_sample(data, shown, hidden)
    coin = {name: _coin_sample(data, name == "shown") for name in ("shown", "hidden")}
    seen = _seen_sample(data)
    between = _between_samples(data, given)
    done, left = _progress(given)
    pull = Pull(
        data.options,
        done,
        left,
        pull=split.estimate("pull"),
        shown=split.estimate("shown"),
        hidden=split.estimate("hidden"),
        deviation=_deviation(data, shown, hidden),
        coin={
            **{name: sample.estimate("mean") for name, sample in coin.items()},
            "pull": coin["shown"].less(coin["hidden"], "mean"),
        },
        suggestions=int(data.works.suggested[data.works.shown].sum()),
        accepted=seen.estimate("accepted"),
        rejected=seen.estimate("rejected"),
        bins=tuple(_bins(data, split, _both(shown, hidden))),
        agreement={name: sample.estimate("mean") for name, sample in between.items()},
        excess={name: between[name].less(between["bare"], "mean") for name in ("shown", "split")},
    )
    return replace(pull, cautions=tuple(_cautions(pull)))


class _Side(NamedTuple):
    """The mean over some annotators of each of P pairs: F1, and what was taken by bin."""

    done: Mask
    f1: Floats
    taken: Floats


@dataclass(frozen=True, eq=False)
class _Data:
    """The rows of all works; of each pair its suggestions by bin, its arm and stratum."""

    works: WorkRows
    suggested: Ints
    arms: NDArray[np.object_]
    strata: Ints
    options: PullOptions

    @classmethod
    def of(cls, pairs: Sequence[ControlPair], options: PullOptions) -> _Data:
        arms = np.array([_arm(pair) for pair in pairs], object)
        _, strata = np.unique([pair.stratum for pair in pairs], return_inverse=True)
        works = count_works(pairs, options.edges, least=options.least)
        suggested = np.zeros((len(pairs), works.suggested.shape[1]), np.int64)
        suggested[works.pair] = works.suggested  # the same for all works of a pair
        return cls(works, suggested, arms, strata.reshape(-1).astype(np.int64), options)

    def side(self, arm: str, shown: bool) -> _Side:
        """Return of each pair of an arm the mean of those who saw suggestions, or did not."""
        works, pairs = self.works, len(self.arms)
        chosen = np.flatnonzero((self.arms[works.pair] == arm) & (works.shown == shown))
        of = works.pair[chosen]
        size = np.bincount(of, minlength=pairs)
        taken = np.zeros((pairs, works.taken.shape[1]))
        np.add.at(taken, of, works.taken[chosen])
        f1 = np.bincount(of, works.f1[chosen], pairs)
        share = np.maximum(size, 1)
        return _Side(size > 0, f1 / share, taken / share[:, None])

    def sample(self, name: str, rows: Floats, measure: Measure, pairs: Ints, says: Mask) -> Sample:
        """Return a sample; each has draws of its own, and rows that say nothing are left out."""
        seeds = np.random.SeedSequence(self.options.seed).spawn(len(_SAMPLES))
        return Sample(
            Rows(rows[says], measure),
            self.strata[pairs[says]],
            resamples=self.options.resamples,
            confidence=self.options.confidence,
            seeds=seeds[_SAMPLES.index(name)],
            left_out=int((~says).sum()),
        )

    def mean(self, name: str, values: Floats, pairs: Ints, says: Mask) -> Sample:
        """Return a sample of which the mean is taken."""
        rows = np.stack([np.ones(len(values)), values], axis=1)
        return self.sample(
            name, rows, lambda sums: {"mean": ratio(sums[:, 1], sums[:, 0])}, pairs, says
        )


def _arm(pair: ControlPair) -> str:
    return pair.arm or "shown"


def _both(shown: _Side, hidden: _Side) -> Ints:
    return np.flatnonzero(shown.done & hidden.done)


def _split_sample(data: _Data, shown: _Side, hidden: _Side) -> Sample:
    pairs = _both(shown, hidden)
    suggested, taken, drawn = (
        np.hstack([counts.sum(axis=1, keepdims=True), counts])
        for counts in (data.suggested[pairs], shown.taken[pairs], hidden.taken[pairs])
    )
    f1 = np.stack([np.ones(len(pairs)), shown.f1[pairs], hidden.f1[pairs]], axis=1)
    width = suggested.shape[1]

    def measure(sums: Floats) -> dict[str, Floats]:
        pairs, with_them, without = sums[:, :3].T
        measures = {
            "shown": ratio(with_them, pairs),
            "hidden": ratio(without, pairs),
            "pull": ratio(with_them - without, pairs),
        }
        for k in range(width):
            some, took, drew = sums[:, 3 + k :: width].T
            measures[f"taken {k}"] = ratio(took, some)
            measures[f"unseen {k}"] = ratio(drew, some)
            measures[f"pull {k}"] = ratio(took - drew, some)
        return measures

    rows = np.hstack([f1, suggested, taken, drawn])
    return data.sample("split", rows, measure, pairs, suggested[:, 0] > 0)


def _bins(data: _Data, split: Sample, pairs: Ints) -> Iterator[PullBin]:
    counts = data.suggested[pairs].sum(axis=0).tolist()
    bounds = (0.0, *data.options.edges, 1.0)
    spans = [(0.0, 1.0), *pairwise(bounds), (nan, nan)]
    for k, ((low, high), count) in enumerate(zip(spans, [sum(counts), *counts], strict=True)):
        if count or not isnan(low):
            parts = (split.estimate(f"{name} {k}") for name in ("taken", "unseen", "pull"))
            yield PullBin(low, high, count, *parts)


def _coin_sample(data: _Data, shown: bool) -> Sample:
    side = data.side("coin", shown)
    pairs = np.flatnonzero(side.done)
    name = f"coin {'shown' if shown else 'hidden'}"
    return data.mean(name, side.f1[pairs], pairs, data.suggested[pairs].sum(axis=1) > 0)


def _seen_sample(data: _Data) -> Sample:
    works, size = data.works, len(data.arms)
    of = works.pair[works.shown]
    rows = np.stack(
        [
            np.bincount(of, counts[works.shown], minlength=size)
            for counts in (works.suggested.sum(axis=1), works.taken.sum(axis=1), works.rejected)
        ],
        axis=1,
    ).astype(np.float64)

    def measure(sums: Floats) -> dict[str, Floats]:
        seen, accepted, rejected = sums.T
        return {"accepted": ratio(accepted, seen), "rejected": ratio(rejected, seen)}

    pairs = np.unique(of)
    return data.sample("seen", rows[pairs], measure, pairs, rows[pairs, 0] > 0)


def _between_samples(data: _Data, pairs: Sequence[ControlPair]) -> dict[str, Sample]:
    agreement = agreement_of_pairs(pairs)
    samples = {}
    for arm in ("shown", "split", "bare"):
        chosen = data.arms[agreement.pair] == arm
        f1 = agreement.f1[chosen]
        samples[arm] = data.mean(f"both {arm}", f1, agreement.pair[chosen], ~np.isnan(f1))
    return samples


def _progress(pairs: Sequence[ControlPair]) -> tuple[dict[str, int], dict[str, int]]:
    done, left = (dict.fromkeys(("split", "bare", "coin", "shown"), 0) for _ in range(2))
    for pair in pairs:
        (left if pair.open else done)[_arm(pair)] += 1
    return done, left


def _deviation(data: _Data, shown: _Side, hidden: _Side) -> float:
    pairs = _both(shown, hidden)
    kept = pairs[data.suggested[pairs].any(axis=1)]
    difference = shown.f1[kept] - hidden.f1[kept]
    return float(difference.std(ddof=1)) if len(kept) > 1 else nan


def _cautions(pull: Pull) -> Iterator[str]:
    pairs = pull.pull.pairs
    if pairs < ENOUGH:
        caution = (
            f"the pull stands on {pairs} split pair{'' if pairs == 1 else 's'}: an interval of "
            f"{_HALF_WIDTH:g} to either side takes {ENOUGH} where the difference within a pair has "
            "a standard deviation of 0.25"
        )
        if pull.deviation > 0:
            needed = ceil((_NORMAL * pull.deviation / _HALF_WIDTH) ** 2)
            caution += f"; here it is {pull.deviation:.2f}, which takes {needed}"
        yield caution
    if 1 < pairs < FEW_PAIRS:
        yield f"with fewer than about {FEW_PAIRS} pairs the bootstrap's intervals are too narrow"
    unfinished = pull.open["split"] + pull.open["bare"]
    if unfinished:
        yield (
            f"{unfinished} pair{'' if unfinished == 1 else 's'} of the control sample "
            f"{'is' if unfinished == 1 else 'are'} not done by all yet; those done first may "
            "differ from the rest"
        )
    if pull.bins[-1].suggestions and isnan(pull.bins[-1].low):
        yield (
            f"{pull.bins[-1].suggestions} suggestions have no probability, and stand in a bin of "
            "their own"
        )
