"""Count what annotators took of suggestions, and how far they agree: a row a work and a pair."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from alignkit._support.arguments import check_attributes
from alignkit._support.values import jsonable
from alignkit.agreement.intervals import NO_PAIRS, Rows, reasoned
from alignkit.annotate.assignment.assignment import assigned_rows, read_items, read_plan
from alignkit.annotate.assignment.drawing import CONTROL, stratum_of
from alignkit.annotate.project import queries, schema
from alignkit.annotate.project.conversion import annotation_of
from alignkit.annotate.project.fold import Assigned
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.project.state import decode_state
from alignkit.errors import OptionError, UnknownNameError
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays
from alignkit.scoring.counts import LINK_COLUMNS, count_links
from alignkit.stats.ratios import harmonic, ratio
from alignkit.stats.resampling import (
    ONE_PAIR,
    Interval,
    expanded,
    merged_strata,
    stratified_weights,
)

ARMS = {
    "": "not in the control sample: all see suggestions",
    "split": "a coin says which half of the annotators sees none",
    "bare": "nobody sees suggestions",
    "coin": "annotated once, and a coin says whether with suggestions",
}
"""The arms of the control sample, by the names that assignments have."""

Suggested = tuple[int, int, "float | None", int]
"""A suggested link: source and target word, from 0; its probability, if known; 1 possible, 2 sure.
"""


@dataclass(frozen=True)
class ControlWork:
    """What one annotator did with one pair, which is done."""

    shown: bool  # whether suggestions were shown
    links: Alignment  # the final links
    rejected: Collection[tuple[int, int]] = frozenset()  # the suggestions that were put aside

    def __post_init__(self) -> None:
        check_attributes(self)


@dataclass(frozen=True)
class ControlPair:
    """One pair as the pull of suggestions is estimated from it."""

    id: str  # its id, for messages
    arm: str  # one of ARMS
    works: Mapping[
        str, ControlWork
    ]  # what the assigned annotators did who are done with it, by name
    suggested: Sequence[Suggested] = ()  # the suggested links, shown or not
    stratum: str = ""  # the stratum in which it was drawn
    open: int = 0  # how many of those to whom it is assigned are not done with it
    cells: frozenset[tuple[int, int]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.arm not in ARMS:
            raise UnknownNameError("arm", self.arm, ARMS)
        object.__setattr__(self, "suggested", tuple(sorted(self.suggested, key=lambda x: x[:2])))
        object.__setattr__(self, "cells", frozenset((i, j) for i, j, *_ in self.suggested))
        if len(self.cells) < len(self.suggested):
            raise OptionError(f"pair {self.id!r}: a link is suggested twice; name each once")
        for i, j, p, _ in self.suggested:
            if p is not None and not 0 <= p <= 1:
                raise OptionError(
                    f"pair {self.id!r}: the suggestion {i}-{j} has the probability {p}; give one "
                    "from 0 to 1, or None where it is not known"
                )
        wrong = self._wrong()
        if wrong:
            raise OptionError(f"pair {self.id!r} of the arm {self.arm!r}: {wrong}")

    def _wrong(self) -> str:
        shown = [work.shown for work in self.works.values()]
        if self.arm == "bare" and any(shown):
            return "an annotator saw suggestions"
        if not self.arm and not all(shown):
            return "an annotator saw no suggestions"
        return ""


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval."""

    value: float  # naN where undefined
    interval: Interval | str  # the interval, or the reason why there is none
    pairs: int  # how many sentence pairs it stands on
    left_out: int = 0  # how many more there are that say nothing: for them it is 0/0

    def to_dict(self) -> dict[str, object]:
        """Return value, ``low`` and ``high``, or the ``reason``, and pairs; NaN is None."""
        record: dict[str, object] = {"value": jsonable(self.value)}
        if isinstance(self.interval, Interval):
            record |= {"low": jsonable(self.interval.low), "high": jsonable(self.interval.high)}
        else:
            record["reason"] = self.interval
        return record | {"pairs": self.pairs, "left_out": self.left_out}


