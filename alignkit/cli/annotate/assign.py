"""Say who annotates which pairs of a project, in what order, and who sees suggestions.

Without --double all annotate all pairs. With it each pair is one's, and a share of them, drawn in
each stratum, is two's; loads are even. The trial set comes first, for all. Nobody sees what others
do. Part of the pairs is a control sample, in which some draw without suggestions, so that it can be
told how far these pull: 10 %, and at least 150 pairs (of fewer, all), unless --control says
otherwise.

What is assigned stays. A second run adds annotators, and rows for pairs that lack some; pairs that
come into the project later are assigned by the same plan. A server may be running: its pages have
the new list with the next pair that they open.

For example:
  alignkit assign corpus.jsonl.alignkit --annotators anna ben
  alignkit assign corpus.jsonl.alignkit --annotators anna ben carla --double 0.2 --trial 20
  alignkit assign corpus.jsonl.alignkit --annotators dora --dry-run
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from alignkit._support.wording import visible
from alignkit.cli.common.files import require_extra
from alignkit.cli.common.messages import json_text, say
from alignkit.cli.parser import add_options, annotator_name, number, real

if TYPE_CHECKING:
    from alignkit.annotate.assignment import Assignment
_share = real("a share from 0 to 1", 0, 1)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_options(parser, """
        PROJECT  the project's file
        --annotators NAME...  who annotates, besides those who do already
        """, PROJECT={"dest": "project"},
        annotators={"default": [], "type": annotator_name})  # fmt: skip
    add_options(parser.add_argument_group("which pairs"), """
        --double SHARE  the share of pairs that two annotate, the others one (default: all annotate
            all)
        --trial N  pairs that all annotate first (default: 0)
        --stratify BY...  keep shares in strata by length, or by attributes of pairs (default:
            length)
        --seed N  of all draws (default: 0)
        """, double={"type": _share}, trial={"type": number(0)},
        seed={"type": number(0)})  # fmt: skip
    add_options(parser.add_argument_group("in what order, with which suggestions"), """
        --order BY  hash: at random; uncertainty: what suggestions leave most open first; or an
            attribute, such as document: pairs of one value together, as in the corpus (default:
            hash)
        --control SHARE  the share of pairs in the control sample; 0 for none (default: 0.1, or 0
            where pairs are judged or extracted)
        --control-least N  how many pairs it has at least, if there are so many (default: 150)
        """, control={"type": _share},
        control_least={"type": number(0)})  # fmt: skip
    add_options(parser.add_argument_group("output"), """
        --dry-run  tell what would be done
        --json  print JSON (default: tables)
        """)  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    require_extra("annotate")
    from alignkit.annotate.assignment import assign_pairs
    from alignkit.annotate.project.store import Store

    names = ("double", "trial", "seed", "stratify", "order", "control", "control_least", "dry_run")
    chosen = {name: getattr(options, name) for name in names}
    with Store.open(options.project, readonly=options.dry_run) as store:
        assignment = assign_pairs(store, options.annotators, **chosen)
    print(json_text(assignment.to_dict()) if options.json else assignment)
    _tell(options, assignment)
    return 0


def _tell(options: argparse.Namespace, assignment: Assignment) -> None:
    if options.dry_run:
        say("dry run: nothing was stored")
    elif not assignment.new:
        say(f"{options.project}: nothing to add; what is assigned stays as it is")
    arms = sum(share.split + share.bare + share.coin for share in assignment.annotators)
    if assignment.new and assignment.plan.control > 0 and not arms:
        say(
            "no pair is in the control sample: it takes pairs outside the trial that nobody has "
            "begun"
        )
    if assignment.new and arms and not assignment.suggested:
        say(
            "no links are suggested yet: the control sample was drawn by length alone, and is for "
            "links that are suggested later"
        )
    for name, count in assignment.apart.items():
        say(
            f"{visible(name)} has begun {count} pairs and is not among the annotators: these pairs "
            f"are out of reach then, and their votes do not count; --annotators {visible(name)} "
            "assigns them"
        )
    idle = [share.annotator for share in assignment.annotators if share.pairs == share.trial]
    if idle and assignment.plan.double is not None:
        say(
            f"{visible(', '.join(idle))}: nothing but trial pairs, for all others have annotators "
            "enough; a larger --double gives them some, and so do new pairs"
        )
