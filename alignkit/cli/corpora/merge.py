"""Merge several annotations of the same sentence pairs into one corpus.

Pairs are joined by their ids. Their sentences must have the same number of words; words that differ
are reported. If an input has several annotators, each is added as NAME/ANNOTATOR. --base,
--transpose and the other options of reading apply to BASE and to every FILE. If a FILE has another
base or direction, add base=0, base=1 or transpose after its format (transpose: links are target
first, or source first if --transpose is given).

For example:
  alignkit merge pairs.xml --add anna=anna.wa:naacl --add ben=ben.xml -o corpus.xml
  alignkit merge gold.align --add a=a.align:pharaoh:base=1 --add b=b.align:transpose -o both.xml
  alignkit merge corpus.jsonl --add giza=giza.align:pharaoh --in-order -o - > with-giza.jsonl
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from alignkit.cli.common import inputs
from alignkit.cli.common.files import DISORDER
from alignkit.cli.common.losses import tell_lost
from alignkit.cli.common.messages import warn
from alignkit.cli.common.named_files import file_and_parts
from alignkit.cli.corpora.convert import add_corpus_output, corpus_format
from alignkit.cli.parser import Options, Parser, add_options
from alignkit.corpora.join import Differences, merge
from alignkit.errors import JoinError, OptionError
from alignkit.io.formats import get_format
from alignkit.io.inputs import hinting, in_order, naming
from alignkit.io.options import ReadOptions
from alignkit.io.reading import write_corpus
from alignkit.model.corpus import Corpus

_ADDED = "NAME=FILE[:FORMAT][:base=1][:transpose]"
OWN = {f"base{equals}{base}": ("base", base) for equals in ("=", "") for base in (0, 1)}
OWN["transpose"] = "transpose", True
"""The parts that can follow the file of --add, apart from the format."""


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit merge`."""
    add_options(
        parser,
        f"""
        CORPUS  corpus to add annotations to; - is stdin
        --add {_ADDED}  name and file of an annotation to add; repeatable (the parts after FILE are
            optional; if they are missing, --format, --base and --transpose apply)
        """,
        CORPUS="input",
        add={"action": "append", "required": True},
    )
    add_corpus_output(
        parser, "file to write; - is stdout", "by its ending, as of convert, else alignkit-xml"
    )
    inputs.add_order_argument(parser)
    inputs.add_names(parser)
    inputs.add_reading_arguments(parser)


def run(options: Options) -> None:
    """Add annotations in other files to a corpus."""
    format = corpus_format(options, ())
    if "annotators" not in get_format(format).holds:
        raise OptionError(
            f"format {format} takes the alignments of one annotator; write alignkit-xml or "
            "alignkit-jsonl"
        )
    files: dict[str, tuple[str, list[str]]] = {}
    for word in options.add:
        name, equals, rest = word.partition("=")
        if not (equals and name and rest):
            raise OptionError(f"--add {word}: expected {_ADDED}, e.g. anna=anna.align:pharaoh")
        if name in files:
            raise OptionError(f"--add: the name {name!r} occurs twice")
        files[name] = file_and_parts(rest)
    base = inputs.Input.of(options)
    declared = inputs.reading_options(options)
    others = {name: input_of(*file, declared, _ADDED) for name, file in files.items()}
    corpus = merged(base, others, partial=options.partial, ordered=options.in_order)
    corpus = inputs.named(corpus, options)
    tell_lost(options.output, format, write_corpus(corpus, options.output, format=format))


def merged(
    base: inputs.Input, others: dict[str, inputs.Input], *, partial: bool, ordered: bool
) -> Corpus:
    """Join the annotations of several inputs; report words and pairs that differ."""
    corpus = base.corpus()
    for name, other in others.items():
        corpus = with_input(corpus, base, name, other, partial=partial, ordered=ordered)
    if ordered and others:
        for read in (base, *others.values()):
            if read.reading.disorder:
                warn(f"{read.path}: warning: joined in order, but {read.reading.disorder}")
    return corpus


def with_input(
    corpus: Corpus,
    base: inputs.Input,
    name: str,
    other: inputs.Input,
    *,
    partial: bool,
    ordered: bool,
) -> Corpus:
    """Join the annotations of an input with a corpus, which was read from `base`."""
    pairs = other.pairs()
    if ordered:
        _, pairs = in_order(corpus, pairs)
    try:
        with naming(base.path, other.path):
            corpus = merge(corpus, {name: pairs}, partial=partial, tell=_tell)
    except JoinError as error:
        raise hinting(error, base, other) from None
    if other.path != base.path:
        DISORDER.pop(other.path, None)  # the output has the order of the base
    return corpus


def input_of(path: str, parts: list[str], declared: ReadOptions, form: str) -> inputs.Input:
    """Open an added file; if its format has no texts, it uses those that are declared."""
    format = None
    changes = dict[str, Any]()
    for part in parts:
        if part in OWN:
            name, value = OWN[part]
            if name in changes:
                raise OptionError(f"{path}:{part}: {name} is given twice")
            if name == "transpose":
                changes[name] = value != declared.transpose
            else:
                changes[name] = value
        elif format is not None or "=" in part or part.startswith("base"):
            raise OptionError(f"{path}:{part}: expected {form}, with base=0 or base=1")
        else:
            get_format(part)  # raises, and lists the formats there are
            format = part
    declared = replace(declared, **changes)
    detected = inputs.detect_format(path, format, declared)
    if not get_format(detected).text_beside:
        declared = replace(declared, source=None, target=None)
    return inputs.Input(path, detected, declared)


def _tell(name: str, differences: Differences) -> None:
    """Print the differences of an input."""
    warn(f"{name}: {differences}")
