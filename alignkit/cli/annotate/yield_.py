"""Count the pairs that were taken from documents, and the documents that gave none.

PROJECT was made by 'alignkit annotate --task extract'. A document counts when it is marked done:
with pairs, or without any. Pairs a document is the mean over all that are done. A server may be
running.

For example:
  alignkit yield articles.alignkit
  alignkit yield articles.alignkit --json
"""

from __future__ import annotations

import argparse

from alignkit.cli.common.files import require_extra
from alignkit.cli.common.messages import json_text
from alignkit.cli.parser import add_options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_options(parser, """
        PROJECT  the project's file
        --json  print JSON (default: a table)
        """, PROJECT={"dest": "project"})  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    require_extra("annotate")
    from alignkit.annotate.exporting import count_yield
    from alignkit.annotate.project.store import Store

    with Store.open(options.project, readonly=True) as store:
        counts = count_yield(store)
    print(json_text(counts.to_dict()) if options.json else counts)
    return 0
