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
  alignkit quality corpus.jsonl --gold gold --scheme parade --as parade
  alignkit quality corpus.jsonl --gold gold --scheme binary --over phrase --good-in majority
"""

from __future__ import annotations

import argparse

from alignkit.cli.common.inputs import (
    Input,
    add_reading_arguments,
    add_rewrites_argument,
    add_scheme_argument,
    reading_options,
)
from alignkit.cli.common.media import add_forms, print_findings
from alignkit.errors import OptionError
from alignkit.model.choice import naming


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("input", metavar="CORPUS", help="the judged pairs; - is stdin")
    group = parser.add_argument_group("who is looked at")
    group.add_argument(
        "--gold", metavar="NAME", required=True, help="the annotator whose judgments are right"
    )
    group.add_argument(
        "--annotators", nargs="+", metavar="A", help="the crowd (default: all others who judged)"
    )
    add_scheme_argument(group, "of the judgments", required=True)
    group.add_argument("--view", default="full", metavar="V", help="view of it (default: full)")
    add_rewrites_argument(group)
    group = parser.add_argument_group("by which rules")
    group.add_argument(
        "--sequential",
        action="store_true",
        help="look after each gold question from the tenth on, as a running project does "
        "(default: once, over all)",
    )
    group.add_argument(
        "--as",
        dest="like",
        choices=("parade",),
        help="parade: judge again by the kappa against the consensus that contains the annotator "
        "(default: by that against the others)",
    )
    group = parser.add_argument_group("good phrases")
    group.add_argument("--over", metavar="ATTRIBUTE", help="the attribute that names the phrase")
    group.add_argument(
        "--good",
        nargs="+",
        metavar="LABEL",
        help="the labels that say that it is good (default: what the view binary calls 1)",
    )
    group.add_argument(
        "--good-in",
        choices=("any", "majority", "all"),
        help="in how many of its contexts a good phrase is good (default: any)",
    )
    add_forms(parser.add_argument_group("what is printed"))
    add_reading_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from alignkit.agreement.crowd import crowd_quality

    if options.over is None and (options.good or options.good_in):
        flag = "--good" if options.good else "--good-in"
        raise OptionError(f"{flag} is about phrases; name the attribute that names them by --over")
    corpus = Input(options.input, options.format, reading_options(options)).corpus(judged=True)
    with naming(options.input):
        quality = crowd_quality(
            corpus,
            options.annotators,
            gold=options.gold,
            scheme=options.scheme,
            view=options.view,
            sequential=options.sequential,
            by="consensus" if options.like == "parade" else "others",
            over=options.over,
            good=options.good,
            good_in=options.good_in or "any",
            lenient=options.lenient_labels,
            rewrites=options.rewrites,
        )
    print_findings(quality, options, title="Quality of a crowd")
    return 0
