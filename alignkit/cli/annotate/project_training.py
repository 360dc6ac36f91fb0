"""Let annotators pass a training round before they work, and show who has passed.

In a training round, annotators draw the links of pairs whose links are known (gold), and see after
each pair what differs. They pass if F1 of their links, over all pairs of the round, reaches
--mark; else they try again. Until then, the server gives them no other pairs. Annotators who have
begun to work already need not train. The answers count nowhere else: not in exports, agreement or
progress.

--gold begins a round, in place of the one before, with pairs that NAME has finished: those of the
project, which nobody is given to annotate then, or those of --from. Without --gold, --admit, and
--end, the command shows who has passed. The server may be running.

For example:
  alignkit project training corpus.jsonl.alignkit --gold gold --ids p05 p08 p26 --mark 0.8
  alignkit project training corpus.jsonl.alignkit --gold gold --from training.jsonl
  alignkit project training corpus.jsonl.alignkit
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from alignkit.annotate.project.names import PASS_MARK
from alignkit.cli.annotate.project import add_project_argument, open_project
from alignkit.cli.common import inputs
from alignkit.cli.common.messages import json_text, say, visible_lines
from alignkit.cli.parser import Options, Parser, add_options, annotator_name, option_values, real
from alignkit.errors import OptionError

if TYPE_CHECKING:
    from alignkit.annotate.project.store import Store
    from alignkit.annotate.training_table import TrainingTable
    from alignkit.model.corpus import Corpus


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit project training`."""
    add_project_argument(parser)
    add_options(
        parser,
        f"""
        --gold NAME  begin a round with the links of this annotator
        --ids ID...  pairs of the round, in this order (default: all that NAME has finished)
        --from FILE  corpus that has the pairs (default: the project)
        --mark F1  F1 of links that passes, above 0 and at most 1 (default: {PASS_MARK})
        --admit NAME  let an annotator begin to work without having passed
        --end  end the round: all annotators may work
        --dry-run  show what a round would be, but do not begin it
        """,
        ids={"default": []},
        mark={"type": real("a number above 0, at most 1", 0, 1), "default": PASS_MARK},
        admit=annotator_name,
        **{"from": {"dest": "corpus"}},
    )
    inputs.add_reading_arguments(parser)
    add_options(parser, "--json  print JSON (default: a table)")


def run(options: Options) -> None:
    """Begin or end a training round, let somebody begin to work, or show who has passed."""
    from alignkit.annotate import training
    from alignkit.annotate.training_table import training_table

    acts = [options.gold is not None, options.admit is not None, options.end]
    if sum(acts) > 1:
        raise OptionError("--gold, --admit and --end exclude each other: give one of them")
    if options.gold is None and (options.ids or options.corpus or options.dry_run):
        raise OptionError("--ids, --from and --dry-run are for a new round: give --gold NAME")
    with open_project(options, readonly=options.dry_run or not any(acts)) as store:
        if options.gold is not None:
            _begin(options, store)
        elif options.admit is not None:
            training.admit(store, options.admit, "the command")
        elif options.end:
            training.end_training(store)
        if options.dry_run:
            return
        with store.database.reading() as conn:
            table = training_table(conn)
    _show(options, table)


def _begin(options: Options, store: Store) -> None:
    """Begin a round, and say what that changed."""
    from alignkit.annotate.training import begin_training, made_in_words

    made = begin_training(
        store,
        corpus=_corpus(options),
        assigned=True,
        **option_values(options, "gold", "mark", "ids", "dry_run"),
    )
    for text in made_in_words(made, options.mark):
        say(text)
    if options.dry_run:
        say("dry run: nothing was stored")


def _corpus(options: Options) -> Corpus | None:
    """Return the corpus of --from; None without it."""
    from alignkit.model.corpus import Corpus

    if options.corpus is None:
        return None
    return Corpus(inputs.Input.of(options, options.corpus).pairs())


def _show(options: Options, table: TrainingTable | None) -> None:
    """Print who has passed."""
    from alignkit.annotate.training_table import printed

    if options.json:
        print(json_text(None if table is None else table.to_dict()))
    elif table is None:
        print("there is no training round")
    else:
        print(visible_lines(str(printed(table))))
