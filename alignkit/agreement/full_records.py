"""Flatten the article's report into records: one for each two, section and level."""

from __future__ import annotations

from math import nan

from alignkit.agreement.corrected_result import CorrectedSection
from alignkit.agreement.full import ANNOTATORS, LEVELS, FullAgreement, Pairing
from alignkit.arguments import check_arguments

__all__ = ["COLUMNS", "agreement_records", "statistics"]

COLUMNS = (
    "comparison", "first", "second", "group", "unit", "links", "pairs", "precision", "recall",
    "f1", "used", "pi", "pi0", "pi0_error", "C", "C_error", "low", "high", "one_sided",
    "undefined", "chance", "kappa", "ac1", "alpha",
)  # fmt: skip
"""The names in each record, in order."""

_STATISTICS = {"kappa": "cells.{}.kappa", "ac1": "cells.{}.ac1", "alpha": "alpha.{}.masi"}


def agreement_records(full: FullAgreement) -> list[dict[str, object]]:
    """Return a record for each two who are compared, each section and each level.

    The group of the whole corpus is empty, and so is what is not known. Kappa, AC1 and alpha (with
    the MASI distance) are those of all links, identical ones included, and stand beside the words
    of annotators; NaN is an undefined value.
    """
    check_arguments(agreement_records, locals())
    return [
        _record(full, one, section, level)
        for one in full.pairings
        for section in range(len(full.sections))
        for level in LEVELS
    ]


def _record(full: FullAgreement, one: Pairing, section: int, level: str) -> dict[str, object]:
    unit, links = LEVELS[level]
    record: dict[str, object] = dict.fromkeys(COLUMNS, "")
    record.update(comparison=one.kind, first=one.first, second=one.second, unit=unit, links=links)
    record["group"] = full.sections[section] if section else ""
    record["pairs"] = 0
    row, overlap = one.row(level, section), one.overlaps[section]
    if row is not None and overlap is not None:
        record.update(pairs=overlap.pairs, precision=row.precision, recall=row.recall, f1=row.f1)
    if one.corrected:
        result = one.corrected[level]
        part = result.groups[section - 1] if section else result
        record.update(_numbers(part))
        record["chance"] = full.chance(one.kind)
        if not section:
            record["one_sided"] = one.one_sided(level)
    record.update(statistics(full, one, section, level))
    return record


def _numbers(part: CorrectedSection) -> dict[str, object]:
    found: dict[str, object] = {
        name: getattr(part, name)
        for name in ("used", "pi", "pi0", "pi0_error", "C", "C_error", "undefined")
    }
    if part.interval is not None:
        found |= {"low": part.interval.low, "high": part.interval.high}
    return found


def statistics(full: FullAgreement, one: Pairing, section: int, level: str) -> dict[str, float]:
    """Return kappa, AC1 and alpha (MASI) of two annotators' links; nothing for phrases."""
    unit, links = LEVELS[level]
    if one.kind != ANNOTATORS or unit != "links":
        return {}
    report = full.report
    chosen = report.groups[section - 1] if section else report.overall
    figures: dict[str, float] = {}
    for found in chosen.comparisons:
        if found.annotators == (one.first, one.second):
            figures = found.figures()
    return {name: figures.get(key.format(links), nan) for name, key in _STATISTICS.items()}
