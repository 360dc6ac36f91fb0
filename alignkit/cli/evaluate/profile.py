"""Compare systems on each phenomenon, such as idiom, using the pairs in which it occurs.

A measure is computed on the pairs with a phenomenon and compared with all other pairs; phenomena
and systems are ranked. With --scheme, the measure is the accuracy of judgments of whole pairs.

--table reads a table of a measure instead, with columns separated by tabs: the name of the
phenomenon, then a value for each system. The first line names the systems.

For example:
  alignkit profile corpus.jsonl --hyp-annotator initial anna --ref-annotator gold --by phenomena
  alignkit profile a.align gold.jsonl --compare b.align --in-order --by phenomena --measure aer
  alignkit profile a.tsv gold.tsv --compare b.tsv --scheme turku --view binary --like kovatchev
  alignkit profile --table table3.tsv --leave-out 'OVERALL ACC.'
  alignkit profile --table aer.tsv --lower-is-better --plot ranks.pdf --heat-map cells.pdf
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from alignkit.cli.common import inputs, sides
from alignkit.cli.common.media import add_forms, print_findings
from alignkit.cli.evaluate import score
from alignkit.cli.evaluate.score_labels import add_judged, judged_sides
from alignkit.cli.parser import Options, Parser, add_options, number, option_values, saved_file
from alignkit.errors import OptionError
from alignkit.io.atomic_files import refuse_unwritable
from alignkit.scoring.settings import ScoreSettings
from alignkit.show.canvas import ending

if TYPE_CHECKING:
    from alignkit.scoring.profile import Profile
    from alignkit.scoring.ranking import Ranking


MEASURES = ("precision", "recall", "f1", "aer", "phrase-f1", "accuracy")
LIKE = ("kovatchev",)
BY = "phenomena"
SPLIT = ","
_OF_TABLE = {
    "printed",
    "leave_out",
    "lower_is_better",
    "alpha",
    "encoding",
    "plot",
    "heat_map",
    "html",
    "json",
    "csv",
    "medium",
    "quiet",
    "debug",
}


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit profile`."""
    gold = "the gold standard, unless HYP contains it too. Then name both annotators"
    sides.add_sides(parser, "alignments of a system", gold, required=False, several=True)
    group = parser.add_argument_group("measure and phenomena")
    add_options(
        group,
        """
        --compare HYP2...  files of other systems, read with the --hyp options
        --by ATTRIBUTE  attribute that lists the phenomena of a pair (default: phenomena)
        --split TEXT  separator, if the attribute of --by holds several phenomena (default: a comma)
        --measure  measure to compare, such as f1, aer or accuracy (default: f1, or accuracy with
            --scheme); phrase-f1 is for phrase pairs of sure links, accuracy for judgments
        """,
        compare={"default": []},
        measure=MEASURES,
    )
    add_judged(group, "of the judgments to profile (default: profile links)")
    inputs.add_order_argument(group)
    add_options(
        parser.add_argument_group("reading a table"),
        """
        --table FILE  read a table of scores by phenomenon and system, instead of HYP and REF
        --leave-out ROW...  rows of the table that are not phenomena, such as a mean
        --lower-is-better  give rank 1 to the lowest value, as for errors (default: the highest)
        """,
        table="printed",
        leave_out={"default": []},
    )
    group = parser.add_argument_group("tests and intervals")
    add_options(
        group,
        """
        --like  use the tests of the 2019 article by Kovatchev et al.; a phenomenon is compared with
            the whole set, by the one-sided test of Mann and Whitney, and judgments of two systems
            by McNemar's test without continuity correction (default: with all other pairs, by
            permutation; McNemar's exact test)
        --trials N  number of permutations of the tests (default: 10000, or 200 for each phenomenon)
        --alpha P  significance level: probability of a false difference (default: 0.05)
        """,
        like=LIKE,
        trials=number(1),
        alpha={"type": float, "default": 0.05},
    )
    score.add_draws(group, "for the intervals")
    group = parser.add_argument_group("output")
    add_forms(group)
    add_options(
        group,
        """
        --plot FILE  draw the mean ranks of the systems (critical difference diagram; .pdf, .png or
            .svg)
        --heat-map FILE  draw the measure of each system on each phenomenon (.pdf, .png or .svg)
        """,
        plot=saved_file,
        heat_map=saved_file,
    )
    inputs.add_reading_arguments(parser, of="all files")


def run(options: Options) -> None:
    """Print how systems do on each phenomenon, and draw the ranks."""
    paths = [path for path in (options.plot, options.heat_map) if path is not None]
    for path in paths:
        ending(path)
    refuse_unwritable(paths)
    result: Profile | Ranking
    if options.printed is not None:
        result = ranking = _printed(options)
    else:
        score.settle_draws(options)
        if options.scheme is not None:
            result = _labels(options)
        else:
            result = _links(options)
        ranking = result.ranking
    _draw(ranking, options)
    print_findings(result, options, title="Profile by phenomenon")


