"""The tables of F1, C and kappa: of every two annotators, of groups, of other alignments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from math import isnan, nan

from alignkit._support.wording import visible
from alignkit.agreement.answer import CHANCE_NAMES
from alignkit.agreement.chance.result import LEVELS
from alignkit.agreement.figures import DIFFERENT, MOST_PAIRINGS, AgreementFigures, Pairing
from alignkit.agreement.names import listed
from alignkit.agreement.numbers import f1_of
from alignkit.agreement.options import CLOSED
from alignkit.agreement.table_rows import (
    LINKS,
    SHORT_KINDS,
    UNITS,
    WIDTH,
    Rows,
    Subject,
    fitting,
    level_table,
    subjects,
    with_interval,
)
from alignkit.tables.columns import Cell, Column, Row
from alignkit.tables.table import Table

_MOST_GROUPS = 10  # that a table shows


def chance_models(pairings: Sequence[Pairing]) -> list[str]:
    """Return the models with a column of C: the requested ones; with edits also the strata."""
    models = [two.chance for two in pairings if two.beyond]
    if any(model != CLOSED for model in models):
        models.append("edit-strata")
    return list(dict.fromkeys(models))


def all_given(pairings: Sequence[Pairing]) -> bool:
    """Return whether all annotators judged links that they were given."""
    return all(two.given for two in pairings)


def _compared(
    agreement: AgreementFigures,
    unit: str,
    rows: Sequence[Subject],
    who: str,
    anchor: str,
    *,
    full: bool = True,
    narrow: bool = True,
) -> Table:
    """Return the table of words or phrase pairs, without columns that are empty.

    A `full` table has three digits of C and kappa, and a level for eq. 2; others have this level
    only if they have one row. A `narrow` one leaves out columns until it fits.
    """
    pairings = [row.pairing for row in rows if row.pairing]
    models = chance_models(pairings)
    given = all_given(pairings)
    kinds = ["possible", "sure"]
    if unit == "words" and (full or len(rows) == 1):
        kinds.append("eq2")
    levels: dict[str, Rows] = {}
    for links in kinds:
        of_kind = levels[LINKS[links]] = []
        for row in rows:
            cells = list(_measures(agreement, row, f"{unit}.{links}", models, given))
            of_kind.append((row.name, cells))
    if len(pairings) == 1:
        who = agreement.label(pairings[0])
    title = _compared_title(agreement, unit, who)
    columns = _measure_columns(models, given, digits=3 if full else None)
    table = level_table(title, columns, levels, anchor)
    if len(rows) == 1:  # its name is in the title: the rows are the levels
        lines = []
        for level, named in levels.items():
            _, cells = named[0]
            lines.append([level, *cells])
        table = replace(table, rows=lines)
    if narrow:
        return fitting(table, ["kappa"], ["precision", "recall"])
    return fitting(table)


def _compared_title(agreement: AgreementFigures, unit: str, who: str) -> str:
    """Return the title of a table of words or phrase pairs; `who` may be empty."""
    name, left_out = UNITS[unit]
    if who:
        name += f": {who}"
    notes = ["the second is the reference"]
    if agreement.options.ignore_identical:
        notes.append(left_out)
    return f"{name} ({'; '.join(notes)})"


def _measure_columns(models: Sequence[str], given: bool, digits: int | None) -> list[Column]:
    """Return the columns of `_measures`; C and kappa have these digits."""
    columns = [
        Column("P", "percent", key="precision"),
        Column("R", "percent", key="recall"),
        Column("F1", "percent", key="f1"),
    ]
    for model in models:
        name = CHANCE_NAMES[model]
        latex = name.replace("C", "$C$", 1)
        columns.append(Column(name, "coefficient", key=f"C_{model}", digits=digits, latex=latex))
    if given:
        name = "kappa, given links"
        latex = "kappa"
    else:
        name = "kappa"
        latex = r"$\kappa$"
    columns.append(Column(name, "coefficient", key="kappa", digits=digits, latex=latex))
    columns.append(Column("used", "count", latex="$n$"))
    return columns


def _measures(
    agreement: AgreementFigures, row: Subject, level: str, models: Sequence[str], given: bool
) -> Iterator[Cell]:
    """Yield P, R, F1, C by each model, kappa, and the number of pairs that C is based on."""
    yield row.plain(f"{level}.precision")
    yield row.plain(f"{level}.recall")
    yield row.cell(f"{level}.f1")
    if level not in LEVELS:  # eq. 2 has no C, no kappa, and no pairs that C is based on
        yield from [None] * len(models)
        yield None
        yield None
        return
    # the row of a mean has C only if all pairings have the same model
    has_mean = row.pairing is None and len(models) == 1
    for model in models:
        yield row.cell(f"{level}.C") if has_mean else row.corrected(level, model)
    if level.startswith("phrases"):
        yield None
    elif given and row.pairing and row.pairing.given:
        yield with_interval(*row.pairing.given.kappa(LEVELS[level][1]))
    else:
        cells = f"cells.{LEVELS[level][1]}"
        if agreement.options.ignore_identical:
            cells = DIFFERENT + cells
        yield row.plain(f"{cells}.kappa")
    part = row.chance(level)
    yield part.used if part else None


def main_table(agreement: AgreementFigures, unit: str, *, narrow: bool = True) -> Table:
    """Return the main table of ``"words"`` or ``"phrases"``; if it is long, by annotator."""
    pairings = agreement.every_two
    anchor = f"main-{unit}"
    if len(pairings) <= MOST_PAIRINGS:
        rows = [Subject(agreement.label(two), two) for two in pairings]
        return _compared(agreement, unit, rows, "", anchor, full=False, narrow=narrow)
    title, left_out = UNITS[unit]
    note = "all pairings: see the table pairings"
    if agreement.options.ignore_identical:
        note = f"{left_out}; {note}"
    names = agreement.short_names
    levels: dict[str, Rows] = {}
    for links in ("possible", "sure"):
        level = f"{unit}.{links}"
        levels[LINKS[links]] = [
            (short, _with_others(pairings, name, level)) for name, short in names.items()
        ]
    columns = [Column(x, "percent", "F1 with the others") for x in ("mean", "lowest", "highest")]
    return level_table(f"{title} ({note})", columns, levels, anchor)


def _with_others(pairings: Sequence[Pairing], who: str, level: str) -> Row:
    """Return the mean, lowest and highest F1 of one annotator with the others."""
    known = []
    for two in pairings:
        if who in two.names:
            f1 = f1_of(two, level).value
            if not isnan(f1):
                known.append(f1)
    if known:
        return [sum(known) / len(known), min(known), max(known)]
    return [nan] * 3


def pairings_tables(agreement: AgreementFigures, kind: str = "annotators") -> Iterator[Table]:
    """Yield the tables of words and of phrase pairs: rows for every two, groups and means."""
    who = {
        "annotators": "all pairings of annotators",
        "adjudicated": f"each annotator ~ {agreement.adjudicated}, the adjudicated version",
        "consensus": "each annotator ~ the majority of the others",
        "automatic": "human ~ automatic",
    }[kind]
    if kind == "consensus" and len(agreement.annotators) == 3:
        who += " (what both have)"
    rows = subjects(agreement, kind)
    if rows:
        for unit in UNITS:
            yield _compared(agreement, unit, rows, who, f"{kind}-{unit}")


def groups_table(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield F1 of each group of sentence pairs, as the mean over pairings."""
    measures = {
        "words, all": "words.possible",
        "words, sure": "words.sure",
        "phrase pairs, all": "phrases.possible",
    }
    groups = [row for row in subjects(agreement) if row.section != "all"]
    if not groups:
        return
    parts = dict(zip(agreement.sections, agreement.together, strict=True))
    rows = []
    for row in groups[:_MOST_GROUPS]:
        f1 = [row.cell(f"{level}.f1") for level in measures.values()]
        rows.append([row.name, *f1, parts[row.section].used])
    columns = [Column("", key="group")]
    columns += [Column(name, "percent") for name in measures]
    columns.append(Column("pairs", "count"))
    note = "C: see the table pairings"
    more = len(groups) - len(rows)
    if more:
        note = f"{more} more groups and {note}"
    if agreement.options.ignore_identical:
        note = f"equal words left out; {note}"
    yield Table(
        f"By {agreement.options.by}: F1 ({note})", columns, rows, anchor="groups", ruled=False
    )


