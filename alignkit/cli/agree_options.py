"""Declare the options of `alignkit agree`."""

from __future__ import annotations

import argparse

from alignkit.cli.order import add_order_argument
from alignkit.cli.parser import number, output_file

__all__ = ["CHANCE_OPTIONS", "add_options"]

CHANCE_OPTIONS = (
    "initial", "missing_initial", "chance", "reading", "normalizer", "aggregate", "samples",
    "tolerance", "bootstrap", "resamples", "confidence",
)  # fmt: skip
"""Those that are settings of the agreement beyond chance; None where not given."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare all options but those of reading."""
    _add_who(parser.add_argument_group("who is compared"))
    _add_chance(parser.add_argument_group("agreement beyond chance, C (needs --initial)"))
    _add_certainty(parser.add_argument_group("how sure one can be of C"))
    group = parser.add_argument_group("what is printed")
    group.add_argument(
        "--by",
        metavar="GROUP",
        help="report each value of this attribute (genre, document, ...) too",
    )
    form = group.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON (default: tables)")
    form.add_argument(
        "--csv", action="store_true", help="print a row for each two, group, unit and kind of links"
    )
    form.add_argument("--latex", action="store_true", help="print the tables for LaTeX")
    group.add_argument(
        "--html",
        metavar="FILE",
        type=output_file,
        help="write a page with figures and the disagreements of the first two annotators as well",
    )


def _add_who(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--annotators",
        nargs="+",
        metavar="A",
        help="two or more (default: all but those named below)",
    )
    group.add_argument(
        "--initial",
        metavar="NAME",
        help="the automatic alignment that the annotators started from; with it, C is computed",
    )
    group.add_argument(
        "--adjudicated",
        metavar="NAME",
        help="the version settled on; each annotator is compared with it too, by C",
    )
    group.add_argument(
        "--system",
        nargs="+",
        metavar="NAME",
        help="automatic alignments that each annotator is compared with (default: --initial)",
    )
    group.add_argument(
        "--include-identical",
        action="store_true",
        help="count links and phrases of equal words too (default: left out, as in the article)",
    )
    add_order_argument(group)


def _add_chance(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--missing-initial",
        choices=("error", "empty", "leave-out"),
        help="pairs without an initial alignment are an error, have an empty one, or are left out "
        "(default: error); empty without --initial starts all from no links",
    )
    group.add_argument(
        "--chance",
        choices=("edit", "edit-split", "kupper-hafner"),
        help="chance edits the initial alignment as often as the annotator did, with one rate "
        "(edit) or with one for adding and one for deleting (edit-split), or draws sets at random, "
        "without an initial alignment (kupper-hafner) (default: edit)",
    )
    group.add_argument(
        "--reading",
        choices=("count", "probability"),
        help="what grows with the words of a pair: the expected edits, or their probability "
        "(default: count)",
    )
    group.add_argument(
        "--normalizer",
        choices=("min", "max"),
        help="what is common is divided by the smaller or the larger set (default: min)",
    )
    group.add_argument(
        "--aggregate",
        choices=("macro", "micro"),
        help="the mean of the sentence pairs' ratios, or the ratio of the sums (default: macro)",
    )


def _add_certainty(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--samples", type=number(2), metavar="N", help="most of each sentence pair (default: 1000)"
    )
    group.add_argument(
        "--tolerance",
        type=float,
        metavar="E",
        help="stop sampling when the standard error of C is no more (default: take all samples)",
    )
    group.add_argument(
        "--bootstrap",
        choices=("fixed", "refit", "none"),
        help="interval of C over sentence pairs: with the edit models as they are, refitted to "
        "each resample (slow), or none (default: fixed)",
    )
    group.add_argument(
        "--resamples", type=number(1), metavar="N", help="of the bootstrap (default: 1000)"
    )
    group.add_argument(
        "--confidence", type=float, metavar="P", help="of the interval (default: 0.95)"
    )
    group.add_argument(
        "--seed", type=number(0), default=12345, metavar="N", help="of all draws (default: 12345)"
    )
    group.add_argument(
        "--workers",
        type=number(1),
        metavar="N",
        help="threads; C does not depend on them (default: one for each core)",
    )
