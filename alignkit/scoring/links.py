"""Take links as scripts hold them: sets and lists of tuples, Pharaoh text, `Alignment`s."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any, Union

from alignkit.alignment import Alignment
from alignkit.arguments import kind_of
from alignkit.arrays import LinkArrays
from alignkit.errors import AlignmentError, ArgumentError

__all__ = ["Links", "pack_links"]

Links = Union[Alignment, str, Iterable[tuple[Any, ...]]]
"""The links of one sentence pair: ``(i, j)``, ``(i, j, "S")`` or ``(i, j, "P")``, or a text."""

_MARKS = {"S": True, "P": False}
_LONGEST_SHOWN = 60


def pack_links(name: str, given: Iterable[Links] | LinkArrays) -> LinkArrays:
    """Pack the links of many sentence pairs.

    Parameters
    ----------
    name
        What the argument is called, for errors.
    given
        The links of each sentence pair. A tuple is a sure link, unless ``"P"`` is its third part;
        one of which a side is None, as NLTK has it, is no link.

    Raises
    ------
    ArgumentError
        If it is no list of links a pair; the message names the place.
    AlignmentError
        If a link cannot exist.

    Examples
    --------
    >>> pack_links("links", [{(0, 0), (1, 1, "P")}, "0-0 1?1", []]).offsets.tolist()
    [0, 2, 4, 4]
    """
    if isinstance(given, LinkArrays):
        return given
    if isinstance(given, (str, bytes, Set, Mapping)) or not isinstance(given, Iterable):
        raise ArgumentError(
            f"{name} is {kind_of(given)}; give a list with the links of each sentence pair, such "
            "as [{(0, 0), (1, 1)}] or ['0-0 1-1']"
        )
    return LinkArrays.pack(
        one if isinstance(one, Alignment) else _alignment(f"{name}[{k}]", one)
        for k, one in enumerate(given)
    )


def _alignment(name: str, links: Links) -> Alignment:
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
    sides: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    for i, j, sure in _checked(name, links):
        sides[sure].append((i, j))
    try:
        return Alignment(sides[True], sides[False])
    except (AlignmentError, ArgumentError) as error:
        raise type(error)(f"{name}: {error}") from None


def _checked(name: str, links: Iterable[Any]) -> Iterator[tuple[int, int, bool]]:
    for link in links:
        plain = hasattr(link, "__len__") and not isinstance(link, (str, bytes, Set, Mapping))
        if not plain or len(link) not in (2, 3):
            shown = repr(link)[:_LONGEST_SHOWN]
            raise ArgumentError(
                f"{name} holds {shown}, which is no link; give (i, j), (i, j, 'S') or (i, j, 'P')"
                f"{_if_number(link)}"
            )
        i, j, *mark = link
        if mark and mark[0] not in _MARKS:
            raise ArgumentError(
                f"{name} holds {repr(link)[:_LONGEST_SHOWN]}; the third part of a link must be "
                "'S', sure, or 'P', possible"
            )
        if i is not None and j is not None:
            yield i, j, _MARKS[mark[0]] if mark else True


def _if_number(value: object) -> str:
    """Say what is meant where one alignment was given in place of a list of them."""
    if not hasattr(value, "__index__"):
        return ""
    return "; the links of one sentence pair stand in a list too: [{(0, 0), (1, 1)}]"
