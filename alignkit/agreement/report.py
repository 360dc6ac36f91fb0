"""What an agreement prints by default: the answer, the two main tables, the cautions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan, nan

from alignkit._support.arguments import check_known
from alignkit._support.wording import how_many, visible
from alignkit.agreement.answer import CHANCE_NAMES, Answer
from alignkit.agreement.figures import AgreementFigures, Pairing
from alignkit.agreement.options import CLOSED
from alignkit.agreement.tables import TABLES, Subject, agreement_head, agreement_notes, value
from alignkit.errors import OptionError
from alignkit.tables.columns import Cell, Column
from alignkit.tables.media import Report, Sheet, get_medium, latex_escape
from alignkit.tables.table import Table
from alignkit.tables.text_width import char_width

NAMES = ("words", "phrases", *TABLES, "cautions")
"""The names of the tables, in their order."""

_WIDTH = 100
_MOST_PAIRINGS, _MOST_CAUTIONS = 10, 8
_UNITS = {
    "words": ("Words", "links of equal words left out"),
    "phrases": ("Phrase pairs", "equal ones left out"),
}
_LINKS = {"possible": "all links", "sure": "sure links", "eq2": "sure ~ all (eq. 2)"}


def default_names(agreement: AgreementFigures) -> list[str]:
    """Return the tables that are shown if none is asked for."""
    return ["words", "phrases", *(["pairings"] if agreement.by else [])]


def check_tables(names: Sequence[str]) -> None:
    """Refuse a name that no table has."""
    for name in names:
        check_known("table", name, NAMES)


def tables_by_name(
    agreement: AgreementFigures, answer: Answer, names: Sequence[str]
) -> Iterator[Table]:
    """Yield some tables; an unknown name is refused."""
    check_tables(names)
    for name in dict.fromkeys(names):
        if name in _UNITS:
            yield from main_table(agreement, answer, name)
        elif name in TABLES:
            yield from TABLES[name](agreement)


# the two main tables
def chance_models(agreement: AgreementFigures) -> list[str]:
    """Return the models whose C the main tables have: the one asked for; with edits, the strata."""
    models = list(dict.fromkeys(two.chance for two in agreement.of("annotators") if two.beyond))
    edits = [model for model in models if model != CLOSED]
    return list(dict.fromkeys([*models, *(["edit-strata"] if edits else [])]))


def _all_given(agreement: AgreementFigures) -> bool:
    return all(two.given for two in agreement.of("annotators"))


def _columns(agreement: AgreementFigures) -> list[Column]:
    return [
        Column("P", "percent", key="precision"),
        Column("R", "percent", key="recall"),
        Column("F1", "percent", key="f1"),
        *(
            Column(CHANCE_NAMES[model], "coefficient", key=f"C_{model}")
            for model in chance_models(agreement)
        ),
        Column(
            "kappa, given links" if _all_given(agreement) else "kappa", "coefficient", key="kappa"
        ),
        Column("used", "count"),
    ]


def _cells(agreement: AgreementFigures, two: Pairing, level: str) -> Iterator[Cell]:
    row, unit = Subject("", two), level.partition(".")[0]
    yield from (row.plain(f"{level}.precision"), row.plain(f"{level}.recall"))
    yield row.cell(f"{level}.f1")
    part = row.chance(level) if "eq2" not in level else None
    for model in chance_models(agreement):
        yield row.corrected(level, model) if part else None
    if unit == "phrases" or "eq2" in level:
        yield None
    elif _all_given(agreement) and two.given:
        name = level.replace("words", "cells")
        table = getattr(two.given.cells, level.partition(".")[2])
        yield value(table.kappa, two.given.intervals.get(f"{name}.kappa"))
    else:
        different = "different." if agreement.options.ignore_identical else ""
        yield row.plain(f"{different}{level.replace('words', 'cells')}.kappa")
    yield part.used if part else None


def main_table(
    agreement: AgreementFigures, answer: Answer, unit: str, *, narrow: bool = True
) -> Iterator[Table]:
    """Yield the table of words or of phrase pairs: levels, and below each the pairings."""
    pairings, names = agreement.of("annotators"), answer.names
    name, left_out = _UNITS[unit]
    notes = [
        "the second is the reference",
        *([left_out] if agreement.options.ignore_identical else []),
    ]
    levels = ["possible", "sure", *(["eq2"] if unit == "words" and len(pairings) == 1 else [])]
    columns, rows = _columns(agreement), list[list[Cell]]()
    if len(pairings) == 1:
        (two,) = pairings
        name += f": {names[two.first]} ~ {names[two.second]}"
        rows = [[_LINKS[x], *_cells(agreement, two, f"{unit}.{x}")] for x in levels]
    many = len(pairings) > _MOST_PAIRINGS
    if many:
        columns = [
            Column(x, "percent", "F1 with the others") for x in ("mean", "lowest", "highest")
        ]
        notes = [*notes[1:], "all pairings: the table pairings"]
    for links in levels if len(pairings) > 1 else ():
        level, blank = f"{unit}.{links}", [None] * len(columns)
        rows.append([_LINKS[links], *blank])
        for who in agreement.annotators if many else ():
            rows.append([f"  {names[who]}", *_with_others(agreement, who, level)])
        for two in () if many else pairings:
            who = f"  {names[two.first]} ~ {names[two.second]}"
            rows.append([who, *_cells(agreement, two, level)])
    title = f"{name} ({'; '.join(notes)})"
    table = Table(
        title, [Column("", key="who"), *columns], rows, anchor=f"main-{unit}", ruled=False
    )
    empty = [
        column.key for k, column in enumerate(columns) if all(row[k + 1] is None for row in rows)
    ]
    table = _without(table, empty)
    for keys in (("kappa",), ("precision", "recall")) if narrow else ():
        if max(map(char_width, table.show().split("\n"))) > _WIDTH:
            table = _without(table, keys)
    yield table


def _without(table: Table, keys: Collection[str]) -> Table:
    """Return a table without some columns."""
    kept = [k for k, column in enumerate(table.columns) if column.key not in keys]
    columns, rows = [table.columns[k] for k in kept], [[row[k] for k in kept] for row in table.rows]
    return replace(table, columns=columns, rows=rows)


def _with_others(agreement: AgreementFigures, who: str, level: str) -> list[float]:
    """Return the mean, the lowest and the highest F1 of one annotator with the others."""
    values = [two.sections[0].figures.get(f"{level}.f1", nan) for two in agreement.of("annotators")
              if who in (two.first, two.second)]  # fmt: skip
    known = [number for number in values if not isnan(number)]
    return [sum(known) / len(known), min(known), max(known)] if known else [nan] * 3


# what stands between and below
def _kappa_over(agreement: AgreementFigures) -> str:
    if _all_given(agreement):
        return "the links that both were given"
    return "cells of different words" if agreement.options.ignore_identical else "all cells"


def legend(agreement: AgreementFigures, answer: Answer, tables: Sequence[Sheet]) -> str:
    """Return what the columns of tables are, and which annotator a short name stands for."""
    options, models = agreement.options, chance_models(agreement)
    keys, parts = {column.key for table in tables for column in table.columns}, list[str]()
    if options.bootstrap != "none":
        parts.append(
            f"In brackets: {100 * options.confidence:g}% of bootstrap resamples of sentence pairs."
        )
    if "used" in keys:
        parts.append(f"used: pairs that C rests on, of {agreement.together[0].used}.")
    initial = repr(agreement.initial) if agreement.initial else "an empty alignment"
    says = {
        "edit": f"chance edits {initial} at one rate",
        "edit-split": f"chance edits {initial} at a rate each for adding and deleting",
        "edit-strata": "at a rate each for adding and deleting, equal words and others",
        CLOSED: "chance draws sets of the same sizes (if they corrected an automatic alignment, "
        "name it as initial)",
    }
    if models := [model for model in models if f"C_{model}" in keys]:
        parts.append("; ".join(f"{CHANCE_NAMES[model]}: {says[model]}" for model in models) + ".")
    parts += [f"kappa: {_kappa_over(agreement)}."] if "kappa" in keys else []
    short = [f"{short} is {visible(name)}" for name, short in answer.names.items() if short != name]
    notes = [", ".join(short), *agreement_notes(agreement)]
    return " ".join([*parts, *(f"{note}." for note in notes if note)])


def others_table(agreement: AgreementFigures, answer: Answer) -> Iterator[Table]:
    """Yield F1 of words of each annotator with the adjudicated and the automatic alignments."""
    pairings = [*agreement.of("adjudicated"), *agreement.of("automatic")]
    which: dict[str, str] = {}
    rows: dict[str, dict[tuple[str, str], Cell]] = {name: {} for name in agreement.annotators}
    for two in pairings:
        adjudicated = two.kind == "adjudicated"
        who, other = (two.first, two.second) if adjudicated else (two.second, two.first)
        which[other] = "the adjudicated one" if adjudicated else "an automatic one"
        if other == agreement.initial:
            which[other] = "the initial one"
        for links in ("possible", "sure"):
            rows[who][other, links] = Subject("", two).cell(f"words.{links}.f1")
    if not which:
        return
    kinds = {"possible": "all", "sure": "sure"}
    keys = [(other, links) for other in which for links in kinds]
    *most, last = (f"{what} ({visible(other)})" for other, what in which.items())
    title = "Other alignments: F1 of words with "
    title += " and ".join([", ".join(most), last] if most else [last])
    columns = [Column(f"{other}, {kinds[links]}", "percent") for other, links in keys]
    wide = [[answer.names[who], *map(cells.get, keys)] for who, cells in rows.items()]
    table = Table(title, [Column("", key="who"), *columns], wide,
                  anchor="other-alignments", ruled=False)  # fmt: skip
    if max(map(char_width, table.show().split("\n")[1:])) > _WIDTH:  # then below each other
        columns = [Column("", key="who"), *(Column(name, "percent") for name in kinds.values())]
        long = list[list[Cell]]()
        for other in which:
            long.append([visible(other), None, None])
            long += [[f"  {answer.names[who]}", *(cells.get((other, links)) for links in kinds)]
                     for who, cells in rows.items()]  # fmt: skip
        table = replace(table, columns=columns, rows=long)
    yield table


def fleiss_line(agreement: AgreementFigures) -> Iterator[str]:
    """Yield Fleiss' kappa of three or more annotators."""
    whole = agreement.together[0]
    if len(agreement.annotators) > 2 and whole.fleiss is not None:
        number = value(whole.fleiss.kappa, whole.intervals.get("fleiss.kappa"))
        shown = Column("", "coefficient").show(number).text
        pairs = how_many(whole.fleiss.pairs, "pair")
        yield f"Fleiss' kappa of all {len(agreement.annotators)}: {shown}, in {pairs}"


