"""Count how often each annotator gave each label, as a view of the scheme shows the judgments.

A scheme has several views: full keeps every label with its flags, binary says paraphrase (1) or
not (0), and others are between.

For example:
  alignkit labels corpus.json --scheme turku --view binary
  alignkit labels corpus.jsonl --scheme paraphrase --by genre --json
"""

from __future__ import annotations

import argparse

from alignkit.cli.grouping import add_groups, check_groups
from alignkit.cli.inputs import Input, add_reading_arguments, reading_options
from alignkit.cli.media import add_media
from alignkit.cli.messages import json_text, warn
from alignkit.cli.scheme import add_rewrites_argument, add_scheme_argument
from alignkit.labels import get_view


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("input", metavar="IN", help="file or folder to read; - is stdin")
    add_scheme_argument(parser, "of the judgments", required=True)
    parser.add_argument("--view", default="full", metavar="V", help="view of it (default: full)")
    parser.add_argument(
        "--annotator", metavar="A", action="append", help="whose; repeatable (default: all)"
    )
    add_groups(parser, metavar="ATTRIBUTE")
    add_rewrites_argument(parser)
    add_media(parser, csv="print a row for each row of the table")
    add_reading_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from alignkit.labels.label_counts import count_labels

    check_groups(options)
    view = get_view(options.scheme, options.view)
    corpus = Input(options.input, options.format, reading_options(options)).corpus(judged=True)
    counts = count_labels(
        corpus,
        view,
        annotators=options.annotator,
        by=options.by,
        split=options.split,
        lenient=options.lenient_labels,
        rewrites=options.rewrites,
    )
    if counts.rewrites:
        warn(
            f"{options.input}: {counts.rewrites} of the pairs are rewrites, which nobody judged, "
            "and left out; --rewrites counts them too"
        )
    if options.json:
        print(json_text(counts.to_json()))
    elif options.csv:
        print(counts.table().csv())
    else:
        print(counts.show(options.medium))
    return 0
