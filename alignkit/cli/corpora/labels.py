"""Count how often each annotator gave each label.

A scheme has several views: full keeps every label with its flags, binary has only paraphrase (1)
and no paraphrase (0), and others are in between.

For example:
  alignkit labels corpus.json --scheme turku --view binary
  alignkit labels corpus.jsonl --scheme paraphrase --by genre --json
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace

from alignkit.cli.common import inputs, schemes
from alignkit.cli.common.files import OPENED
from alignkit.cli.common.media import add_groups, add_media, check_groups, print_result
from alignkit.cli.common.messages import warn
from alignkit.cli.parser import Options, Parser, add_options, option_values
from alignkit.errors import AlignkitError, JudgmentError
from alignkit.io.reading import open_reading
from alignkit.model.labels import get_view


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit labels`."""
    inputs.add_input(parser)
    schemes.add_scheme_argument(parser)
    schemes.add_view_argument(parser)
    add_options(
        parser,
        """
        --annotator A  count the labels of this annotator; repeatable (default: all)
        """,
        annotator={"action": "append"},
    )
    add_groups(parser)
    schemes.add_rewrites_argument(parser)
    add_media(parser, csv="print the rows of the table as CSV")
    inputs.add_reading_arguments(parser)


def run(options: Options) -> None:
    """Print the counts of the labels."""
    from alignkit.corpora.label_counts import count_labels

    check_groups(options)
    read = inputs.Input.of(options)
    schemes.settle_scheme(options, read)
    view = get_view(options.scheme, options.view)
    corpus = read.corpus(judged=True)
    counts = count_labels(
        corpus,
        view,
        annotators=options.annotator,
        **option_values(options, "by", "split", "rewrites", "lenient_labels"),
    )
    if counts.rewrites:
        warn(
            f"{options.input}: {counts.rewrites} of the pairs are rewrites, which nobody "
            "judged; they are left out (--rewrites includes them)"
        )
    print_result(counts, options)


def placed(error: JudgmentError) -> str:
    """Return an error message with file and line; the inputs are read again to find them."""
    places = list(_places(error.judgment))
    of_pair = [place for id, place in places if id == error.pair]
    place = (of_pair or [place for _, place in places] or [""])[0]
    place = place or " and ".join(OPENED)
    formats = {format for format, _ in OPENED.values()}
    hint = ""
    if "judgments" in formats:
        name = error.annotator[:40]
        hint = f"; if {name!r} is no annotator, call its column 'attribute.{name}'"
    return f"{place}: {error.message}{hint}; to ignore such labels, add --lenient-labels"


def _places(judgment: str) -> Iterator[tuple[str, str]]:
    """Yield the id and the place of each pair with a judgment."""
    for path, (format, options) in OPENED.items():
        if not (os.path.isfile(path) or os.path.isdir(path)):
            continue
        lenient = replace(options, lenient=True, lenient_labels=True)
        kind, reading = open_reading(path, format=format, options=lenient)
        with suppress(AlignkitError), closing(reading):
            for record in kind.parse(reading):
                for raw in record.annotations.values():
                    if raw.judgment == judgment:
                        yield record.id, f"{raw.path or record.path or path}:{record.line}"
