"""Compute the statistics of two annotators, and of all together, section by section.

The rows of each statistic are made once; sections are sums of some of them.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit._support.values import FrozenMap
from alignkit.agreement.alpha import ALPHA, AlphaRows, KrippendorffAlpha
from alignkit.agreement.fleiss import FLEISS, FleissKappa
from alignkit.agreement.intervals import Intervals, Rows, Statistic, bootstrap
from alignkit.agreement.kappa import CELLS, CellAgreement
from alignkit.agreement.options import AgreementOptions
from alignkit.agreement.overlaps import OVERLAP, Overlap, OverlapRow
from alignkit.agreement.pairs import CorpusData, PairData
from alignkit.agreement.result import PairingSection
from alignkit.stats.resampling import Interval

OF_TWO = (*CELLS, *ALPHA)
"""The statistics of two annotators besides `OVERLAP`; of all words, and of different ones."""

OF_ALL = ALPHA
"""The statistics of all annotators besides `FLEISS`; of all words, and of different ones."""

DIFFERENT = "different."


@dataclass(frozen=True, eq=False)
class CorpusPart:
    """A part of the corpus: its name, and the positions of its pairs."""

    name: str
    members: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.members)


def in_several(parts: Sequence[CorpusPart]) -> int:
    """Return how many pairs are in several groups; the first part is the whole corpus."""
    return int((np.bincount(np.concatenate([part.members for part in parts])) > 2).sum())


class JointSection(NamedTuple):
    """What all annotators together have in a section; see `Together`."""

    fleiss: FleissKappa | None
    alpha: FrozenMap[str, KrippendorffAlpha]
    intervals: FrozenMap[str, Interval | str]


@dataclass(frozen=True, eq=False)
class _Table:
    data: PairData
    statistics: tuple[Statistic, ...]
    rows: tuple[Rows, ...]

    @classmethod
    def of(cls, data: PairData, statistics: Sequence[Statistic], prefix: str = "") -> _Table:
        named = tuple(replace(one, level=prefix + one.level) for one in statistics)
        return cls(data, named, tuple(one.rows(data) for one in statistics))

    def __add__(self, other: _Table) -> _Table:
        return _Table(self.data, self.statistics + other.statistics, self.rows + other.rows)

    def part(self, mask: NDArray[np.bool_]) -> dict[str, Rows]:
        return {
            one.level: rows.part(mask) for one, rows in zip(self.statistics, self.rows, strict=True)
        }

    def intervals(
        self, sections: Sequence[CorpusPart], options: AgreementOptions, seed: int
    ) -> list[Intervals]:
        if options.bootstrap == "none":
            return [{} for _ in sections]
        masks = [self.data.inside(section.members) for section in sections]
        return bootstrap(
            self.statistics,
            self.rows,
            resamples=options.resamples,
            confidence=options.confidence,
            seed=seed,
            sections=masks,
        )


def _figures(parts: Mapping[str, Rows]) -> dict[str, float]:
    return {
        f"{level}.{measure}": value
        for level, rows in parts.items()
        for measure, value in rows.figures().items()
    }


def two_sections(
    data: CorpusData,
    first: str,
    second: str,
    sections: Sequence[CorpusPart],
    options: AgreementOptions,
    seed: int,
) -> tuple[PairingSection, ...]:
    """Compute what two annotators have in each section."""
    every = _pairs(data, (first, second), options)
    chosen = replace(every, ignore_identical=options.ignore_identical, _links={})
    reason = _unjudged(data, (first, second), options)
    overlap = _Table.of(chosen, OVERLAP)
    words = [one for one in OF_TWO if not (reason and one in CELLS)]
    known = _known(every)
    more = _Table.of(known, words)
    if options.ignore_identical:
        more += _Table.of(chosen, words, DIFFERENT)
    tables = [overlap + more] if len(known) == len(every) else [overlap, more]
    intervals = [table.intervals(sections, options, seed) for table in tables]
    return tuple(
        _section(
            overlap, more, section, dict(ChainMap(*(part[place] for part in intervals))), reason
        )
        for place, section in enumerate(sections)
    )


def _section(
    overlap: _Table, more: _Table, section: CorpusPart, intervals: Intervals, reason: str
) -> PairingSection:
    data = overlap.data
    first, second = data.annotators
    for name in (first, second):
        if not data.data.aligned(name)[section.members].any():
            return PairingSection(
                section.name, 0, FrozenMap(), FrozenMap(), None, None, None, FrozenMap()
            )
    inside = data.inside(section.members)
    pairs = int(inside.sum())
    parts = overlap.part(inside)
    rows = [OverlapRow.of(one) for one in parts.values()]
    known = more.data.inside(section.members)
    further = more.part(known) if int(known.sum()) == pairs else {}
    figures = _figures(parts) | _figures(further)
    cells, different = (
        CellAgreement.of((first, second), further[level]) if level in further else None
        for level in ("cells.all", f"{DIFFERENT}cells.all")
    )
    return PairingSection(
        section.name,
        pairs,
        FrozenMap(figures),
        FrozenMap({name: one for name, one in intervals.items() if name in figures}),
        Overlap(first, second, pairs, data.ignore_identical, *rows),
        cells,
        different,
        _alphas(further),
        reason,
    )


def _alphas(parts: Mapping[str, Rows]) -> FrozenMap[str, KrippendorffAlpha]:
    found = {}
    for level, rows in parts.items():
        if isinstance(rows, AlphaRows):
            for distance, alpha in rows.alphas().items():
                found[f"{level.replace('alpha.', '')}.{distance}"] = alpha
    return FrozenMap(found)


def joint_sections(
    data: CorpusData,
    names: tuple[str, ...],
    sections: Sequence[CorpusPart],
    options: AgreementOptions,
    seed: int,
) -> tuple[JointSection, ...]:
    """Compute what all annotators together have in each section."""
    everyone = _pairs(data, names, options)
    two = _pairs(data, names, options, least=2)
    fleiss = _Table.of(_known(everyone), FLEISS)
    alpha = _Table.of(_known(two), OF_ALL)
    if options.ignore_identical:
        alpha += _Table.of(replace(alpha.data, ignore_identical=True, _links={}), OF_ALL, DIFFERENT)
    results = []
    drawn = [table.intervals(sections, options, seed) for table in (fleiss, alpha)]
    for place, section in enumerate(sections):
        present = [name for name in names if data.aligned(name)[section.members].any()]
        kappa, alphas = None, FrozenMap[str, KrippendorffAlpha]()
        if len(present) == len(names) and _is_known(everyone, fleiss.data, section):
            mask = fleiss.data.inside(section.members)
            kappa = FleissKappa.of(fleiss.rows[0].part(mask), len(names))
        if len(present) > 1 and _is_known(two, alpha.data, section):
            alphas = _alphas(alpha.part(alpha.data.inside(section.members)))
        intervals = (drawn[0][place] if kappa else {}) | (drawn[1][place] if alphas else {})
        results.append(JointSection(kappa, alphas, FrozenMap(intervals)))
    return tuple(results)


def _pairs(
    data: CorpusData, names: tuple[str, ...], options: AgreementOptions, least: int | None = None
) -> PairData:
    done = np.sum([data.aligned(name) for name in names], axis=0)
    places = np.flatnonzero(done >= (len(names) if least is None else least))
    return PairData(data, names, places, False, options.universe)


def _known(data: PairData) -> PairData:
    if data.has_text:
        return data
    return replace(data, places=data.places[data.data.known[data.places]], _links={})


def _is_known(data: PairData, known: PairData, section: CorpusPart) -> bool:
    return bool(data.inside(section.members).sum() == known.inside(section.members).sum())


def _unjudged(data: CorpusData, names: tuple[str, ...], options: AgreementOptions) -> str:
    """Return who records no judged cells, where these are wanted; empty where there is nobody."""
    if options.universe == "judged":
        for name in names:
            if not data.records_judged(name):
                return f"{name!r} records no judged cells"
    return ""
