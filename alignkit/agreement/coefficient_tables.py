"""The tables of kappa and AC1 over cells, alpha, Fleiss' kappa, and of links nobody looked at."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan, nan

from alignkit.agreement.figures import DIFFERENT, AgreementFigures
from alignkit.agreement.table_rows import (
    LINKS,
    SHORT_KINDS,
    Rows,
    Subject,
    level_table,
    subjects,
    with_interval,
)
from alignkit.agreement.unseen_links import NO_LINKS
from alignkit.tables.columns import Cell, Column, Row, Value
from alignkit.tables.table import Table

_DISTANCES = {"jaccard": "Jaccard", "dice": "Dice", "masi": "MASI"}
_SHARES = ("null", "possible", "sure")
_CELLS = (
    Column("cells", "count"),
    Column("% linked", "percent", key="prevalence"),
    Column("kappa", "decimal"),
    Column("AC1", "decimal", key="ac1"),
    Column("observed", "decimal"),
)


def _subjects_with_figures(agreement: AgreementFigures, start: str) -> list[Subject]:
    """Return the rows of annotators, of all of them too, with figures that start with a text."""
    rows = subjects(agreement)
    if len(agreement.annotators) > 2:
        rows.append(Subject("all annotators", together=agreement.whole))
    return [row for row in rows if any(name.startswith(start) for name in row.figures)]


def cell_tables(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the tables of kappa and AC1 over all cells, and over cells of different words."""
    if agreement.options.universe == "judged":
        whole = "Cells that both judged"
    else:
        whole = "All cells"
    for before, title, anchor in (
        ("", f"{whole}, one for each pair of a source and a target word", "cells"),
        (DIFFERENT, f"{whole} of different words", "different-cells"),
    ):
        people = _subjects_with_figures(agreement, f"{before}cells.")
        if not people:
            continue
        levels: dict[str, Rows] = {}
        for links in ("all", "possible", "sure"):
            levels[LINKS[links]] = [(row.name, list(_cells(row, before, links))) for row in people]
        yield level_table(f"{title}: Cohen's kappa and Gwet's AC1", _CELLS, levels, anchor)


def _cells(subject: Subject, before: str, links: str) -> Iterator[Cell]:
    """Yield what stands in the columns `_CELLS`."""
    cells = None
    if subject.pairing is not None:
        section = subject.pairing.section(subject.section)
        cells = section.different if before else section.cells
    if cells is None:
        yield None
    else:
        yield getattr(cells, links).items
    at = f"{before}cells.{links}"
    yield subject.plain(f"{at}.prevalence")
    yield subject.cell(f"{at}.kappa")
    yield subject.cell(f"{at}.ac1")
    yield subject.plain(f"{at}.observed")


def alpha_tables(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the tables of Krippendorff's alpha for all links, and for different words."""
    columns = [Column(name, "decimal", key=key) for key, name in _DISTANCES.items()]
    for before, which, anchor in (
        ("", "", "alpha"),
        (DIFFERENT, ", links of equal words left out", "different-alpha"),
    ):
        people = _subjects_with_figures(agreement, f"{before}alpha.")
        if not people:
            continue
        levels: dict[str, Rows] = {}
        for links in ("possible", "sure"):
            named = [f"{before}alpha.{links}.{distance}" for distance in _DISTANCES]
            rows = [(row.name, [row.cell(name) for name in named]) for row in people]
            levels[LINKS[links]] = rows
        title = f"Krippendorff's alpha over the set of target words of each source word{which}"
        yield level_table(title, columns, levels, anchor)


def fleiss_table(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the table of Fleiss' kappa: a row for each group, and for the whole corpus."""
    if not any(together.fleiss for together in agreement.together):
        return
    numbers = range(len(agreement.annotators), 0, -1)
    columns = [
        Column("", key="section"),
        Column("pairs", "count"),
        Column("items", "count"),
        Column("kappa", "decimal"),
        Column("observed", "decimal"),
        Column("expected", "decimal"),
    ]
    columns += [Column(name, "percent", "% of judgements") for name in _SHARES]
    for n in numbers:
        heading = str(n) if n > 1 else "none"
        columns.append(Column(heading, "count", "n agree", f"agree_{n}"))
    whole, *groups = agreement.together
    rows: list[Row] = []
    for part in (*groups, whole):
        fleiss = part.fleiss
        if fleiss is None:
            cells: Row = [nan] * (len(columns) - 1)
        else:
            kappa = with_interval(fleiss.kappa, part.intervals.get("fleiss.kappa"))
            cells = [fleiss.pairs, fleiss.items, kappa, fleiss.observed, fleiss.expected]
            cells += [fleiss.categories[name] for name in _SHARES]
            cells += [fleiss.agreeing[n] for n in numbers]
        rows.append([part.name or "(none)", *cells])
    title = (
        "Fleiss' kappa of the source words proposed for each target word; items on which n agree"
    )
    yield Table(title, columns, rows, anchor="fleiss", ruled=False)


def unseen_table(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the table of the links that two annotators both kept without looking at them."""
    rows: list[Row] = []
    for two in agreement.every_two:
        if two.unseen is None:
            continue
        figures: Row = []
        for links in SHORT_KINDS:
            without_unseen = two.unseen.f1[links]
            reason = NO_LINKS if isnan(without_unseen) else ""
            figures.append(Subject("", two).plain(f"words.{links}.f1"))
            figures.append(Value(without_unseen, reason=reason) if reason else without_unseen)
        rows.append([agreement.label(two), two.unseen.common, two.unseen.unseen, *figures])
    if not rows:
        return
    columns = [
        Column("", key="who"),
        Column("common", "count"),
        Column("unseen", "count"),
    ]
    for links, name in SHORT_KINDS.items():
        columns.append(Column("F1", "percent", f"{name} links", f"f1_{links}"))
        columns.append(Column("without", "percent", f"{name} links", f"f1_{links}_without_unseen"))
    title = "Common links that both kept without looking at them, and F1 without these"
    note = "unseen: accepted in bulk or by marking the pair as done; neither looked at the link"
    if agreement.options.ignore_identical:
        note += "; links of equal words left out"
    yield Table(title, columns, rows, note, anchor="unseen", ruled=False)
