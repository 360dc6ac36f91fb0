"""Write what was annotated in a project as a corpus.

All pairs are written, each with what is there of it: unfinished work too, unless --done leaves it
out; stderr tells how much. A file does not tell such work from what is done: read again, it is done
(merged by `import`, a project keeps the difference). A pair that is marked done without links has
an empty alignment; one that was only judged has its judgment; one that somebody only looked at is
not annotated by them. A server may be running.

For example:
  alignkit export corpus.jsonl.alignkit gold.jsonl --to alignkit-jsonl
  alignkit export corpus.jsonl.alignkit - --to pharaoh --annotator anna --done
"""

from __future__ import annotations

import argparse
from collections import Counter

from alignkit.cli.convert import add_writing_arguments, check_writing, checked, write
from alignkit.cli.extras import require_extra
from alignkit.cli.messages import say
from alignkit.cli.parser import output
from alignkit.cli.progress import counted
from alignkit.formats import FORMATS, get_format

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("project", metavar="PROJECT", help="the project's file")
    parser.add_argument(
        "output", metavar="OUT", type=output, help="file or folder to write; - is stdout"
    )
    group = add_writing_arguments(parser, f"one of {', '.join(FORMATS)}")
    group.add_argument(
        "--annotator", metavar="A", help="the work of this one alone (default: of all)"
    )
    group.add_argument("--done", action="store_true", help="leave out work that is not marked done")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    require_extra("annotate")
    from alignkit.annotate.exchange.exporting import exported
    from alignkit.annotate.store import Store

    check_writing(options)
    with Store.open(options.project, readonly=True) as store:
        unfinished: Counter[str] = Counter()
        pairs = exported(
            store, annotator=options.annotator, done=options.done, unfinished=unfinished
        )
        if options.annotator is None and "annotators" not in get_format(options.to).holds:
            pairs = checked(pairs, options.project)
        write(counted(pairs, options.project, store.project().pairs), options)
    if unfinished:
        told = ", ".join(f"{count} by {name}" for name, count in sorted(unfinished.items()))
        total = sum(unfinished.values())
        say(
            f"{options.project}: {total} alignments went along that are not marked "
            f"done ({told}); --done leaves them out"
        )
    return 0