def caution_lines(
    agreement: AgreementFigures, names: Mapping[str, str], *, whole: bool
) -> list[str]:
    """Return the cautions: all that they say, or a line each of the first."""
    if whole:
        return [str(caution) for caution in agreement.cautions]
    lines = [f"{caution.code}: {caution.brief}" for caution in agreement.cautions]
    for name, short in names.items():
        lines = [line.replace(name, short) for line in lines] if name != short else lines
    more = len(lines) - _MOST_CAUTIONS
    return [*lines[:_MOST_CAUTIONS], *([f"and {more} more: the table cautions"] * (more > 0))]


# the report
def draw_report(
    agreement: AgreementFigures, answer: Answer, medium: str, tables: Sequence[str] | str | None,
    label: str,
) -> str:  # fmt: skip
    """Return the report in a medium: the default one, some tables, or all."""
    written, whole = get_medium(medium), tables == "all"
    names = NAMES if whole else default_names(agreement) if tables is None else tables
    if isinstance(names, str):
        raise OptionError(f"name the tables in a list, not as the one text {names!r}")
    if tables is None and medium == "latex":
        return latex_table(agreement, answer, label)
    shown = [table.sheet() for table in tables_by_name(agreement, answer, names)]
    cautions = caution_lines(agreement, answer.names, whole=tables is not None)
    lines = [" ".join(answer.sentences), f"Report: {answer.report}"]
    lines = str(answer).split("\n") if medium == "text" else lines
    if whole:
        lines += agreement_head(agreement)
        return written.report(Report(lines, shown, cautions, agreement.signature, "Cautions"))
    if tables is not None:
        kept = cautions if "cautions" in names else []
        return written.report(Report([], shown, kept, "", "Cautions")).strip("\n")
    others = [table.sheet() for table in others_table(agreement, answer)]
    below = [legend(agreement, answer, shown), *fleiss_line(agreement)]
    first, *more = (Table("", (), (), line).sheet() for line in below)
    sheets = [*shown, first, *others, *more]
    return written.report(Report(lines, sheets, cautions, _MORE, "Cautions"))


