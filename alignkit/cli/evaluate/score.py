"""Score alignments against a gold standard.

Precision, recall and F1 of the links and of the phrase pairs, and the alignment error rate (AER)
of the links. Sure and possible links count as Och & Ney (2003) and Cohn, Callison-Burch & Lapata
(2008) define; phrase pairs are scored atomic against all. Words are needed for --ignore-identical,
--split-identical and --loose alone.

For example:
  alignkit score giza.align gold.align
  alignkit score rev.align gold.wa --hyp-transpose --ref-format naacl --level links --json
  alignkit score a.align gold.align --compare b.align c.align --ci
  alignkit score corpus.xml --hyp-annotator anna ben --ref-annotator gold
  alignkit score giza.align corpus.xml --ref-annotator gold --in-order --by genre
  alignkit score a.align gold.align --aggregate both --latex
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from alignkit.cli.common.files import refuse_replacing, short_names
from alignkit.cli.common.inputs import add_order_argument, add_reading_arguments, add_sides
from alignkit.cli.common.media import add_groups, add_media, check_groups
from alignkit.cli.evaluate.score_output import Scoring
from alignkit.cli.parser import number, saved_file
from alignkit.errors import OptionError
from alignkit.io.atomic_files import refuse_unwritable
from alignkit.show.canvas import ending

if TYPE_CHECKING:
    from alignkit.scoring.comparisons import Comparisons
    from alignkit.scoring.result import Score


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_sides(parser, "the alignments to score; - is stdin", optional=True)
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
    add_draws(group, "of --ci, --compare and --plot")
    _add_output(parser.add_argument_group("what is printed"))
    add_reading_arguments(parser)


def add_draws(group: argparse._ActionsContainer, purpose: str) -> None:
    """Add what is drawn for a purpose, resamples under their old name too; see `settle_draws`."""
    kind = number(1)
    group.add_argument("--resamples", type=kind, metavar="N", help=f"{purpose} (default: 1000)")
    group.add_argument("--samples", type=kind, metavar="N", help=argparse.SUPPRESS)
    group.add_argument(
        "--confidence", type=float, metavar="P", help="of the intervals (default: 0.95)"
    )
    group.add_argument(
        "--seed", type=number(0), default=12345, metavar="N", help="of all draws (default: 12345)"
    )


def settle_draws(options: argparse.Namespace, *, drawn: bool, wanting: str) -> None:
    """Fill in what was not typed of the draws; refuse what was, where nothing is drawn."""
    if options.resamples is not None and options.samples is not None:
        raise OptionError("--samples is the old name of --resamples: give one of the two")
    if options.resamples is None:
        options.resamples = options.samples
    for name, default in (("resamples", 1000), ("confidence", 0.95)):
        if getattr(options, name, None) is None:
            setattr(options, name, default)
        elif not drawn:
            raise OptionError(f"--{name} is about resampling, which is not asked for; {wanting}")


def _add_output(group: argparse._ArgumentGroup) -> None:
    add_groups(group, metavar="GROUP")
    group.add_argument("--per-pair", action="store_true", help="a row for each sentence pair too")
    add_media(group)
    group.add_argument(
        "--plot",
        metavar="FILE",
        type=saved_file,
        help="draw precision, recall and F1 with intervals as well, by the end of the name: .pdf, "
        ".png or .svg",
    )


@dataclass(frozen=True)
class _System:
    """Hold what is scored: a file, and whose alignments where it holds those of several."""

    name: str
    path: str
    annotator: str | None


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    if options.hypothesis is None:
        _take_places(options)
    _check(options)
    systems = systems_of(options)
    options.compared = len(systems) > 1
    wanting = "say --ci, --plot FILE, or name systems to compare"
    drawn = options.ci or options.compared or options.plot is not None
    settle_draws(options, drawn=drawn, wanting=wanting)
    from alignkit.cli.evaluate.score_output import Breakdown, Scored, breakdown, score_output

    scored: dict[str, Score] = {}
    breakdowns: dict[str, Breakdown] = {}
    for system in systems:
        one = Scoring(system.path, options, system.annotator)
        scored[system.name] = one.score
        breakdowns[system.name] = breakdown(one, options)
    comparisons = None
    if options.compared:
        from alignkit.scoring.comparisons import compare

        comparisons = compare(
            scored, resamples=options.resamples, confidence=options.confidence, seed=options.seed
        )
        scored = {name: _signed(score, comparisons) for name, score in scored.items()}
    paths = {system.name: system.path for system in systems}
    print(score_output(Scored(paths, scored, breakdowns, comparisons), options))
    if options.plot is not None:
        from alignkit.scoring.plots import draw_scores

        draw_scores(scored, options.plot)
    return 0


def _take_places(options: argparse.Namespace) -> None:
    """Take HYP and REF from behind the names of annotators, where they stand there."""
    words = options.hyp_annotator or []
    places: list[str] = []
    while len(words) > 1 and len(places) < 2 and (words[-1] == "-" or os.path.exists(words[-1])):
        places.insert(0, words.pop())
    if not places:
        raise OptionError("the following arguments are required: HYP")
    options.hypothesis, options.reference = places[0], (*places, None)[1]
    if options.plot is not None:
        refuse_replacing([options.plot], options)


def systems_of(options: argparse.Namespace) -> list[_System]:
    """Return what is scored: several files, or several annotators of one."""
    annotators = options.hyp_annotator or [None]
    paths = [options.hypothesis, *options.compare]
    if len(set(paths)) < len(paths) or len(set(annotators)) < len(annotators):
        raise OptionError("the same system is named twice; name different ones to compare")
    if len(annotators) == 1:
        names = short_names(paths)
        return [_System(names[path], path, annotators[0]) for path in paths]
    if options.compare:
        raise OptionError(
            "--hyp-annotator names several systems of HYP, and --compare more files; give one of "
            "the two"
        )
    if options.hypothesis == "-":
        raise OptionError("with several annotators HYP is read again and cannot be stdin (-)")
    return [_System(name, options.hypothesis, name) for name in annotators]


def _check(options: argparse.Namespace) -> None:
    several = options.compare or len(options.hyp_annotator or ()) > 1
    if several and options.reference == "-":
        raise OptionError("with several systems REF is read again and cannot be stdin (-)")
    if options.reference is None:
        _check_one_corpus(options)
    if options.split_identical and (options.ignore_identical or options.level == "phrases"):
        other = "--ignore-identical" if options.ignore_identical else "--level phrases"
        raise OptionError(
            f"--split-identical scores identical links by themselves, and {other} leaves them out; "
            "give one of the two"
        )
    if options.by == "":
        raise OptionError("--by is empty; name an attribute, such as genre")
    check_groups(options)
    if options.split == "":
        raise OptionError("--split is empty; give what stands between values, such as ','")
    if options.plot is not None:
        ending(options.plot)
        refuse_unwritable([options.plot])


def _check_one_corpus(options: argparse.Namespace) -> None:
    """Check what is said where HYP holds the gold standard too."""
    if options.hyp_annotator is None or options.ref_annotator is None:
        raise OptionError(
            "name REF, the gold standard; or, where HYP holds it too, the annotators: "
            "--hyp-annotator and --ref-annotator"
        )
    if options.compare:
        raise OptionError("--compare needs REF, against which all files are scored; name it")
    for name in ("ref_format", "ref_base", "ref_transpose", "in_order"):
        value = getattr(options, name)
        if value is not None and value is not False:
            raise OptionError(
                f"--{name.replace('_', '-')} is about a second file, and one is named; leave it out"
            )


def _signed(score: Score, comparisons: Comparisons) -> Score:
    """Return the score with a signature that tells how the comparison was drawn."""
    drawn = comparisons.signature
    names = ("interval", "confidence", "resamples", "trials", "seed")
    signature = replace(score.signature, **{name: getattr(drawn, name) for name in names})
    return replace(score, signature=signature)
