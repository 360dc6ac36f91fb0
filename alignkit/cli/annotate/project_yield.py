"""Count the pairs taken from documents, and the documents without pairs.

PROJECT was made by 'alignkit annotate --task extract'. A document counts when it is marked as done,
with or without pairs. 'pairs per document' is the mean over all finished documents, and 'pairs per
nonempty' over those with pairs, as in Kanerva et al. (2023). 'empty' is the share of documents
without pairs, 'coverage' the share of the characters of both texts that are in a pair, and 'length'
the mean number of characters of an extracted text. The server may be running.

For example:
  alignkit project yield articles.alignkit
  alignkit project yield articles.alignkit --json
"""

from __future__ import annotations

from alignkit.cli.annotate.project import add_project_argument, open_project
from alignkit.cli.common.messages import json_text
from alignkit.cli.parser import Options, Parser, add_options


def add_arguments(parser: Parser) -> None:
    add_project_argument(parser)
    add_options(parser, "--json  print JSON (default: a table)")


def run(options: Options) -> None:
    from alignkit.annotate.extraction_yield import count_yield

    with open_project(options, readonly=True) as store:
        counts = count_yield(store)
    print(json_text(counts.to_dict()) if options.json else counts)