_MORE = f"More tables: {', '.join(NAMES[2:])}; or all"


def latex_table(agreement: AgreementFigures, answer: Answer, label: str) -> str:
    """Return the table for a paper: the pairings below all links and below the sure ones."""
    options, quoted, names = agreement.options, answer.quoted, list(answer.names.values())
    (whole,) = main_table(agreement, answer, "words", narrow=False)
    others = {
        f"C_{model}" for model in chance_models(agreement) if not quoted or model != quoted.model
    }
    kept = _without(whole, others if quoted else {*others, "used"})
    rows = [row for row in kept.rows if row[0] != _LINKS["eq2"]]
    columns = [
        replace(x, right=x.key in ("precision", "recall", "kappa", "used") or bool(x.span))
        for x in kept.columns
    ]
    tabular = Table("", columns, rows).show("latex")
    signs = {CHANCE_NAMES[quoted.model]: "$C$"} if quoted else {}
    for name, sign in {
        **signs,
        "kappa, given links": "kappa",
        "kappa": r"$\kappa$",
        "used": "$n$",
    }.items():
        tabular = tabular.replace(f" & {name} ", f" & {sign} ", 1)
    reference = names[1] if len(names) == 2 else "the second"
    who = f"{', '.join(names[:-1])} and {names[-1]}"
    parts = [
        f"Agreement of {latex_escape(who)} on word links in "
        f"{how_many(agreement.together[0].used, 'sentence pair')}",
        " (links of equal words left out)" if options.ignore_identical else "",
    ]
    keys = {column.key for column in columns}
    if "f1" in keys:
        measures = ["F1", *([f"$C$ (chance: {quoted.model})"] if quoted else [])]
        measures += [rf"Cohen's $\kappa$ over {_kappa_over(agreement)}"] * ("kappa" in keys)
        *before, last = measures
        listed = f"{', '.join(before)} and {last}" if before else last
        parts.append(f": precision and recall with {latex_escape(reference)} as reference, ")
        parts.append(f"{listed}.")
        if options.bootstrap != "none":
            parts.append(rf" In brackets: {100 * options.confidence:g}\% bootstrap intervals.")
        parts += [" $n$: pairs that $C$ rests on."] * ("used" in keys)
    else:
        parts.append(": F1 of each with the others, in percent.")
    return "\n".join([
        r"% needs \usepackage{booktabs}", f"% {visible(agreement.signature)}",
        r"\begin{table}\centering\small", rf"\caption{{{''.join(parts)}}}",
        rf"\label{{tab:{re.sub(r'[^a-zA-Z0-9.-]+', '-', label)}}}", tabular, r"\end{table}",
    ])  # fmt: skip