class StratifiedSample:
    """The rows of counts of a sample of pairs, and what resamples of it give."""

    def __init__(
        self,
        rows: Rows,
        strata: NDArray[np.int64],
        *,
        resamples: int,
        confidence: float,
        seeds: np.random.SeedSequence,
        left_out: int = 0,
    ) -> None:
        self._confidence, self._left_out = confidence, left_out
        self._pairs = len(rows)
        self._figures = rows.figures()
        self._drawn: dict[str, Floats] = {}
        self._degrees = self._pairs - len(np.unique(merged_strata(strata))) if self._pairs else 0
        if self._pairs > 1:
            rng = np.random.default_rng(seeds)
            parts = [
                rows.measure(rows.sums(weights))
                for weights in stratified_weights(strata, resamples, rng, width=rows.width)
            ]
            self._drawn = {
                name: np.concatenate([part[name] for part in parts]) for name in self._figures
            }

    def estimate(self, name: str) -> Estimate:
        """Return a figure."""
        return Estimate(self._figures[name], self._interval(name), self._pairs, self._left_out)

    def less(self, other: StratifiedSample, name: str) -> Estimate:
        """Return a figure less that of another sample, drawn independently."""
        fewer = min(self, other, key=lambda sample: sample._pairs)
        interval = fewer._interval(name)
        if self._drawn and other._drawn:
            drawn = self._drawn[name] - other._drawn[name]
            interval = self._spanned(drawn, min(self._degrees, other._degrees))
        value = self._figures[name] - other._figures[name]
        left_out = self._left_out + other._left_out
        return Estimate(value, interval, self._pairs + other._pairs, left_out)

    def _interval(self, name: str) -> Interval | str:
        if not self._drawn:
            return ONE_PAIR if self._pairs else NO_PAIRS
        return self._spanned(self._drawn[name], self._degrees)

    def _spanned(self, drawn: Floats, degrees: int) -> Interval | str:
        interval = reasoned(drawn, expanded(self._confidence, degrees))
        return (
            replace(interval, confidence=self._confidence)
            if isinstance(interval, Interval)
            else interval
        )


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_COLUMNS = [
    LINK_COLUMNS.index(name) for name in ("hyp_possible", "ref_possible", "possible_in_possible")
]


@dataclass(frozen=True, eq=False)
class WorkRows:
    """A row for each of W works, in the order of pairs, and of annotators within them."""

    pair: Ints  # (W,) the number of its pair
    shown: NDArray[np.bool_]  # (W,) whether suggestions were shown
    f1: Floats  # (W,) F1 of its links and the suggestions; NaN where there are neither
    suggested: Ints
    taken: Ints
    rejected: Ints  # (W,) how many of the suggestions it has not, but put aside


@dataclass(frozen=True, eq=False)
class PairFigures:
    """How far the annotators of pairs agree."""

    pair: Ints  # (K,) the numbers of the pairs on which two can be compared
    f1: Floats


def count_works(
    pairs: Sequence[ControlPair], edges: Sequence[float], *, least: float = 0.0
) -> WorkRows:
    """Count for each work what it has of the suggestions."""
    kept = [
        [cell for cell in pair.suggested if cell[2] is None or cell[2] >= least] for pair in pairs
    ]
    works = [(k, work) for k, pair in enumerate(pairs) for work in pair.works.values()]
    drawn = LinkArrays.pack([work.links for _, work in works])
    packed = LinkArrays.pack([_alignment(some) for some in kept])
    number = np.array([k for k, _ in works], np.int64)
    hints = packed.take(number)
    bins = _bins([kept[k] for k, _ in works], edges)
    of = np.repeat(np.arange(len(works)), np.diff(hints.offsets))
    taken, rejected = _among(hints, drawn), _among(hints, _rejected([work for _, work in works]))
    size = len(works), len(edges) + 2
    return WorkRows(
        number,
        np.array([work.shown for _, work in works], bool),
        _f1(drawn, hints),
        _table(of, bins, size),
        _table(of[taken], bins[taken], size),
        np.bincount(of[rejected & ~taken], minlength=len(works)),
    )


def agreement_of_pairs(pairs: Sequence[ControlPair]) -> PairFigures:
    """Return for each pair how far every two agree; on split pairs, who saw suggestions and not."""
    twos = [
        (k, first.links, other.links)
        for k, pair in enumerate(pairs)
        for first, other in combinations(pair.works.values(), 2)
        if pair.arm != "split" or first.shown != other.shown
    ]
    numbers, place = np.unique(np.array([k for k, *_ in twos], np.int64), return_inverse=True)
    f1 = _f1(
        LinkArrays.pack([first for _, first, _ in twos]),
        LinkArrays.pack([other for *_, other in twos]),
    )
    defined = ~np.isnan(f1)
    totals, counts = (
        np.bincount(place.reshape(-1)[defined], weights, len(numbers))
        for weights in (f1[defined], None)
    )
    return PairFigures(numbers, ratio(totals, counts.astype(np.float64)))


