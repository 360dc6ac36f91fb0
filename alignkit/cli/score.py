"""Score alignments against a gold standard.

Precision, recall and F1 of the links and of the phrase pairs, and the alignment error rate (AER)
of the links. Sure and possible links count as Och & Ney (2003) and Cohn, Callison-Burch & Lapata
(2008) define; phrase pairs are scored atomic against all. Words are needed for --ignore-identical
and --loose alone.

For example:
  alignkit score giza.align gold.align
  alignkit score rev.align gold.wa --hyp-transpose --ref-format naacl --level links --json
  alignkit score a.align gold.align --compare b.align c.align --ci
  alignkit score giza.align corpus.xml --ref-annotator gold --in-order --by genre
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from alignkit.cli.inputs import add_reading_arguments
from alignkit.cli.kernels import announce
from alignkit.cli.messages import json_text
from alignkit.cli.order import add_order_argument
from alignkit.cli.parser import format_name, number
from alignkit.cli.score_run import Scoring
from alignkit.errors import OptionError
from alignkit.formats import FORMATS

if TYPE_CHECKING:
    from alignkit.scoring import Score

_TRIALS = 10_000  # of the randomization test


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
        help="other systems, read as HYP is; each is tested against HYP",
    )
    group.add_argument(
        "--samples",
        type=number(1),
        default=1000,
        metavar="N",
        help="of --ci and --compare (default: 1000)",
    )
    group.add_argument(
        "--confidence",
        type=float,
        default=0.95,
        metavar="P",
        help="of the intervals (default: 0.95)",
    )
    group.add_argument(
        "--seed", type=number(0), default=12345, metavar="N", help="of the samples (default: 12345)"
    )
    group = parser.add_argument_group("what is printed")
    group.add_argument(
        "--by",
        metavar="GROUP",
        help="a row for each value of this attribute (genre, document, ...) too",
    )
    group.add_argument("--per-pair", action="store_true", help="a row for each sentence pair too")
    group.add_argument("--json", action="store_true", help="print JSON (default: tables)")
    add_reading_arguments(parser)


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
    if len(set(systems)) < len(systems):
        raise OptionError("the same system is named twice; name different files to compare")
    if options.compare and options.reference == "-":
        raise OptionError("with --compare the reference is read again and cannot be stdin (-)")
    from alignkit.cli.score_output import breakdown, score_json, score_text

    scored = {path: Scoring(path, options) for path in systems}
    scores = {path: one.score for path, one in scored.items()}
    breakdowns = {
        path: breakdown(one.score, one.ids if options.per_pair else (), one.groups, options.by)
        for path, one in scored.items()
    }
    comparisons = _compare(scores, options) if options.compare else []
    if options.compare:
        scores = {path: _signed(score, options) for path, score in scores.items()}
    if options.json:
        found = score_json(scores, breakdowns, comparisons)
        print(json_text(found))
    else:
        print(score_text(scores, breakdowns, comparisons))
    return 0


def _compare(scores: dict[str, Score], options: argparse.Namespace) -> list[Any]:
    from alignkit.scoring import LEVELS, compare

    found: list[Any] = []
    for level in next(iter(scores.values())).rows:
        rows = {path: score.rows[level] for path, score in scores.items()}
        comparisons = compare(
            rows,
            LEVELS[level],
            baseline=options.hypothesis,
            samples=options.samples,
            trials=_TRIALS,
            confidence=options.confidence,
            rng=options.seed,
        )
        found.extend((level, comparison) for comparison in comparisons)
    return found


def _signed(score: Score, options: argparse.Namespace) -> Score:
    """Return the score with a signature that tells how the comparison was drawn."""
    signature = replace(
        score.signature,
        confidence=options.confidence,
        samples=options.samples,
        trials=_TRIALS,
        seed=options.seed,
    )
    return replace(score, signature=signature)
