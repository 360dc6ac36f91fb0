"""Score alignments against a gold standard.

The command prints precision, recall and F1 of links and of phrase pairs, and the alignment error
rate (AER) of links. Sure and possible links count as in Och & Ney (2003) and Cohn, Callison-Burch &
Lapata (2008). Atomic phrase pairs of one side are looked up among all phrase pairs of the other.
Only --ignore-identical, --split-identical and --loose need the words.

For example:
  alignkit score giza.align gold.align
  alignkit score rev.align gold.wa --hyp-transpose --ref-format naacl --level links --json
  alignkit score a.align gold.align --compare b.align c.align --ci
  alignkit score corpus.xml --hyp-annotator anna ben --ref-annotator gold
  alignkit score giza.align corpus.xml --ref-annotator gold --in-order --by genre
  alignkit score a.align gold.align --aggregate both --latex
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import NamedTuple

from alignkit._support.arguments import check_known
from alignkit.cli.common import media
from alignkit.cli.common.files import refuse_replacing
from alignkit.cli.common.inputs import add_order_argument, add_reading_arguments
from alignkit.cli.common.messages import say
from alignkit.cli.common.named_files import short_names
from alignkit.cli.common.sides import add_sides
from alignkit.cli.options import add_fields
from alignkit.cli.parser import Group, Options, Parser, add_options, number
from alignkit.errors import OptionError
from alignkit.io.atomic_files import refuse_unwritable
from alignkit.scoring.settings import ScoreSettings
from alignkit.stats.defaults import CONFIDENCE, DRAWS_EACH, RESAMPLES, SEED

RARE = "--in-order --plot-width"
"""Options that only --help-all shows."""


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit score`."""
    about = "alignments to score, as FILE or NAME=FILE; - is stdin"
    add_sides(parser, about, required=False, several=True)
    add_order_argument(add_fields(parser, ScoreSettings)["scoring"])
    group = parser.add_argument_group("intervals and comparison")
    add_options(
        group,
        """
        --ci  print bootstrap intervals over sentence pairs (default: none)
        --compare HYP2...  compare other systems with HYP; the table shows intervals and significant
            differences. They are read like HYP. NAME=FILE gives a name, also to HYP
        """,
        compare={"default": []},
    )
    add_draws(
        group, "for --ci, --compare and --plot", f", or {DRAWS_EACH} for each two compared systems"
    )
    group = parser.add_argument_group("output")
    media.add_groups(group)
    add_options(
        group,
        """
        --per-pair  add a row for each sentence pair
        --tables T,T  with several systems, print these tables: systems, differences (with p values)
            (default: systems)
        """,
        tables={"type": lambda text: text.split(","), "metavar": "T,T"},
    )
    media.add_media(group)
    media.add_plot(group, "P, R, F1 and AER")
    add_reading_arguments(parser, of="all files")


def add_draws(group: Group, purpose: str, more: str = "") -> None:
    """Add the options for random draws; see `settle_draws`."""
    add_options(
        group,
        f"""
        --resamples N  number of resamples {purpose} (default: {RESAMPLES}{more})
        --confidence P  confidence of the intervals (default: {CONFIDENCE})
        --seed N  seed of all random draws (default: {SEED})
        """,
        resamples=number(1),
        confidence=float,
        seed={"type": number(0), "default": SEED},
    )


def settle_draws(options: Options, *, drawn: bool = True, wanting: str = "") -> None:
    """Fill in defaults for random draws; refuse these options if nothing is drawn."""
    for name, default in (("resamples", RESAMPLES), ("confidence", CONFIDENCE)):
        if getattr(options, name, None) is None:
            setattr(options, name, default)
        elif not drawn:
            raise OptionError(f"--{name} has no effect without resampling; {wanting}")


class System(NamedTuple):
    """A system to score: a file, and an annotator if the file has several."""

    name: str
    path: str
    annotator: str | None


