"""Read the sheets that judges have filled, and print what they found.

For each origin of the items the shares of the judgments, each judge's with Wilson's interval, those
of all with a bootstrap over items; how far every two judges agree, with Cohen's kappa. Of phrases,
what precision would be if the gold standard had the phrase pairs that are judged correct; of pairs,
the shares upheld of rewrites and of plain pairs, and their difference with Newcombe's interval. The
sheets may come back from a spreadsheet as TSV or CSV, in any order. Rows without a judgment, and
items judged twice, are told with file and line; a damaged sheet is an error.

For example:
  alignkit audit read audit/sheet-A.tsv audit/sheet-B.tsv --key audit/key.json
  alignkit audit read audit/*.csv --key secret.json --latex
  alignkit audit read sheet-A.tsv --key audit/key.json --json
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from typing import TYPE_CHECKING

from alignkit.cli.common.files import refuse_second_reading
from alignkit.cli.common.media import add_media, drawing_of, print_result
from alignkit.cli.common.messages import say
from alignkit.cli.evaluate.score import add_draws, settle_draws
from alignkit.cli.parser import add_options

if TYPE_CHECKING:
    from alignkit.audit.filled import SheetFinding


_MOST = 20  # findings of a kind that are printed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    sheets = "the filled sheets, TSV or CSV; - is stdin"
    parser.add_argument("inputs", metavar="SHEET", nargs="+", help=sheets)
    add_options(parser, """
        --key KEY  the key that was written with them
        --by GROUP  what is upheld and how far judges agree for each value of this attribute too; of
            pairs also day, week, month and judgment (default: that by which items were drawn)
        """, key={"required": True})  # fmt: skip
    add_draws(parser.add_argument_group("how sure one can be"), "of the bootstrap over items")
    add_media(parser.add_argument_group("what is printed"))


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    refuse_second_reading(options)
    settle_draws(options)
    from alignkit.audit.result import read_audit

    result = read_audit(options.inputs, options.key, by=options.by, **drawing_of(options))
    kinds: dict[str, list[SheetFinding]] = defaultdict(list)
    for finding in result.filled.findings:
        kinds[finding.kind].append(finding)
    for kind, findings in kinds.items():
        for finding in findings[:_MOST]:
            say(str(finding))
        if len(findings) > _MOST:
            say(f"... {kind}: {len(findings)} in all; --json has them")
    print_result(result, options)
    return 0
