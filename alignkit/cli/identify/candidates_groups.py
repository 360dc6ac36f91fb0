"""Pair the texts of a group, such as the definitions of a term, that fall in one cluster.

IN has two columns below a line with their names, or JSON lines: the group (--group) and the text.
Texts are clustered within their group, and every two of a cluster become a pair. Pairs are dropped
if one text contains the other, or they differ in hardly more than punctuation.

For example:
  alignkit candidates groups definitions.tsv --group entity -o candidates.jsonl
  alignkit annotate candidates.jsonl --task judge --scheme parade-votes
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from alignkit.cli.common.files import require_extra
from alignkit.cli.identify.candidates import SHARE, add_output, print_report
from alignkit.cli.parser import add_options, number
from alignkit.errors import FormatError
from alignkit.io.options import ReadOptions
from alignkit.io.reading import write_corpus
from alignkit.io.strict_json import parse_json
from alignkit.io.text_files import TextFile

if TYPE_CHECKING:
    from alignkit.identification.groups import GroupedText


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_options(parser, """
        IN  columns separated by tabs, or JSON lines; - is stdin
        --group NAME  column of the group (default: group)
        --text NAME  column of the text (default: text)
        --encoding E  encoding of the input (default: utf-8)
        """, IN={"dest": "input"}, group={"default": "group"}, text={"default": "text"},
        encoding={"default": "utf-8"})  # fmt: skip
    add_options(parser.add_argument_group("clusters"), """
        --clusters N  clusters of each group: half, for half as many as texts, or a number
            (default: half)
        --min-group N  groups with fewer different texts are dropped (default: 5)
        --max-alike X  pairs that are this alike letter by letter are dropped (default: 0.9)
        --all-pairs  pair all texts of a group, without clusters
        """, clusters={"type": _clusters}, min_group={"type": number(2), "default": 5},
        max_alike={"type": SHARE, "default": 0.9})  # fmt: skip
    add_output(parser, "the candidates, as alignkit-jsonl")


def _clusters(text: str) -> int | None:
    return None if text == "half" else number(1)(text)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    require_extra("identify")
    from alignkit.identification.groups import candidate_groups

    result = candidate_groups(
        _texts(options), clusters=options.clusters, least_group=options.min_group,
        most_alike=options.max_alike, every=options.all_pairs, seed=options.seed,
    )  # fmt: skip
    if options.output is not None:
        write_corpus(result.pairs, options.output, format="alignkit-jsonl")
    print_report(result, options)
    return 0


def _texts(options: argparse.Namespace) -> Iterator[GroupedText]:
    from alignkit.identification.groups import GroupedText

    path = options.input
    names: list[str] | None = None
    for line, text in TextFile(path, ReadOptions(encoding=options.encoding)).lines(path):
        if not text.strip():
            continue
        if text.lstrip().startswith("{"):
            row = parse_json(text, path, line)
        elif names is None:
            names = [name.strip() for name in text.split("\t")]
            continue
        else:
            row = dict(zip(names, text.split("\t"), strict=False))
        if not all(isinstance(row.get(name), str) for name in (options.group, options.text)):
            wanted = f"{options.group!r} and {options.text!r}"
            raise FormatError(f"has no texts {wanted}; name the columns", path, line)
        yield GroupedText(row[options.group], row[options.text], str(row.get("id", line)))
