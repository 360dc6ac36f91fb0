"""Read and write corpora: one registry of all formats, and the calls that use it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from os import PathLike
from typing import Any, TypeVar, Union

from alignkit.arguments import check_arguments
from alignkit.corpus import Corpus, SentencePair
from alignkit.errors import OptionError, UnknownNameError
from alignkit.formats.format import Format, losses
from alignkit.formats.options import ReadOptions, WriteOptions
from alignkit.formats.reading import Finding, Reading
from alignkit.formats.writing import Writing
from alignkit.output import refuse_same, together

__all__ = [
    "FORMATS",
    "Finding",
    "Format",
    "ReadOptions",
    "Reading",
    "WriteOptions",
    "get_format",
    "iterate_pairs",
    "open_reading",
    "read_corpus",
    "read_pairs",
    "write_corpus",
]

T = TypeVar("T")
Path = Union[str, "PathLike[str]"]

FORMATS = {
    "alignkit-xml": "alignkit's own XML; holds everything",
    "alignkit-jsonl": "alignkit's own JSON, one pair a line; holds everything",
    "pharaoh": "lines of i-j links (possible: i?j, ipj, 8-8P); words in files beside",
    "naacl": "NAACL/WPT shared tasks: lines of sentence, i, j; words in files beside",
    "giza": "GIZA++ A3: three lines a pair, word ({ 1 2 })",
    "rte": "GIZA A3 as in the RTE-2 alignments, with possible links",
    "jacana": "jacana JSON: sureAlign and possibleAlign",
    "edinburgh": "Edinburgh++ JSON: several annotators a paraphrase",
    "goldalign": "GoldAlign's folder of users, tab-separated",
    "multimwa": "MultiMWA, 10 or 11 tab-separated columns",
    "xlwa": "XL-WA, 3 tab-separated columns",
    "jsonl": "JSON lines of word lists: src_words, tgt_words, alignment",
    "yawat": "Yawat: .crp with the words, .aln with phrase groups",
    "transread": "TransRead: groups with labels, words in a file beside",
    "ists": "interpretable STS .wa: chunk pairs with type and score",
    "blinker": "Blinker: one file of i j links a sentence pair",
    "paraphrase-xml": "XML of paraphrases with several annotators",
}
"""The name of each format and what it is; the module of the same name reads and writes it."""


def get_format(name: str) -> Format:
    """Look up a format.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    """
    check_arguments(get_format, locals())
    if name not in FORMATS:
        raise UnknownNameError("format", name, FORMATS)
    module = import_module(f"alignkit.formats.{name.replace('-', '_')}")
    found: Format = module.FORMAT
    return found


def open_reading(
    path: Path,
    *,
    format: str,
    options: ReadOptions | None = None,
    observe: Callable[[Finding], None] | None = None,
) -> tuple[Format, Reading]:
    """Prepare to read a file: its format, and the reading that will hold counts and complaints."""
    check_arguments(open_reading, locals())
    chosen = get_format(format)
    options = options or ReadOptions()
    if (options.source or options.target) and not chosen.text_beside:
        raise OptionError(f"format {format} holds its own words: leave out --source and --target")
    if options.target and not options.source:
        raise OptionError("--target needs --source; a bitext goes to --source alone")
    if [str(path), options.source, options.target].count("-") > 1:
        raise OptionError("only one input can be standard input ('-')")
    return chosen, Reading(str(path), options, base=chosen.base, observe=observe)


def read_pairs(chosen: Format, reading: Reading) -> Iterator[SentencePair]:
    """Yield the sentence pairs of a reading, one by one."""
    check_arguments(read_pairs, locals())
    if chosen.pairs is not None:
        return chosen.pairs(reading)
    return reading.pairs(chosen.parse(reading))


def iterate_pairs(path: Path, *, format: str, **options: Any) -> Iterator[SentencePair]:
    """Yield the sentence pairs of a file one by one, in memory that does not grow.

    Parameters
    ----------
    path
        The file or folder; ``-`` is standard input.
    format
        A name of `FORMATS`.
    **options
        What the file does not say of itself: the fields of `ReadOptions`.

    Raises
    ------
    FormatError
        If the file does not follow its format; the message names file and line.
    """
    check_arguments(iterate_pairs, locals())
    return read_pairs(*open_reading(path, format=format, options=_made(ReadOptions, options)))


def read_corpus(path: Path, *, format: str, **options: Any) -> Corpus:
    """Read a whole file; see `iterate_pairs`."""
    check_arguments(read_corpus, locals())
    return Corpus(iterate_pairs(path, format=format, **options))


def write_corpus(
    pairs: Iterable[SentencePair], path: Path, *, format: str, **options: Any
) -> Counter[str]:
    """Write sentence pairs; the output takes its place only when it is whole.

    Parameters
    ----------
    pairs
        A `Corpus`, or any pairs one by one.
    path
        The file or folder; ``-`` is standard output.
    format
        A name of `FORMATS`.
    **options
        What to write, and how: the fields of `WriteOptions`.

    Returns
    -------
    Counter
        How many pairs had something that the format cannot hold, by kind; empty when nothing
        was lost.
    """
    check_arguments(write_corpus, locals())
    chosen = get_format(format)
    declared = _made(WriteOptions, options)
    if (declared.source or declared.target) and not chosen.text_beside:
        raise OptionError(f"format {format} holds the words itself: name no files for them")
    refuse_same([str(path), *filter(None, (declared.source, declared.target))])
    writing = Writing(str(path), declared, base=chosen.base)
    with together():
        chosen.write(_watched(pairs, chosen, writing), writing)
    return writing.lost


def _made(kind: type[T], options: dict[str, Any]) -> T:
    try:
        return kind(**options)
    except TypeError as problem:
        raise OptionError(f"{problem}") from None


def _watched(
    pairs: Iterable[SentencePair], chosen: Format, writing: Writing
) -> Iterator[SentencePair]:
    options = writing.options
    holds = chosen.holds | {kind for kind in chosen.asked if getattr(options, kind)}
    for pair in pairs:
        kept = pair
        name = options.annotator
        if name is not None and "annotators" not in chosen.holds:
            kept = pair.without_annotations(*(set(pair.annotations) - {name}))
        writing.lost.update(losses(kept, holds))
        writing.written += 1
        yield kept
