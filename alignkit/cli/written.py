"""Write whole corpora, for the commands that make one: in which format, and what it cannot hold."""

from __future__ import annotations

import argparse
import sys

from alignkit.cli.convert import tell_lost
from alignkit.cli.parser import format_name, output
from alignkit.corpus import Corpus
from alignkit.errors import OptionError
from alignkit.formats import FORMATS, get_format, write_corpus
from alignkit.output import standard_stream

__all__ = ["add_corpus_output", "check_corpus_output", "write_whole"]


def add_corpus_output(parser: argparse.ArgumentParser, text: str) -> None:
    """Add the options that name the output and its format."""
    parser.add_argument("-o", "--output", metavar="OUT", required=True, type=output, help=text)
    parser.add_argument(
        "--to",
        type=format_name(FORMATS),
        metavar="F",
        help="format of OUT (default: alignkit-jsonl for .jsonl and -, else alignkit-xml)",
    )


def check_corpus_output(options: argparse.Namespace) -> str:
    """Return the format of the output.

    Raises
    ------
    OptionError
        If a folder cannot be written as it is named, or JSON is to be printed where the output is.
    """
    if options.json and standard_stream(options.output) is sys.stdout:
        raise OptionError("--json prints on standard output: write the corpus to a file by -o")
    own = "alignkit-jsonl" if options.output.endswith((".jsonl", "-")) else "alignkit-xml"
    return options.to or own


def write_whole(corpus: Corpus, path: str, format: str) -> None:
    """Write a corpus, and tell on stderr what the format cannot hold.

    Raises
    ------
    OptionError
        If the format holds the alignments of one annotator, and there are several.
    """
    if "annotators" not in get_format(format).holds and len(corpus.aligners) > 1:
        raise OptionError(
            f"format {format} holds the alignments of one annotator, but these are of "
            f"{', '.join(corpus.aligners)}; write alignkit-xml or alignkit-jsonl, and choose by "
            "`convert --annotator`"
        )
    tell_lost(path, format, write_corpus(corpus, path, format=format))
