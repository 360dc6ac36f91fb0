"""Score alignments against a gold standard.

Precision, recall and F1 of the links and of the phrase pairs, and the alignment error rate (AER)
of the links. Sure and possible links count as Och & Ney (2003) and Cohn, Callison-Burch & Lapata
(2008) define; phrase pairs are scored atomic against all. Words are needed for --ignore-identical,
--split-identical and --loose alone.

For example:
  alignkit score giza.align gold.align
  alignkit score rev.align gold.wa --hyp-transpose --ref-format naacl --level links --json
  alignkit score a.align gold.align --compare b.align c.align --ci
  alignkit score giza.align corpus.xml --ref-annotator gold --in-order --by genre
  alignkit score a.align gold.align --aggregate both --latex
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from alignkit.cli.inputs import add_reading_arguments
from alignkit.cli.kernels import announce
from alignkit.cli.order import add_order_argument
from alignkit.cli.parser import format_name, number, saved_file
from alignkit.cli.score_run import Scoring
from alignkit.cli.short_names import short_names
from alignkit.errors import OptionError
from alignkit.formats import FORMATS
from alignkit.report.canvas import ending
from alignkit.report.table import MEDIA

if TYPE_CHECKING:
    from alignkit.scoring import Comparisons, Score


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("hypothesis", metavar="HYP", help="the alignments to score; - is stdin")
    parser.add_argument("reference", metavar="REF", help="the gold standard; - is stdin")
    for side, long in (("hyp", "hypothesis"), ("ref", "reference")):
        _add_side(parser, side, long)
    group = parser.add_argument_group("what is scored")
    group.add_argument(
        "--level",
        choices=("links", "phrases", "both"),
        default="both",
        help="links, phrase pairs, or both (default: both)",
    )
    group.add_argument(
        "--ignore-identical",
        action="store_true",
        help="leave out links and phrases of equal words (default: counted); needs the words",
    )
    group.add_argument(
        "--exact-case",
        action="store_true",
        help="words that differ in case are not equal (default: they are)",
    )
    group.add_argument(
        "--max-length",
        type=number(1),
        metavar="N",
        help="most words of a phrase on either side (default: no limit)",
    )
    group.add_argument(
        "--loose",
        action="store_true",
        help="extend phrases over unaligned words at their ends (default: tight); needs the words",
    )
    group.add_argument(
        "--possible",
        choices=("given", "sure-only", "all-sure"),
        default="given",
        help="possible links of both sides: as given, dropped, or taken as sure (default: given)",
    )
    group.add_argument(
        "--aggregate",
        choices=("micro", "macro", "both"),
        default="micro",
        help="add up the counts of all pairs, average the ratios of the pairs (with the mean of "
        "F1, and exact matches), or both (default: micro)",
    )
    group.add_argument(
        "--split-identical",
        action="store_true",
        help="rows for the links of equal words, and for the others, too; needs the words",
    )
    add_order_argument(group)
    group = parser.add_argument_group("how sure one can be")
    group.add_argument(
        "--ci", action="store_true", help="bootstrap intervals over sentence pairs (default: none)"
    )
    group.add_argument(
        "--compare",
        nargs="+",
        default=[],
        metavar="HYP2",
        help="other systems, read as HYP is; every two are tested against each other",
    )
    add_resamples(group, "of --ci, --compare and --plot (default: 1000)")
    group.add_argument(
        "--confidence",
        type=float,
        default=0.95,
        metavar="P",
        help="of the intervals (default: 0.95)",
    )
    group.add_argument(
        "--seed", type=number(0), default=12345, metavar="N", help="of all draws (default: 12345)"
    )
    _add_output(parser.add_argument_group("what is printed"))
    add_reading_arguments(parser)


def add_resamples(group: argparse._ActionsContainer, told: str) -> None:
    """Add the number of resamples, under its old name too."""
    kind = number(1)
    group.add_argument("--resamples", type=kind, default=1000, metavar="N", help=told)
    group.add_argument(
        "--samples",
        dest="resamples",
        type=kind,
        default=argparse.SUPPRESS,
        metavar="N",
        help=argparse.SUPPRESS,
    )


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--by",
        metavar="GROUP",
        help="a row for each value of this attribute (genre, document, ...) too",
    )
    group.add_argument(
        "--split",
        metavar="TEXT",
        help="what stands between several values of that attribute, e.g. a comma; a pair counts "
        "in each (default: one value)",
    )
    group.add_argument("--per-pair", action="store_true", help="a row for each sentence pair too")
    form = group.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON (default: tables as text)")
    form.add_argument("--csv", action="store_true", help="print a row for each figure")
    for name, medium in MEDIA.items():
        if medium.help:
            form.add_argument(
                f"--{name}", action="store_const", const=name, dest="medium", help=medium.help
            )
    group.set_defaults(medium="text")
    group.add_argument(
        "--plot",
        metavar="FILE",
        type=saved_file,
        help="draw precision, recall and F1 with intervals as well, by the end of the name: .pdf, "
        ".png or .svg",
    )


def _add_side(parser: argparse.ArgumentParser, side: str, long: str) -> None:
    group = parser.add_argument_group(f"what the {long} is, if not as said for both")
    group.add_argument(
        f"--{side}-format",
        type=format_name(FORMATS),
        metavar="F",
        help="its format (default: --format)",
    )
    group.add_argument(
        f"--{side}-base",
        type=int,
        choices=(0, 1),
        help="number of its first word (default: --base)",
    )
    group.add_argument(
        f"--{side}-transpose", action="store_true", help="its links are written target first"
    )
    group.add_argument(
        f"--{side}-annotator", metavar="A", help="whose alignments, if it holds several"
    )


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    announce()
    systems = [options.hypothesis, *options.compare]
    _check(options, systems)
    from alignkit.cli.score_output import Breakdown, Scored, breakdown, score_output

    names = short_names(systems)
    scored: dict[str, Score] = {}
    breakdowns: dict[str, Breakdown] = {}
    for path, name in names.items():
        one = Scoring(path, options)
        scored[name] = one.score
        ids = one.ids if options.per_pair else ()
        breakdowns[name] = breakdown(one.score, ids, one.groups, options.by)
    comparisons = None
    if options.compare:
        from alignkit.scoring import compare

        comparisons = compare(
            scored, resamples=options.resamples, confidence=options.confidence, rng=options.seed
        )
        scored = {name: _signed(score, comparisons) for name, score in scored.items()}
    paths = {name: path for path, name in names.items()}
    print(score_output(Scored(paths, scored, breakdowns, comparisons), options))
    if options.plot is not None:
        from alignkit.report.score_plots import draw_scores

        draw_scores(scored, options.plot)
    return 0


def _check(options: argparse.Namespace, systems: list[str]) -> None:
    if len(set(systems)) < len(systems):
        raise OptionError("the same system is named twice; name different files to compare")
    if options.compare and options.reference == "-":
        raise OptionError("with --compare the reference is read again and cannot be stdin (-)")
    if options.split_identical and (options.ignore_identical or options.level == "phrases"):
        other = "--ignore-identical" if options.ignore_identical else "--level phrases"
        raise OptionError(
            f"--split-identical scores identical links by themselves, and {other} leaves them out; "
            "give one of the two"
        )
    if options.split is not None and options.by is None:
        raise OptionError("--split divides the values of the attribute that --by names; give --by")
    if options.split == "":
        raise OptionError("--split is empty; give what stands between values, such as ','")
    if options.plot is not None:
        ending(options.plot)


def _signed(score: Score, comparisons: Comparisons) -> Score:
    """Return the score with a signature that tells how the comparison was drawn."""
    drawn = comparisons.signature
    names = ("interval", "confidence", "resamples", "trials", "seed")
    signature = replace(score.signature, **{name: getattr(drawn, name) for name in names})
    return replace(score, signature=signature)
