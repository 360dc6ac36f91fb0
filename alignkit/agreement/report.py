"""Print an agreement: by default the answer, the two main tables and the cautions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan

from alignkit._support.arguments import check_known
from alignkit._support.wording import how_many, overlapping, visible
from alignkit.agreement import tables
from alignkit.agreement.answer import CHANCE_NAMES, Answer, short_names
from alignkit.agreement.chance.models import CHANCE_MODELS, ClosedChance
from alignkit.agreement.figures import AgreementFigures
from alignkit.agreement.intervals import INTERVALS
from alignkit.agreement.options import CLOSED
from alignkit.errors import OptionError
from alignkit.tables.columns import Column
from alignkit.tables.media import Report, Sheet, get_medium, latex_escape
from alignkit.tables.table import Table

NAMES = (*tables.TABLES, "cautions")  # the names of the tables, in order

IN_PYTHON = ", ", "More, by tables=[...]: {}; 'all'"
COMMAND = ",", "More: --tables {}; --all; --html FILE"
"""The separator of table names, and the last line of the default report, ready to type."""

_MAIN = ("words", "phrases")
_MOST_CAUTIONS = 8


def check_tables(names: Sequence[str]) -> None:
    """Raise an error for an unknown table."""
    for name in names:
        check_known("table", name, NAMES)


# what stands above, between and below the tables
def agreement_head(agreement: AgreementFigures) -> list[str]:
    """Return lines with the annotators, the pairs, and the meaning of the brackets."""
    whole = agreement.together[0]
    names = ", ".join(agreement.annotators)
    pairs = how_many(whole.pairs, "sentence pair")
    lines = [f"Agreement of {names}: {pairs}, {whole.used} annotated by two or more"]
    lines += agreement_notes(agreement)
    people = [pairing for pairing in agreement.of("annotators") if pairing.beyond]
    for name in dict.fromkeys(pairing.chance for pairing in people):
        model = CHANCE_MODELS[name]
        start = f"; initial alignment: {agreement.initial or 'empty'}"
        closed = isinstance(model, ClosedChance)
        lines.append(f"Chance ({name}): {model.description}{'' if closed else start}")
    options = agreement.options
    if not all(isnan(figure.low) for figure in agreement.figures()):
        if options.bootstrap == "refit":
            refitted = ", edit models refitted"
        else:
            refitted = ""
        share = f"{100 * options.confidence:g}%"
        lines.append(f"In brackets: {share} intervals over sentence pairs ({INTERVALS}{refitted})")
    results = [
        result
        for two in agreement.of("annotators")
        for result in two.beyond.get(two.chance, {}).values()
    ]
    if drawn := sorted({result.samples for result in results if result.samples}):
        span = "-".join(str(number) for number in dict.fromkeys((drawn[0], drawn[-1])))
        errors = [result.C_error for result in results if not isnan(result.C_error)]
        if errors:
            error = f"; Monte-Carlo error of C at most {max(errors):.2g}"
        else:
            error = ""
        lines.append(f"Samples of each sentence pair: {span}{error}")
    return lines


def agreement_notes(agreement: AgreementFigures) -> Iterator[str]:
    """Yield notes on pairs that are left out or count twice, and on cells."""
    whole = agreement.together[0]
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
    if rest := [name for name in agreement.corpus.aligners if name not in compared]:
        yield f"not compared: {', '.join(f'{visible(name)} ({roles[name]})' for name in rest)}"
    if agreement.several:
        yield overlapping(agreement.several, whole.pairs, str(agreement.by))


_MOST_PAIRINGS = 3  # that a note lists


def _start_notes(agreement: AgreementFigures) -> Iterator[str]:
    """Yield on how many pairs edit models are based, if annotators were shown different starts."""
    if agreement.initial:
        start = repr(agreement.initial)
    else:
        start = "nothing"
    short = short_names(agreement.annotators)
    people = [two for two in agreement.of("annotators") if two.beyond]
    some: list[str] = []
    none: list[str] = []
    for two in people:
        who = tables.label(two, short)
        pairs = two.sections[0].pairs
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
    more = len(names) - _MOST_PAIRINGS
    listed = ", ".join(names[:_MOST_PAIRINGS])
    return f"{listed} and {more} more" if more > 0 else listed


def _kappa_over(agreement: AgreementFigures) -> str:
    if tables.all_given(agreement.of("annotators")):
        return "the links that both were given"
    if agreement.options.ignore_identical:
        return "cells of different words"
    return "all cells"


def legend(agreement: AgreementFigures, answer: Answer, shown: Sequence[Sheet]) -> str:
    """Return the legend of the columns and of the short names of annotators."""
    options = agreement.options
    models = tables.chance_models(agreement.of("annotators"))
    keys = set()
    for table in shown:
        for column in table.columns:
            keys.add(column.key)
    parts = list[str]()
    rows = [row for table in shown for row in table.rows]
    bounded = [row for row in rows if any("[" in cell.text for cell in row)]
    if options.bootstrap != "none" and bounded:
        share = f"{100 * options.confidence:g}%"
        parts.append(f"In brackets: {share} intervals over sentence pairs ({INTERVALS}).")
        if any(row[0].text == tables.LINKS["eq2"] for row in bounded):
            parts.append("That of sure ~ all is too narrow if few pairs have most sure links.")
    if "used" in keys:
        parts.append(f"used: pairs that C is based on, of {agreement.together[0].used}.")
    if agreement.initial:
        initial = repr(agreement.initial)
    else:
        initial = "an empty alignment"
    closed = "chance draws random sets of links of the same sizes"
    if not agreement.initial:
        closed += " (if the annotators corrected an automatic alignment, name it with initial)"
    says = {
        "edit": f"chance edits {initial} at one rate",
        "edit-split": f"chance edits {initial} at separate rates for adding and deleting",
        "edit-strata": "separate rates for adding and deleting, and for equal and other words",
        CLOSED: closed,
    }
    if models := [model for model in models if f"C_{model}" in keys]:
        parts.append("; ".join(f"{CHANCE_NAMES[model]}: {says[model]}" for model in models) + ".")
    if "kappa" in keys:
        parts += [f"kappa: {_kappa_over(agreement)}."]
    short = [f"{short} is {visible(name)}" for name, short in answer.names.items() if short != name]
    notes = [", ".join(short), *agreement_notes(agreement)]
    return " ".join([*parts, *(f"{note}." for note in notes if note)])


def fleiss_line(agreement: AgreementFigures) -> Iterator[str]:
    """Yield Fleiss' kappa of three or more annotators."""
    whole = agreement.together[0]
    if len(agreement.annotators) > 2 and whole.fleiss is not None:
        number = tables.value(whole.fleiss.kappa, whole.intervals.get("fleiss.kappa"))
        shown = Column("", "coefficient").show(number).text
        pairs = how_many(whole.fleiss.pairs, "pair")
        yield f"Fleiss' kappa of all {len(agreement.annotators)}: {shown}, in {pairs}"


