"""Show an agreement in every medium: the same tables and the same cautions in each.

The tables are described once, in `agreement_tables`; what stands above them in `agreement_head`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from textwrap import fill

from alignkit.agreement.beyond_chance.chance import CHANCE_MODELS, ClosedChance
from alignkit.agreement.result import Agreement, Figure
from alignkit.report.agreement_json import agreement_json
from alignkit.report.agreement_rows import known
from alignkit.report.chance_tables import edits_table, models_tables, pairs_table
from alignkit.report.characters import safe_text
from alignkit.report.coefficient_tables import alpha_tables, cell_tables, fleiss_table
from alignkit.report.overlap_tables import (
    compared_tables,
    main_tables,
    precision_recall,
    side_by_side,
)
from alignkit.report.table import Table
from alignkit.report.table_csv import csv_lines
from alignkit.report.table_latex import comment
from alignkit.report.table_markdown import paragraph
from alignkit.visible import visible

__all__ = [
    "CARE",
    "agreement_csv",
    "agreement_head",
    "agreement_html",
    "agreement_json",
    "agreement_latex",
    "agreement_markdown",
    "agreement_tables",
    "agreement_text",
]

CARE = "Read with care"
"""The heading of the cautions."""

_TABLES: tuple[Callable[[Agreement], Iterator[Table]], ...] = (
    main_tables,
    side_by_side,
    compared_tables,
    models_tables,
    pairs_table,
    edits_table,
    precision_recall,
    cell_tables,
    alpha_tables,
    fleiss_table,
)
_WIDTH = 100


def agreement_tables(agreement: Agreement) -> list[Table]:
    """Return the tables of an agreement, in the order in which a reader wants them."""
    return [table for tables in _TABLES for table in tables(agreement)]


def agreement_head(agreement: Agreement) -> list[str]:
    """Return lines of plain text that say who is compared, on what, and what the brackets are."""
    first = agreement.together[0]
    pairs = "sentence pair" if first.pairs == 1 else "sentence pairs"
    lines = [
        f"Agreement of {', '.join(agreement.annotators)}: {first.pairs} {pairs}, {first.used} "
        "annotated by two or more"
    ]
    lines += [f"  {count} {reason}" for reason, count in first.left_out.items()]
    return [*lines, *_chance(agreement), *_certainty(agreement)]


def _chance(agreement: Agreement) -> Iterator[str]:
    for name in dict.fromkeys(one.chance for one in agreement.of("annotators") if one.beyond):
        model = CHANCE_MODELS[name]
        start = f"; initial alignment: {agreement.initial or 'empty'}"
        closed = isinstance(model, ClosedChance)
        yield f"Chance ({name}): {model.description}{'' if closed else start}"


def _certainty(agreement: Agreement) -> Iterator[str]:
    options = agreement.options
    if options.bootstrap != "none":
        refitted = ", edit models refitted" if options.bootstrap == "refit" else ""
        share = f"{100 * options.confidence:g}%"
        yield f"In brackets: {share} of bootstrap resamples of sentence pairs{refitted}"
    found = [
        one
        for pairing in agreement.of("annotators")
        if pairing.chance in pairing.beyond
        for one in pairing.beyond[pairing.chance].values()
    ]
    drawn = sorted({one.samples for one in found if one.samples})
    if drawn:
        span = "-".join(str(number) for number in dict.fromkeys((drawn[0], drawn[-1])))
        errors = known([one.C_error for one in found])
        error = f"; Monte-Carlo error of C at most {max(errors):.2g}" if errors else ""
        yield f"Samples of each sentence pair: {span}{error}"


def agreement_text(agreement: Agreement) -> str:
    """Return the report as plain text, safe for a terminal; it ends without a line end."""
    tables = (
        replace(table, title=_filled(table.title), note=_filled(table.note)).text()
        for table in agreement_tables(agreement)
    )
    blocks = ["\n".join(map(visible, agreement_head(agreement))), *tables]
    if agreement.cautions:
        lines = (
            fill(
                f"- {visible(str(one))}",
                _WIDTH,
                subsequent_indent="  ",
                break_on_hyphens=False,
                break_long_words=False,
            )
            for one in agreement.cautions
        )
        blocks.append("\n".join([CARE, *lines]))
    return "\n\n".join([*blocks, visible(agreement.signature)])


def _filled(text: str) -> str:
    lines = (fill(line, _WIDTH, break_on_hyphens=False) for line in text.split("\n"))
    return "\n".join(lines)


def agreement_markdown(agreement: Agreement) -> str:
    """Return the report in Markdown."""
    blocks = ["  \n".join(map(_line, agreement_head(agreement)))]
    blocks += [table.markdown() for table in agreement_tables(agreement)]
    if agreement.cautions:
        lines = (f"- {_line(str(one))}" for one in agreement.cautions)
        blocks.append("\n".join([f"**{CARE}**", "", *lines]))
    return "\n\n".join([*blocks, _line(agreement.signature)])


def _line(text: str) -> str:
    return paragraph(" ".join(text.split()))


def agreement_latex(agreement: Agreement) -> str:
    r"""Return a `tabular` for each table, for ``\usepackage{booktabs}``.

    What stands around the tables, the cautions too, is in comments.
    """
    blocks = [r"% needs \usepackage{booktabs}", _comments(agreement_head(agreement))]
    blocks += [table.latex() for table in agreement_tables(agreement)]
    if agreement.cautions:
        blocks.append(_comments([CARE, *(f"- {one}" for one in agreement.cautions)]))
    return "\n\n".join([*blocks, comment(agreement.signature)])


def _comments(lines: Iterable[str]) -> str:
    return comment("\n".join(map(visible, lines)))


def agreement_html(agreement: Agreement) -> str:
    """Return the report as a fragment of HTML, for a notebook; `alignkit.report.page` has more."""
    head = "".join(f"<p>{safe_text(line.strip())}</p>\n" for line in agreement_head(agreement))
    tables = "".join(table.html() for table in agreement_tables(agreement))
    cautions = "".join(f"<li>{safe_text(str(one))}</li>\n" for one in agreement.cautions)
    care = f"<p><b>{CARE}</b></p>\n<ul>\n{cautions}</ul>\n" if cautions else ""
    signed = f"<p><code>{safe_text(agreement.signature)}</code></p>\n"
    return f"<style>{Table.style()}</style>\n<div>\n{head}{tables}{care}{signed}</div>\n"


def agreement_csv(agreement: Agreement) -> str:
    """Return every figure as a row of CSV; the columns are the fields of `Figure`.

    Behind the figures comes a row for each caution, and one for the signature: of the kinds
    ``caution`` and ``signature``, without a value, the text in the column of reasons.
    """
    names = [one.name for one in fields(Figure)]
    rows: list[list[object]] = [list(names)]
    rows += [list(record.values()) for record in agreement.to_records()]
    for caution in agreement.cautions:
        said = {"kind": "caution", "statistic": caution.code, "reason": str(caution)}
        rows.append([said.get(name, "") for name in names])
    signed = {"kind": "signature", "reason": agreement.signature}
    rows.append([signed.get(name, "") for name in names])
    return csv_lines(rows)
