"""Put several annotations of the same sentence pairs into one corpus.

Pairs are joined by their ids, and their words must agree in number; words that differ are told.
An input with several annotators adds each as NAME/ANNOTATOR.

For example:
  alignkit merge pairs.xml --add anna=anna.align:pharaoh --add giza=giza.wa:naacl -o corpus.xml
"""

from __future__ import annotations

import argparse
import sys

from alignkit.cli.inputs import Input, add_reading_arguments, detect_format, reading_options
from alignkit.errors import OptionError
from alignkit.formats import FORMATS, get_format, write_corpus
from alignkit.join import Differences, merge


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("input", metavar="BASE", help="the pairs to which annotations are added")
    parser.add_argument(
        "--add",
        action="append",
        required=True,
        metavar="NAME=FILE:FORMAT",
        help="an annotation to add under a name; may be repeated",
    )
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="- is stdout")
    parser.add_argument(
        "--to",
        choices=FORMATS,
        metavar="F",
        help="format of OUT (default: alignkit-jsonl for .jsonl, else alignkit-xml)",
    )
    add_reading_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    base = Input(options.input, options.format, reading_options(options))
    others = {}
    for word in options.add:
        name, path, format = _split(word)
        if name in others:
            raise OptionError(f"--add names {name!r} twice")
        others[name] = _input(path, format, options)
    merged = merge(
        base.pairs(),
        {name: other.pairs() for name, other in others.items()},
        partial=options.partial,
        tell=_tell,
    )
    own = "alignkit-jsonl" if options.output.endswith((".jsonl", "-")) else "alignkit-xml"
    write_corpus(merged, options.output, format=options.to or own)
    return 0


def _input(path: str, format: str | None, options: argparse.Namespace) -> Input:
    """Prepare an added file; it shares the texts of the base where its format holds none."""
    beside = get_format(detect_format(path, format)).text_beside
    texts = {} if beside else {"source": None, "target": None}
    return Input(path, format, reading_options(options, **texts))


def _split(word: str) -> tuple[str, str, str | None]:
    name, equals, rest = word.partition("=")
    if not equals or not name or not rest:
        raise OptionError(f"--add {word}: expected NAME=FILE:FORMAT, e.g. anna=anna.align:pharaoh")
    path, colon, format = rest.rpartition(":")
    if colon and format in FORMATS:
        return name, path, format
    if colon and "/" not in format and "." not in format and "\\" not in format:
        get_format(format)  # raises, and lists the formats there are
    return name, rest, None


def _tell(name: str, differences: Differences) -> None:
    print(f"alignkit: {name}: {differences}", file=sys.stderr)