def caution_lines(
    agreement: AgreementFigures, names: Mapping[str, str], *, whole: bool
) -> list[str]:
    """Return the cautions: the whole texts, or one line for each of the first."""
    if whole:
        return [str(caution) for caution in agreement.cautions]
    every = [two.name for two in agreement.of("annotators")]
    lines = [f"{x.code}{_some(x.pairings, every)}: {x.brief}" for x in agreement.cautions]
    for name, short in names.items():
        if name != short:
            lines = [line.replace(name, short) for line in lines]
    more = len(lines) - _MOST_CAUTIONS
    return [*lines[:_MOST_CAUTIONS], *([f"and {more} more: see the table cautions"] * (more > 0))]


def _some(pairings: Sequence[str], every: Sequence[str]) -> str:
    """Return which pairings of annotators a caution concerns; nothing if it concerns all."""
    some = [name for name in pairings if name in every]
    if len(some) < 3:
        shown = "; ".join(some)
    else:
        shown = f"{len(some)} of {len(every)} pairings"
    return f" ({shown})" if 0 < len(some) < len(every) else ""


# the report
def draw_report(
    agreement: AgreementFigures,
    answer: Answer,
    medium: str,
    asked: Sequence[str] | str | None,
    label: str,
    more: tuple[str, str] = IN_PYTHON,
) -> str:
    """Return the report in a medium: the default one, some tables, or all."""
    written = get_medium(medium)
    whole = asked == "all"
    if isinstance(asked, str) and not whole:
        raise OptionError(f"give the tables as a list, not as the string {asked!r}")
    if asked is None and medium == "latex":
        return latex_table(agreement, answer, label)
    cautions = caution_lines(agreement, answer.names, whole=asked is not None)
    lines = [" ".join(answer.sentences), f"Report: {answer.report}"]
    lines = str(answer).split("\n") if medium == "text" else lines
    if whole:
        lines += agreement_head(agreement)
        shown = [table.sheet() for table in tables.agreement_tables(agreement)]
        return written.report(Report(lines, shown, cautions, agreement.signature, "Cautions"))
    if asked is not None:
        check_tables(asked)
        shown = []
        for name in dict.fromkeys(asked):
            if name in tables.TABLES:
                shown.extend(_sheets(agreement, name))
        kept = cautions if "cautions" in asked else []
        return written.report(Report([], shown, kept, "", "Cautions")).strip("\n")
    mains = []
    for name in _MAIN:
        mains.extend(_sheets(agreement, name))
    below = [legend(agreement, answer, mains), *fleiss_line(agreement)]
    first, *rest = (Table("", (), (), line).sheet() for line in below)
    others = [*tables.groups_table(agreement), *tables.others_table(agreement)]
    sheets = [*mains, first, *(table.sheet() for table in others), *rest]
    more_tables = {name: made for name, made in tables.TABLES.items() if name not in _MAIN}
    names = [name for name, made in more_tables.items() if any(made(agreement))]
    if cautions:
        names += ["cautions"]
    between, last = more
    last = last.format(between.join(names))
    return written.report(Report(lines, sheets, cautions, last, "Cautions"))


