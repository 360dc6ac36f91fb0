"""The figures that a child process computes: C, the pull of suggestions, times, corrections.

C is what `alignkit.agree` computes with its defaults on an export of the finished work.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations, pairwise
from math import isnan, nan
from operator import itemgetter
from statistics import fmean, median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select

from alignkit.agreement.cautions import cautions_of
from alignkit.agreement.chance.corpus import CorpusBeyondChance
from alignkit.agreement.chance.result import BeyondChance
from alignkit.agreement.judgments.question import agree_on_judgments
from alignkit.agreement.options import CLOSED, AgreementOptions
from alignkit.agreement.pairs import CorpusData, CorpusPart
from alignkit.agreement.question import pairings_of
from alignkit.agreement.result import Agreement
from alignkit.annotate.assignment import read_plan
from alignkit.annotate.dashboard import view
from alignkit.annotate.dashboard.live_work import Compared, compared, label_view
from alignkit.annotate.exporting import exported
from alignkit.annotate.preannotation_bias import (
    ControlPair,
    Estimate,
    control_pairs,
    estimate_pull,
)
from alignkit.annotate.project import queries, schema
from alignkit.annotate.project.events import GAP
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.project.state import decode_state
from alignkit.annotate.project.store import Store
from alignkit.corpora.labelled import judges_of
from alignkit.model.corpus import Corpus
from alignkit.model.labels import Scheme
from alignkit.stats.resampling import Interval
from alignkit.tables.result import Caution

Floats = NDArray[np.float64]
Report = Callable[[str, "float | None"], None]

_MOST = 300  # corrected pairs that are drawn one by one, and points of their line
_ROWS = 12  # rows of the table of corrections, at most
_LEAST = 5  # pairs in each of them, at least
_SHARE = 20  # the window of the mean is one in so many pairs, to either side


def slow_figures(store: Store, report: Report, *, times_alone: bool = False) -> view.SlowFigures:
    """Compute the figures of a project that take a while."""
    with store.database.reading() as conn:
        asked = compared(conn)
        paces = {name: _pace(conn, account) for name, account in asked.annotators.items()}
        figures = view.SlowFigures(paces)
        figures.corrections = gathered(conn)
        if times_alone:
            return figures
        report("reading", None)
        pairs = []
        if read_plan(conn) is not None:
            pairs = list(control_pairs(conn))
        judges = queries.task_of(conn) == "judge"
        scheme = queries.scheme_of(conn)
    figures.pull = _pull(pairs)
    corpus = Corpus(exported(store, done=True))
    if judges:
        figures.twos = []
        figures.cautions = _judging_cautions(corpus, asked, scheme)
    else:
        figures.twos, figures.cautions = _twos(corpus, asked, report)
    return figures


# The pull of suggestions, and agreement beyond chance


def _pull(pairs: Sequence[ControlPair]) -> view.PullLine:
    """Return the pull of suggestions; without a control sample, the reason why it is unknown."""
    if not any(pair.arm for pair in pairs):
        unknown = view.LiveFigure(None, reason=view.NO_CONTROL)
        return view.PullLine(unknown, unknown, unknown)
    bias = estimate_pull(pairs)
    pull = _estimated(bias.pull)
    accepted = _estimated(bias.accepted)
    rejected = _estimated(bias.rejected)
    return view.PullLine(pull, accepted, rejected, list(bias.cautions))


def _estimated(estimate: Estimate) -> view.LiveFigure:
    """Return an estimate as a figure of the dashboard."""
    value = _known(estimate.value)
    interval = estimate.interval
    if isinstance(interval, Interval):
        return view.LiveFigure(value, _known(interval.low), _known(interval.high), estimate.pairs)
    return view.LiveFigure(value, pairs=estimate.pairs, reason=interval)


def _judging_cautions(corpus: Corpus, asked: Compared, scheme: Scheme | None) -> list[Caution]:
    """Return the cautions about the agreement of annotators on labels."""
    judging = label_view(scheme)
    names = [name for name in judges_of(corpus) if name in asked.annotators]
    if judging is None or len(names) < 2:
        return []
    agreement = agree_on_judgments(
        corpus, names, scheme=judging.scheme, view=judging.name, lenient_labels=True
    )
    return list(agreement.cautions)


def _twos(
    corpus: Corpus, asked: Compared, report: Report
) -> tuple[list[view.SlowTwo], list[Caution]]:
    """Return C of every two annotators who have done something, and the cautions about them."""
    names = tuple(name for name in asked.annotators if name in corpus.aligners)
    initial = asked.initial
    if initial is None:
        machines: tuple[str, ...] = ()
    else:
        machines = (initial,)

    def sampled(done: int, of: int) -> None:
        report("sampling", done / of)

    options = AgreementOptions(progress=sampled).settled(initial)
    every = [CorpusPart("all", np.arange(len(corpus)))]
    beyond = CorpusBeyondChance(CorpusData(corpus), initial, machines, options, every)
    twos = [("annotators", *two) for two in combinations(names, 2)]
    pairings = pairings_of(twos, beyond)
    agreement = Agreement(
        annotators=names,
        options=replace(options, progress=None),
        initial=beyond.initial,
        adjudicated=None,
        systems=beyond.systems,
        sections=("all",),
        pairings=pairings,
        together=(),
        corpus=corpus,
    )
    models = {pairing.chance for pairing in pairings}
    chance = models.pop() if len(models) == 1 else CLOSED  # a column has one model
    slow: list[view.SlowTwo] = []
    for pairing in pairings:
        levels = pairing.beyond.get(chance, {}).items()
        figures = {level: _corrected(result) for level, result in levels}
        slow.append((pairing.first, pairing.second, chance, figures, pairing.same_start))
    return slow, list(cautions_of(agreement))


def _corrected(result: BeyondChance) -> view.LiveFigure:
    """Return C of two annotators as a figure of the dashboard."""
    value = _known(result.C)
    low = None
    high = None
    if result.interval is not None:
        low = _known(result.interval.low)
        high = _known(result.interval.high)
    if value is None:
        reason = result.undefined
    elif low is not None:
        reason = ""
    else:
        reason = result.no_interval
    return view.LiveFigure(value, low, high, result.used, reason)


def _known(value: float) -> float | None:
    """Return a value, None for NaN."""
    return None if isnan(value) else value


# The times of pairs


@dataclass(frozen=True)
class Pace:
    """How long the pairs of one annotator took, in seconds."""

    seconds: float  # all time spent
    by_pair: Mapping[int, float]
    median: float  # of the pairs that are done; NaN if there are none
    mean: float


def pace_of(events: Iterable[tuple[int, str]], done: Collection[int]) -> Pace:
    """Return how long done pairs took: times between events below `GAP`, by the later one."""
    times = [(_seconds(at), k) for k, at in events]
    times.sort(key=itemgetter(0))  # events of the same time keep their order
    by_pair: defaultdict[int, float] = defaultdict(float)
    before = nan
    for seconds, k in times:
        step = seconds - before
        by_pair[k] += step if step < GAP else 0.0
        before = seconds
    took = [seconds for k, seconds in by_pair.items() if k in done] or [nan]
    return Pace(sum(by_pair.values()), by_pair, median(took), fmean(took))


def _seconds(at: str) -> float:
    """Return the time of an event in seconds."""
    try:
        return datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError):
        raise ProjectError(f"an event of the log has the time {at[:40]!r}, not a time") from None


def _pace(conn: Connection, account: int) -> tuple[float | None, float | None]:
    """Return the median and mean seconds of an annotator's done pairs."""
    event = schema.event_table.c
    stream = schema.stream.c
    counts = schema.pair_counts.c
    asked = select(stream.pair, event.at).where(event.stream == stream.id)
    sent = asked.where(stream.account == account, event.sent != "")
    done = select(counts.pair).where(counts.account == account, counts.done.is_(True))
    times = ((row[0], row[1]) for row in conn.execute(sent))
    pace = pace_of(times, set(conn.execute(done).scalars()))
    return _known(pace.median), _known(pace.mean)


