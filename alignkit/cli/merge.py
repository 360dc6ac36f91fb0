"""Put several annotations of the same sentence pairs into one corpus.

Pairs are joined by their ids, and their words must agree in number; words that differ are told.
An input with several annotators adds each as NAME/ANNOTATOR. --base, --transpose and the other
options of reading hold for BASE and for every FILE.

For example:
  alignkit merge pairs.xml --add anna=anna.wa:naacl --add ben=ben.xml -o corpus.xml
  alignkit merge corpus.jsonl --add giza=giza.align:pharaoh --in-order -o - > with-giza.jsonl
"""

from __future__ import annotations

import argparse

from alignkit.choice import naming
from alignkit.cli.convert import tell_lost
from alignkit.cli.inputs import Input, add_reading_arguments, detect_format, reading_options
from alignkit.cli.messages import say
from alignkit.cli.order import add_order_argument
from alignkit.cli.written import add_corpus_output, corpus_format
from alignkit.corpus import Corpus
from alignkit.errors import JoinError, OptionError
from alignkit.formats import FORMATS, get_format, write_corpus
from alignkit.in_step import hinting, in_order
from alignkit.join import Differences, merge

__all__ = ["add_arguments", "merged", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "input", metavar="BASE", help="the pairs to which annotations are added; - is stdin"
    )
    parser.add_argument(
        "--add",
        action="append",
        required=True,
        metavar="NAME=FILE:FORMAT",
        help="an annotation to add under a name; may be repeated (FORMAT may be left out, as for "
        "--format)",
    )
    add_corpus_output(
        parser,
        "file to write; - is stdout",
        "alignkit-jsonl for .jsonl and -, else alignkit-xml",
    )
    add_order_argument(parser)
    add_reading_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    format = corpus_format(options, ())
    if "annotators" not in get_format(format).holds:
        raise OptionError(
            f"format {format} holds the alignments of one annotator; merge into alignkit-xml or "
            "alignkit-jsonl"
        )
    added: dict[str, tuple[str, str | None]] = {}
    for word in options.add:
        name, path, declared = _split(word)
        if name in added:
            raise OptionError(f"--add names {name!r} twice")
        added[name] = path, declared
    if [options.input, *(path for path, _ in added.values())].count("-") > 1:
        raise OptionError("standard input (-) can be read once only; name files for the others")
    base = Input(options.input, options.format, reading_options(options))
    others = {name: _input(*file, options) for name, file in added.items()}
    corpus = merged(base, others, partial=options.partial, ordered=options.in_order)
    tell_lost(options.output, format, write_corpus(corpus, options.output, format=format))
    return 0


def merged(base: Input, others: dict[str, Input], *, partial: bool, ordered: bool) -> Corpus:
    """Join the annotations of several inputs; tell on stderr which words and pairs differ.

    Raises
    ------
    JoinError
        If the pairs differ; the message names the inputs.
    """
    corpus = base.corpus()
    for name, other in others.items():
        pairs = other.pairs()
        if ordered:
            _, pairs = in_order(corpus, pairs)
        try:
            with naming(base.path, other.path):
                corpus = merge(corpus, {name: pairs}, partial=partial, tell=_tell)
        except JoinError as error:
            raise hinting(error) from None
    return corpus


def _input(path: str, format: str | None, options: argparse.Namespace) -> Input:
    """Prepare an added file; it shares the texts of the base where its format holds none."""
    found = detect_format(path, format, reading_options(options))
    texts = {} if get_format(found).text_beside else {"source": None, "target": None}
    return Input(path, found, reading_options(options, **texts))


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
    say(f"{name}: {differences}")
