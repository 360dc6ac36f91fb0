"""Take sentences and links as people hold them: texts, lists of words, sets of pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, TypeVar, Union

from alignkit._support.arguments import kind_of, words
from alignkit.errors import AlignmentError, ArgumentError, JoinError
from alignkit.model.alignment import Alignment
from alignkit.model.annotation import Annotation

T = TypeVar("T")

LinksOfPair = Union[Alignment, str, Iterable[tuple[Any, ...]]]
"""The links of one sentence pair: an alignment, its text (``0-0 1?1``), or tuples: ``(i, j)``,
``(i, j, "S")`` or ``(i, j, "P")``."""

LinksLike = Union[LinksOfPair, Annotation, None]
"""The links of a sentence pair, an annotation, or None where there is none."""


_LONGEST_SHOWN = 60


def alignment_of(name: str, links: LinksOfPair) -> Alignment:
    """Return an alignment of what holds the links of one sentence pair."""
    if isinstance(links, Alignment):
        return links
    if isinstance(links, str):
        try:
            return Alignment.parse(links)
        except AlignmentError as error:
            raise AlignmentError(f"{name}: {error}") from None
    if isinstance(links, (bytes, Mapping)) or not isinstance(links, Iterable):
        raise ArgumentError(
            f"{name} is {kind_of(links)}; it must hold the links of a sentence pair, such as "
            f"{{(0, 0), (1, 1)}} or '0-0 1-1'{_if_number(links)}"
        )
    sure: list[tuple[int, int]] = []
    every: list[tuple[int, int]] = []
    for link in links:
        plain = hasattr(link, "__len__") and not isinstance(link, (str, bytes, Set, Mapping))
        if not plain or len(link) not in (2, 3):
            shown = repr(link)[:_LONGEST_SHOWN]
            raise ArgumentError(
                f"{name} holds {shown}, which is no link; give (i, j), (i, j, 'S') or (i, j, 'P')"
                f"{_if_number(link)}"
            )
        i, j, *mark = link
        if mark and (not isinstance(mark[0], str) or mark[0] not in ("S", "P")):
            raise ArgumentError(
                f"{name} holds {repr(link)[:_LONGEST_SHOWN]}; the third part of a link must be "
                "'S', sure, or 'P', possible"
            )
        if i is not None and j is not None:
            every.append((i, j))
            if mark != ["P"]:
                sure.append((i, j))
    try:
        return Alignment(sure, every)
    except (AlignmentError, ArgumentError) as error:
        raise type(error)(f"{name}: {error}") from None


def _if_number(value: object) -> str:
    """Return what is meant where one alignment was given in place of a list of them."""
    if not hasattr(value, "__index__"):
        return ""
    return "; the links of one sentence pair stand in a list too: [{(0, 0), (1, 1)}]"


def rows_of(
    source: Iterable[str | Iterable[str]],
    target: Iterable[str | Iterable[str]],
    ids: Iterable[str] | None,
    annotations: Mapping[str, Iterable[LinksLike]],
) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...], dict[str, Annotation]]]:
    """Return id, source, target and annotations of each sentence pair; see `Corpus.from_texts`."""
    sides = _sentences("source", source), _sentences("target", target)
    named = {name: _links(name, values) for name, values in annotations.items()}
    names = range(1, len(sides[0]) + 1) if ids is None else words("ids", ids)
    columns: list[tuple[str, Sequence[object]]] = [("target", sides[1]), ("ids", names)]
    for name, column in [*columns, *named.items()]:
        if len(column) != len(sides[0]):
            raise JoinError(
                f"{name} has {len(column)} entries, but source has {len(sides[0])}; give as many "
                "of each"
            )
    for k, id in enumerate(names):
        annotated = {name: value for name, column in named.items() if (value := column[k])}
        yield str(id), sides[0][k], sides[1][k], annotated


def _sentences(name: str, values: Iterable[str | Iterable[str]]) -> list[tuple[str, ...]]:
    return [
        tuple(value.split()) if isinstance(value, str) else words(f"{name}[{k}]", value)
        for k, value in enumerate(_several(name, values, "sentences"))
    ]


def _links(name: str, values: Iterable[LinksLike]) -> list[Annotation | None]:
    return [
        value
        if value is None or isinstance(value, Annotation)
        else Annotation(alignment_of(f"{name}[{k}]", value))
        for k, value in enumerate(_several(name, values, "alignments"))
    ]


def _several(name: str, values: Iterable[T], what: str) -> Iterable[T]:
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise ArgumentError(f"{name} must be a list of {what}, one a pair")
    return values
