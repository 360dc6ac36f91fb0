"""The agreement of annotators on links: F1, kappa, C, and the pairs on which they agree least.

The figures are those that `alignkit.agree` computes with its defaults on an export of the finished
work.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import isnan, nan

import numpy as np
from sqlalchemy import Connection

from alignkit._support.array_types import F8
from alignkit.agreement.chance.corpus import CorpusBeyondChance
from alignkit.agreement.chance.result import BeyondChance
from alignkit.agreement.figures import Pairing, without
from alignkit.agreement.intervals import weighted_mean
from alignkit.agreement.options import CLOSED, AgreementOptions
from alignkit.agreement.pairs import CorpusData, CorpusPart
from alignkit.agreement.question import pairings_of
from alignkit.agreement.result import Agreement
from alignkit.agreement.unseen_links import SharedLinks, f1_of, f1_of_all
from alignkit.annotate.dashboard import view
from alignkit.annotate.dashboard.work import Work
from alignkit.annotate.project import queries
from alignkit.model.corpus import Corpus
from alignkit.stats.resampling import Interval, ratio

Report = Callable[[str, "float | None"], None]

FIGURES = ("words.possible.f1", "words.sure.f1", "cells.all.kappa", "different.cells.all.kappa")
"""The figures beside C, by their names in an `Agreement`."""
_MOST_LISTED = 50  # pairs on which annotators differ
_NOTHING = {"words": "neither has a link of different words", "cells": "all cells are alike"}


# The agreement of every two


def agreement_of(
    corpus: Corpus, names: Sequence[str], initial: str | None, report: Report
) -> tuple[Agreement, CorpusData]:
    """Return the agreement of every two of some annotators, as `alignkit.agree` would."""
    machines: tuple[str, ...] = ()
    if initial is not None:
        machines = (initial,)
    twos = list(combinations(names, 2))
    pairings: list[Pairing] = []

    def sampled(done: int, of: int) -> None:
        report("comparing annotators", (len(pairings) + done / of) / len(twos))

    options = AgreementOptions(progress=sampled).settled(initial)
    data = CorpusData(corpus)
    every = [CorpusPart("all", np.arange(len(corpus)))]
    beyond = CorpusBeyondChance(data, initial, machines, options, every)
    for first, second in twos:
        sampled(0, 1)
        pairings += pairings_of([("annotators", first, second)], beyond)
    agreement = Agreement(
        annotators=tuple(names),
        options=replace(options, progress=None),
        initial=beyond.initial,
        adjudicated=None,
        systems=beyond.systems,
        sections=("all",),
        pairings=tuple(pairings),
        together=(),
        corpus=corpus,
    )
    return agreement, data


def two_lines(
    agreement: Agreement, counts: Mapping[tuple[str, str], SharedLinks]
) -> list[view.TwoLine]:
    """Return the agreement of every two, with the model of chance that is common to all."""
    models = {pairing.chance for pairing in agreement.pairings}
    chance = models.pop() if len(models) == 1 else CLOSED  # a column has one model
    return [
        _two_line(pairing, chance, counts[pairing.first, pairing.second])
        for pairing in agreement.pairings
    ]


def _two_line(pairing: Pairing, chance: str, shared: SharedLinks) -> view.TwoLine:
    """Return the agreement of two annotators."""
    section = pairing.whole
    figures = {}
    for name in FIGURES:
        value = section.figures.get(name, nan)
        figures[name] = _figure_of(name, value, section.pairs, section.intervals.get(name))
    apart = {}
    for links in ("possible", "sure"):
        name = f"words.{links}.f1"
        apart[name] = _figure_of(name, f1_of_all(shared.without_unseen, links), section.pairs)
    levels: Mapping[str, BeyondChance] = pairing.beyond.get(chance, {})
    return view.TwoLine(
        first=pairing.first,
        second=pairing.second,
        pairs=section.pairs,
        figures=figures,
        beyond={level: _corrected(result) for level, result in levels.items()},
        chance=chance,
        links=shared.common,
        bulk=shared.unseen,
        apart=apart,
        shown=pairing.same_start,
    )


def _figure_of(
    name: str, value: float, pairs: int, interval: Interval | str | None = None
) -> view.DashboardFigure:
    """Return a figure of two annotators, with its interval or the reason why it has none."""
    unit = name.removeprefix("different.").partition(".")[0]
    undefined = _NOTHING[unit] if pairs else "no pair is done by both"
    return view.figure_of(value, interval, pairs, undefined)


def _corrected(result: BeyondChance) -> view.DashboardFigure:
    """Return C of two annotators as a figure of the dashboard."""
    shown: Interval | str = result.no_interval
    if result.interval is not None and not isnan(result.interval.low):
        shown = result.interval
    return view.figure_of(result.C, shown, result.used, result.undefined)


def means(twos: Sequence[view.TwoLine]) -> dict[str, view.DashboardFigure]:
    """Average over each two annotators, weighted by their pairs, as `alignkit.agree` does."""
    by_name: dict[str, list[view.DashboardFigure]] = {}
    for two in twos:
        beyond = {f"{level}.C": figure for level, figure in two.beyond.items()}
        for name, figure in (two.figures | beyond).items():
            by_name.setdefault(name, []).append(figure)
    averages = {}
    for name, figures in by_name.items():
        value = weighted_mean([(figure.pairs, figure.number) for figure in figures])
        left_out = sum(figure.value is None and figure.pairs > 0 for figure in figures)
        undefined = f"undefined for all: {figures[0].reason}"
        averages[name] = view.figure_of(value, without(value, left_out), 0, undefined)
    return averages


# The pairs with the lowest agreement


def lowest(
    conn: Connection, work: Work, counts: Collection[SharedLinks]
) -> Iterator[view.PairLine]:
    """Yield the pairs with the lowest agreement; full agreement is left out."""
    possible = _mean_by_pair(work.pairs, counts, "possible")
    sure = _mean_by_pair(work.pairs, counts, "sure")

    def rank(place: int) -> tuple[float, float, int]:
        of_sure = 1.0 if isnan(sure[place]) else round(sure[place], 9)
        return round(possible[place], 9), of_sure, place

    differing = np.flatnonzero((possible < 1) | (sure < 1)).tolist()
    ranked = heapq.nsmallest(_MOST_LISTED, differing, key=rank)
    rows = {row.k: row for row in queries.pair_rows(conn, [place + 1 for place in ranked])}
    for place in ranked:
        line = view.listed(work, rows[place + 1])
        yield view.PairLine(*line, view.known(possible[place]), view.known(sure[place]))


def _mean_by_pair(pairs: int, counts: Iterable[SharedLinks], links: str) -> F8:
    """(pairs,): the mean F1 of a pair over each two who have done it; NaN if it has none."""
    total = np.zeros(pairs)
    defined = np.zeros(pairs)
    for shared in counts:
        f1 = f1_of(shared.whole, links)
        total[shared.places] += np.nan_to_num(f1)
        defined[shared.places] += ~np.isnan(f1)
    return ratio(total, defined)
