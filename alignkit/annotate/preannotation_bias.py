"""Estimate how far suggestions pull annotators, from a control sample in which some see none.

`control_pairs` reads the sample from a project, `estimate_pull` estimates the pull. Both use
arrays: a row of counts for each work (one annotator's work on one pair), and samples of pairs.
Sums and resamples are taken over the rows of a sample.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, combinations, pairwise
from math import ceil, isnan, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from alignkit._support.arguments import check_arguments, check_attributes, every
from alignkit._support.values import jsonable, named_json
from alignkit.agreement.intervals import NO_PAIRS, Floats, Measure, Rows, reasoned
from alignkit.agreement.tables import with_interval
from alignkit.annotate.assignment import assigned_rows, read_items, read_plan
from alignkit.annotate.assignment_draw import arm_of
from alignkit.annotate.project import queries, schema
from alignkit.annotate.project.conversion import annotation_of
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.project.project_events import Assigned, Suggestion
from alignkit.annotate.project.state import PairState
from alignkit.annotate.strata import CONTROL, stratum_of
from alignkit.errors import OptionError, UnknownNameError
from alignkit.model.alignment import NULL, Alignment
from alignkit.model.arrays import LinkArrays
from alignkit.scoring.counts import LINK_COLUMNS, count_links
from alignkit.scoring.settings import Signature
from alignkit.stats.defaults import CONFIDENCE, SEED
from alignkit.stats.resampling import (
    FEW_PAIRS,
    ONE_PAIR,
    Interval,
    check_drawing,
    expanded,
    harmonic,
    merged_strata,
    ratio,
    stratified_weights,
)
from alignkit.tables.columns import Cell, Column
from alignkit.tables.result import Result
from alignkit.tables.table import Table

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

ARMS = {
    "": "not in the control sample: all see suggestions",
    "split": "a coin decides which half of the annotators sees none",
    "bare": "nobody sees suggestions",
    "coin": "annotated once; a coin decides whether with suggestions",
}
"""The arms of the control sample, by their names in assignments."""


@dataclass(frozen=True)
class ControlWork:
    """The finished work of one annotator on one pair."""

    shown: bool  # whether suggestions were shown
    links: Alignment  # the final links
    rejected: Collection[tuple[int, int]] = frozenset()  # the suggestions that were put aside
    unseen: Collection[tuple[int, int]] = frozenset()  # the links that nobody looked at

    def __post_init__(self) -> None:
        check_attributes(self)


@dataclass(frozen=True)
class ControlPair:
    """The data of one pair for estimating the pull of suggestions."""

    id: str  # its id, for messages
    arm: str  # one of ARMS
    works: Mapping[str, ControlWork]  # by name, of the assigned annotators who are done with it
    suggested: Sequence[Suggestion] = ()  # the suggested links, shown or not
    stratum: str = ""  # the stratum in which it was drawn
    open: int = 0  # how many of those to whom it is assigned are not done with it

    def __post_init__(self) -> None:
        if self.arm not in ARMS:
            raise UnknownNameError("arm", self.arm, ARMS)
        suggested = sorted(self.suggested, key=lambda suggestion: suggestion[:2])
        object.__setattr__(self, "suggested", tuple(suggested))
        links = {suggestion[:2] for suggestion in suggested}
        if len(links) < len(suggested):
            raise OptionError(f"pair {self.id!r}: a link is suggested twice; give each link once")
        for i, j, p, _ in self.suggested:
            if p is not None and not 0 <= p <= 1:
                raise OptionError(
                    f"pair {self.id!r}: the suggestion {i}-{j} has the probability {p}; give one "
                    "from 0 to 1, or None if it is unknown"
                )
        wrong = {"bare": True, "": False}.get(self.arm)  # what nobody of the arm may have
        if any(work.shown is wrong for work in self.works.values()):
            saw = "saw suggestions" if wrong else "saw no suggestions"
            raise OptionError(f"pair {self.id!r} of the arm {self.arm!r}: an annotator {saw}")


def control_pairs(conn: Connection) -> Iterator[ControlPair]:
    """Yield all assigned pairs, with the work done so far, and whether suggestions are shown."""
    plan = read_plan(conn)
    if plan is None:
        raise ProjectError(
            "nothing is assigned, so it is unknown who saw suggestions; assign pairs first "
            "(alignkit project assign)"
        )
    rows: defaultdict[int, list[Assigned]] = defaultdict(list)
    for row in assigned_rows(conn):
        rows[row.k].append(row)
    suggested = queries.suggested_cells(conn)
    done = _done(conn)
    for item in read_items(conn):
        arm = arm_of(rows[item.k])
        assigned = [row for row in rows[item.k] if row.arm == arm]  # others had begun before
        if not assigned:
            continue
        _, cells = suggested.get(item.k, ("", ()))
        links = [cell for cell in cells if cell[0] >= 0 and cell[1] >= 0]
        works = {}
        for row in assigned:
            work = done.get((item.k, row.annotator))
            if work is not None:
                works[row.annotator] = _control_work(row.shown, *work, links)
        stratum = " ".join(stratum_of(item, CONTROL, plan.cuts))
        yield ControlPair(item.id, arm, works, links, stratum, len(assigned) - len(works))


def _control_work(
    shown: bool, links: Alignment, state: PairState, suggested: Iterable[Suggestion]
) -> ControlWork:
    """Return a finished work; settling a word puts aside what it is not linked to."""
    rejected = set(state.rejected)
    for i, j, *_ in suggested:
        if (i, NULL) in state.settled or (NULL, j) in state.settled:
            rejected.add((i, j))
    return ControlWork(shown, links, rejected, state.bulk)


def _done(conn: Connection) -> dict[tuple[int, str], tuple[Alignment, PairState]]:
    """Return the links and the state of all finished works, by pair and name."""
    names = dict(enumerate(queries.annotators(conn), 1))
    table = schema.stream.c
    counts = schema.pair_counts.c
    same = (counts.account == table.account, counts.pair == table.pair)
    works = {}
    for k, account, state in queries.states(conn, *same, counts.done.is_(True)):
        annotation = annotation_of(state)
        if annotation is not None and annotation.alignment is not None:
            works[k, names[account]] = (annotation.alignment, state)
    return works


@dataclass(frozen=True, eq=False)
class WorkRows:
    """A row for each of W works, in the order of pairs, then of annotators."""

    pair: Ints  # (W,) the number of its pair
    shown: Mask  # (W,) whether suggestions were shown
    f1: Floats  # (W,) F1 of its links and the suggestions; NaN where there are neither
    suggested: Ints  # (W, B) how many suggestions there are, by bin of their probability
    taken: Ints  # (W, B) how many of them it has
    rejected: Ints  # (W,) how many of the suggestions it has not, but put aside
    unseen: Ints  # (W,) how many of those that it has nobody looked at


def count_works(
    pairs: Sequence[ControlPair], edges: Sequence[float], *, least: float = 0.0
) -> WorkRows:
    """Count for each work how many suggestions it shares."""
    links: list[Alignment] = []  # of each pair, its suggestions that count
    probabilities: list[list[float]] = []  # theirs, NaN where unknown
    works: list[ControlWork] = []
    numbers: list[int] = []  # of each work, the number of its pair
    for k, pair in enumerate(pairs):
        counted = [(i, j, p) for i, j, p, _ in pair.suggested if p is None or p >= least]
        links.append(Alignment((), [(i, j) for i, j, _ in counted]))
        probabilities.append([nan if p is None else p for _, _, p in counted])
        works += pair.works.values()
        numbers += [k] * len(pair.works)
    pair_of = np.array(numbers, np.int64)
    drawn = LinkArrays.pack([work.links for work in works])
    put_aside = LinkArrays.pack([Alignment((), work.rejected) for work in works])
    not_looked_at = LinkArrays.pack([Alignment((), work.unseen) for work in works])
    hints = LinkArrays.pack(links).take(pair_of)
    work_of = np.repeat(np.arange(len(works)), np.diff(hints.offsets))  # the work of each hint
    of_works = chain.from_iterable(probabilities[k] for k in numbers)
    p = np.array(list(of_works), np.float64)
    unknown = len(edges) + 1
    bins = np.where(np.isnan(p), unknown, np.searchsorted(edges, p, side="right"))
    taken = hints.among(drawn)
    rejected = hints.among(put_aside)
    unseen = hints.among(not_looked_at)

    def by_bin(chosen: Mask) -> Ints:
        """Count some of the hints by work and bin."""
        width = unknown + 1
        cells = work_of[chosen] * width + bins[chosen]
        counts = np.bincount(cells, minlength=len(works) * width)
        return counts.reshape(len(works), width).astype(np.int64)

    return WorkRows(
        pair=pair_of,
        shown=np.array([work.shown for work in works], bool),
        f1=_f1(drawn, hints),
        suggested=by_bin(np.ones(len(p), bool)),
        taken=by_bin(taken),
        rejected=np.bincount(work_of[rejected & ~taken], minlength=len(works)),
        unseen=np.bincount(work_of[unseen & taken], minlength=len(works)),
    )


_COLUMNS = [LINK_COLUMNS.index(x) for x in ("hyp_possible", "ref_possible", "possible_in_possible")]


def _f1(first: LinkArrays, second: LinkArrays) -> Floats:
    """Return F1 of each alignment and its counterpart; NaN if both are empty."""
    size, other, both = count_links(first, second)[:, _COLUMNS].T
    return harmonic(ratio(both, size), ratio(both, other))


def agreement_of_pairs(pairs: Sequence[ControlPair]) -> tuple[Ints, Floats]:
    """Return the pairs that two have done (if split, one with, one without), and mean F1 or NaN."""
    firsts = []
    others = []
    numbers = []  # of each two works, the number of their pair
    for k, pair in enumerate(pairs):
        for first, other in combinations(pair.works.values(), 2):
            if pair.arm != "split" or first.shown != other.shown:
                firsts.append(first.links)
                others.append(other.links)
                numbers.append(k)
    done, place = np.unique(np.array(numbers, np.int64), return_inverse=True)
    place = place.reshape(-1)
    f1 = _f1(LinkArrays.pack(firsts), LinkArrays.pack(others))
    defined = ~np.isnan(f1)
    totals = np.bincount(place, np.where(defined, f1, 0.0), len(done))
    counts = np.bincount(place, defined, len(done))
    return done, ratio(totals, counts)


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval."""

    value: float  # NaN where undefined
    interval: Interval | str  # the interval, or the reason why there is none
    pairs: int  # how many sentence pairs it stands on
    left_out: int = 0  # how many more there are that say nothing: for them it is 0/0

    def to_json(self) -> dict[str, object]:
        """Return value, ``low`` and ``high``, or the ``reason``, and pairs; NaN is None."""
        record: dict[str, object] = {"value": jsonable(self.value)}
        if isinstance(self.interval, Interval):
            record |= {"low": jsonable(self.interval.low), "high": jsonable(self.interval.high)}
        else:
            record["reason"] = self.interval
        return record | {"pairs": self.pairs, "left_out": self.left_out}


