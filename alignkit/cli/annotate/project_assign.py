"""Assign pairs to annotators, order the pairs, and take a control sample.

Without --double and --each, everybody annotates all pairs. With --double, each pair goes to one
annotator, and a share of the pairs of each stratum goes to two; with --each K, each pair goes to K
of the annotators, drawn at random. All get the same amount of work, and vary with whom they share
pairs. All annotate the trial pairs first. Annotators do not see each other's work. In the control
sample, some annotators get no suggestions, so you can measure how far suggestions pull. It has 10 %
of the pairs and at least 150 (or all, if there are fewer), unless --control says otherwise.

Assigned pairs stay assigned, unless --move moves some that are not begun. A second run adds
annotators, and assigns pairs that have too few. Pairs that are added to the project later follow
the same plan. The server may be running: its pages show the new list with the next pair that is
opened.

For example:
  alignkit project assign corpus.jsonl.alignkit --annotators anna ben
  alignkit project assign corpus.jsonl.alignkit --annotators anna ben carla --double 0.2 --trial 20
  alignkit project assign corpus.jsonl.alignkit --annotators anna ben carla --each 2 --dry-run
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from alignkit._support.wording import visible
from alignkit.cli.annotate.project import add_project_argument, open_project
from alignkit.cli.common.messages import json_text, say
from alignkit.cli.parser import (
    Options,
    Parser,
    add_options,
    annotator_name,
    number,
    option_values,
    real,
)

if TYPE_CHECKING:
    from alignkit.annotate.assignment_report import Assignment
_share = real("a share from 0 to 1", 0, 1)


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit project assign`."""
    add_project_argument(parser)
    add_options(
        parser,
        """
        --annotators NAME...  annotators to add to the project
        """,
        annotators={"default": [], "type": annotator_name},
    )
    add_options(
        parser.add_argument_group("pairs"),
        """
        --double SHARE  share of the pairs to give to two annotators; each other pair goes to one
            (default: everybody annotates all pairs)
        --each K  number of annotators that each pair gets, instead of --double
        --trial N  number of pairs that everybody annotates first (default: 0)
        --stratify BY...  take the same share of --double and --trial pairs from each group; groups
            are by length, uncertainty or an attribute (default: length)
        --seed N  seed of all random draws (default: 0)
        """,
        double=_share,
        each=number(1),
        trial=number(0),
        seed=number(0),
    )
    add_options(
        parser.add_argument_group("order and suggestions"),
        """
        --order BY  order of the pairs: hash, which is random, uncertainty, or an attribute. The
            pairs with the most uncertain suggestions come first by uncertainty; an attribute, such
            as document, keeps pairs with the same value together, as in the corpus (default: hash)
        --control SHARE  size of the control sample, in which some or all annotators see no
            suggestions; 0 for none (default: 0.1, or 0 if pairs are judged or extracted)
        --control-least N  minimum number of pairs in the control sample (default: 150)
        """,
        control=_share,
        control_least=number(0),
    )
    add_options(
        parser.add_argument_group("output"),
        """
        --move MOVE  move pairs that FROM has not begun to TO, or to nobody if TO is '', and
            assign nothing
        --count N  number of pairs that --move moves (default: 1)
        --dry-run  show the result without assigning anything
        --json  print JSON (default: tables)
        """,
        move={"nargs": 2, "metavar": ("FROM", "TO")},
        count={"type": number(1), "default": 1},
    )


def run(options: Options) -> None:
    """Assign pairs to annotators, or move open pairs from one to another."""
    from alignkit.annotate.assignment import assign_pairs
    from alignkit.annotate.reassignment import move_pairs

    if options.move is not None:
        giver, taker = (name or None for name in options.move)  # '' is nobody
        with open_project(options, readonly=options.dry_run) as store:
            moved = move_pairs(store, giver, taker, options.count, dry_run=options.dry_run)
        print(json_text(moved._asdict()) if options.json else moved.text)
        return
    drawn = ("double", "each", "trial", "seed", "stratify", "order")
    names = (*drawn, "control", "control_least", "dry_run")
    chosen = option_values(options, *names)
    with open_project(options, readonly=options.dry_run) as store:
        assignment = assign_pairs(store, options.annotators, **chosen)
    print(json_text(assignment.to_dict()) if options.json else assignment)
    _tell(options, assignment)


def _tell(options: Options, assignment: Assignment) -> None:
    """Report that nothing was stored or added, and warnings."""
    if options.dry_run:
        say("dry run: nothing was stored")
    elif not assignment.new:
        say(f"{options.project}: nothing to add; the assignment is unchanged")
    for text in assignment.warnings():
        say(visible(text))
