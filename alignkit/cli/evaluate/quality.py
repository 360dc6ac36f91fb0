"""Measure how well a crowd judged pairs; list annotators to reject, and pairs to judge again.

Pairs that --gold judged are gold questions. An annotator who answered at least ten (--after) and
got fewer than half of them right is rejected. If the kappa of an annotator against the majority of
the others is below .4, the pairs of this annotator are to be judged again, blind, by up to five
others with a kappa above .75 who have not judged them.

With --over, pairs with the same value of an attribute are contexts of one phrase. A context is good
if more than half of the judgments say so, without those of rejected annotators.

For example:
  alignkit quality corpus.jsonl --gold gold --scheme turku --view base
  alignkit quality corpus.jsonl --gold gold --scheme binary --sequential --csv
  alignkit quality corpus.jsonl --gold gold --scheme parade --like parade
  alignkit quality corpus.jsonl --gold gold --scheme binary --over phrase --good-in majority
"""

from __future__ import annotations

from alignkit.agreement.judgments.options import QualityOptions
from alignkit.cli.common import inputs, schemes
from alignkit.cli.common.inputs import Input
from alignkit.cli.common.media import add_forms, print_findings
from alignkit.cli.corpora.convert import write_whole
from alignkit.cli.options import add_fields, made
from alignkit.cli.parser import Options, Parser, add_options, saved_file
from alignkit.errors import OptionError
from alignkit.io.inputs import naming


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit quality`."""
    add_options(parser, "CORPUS  corpus of judged pairs; - is stdin", CORPUS="input")
    groups = add_fields(parser, QualityOptions)
    add_options(
        groups["rules"],
        """
        --consensus FILE  with --model, also write the pairs as JSON lines with the most probable
            label, as annotator `model`, and its probability, as attribute `model.probability`
        """,
        consensus=saved_file,
    )
    add_forms(parser.add_argument_group("output"))
    inputs.add_reading_arguments(parser)


def run(options: Options) -> None:
    """Print how well measures of quality agree with judgments of people."""
    from alignkit.agreement.crowd import crowd_quality

    if options.consensus is not None and not (options.model and options.view == "full"):
        raise OptionError("--consensus writes labels of the model: add --model, leave out --view")
    if options.scheme is not None:
        made(QualityOptions, options)  # a wrong option is an error before anything is read
    read = Input.of(options)
    schemes.settle_scheme(options, read)
    corpus = read.corpus(judged=True)
    with naming(options.input):
        quality = crowd_quality(corpus, **vars(made(QualityOptions, options)))
    if options.consensus is not None and quality.settled is not None:
        write_whole(quality.settled, options.consensus, "alignkit-jsonl")
    print_findings(quality, options, title="Quality of a crowd")