class StratifiedSample:
    """The rows of counts of a sample of pairs, and their resamples."""

    def __init__(
        self, rows: Rows, strata: Ints, options: PullOptions, rng: np.random.Generator, rest: int
    ) -> None:
        self._confidence = options.confidence
        self._left_out = rest
        self._pairs = len(rows)
        self._figures = rows.figures()
        self._drawn: dict[str, Floats] = {}
        if self._pairs:
            self._degrees = self._pairs - len(np.unique(merged_strata(strata)))
        else:
            self._degrees = 0
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

    def _spanned(self, drawn: Floats, degrees: int) -> Interval | str:
        """Return the interval of resampled values; fewer degrees of freedom make it wider."""
        interval = reasoned(drawn, expanded(self._confidence, degrees))
        if isinstance(interval, str):
            return interval
        return replace(interval, confidence=self._confidence)


@dataclass(frozen=True, kw_only=True)
class PullOptions:
    """The options of the estimate."""

    edges: Sequence[float] = (0.1, 0.6, 0.9)  # where the bins of probabilities part
    least: float = 0.0  # the least probability of suggestions that count
    resamples: int = 2000  # how many times to resample the pairs
    confidence: float = CONFIDENCE  # the share of the resamples within an interval
    seed: int = SEED  # the same seed gives the same intervals

    def __post_init__(self) -> None:
        check_attributes(self)
        object.__setattr__(self, "edges", tuple(self.edges))
        check_drawing(self.resamples, self.confidence)
        if self.seed < 0:
            raise OptionError(f"the seed is {self.seed}; it must be 0 or more")
        if not 0 <= self.least <= 1:
            raise OptionError(f"`least` is {self.least}; give a probability from 0 to 1")
        steps = np.diff((0.0, *self.edges, 1.0))
        if not np.all(steps > 0):
            raise OptionError(
                f"edges are {', '.join(map(str, self.edges))}; give increasing numbers above 0 "
                "and below 1"
            )


