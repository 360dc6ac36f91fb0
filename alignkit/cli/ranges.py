"""Write many numbers, or ids that became others, as few ranges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_NUMBERED = re.compile(r"(.*?)(0|[1-9][0-9]{0,17})", re.DOTALL)


def number_ranges(numbers: Iterable[int]) -> list[str]:
    """Write numbers in rising order.

    Examples
    --------
    >>> number_ranges([3, 9, 4, 5])
    ['3-5', '9']
    """
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return [str(first) if first == last else f"{first}-{last}" for first, last in runs]


def id_ranges(renamed: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Write which ids became which, those that count up together as one.

    Examples
    --------
    >>> list(id_ranges([("4", "3"), ("5", "4"), ("8", "5"), ("a:9", "b:1"), ("a:10", "b:2")]))
    ['4-5 are now 3-4', '8 is now 5', 'a:9-a:10 are now b:1-b:2']
    """
    run: list[tuple[str, str]] = []
    for pair in renamed:
        if run and not all(map(_follows, run[-1], pair)):
            yield _told(run)
            run = []
        run = [run[0], pair] if run else [pair]
    if run:
        yield _told(run)


def _follows(before: str, after: str) -> bool:
    one, other = _NUMBERED.fullmatch(before), _NUMBERED.fullmatch(after)
    return bool(one and other and one[1] == other[1] and int(one[2]) + 1 == int(other[2]))


def _told(run: list[tuple[str, str]]) -> str:
    old, new = zip(*run, strict=True)
    return f"{'-'.join(old)} {'is' if len(run) == 1 else 'are'} now {'-'.join(new)}"
