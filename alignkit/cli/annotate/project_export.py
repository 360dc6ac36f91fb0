"""Write the annotations of a project as a corpus.

All pairs are written, also unfinished ones; --done leaves unfinished work out. stderr shows how
much is unfinished. A corpus cannot mark work as unfinished: if you read the file again, all of it
counts as done. (To keep the difference, merge projects with `import`.) A pair that is done without
links has an empty alignment. A pair that was only judged has its judgment. A pair that somebody
only looked at is not annotated by them. The server may be running.

After adjudication, the gold standard is one of the annotators. OUT.provenance.jsonl records where
its links come from: one JSON object for each decision, with who made it, on which votes, and why.

For example:
  alignkit project export corpus.jsonl.alignkit gold.jsonl --to alignkit-jsonl
  alignkit project export corpus.jsonl.alignkit - --to pharaoh --annotator anna --done
"""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import TYPE_CHECKING

from alignkit.cli.annotate.project import add_project_argument, open_project
from alignkit.cli.common.messages import counted, say
from alignkit.cli.corpora.convert import add_writing_arguments, check_writing, of_annotator, write
from alignkit.cli.parser import Options, Parser, add_options, output
from alignkit.io.atomic_files import replacing
from alignkit.io.formats import WRITTEN

if TYPE_CHECKING:
    from alignkit.annotate.project.store import Store


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit project export`."""
    add_project_argument(parser)
    add_options(
        parser,
        """
        OUT  file or folder to write; - is stdout
        """,
        OUT={"dest": "output", "type": output},
    )
    group = add_writing_arguments(parser, ", ".join(WRITTEN))
    add_options(
        group,
        """
        --annotator A  write only the work of this annotator (default: all)
        --done  leave out work that is not marked as done
        """,
    )
    add_options(
        group.add_mutually_exclusive_group(),
        """
        --provenance FILE  file for the decisions behind the gold standard (default:
            OUT.provenance.jsonl, unless OUT is stdout)
        --no-provenance  do not write the decisions behind the gold standard
        """,
        provenance=output,
    )


def run(options: Options) -> None:
    """Write the work in a project, and report what is unfinished or left out."""
    from alignkit.annotate.exporting import exported_work

    check_writing(options)
    with open_project(options, readonly=True) as store:
        unfinished: Counter[str] = Counter()
        outdated: Counter[str] = Counter()
        pairs = exported_work(
            store,
            annotator=options.annotator,
            done=options.done,
            unfinished=unfinished,
            outdated=outdated,
        )
        if options.annotator is None:
            pairs = of_annotator(pairs, options.project, None, options.to)
        write(counted(pairs, options.project, store.project().pairs), options)
        _write_provenance(store, options)
    if unfinished:
        shares = ", ".join(f"{count} by {name}" for name, count in sorted(unfinished.items()))
        left_out = "they are left out" if options.done else "--done leaves them out"
        say(
            f"{options.project}: {unfinished.total()} of the alignments are not marked as done "
            f"({shares}); {left_out}"
        )
    if outdated:
        say(
            f"{options.project}: {outdated.total()} trees are left out, because their words were "
            "corrected"
        )


def _write_provenance(store: Store, options: Options) -> None:
    """Write where the links of the gold standard come from, if it is exported."""
    path = options.provenance
    if path is None:
        unwanted = options.no_provenance or options.output == "-"
        if unwanted or options.annotator not in (None, store.project().gold):
            return
        path = options.output.rstrip("/" + os.sep) + ".provenance.jsonl"
    from alignkit.annotate.adjudication.provenance import provenance

    lines = [json.dumps(x, ensure_ascii=False) for x in provenance(store, done=options.done)]
    if lines or options.provenance is not None:
        with replacing(path) as stream:
            stream.writelines(f"{line}\n" for line in lines)
        if lines:
            text = f"the origin of {len(lines):,} decisions of the gold standard"
        else:
            where = " in a done pair" if options.done else ""
            text = (
                f"nothing is decided{where}; 'alignkit project log' has the edits of each annotator"
            )
        say(f"{path}: {text}")