@dataclass(frozen=True)
class PullBin:
    """The outcome of the suggestions of one bin on the split pairs."""

    low: float
    high: float
    suggestions: int  # how many there are
    taken: Estimate  # the share that annotators who saw them have, and that the others drew
    unseen: Estimate
    pull: Estimate  # the first less the second


@dataclass(frozen=True, repr=False)
class Pull(Result):
    """The pull of suggestions on annotators; printing it gives the tables of the command."""

    options: PullOptions  # the options
    pairs: Mapping[str, int]  # how many pairs of each arm are done by all
    open: Mapping[str, int]  # how many of each are not
    pull: Estimate  # the mean over split pairs of F1(shown, suggestions) - F1(hidden, suggestions)
    shown: Estimate  # the means of both
    hidden: Estimate
    deviation: float
    coin: Mapping[str, Estimate]
    suggestions: int
    accepted: Estimate
    unseen: Estimate  # the part of these that nobody looked at
    rejected: Estimate
    bins: tuple[PullBin, ...]
    agreement: Mapping[str, Estimate]
    excess: Mapping[str, Estimate]  # the first two of these less the last
    cautions: tuple[str, ...] = ()  # what to know before reading the figures

    def __repr__(self) -> str:
        return f"Pull({100 * self.pull.value:+.1f} on {self.pull.pairs} pairs)"

    def tables(self) -> list[Table]:
        """Return the tables: the estimate, the outcome of suggestions, the agreement."""
        shares = [
            Column("accepted", "percent"),
            Column("of these not looked at", "percent", key="unseen"),
            Column("rejected", "percent"),
        ]
        fates = Table(
            "Outcome of suggestions",
            [Column("suggestions seen", "count", key="suggestions"), *shares],
            [[self.suggestions, *map(_cell, (self.accepted, self.unseen, self.rejected))]],
            "Accepted: linked in the end. Not looked at: kept when the pair was marked as done, or "
            "accepted in bulk, and seen by nobody. Rejected: rejected explicitly, or suggested for "
            "a word that was looked at, and not linked.",
            stub=0,
        )
        return [_estimates(self), fates, _probabilities(self), _agreement(self)]

    @property
    def head(self) -> list[str]:
        """Lines above the tables."""
        shown = _signed("").show(_cell(self.pull)).text
        counts = []
        for arm, meaning in _MEANINGS.items():
            text = f"{self.pairs[arm]} {meaning}"
            if self.open[arm]:
                text += f" ({self.open[arm]} open)"
            counts.append(text)
        return [f"Pull of suggestions: {shown} points of F1", f"Pairs done: {', '.join(counts)}"]

    @property
    def settings(self) -> str:
        """The settings behind the numbers, in one line."""
        drawn = {name: getattr(self.options, name) for name in ("confidence", "resamples", "seed")}
        return str(Signature(links="all", level="pull", interval="bootstrap-strata", **drawn))

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values for JSON; NaN becomes None."""
        return named_json(self, (field.name for field in fields(self)))


_SAMPLES = ("split", "coin shown", "coin hidden", "seen", "both shown", "both split", "both bare")


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
        says = data.suggested[pairs_done].sum(axis=1) > 0
        coin[name] = data.mean(f"coin {name}", side.f1[pairs_done], pairs_done, says)
    coin_means = {name: sample.estimate("mean") for name, sample in coin.items()}
    coin_means["pull"] = coin["shown"].less(coin["hidden"], "mean")
    numbers, f1 = agreement_of_pairs(given)
    between = {}
    for arm in _AGREEMENT:
        chosen = data.arms[numbers] == arm
        arm_f1 = f1[chosen]
        between[arm] = data.mean(f"both {arm}", arm_f1, numbers[chosen], ~np.isnan(arm_f1))
    done = dict.fromkeys(_MEANINGS, 0)
    unfinished = dict.fromkeys(_MEANINGS, 0)
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
    """The mean over some annotators for each of P pairs: F1, and the share taken by bin."""

    done: Mask
    f1: Floats
    taken: Floats


@dataclass(frozen=True, eq=False)
class _PullData:
    """The rows of all works; for each pair its suggestions by bin, its arm and stratum."""

    works: WorkRows
    suggested: Ints
    arms: NDArray[np.object_]
    strata: Ints
    options: PullOptions

    @classmethod
    def of(cls, pairs: Sequence[ControlPair], options: PullOptions) -> _PullData:
        """Count the works of some pairs."""
        arms = np.array([_arm(pair) for pair in pairs], object)
        _, strata = np.unique([pair.stratum for pair in pairs], return_inverse=True)
        works = count_works(pairs, options.edges, least=options.least)
        suggested = np.zeros((len(pairs), works.suggested.shape[1]), np.int64)
        suggested[works.pair] = works.suggested  # the same for all works of a pair
        return cls(works, suggested, arms, strata.reshape(-1).astype(np.int64), options)

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
        self, name: str, rows: Floats, measure: Measure, pairs: Ints, says: Mask
    ) -> StratifiedSample:
        """Return a sample with draws of its own; rows without information are left out."""
        seeds = np.random.SeedSequence(self.options.seed).spawn(len(_SAMPLES))
        own = Rows(rows[says], measure)
        left_out = int((~says).sum())
        rng = np.random.default_rng(seeds[_SAMPLES.index(name)])
        return StratifiedSample(own, self.strata[pairs[says]], self.options, rng, left_out)

    def mean(self, name: str, values: Floats, pairs: Ints, says: Mask) -> StratifiedSample:
        """Return a sample for the mean of some values."""
        rows = np.stack([np.ones(len(values)), values], axis=1)

        def measure(sums: Floats) -> dict[str, Floats]:
            count, total = sums.T
            return {"mean": ratio(total, count)}

        return self.sample(name, rows, measure, pairs, says)


def _arm(pair: ControlPair) -> str:
    """Return the name of a pair's arm in results."""
    return pair.arm or "shown"