def _printed(options: Options) -> Ranking:
    """Return the ranking of the systems in a table of measured values."""
    from alignkit.scoring.ranking import rank, read_measured

    if options.hypothesis is not None:
        raise OptionError("--table does not work with HYP and REF: leave out one of them")
    for action in options.parser._actions:
        given = getattr(options, action.dest, action.default)
        if given != action.default and action.dest not in _OF_TABLE:
            name = action.option_strings[-1]
            raise OptionError(f"{name} does not work with --table; leave it out")
    reading = option_values(options, "leave_out", "lower_is_better", "encoding")
    return rank(read_measured(options.printed, **reading), alpha=options.alpha)


def _drawing(options: Options) -> dict[str, Any]:
    """Return the groups, and the settings of the random draws."""
    drawing = option_values(options, "like", "trials", "resamples", "confidence", "alpha", "seed")
    return {"by": options.by or BY, **drawing}


def _check(options: Options, *, judged: bool) -> None:
    """Refuse options that do not fit links, or judgments."""
    if options.leave_out or options.lower_is_better:
        raise OptionError("--leave-out and --lower-is-better only work with --table")
    if options.measure == "accuracy" and not judged:
        raise OptionError("--measure accuracy is for judgments; add their --scheme")
    if options.measure not in (None, "accuracy") and judged:
        raise OptionError(f"--measure {options.measure} is for links; leave out --scheme or it")
    if not judged and (options.predictions or options.rewrites or options.view != "full"):
        raise OptionError(
            "--predictions, --rewrites and --view are for judgments; add their --scheme"
        )
    if options.hypothesis is None:
        raise OptionError("name HYP and REF, or a table with --table")


def _labels(options: Options) -> Profile:
    """Return the profile of systems that judge pairs."""
    from alignkit.scoring.label_scores import profile_labels

    _check(options, judged=True)
    return profile_labels(
        **judged_sides(options).sides(options),
        split=SPLIT if options.split is None else options.split,
        **_drawing(options),
    )


def _links(options: Options) -> Profile:
    """Return the profile of systems that align words."""
    from alignkit.cli.evaluate.score_output import Scoring
    from alignkit.scoring.measures import link_ratios, phrase_ratios
    from alignkit.scoring.profile_tests import profile_rows

    _check(options, judged=False)
    measure = options.measure or "f1"
    phrases = measure == "phrase-f1"
    score.refuse_stdin(options)
    score.require_reference(options)
    scoring = _as_for_score(options, phrases=phrases)
    systems = score.systems_of(scoring)
    level = "phrases-sure" if phrases else "links"
    scored = {}
    for name, path, annotator in systems:
        shown = annotator if annotator and len(systems) == 1 else name
        scored[shown] = Scoring(path, scoring, annotator)
    first = next(iter(scored.values()))
    if not first.groups:
        raise OptionError(
            f"{options.hypothesis}: no sentence pair is aligned in both; to profile judgments, "
            "add their --scheme"
        )
    for name, each in scored.items():
        if each.groups != first.groups or each.score.scored != first.score.scored:
            raise OptionError(
                f"{name} did not align the same pairs as {next(iter(scored))}; compare systems "
                "that aligned the same pairs"
            )
    return profile_rows(
        {name: each.score.rows[level] for name, each in scored.items()},
        first.groups,
        phrase_ratios if phrases else link_ratios,
        "f1" if phrases else measure,
        **_drawing(options),
    )


def _as_for_score(options: Options, *, phrases: bool) -> Options:
    """Return the options as `alignkit score` would have them, with nothing drawn at random."""
    settings = {
        **vars(options),
        **vars(ScoreSettings(level="phrases" if phrases else "links")),
        "by": options.by or BY,
        "split": SPLIT if options.split is None else options.split,
        "ci": False,
        "plot": None,
        "per_pair": False,
        "compared": True,
    }
    return Options(**settings)


def _draw(ranking: Ranking, options: Options) -> None:
    """Write the figures that the options name."""
    from alignkit.scoring.plots import cd_diagram, heat_map

    if options.plot is not None:
        tests = ranking.systems
        if tests.reason:
            raise OptionError(f"--plot: there are no ranks to draw: {tests.reason}")
        cd_diagram(tests.ranking, tests.groups(), tests.critical_difference, options.plot)
    if options.heat_map is not None:
        table = ranking.measured.worst_first()
        heat_map(table.phenomena, table.systems, table.values, table.measure, options.heat_map)
