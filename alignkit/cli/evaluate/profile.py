"""Profile systems by phenomenon: where each is good, where it fails, and which differ.

A measure is taken on the pairs that hold a phenomenon and compared with all other pairs; phenomena
and systems are ranked. With --scheme the measure is the accuracy of judgments of whole pairs.

With --table, a printed table of a measure is taken: columns with tabs between, first the name of
the phenomenon, then a value for each system; the first line names the systems.

For example:
  alignkit profile corpus.jsonl --hyp-annotator initial anna --ref-annotator gold --by phenomena
  alignkit profile a.align gold.jsonl --compare b.align --in-order --by phenomena --measure aer
  alignkit profile a.tsv gold.tsv --compare b.tsv --scheme turku --view binary --as kovatchev
  alignkit profile --table table3.tsv --leave-out 'OVERALL ACC.'
  alignkit profile --table aer.tsv --lower-is-better --plot ranks.pdf --heat-map cells.pdf
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from alignkit.cli.common.inputs import (
    HYPOTHESIS,
    REFERENCE,
    add_order_argument,
    add_reading_arguments,
    add_side,
)
from alignkit.cli.common.media import add_forms, print_findings
from alignkit.cli.evaluate.score import systems_of
from alignkit.cli.evaluate.score_labels import add_judged, judged_sides
from alignkit.cli.evaluate.score_output import Scoring
from alignkit.cli.parser import number, saved_file
from alignkit.errors import OptionError
from alignkit.io.atomic_files import refuse_unwritable
from alignkit.show.canvas import ending

if TYPE_CHECKING:
    from alignkit.scoring.profiles.phenomena import Profile
    from alignkit.scoring.profiles.ranking import Ranking


MEASURES = ("precision", "recall", "f1", "aer", "phrase-f1", "accuracy")
LIKE = ("kovatchev",)
BY, SPLIT = "phenomena", ","
_OF_TABLE = {
    *("printed", "leave_out", "lower_is_better", "alpha", "encoding", "plot", "heat_map", "html"),
    *("json", "csv", "medium", "quiet", "debug"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    _add_systems(parser)
    group = parser.add_argument_group("of a printed table")
    group.add_argument(
        "--table", dest="printed", metavar="FILE", help="a printed table of phenomena by systems"
    )
    group.add_argument(
        "--leave-out",
        nargs="+",
        default=[],
        metavar="ROW",
        help="rows of the table that are no phenomena, such as a mean over all",
    )
    group.add_argument(
        "--lower-is-better",
        action="store_true",
        help="the values are errors: the lowest has rank 1 (default: the highest)",
    )
    group = parser.add_argument_group("how sure one can be")
    group.add_argument(
        "--as",
        dest="like",
        choices=LIKE,
        help="test as Kovatchev et al. (2019): phenomena against the whole set, one-sided, by Mann "
        "and Whitney's test; judgments of two systems by McNemar's without correction for "
        "continuity (default: against all others by permutation; McNemar's exact test)",
    )
    group.add_argument("--trials", type=number(1), default=10_000, metavar="N",
                       help="of the tests (default: 10000)")  # fmt: skip
    group.add_argument("--resamples", type=number(1), default=1000, metavar="N",
                       help="of the intervals (default: 1000)")  # fmt: skip
    group.add_argument("--confidence", type=float, default=0.95, metavar="P",
                       help="of the intervals (default: 0.95)")  # fmt: skip
    group.add_argument("--seed", type=number(0), default=12345, metavar="N",
                       help="of all draws (default: 12345)")  # fmt: skip
    group.add_argument(
        "--alpha",
        type=float,
        default=0.05,
        metavar="P",
        help="the chance of a false difference (default: 0.05)",
    )
    group = parser.add_argument_group("what is printed")
    add_forms(group)
    for flag, told in (
        ("--plot", "draw the mean ranks of the systems (critical difference diagram) as well"),
        ("--heat-map", "draw the measure of each system on each phenomenon as well"),
    ):
        group.add_argument(
            flag,
            metavar="FILE",
            type=saved_file,
            help=f"{told}, by the end of the name: .pdf, .png or .svg",
        )

    add_reading_arguments(parser)


def _add_systems(parser: argparse.ArgumentParser) -> None:
    """Add the options that name systems and what is measured."""
    parser.add_argument("hypothesis", nargs="?", metavar="[HYP]", help="the alignments to profile")
    parser.add_argument(
        "reference",
        nargs="?",
        metavar="[REF]",
        help="the gold standard; left out, HYP holds it too: name both annotators",
    )
    for side, long in ((HYPOTHESIS, "hypothesis"), (REFERENCE, "reference")):
        add_side(parser, side, long, several=side == HYPOTHESIS)
    group = parser.add_argument_group("what is profiled")
    group.add_argument(
        "--compare", nargs="+", default=[], metavar="HYP2", help="other systems, read as HYP is"
    )
    group.add_argument(
        "--by", metavar="ATTRIBUTE",
        help="the attribute that names the phenomena of a pair (default: phenomena)",
    )  # fmt: skip
    group.add_argument(
        "--split", metavar="TEXT",
        help="what stands between several values of that attribute (default: a comma)",
    )  # fmt: skip
    group.add_argument(
        "--measure",
        choices=MEASURES,
        help="of links; phrase-f1 of the phrase pairs of sure links; accuracy of judgments "
        "(default: f1, and accuracy with --scheme)",
    )
    add_judged(group, required=False)
    add_order_argument(group)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    paths = [path for path in (options.plot, options.heat_map) if path is not None]
    for path in paths:
        ending(path)
    refuse_unwritable(paths)
    result: Profile | Ranking
    if options.printed is not None:
        result = ranking = _printed(options)
    else:
        result = _labels(options) if options.scheme is not None else _links(options)
        ranking = result.ranking
    _draw(ranking, options)
    print_findings(result, options, title="Profile by phenomenon")
    return 0


def _printed(options: argparse.Namespace) -> Ranking:
    from alignkit.scoring.profiles.ranking import rank, read_measured

    if options.hypothesis is not None:
        raise OptionError("--table is a whole profile; name it alone, without HYP and REF")
    _refuse_others(options)
    measured = read_measured(
        options.printed,
        leave_out=options.leave_out,
        lower_is_better=options.lower_is_better,
        encoding=options.encoding,
    )
    return rank(measured, alpha=options.alpha)


def _refuse_others(options: argparse.Namespace) -> None:
    """Refuse what has no meaning for a printed table."""
    for action in options.parser._actions:
        given = getattr(options, action.dest, action.default)
        if given != action.default and action.dest not in _OF_TABLE:
            name = action.option_strings[-1]
            raise OptionError(f"{name} is for HYP and REF, not for --table; leave it out")


def _drawing(options: argparse.Namespace) -> dict[str, Any]:
    names = ("like", "trials", "resamples", "confidence", "alpha", "seed")
    return {"by": options.by or BY, **{name: getattr(options, name) for name in names}}


def _check(options: argparse.Namespace, *, judged: bool) -> None:
    if options.leave_out or options.lower_is_better:
        raise OptionError("--leave-out and --lower-is-better are about a printed table: --table")
    if options.measure is not None and (options.measure == "accuracy") != judged:
        raise OptionError(
            f"--measure {options.measure} is of links; leave it out, or --scheme" if judged
            else "--measure accuracy is of judgments; name their --scheme"
        )  # fmt: skip
    if not judged and (options.predictions or options.rewrites or options.view != "full"):
        raise OptionError(
            "--predictions, --rewrites and --view are of judgments; name their --scheme"
        )
    if options.hypothesis is None:
        raise OptionError("name HYP and REF, or a printed table by --table")


def _labels(options: argparse.Namespace) -> Profile:
    from alignkit.scoring.label_scores import profile_labels

    _check(options, judged=True)
    judged = judged_sides(options)
    return profile_labels(
        judged.corpus,
        judged.systems,
        judged.reference,
        scheme=options.scheme,
        view=options.view,
        lenient=options.lenient_labels,
        rewrites=options.rewrites,
        split=SPLIT if options.split is None else options.split,
        **_drawing(options),
    )


def _links(options: argparse.Namespace) -> Profile:
    from alignkit.scoring.measures import link_ratios, phrase_ratios
    from alignkit.scoring.profiles.systems import profile_rows

    _check(options, judged=False)
    measure = options.measure or "f1"
    phrases = measure == "phrase-f1"
    scoring = _scoring(options, phrases=phrases)
    systems = systems_of(scoring)
    level = "phrases-sure" if phrases else "links"
    alone = len(systems) == 1
    scored = {
        system.annotator if alone and system.annotator else system.name:
        Scoring(system.path, scoring, system.annotator)
        for system in systems
    }  # fmt: skip
    first = next(iter(scored.values()))
    if not first.groups:
        raise OptionError(
            f"{options.hypothesis}: no sentence pair is aligned in both; name the --scheme of "
            "judgments to profile these"
        )
    for name, each in scored.items():
        if each.groups != first.groups or each.score.scored != first.score.scored:
            raise OptionError(
                f"{name} was scored on other pairs than {next(iter(scored))}; profile systems that "
                "aligned the same pairs"
            )
    return profile_rows(
        {name: each.score.rows[level] for name, each in scored.items()},
        first.groups,
        phrase_ratios if phrases else link_ratios,
        "f1" if phrases else measure,
        **_drawing(options),
    )


def _scoring(options: argparse.Namespace, *, phrases: bool) -> argparse.Namespace:
    """Return the options as `alignkit score` has them, with nothing drawn."""
    one_corpus = options.hyp_annotator and options.ref_annotator
    if options.reference is None and not one_corpus:
        raise OptionError(
            "name REF, the gold standard; or, where HYP holds it too, the annotators: "
            "--hyp-annotator and --ref-annotator"
        )
    level = "phrases" if phrases else "links"
    fixed = {
        **{"level": level, "ci": False, "plot": None, "per_pair": False, "compared": True},
        **{"ignore_identical": False, "exact_case": False, "loose": False, "max_length": None},
        **{"possible": "given", "aggregate": "micro", "split_identical": False},
    }
    fixed |= {"by": options.by or BY, "split": SPLIT if options.split is None else options.split}
    return argparse.Namespace(**{**vars(options), **fixed})


def _draw(ranking: Ranking, options: argparse.Namespace) -> None:
    from alignkit.scoring.plots import draw_cd_diagram, draw_heat_map

    measured = ranking.measured.worst_first()
    if options.plot is not None:
        tests = ranking.systems
        if tests.reason:
            raise OptionError(f"--plot: there are no ranks to draw: {tests.reason}")
        draw_cd_diagram(tests.ranking, tests.groups(), tests.critical_difference, options.plot)
    if options.heat_map is not None:
        draw_heat_map(
            measured.phenomena, measured.systems, measured.values, measured.measure,
            options.heat_map,
        )  # fmt: skip