def _with_total(counts: NDArray[Any]) -> NDArray[Any]:
    """Put the sum of each row before it."""
    return np.hstack([counts.sum(axis=1, keepdims=True), counts])


def _split_sample(data: _PullData, shown: _Side, hidden: _Side, pairs: Ints) -> StratifiedSample:
    """Return the sample of split pairs: F1 of both sides, and what they have of the suggestions."""
    suggested = _with_total(data.suggested[pairs])
    taken = _with_total(shown.taken[pairs])
    drawn = _with_total(hidden.taken[pairs])
    f1 = np.stack([np.ones(len(pairs)), shown.f1[pairs], hidden.f1[pairs]], axis=1)
    width = suggested.shape[1]

    def measure(sums: Floats) -> dict[str, Floats]:
        pairs, with_them, without = sums[:, :3].T
        measures = {
            "shown": ratio(with_them, pairs),
            "hidden": ratio(without, pairs),
            "pull": ratio(with_them - without, pairs),
        }
        for k in range(width):  # of all suggestions, then of each bin
            some, took, drew = sums[:, 3 + k :: width].T
            measures[f"taken {k}"] = ratio(took, some)
            measures[f"unseen {k}"] = ratio(drew, some)
            measures[f"pull {k}"] = ratio(took - drew, some)
        return measures

    rows = np.hstack([f1, suggested, taken, drawn])
    return data.sample("split", rows, measure, pairs, suggested[:, 0] > 0)


