"""Lay out the other coefficients of agreement: kappa and AC1 of cells, alpha, Fleiss' kappa."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import nan

from alignkit.agreement.kappa import CellAgreement
from alignkit.agreement.result import Agreement
from alignkit.agreement.result_parts import Together
from alignkit.report.agreement_rows import LINKS, Subject, apart, grouped, subjects, value
from alignkit.report.columns import Cell, Column
from alignkit.report.table import Table

_DISTANCES = {"jaccard": "Jaccard", "dice": "Dice", "masi": "MASI"}
_SHARES = ("null", "possible", "sure")
_CELLS = (
    Column("cells", "count"),
    Column("% linked", "percent", key="prevalence"),
    Column("kappa", "decimal"),
    Column("AC1", "decimal", key="ac1"),
    Column("observed", "decimal"),
)


def cell_tables(agreement: Agreement) -> Iterator[Table]:
    """Yield the tables of kappa and AC1: over all cells, and over those of different words."""
    judged = agreement.options.universe == "judged"
    whole = "Cells that both judged" if judged else "All cells"
    for before, title, anchor in (
        ("", f"{whole}, one for each source word with each target word", "cells"),
        ("different.", f"{whole} of different words", "different-cells"),
    ):
        people = _with(subjects(agreement, "annotators"), f"{before}cells.")
        if not people:
            continue
        rows = [
            [LINKS[links], subject.name, *_cells(subject, before, links)]
            for links in ("all", "possible", "sure")
            for subject in people
        ]
        heading = f"{title}: Cohen's kappa and Gwet's AC1"
        yield grouped(heading, ("links", "who"), _CELLS, rows, anchor, apart(len(people), 3))


def _cells(subject: Subject, before: str, links: str) -> Iterator[Cell]:
    cells: CellAgreement | None = None
    if subject.pairing is not None:
        section = subject.pairing.section(subject.section)
        cells = section.different if before else section.cells
    yield getattr(cells, links).items if cells else None
    yield subject.plain(f"{before}cells.{links}.prevalence")
    yield subject.cell(f"{before}cells.{links}.kappa")
    yield subject.cell(f"{before}cells.{links}.ac1")
    yield subject.plain(f"{before}cells.{links}.observed")


def _with(people: list[Subject], start: str) -> list[Subject]:
    """Return the rows that have figures whose names start so."""

    def names(subject: Subject) -> Mapping[str, float]:
        if subject.pairing is None:
            return subject.mean
        return subject.pairing.section(subject.section).figures

    return [subject for subject in people if any(name.startswith(start) for name in names(subject))]


def alpha_tables(agreement: Agreement) -> Iterator[Table]:
    """Yield the tables of Krippendorff's alpha: of all links, and of those of different words."""
    for before, which, anchor in (
        ("", "", "alpha"),
        ("different.", ", links of equal words left out", "different-alpha"),
    ):
        people = _with(subjects(agreement, "annotators"), f"{before}alpha.")
        if not people:
            continue
        rows: list[list[Cell]] = []
        starts = []
        for links in ("possible", "sure"):
            starts.append(len(rows))
            names = [f"{before}alpha.{links}.{distance}" for distance in _DISTANCES]
            rows += [[LINKS[links], one.name, *map(one.cell, names)] for one in people]
            if len(agreement.annotators) > 2:
                joint = _joint(agreement.together[0], before, links)
                rows.append([LINKS[links], "all annotators", *joint])
        title = f"Krippendorff's alpha, the set of target words of each source word{which}"
        columns = [Column(name, "decimal", key=key) for key, name in _DISTANCES.items()]
        groups = starts[1:] if len(rows) > len(starts) else ()
        yield grouped(title, ("links", "who"), columns, rows, anchor, groups)


def _joint(together: Together, before: str, links: str) -> Iterator[Cell]:
    for distance in _DISTANCES:
        found = together.alpha.get(f"{before}{links}.{distance}")
        interval = together.intervals.get(f"{before}alpha.{links}.{distance}")
        yield value(found.alpha, interval) if found else nan


def fleiss_table(agreement: Agreement) -> Iterator[Table]:
    """Yield the table of Fleiss' kappa: a row for each group, and for the whole corpus."""
    if not any(together.fleiss for together in agreement.together):
        return
    numbers = range(len(agreement.annotators), 0, -1)
    columns = [
        Column("", key="section"),
        *(Column(name, "count") for name in ("pairs", "items")),
        *(Column(name, "decimal") for name in ("kappa", "observed", "expected")),
        *(Column(name, "percent", "% of judgements") for name in _SHARES),
        *(Column(str(n) if n > 1 else "none", "count", "n agree", f"agree_{n}") for n in numbers),
    ]
    first, *groups = agreement.together
    yield Table(
        "Fleiss' kappa, the source words proposed for each target word; on how many items n agree",
        columns,
        [[one.name or "(none)", *_fleiss(one, len(columns) - 1)] for one in (*groups, first)],
        anchor="fleiss",
        ruled=False,
    )


def _fleiss(together: Together, width: int) -> list[Cell]:
    found = together.fleiss
    if found is None:
        return [nan] * width
    return [
        found.pairs,
        found.items,
        value(found.kappa, together.intervals.get("fleiss.kappa")),
        found.observed,
        found.expected,
        *(found.categories[name] for name in _SHARES),
        *(found.agreeing[n] for n in range(found.annotators, 0, -1)),
    ]
