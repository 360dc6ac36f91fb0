"""A format: its parser, its writer, and what it can hold; and the formats by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from errno import ENOENT
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Union

from alignkit._support.arguments import check_arguments
from alignkit.errors import MissingFileError, OptionError, UnknownNameError
from alignkit.io.options import ReadOptions
from alignkit.io.records import Reading, Record
from alignkit.io.text_files import Finding
from alignkit.io.writing import Writing
from alignkit.model.alignment import Alignment
from alignkit.model.sentence_pair import SentencePair

if TYPE_CHECKING:
    from alignkit.model.arrays import LinkArrays

JUDGED = "judged only"
"""The kind of an annotation without an alignment."""

EVERYTHING = frozenset(
    {
        "text",  # the words
        "no text",  # pairs of which the words are not known
        "ids",
        "possible",  # possible links apart from sure ones
        "nulls",
        "possible nulls",
        "weights",
        "labels",  # of links
        "other labels",  # of nulls and of cells without a link
        "comment",
        "flags",
        "judgment",
        "provenance",
        "when",  # the time of an annotation
        JUDGED,  # an annotation without an alignment, as against one with no links
        "attributes",
        "trees",  # of sentences
        "annotators",  # more than one a pair
        "names",  # of annotators
        "absent",  # a pair that is not annotated, as against one with no links
        "empty",  # an annotation without links
        "spaces",  # tokens that are empty or hold ASCII white space
    }
)


def kinds(names: str) -> frozenset[str]:
    """Return the kinds that a list divided by commas names, as `Format.holds` has them."""
    return frozenset(names.split(", "))


@dataclass(frozen=True, kw_only=True)
class Format:
    """How a format is read and written.

    Parameters
    ----------
    parse
        Yields the records of a reading.
    write
        Writes pairs as they come; None: the format is only read.
    holds
        Which of `EVERYTHING` survives being written and read again, or ``"attribute NAME"``.
    asked
        What else survives if the user asks for it: names of options of `WriteOptions`.
    base
        The number of the first word, by the format's custom.
    text_beside
        The words stand in files of their own (``--source`` and ``--target``).
    folder
        The format is a folder of files (a file of it can usually be read alone).
    remark
        What to say once to a user who reads the format; empty: nothing.
    surely
        Whether a file whose first records read as these pairs is of this format; None if the
        records alone cannot say. Used to detect the format of a file.
    members
        The files of a folder that belong to the format.
    pairs
        A faster way from the file to the pairs, with the same result as `parse`.
    blocks
        The ids and links of many pairs at a time, without words; ids that are the numbers of the
        lines come as a range.
    """

    parse: Callable[[Reading], Iterator[Record]]
    write: Callable[[Iterable[SentencePair], Writing], None] | None
    holds: frozenset[str]
    asked: frozenset[str] = frozenset()
    base: int = 0
    text_beside: bool = False
    folder: bool = False
    remark: Callable[[Reading], str] | None = None
    surely: Callable[[Reading, Sequence[SentencePair]], bool | None] | None = None
    members: Callable[[Reading], Iterable[Path]] | None = None
    pairs: Callable[[Reading], Iterator[SentencePair]] | None = None
    blocks: Callable[[Reading], Iterator[tuple[Sequence[object], LinkArrays]]] | None = None


_OF_ALIGNMENT: dict[str, Callable[[Alignment], object]] = {
    "empty": lambda a: not (len(a) or a.nulls or a.labels),
    "possible": lambda a: 0 in a.packed()[1],
    "nulls": lambda a: a.nulls,
    "possible nulls": lambda a: a.nulls - a.sure_nulls,
    "weights": lambda a: a.weights,
    "labels": lambda a: a.labels,
    "other labels": lambda a: a.labels and set(a.labels) - a.possible,
}
_OF_ANNOTATION = ("comment", "flags", "judgment", "provenance", "when")


def losses(pair: SentencePair, holds: frozenset[str]) -> Iterator[str]:
    """Yield the kinds of things that a pair has and the format cannot hold, each once."""
    every = pair.annotations.values()
    annotations = [a for a in every if a.alignment is not None or JUDGED in holds]
    alignments = [a.alignment for a in annotations if a.alignment is not None]
    lost = {
        JUDGED: len(annotations) < len(every),
        "attributes": any(f"attribute {name}" not in holds for name in pair.attributes),
        "trees": pair.source_trees or pair.target_trees,
        "annotators": len(annotations) > 1,
        "absent": not annotations,
    }
    yield from (kind for kind, has in lost.items() if has and kind not in holds)
    for kind, of_alignment in _OF_ALIGNMENT.items():
        if kind not in holds and any(map(of_alignment, alignments)):
            yield kind
    for kind in _OF_ANNOTATION:
        if kind not in holds and any(getattr(a, kind) for a in annotations):
            yield kind


AnyPath = Union[str, PathLike[str]]

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
    "turku": "Turku Paraphrase Corpus, JSON or TSV: judged pairs and rewrites; read only",
    "parade": "PARADE, 5 tab-separated columns: judged pairs; read only",
    "etpc": "ETPC's folder of XML: relations of paraphrase types; read only",
}
"""The name of each format and what it is; the module of the same name reads and writes it."""

WRITTEN = {name: about for name, about in FORMATS.items() if not about.endswith("read only")}
"""The formats that can be written too."""


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
    module = import_module(f"alignkit.io.formats.{name.replace('-', '_')}")
    chosen: Format = module.FORMAT
    return chosen


def check_path(path: AnyPath) -> None:
    """Refuse the empty path, which `pathlib` takes for the folder that one is in."""
    if not str(path):
        raise MissingFileError("", ENOENT, "its name is empty; name a file or a folder")


def prepare(
    path: AnyPath,
    format: str,
    options: ReadOptions,
    observe: Callable[[Finding], None] | None = None,
) -> tuple[Format, Reading]:
    """Return a format, and the reading of a file of it."""
    check_path(path)
    chosen = get_format(format)
    if (options.source or options.target) and not chosen.text_beside:
        raise OptionError(f"format {format} holds its own words: leave out `source` and `target`")
    if options.target and not options.source:
        raise OptionError("`target` needs `source`; a bitext goes to `source` alone")
    if [str(path), options.source, options.target].count("-") > 1:
        raise OptionError("only one input can be standard input ('-')")
    return chosen, Reading(str(path), options, base=chosen.base, observe=observe, format=format)
