"""Test whether a system may replace an annotator: the alternative annotator test.

CORPUS is one file or folder with several annotators, or several files of the same sentence pairs,
one for each annotator. The system is an annotator of CORPUS, or a file of links in any format.

In each pair, the test compares the system and an annotator with the other annotators. It never
decides on pairs that the system knows: if it is a copy of an annotator, was learned from these
pairs, or if annotators were shown its links, the answer says so.

For example:
  alignkit agree-replace corpus.jsonl --system gpt --epsilon 0.15 --by genre
  alignkit agree-replace anna.wa ben.wa cleo.wa --system giza.align:pharaoh --in-order
  alignkit agree-replace corpus.jsonl --system gpt --measure judgments --scheme turku --view base
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from alignkit.agreement.replacement.options import ReplaceOptions
from alignkit.cli.common import inputs
from alignkit.cli.common.annotators import add_corpora, add_joining, read_with_base
from alignkit.cli.common.media import add_forms, print_findings
from alignkit.cli.common.named_files import file_and_parts
from alignkit.cli.corpora.merge import input_of, with_input
from alignkit.cli.options import add_fields, made
from alignkit.cli.parser import Options, Parser, add_options
from alignkit.errors import OptionError, UnknownNameError
from alignkit.io.atomic_files import refuse_unwritable
from alignkit.io.inputs import naming

if TYPE_CHECKING:
    from alignkit.model.corpus import Corpus

RARE = "--csv --in-order --markdown"
"""Options of output and of reading that only --help-all shows."""

_FORM = "NAME|FILE[:FORMAT][:base=1][:transpose]"


def add_arguments(parser: Parser) -> None:
    add_corpora(parser)
    add_options(
        parser,
        f"""
        --system {_FORM}  the system: its name in CORPUS, or a file of its links, called by the name
            of the file
        """,
        system={"required": True},
    )
    groups = add_fields(parser, ReplaceOptions)
    add_joining(groups["annotators"])
    add_forms(parser.add_argument_group("output"))
    inputs.add_reading_arguments(parser)


def run(options: Options) -> None:
    from alignkit.agreement.replacement.question import replaceable

    if options.html is not None:
        refuse_unwritable([options.html])
    judged = options.measure == "judgments"
    if not judged or options.scheme is not None:
        made(ReplaceOptions, options)  # a wrong option is an error before anything is read
    corpus, base = read_with_base(options, judged=judged)
    asked = made(ReplaceOptions, options)
    corpus, system = _with_system(corpus, base, options)
    with naming(*options.corpus):
        result = replaceable(corpus, system, **vars(asked))
    print_findings(result, options, title=result.title)


def _with_system(corpus: Corpus, base: inputs.Input, options: Options) -> tuple[Corpus, str]:
    """Return the corpus with the links of the system, and its name."""
    word = options.system
    if word in corpus.annotators:
        if options.in_order and len(options.corpus) == 1:
            raise OptionError("--in-order needs several files, but there is one: leave it out")
        return corpus, word
    path, parts = file_and_parts(word)
    if path != "-" and not os.path.exists(path):
        raise UnknownNameError("annotator or file of links", word, corpus.annotators)
    name = Path(path).name.split(".")[0] or path
    if name in corpus.annotators:
        raise OptionError(
            f"--system {word}: the corpus has an annotator {name!r} already; give this name, or "
            "another file"
        )
    other = input_of(path, parts, inputs.reading_options(options), f"--system {_FORM}")
    partial = options.partial
    ordered = options.in_order
    corpus = with_input(corpus, base, name, other, partial=partial, ordered=ordered)
    if name not in corpus.annotators:
        raise OptionError(
            f"{path}: has the links of several annotators, or none; name the system with merge "
            "first, and give that name"
        )
    return corpus, name
