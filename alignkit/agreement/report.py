"""Print an agreement: by default the answer, the two main tables and the cautions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from math import isnan
from typing import NamedTuple

from alignkit._support.arguments import check_known
from alignkit._support.wording import how_many, overlapping, visible
from alignkit.agreement import compared_tables, table_rows, tables
from alignkit.agreement.answer import CHANCE_NAMES, Answer
from alignkit.agreement.chance.models import CHANCE_MODELS, ClosedChance
from alignkit.agreement.figures import AgreementFigures, Pairing
from alignkit.agreement.intervals import INTERVALS
from alignkit.agreement.names import listed
from alignkit.agreement.options import CLOSED
from alignkit.errors import OptionError
from alignkit.tables.columns import Column, ShownCell
from alignkit.tables.media import Report, Sheet, get_medium, latex_escape
from alignkit.tables.table import Table

NAMES = (*tables.TABLES, "cautions")  # the names of the tables, in order


class LastLine(NamedTuple):
    """The last line of the default report, which names further tables, ready to type."""

    separator: str  # between the names
    text: str  # with {} for the names


IN_PYTHON = LastLine(", ", "More, by tables=[...]: {}; 'all'")
COMMAND = LastLine(",", "More: --tables {}; --all; --html FILE")

_MOST_CAUTIONS = 8


def check_tables(names: Sequence[str]) -> None:
    """Raise an error for an unknown table."""
    for name in names:
        check_known("table", name, NAMES)


# what stands above, between and below the tables
def agreement_head(agreement: AgreementFigures) -> list[str]:
    """Return lines with the annotators, the pairs, and the meaning of the brackets."""
    whole = agreement.whole
    names = ", ".join(agreement.annotators)
    pairs = how_many(whole.pairs, "sentence pair")
    lines = [f"Agreement of {names}: {pairs}, {whole.used} annotated by two or more"]
    lines += agreement_notes(agreement)
    people = [pairing for pairing in agreement.every_two if pairing.beyond]
    for name in dict.fromkeys(pairing.chance for pairing in people):
        model = CHANCE_MODELS[name]
        line = f"Chance ({name}): {model.description}"
        if not isinstance(model, ClosedChance):
            line += f"; initial alignment: {agreement.initial or 'empty'}"
        lines.append(line)
    options = agreement.options
    if not all(isnan(figure.low) for figure in agreement.figures()):
        how = INTERVALS
        if options.bootstrap == "refit":
            how += ", edit models refitted"
        share = f"{100 * options.confidence:g}%"
        lines.append(f"In brackets: {share} intervals over sentence pairs ({how})")
    lines += _samples_line(people)
    return lines


def _samples_line(pairings: Sequence[Pairing]) -> Iterator[str]:
    """Yield how many samples of chance were drawn, if any, and the error of C due to sampling."""
    drawn = set()
    errors = []
    for two in pairings:
        for result in two.beyond[two.chance].values():
            drawn.add(result.samples)
            errors.append(result.C_error)
    drawn.discard(0)
    errors = [error for error in errors if not isnan(error)]
    if drawn:
        line = f"Samples of each sentence pair: {min(drawn)}"
        if len(drawn) > 1:
            line += f"-{max(drawn)}"
        if errors:
            line += f"; Monte-Carlo error of C at most {max(errors):.2g}"
        yield line


def agreement_notes(agreement: AgreementFigures) -> Iterator[str]:
    """Yield notes on pairs that are left out or count twice, and on cells."""
    whole = agreement.whole
    for reason, n in whole.left_out.items():
        yield f"{how_many(n, 'pair')} {reason}"
    yield from _start_notes(agreement)
    if agreement.options.universe == "judged":
        yield (
            "judged cells: kappa, AC1 and C with edit models use the cells that both judged; F1, "
            "alpha and Fleiss' kappa use all cells"
        )
    compared = {*agreement.annotators, agreement.initial, agreement.adjudicated, *agreement.systems}
    roles = agreement.corpus.roles
    aligners = agreement.corpus.aligners
    rest = [f"{visible(name)} ({roles[name]})" for name in aligners if name not in compared]
    if rest:
        yield f"not compared: {', '.join(rest)}"
    if agreement.several:
        yield overlapping(agreement.several, whole.pairs, str(agreement.options.by))


_MOST_PAIRINGS = 3  # that a note lists


def _start_notes(agreement: AgreementFigures) -> Iterator[str]:
    """Yield on how many pairs edit models are based, if annotators were shown different starts."""
    start = repr(agreement.initial) if agreement.initial else "nothing"
    people = [two for two in agreement.every_two if two.beyond]
    some: list[str] = []
    none: list[str] = []
    for two in people:
        who = agreement.label(two)
        pairs = two.whole.pairs
        if two.same_start == 0 and two.no_edits:
            none.append(who)
        elif two.same_start is not None and two.same_start < pairs:
            whose = f" ({who})" if len(people) > 1 else ""
            some.append(f"{two.same_start} of {pairs} pairs{whose}")
    if some:
        yield f"In {_shortened(some)} both started from {start}; C by edits is based on these alone"
    if none:
        whose = f" ({_shortened(none)})" if len(people) > 1 else ""
        yield f"In no pair did both start from {start}{whose}, so C is not by edits of it"


def _shortened(names: Sequence[str]) -> str:
    """Return the first pairings of a list, and the number of the others."""
    more = len(names) - _MOST_PAIRINGS
    shown = ", ".join(names[:_MOST_PAIRINGS])
    return f"{shown} and {more} more" if more > 0 else shown


def _kappa_over(agreement: AgreementFigures) -> str:
    """Return the cells that kappa is computed over."""
    if compared_tables.all_given(agreement.every_two):
        return "the links that both were given"
    if agreement.options.ignore_identical:
        return "cells of different words"
    return "all cells"


def legend(agreement: AgreementFigures, shown: Sequence[Sheet]) -> str:
    """Return the legend of the columns and of the short names of annotators."""
    options = agreement.options
    keys = set[str]()
    bounded = list[Sequence[ShownCell]]()
    for table in shown:
        keys.update(column.key for column in table.columns)
        bounded += [row for row in table.rows if any("[" in cell.text for cell in row)]
    parts = list[str]()
    if options.bootstrap != "none" and bounded:
        share = f"{100 * options.confidence:g}%"
        parts.append(f"In brackets: {share} intervals over sentence pairs ({INTERVALS}).")
        if any(row[0].text == table_rows.LINKS["eq2"] for row in bounded):
            parts.append("That of sure ~ all is too narrow if few pairs have most sure links.")
    if "used" in keys:
        parts.append(f"used: pairs that C is based on, of {agreement.whole.used}.")
    models = compared_tables.chance_models(agreement.every_two)
    says = _models_in_words(agreement.initial)
    described = [
        f"{CHANCE_NAMES[model]}: {says[model]}" for model in models if f"C_{model}" in keys
    ]
    if described:
        parts.append(f"{'; '.join(described)}.")
    if "kappa" in keys:
        parts.append(f"kappa: {_kappa_over(agreement)}.")
    if agreement.shortened:
        parts.append(f"{agreement.shortened}.")
    parts += [f"{note}." for note in agreement_notes(agreement)]
    return " ".join(parts)


def _models_in_words(initial: str | None) -> dict[str, str]:
    """Return how each model of chance draws sets, by its name."""
    closed = "chance draws random sets of links of the same sizes"
    start = "an empty alignment"
    if initial:
        start = repr(initial)
    else:
        closed += " (if the annotators corrected an automatic alignment, name it with initial)"
    return {
        "edit": f"chance edits {start} at one rate",
        "edit-split": f"chance edits {start} at separate rates for adding and deleting",
        "edit-strata": "separate rates for adding and deleting, and for equal and other words",
        CLOSED: closed,
    }


def fleiss_line(agreement: AgreementFigures) -> Iterator[str]:
    """Yield Fleiss' kappa of three or more annotators."""
    whole = agreement.whole
    if len(agreement.annotators) > 2 and whole.fleiss is not None:
        number = table_rows.with_interval(whole.fleiss.kappa, whole.intervals.get("fleiss.kappa"))
        shown = Column("", "coefficient").show(number).text
        pairs = how_many(whole.fleiss.pairs, "pair")
        yield f"Fleiss' kappa of all {len(agreement.annotators)}: {shown}, in {pairs}"


