"""Turn a corpus from one format into another.

What the output format cannot hold is counted and told on stderr.

For example:
  alignkit convert gold.align gold.xml --to alignkit-xml --source fr.txt --target en.txt
  alignkit convert corpus.xml - --to pharaoh --annotator anna --to-source fr.txt
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from alignkit.cli.inputs import Input, add_reading_arguments, reading_options
from alignkit.corpus import SentencePair
from alignkit.formats import FORMATS, write_corpus


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("input", metavar="IN", help="file or folder to read; - is stdin")
    parser.add_argument("output", metavar="OUT", help="file or folder to write; - is stdout")
    add_reading_arguments(parser, flags=("--from", "--format"))
    group = parser.add_argument_group("what the output is")
    group.add_argument("--to", required=True, choices=FORMATS, metavar="F", help="its format")
    group.add_argument("--to-base", type=int, choices=(0, 1), help="number of its first word")
    group.add_argument("--to-transpose", action="store_true", help="write links target first")
    group.add_argument("--to-source", metavar="FILE", help="write the source words there")
    group.add_argument("--to-target", metavar="FILE", help="write the target words there")
    group.add_argument("--annotator", metavar="A", help="write the alignments of this one alone")
    group.add_argument(
        "--swap", action="store_true", help="exchange source and target, words and links"
    )


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    source = Input(options.input, options.format, reading_options(options))
    pairs: Iterator[SentencePair] = source.pairs()
    if options.swap:
        pairs = map(SentencePair.transpose, pairs)
    lost = write_corpus(
        pairs,
        options.output,
        format=options.to,
        base=options.to_base,
        transpose=options.to_transpose,
        source=options.to_source,
        target=options.to_target,
        annotator=options.annotator,
    )
    for kind, count in lost.items():
        print(
            f"alignkit: {options.output}: format {options.to} cannot hold '{kind}' "
            f"of {count} pairs",
            file=sys.stderr,
        )
    return 0
