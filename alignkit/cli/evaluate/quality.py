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

import argparse

from alignkit.cli.common import inputs
from alignkit.cli.common.inputs import Input
from alignkit.cli.common.media import add_forms, print_findings
from alignkit.cli.corpora.convert import write_whole
from alignkit.cli.parser import add_options, number, saved_file
from alignkit.errors import OptionError
from alignkit.io.inputs import naming


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `alignkit quality`."""
    add_options(parser, "CORPUS  corpus of judged pairs; - is stdin", CORPUS={"dest": "input"})
    group = parser.add_argument_group("annotators and judgments")
    add_options(
        group,
        """
        --gold NAME  annotator with the correct judgments
        --annotators A...  annotators to check (default: all people who judged)
        """,
        gold={"required": True},
    )
    inputs.add_scheme_argument(group)
    inputs.add_view_argument(group)
    inputs.add_rewrites_argument(group)
    add_options(
        parser.add_argument_group("rules"),
        """
        --sequential  check annotators after each gold question (default: once, at the end)
        --after N  number of gold questions that an annotator must answer before being rejected; not
            of tasks, as in Pavlick et al. 2015 (default: 10)
        --like  parade: compare each annotator with the majority of all, including that annotator
            (default: only with the others)
        --model  estimate for each annotator the probability of giving the right label
        --consensus FILE  with --model, also write the pairs as JSON lines with the most probable
            label, as annotator `model`, and its probability, as attribute `model.probability`
        """,
        consensus={"type": saved_file},
        like={"choices": ("parade",)},
        after={"type": number(1), "default": 10},
    )
    add_options(
        parser.add_argument_group("good phrases"),
        """
        --over ATTRIBUTE  also report which phrases are good; ATTRIBUTE holds the phrase that a pair
            is a context of
        --good LABEL...  labels for a good context (default: those with 1 in the view binary)
        --good-in  contexts in which a good phrase must be good (default: any)
        """,
        good_in={"choices": ("any", "majority", "all")},
    )
    add_forms(parser.add_argument_group("output"))
    inputs.add_reading_arguments(parser)


def run(options: argparse.Namespace) -> None:
    """Print how well measures of quality agree with judgments of people."""
    from alignkit.agreement.crowd import crowd_quality

    if options.over is None and (options.good or options.good_in):
        flag = "--good" if options.good else "--good-in"
        raise OptionError(f"{flag} is for phrases; name their attribute with --over")
    if options.consensus is not None and not (options.model and options.view == "full"):
        raise OptionError("--consensus writes labels of the model: add --model, leave out --view")
    read = Input(options.input, options.format, inputs.reading_options(options))
    inputs.settle_scheme(options, read)
    corpus = read.corpus(judged=True)
    with naming(options.input):
        quality = crowd_quality(
            corpus,
            options.annotators,
            gold=options.gold,
            scheme=options.scheme,
            view=options.view,
            sequential=options.sequential,
            after=options.after,
            like=options.like,
            over=options.over,
            good=options.good,
            good_in=options.good_in or "any",
            lenient_labels=options.lenient_labels,
            rewrites=options.rewrites,
            model=options.model,
        )
    if options.consensus is not None and quality.settled is not None:
        write_whole(quality.settled, options.consensus, "alignkit-jsonl")
    print_findings(quality, options, title="Quality of a crowd")
