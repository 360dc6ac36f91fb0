"""The definition of a format: its parser, its writer, and the data it can represent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from errno import ENOENT
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Union

from alignkit.errors import MissingFileError, OptionError
from alignkit.io.formats import get_format
from alignkit.io.options import ReadOptions
from alignkit.io.records import Reading, Record
from alignkit.io.sniffing import Sniffer
from alignkit.io.text_files import Finding
from alignkit.io.writing import Writing
from alignkit.model.alignment import SIDES, Alignment
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
        "role",  # whether a person made an alignment or a machine, see `alignkit.model.roles.ROLES`
        "start",  # what an annotator was shown to begin with
        "learned",  # what the system that made the links learned from
        "unseen",  # links that an annotator kept without looking at them
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


def kinds(names: str, *of_sides: str) -> frozenset[str]:
    """Return kinds, separated by commas, and attributes of both sides, for `Format.holds`."""
    held = set(names.split(", "))
    for side in SIDES:
        held.update(f"attribute {side}.{name}" for name in of_sides)
    return frozenset(held)


@dataclass(frozen=True)
class Format:
    """How a format is read and written.

    Returned by `get_format`.

    Parameters
    ----------
    sniff : Says how much the beginning of an input looks like the format.
    parse : Yields the records of a reading.
    write : Writes pairs as they come; None: the format is read-only.
    holds : The members of `EVERYTHING` that survive writing and reading, or ``"attribute NAME"``.
    asked : What else survives on request: names of options of `WriteOptions`.
    base : The number of the first word in the format by default.
    text_beside : The words are in separate files (``--source`` and ``--target``).
    weights_beside : The weights of links may be in a separate file (``--link-weights``).
    languages : A file may have texts in several languages, of which two are read.
    by_id : Links name words by ids, not by positions: base and direction have no meaning.
    folder : The format is a folder of files (one of its files can usually be read alone).
    files : What a reader needs, if it is more than one file, such as ``"two files"``; else empty.
    scheme : The scheme of the judgments in the format; empty if it allows any.
    remark : A note for users who read the format, shown once; may be empty.
    members : The files of a folder that belong to the format.
    pairs : A faster reader of pairs, with the same result as `parse`.
    blocks : The ids and links of many pairs at a time, without words; ids that are line numbers are
        a range.

    Examples
    --------
    >>> from alignkit.io import get_format
    >>> pharaoh = get_format("pharaoh")
    >>> pharaoh.base, pharaoh.text_beside, pharaoh.folder
    (0, True, False)
    """

    sniff: Sniffer
    parse: Callable[[Reading], Iterator[Record]]
    write: Callable[[Writing], None] | None = None
    _: KW_ONLY
    holds: frozenset[str]
    asked: frozenset[str] = frozenset()
    base: int = 0
    text_beside: bool = False
    weights_beside: bool = False
    languages: bool = False
    by_id: bool = False
    folder: bool = False
    files: str = ""
    scheme: str = ""
    remark: Callable[[Reading], str] | None = None
    members: Callable[[Reading], Iterable[Path]] | None = None
    pairs: Callable[[Reading], Iterator[SentencePair]] | None = None
    blocks: Callable[[Reading], Iterator[tuple[Sequence[object], LinkArrays]]] | None = None


def judged_format(
    sniff: Sniffer,
    parse: Callable[[Reading], Iterator[Record]],
    scheme: str,
    more: str = "",
    remark: str = "",
) -> Format:
    """Return a read-only format of judged pairs."""
    holds = kinds(f"text, judgment, judged only, attributes, names, absent{more}")
    return Format(
        sniff,
        parse,
        scheme=scheme,
        holds=holds,
        remark=(lambda _: remark) if remark else None,
    )


_OF_ALIGNMENT: dict[str, Callable[[Alignment], object]] = {
    "empty": lambda a: not (len(a) or a.nulls or a.labels),
    "possible": lambda a: 0 in a.packed()[1],
    "nulls": lambda a: a.nulls,
    "possible nulls": lambda a: a.nulls - a.sure_nulls,
    "weights": lambda a: a.weights,
    "labels": lambda a: a.labels,
    "other labels": lambda a: a.labels and set(a.labels) - a.possible,
}
_OF_ANNOTATION = (
    "comment",
    "flags",
    "judgment",
    "provenance",
    "when",
    "role",
    "learned",
    "unseen",
)
_KNOWN_OR_NOT = ("start",)  # what says something even if it is empty


def losses(pair: SentencePair, holds: frozenset[str]) -> Iterator[str]:
    """Yield the kinds of data of a pair that the format cannot represent, each once.

    An attribute is a kind of its own, ``"attribute NAME"``.
    """
    every = pair.annotations.values()
    annotations = [a for a in every if a.alignment is not None or JUDGED in holds]
    alignments = [a.alignment for a in annotations if a.alignment is not None]
    lost = {
        JUDGED: len(annotations) < len(every),
        "trees": pair.source_trees or pair.target_trees,
        "annotators": len(annotations) > 1,
        "absent": not annotations,
    }
    yield from (kind for kind, has in lost.items() if has and kind not in holds)
    if "attributes" not in holds:
        for name in pair.attributes:
            kind = f"{_ATTRIBUTE}{name}"
            if kind not in holds:
                yield kind
    for kind, of_alignment in _OF_ALIGNMENT.items():
        if kind not in holds and any(map(of_alignment, alignments)):
            yield kind
    for kind in _OF_ANNOTATION:
        if kind not in holds and any(getattr(a, kind) for a in annotations):
            yield kind
    for kind in _KNOWN_OR_NOT:
        if kind not in holds and any(getattr(a, kind) is not None for a in annotations):
            yield kind


def losses_in_words(lost: Mapping[str, int]) -> list[str]:
    """Return what a format cannot represent as phrases for a message.

    Parameters
    ----------
    lost : The number of pairs by kind, as `write_corpus` returns it. Attributes that as many pairs
        have are named together, at most ten of them.
    """
    phrases: list[str] = []
    attributes: dict[int, list[str]] = {}
    for kind, count in lost.items():
        if kind.startswith(_ATTRIBUTE):
            attributes.setdefault(count, []).append(kind.removeprefix(_ATTRIBUTE))
        else:
            phrases.append(_LOSS_IN_WORDS.get(kind, f"{kind} of {{}} pairs").format(count))
    for count, names in attributes.items():
        shown = ", ".join(names[:_MOST_NAMES])
        if len(names) > _MOST_NAMES:
            shown += f" and {len(names) - _MOST_NAMES} more"
        noun = "attribute" if len(names) == 1 else "attributes"
        phrases.append(f"the {noun} {shown} of {count} pairs")
    return phrases


_ATTRIBUTE = "attribute "
_MOST_NAMES = 10
_LOSS_IN_WORDS = {
    "absent": "that {} pairs are not annotated",
    "empty": "that {} pairs are annotated without links",
    "when": "the times of {} pairs",
    "start": "what the annotators of {} pairs were shown to begin with (start)",
    "learned": "what the systems learned from that aligned {} pairs (learned)",
    "unseen": "which links of {} pairs were kept without being looked at (unseen)",
    "names": "the annotator's name of {} pairs",
}

AnyPath = Union[str, PathLike[str]]


def check_path(path: AnyPath) -> None:
    """Reject the empty path, which `pathlib` takes for the current folder."""
    if not str(path):
        raise MissingFileError("", ENOENT, "its name is empty; name a file or a folder")


def prepare(
    path: AnyPath,
    format: str,
    options: ReadOptions,
    observe: Callable[[Finding], None] | None = None,
) -> tuple[Format, Reading]:
    """Return a format, and the reading of a file in it."""
    check_path(path)
    chosen = get_format(format)
    if chosen.files and str(path) == "-":
        raise OptionError(f"{format} is {chosen.files} and cannot be read from standard input")
    if (options.source or options.target) and not chosen.text_beside:
        raise OptionError(f"format {format} contains the words: leave out `source` and `target`")
    if options.link_weights and not chosen.weights_beside:
        raise OptionError(
            f"format {format} has no weights in another file: leave out `link_weights`"
        )
    if options.languages and not chosen.languages:
        raise OptionError(f"format {format} has no names of languages: leave out `languages`")
    if chosen.by_id and (options.base is not None or options.transpose):
        raise OptionError(f"format {format} names words by ids: leave out `base` and `transpose`")
    if options.target and not options.source:
        raise OptionError("`target` needs `source`; if both sides are in one file, use `source`")
    if [str(path), options.source, options.target, options.link_weights].count("-") > 1:
        raise OptionError("only one input can be standard input ('-')")
    return chosen, Reading(str(path), options, base=chosen.base, observe=observe, format=format)
