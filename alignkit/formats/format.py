"""Define what a format is: a parser, a writer, and what it can hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from alignkit.alignment import Alignment
from alignkit.annotation import Annotation
from alignkit.formats.intake import Reading
from alignkit.formats.record import Record
from alignkit.formats.writing import Writing
from alignkit.sentence_pair import SentencePair

if TYPE_CHECKING:
    from alignkit.arrays import LinkArrays

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


@dataclass(frozen=True, kw_only=True)
class Format:
    """Describe a format to the registry.

    Parameters
    ----------
    parse
        Yields the records of a reading.
    write
        Writes pairs; the pairs come one by one, and a writer keeps no more of them than it must.
        None: the format is only read.
    holds
        Which of `EVERYTHING` survives being written and read again; ``"attribute NAME"`` says
        that one attribute does.
    asked
        The kinds beside, each an option of `WriteOptions`, that survive where the user asks for it.
    base
        The number of the first word, by the format's custom.
    text_beside
        The words stand in files of their own (``--source`` and ``--target``).
    folder
        The format is a folder of files (a file of it can usually be read alone).
    """

    parse: Callable[[Reading], Iterator[Record]]
    write: Callable[[Iterable[SentencePair], Writing], None] | None
    holds: frozenset[str]
    asked: frozenset[str] = frozenset()
    base: int = 0
    text_beside: bool = False
    folder: bool = False
    remark: Callable[[Reading], str] | None = None
    """What whoever reads an input of the format is told once; empty: nothing."""
    surely: Callable[[Reading, Sequence[SentencePair]], bool | None] | None = None
    """Whether a file whose first records read as these pairs is of this format; None, as without
    it: nothing but the records tells. Asked where a file's format is to be found."""
    members: Callable[[Reading], Iterable[Path]] | None = None
    """The files of a folder that belong to the format, where it reads folders."""
    pairs: Callable[[Reading], Iterator[SentencePair]] | None = None
    """A faster way from the file to the pairs, with the same result as `parse`."""
    blocks: Callable[[Reading], Iterator[tuple[Sequence[object], LinkArrays]]] | None = None
    """The ids and links of many pairs at a time, where no words are needed; ids that are the
    numbers of the lines come as a range."""


_OF_ALIGNMENT: dict[str, Callable[[Alignment], object]] = {
    "empty": lambda a: not (len(a) or a.nulls or a.labels),
    "possible": lambda a: 0 in a.packed()[1],
    "nulls": lambda a: a.nulls,
    "possible nulls": lambda a: a.nulls - a.sure_nulls,
    "weights": lambda a: a.weights,
    "labels": lambda a: a.labels,
    "other labels": lambda a: a.labels and set(a.labels) - a.possible,
}
_OF_ANNOTATION: dict[str, Callable[[Annotation], object]] = {
    "comment": lambda a: a.comment,
    "flags": lambda a: a.flags,
    "judgment": lambda a: a.judgment,
    "provenance": lambda a: a.provenance,
    "when": lambda a: a.when is not None,
}


def losses(pair: SentencePair, holds: frozenset[str]) -> Iterator[str]:
    """Yield the kinds of things that a pair has and the format cannot hold, each once."""
    annotations = list(_kept(pair, holds).values())
    alignments = [a.alignment for a in annotations if a.alignment is not None]
    if len(annotations) < len(pair.annotations):
        yield JUDGED
    if "attributes" not in holds and any(
        f"attribute {name}" not in holds for name in pair.attributes
    ):
        yield "attributes"
    if "trees" not in holds and (pair.source_trees or pair.target_trees):
        yield "trees"
    if "annotators" not in holds and len(annotations) > 1:
        yield "annotators"
    if "absent" not in holds and not annotations:
        yield "absent"
    for kind, has in _OF_ALIGNMENT.items():
        if kind not in holds and any(map(has, alignments)):
            yield kind
    for kind, says in _OF_ANNOTATION.items():
        if kind not in holds and any(map(says, annotations)):
            yield kind


def _kept(pair: SentencePair, holds: frozenset[str]) -> dict[str, Annotation]:
    """Return the annotations that a format sees at all."""
    return {
        name: annotation
        for name, annotation in pair.annotations.items()
        if annotation.alignment is not None or JUDGED in holds
    }


def projected(pair: SentencePair, holds: frozenset[str]) -> SentencePair:
    """Return what is left of a pair in a format that holds no more than `holds`.

    Ids, names of annotators and texts are left as they are: what a reader puts in the place of
    those that a format lacks depends on its companions.
    """
    annotations = {
        name: _projected_annotation(annotation, holds)
        for name, annotation in _kept(pair, holds).items()
    }
    attributes = {
        name: text
        for name, text in pair.attributes.items()
        if "attributes" in holds or f"attribute {name}" in holds
    }
    kept = pair if "trees" in holds else pair.without_trees()
    return replace(kept, annotations=annotations, attributes=attributes)


def _projected_annotation(annotation: Annotation, holds: frozenset[str]) -> Annotation:
    old = annotation.alignment
    return Annotation(
        None if old is None else _projected_alignment(old, holds),
        annotation.comment if "comment" in holds else "",
        annotation.flags if "flags" in holds else frozenset(),
        annotation.judgment if "judgment" in holds else "",
        annotation.provenance if "provenance" in holds else "",
        annotation.when if "when" in holds else None,
    )


def _projected_alignment(old: Alignment, holds: frozenset[str]) -> Alignment:
    nulls = old.nulls if "nulls" in holds else frozenset()
    sure_nulls = nulls & old.sure_nulls if "possible nulls" in holds else nulls
    cells = old.possible if "other labels" not in holds else set(old.labels)
    return Alignment(
        old.sure if "possible" in holds else old.possible,
        old.possible,
        nulls=sure_nulls,
        possible_nulls=nulls,
        weights={k: v for k, v in old.weights.items() if k in old.possible or k in nulls}
        if "weights" in holds
        else None,
        labels={k: v for k, v in old.labels.items() if k in cells} if "labels" in holds else None,
    )