def _f1(first: LinkArrays, second: LinkArrays) -> Floats:
    size, other, both = count_links(first, second)[:, _COLUMNS].T
    return harmonic(ratio(both, size), ratio(both, other))


def _alignment(suggested: Sequence[Suggested]) -> Alignment:
    return Alignment((), [(i, j) for i, j, *_ in suggested])


def _rejected(works: Sequence[ControlWork]) -> LinkArrays:
    return LinkArrays.pack([Alignment((), work.rejected) for work in works])


def _bins(suggested: Sequence[Sequence[Suggested]], edges: Sequence[float]) -> Ints:
    known = [np.nan if p is None else p for _, _, p, _ in chain.from_iterable(suggested)]
    p = np.array(known, np.float64)
    bins = np.searchsorted(np.asarray(edges, np.float64), p, side="right")
    bins[np.isnan(p)] = len(edges) + 1
    return bins.astype(np.int64)


def _among(links: LinkArrays, others: LinkArrays) -> NDArray[np.bool_]:
    n, m = np.maximum(
        links.lengths.max(axis=0, initial=1), others.lengths.max(axis=0, initial=1)
    ).tolist()
    keys = []
    for arrays in (links, others):
        row = np.repeat(np.arange(len(arrays)), np.diff(arrays.offsets))
        keys.append((row * n + arrays.links[:, 0]) * m + arrays.links[:, 1])
    return np.isin(*keys)


def _table(rows: Ints, columns: Ints, size: tuple[int, int]) -> Ints:
    counts = np.bincount(rows * size[1] + columns, minlength=size[0] * size[1])
    return counts.reshape(size).astype(np.int64)


def control_pairs(conn: Connection) -> Iterator[ControlPair]:
    """Yield all pairs that are assigned to somebody, of the control sample and others.

    What annotators did counts where it is done, and was assigned to them before they began. The
    suggestions are those that the page shows: where they are learned, those of a pair stay from
    when it is first opened.
    """
    plan = read_plan(conn)
    if plan is None:
        raise ProjectError(
            "nothing is assigned, so that it is not known who saw suggestions; assign pairs first "
            "(alignkit assign)"
        )
    rows: defaultdict[int, list[Assigned]] = defaultdict(list)
    for row in assigned_rows(conn):
        rows[row.k].append(row)
    suggested, done = _suggested(conn), _done(conn)
    for item in read_items(conn):
        arm = next((row.arm for row in rows[item.k] if row.arm), "")
        own = [row for row in rows[item.k] if row.arm == arm]  # others had begun before
        if own:
            works = {
                row.annotator: ControlWork(row.shown, *done[item.k, row.annotator])
                for row in own
                if (item.k, row.annotator) in done
            }
            yield ControlPair(
                item.id,
                arm,
                works,
                suggested.get(item.k, ()),
                " ".join(stratum_of(item, CONTROL, plan.cuts)),
                len(own) - len(works),
            )


def _suggested(conn: Connection) -> dict[int, list[Suggested]]:
    by_pair = queries.suggested_cells(conn).items()
    return {
        k: [cell for cell in cells if cell[0] >= 0 and cell[1] >= 0] for k, (_, cells) in by_pair
    }


def _done(conn: Connection) -> dict[tuple[int, str], tuple[Alignment, set[tuple[int, int]]]]:
    names = dict(enumerate(queries.annotators(conn), 1))
    table, counts = schema.stream, schema.pair_counts
    same = (counts.c.account == table.c.account) & (counts.c.pair == table.c.pair)
    asked = select(table.c.pair, table.c.account, table.c.state).select_from(
        table.join(counts, same)
    )
    works = {}
    for k, account, text in conn.execute(asked.where(counts.c.done.is_(True))):
        state = decode_state(text)
        said = annotation_of(state)
        if said is not None and said.alignment is not None:
            works[k, names[account]] = said.alignment, state.rejected
    return works
