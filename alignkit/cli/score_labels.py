"""Score judgments of sentence pairs against a reference.

Precision, recall and F1 of each label and flag, accuracy, macro and weighted F1, the confusion;
every two systems are compared by McNemar's exact test. Predictions of any program come in by
--predictions: lines of an id and a label with a tab between, or a label a line in the order of REF.

For example:
  alignkit score-labels system.tsv gold.tsv --compare other.tsv --scheme turku --view binary
  alignkit score-labels corpus.jsonl --hyp-annotator a b --ref-annotator gold --scheme turku
  alignkit score-labels gold.jsonl --predictions bert.tsv --scheme binary
"""

from __future__ import annotations

import argparse

from alignkit.cli.findings import add_forms, print_findings
from alignkit.cli.inputs import add_reading_arguments
from alignkit.cli.judged_sides import add_judged, judged_sides
from alignkit.cli.order import add_order_argument
from alignkit.cli.two_sides import HYPOTHESIS, REFERENCE, add_side


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("hypothesis", metavar="[HYP]", help="the judgments to score; - is stdin")
    parser.add_argument(
        "reference",
        nargs="?",
        metavar="REF",
        help="the judgments to score against; where it stands alone, it holds those to score too, "
        "by --hyp-annotator, or these come by --predictions",
    )
    for side, long in ((HYPOTHESIS, "hypothesis"), (REFERENCE, "reference")):
        add_side(parser, side, long, several=side == HYPOTHESIS)
    group = parser.add_argument_group("what is scored")
    group.add_argument(
        "--compare", nargs="+", default=[], metavar="HYP2", help="other systems, read as HYP is"
    )
    add_judged(group, required=True)
    add_order_argument(group)
    add_forms(parser.add_argument_group("what is printed"))
    add_reading_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from alignkit.profiles import score_labels

    judged = judged_sides(options)
    scores = score_labels(
        judged.corpus,
        judged.systems,
        judged.reference,
        scheme=options.scheme,
        view=options.view,
        lenient=options.lenient_labels,
        rewrites=options.rewrites,
        unflagged=judged.unflagged,
    )
    print_findings(scores, options, title="Scores of labels")
    return 0
