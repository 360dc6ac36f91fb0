"""Measure how well annotators agree on sets of items, beyond chance.

SETS has a line {"id": ..., "annotator": ..., "items": [...]} for each unit and annotator. The file
of --chance has 100 such lines or more for each, with sets that the annotator could have chosen by
chance.

For example:
  alignkit agree-sets sets.jsonl --chance samples.jsonl
  alignkit agree-sets sets.jsonl --chance samples.jsonl --annotators anna ben --json
  alignkit agree-sets sets.jsonl --chance samples.jsonl --normalizer max --aggregate micro
"""

from __future__ import annotations

from alignkit.agreement.options import SetOptions
from alignkit.cli.common.media import add_media, print_result
from alignkit.cli.options import add_fields, made
from alignkit.cli.parser import Options, Parser, add_options

RARE = "--csv --markdown"


def add_arguments(parser: Parser) -> None:
    add_options(parser, "SETS  file of the sets to compare; - is stdin", SETS="sets")
    add_fields(parser, SetOptions)
    add_media(parser.add_argument_group("output"))


def run(options: Options) -> None:
    from alignkit.agreement.set_agreement import agree_on_sets

    asked = made(SetOptions, options)
    print_result(agree_on_sets(options.sets, **vars(asked)), options)
