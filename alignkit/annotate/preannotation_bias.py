"""Estimate how far suggestions pull annotators, from a control sample in which some see none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib import import_module
from itertools import pairwise
from math import ceil, isnan, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments, check_attributes, every
from alignkit._support.values import jsonable
from alignkit.agreement.intervals import Floats, Measure, Rows
from alignkit.agreement.show.tables import value
from alignkit.annotate.bias_estimates import (
    ControlPair,
    Estimate,
    StratifiedSample,
    WorkRows,
    agreement_of_pairs,
    count_works,
)
from alignkit.errors import OptionError
from alignkit.scoring.settings import Signature
from alignkit.stats.ratios import ratio
from alignkit.stats.resampling import FEW_PAIRS, check_drawing
from alignkit.tables.columns import Cell, Column, Report
from alignkit.tables.table import Table, get_medium


@dataclass(frozen=True, kw_only=True)
class PullOptions:
    """The options of the estimate."""

    edges: Sequence[float] = (0.1, 0.6, 0.9)
    least: float = 0.0
    resamples: int = 2000  # how many times to resample the pairs
    confidence: float = 0.95  # the share of the resamples within an interval
    seed: int = 12345  # the same seed gives the same intervals

    def __post_init__(self) -> None:
        check_attributes(self)
        object.__setattr__(self, "edges", tuple(self.edges))
        check_drawing(self.resamples, self.confidence)
        if self.seed < 0:
            raise OptionError(f"the seed is {self.seed}; it must be 0 or more")
        if not 0 <= self.least <= 1:
            raise OptionError(f"least is {self.least}; give a probability, from 0 to 1")
        bounds = (0.0, *self.edges, 1.0)
        if not all(low < other for low, other in pairwise(bounds)):
            raise OptionError(
                f"edges are {', '.join(map(str, self.edges))}; give numbers that rise, above 0 "
                "and below 1"
            )


@dataclass(frozen=True)
class PullBin:
    """What became of the suggestions of one bin on the split pairs."""

    low: float
    high: float
    suggestions: int  # how many there are
    taken: Estimate  # the share that who saw them has, and that who saw none drew
    unseen: Estimate
    pull: Estimate  # the first less the second


@dataclass(frozen=True, repr=False)
class Pull:
    """How far suggestions pull; printed, it is the tables of the command."""

    options: PullOptions  # the options
    pairs: Mapping[str, int]
    open: Mapping[str, int]  # how many of each are not
    pull: Estimate  # the mean over split pairs of F1(shown, suggestions) - F1(hidden, suggestions)
    shown: Estimate  # the means of both
    hidden: Estimate
    deviation: float
    coin: Mapping[str, Estimate]
    suggestions: int
    accepted: Estimate
    rejected: Estimate
    bins: tuple[PullBin, ...]
    agreement: Mapping[str, Estimate]
    excess: Mapping[str, Estimate]  # the first two of these less the last
    cautions: tuple[str, ...] = ()  # what to know before reading the figures

    def __repr__(self) -> str:
        return f"Pull({100 * self.pull.value:+.1f} on {self.pull.pairs} pairs)"

    def __str__(self) -> str:
        return self.show()

    def tables(self) -> list[Table]:
        """Return the tables."""
        tables: list[Table] = _shown().pull_tables(self)
        return tables

    def show(self, medium: str = "text") -> str:
        """Return the tables and cautions: ``"text"``, ``"markdown"``, ``"latex"``, ``"html"``."""
        return str(_shown().pull_report(self, medium))

    def to_dict(self) -> dict[str, object]:
        """Return everything as JSON takes it; NaN is None."""
        return {field.name: _told(getattr(self, field.name)) for field in fields(self)}


def _told(value: object) -> object:
    if isinstance(value, Estimate):
        return value.to_dict()
    if isinstance(value, PullBin):
        return {field.name: _told(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {name: _told(part) for name, part in value.items()}
    if isinstance(value, tuple):
        return [_told(part) for part in value]
    return jsonable(value)


def _shown() -> Any:
    return import_module("alignkit.annotate.preannotation_bias")


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
    (`alignkit.stats.resampling`).

    Examples
    --------
    >>> from alignkit.model.alignment import Alignment
    >>> from alignkit.annotate.bias_estimates import ControlWork
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

    def sample(
        self, name: str, rows: Floats, measure: Measure, pairs: Ints, says: Mask
    ) -> StratifiedSample:
        """Return a sample; each has draws of its own, and rows that say nothing are left out."""
        seeds = np.random.SeedSequence(self.options.seed).spawn(len(_SAMPLES))
        return StratifiedSample(
            Rows(rows[says], measure),
            self.strata[pairs[says]],
            resamples=self.options.resamples,
            confidence=self.options.confidence,
            seeds=seeds[_SAMPLES.index(name)],
            left_out=int((~says).sum()),
        )

    def mean(self, name: str, values: Floats, pairs: Ints, says: Mask) -> StratifiedSample:
        """Return a sample of which the mean is taken."""
        rows = np.stack([np.ones(len(values)), values], axis=1)
        return self.sample(
            name, rows, lambda sums: {"mean": ratio(sums[:, 1], sums[:, 0])}, pairs, says
        )


def _arm(pair: ControlPair) -> str:
    return pair.arm or "shown"


def _both(shown: _Side, hidden: _Side) -> Ints:
    return np.flatnonzero(shown.done & hidden.done)


def _split_sample(data: _Data, shown: _Side, hidden: _Side) -> StratifiedSample:
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


def _bins(data: _Data, split: StratifiedSample, pairs: Ints) -> Iterator[PullBin]:
    counts = data.suggested[pairs].sum(axis=0).tolist()
    bounds = (0.0, *data.options.edges, 1.0)
    spans = [(0.0, 1.0), *pairwise(bounds), (nan, nan)]
    for k, ((low, high), count) in enumerate(zip(spans, [sum(counts), *counts], strict=True)):
        if count or not isnan(low):
            parts = (split.estimate(f"{name} {k}") for name in ("taken", "unseen", "pull"))
            yield PullBin(low, high, count, *parts)


def _coin_sample(data: _Data, shown: bool) -> StratifiedSample:
    side = data.side("coin", shown)
    pairs = np.flatnonzero(side.done)
    name = f"coin {'shown' if shown else 'hidden'}"
    return data.mean(name, side.f1[pairs], pairs, data.suggested[pairs].sum(axis=1) > 0)


def _seen_sample(data: _Data) -> StratifiedSample:
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


def _between_samples(data: _Data, pairs: Sequence[ControlPair]) -> dict[str, StratifiedSample]:
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


_ARMS = {
    "split": "split by a coin",
    "bare": "bare of suggestions",
    "coin": "annotated once, by a coin",
    "shown": "outside the control sample",
}
_AGREEMENT = {
    "shown": "both saw suggestions",
    "split": "one saw suggestions",
    "bare": "neither did",
}


def pull_tables(pull: Pull) -> list[Table]:
    """Return the tables of a pull: the estimate, what became of suggestions, the agreement."""
    return [_estimates(pull), _fates(pull), _bins_tables(pull), _agreement(pull)]


def pull_report(pull: Pull, medium: str = "text") -> str:
    """Return all tables, the cautions and the settings in a medium."""
    written = get_medium(medium)
    options = pull.options
    signature = Signature(
        links="all",
        level="pull",
        interval="bootstrap-strata",
        confidence=options.confidence,
        resamples=options.resamples,
        seed=options.seed,
    )
    tables = [table.sheet() for table in pull_tables(pull)]
    return written.report(Report(_head(pull), tables, pull.cautions, str(signature)))


def _head(pull: Pull) -> list[str]:
    shown = _signed("").show(_cell(pull.pull)).text
    counts = [
        f"{pull.pairs[arm]} {meaning}" + (f" ({pull.open[arm]} open)" if pull.open[arm] else "")
        for arm, meaning in _ARMS.items()
    ]
    return [f"Pull of suggestions: {shown} points of F1", f"Pairs done: {', '.join(counts)}"]


def _cell(estimate: Estimate) -> Cell:
    return value(estimate.value, estimate.interval)


def _signed(name: str, key: str = "") -> Column:
    return Column(name, "percent", signed=True, key=key)


def _estimates(pull: Pull) -> Table:
    columns = [
        Column("pairs annotated", key="sample"),
        Column("pairs", "count"),
        Column("left out", "count", key="left_out"),
        Column("shown", "percent"),
        Column("hidden", "percent"),
        _signed("pull"),
    ]
    samples = {
        "twice, split by a coin": (pull.shown, pull.hidden, pull.pull),
        "once, by a coin": (pull.coin["shown"], pull.coin["hidden"], pull.coin["pull"]),
    }
    rows = [
        [name, estimate[-1].pairs, estimate[-1].left_out, *map(_cell, estimate)]
        for name, estimate in samples.items()
    ]
    least = f" of {pull.options.least:g} and more" if pull.options.least else ""
    return Table(
        f"F1 of annotators' links with the suggestions{least}, shown and hidden",
        columns,
        rows,
        f"Intervals of {100 * pull.options.confidence:g} % by a bootstrap over pairs within "
        "strata. Left out: pairs without suggestions.",
    )


def _fates(pull: Pull) -> Table:
    columns = [
        Column("suggestions seen", "count", key="suggestions"),
        Column("accepted", "percent"),
        Column("rejected", "percent"),
    ]
    row = [pull.suggestions, _cell(pull.accepted), _cell(pull.rejected)]
    return Table(
        "What became of suggestions",
        columns,
        [row],
        "Accepted: linked in the end. Rejected: put aside, and not linked.",
        stub=0,
    )


def _bins_tables(pull: Pull) -> Table:
    columns = [
        Column("probability"),
        Column("suggestions", "count"),
        Column("taken", "percent"),
        Column("drawn unseen", "percent", key="unseen"),
        _signed("pull"),
    ]
    rows = [
        [
            _span(part) if k else "all",
            part.suggestions,
            *map(_cell, (part.taken, part.unseen, part.pull)),
        ]
        for k, part in enumerate(pull.bins)
    ]
    return Table(
        "Suggestions on split pairs, linked by who saw them and who did not", columns, rows
    )


def _span(part: PullBin) -> str:
    if isnan(part.low):
        return "unknown"
    return f"{part.low:g} to {'' if part.high == 1 else 'below '}{part.high:g}"


def _agreement(pull: Pull) -> Table:
    columns = [
        Column("suggestions", key="arm"),
        Column("pairs", "count"),
        Column("left out", "count", key="left_out"),
        Column("F1", "percent", key="f1"),
        _signed("less neither", key="excess"),
    ]
    rows: list[list[Cell]] = [
        [
            name,
            pull.agreement[arm].pairs,
            pull.agreement[arm].left_out,
            _cell(pull.agreement[arm]),
            _cell(pull.excess[arm]) if arm in pull.excess else None,
        ]
        for arm, name in _AGREEMENT.items()
    ]
    return Table(
        "F1 between two annotators, mean over pairs",
        columns,
        rows,
        "Left out: pairs on which nobody drew anything.",
    )