# Corrections of suggestions

CUT = 0.5  # the least probability of a suggested link that counts


class Corrected(NamedTuple):
    """The corrections of one pair."""

    k: int  # the pair, who has done it and when
    annotator: int
    at: str
    suggested: int  # how many links were suggested, are there now, and are in only one of both
    drawn: int
    differ: int
    taught: int  # from how many done pairs the suggestions were learned; 0 for others


def gathered(conn: Connection) -> view.Corrections | None:
    """Return the corrections of a project; None if no pair with suggestions is done."""
    made = select(schema.learned_set.c.made).order_by(schema.learned_set.c.number)
    return summed(corrections_of(conn), list(conn.execute(made).scalars()))


def corrections_of(conn: Connection) -> list[Corrected]:
    """Return the corrections of the done pairs of a project, in the order of done."""
    suggested = queries.suggested_cells(conn)
    sets = schema.learned_set.c
    taught = {row[0]: row[1] for row in conn.execute(select(sets.set, sets.pairs))}
    hidden = {place for place, start in queries.starts(conn).items() if not start}
    gold = queries.gold_name(conn)
    names = queries.annotators(conn)
    corrected = []
    for k, account, at, text in _done(conn):
        if k not in suggested or (k, account) in hidden or names[account - 1] == gold:
            continue
        name, cells = suggested[k]
        likely = [(i, j) for i, j, p, _ in cells if p is None or p >= CUT]
        hints = {cell for cell in likely if min(cell) >= 0}
        links = {cell for cell in decode_state(text).cells if min(cell) >= 0}
        corrected.append(
            Corrected(
                k=k,
                annotator=account,
                at=at,
                suggested=len(hints),
                drawn=len(links),
                differ=len(hints ^ links),
                taught=taught.get(name, 0),
            )
        )
    return sorted(corrected, key=lambda pair: pair.at)