def others_table(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield F1 of words of each annotator with adjudicated and automatic alignments."""
    which: dict[str, str] = {}
    cells: dict[tuple[str, str], Row] = {}  # by annotator and other alignment
    for two in agreement.of("adjudicated"):
        which[two.second] = "the adjudicated one"
        cells[two.first, two.second] = _f1_cells(two)
    for two in agreement.of("automatic"):
        if two.first == agreement.initial:
            which[two.first] = "the initial one"
        else:
            which[two.first] = "an automatic one"
        cells[two.second, two.first] = _f1_cells(two)
    if not which:
        return
    described = listed(f"{what} ({visible(other)})" for other, what in which.items())
    title = f"Other alignments: F1 of words with {described}"
    names = agreement.short_names
    anchor = "other-alignments"
    columns = [Column("", key="who")]
    for other in which:
        columns += [Column(f"{other}, {heading}", "percent") for heading in SHORT_KINDS.values()]
    rows: list[Row] = []
    for name, short in names.items():
        rows.append([short, *chain.from_iterable(cells[name, other] for other in which)])
    table = Table(title, columns, rows, anchor=anchor, ruled=False)
    if table.width > WIDTH:  # then below each other
        levels: dict[str, Rows] = {}
        for other in which:
            levels[visible(other)] = [(short, cells[name, other]) for name, short in names.items()]
        columns = [Column(links, "percent") for links in SHORT_KINDS.values()]
        table = level_table(title, columns, levels, anchor)
    yield table


def _f1_cells(two: Pairing) -> Row:
    """Return F1 of words for each kind of links."""
    return [Subject("", two).cell(f"words.{links}.f1") for links in SHORT_KINDS]
