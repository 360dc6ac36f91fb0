"""Groups of source words, target words and a label, as in ``6,5:5:unspec``.

Yawat and TransRead share this notation. A group links each of its source words to each of its
target words. One side may be empty: then the words of the other are explicitly aligned to
nothing. Positions count from 0 by custom.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from alignkit.alignment import NULL, Alignment, Link
from alignkit.formats.intake import Reading
from alignkit.formats.record import RawLink, Status

MOST_CELLS = 1 << 20
"""The most cells that the groups of one sentence pair may have, lest a broken file never ends."""

_LIST = r"((?:[0-9]{1,9}(?:,[0-9]{1,9})*)?)"
_GROUP = re.compile(rf"{_LIST}:{_LIST}:(\S+)")


class Group(NamedTuple):
    """Some source words, some target words (one of the two may be none) and their label."""

    sources: tuple[int, ...]
    targets: tuple[int, ...]
    label: str


def parse_groups(
    text: str, line: int, path: str, reading: Reading, known: Mapping[str, Status] | None
) -> Iterator[RawLink]:
    """Yield the links of a line of groups, each with the label of its group."""
    count = 0
    for token in text.split():
        match = _GROUP.fullmatch(token)
        if match is None or not (match[1] or match[2]):
            raise reading.error(
                f"{token[:40]!r} is no group; expected 'i,i:j,j:label'", line, path=path
            )
        sources, targets, label = _numbers(match[1]), _numbers(match[2]), match[3]
        if known is not None and label not in known:
            names = ", ".join(known)
            raise reading.error(
                f"unknown label {label[:40]!r}; expected one of {names}", line, path=path
            )
        status: Status = "sure" if known is None else known[label]
        count += len(sources) * len(targets)
        if count > MOST_CELLS:
            raise reading.error(
                f"groups of more than {MOST_CELLS} cells in one sentence pair", line, path=path
            )
        for cell in ((i, j) for i in sources for j in targets):
            yield RawLink(*cell, status, line, label=label)


def _numbers(text: str) -> list[int | None]:
    return [int(number) for number in text.split(",")] if text else [None]


def write_groups(cells: Iterable[tuple[Link, str]], base: int) -> Iterator[str]:
    """Yield labelled cells as groups in the notation; see `group_cells`."""
    for group in group_cells(cells):
        sides = (",".join(str(k + base) for k in side) for side in group[:2])
        yield ":".join((*sides, group.label))


def group_cells(cells: Iterable[tuple[Link, str]]) -> list[Group]:
    """Return the fewest groups that restore labelled cells.

    Connected cells of one label are a group if they fill their block, else one group a source word.
    A null is a group of its own.

    Examples
    --------
    >>> group_cells([(Link(0, 0), "a"), (Link(0, 1), "a"), (Link(1, 1), "b"), (Link(2, NULL), "a")])
    [Group(sources=(0,), targets=(0, 1), label='a'), Group(sources=(1,), targets=(1,), label='b'), \
Group(sources=(2,), targets=(), label='a')]
    """
    by_label: dict[str, list[Link]] = {}
    groups: list[Group] = []
    for link, label in cells:
        if NULL in link:
            words = [(index,) if index != NULL else () for index in link]
            groups.append(Group(words[0], words[1], label))
        else:
            by_label.setdefault(label, []).append(link)
    for label, links in by_label.items():
        for part in Alignment(links).components():
            sources, targets = (tuple(sorted({*side})) for side in zip(*part, strict=True))
            if len(part) == len(sources) * len(targets):
                groups.append(Group(sources, targets, label))
                continue
            by_source: dict[int, list[int]] = {}
            for i, j in sorted(part):
                by_source.setdefault(i, []).append(j)
            groups += (Group((i,), tuple(js), label) for i, js in by_source.items())
    return sorted(groups)