def caution_lines(agreement: AgreementFigures, *, whole: bool) -> list[str]:
    """Return the cautions: the whole texts, or one line for each of the first."""
    if whole:
        return [str(caution) for caution in agreement.cautions]
    every = [two.name for two in agreement.every_two]
    lines = []
    for caution in agreement.cautions:
        line = f"{caution.code}{_some(caution.pairings, every)}: {caution.brief}"
        for name, short in agreement.short_names.items():
            line = line.replace(name, short)
        lines.append(line)
    more = len(lines) - _MOST_CAUTIONS
    if more > 0:
        return [*lines[:_MOST_CAUTIONS], f"and {more} more: see the table cautions"]
    return lines


def _some(pairings: Sequence[str], every: Sequence[str]) -> str:
    """Return which pairings of annotators a caution concerns; nothing if it concerns all."""
    some = [name for name in pairings if name in every]
    if not some or len(some) == len(every):
        return ""
    if len(some) < 3:
        return f" ({'; '.join(some)})"
    return f" ({len(some)} of {len(every)} pairings)"


# the report
def draw_report(
    agreement: AgreementFigures,
    answer: Answer,
    medium: str,
    asked: Sequence[str] | str | None,
    label: str,
    last_line: LastLine = IN_PYTHON,
) -> str:
    """Return the report in a medium: the default one, the tables that are asked for, or all."""
    written = get_medium(medium)
    if asked is None and medium == "latex":
        return latex_table(agreement, answer, label)
    if medium == "text":
        lines = str(answer).split("\n")
    else:
        lines = [" ".join(answer.sentences)]
    if asked is None:
        return written.report(_default_report(agreement, answer, lines, last_line))
    cautions = caution_lines(agreement, whole=True)
    if asked == "all":
        lines += agreement_head(agreement)
        sheets = [table.sheet() for table in tables.agreement_tables(agreement)]
        return written.report(Report(lines, sheets, cautions, agreement.signature, "Cautions"))
    if isinstance(asked, str):
        raise OptionError(f"give the tables as a list, not as the string {asked!r}")
    check_tables(asked)
    sheets = []
    for name in dict.fromkeys(asked):
        if name in tables.TABLES:
            sheets.extend(_sheets(agreement, name))
    if "cautions" not in asked:
        cautions = []
    return written.report(Report([], sheets, cautions, "", "Cautions")).strip("\n")