def _bins(data: _PullData, split: StratifiedSample, pairs: Ints) -> Iterator[PullBin]:
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

    def measure(sums: Floats) -> dict[str, Floats]:
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
            f"the pull is estimated from {pairs} split pair{'' if pairs == 1 else 's'}: an "
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
        if unfinished == 1:
            are = " of the control sample is"
        else:
            are = "s of the control sample are"
        yield (
            f"{unfinished} pair{are} not done by all yet; the rest may differ from those done first"
        )
    last = pull.bins[-1]
    if last.suggestions and isnan(last.low):
        yield f"{last.suggestions} suggestions have no probability; they are in a separate bin"


_MEANINGS = {
    "split": "split by a coin",
    "bare": "without suggestions",
    "coin": "annotated once, suggestions by a coin",
    "shown": "outside the control sample",
}
_AGREEMENT = {
    "shown": "both saw suggestions",
    "split": "one saw suggestions",
    "bare": "neither saw suggestions",
}
_COUNTS = [Column("pairs", "count"), Column("left out", "count", key="left_out")]


def _cell(estimate: Estimate) -> Cell:
    """Return an estimate as the cell of a table."""
    return with_interval(estimate.value, estimate.interval)


def _signed(name: str, key: str = "") -> Column:
    """Return a column of differences in percent, with their signs."""
    return Column(name, "percent", signed=True, key=key)


