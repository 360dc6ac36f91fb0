"""Write whole corpora, for the commands that make one: in which format, and what it cannot hold."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable

from alignkit.cli.convert import tell_lost
from alignkit.cli.parser import format_name, output
from alignkit.corpus import Corpus
from alignkit.errors import OptionError
from alignkit.formats import WRITTEN, get_format, write_corpus
from alignkit.output import standard_stream

_BY_ENDING = "by its ending alignkit-jsonl (.jsonl, -) or alignkit-xml (.xml), else as the input"


def add_corpus_output(
    parser: argparse.ArgumentParser, text: str, default: str = _BY_ENDING
) -> None:
    """Add the options that name the output and its format."""
    parser.add_argument("-o", "--output", metavar="OUT", required=True, type=output, help=text)
    parser.add_argument(
        "--to", type=format_name(WRITTEN), metavar="F", help=f"format of OUT (default: {default})"
    )


def refuse_json_beside(options: argparse.Namespace) -> None:
    """Refuse to print JSON where the corpus is printed."""
    if options.json and standard_stream(options.output) is sys.stdout:
        raise OptionError("--json prints on standard output: write the corpus to a file by -o")


def corpus_format(options: argparse.Namespace, read: Iterable[str]) -> str:
    """Return the format of the output: that of --to, of the name's ending, or of what was read."""
    if options.to is not None:
        return str(options.to)
    name = options.output.removesuffix(".gz")
    if name.endswith((".jsonl", "-")):
        return "alignkit-jsonl"
    formats = set(read)
    if name.endswith(".xml") or len(formats) != 1:
        return "alignkit-xml"
    return formats.pop()


def write_whole(corpus: Corpus, path: str, format: str) -> None:
    """Write a corpus, and tell on stderr what the format cannot hold."""
    if "annotators" not in get_format(format).holds and len(corpus.aligners) > 1:
        raise OptionError(
            f"format {format} holds the alignments of one annotator, but these are of "
            f"{', '.join(corpus.aligners)}; write alignkit-xml or alignkit-jsonl, and choose by "
            "`convert --annotator`"
        )
    tell_lost(path, format, write_corpus(corpus, path, format=format))
