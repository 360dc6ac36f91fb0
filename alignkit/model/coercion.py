"""Convert sentences and links from common types: texts, lists of words, sets of pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, SupportsIndex, TypeVar, Union

from alignkit._support.arguments import kind_of, words
from alignkit.errors import AlignmentError, ArgumentError, JoinError
from alignkit.model.alignment import Alignment
from alignkit.model.annotation import Annotation
from alignkit.model.texts import split_unicode

T = TypeVar("T")
Sentence = tuple[str, ...]

MarkedLink = Union[tuple[SupportsIndex, SupportsIndex], tuple[SupportsIndex, SupportsIndex, str]]
LinksOfPair = Union[Alignment, str, Iterable[MarkedLink]]
"""The links of one sentence pair: an alignment, its text (``0-0 1?1``), or tuples: ``(i, j)``,
``(i, j, "S")`` or ``(i, j, "P")``."""

LinksLike = Union[LinksOfPair, Annotation, None]
"""The links of a sentence pair, an annotation, or None."""


_LONGEST_SHOWN = 60


def alignment_of(name: str, links: LinksOfPair) -> Alignment:
    """Return the alignment for the links of one sentence pair."""
    if isinstance(links, Alignment):
        return links
    if isinstance(links, str):
        try:
            return Alignment.parse(links)
        except AlignmentError as error:
            raise AlignmentError(f"{name}: {error}") from None
    if isinstance(links, (bytes, Mapping)) or not isinstance(links, Iterable):
        raise ArgumentError(
            f"{name} is {kind_of(links)}; it must be the links of a sentence pair, such as "
            f"{{(0, 0), (1, 1)}} or '0-0 1-1'{_if_number(links)}"
        )
    sure: list[tuple[int, int]] = []
    every: list[tuple[int, int]] = []
    unchecked: Iterable[Any] = links
    for link in unchecked:
        _check_link(name, link)
        i, j, *mark = link
        if i is not None and j is not None:  # NLTK aligns a word to None, which is no link
            every.append((i, j))
            if mark != ["P"]:
                sure.append((i, j))
    try:
        return Alignment(sure, every)
    except (AlignmentError, ArgumentError) as error:
        raise type(error)(f"{name}: {error}") from None


def _check_link(name: str, link: Any) -> None:
    """Refuse what is not (i, j), (i, j, "S") or (i, j, "P")."""
    is_row = hasattr(link, "__len__") and not isinstance(link, (str, bytes, Set, Mapping))
    if not is_row or len(link) not in (2, 3):
        shown = repr(link)[:_LONGEST_SHOWN]
        raise ArgumentError(
            f"{name} has {shown}, not a link; give (i, j), (i, j, 'S') or (i, j, "
            f"'P'){_if_number(link)}"
        )
    _, _, *mark = link
    if mark and (not isinstance(mark[0], str) or mark[0] not in ("S", "P")):
        raise ArgumentError(
            f"{name} has {repr(link)[:_LONGEST_SHOWN]}; the third part of a link must be "
            "'S' (sure) or 'P' (possible)"
        )


def _if_number(value: object) -> str:
    """Return a hint for one alignment given instead of a list."""
    if not hasattr(value, "__index__"):
        return ""
    return "; put the links of a single sentence pair into a list: [{(0, 0), (1, 1)}]"


def rows_of(
    source: Iterable[str | Iterable[str]],
    target: Iterable[str | Iterable[str]],
    ids: Iterable[str] | None,
    annotations: Mapping[str, Iterable[LinksLike]],
    attributes: Mapping[str, Iterable[object]],
    judgments: Mapping[str, Iterable[object]],
) -> Iterator[tuple[str, Sentence, Sentence, dict[str, Annotation], dict[str, str]]]:
    """Return id, source, target, annotations and attributes of each pair; see `from_texts`."""
    sources = sentences_of("source", source)
    targets = sentences_of("target", target)
    annotation_columns = {name: _links(name, values) for name, values in annotations.items()}
    attribute_columns = _columns("attributes", attributes)
    judgment_columns = _columns("judgments", judgments)
    names = range(1, len(sources) + 1) if ids is None else words("ids", ids)
    columns: list[tuple[str, Sequence[object]]] = [("target", targets), ("ids", names)]
    columns += annotation_columns.items()
    columns += attribute_columns.items()
    columns += judgment_columns.items()
    for name, column in columns:
        if len(column) != len(sources):
            raise JoinError(
                f"{name} has {len(column)} entries, but source has {len(sources)}; give as "
                "many of each"
            )
    for k, id in enumerate(names):
        annotated = {}
        for name, annotation_column in annotation_columns.items():
            annotation = annotation_column[k]
            if annotation is not None:
                annotated[name] = annotation
        for name, text in _texts_at(k, judgment_columns).items():
            known = annotated.get(name) or Annotation(None, judgment=text)
            annotated[name] = replace(known, judgment=text)
        yield str(id), sources[k], targets[k], annotated, _texts_at(k, attribute_columns)


def _columns(kind: str, given: Mapping[str, Iterable[object]]) -> dict[str, list[object]]:
    """Return the attributes or the judgments of all pairs by name."""
    columns = {}
    for name, values in given.items():
        columns[name] = list(_several(f"{kind}[{name!r}]", values, kind))
    return columns


def _texts_at(k: int, columns: Mapping[str, Sequence[object]]) -> dict[str, str]:
    """Return the values of pair k by name, as texts, without None."""
    values = {name: column[k] for name, column in columns.items()}
    return {name: str(value) for name, value in values.items() if value is not None}


def sentences_of(name: str, values: Iterable[str | Iterable[str]]) -> list[tuple[str, ...]]:
    """Return sentences as words; texts are split at white space."""
    sentences = []
    for k, value in enumerate(_several(name, values, "sentences")):
        if isinstance(value, str):
            sentences.append(tuple(split_unicode(value)))
        else:
            sentences.append(words(f"{name}[{k}]", value))
    return sentences


def _links(name: str, values: Iterable[LinksLike]) -> list[Annotation | None]:
    """Return the annotations of an annotator, one for each pair."""
    annotations: list[Annotation | None] = []
    for k, value in enumerate(_several(name, values, "alignments")):
        if value is None or isinstance(value, Annotation):
            annotations.append(value)
        else:
            annotations.append(Annotation(alignment_of(f"{name}[{k}]", value)))
    return annotations


def _several(name: str, values: Iterable[T], what: str) -> Iterable[T]:
    """Return the values, or raise an error if they are no list."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise ArgumentError(f"{name} must be a list of {what}, one a pair")
    return values