def _estimates(pull: Pull) -> Table:
    """Return the table of the pull, over split pairs and over pairs annotated once."""
    figures = [Column("shown", "percent"), Column("hidden", "percent"), _signed("pull")]
    columns = [Column("pairs annotated", key="sample"), *_COUNTS, *figures]
    samples = {
        "twice, split by a coin": (pull.shown, pull.hidden, pull.pull),
        "once, by a coin": (pull.coin["shown"], pull.coin["hidden"], pull.coin["pull"]),
    }
    rows: list[list[Cell]] = []
    for name, estimates in samples.items():
        difference = estimates[-1]
        rows.append([name, difference.pairs, difference.left_out, *map(_cell, estimates)])
    least = ""
    if pull.options.least:
        least = f" of at least {pull.options.least:g}"
    return Table(
        f"F1 of annotators' links against the suggestions{least}, shown and hidden",
        columns,
        rows,
        f"Intervals of {100 * pull.options.confidence:g} % by a bootstrap over pairs within "
        "strata. Left out: pairs without suggestions.",
    )


def _probabilities(pull: Pull) -> Table:
    """Return the table of suggestions by the bin of their probability."""
    shares = [Column("taken", "percent"), Column("drawn unseen", "percent", key="unseen")]
    columns = [Column("probability"), Column("suggestions", "count"), *shares, _signed("pull")]
    rows: list[list[Cell]] = []
    for part in pull.bins:
        if part is pull.bins[0]:
            name = "all"
        elif isnan(part.low):
            name = "unknown"
        elif part.high == 1:
            name = f"{part.low:g} to 1"
        else:
            name = f"{part.low:g} to below {part.high:g}"
        estimates = (part.taken, part.unseen, part.pull)
        rows.append([name, part.suggestions, *map(_cell, estimates)])
    title = "Suggestions on split pairs, linked by those who saw them and those who did not"
    return Table(title, columns, rows)


def _agreement(pull: Pull) -> Table:
    """Return the table of F1 between annotators, by how many of the two saw suggestions."""
    figures = [Column("F1", "percent", key="f1"), _signed("minus neither", key="excess")]
    rows: list[list[Cell]] = []
    for arm, name in _AGREEMENT.items():
        agreement = pull.agreement[arm]
        excess = _cell(pull.excess[arm]) if arm in pull.excess else None
        rows.append([name, agreement.pairs, agreement.left_out, _cell(agreement), excess])
    columns = [Column("suggestions", key="arm"), *_COUNTS, *figures]
    note = "Left out: pairs on which nobody drew a link."
    return Table("F1 between two annotators, mean over pairs", columns, rows, note)
