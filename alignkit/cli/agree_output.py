"""Print how far annotators agree: as tables, JSON, CSV or LaTeX."""

from __future__ import annotations

import argparse

from alignkit.agreement import FullAgreement, full_json, render_full, render_report
from alignkit.agreement.full_records import COLUMNS, agreement_records
from alignkit.agreement.full_tables import agreement_tables
from alignkit.cli.messages import json_text, visible_lines
from alignkit.corpus import Corpus
from alignkit.report.csv_table import csv_table
from alignkit.report.latex import latex_table
from alignkit.visible import visible

__all__ = ["agreement_output"]


def agreement_output(full: FullAgreement, corpus: Corpus, options: argparse.Namespace) -> str:
    """Return what the options ask for."""
    if options.json:
        return json_text(full_json(full))
    if options.csv:
        return csv_table(COLUMNS, agreement_records(full))
    if options.latex:
        return visible_lines(_latex(full))
    return visible_lines(_text(full, corpus))


def _text(full: FullAgreement, corpus: Corpus) -> str:
    if full.settings is not None:
        return render_full(full)
    systems = [f"{table}\n" for table in agreement_tables(full) if table.title.startswith("Human")]
    return "\n".join([render_report(full.report), *systems, _how_to_go_on(full, corpus)])


def _latex(full: FullAgreement) -> str:
    parts = [
        latex_table(
            [("", ""), ("", "pairs"), *table.headings],
            [[*label, *row] for label, row in zip(table.labels, table.body, strict=True)],
            title=table.title,
        )
        for table in agreement_tables(full)
    ]
    signature = full.signature or full.report.signature
    return "\n\n".join([*parts, f"% {signature}"])


def _how_to_go_on(full: FullAgreement, corpus: Corpus) -> str:
    """Say what C needs, and who could be meant."""
    others = [name for name in corpus.aligners if name not in full.report.annotators]
    who = f"here perhaps one of {visible(', '.join(others))}"
    if not others:
        who = "'alignkit align' makes one, 'merge' adds it"
    return (
        "C, the article's agreement beyond chance, needs the automatic alignment that annotators\n"
        f"started from: name it by --initial NAME ({who})"
    )
