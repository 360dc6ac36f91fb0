"""The statistics of two annotators, and of all together, section by section.

The rows of each statistic are computed once; sections are sums of some rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from alignkit._support.values import FrozenMap
from alignkit.agreement.alpha import ALPHA, AlphaRows, KrippendorffAlpha
from alignkit.agreement.figures import DIFFERENT, GivenLinks, PairingSection
from alignkit.agreement.fleiss import FLEISS, FleissKappa
from alignkit.agreement.intervals import Intervals, Rows, Statistic, bootstrap
from alignkit.agreement.kappa import CELLS, CellAgreement
from alignkit.agreement.options import AgreementOptions
from alignkit.agreement.overlaps import OVERLAP, Overlap, OverlapRow
from alignkit.agreement.pairs import CorpusData, CorpusPart, PairData
from alignkit.stats.resampling import Interval

OF_TWO = (*CELLS, *ALPHA)
"""The statistics of two annotators except `OVERLAP`, over all and over different words."""

OF_ALL = ALPHA
"""The statistics of all annotators except `FLEISS`, over all and over different words."""

Sections = Sequence[CorpusPart]


@dataclass(frozen=True, eq=False)
class _StatisticRows:
    """The rows of some statistics of the same sentence pairs."""

    data: PairData
    statistics: tuple[Statistic, ...]
    rows: tuple[Rows, ...]

    @classmethod
    def of(
        cls, data: PairData, statistics: Sequence[Statistic], prefix: str = ""
    ) -> _StatisticRows:
        named = tuple(replace(each, level=prefix + each.level) for each in statistics)
        assert len({each.level for each in named}) == len(named), "two statistics of one level"
        return cls(data, named, tuple(each.rows(data) for each in statistics))

    def __add__(self, other: _StatisticRows) -> _StatisticRows:
        statistics = self.statistics + other.statistics
        rows = self.rows + other.rows
        return _StatisticRows(self.data, statistics, rows)

    def part(self, section: CorpusPart) -> dict[str, Rows]:
        mask = self.data.inside(section.members)
        levels = (each.level for each in self.statistics)
        return {level: rows.part(mask) for level, rows in zip(levels, self.rows, strict=True)}

    def intervals(
        self, sections: Sections, options: AgreementOptions, seed: int
    ) -> list[Intervals]:
        if options.bootstrap == "none":
            return [{} for _ in sections]
        return bootstrap(
            self.statistics,
            self.rows,
            resamples=options.resamples,
            confidence=options.confidence,
            seed=seed,
            sections=[self.data.inside(section.members) for section in sections],
        )


def two_sections(
    data: CorpusData,
    first: str,
    second: str,
    sections: Sections,
    options: AgreementOptions,
    seed: int,
) -> tuple[PairingSection, ...]:
    """Compute the agreement of two annotators in each section."""
    every = _pairs(data, (first, second), options)
    chosen = replace(every, ignore_identical=options.ignore_identical, _links={})
    unjudged = ""
    if options.universe == "judged":
        without = [name for name in (first, second) if not data.records_judged(name)]
        if without:
            unjudged = f"{without[0]!r} records no judged cells"
        else:
            unjudged = ""
    overlap = _StatisticRows.of(chosen, OVERLAP)
    statistics = [x for x in OF_TWO if not (unjudged and x.level.startswith("cells."))]
    known = _known(every)
    more = _StatisticRows.of(known, statistics)
    if options.ignore_identical:
        more += _StatisticRows.of(chosen, statistics, DIFFERENT)
    if len(known) == len(every):
        tables = [overlap + more]
    else:
        tables = [overlap, more]
    drawn = zip(*(table.intervals(sections, options, seed) for table in tables), strict=True)
    results = []
    for section, parts in zip(sections, drawn, strict=True):
        intervals = dict(chain.from_iterable(part.items() for part in parts))
        results.append(_section(overlap, more, section, intervals, unjudged))
    return tuple(results)


def _section(
    overlap: _StatisticRows,
    more: _StatisticRows,
    section: CorpusPart,
    intervals: Mapping[str, Interval | str],
    unjudged: str,
) -> PairingSection:
    data = overlap.data
    first, second = data.annotators
    if not all(data.data.aligned(name)[section.members].any() for name in data.annotators):
        none = FrozenMap[str, float]()
        return PairingSection(section.name, 0, none, {}, None, None, None, FrozenMap())
    pairs = int(data.inside(section.members).sum())
    parts = overlap.part(section)
    rows = map(OverlapRow.of, parts.values())
    overlaps = Overlap(first, second, pairs, data.ignore_identical, *rows)
    if _has_all(more.data, data, section):
        further = more.part(section)
    else:
        further = {}
    figures = {
        f"{level}.{measure}": value
        for level, rows in (parts | further).items()
        for measure, value in rows.figures().items()
    }
    cells, different = (
        CellAgreement.of((first, second), further[level]) if level in further else None
        for level in ("cells.all", f"{DIFFERENT}cells.all")
    )
    return PairingSection(
        section.name,
        pairs,
        FrozenMap(figures),
        FrozenMap({name: intervals[name] for name in intervals if name in figures}),
        overlaps,
        cells,
        different,
        _alphas(further),
        unjudged,
    )


def given_links(
    data: CorpusData, first: str, second: str, options: AgreementOptions, seed: int
) -> GivenLinks | None:
    """Compute kappa and AC1 over the cells that two annotators judged, or None if unknown."""
    if not all(map(data.records_judged, (first, second))):
        return None
    judged = _known(_pairs(data, (first, second), replace(options, universe="judged")))
    links = int(judged.cells.sum())
    if not links:
        return None
    judged = replace(judged, ignore_identical=options.ignore_identical, _links={})
    rows = _StatisticRows.of(judged, CELLS)
    everything = CorpusPart("all", np.arange(len(data.corpus)))
    (intervals,) = rows.intervals([everything], options, seed)
    cells = CellAgreement.of((first, second), rows.part(everything)["cells.all"])
    return GivenLinks(links, cells, FrozenMap(intervals))


def joint_sections(
    data: CorpusData,
    names: tuple[str, ...],
    sections: Sections,
    options: AgreementOptions,
    seed: int,
) -> Iterator[tuple[FleissKappa | None, FrozenMap[str, KrippendorffAlpha], Intervals]]:
    """Yield for each section Fleiss' kappa of all annotators, alphas, and their intervals."""
    everyone = _pairs(data, names, options)
    two = _pairs(data, names, options, least=2)
    fleiss = _StatisticRows.of(_known(everyone), FLEISS)
    alpha = _StatisticRows.of(_known(two), OF_ALL)
    if options.ignore_identical:
        different = replace(alpha.data, ignore_identical=True, _links={})
        alpha += _StatisticRows.of(different, OF_ALL, DIFFERENT)
    drawn = [table.intervals(sections, options, seed) for table in (fleiss, alpha)]
    for k, section in enumerate(sections):
        present = sum(bool(data.aligned(name)[section.members].any()) for name in names)
        kappa = None
        alphas = FrozenMap[str, KrippendorffAlpha]()
        if present == len(names) and _has_all(fleiss.data, everyone, section):
            kappa = FleissKappa.of(fleiss.part(section)["fleiss"], len(names))
        if present > 1 and _has_all(alpha.data, two, section):
            alphas = _alphas(alpha.part(section))
        intervals = {**(drawn[0][k] if kappa else {}), **(drawn[1][k] if alphas else {})}
        yield kappa, alphas, FrozenMap(intervals)


def _pairs(
    data: CorpusData, names: tuple[str, ...], options: AgreementOptions, least: int | None = None
) -> PairData:
    done: NDArray[np.int64] = np.sum([data.aligned(name) for name in names], axis=0)
    places = np.flatnonzero(done >= (least or len(names)))
    return PairData(data, names, places, False, options.universe)


def _known(data: PairData) -> PairData:
    known = data.data.known[data.places]
    if known.all():
        return data
    return replace(data, places=data.places[known], _links={})


def _has_all(some: PairData, data: PairData, section: CorpusPart) -> bool:
    return bool(some.inside(section.members).sum() == data.inside(section.members).sum())


def _alphas(parts: Mapping[str, Rows]) -> FrozenMap[str, KrippendorffAlpha]:
    return FrozenMap(
        (f"{level.replace('alpha.', '')}.{distance}", alpha)
        for level, rows in parts.items()
        if isinstance(rows, AlphaRows)
        for distance, alpha in rows.alphas().items()
    )
