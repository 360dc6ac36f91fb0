"""Say in a line, however long names are and however many there are."""

from __future__ import annotations

from collections.abc import Iterable

_ROOM, _LONGEST_NAME = 54, 20  # characters of a line for names, and of a name


def brief(name: str) -> str:
    """Return a name, cut where it is long."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def how_many(number: int, thing: str, things: str = "", *, commas: bool = False) -> str:
    """Return a number of things, in the singular where there is one."""
    said = f"{number:,}" if commas else f"{number}"
    return f"{said} {thing if number == 1 else things or f'{thing}s'}"


def brief_annotators(annotators: Iterable[str]) -> str:
    """Name annotators, and how many more there are."""
    names = list(map(brief, annotators))
    shown, room = 0, _ROOM
    while shown < len(names) and (room := room - len(names[shown]) - 2) > 0:
        shown += 1
    more = [f"{len(names) - shown} more"] if shown < len(names) else []
    return f"annotators: {', '.join([*names[:shown], *more]) or 'none'}"


def overlapping(several: int, pairs: int, name: str) -> str:
    """Say that groups by the values of an attribute overlap."""
    return (
        f"groups overlap: {several} of {how_many(pairs, 'sentence pair')} have several values of "
        f"{name}, and count in each"
    )
