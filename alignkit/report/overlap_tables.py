"""Lay out how far annotators overlap, and how far beyond chance: phrase pairs, words, side by side.

Each function takes an agreement and yields the tables that it can fill.
"""

from __future__ import annotations

from collections.abc import Iterator

from alignkit.agreement.result import Agreement
from alignkit.report.agreement_rows import (
    LEVEL_NAMES,
    LINKS,
    Subject,
    apart,
    chance_of,
    grouped,
    identical,
    subjects,
)
from alignkit.report.columns import Cell, Column, Value
from alignkit.report.table import Table
from alignkit.visible import visible

_UNITS = {"phrases": "Phrase pairs", "words": "Words"}
_KINDS = {
    "adjudicated": "Each annotator ~ the adjudicated version",
    "consensus": "Each annotator ~ the majority of the others",
    "automatic": "Human ~ automatic",
}
_OVERLAPS = ("phrases.possible", "phrases.sure", "words.possible", "words.sure", "words.eq2")
_PAIRS = "sentence pairs"
_COLUMNS = (
    Column("P", "percent", key="precision"),
    Column("R", "percent", key="recall"),
    Column("F1", "percent", key="f1"),
    Column("C", "decimal", key="C"),
    Column("used", "count", _PAIRS, "used"),
    Column("empty", "count", _PAIRS, "both_empty"),
    Column("one-sided", "count", _PAIRS, "one_sided"),
)
_OF_PAIRS = (
    "sentence pairs: used for C; left out, as both have nothing (empty); used, though one of the "
    "two has nothing, which counts as 0 (one-sided)"
)
_EQ2 = "eq. 2: the sure links of each with all links of the other"


def main_tables(agreement: Agreement) -> Iterator[Table]:
    """Yield the tables of phrase pairs and of words: a row for each two, and for each group."""
    yield from _unit_tables(agreement, "annotators", "")


def compared_tables(agreement: Agreement) -> Iterator[Table]:
    """Yield such tables for each other kind of pairings: whom annotators are compared with."""
    for kind, name in _KINDS.items():
        who = f" ({visible(agreement.adjudicated or '')})" if kind == "adjudicated" else ""
        yield from _unit_tables(agreement, kind, f"{name}{who}: ")


def _unit_tables(agreement: Agreement, kind: str, title: str) -> Iterator[Table]:
    rows = subjects(agreement, kind)
    for unit, name in _UNITS.items() if rows else ():
        levels = {level: LINKS[level.split(".")[1]] for level in _OVERLAPS if unit in level}
        yield grouped(
            f"{title}{name.lower() if title else name}, identical ones {identical(agreement)}; the "
            f"second is the reference; chance: {chance_of(agreement.of(kind))}",
            ("links", "who"),
            _COLUMNS,
            [
                [links, subject.name, *_measures(subject, level)]
                for level, links in levels.items()
                for subject in rows
            ],
            unit if kind == "annotators" else f"{kind}-{unit}",
            apart(len(rows), len(levels)),
            _note(agreement, kind, unit),
        )


def _note(agreement: Agreement, kind: str, unit: str) -> str:
    if kind == "consensus":
        both = ": here what both have" if len(agreement.annotators) == 3 else ""
        return f"others: the links that more than half of the other annotators have{both}"
    if kind == "annotators":
        return _OF_PAIRS if unit == "phrases" else _EQ2
    return ""


def _measures(subject: Subject, level: str) -> Iterator[Cell]:
    yield subject.plain(f"{level}.precision")
    yield subject.plain(f"{level}.recall")
    yield subject.cell(f"{level}.f1")
    if level not in LEVEL_NAMES:
        yield from (None, None, None, None)  # there is no C
        return
    yield subject.corrected(level)
    part = subject.chance(level)
    yield from (part.used, part.both_empty, part.one_sided) if part else (None, None, None)