def run(options: Options) -> None:
    if options.hypothesis is None:
        _take_places(options)
    _check(options)
    systems = systems_of(options)
    options.compared = len(systems) > 1
    if options.tables and not options.compared:
        raise OptionError("--tables needs several systems, but there is one; leave it out")
    options.tables = options.tables or ["systems"]
    for name in options.tables:
        check_known("table", name, ("systems", "differences"))
    wanting = "add --ci, --plot FILE, or systems to compare"
    drawn = options.ci or options.compared or options.plot is not None
    resamples = options.resamples
    settle_draws(options, drawn=drawn, wanting=wanting)
    from alignkit.cli.evaluate.score_output import Scored, Scoring, output

    scorings = {name: Scoring(path, options, annotator) for name, path, annotator in systems}
    scored = Scored(scorings)
    if options.compared:
        from alignkit.scoring.comparisons import compare

        drawing = {**media.drawing_of(options), "resamples": resamples}
        comparisons = compare(scored.scores, **drawing)
        scored = replace(scored, comparisons=comparisons)
        names = ("interval", "confidence", "resamples", "trials", "seed")
        settings = {name: getattr(comparisons.signature, name) for name in names}
        for name, each in scorings.items():
            signature = replace(each.score.signature, **settings)
            each.score = replace(each.score, signature=signature)
            if each.score.intervals:  # those of the comparison, so that all are of one kind
                intervals = comparisons.intervals[name]
                each.score = replace(each.score, intervals=intervals)
    print(output(scored, options))
    if options.plot is not None:
        from alignkit.scoring.result import score_plot

        figure = score_plot(scored.scores)
        figure.save(options.plot, options.plot_width or "column")
        say(figure.caption)


def _take_places(options: Options) -> None:
    """Take HYP and REF from the end of the names of annotators, if they are there."""
    words = options.hyp_annotator or []
    places: list[str] = []
    while len(words) > 1 and len(places) < 2 and (words[-1] == "-" or os.path.exists(words[-1])):
        places.insert(0, words.pop())
    if not places:
        raise OptionError("the following arguments are required: HYP")
    options.hypothesis = places[0]
    options.reference = (*places, None)[1]
    if options.plot is not None:
        refuse_replacing([options.plot], options)


def systems_of(options: Options) -> list[System]:
    """Return the systems to score: several files, or several annotators of one."""
    annotators = options.hyp_annotator or [None]
    named = dict(map(_named, (options.hypothesis, *options.compare)))
    paths = list(named)
    if len(named) <= len(options.compare) or len(set(annotators)) < len(annotators):
        raise OptionError("the same system is named twice; name different ones to compare")
    options.hypothesis, *options.compare = paths
    if len(annotators) == 1:
        names = {path: named[path] or short for path, short in short_names(paths).items()}
        if len(set(names.values())) < len(names):
            raise OptionError("two systems have the same name; rename one with NAME=FILE")
        return [System(names[path], path, annotators[0]) for path in paths]
    if options.compare:
        raise OptionError(
            "--hyp-annotator with several names does not work with --compare; leave one of them out"
        )
    return [System(name, options.hypothesis, name) for name in annotators]


def _named(text: str) -> tuple[str, str]:
    """Return a file and its name, as in NAME=FILE; the name is empty if there is none."""
    name, equals, path = text.partition("=")
    if equals and name and path and not os.path.exists(text):
        return (path, name)
    return (text, "")


def refuse_stdin(options: Options) -> None:
    """Refuse standard input (-) for a file that several systems read again."""
    annotators = len(options.hyp_annotator or ()) > 1
    if (annotators or options.compare) and options.reference == "-":
        raise OptionError("with several systems, REF is read repeatedly and cannot be stdin (-)")
    if annotators and options.hypothesis == "-":
        raise OptionError("with several annotators, HYP is read repeatedly and cannot be stdin (-)")


def _check(options: Options) -> None:
    """Refuse options that do not fit together, and a figure that cannot be written."""
    refuse_stdin(options)
    if options.reference is None:
        require_reference(options)
        if options.compare:
            raise OptionError("--compare needs REF, the gold standard for all files; name it")
        for name in ("ref_format", "ref_base", "ref_transpose", "in_order"):
            value = getattr(options, name)
            if value is not None and value is not False:
                raise OptionError(
                    f"--{name.replace('_', '-')} needs a second file, but there is one; leave "
                    "it out"
                )
    if options.by == "":
        raise OptionError("--by is empty; name an attribute, such as genre")
    media.check_groups(options)
    if options.split == "":
        raise OptionError("--split is empty; give the separator of values, such as ','")
    media.check_plot(options)
    if options.plot is not None:
        refuse_unwritable([options.plot])


def require_reference(options: Options) -> None:
    """Raise an error if no gold standard is named."""
    if options.reference is None and not (options.hyp_annotator and options.ref_annotator):
        raise OptionError(
            "name REF, the gold standard; if HYP has it too, name the annotators with "
            "--hyp-annotator and --ref-annotator"
        )
