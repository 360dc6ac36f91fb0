"""Measure the quality of a crowd that judged pairs: whom to reject, what to judge again by whom.

Pairs that --gold judged are gold questions: an annotator with fewer than half of them right, of ten
or more, is rejected. The pairs of annotators whose kappa against the majority of the others is
below .4 are to be judged again, blind, by up to five others above .75, none of whom has judged
them.

With --over, pairs with the same value of an attribute are contexts of one phrase: a context is good
where more than half of the judgments of annotators who are not rejected say so.

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
    parser.add_argument("input", metavar="CORPUS", help="the judged pairs; - is stdin")
    group = parser.add_argument_group("who is looked at")
    add = group.add_argument
    add("--gold", metavar="NAME", required=True, help="the annotator whose judgments are right")
    add("--annotators", nargs="+", metavar="A", help="the crowd (default: all people who judged)")
    inputs.add_scheme_argument(group, "of the judgments", required=True)
    add("--view", default="full", metavar="V", help="view of it (default: full)")
    inputs.add_rewrites_argument(group)
    add = parser.add_argument_group("by which rules").add_argument
    add("--sequential", action="store_true",
        help="look after each gold question from the tenth on, as a running project does "
        "(default: once, over all)")
    add("--like", choices=("parade",),
        help="parade: judge again by the kappa against the consensus that contains the annotator "
        "(default: by that against the others)")
    add = parser.add_argument_group("good phrases").add_argument
    add("--over", metavar="ATTRIBUTE", help="the attribute that names the phrase")
    add("--good", nargs="+", metavar="LABEL",
        help="the labels that say that it is good (default: what the view binary calls 1)")
    add("--good-in", choices=("any", "majority", "all"),
        help="in how many of its contexts a good phrase is good (default: any)")
    add_forms(parser.add_argument_group("what is printed"))
    inputs.add_reading_arguments(parser)


# fmt: on
def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from alignkit.agreement.crowd import crowd_quality

    if options.over is None and (options.good or options.good_in):
        flag = "--good" if options.good else "--good-in"
        raise OptionError(f"{flag} is about phrases; name the attribute that names them by --over")
    corpus = Input(options.input, options.format, inputs.reading_options(options)).corpus(
        judged=True
    )
    with naming(options.input):
        quality = crowd_quality(
            corpus, options.annotators, gold=options.gold, scheme=options.scheme, view=options.view,
            sequential=options.sequential, like=options.like,
            over=options.over, good=options.good, good_in=options.good_in or "any",
            lenient_labels=options.lenient_labels, rewrites=options.rewrites,
        )  # fmt: skip
    print_findings(quality, options, title="Quality of a crowd")
    return 0
