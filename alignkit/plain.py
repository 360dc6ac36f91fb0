"""Take sentences and links as people hold them: texts, lists of words, sets of pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar, Union

from alignkit.alignment import Alignment, LinkLike
from alignkit.annotation import Annotation
from alignkit.arguments import words
from alignkit.errors import AlignmentError, ArgumentError, JoinError

__all__ = ["LinksLike", "alignment_of", "rows_of"]

T = TypeVar("T")

LinksLike = Union[Alignment, Annotation, str, Iterable[LinkLike], None]
"""An alignment, its text (`0-0 1?1`), or its links (i, j), all sure; None where there is none."""


def alignment_of(value: Alignment | str | Iterable[LinkLike]) -> Alignment:
    """Return an alignment of what holds links.

    Raises
    ------
    AlignmentError
        If it is nothing that holds links.

    Examples
    --------
    >>> alignment_of({(0, 0), (1, 1)}) == alignment_of("0-0 1-1")
    True
    """
    if isinstance(value, Alignment):
        return value
    if isinstance(value, str):
        return Alignment.parse(value)
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        raise AlignmentError(
            f"{str(value)[:40]!r} is no alignment; expected an Alignment, a text such as '0-0 1?1' "
            "or a set of links (i, j)"
        )
    return Alignment(value)


def rows_of(
    source: Iterable[str | Iterable[str]],
    target: Iterable[str | Iterable[str]],
    ids: Iterable[str] | None,
    annotations: Mapping[str, Iterable[LinksLike]],
) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...], dict[str, Annotation]]]:
    """Return id, source, target and annotations of each sentence pair; see `Corpus.from_texts`.

    Raises
    ------
    JoinError
        If there are more or fewer of one than of the others.
    AlignmentError
        If one of the annotations is no alignment.
    """
    sides = _sentences("source", source), _sentences("target", target)
    named = {name: _links(name, values) for name, values in annotations.items()}
    names = range(1, len(sides[0]) + 1) if ids is None else words("ids", ids)
    for name, column in {"target": sides[1], "ids": names, **named}.items():
        if len(column) != len(sides[0]):
            raise JoinError(
                f"{name} has {len(column)} entries, but source has {len(sides[0])}; give as many "
                "of each"
            )
    return (
        (str(id), sides[0][k], sides[1][k], _annotations(named, k)) for k, id in enumerate(names)
    )


def _annotations(
    columns: Mapping[str, Sequence[Annotation | None]], k: int
) -> dict[str, Annotation]:
    found = ((name, column[k]) for name, column in columns.items())
    return {name: annotation for name, annotation in found if annotation is not None}


def _sentences(name: str, values: Iterable[str | Iterable[str]]) -> list[tuple[str, ...]]:
    return [
        tuple(value.split()) if isinstance(value, str) else words(f"{name}[{k}]", value)
        for k, value in enumerate(_several(name, values, "sentences"))
    ]


def _links(name: str, values: Iterable[LinksLike]) -> list[Annotation | None]:
    found: list[Annotation | None] = []
    for k, value in enumerate(_several(name, values, "alignments")):
        if value is None or isinstance(value, Annotation):
            found.append(value)
            continue
        try:
            found.append(Annotation(alignment_of(value)))
        except AlignmentError as error:
            raise AlignmentError(f"{name}[{k}]: {error}") from None
    return found


def _several(name: str, values: Iterable[T], what: str) -> Iterable[T]:
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise ArgumentError(f"{name} must be a list of {what}, one a pair")
    return values
