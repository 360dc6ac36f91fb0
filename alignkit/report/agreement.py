"""Show an agreement in every medium: the same tables and the same cautions in each.

The tables are described once, in `agreement_tables`; what stands above them in `agreement_head`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from math import isnan

from alignkit.agreement.beyond_chance.chance import CHANCE_MODELS, ClosedChance
from alignkit.agreement.judgments.result import JudgmentAgreement
from alignkit.agreement.result import Agreement
from alignkit.agreement.result_parts import Figure
from alignkit.brief import overlapping
from alignkit.report.agreement_rows import known
from alignkit.report.chance_tables import edits_table, models_tables, pairs_table
from alignkit.report.coefficient_tables import alpha_tables, cell_tables, fleiss_table
from alignkit.report.medium import Report
from alignkit.report.overlap_tables import (
    compared_tables,
    main_tables,
    precision_recall,
    side_by_side,
)
from alignkit.report.table import Table, get_medium
from alignkit.report.table_csv import csv_lines

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
    if agreement.options.universe == "judged":
        lines.append(
            "Judged cells: kappa, AC1 and C by edits are over the cells that both judged; F1, "
            "alpha and Fleiss' kappa are over all"
        )
    if agreement.several:
        lines.append(f"  {overlapping(agreement.several, first.pairs, str(agreement.by))}")
    return [*lines, *_chance(agreement), *_certainty(agreement)]


def _chance(agreement: Agreement) -> Iterator[str]:
    for name in dict.fromkeys(
        pairing.chance for pairing in agreement.of("annotators") if pairing.beyond
    ):
        model = CHANCE_MODELS[name]
        start = f"; initial alignment: {agreement.initial or 'empty'}"
        closed = isinstance(model, ClosedChance)
        yield f"Chance ({name}): {model.description}{'' if closed else start}"


def _certainty(agreement: Agreement) -> Iterator[str]:
    options = agreement.options
    if not all(isnan(figure.low) for figure in agreement.figures()):
        refitted = ", edit models refitted" if options.bootstrap == "refit" else ""
        share = f"{100 * options.confidence:g}%"
        yield f"In brackets: {share} of bootstrap resamples of sentence pairs{refitted}"
    results = [
        one
        for pairing in agreement.of("annotators")
        if pairing.chance in pairing.beyond
        for one in pairing.beyond[pairing.chance].values()
    ]
    drawn = sorted({one.samples for one in results if one.samples})
    if drawn:
        span = "-".join(str(number) for number in dict.fromkeys((drawn[0], drawn[-1])))
        errors = known([one.C_error for one in results])
        error = f"; Monte-Carlo error of C at most {max(errors):.2g}" if errors else ""
        yield f"Samples of each sentence pair: {span}{error}"


def agreement_report(agreement: Agreement, medium: str = "text") -> str:
    """Return the report in one of `alignkit.report.table.MEDIA`, without a line end at its end."""
    written = get_medium(medium)
    report = Report(
        agreement_head(agreement),
        [table.sheet() for table in agreement_tables(agreement)],
        [str(caution) for caution in agreement.cautions],
        agreement.signature,
    )
    return written.report(report)


def agreement_csv(agreement: Agreement | JudgmentAgreement) -> str:
    """Return every figure as a row of CSV; the columns are the fields of `Figure`."""
    names = [option.name for option in fields(Figure)]
    rows: list[list[object]] = [list(names)]
    rows += [list(record.values()) for record in agreement.to_records()]
    for caution in agreement.cautions:
        said = {"kind": "caution", "statistic": caution.code, "reason": str(caution)}
        rows.append([said.get(name, "") for name in names])
    signed = {"kind": "signature", "reason": agreement.signature}
    rows.append([signed.get(name, "") for name in names])
    return csv_lines(rows)