def _default_report(
    agreement: AgreementFigures, answer: Answer, lines: Sequence[str], last_line: LastLine
) -> Report:
    """Return the report with the answer, the main tables, and a line for each caution."""
    sheets = []
    for name in tables.MAIN:
        sheets.extend(_sheets(agreement, name))
    sheets.append(_line(legend(agreement, sheets)))
    others = [*compared_tables.groups_table(agreement), *compared_tables.others_table(agreement)]
    sheets += [table.sheet() for table in others]
    sheets += map(_line, fleiss_line(agreement))
    cautions = caution_lines(agreement, whole=False)
    names = []
    for name, tables_of in tables.TABLES.items():
        if name not in tables.MAIN and any(tables_of(agreement)):
            names.append(name)
    if cautions:
        names.append("cautions")
    last = last_line.text.format(last_line.separator.join(names))
    return Report(lines, sheets, cautions, last, "Cautions")


def _sheets(agreement: AgreementFigures, name: str) -> list[Sheet]:
    """Return the tables with a name, or a line that there are none."""
    sheets = [table.sheet() for table in tables.TABLES[name](agreement)]
    return sheets or [_line(f"{name}: this agreement has no such figures")]


def _line(text: str) -> Sheet:
    """Return a line of text between tables."""
    return Table("", (), (), text).sheet()


def latex_table(agreement: AgreementFigures, answer: Answer, label: str) -> str:
    """Return the table for a paper: the pairings for all links, then for sure links."""
    whole = compared_tables.main_table(agreement, "words", narrow=False)
    quoted = f"C_{answer.quoted.model}" if answer.quoted else ""
    left_out = [
        column.key
        for column in whole.columns
        if column.key.startswith("C_") and column.key != quoted
    ]
    if not quoted:
        left_out.append("used")
    kept = table_rows.without_columns(whole, left_out)
    columns = []
    for column in kept.columns:
        right = column.key in ("precision", "recall", "kappa", "used") or bool(column.span)
        latex = "$C$" if column.key == quoted else column.latex
        columns.append(replace(column, right=right, latex=latex))
    rows = [row for row in kept.rows if row[0] != table_rows.LINKS["eq2"]]
    caption = _latex_caption(agreement, answer, {column.key for column in columns})
    lines = [
        r"% needs \usepackage{booktabs}",
        f"% {visible(agreement.signature)}",
        r"\begin{table}\centering\small",
        rf"\caption{{{caption}}}",
        rf"\label{{tab:{re.sub(r'[^a-zA-Z0-9.-]+', '-', label)}}}",
        Table("", columns, rows).show("latex"),
        r"\end{table}",
    ]
    return "\n".join(lines)


def _latex_caption(agreement: AgreementFigures, answer: Answer, keys: Collection[str]) -> str:
    """Return the caption of the table for a paper, which has columns with these keys."""
    options = agreement.options
    names = list(agreement.short_names.values())
    who = latex_escape(listed(names))
    pairs = how_many(agreement.whole.used, "sentence pair")
    caption = f"Agreement of {who} on word links in {pairs}"
    if options.ignore_identical:
        caption += " (links of equal words left out)"
    if "f1" not in keys:
        return f"{caption}: F1 of each with the others, in percent."
    reference = latex_escape(names[1] if len(names) == 2 else "the second")
    measures = ["F1"]
    if answer.quoted:
        measures.append(f"$C$ (chance: {answer.quoted.model})")
    if "kappa" in keys:
        measures.append(rf"Cohen's $\kappa$ over {_kappa_over(agreement)}")
    caption += f": precision and recall with {reference} as reference, {listed(measures)}."
    if options.bootstrap != "none":
        caption += rf" In brackets: {100 * options.confidence:g}\% intervals ({INTERVALS})."
    if "used" in keys:
        caption += " $n$: pairs that $C$ is based on."
    return caption
