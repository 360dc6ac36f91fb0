"""Read the filled sheets of the judges, and print the results.

For each origin of the items, it prints the shares of the judgments with Wilson's interval, for
each judge and for all judges. For every two judges, it prints their agreement with Cohen's kappa.
For phrases, it computes the precision if the gold standard also had the phrase pairs that are
judged correct. For pairs, it prints the shares upheld of rewrites and of plain pairs, and their
difference with Newcombe's interval. The unit of all intervals is the sentence pair.

A spreadsheet may save the sheets as TSV or CSV, in any order. Rows without a judgment, and items
judged twice, are reported with file and line. A damaged sheet is an error.

For example:
  alignkit audit read audit/sheet-A.tsv audit/sheet-B.tsv --key audit/key.json
  alignkit audit read audit/*.csv --key secret.json --latex
  alignkit audit read sheet-A.tsv --key audit/key.json --json
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from alignkit.cli.common.files import refuse_second_reading
from alignkit.cli.common.media import add_media, drawing_of, print_result
from alignkit.cli.common.messages import say
from alignkit.cli.evaluate.score import add_draws, settle_draws
from alignkit.cli.parser import Options, Parser, add_options

if TYPE_CHECKING:
    from alignkit.audit.filled import SheetFinding


_MOST = 20  # findings of a kind that are printed


def add_arguments(parser: Parser) -> None:
    sheets = "filled sheets, TSV or CSV; - is stdin"
    parser.add_argument("inputs", metavar="SHEET", nargs="+", help=sheets)
    add_options(
        parser,
        """
        --key KEY  key file that was written with the sheets
        --by ATTRIBUTE  add a row for each value of this attribute; with pairs, also day, week,
            month or judgment (default: the attribute by which items were drawn)
        """,
        key={"required": True},
    )
    add_draws(parser.add_argument_group("intervals"), "for the bootstrap over sentence pairs")
    add_media(parser.add_argument_group("output"))


def run(options: Options) -> None:
    """Read filled sheets, and print the results."""
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
