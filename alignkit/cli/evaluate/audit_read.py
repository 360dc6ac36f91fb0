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
from alignkit.cli.common.media import add_media, print_result
from alignkit.cli.common.messages import say
from alignkit.cli.evaluate.score import add_draws, settle_draws

if TYPE_CHECKING:
    from alignkit.audit.filled import SheetFinding
    from alignkit.audit.result import AuditResult


_TOLD = 20  # findings of a kind


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "inputs", metavar="SHEET", nargs="+", help="the filled sheets, TSV or CSV; - is stdin"
    )
    parser.add_argument(
        "--key", required=True, metavar="KEY", help="the key that was written with them"
    )
    parser.add_argument(
        "--by",
        metavar="GROUP",
        help="what is upheld and how far judges agree for each value of this attribute too; of "
        "pairs also day, week, month and judgment (default: that by which items were drawn)",
    )
    group = parser.add_argument_group("how sure one can be")
    add_draws(group, "of the bootstrap over items")
    group = parser.add_argument_group("what is printed")
    add_media(group)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    refuse_second_reading(options)
    settle_draws(options, drawn=True, wanting="")
    from alignkit.audit.result import read_audit

    found = read_audit(
        options.inputs,
        options.key,
        by=options.by,
        confidence=options.confidence,
        resamples=options.resamples,
        seed=options.seed,
    )
    _tell(found)
    print_result(found, options)
    return 0


def _tell(result: AuditResult) -> None:
    """Tell on stderr what is missing or odd, each with file and line; the first of many."""
    kinds: dict[str, list[SheetFinding]] = defaultdict(list)
    for one in result.filled.findings:
        kinds[one.kind].append(one)
    for kind, findings in kinds.items():
        for one in findings[:_TOLD]:
            say(str(one))
        if len(findings) > _TOLD:
            say(f"... {kind}: {len(findings)} in all; --json has them")