def _done(conn: Connection) -> Iterator[tuple[int, int, str, str]]:
    """Yield what was marked done on a page: pair, account, time, and state."""
    event = schema.event_table.c
    stream = schema.stream.c
    counts = schema.pair_counts.c
    same = (counts.account == stream.account) & (counts.pair == stream.pair)
    asked = select(stream.pair, stream.account, func.max(event.at), stream.state)
    asked = asked.where(event.stream == stream.id, event.kind == "done", event.sent != "")
    asked = asked.where(same, counts.done.is_(True))
    for row in conn.execute(asked.group_by(stream.id).order_by(stream.id)):
        yield tuple(row)


def summed(pairs: Sequence[Corrected], made: Sequence[str]) -> view.Corrections | None:
    """Return the corrections of pairs, in the order of done; `made`: when sets were learned."""
    if not pairs:
        return None
    times = [pair.at for pair in pairs]
    differ = np.array([pair.differ for pair in pairs], np.float64)
    line = smoothed(differ, max(2, len(pairs) // _SHARE))
    points = np.linspace(1, len(pairs), min(len(pairs), _MOST))
    steps = np.unique(points.astype(np.int64))
    marks = sorted({bisect_right(times, at) for at in made})
    each = []
    if len(pairs) <= _MOST:
        each = [pair.differ for pair in pairs]
    count = max(1, min(_ROWS, len(pairs) // _LEAST))
    bounds = [len(pairs) * k // count for k in range(count + 1)]
    return view.Corrections(
        pairs=len(pairs),
        each=each,
        line=[(step, float(line[step - 1])) for step in steps.tolist()],
        sets=marks[:: 1 + len(marks) // _MOST],
        parts=[_part(begin, pairs[begin:end]) for begin, end in pairwise(bounds)],
    )


def smoothed(values: Floats, half: int) -> Floats:
    """Return a moving mean: of each value and `half` values on both sides, fewer at the ends."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    places = np.arange(len(values))
    first = np.maximum(places - half, 0)
    end = np.minimum(places + half + 1, len(values))
    return np.asarray((sums[end] - sums[first]) / (end - first))


def _part(begin: int, some: Sequence[Corrected]) -> view.CorrectionsPart:
    """Return the row of the table for some pairs, after the first `begin`."""
    differ = sum(pair.differ for pair in some)
    drawn = sum(pair.drawn for pair in some)
    total = drawn + sum(pair.suggested for pair in some)
    taught = [pair.taught for pair in some]
    return view.CorrectionsPart(
        first=begin + 1,
        last=begin + len(some),
        until=some[-1].at,
        taught_from=min(taught),
        taught_to=max(taught),
        differ=differ / len(some),
        drawn=drawn / len(some),
        f1=(total - differ) / total if total else None,
    )
