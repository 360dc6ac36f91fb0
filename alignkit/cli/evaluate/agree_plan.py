"""Plan how many pairs two annotators must both annotate.

CORPUS is a pilot: 30 pairs or more that two annotators did. The plan of every two annotators says
how many pairs in all are enough for a 95% interval of the half width W, with a probability of about
80%.

For example:
  alignkit agree-plan pilot.xml --half-width 0.02
  alignkit agree-plan pilot.xml --annotators anna ben --level cells.possible --statistic kappa
  alignkit agree-plan anna.align ben.align --source en.txt --target de.txt --json
"""

from __future__ import annotations

from alignkit.agreement.options import PlanOptions
from alignkit.cli.common import inputs
from alignkit.cli.common.annotators import add_corpora, add_joining, read_corpora
from alignkit.cli.common.media import add_media, print_result
from alignkit.cli.options import add_fields, made
from alignkit.cli.parser import Options, Parser
from alignkit.io.inputs import naming

RARE = "--csv --in-order --markdown"


def add_arguments(parser: Parser) -> None:
    add_corpora(parser)
    groups = add_fields(parser, PlanOptions)
    add_joining(groups["annotators"])
    add_media(parser.add_argument_group("output"))
    inputs.add_reading_arguments(parser)


def run(options: Options) -> None:
    from alignkit.agreement.planning import plan_pairs

    asked = made(PlanOptions, options)
    corpus = read_corpora(options)
    with naming(*options.corpus):
        plans = plan_pairs(corpus, **vars(asked))
    print_result(plans, options)