def precision_recall(agreement: Agreement) -> Iterator[Table]:
    """Yield the table of precision and recall with their intervals; none without intervals."""
    if agreement.options.bootstrap == "none":
        return
    people = subjects(agreement, "annotators")
    columns = [
        Column(name, "percent", span, f"{unit}_{measure}")
        for unit, span in (("phrases", "phrase pairs"), ("words", "words"))
        for name, measure in (("P", "precision"), ("R", "recall"))
    ]
    measures = [(unit, name) for unit in _UNITS for name in ("precision", "recall")]
    rows = [
        [LINKS[links], one.name, *(one.cell(f"{unit}.{links}.{name}") for unit, name in measures)]
        for links in ("possible", "sure", "eq2")
        for one in people
    ]
    title = f"Precision and recall with their intervals, identical ones {identical(agreement)}"
    groups = apart(len(people), len(rows) // max(len(people), 1))
    yield grouped(title, ("links", "who"), columns, rows, "precision-recall", groups)


def side_by_side(agreement: Agreement) -> Iterator[Table]:
    """Yield the table of all statistics of annotators, over the same items."""
    people = [one for one in subjects(agreement, "annotators") if one.section == "all"]
    several = len(agreement.sections) > 1 and len(agreement.of("annotators")) > 1
    people = people[len(agreement.sections) - 1 :] if several else people
    names = ("F1", "pi", "pi0", "C", "kappa", "AC1", "alpha")
    columns = [Column("used", "count")]
    columns += [Column(name, "decimal", key=name.lower() if name != "C" else "C") for name in names]
    rows = [
        [name, subject.name, *_statistics(agreement, subject, level)]
        for level, name in LEVEL_NAMES.items()
        for subject in people
    ]
    same = ", all over the same items" if agreement.options.universe == "all" else ""
    title = (
        f"Side by side{same}: identical ones {identical(agreement)}; "
        f"chance: {chance_of(agreement.of('annotators'))}"
    )
    groups, note = apart(len(people), len(LEVEL_NAMES)), _explain(agreement)
    yield grouped(title, ("level", "who"), columns, rows, "side-by-side", groups, note)


def _statistics(agreement: Agreement, subject: Subject, level: str) -> Iterator[Cell]:
    part = subject.chance(level)
    yield part.used if part else None
    yield subject.plain(f"{level}.f1")
    for name in ("pi", "pi0"):
        yield getattr(part, name) if part else subject.mean.get(f"{level}.{name}")
    c = subject.corrected(level)
    yield c.value if isinstance(c, Value) else c
    unit, links = level.split(".")
    items = "different." if agreement.options.ignore_identical else ""
    keys = (f"cells.{links}.kappa", f"cells.{links}.ac1", f"alpha.{links}.masi")
    for key in keys:
        yield subject.plain(items + key) if unit == "words" else None


def _explain(agreement: Agreement) -> str:
    options = agreement.options
    size = "smaller" if options.normalizer == "min" else "larger"
    if options.aggregate == "macro":
        pi = f"the mean over the pairs used of what the two share, divided by the {size} set"
    else:
        pi = f"what the two share in the pairs used, divided by the sum of the {size} sets"
    full = "the two have the same sets"
    if options.normalizer == "min":
        full = "all of the smaller of the two sets is in the other"
        if options.aggregate == "macro":  # one empty set counts as 0 there
            full = "neither set is empty, and all of the smaller one is in the other"
    cells = "cell of different words" if options.ignore_identical else "cell"
    if options.universe == "judged":
        cells += " that both judged"
    items = "different.cells" if options.ignore_identical else "cells"
    mean = agreement.together[0].mean
    shares = [mean.get(f"{items}.{links}.prevalence") for links in ("possible", "sure")]
    linked = ", of which {}% are linked".format(
        "/".join(Column("", "percent").show(share).text for share in shares)
    )
    return (
        f"pi: {pi}. pi0: the same by chance. C = (pi - pi0) / (1 - pi0): 0 where they agree as by "
        f"chance, 1 where in every pair used {full}. kappa, AC1: every {cells}"
        f"{linked if None not in shares else ''}. alpha (MASI): the set of target words of each "
        f"source word{', links of equal words left out' if options.ignore_identical else ''}."
    )
