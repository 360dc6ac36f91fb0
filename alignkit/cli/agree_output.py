"""Print how far annotators agree: as JSON, CSV or in a medium of tables, and write the page."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from alignkit.cli.messages import json_text
from alignkit.output import replacing
from alignkit.report.agreement import agreement_csv, agreement_report
from alignkit.report.agreement_json import agreement_json
from alignkit.visible import visible

if TYPE_CHECKING:
    from alignkit.agreement import Agreement
    from alignkit.report.word_kinds import FunctionWords


def agreement_output(agreement: Agreement, options: argparse.Namespace) -> str:
    """Return what the options ask for."""
    if options.json:
        return json_text(agreement_json(agreement))
    if options.csv:
        return agreement_csv(agreement)
    if options.medium != "text":
        return agreement_report(agreement, options.medium)
    return "\n\n".join([agreement_report(agreement), *_how_to_go_on(agreement)])


def draw(agreement: Agreement, options: argparse.Namespace, words: FunctionWords | None) -> None:
    """Write the page and the figures, where they are asked for."""
    if options.html:
        from alignkit.report.page import draw_agreement_page

        page = draw_agreement_page(agreement, function_words=words)
        with replacing(options.html) as out:
            out.writelines(page)
    if options.plot:
        from alignkit.report.plots import draw_plots

        draw_plots(agreement, options.plot)


def _how_to_go_on(agreement: Agreement) -> list[str]:
    """Say what the article's C needs, where no edits are known and no links were given."""
    models = (levels for pairing in agreement.pairings for levels in pairing.beyond.values())
    edited = any(one.rates for levels in models for one in levels.values())
    if edited or any(caution.code == "given-links" for caution in agreement.cautions):
        return []
    others = [name for name in agreement.corpus.aligners if name not in agreement.annotators]
    who = f"here perhaps one of {visible(', '.join(others))}"
    if not others:
        who = "'alignkit align' makes one, 'merge' adds it"
    return [
        "The article's C takes away what annotators share by editing one automatic alignment:\n"
        f"name the one that they started from by --initial NAME ({who})"
    ]
