"""Compute what takes a while, for a child process: C, the pull of suggestions, the times of pairs.

C is that of `alignkit.agree` on the export of what is done, with its defaults.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import isnan

import numpy as np
from sqlalchemy import Connection, select

from alignkit.agreement.cautions import cautions_of
from alignkit.agreement.chance.corpus import CorpusBeyondChance
from alignkit.agreement.chance.result import BeyondChance
from alignkit.agreement.options import CLOSED, AgreementOptions
from alignkit.agreement.pairs import CorpusData
from alignkit.agreement.question import agree, pairings_of
from alignkit.agreement.result import Agreement
from alignkit.agreement.sections import CorpusPart
from alignkit.annotate.assignment import read_plan
from alignkit.annotate.dashboard.live_work import SEED, Compared, compared, label_view, pace_of
from alignkit.annotate.dashboard.tally import gathered
from alignkit.annotate.dashboard.view import (
    NO_CONTROL,
    LiveFigure,
    PullLine,
    SlowFigures,
    SlowPace,
    SlowTwo,
)
from alignkit.annotate.exporting import exported
from alignkit.annotate.preannotation_bias import Estimate, control_pairs, estimate_pull
from alignkit.annotate.project import queries, schema
from alignkit.annotate.project.store import Store
from alignkit.corpora.labelled import judges_of
from alignkit.model.corpus import Corpus
from alignkit.model.labels import View
from alignkit.stats.resampling import Interval
from alignkit.tables.result import Caution

Tell = Callable[[str, "float | None"], None]


def slow_figures(store: Store, tell: Tell, *, times_alone: bool = False) -> SlowFigures:
    """Compute the figures of a project that take a while."""
    with store.database.reading() as conn:
        asked = compared(conn)
        figures = SlowFigures({name: _pace(conn, id) for name, id in asked.annotators.items()})
        figures.corrections = gathered(conn)
        if times_alone:
            return figures
        tell("reading", None)
        figures.pull = _pull(conn)
        judges, scheme = queries.task_of(conn) == "judge", queries.scheme_of(conn)
    corpus = Corpus(exported(store, done=True))
    if judges:
        figures.twos, figures.cautions = [], _judged_cautions(corpus, asked, label_view(scheme))
    else:
        figures.twos, figures.cautions = _twos(corpus, asked, tell)
    return figures


def _pace(conn: Connection, account: int) -> SlowPace:
    event, stream, counts = schema.event_table.c, schema.stream.c, schema.pair_counts.c
    asked = select(stream.pair, event.at).where(event.stream == stream.id)
    sent = asked.where(stream.account == account, event.sent != "")
    done = select(counts.pair).where(counts.account == account, counts.done.is_(True))
    times = ((row[0], row[1]) for row in conn.execute(sent))
    pace = pace_of(times, set(conn.execute(done).scalars()))
    return SlowPace(_known(pace.median), _known(pace.mean))


def _pull(conn: Connection) -> PullLine:
    pairs = list(control_pairs(conn)) if read_plan(conn) is not None else []
    if not any(pair.arm for pair in pairs):
        none = LiveFigure(None, reason=NO_CONTROL)
        return PullLine(none, none, none)
    bias = estimate_pull(pairs)
    pull, accepted, rejected = map(_estimated, (bias.pull, bias.accepted, bias.rejected))
    return PullLine(pull, accepted, rejected, list(bias.cautions))


def _estimated(estimate: Estimate) -> LiveFigure:
    value, interval = _known(estimate.value), estimate.interval
    if isinstance(interval, Interval):
        return LiveFigure(value, _known(interval.low), _known(interval.high), estimate.pairs)
    return LiveFigure(value, pairs=estimate.pairs, reason=interval)


def _twos(corpus: Corpus, asked: Compared, tell: Tell) -> tuple[list[SlowTwo], list[Caution]]:
    names = tuple(name for name in asked.annotators if name in corpus.aligners)
    beyond = _beyond(corpus, asked.initial)
    twos = [("annotators", *two) for two in combinations(names, 2)]
    pairings = pairings_of(twos, beyond, lambda done, of: tell("sampling", done / of))
    compared = Agreement(
        names, beyond.options, beyond.initial, None, beyond.systems, None, SEED, ("all",), pairings,
        (), (), "", corpus,
    )  # fmt: skip
    slow = []
    for pairing in pairings:
        levels = pairing.beyond.get(pairing.chance, {}).items()
        figures = {level: _corrected(result) for level, result in levels}
        slow.append(SlowTwo(pairing.first, pairing.second, pairing.chance, figures))
    return slow, list(cautions_of(compared))


def _judged_cautions(corpus: Corpus, asked: Compared, view: View | None) -> list[Caution]:
    names = [name for name in judges_of(corpus) if name in asked.annotators]
    if view is None or len(names) < 2:
        return []
    agreed = agree(
        corpus, names, on="judgments", scheme=view.scheme, view=view.name, lenient=True, seed=SEED
    )
    return list(agreed.cautions)


def _beyond(corpus: Corpus, initial: str | None) -> CorpusBeyondChance:
    open_chance = AgreementOptions(missing_initial="leave-out")
    options = AgreementOptions(chance=CLOSED) if initial is None else open_chance
    machines = () if initial is None else (initial,)
    every = [CorpusPart("all", np.arange(len(corpus)))]
    return CorpusBeyondChance(CorpusData(corpus), initial, machines, options, SEED, None, every)


def _corrected(result: BeyondChance) -> LiveFigure:
    value, low, high = _known(result.C), None, None
    if result.interval is not None:
        low, high = _known(result.interval.low), _known(result.interval.high)
    reason = result.undefined if value is None else "" if low is not None else result.no_interval
    return LiveFigure(value, low, high, result.used, reason)


def _known(value: float) -> float | None:
    return None if isnan(value) else value
