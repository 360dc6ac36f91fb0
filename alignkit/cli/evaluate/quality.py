"""Measure how well a crowd judged pairs: whom to reject, and which pairs others should judge again.

Pairs that --gold judged are gold questions. An annotator who answered at least ten and got fewer
than half of them right is rejected. If the kappa of an annotator against the majority of the others
is below .4, the pairs of this annotator are to be judged again, blind, by up to five others with a
kappa above .75 who have not judged them.

With --over, pairs with the same value of an attribute are contexts of one phrase. A context is good
if more than half of the judgments say so, without those of rejected annotators.

For example:
  alignkit quality corpus.jsonl --gold gold --scheme turku --view base
  alignkit quality corpus.jsonl --gold gold --scheme binary --sequential --csv
  alignkit quality corpus.jsonl --gold gold --scheme parade --like parade
  alignkit quality corpus.jsonl --gold gold --scheme binary --over phrase --good-in majority
"""

from __future__ import annotations

import argparse

from alignkit.cli.common import inputs
from alignkit.cli.common.inputs import Input
from alignkit.cli.common.media import add_forms, print_findings
from alignkit.errors import OptionError
from alignkit.io.inputs import naming


# fmt: off
def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("input", metavar="CORPUS", help="corpus of judged pairs; - is stdin")
    group = parser.add_argument_group("annotators and judgments")
    add = group.add_argument
    add("--gold", metavar="NAME", required=True, help="annotator with the correct judgments")
    add("--annotators", nargs="+", metavar="A",
        help="annotators of the crowd (default: all people who judged)")
    inputs.add_scheme_argument(group)
    inputs.add_view_argument(group)
    inputs.add_rewrites_argument(group)
    add = parser.add_argument_group("rules").add_argument
    add("--sequential", action="store_true",
        help="check annotators after each gold question from the tenth on (default: once, at the "
        "end)")
    add("--like", choices=("parade",),
        help="parade: compare annotators with a consensus that includes them (default: only with "
        "the others)")
    add = parser.add_argument_group("good phrases").add_argument
    add("--over", metavar="ATTRIBUTE", help="attribute with the phrase of a pair")
    add("--good", nargs="+", metavar="LABEL",
        help="labels for a good context (default: those with 1 in the view binary)")
    add("--good-in", choices=("any", "majority", "all"),
        help="contexts in which a good phrase must be good (default: any)")
    add_forms(parser.add_argument_group("output"))
    inputs.add_reading_arguments(parser)


# fmt: on
def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from alignkit.agreement.crowd import crowd_quality

    if options.over is None and (options.good or options.good_in):
        flag = "--good" if options.good else "--good-in"
        raise OptionError(f"{flag} is for phrases; name their attribute with --over")
    read = Input(options.input, options.format, inputs.reading_options(options))
    inputs.settle_scheme(options, read)
    corpus = read.corpus(judged=True)
    with naming(options.input):
        quality = crowd_quality(
            corpus, options.annotators, gold=options.gold, scheme=options.scheme, view=options.view,
            sequential=options.sequential, like=options.like,
            over=options.over, good=options.good, good_in=options.good_in or "any",
            lenient_labels=options.lenient_labels, rewrites=options.rewrites,
        )  # fmt: skip
    print_findings(quality, options, title="Quality of a crowd")
    return 0
