"""The statistics of two annotators, and of all together, section by section.

The rows of each statistic are computed once; sections are sums of some rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from alignkit._support.array_types import B1
from alignkit._support.values import FrozenMap
from alignkit.agreement.alpha import ALPHA, AlphaRows, KrippendorffAlpha
from alignkit.agreement.figures import DIFFERENT, GivenLinks, PairingSection, Together
from alignkit.agreement.fleiss import FLEISS, FleissKappa
from alignkit.agreement.intervals import Bounds, Intervals, Rows, Statistic, bootstrap
from alignkit.agreement.kappa import CELLS, CellAgreement
from alignkit.agreement.options import AgreementOptions
from alignkit.agreement.overlaps import OVERLAP, overlap_of
from alignkit.agreement.pairs import CorpusData, CorpusPart, PairData, whole_part

OF_TWO = (*CELLS, *ALPHA)
"""The statistics of two annotators except `OVERLAP`, over all and over different words."""

OF_ALL = ALPHA
"""The statistics of all annotators except `FLEISS`, over all and over different words.

They are of the pairs that two or more annotated.
"""

Sections = Sequence[CorpusPart]


@dataclass(frozen=True)
class _StatisticRows:
    """The rows of some statistics of the same sentence pairs."""

    data: PairData
    statistics: tuple[Statistic, ...]
    rows: tuple[Rows, ...]

    @classmethod
    def of(
        cls, data: PairData, statistics: Sequence[Statistic], prefix: str = ""
    ) -> _StatisticRows:
        """Count the pairs for each statistic; the prefix begins the names of their levels."""
        named = tuple(replace(each, level=prefix + each.level) for each in statistics)
        assert len({each.level for each in named}) == len(named), "two statistics of one level"
        rows = tuple(each.rows(data) for each in statistics)
        return cls(data, named, rows)

    def __add__(self, other: _StatisticRows) -> _StatisticRows:
        statistics = self.statistics + other.statistics
        rows = self.rows + other.rows
        return _StatisticRows(self.data, statistics, rows)

    def part(self, section: CorpusPart) -> dict[str, Rows]:
        """Return the rows of the pairs of a section, by level."""
        mask = self.data.inside(section.members)
        parts = {}
        for statistic, rows in zip(self.statistics, self.rows, strict=True):
            parts[statistic.level] = rows.part(mask)
        return parts

    def intervals(self, sections: Sections, options: AgreementOptions) -> list[Intervals]:
        """Return the intervals in each section; none if none are requested."""
        if options.bootstrap == "none":
            return [{} for _ in sections]
        masks = [self.data.inside(section.members) for section in sections]
        return bootstrap(self.statistics, self.rows, masks, options)


def two_sections(
    data: CorpusData,
    names: tuple[str, str],
    sections: Sections,
    options: AgreementOptions,
) -> tuple[PairingSection, ...]:
    """Compute the agreement of two annotators in each section."""
    every = _pairs(data, names, options)
    chosen = replace(every, ignore_identical=options.ignore_identical)
    unjudged = ""
    if options.universe == "judged":
        without = [name for name in names if not data.records_judged(name)]
        if without:
            unjudged = f"{without[0]!r} records no judged cells"
    overlap = _StatisticRows.of(chosen, OVERLAP)
    statistics: Sequence[Statistic] = OF_TWO
    if unjudged:
        statistics = tuple(each for each in OF_TWO if not each.level.startswith("cells."))
    known = _known(every)
    more = _StatisticRows.of(known, statistics)
    if options.ignore_identical:
        more += _StatisticRows.of(chosen, statistics, DIFFERENT)
    if len(known) == len(every):  # the same pairs: resampled only once
        tables = [overlap + more]
    else:
        tables = [overlap, more]
    drawn = [table.intervals(sections, options) for table in tables]
    results = []
    for k, section in enumerate(sections):
        intervals: dict[str, Bounds] = {}
        for of_table in drawn:
            intervals.update(of_table[k])
        results.append(_section(overlap, more, section, intervals, unjudged))
    return tuple(results)


def _section(
    overlap: _StatisticRows,
    more: _StatisticRows,
    section: CorpusPart,
    intervals: Mapping[str, Bounds],
    unjudged: str,
) -> PairingSection:
    """Return the agreement in a section; `more` has the statistics that need known words."""
    data = overlap.data
    first, second = data.annotators
    if not all(data.data.aligned(name)[section.members].any() for name in data.annotators):
        return PairingSection(section.name)
    pairs = int(data.inside(section.members).sum())
    parts = overlap.part(section)
    further: dict[str, Rows] = {}
    if _has_all(more.data, data, section):
        further = more.part(section)
    figures = _figures(parts | further)
    known_intervals = {name: bounds for name, bounds in intervals.items() if name in figures}
    return PairingSection(
        name=section.name,
        pairs=pairs,
        figures=figures,
        intervals=FrozenMap(known_intervals),
        overlap=overlap_of(data, parts, pairs),
        cells=_cells((first, second), further, "cells.all"),
        different=_cells((first, second), further, f"{DIFFERENT}cells.all"),
        alpha=_alphas(further),
        reason=unjudged,
    )


def _cells(
    annotators: tuple[str, str], parts: Mapping[str, Rows], level: str
) -> CellAgreement | None:
    """Return kappa and AC1 at a level, or None if it is not among the parts."""
    if level in parts:
        return CellAgreement.of(annotators, parts[level])
    return None


def given_links(
    data: CorpusData, names: tuple[str, str], options: AgreementOptions
) -> GivenLinks | None:
    """Compute kappa and AC1 over the cells that two annotators judged, or None if unknown."""
    if not all(map(data.records_judged, names)):
        return None
    judged = _known(_pairs(data, names, replace(options, universe="judged")))
    links = int(judged.cells.sum())
    if not links:
        return None
    judged = replace(judged, ignore_identical=options.ignore_identical)
    rows = _StatisticRows.of(judged, CELLS)
    everything = whole_part(data.corpus)
    (intervals,) = rows.intervals([everything], options)
    cells = CellAgreement.of(names, rows.part(everything)["cells.all"])
    return GivenLinks(links, cells, FrozenMap(intervals))


def joint_sections(
    data: CorpusData,
    names: tuple[str, ...],
    sections: Sections,
    options: AgreementOptions,
) -> Iterator[Together]:
    """Yield the agreement of all annotators in each section, without means over pairings."""
    annotated = np.array([data.aligned(name) for name in names])
    everyone = _pairs(data, names, options)
    two = _pairs(data, names, options, least=2)
    by_everyone = _StatisticRows.of(_known(everyone), FLEISS)
    by_two = _StatisticRows.of(_known(two), OF_ALL)
    if options.ignore_identical:
        different = replace(by_two.data, ignore_identical=True)
        by_two += _StatisticRows.of(different, OF_ALL, DIFFERENT)
    everyone_intervals = by_everyone.intervals(sections, options)
    two_intervals = by_two.intervals(sections, options)
    for k, section in enumerate(sections):
        inside = annotated[:, section.members]
        present = inside.any(axis=1).sum()
        kappa = None
        parts: dict[str, Rows] = {}
        intervals: dict[str, Bounds] = {}
        if present == len(names) and _has_all(by_everyone.data, everyone, section):
            parts.update(by_everyone.part(section))
            intervals.update(everyone_intervals[k])
            kappa = FleissKappa.of(parts["fleiss"], len(names))
        if present > 1 and _has_all(by_two.data, two, section):
            parts.update(by_two.part(section))
            intervals.update(two_intervals[k])
        yield Together(
            name=section.name,
            pairs=len(section),
            used=int((inside.sum(axis=0) > 1).sum()),
            left_out=_left_out(names, inside),
            fleiss=kappa,
            alpha=_alphas(parts),
            figures=_figures(parts),
            intervals=FrozenMap(intervals),
        )


def _left_out(names: tuple[str, ...], annotated: B1) -> FrozenMap[str, int]:
    """Count who did not annotate a pair; `annotated` (A, P) says who did."""
    left_out = Counter[str]()
    for flags in annotated.T.tolist():
        missing = [name for name, has in zip(names, flags, strict=True) if not has]
        if missing:
            left_out[f"not annotated by {', '.join(missing)}"] += 1
    return FrozenMap(left_out)


def _pairs(
    data: CorpusData, names: tuple[str, ...], options: AgreementOptions, least: int | None = None
) -> PairData:
    """Return the pairs that so many annotators aligned (None: all of them), identical links too."""
    return PairData(data, names, data.places(names, least), universe=options.universe)


def _known(data: PairData) -> PairData:
    """Return the pairs whose words are known."""
    known = data.data.known[data.places]
    if known.all():
        return data
    return replace(data, places=data.places[known])


def _has_all(some: PairData, data: PairData, section: CorpusPart) -> bool:
    """Return whether some of the pairs are all of them in a section."""
    return bool(some.inside(section.members).sum() == data.inside(section.members).sum())


def _figures(parts: Mapping[str, Rows]) -> FrozenMap[str, float]:
    """Return every measure of the parts, by ``level.measure``."""
    figures = {}
    for level, rows in parts.items():
        for measure, value in rows.figures().items():
            figures[f"{level}.{measure}"] = value
    return FrozenMap(figures)


def _alphas(parts: Mapping[str, Rows]) -> FrozenMap[str, KrippendorffAlpha]:
    """Return the alphas among the parts, by links and distance, such as ``possible.masi``."""
    alphas = {}
    for level, rows in parts.items():
        if isinstance(rows, AlphaRows):
            for distance, alpha in rows.alphas().items():
                alphas[f"{level.replace('alpha.', '')}.{distance}"] = alpha
    return FrozenMap(alphas)