def _sheets(agreement: AgreementFigures, name: str) -> list[Sheet]:
    """Return the tables with a name, or a line that there are none."""
    none = Table("", (), (), f"{name}: this agreement has no such figures")
    return [table.sheet() for table in tables.TABLES[name](agreement)] or [none.sheet()]


def latex_table(agreement: AgreementFigures, answer: Answer, label: str) -> str:
    """Return the table for a paper: the pairings for all links, then for sure links."""
    options = agreement.options
    quoted = answer.quoted
    names = list(answer.names.values())
    whole = tables.main_table(agreement, "words", narrow=False)
    quote = f"C_{quoted.model}" if quoted else ""
    left = [x.key for x in whole.columns if x.key.startswith("C_") and x.key != quote]
    kept = tables.without_columns(whole, left if quoted else [*left, "used"])
    columns = [
        replace(
            x,
            right=x.key in ("precision", "recall", "kappa", "used") or bool(x.span),
            latex="$C$" if x.key == quote else x.latex,
        )
        for x in kept.columns
    ]
    rows = [row for row in kept.rows if row[0] != tables.LINKS["eq2"]]
    tabular = Table("", columns, rows).show("latex")
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
        if before:
            listed = f"{', '.join(before)} and {last}"
        else:
            listed = last
        parts.append(f": precision and recall with {latex_escape(reference)} as reference, ")
        parts.append(f"{listed}.")
        if options.bootstrap != "none":
            parts.append(rf" In brackets: {100 * options.confidence:g}\% intervals ({INTERVALS}).")
        parts += [" $n$: pairs that $C$ is based on."] * ("used" in keys)
    else:
        parts.append(": F1 of each with the others, in percent.")
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            f"% {visible(agreement.signature)}",
            r"\begin{table}\centering\small",
            rf"\caption{{{''.join(parts)}}}",
            rf"\label{{tab:{re.sub(r'[^a-zA-Z0-9.-]+', '-', label)}}}",
            tabular,
            r"\end{table}",
        ]
    )
