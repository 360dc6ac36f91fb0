"""Sort pairs into strata: by length, by what suggestions leave open, by attributes.

Where the strata of a measure part is drawn once, from the pairs that are there then, and kept in
the plan; so a pair stays in its stratum when others come.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

MEASURES = ("length", "uncertainty")
CONTROL = MEASURES
"""What the control sample is stratified by."""

_PARTS = 3
_NAMES = {"length": ("short", "middle", "long"), "uncertainty": ("certain", "middle", "doubtful")}
Cuts = Mapping[str, Sequence[float]]
Stratum = tuple[str, ...]


class Item(NamedTuple):
    """What of a pair matters for its assignment."""

    k: int  # its number and its id
    id: str
    length: int  # how many words both sides have
    doubt: float | None
    attributes: Mapping[str, str]  # its attributes


def doubt_of(n: int, m: int, cells: Iterable[tuple[int, int, float | None, int]]) -> float:
    """Return what suggestions leave open, from 0 to 1: the mean over words of their doubt.

    Examples
    --------
    >>> doubt_of(2, 1, [(0, 0, 0.75, 2), (1, 0, 0.9, 2)])  # .5 and .2; .5
    0.4
    """
    doubts: dict[tuple[int, int], float] = {}
    for i, j, p, _ in cells:
        doubt = 0.0 if p is None else 1 - abs(2 * p - 1)
        for word in ((0, i), (1, j)):
            if word[1] >= 0:
                doubts[word] = max(doubt, doubts.get(word, 0.0))
    return round(sum(doubts.values()) / (n + m), 9) if n + m else 0.0


def cuts_of(values: Iterable[float]) -> tuple[float, ...]:
    """Return where values part into thirds; fewer cuts where many are equal.

    Examples
    --------
    >>> cuts_of([1, 2, 3, 4, 5, 6]), cuts_of([2, 2, 2])
    ((3.0, 5.0), ())
    """
    ordered = sorted(values)
    if not ordered:
        return ()
    places = [len(ordered) * part // _PARTS for part in range(1, _PARTS)]
    cuts = sorted({float(ordered[place]) for place in places})
    return tuple(cut for cut in cuts if cut > ordered[0])


def stratum_of(item: Item, names: Iterable[str], cuts: Cuts) -> Stratum:
    """Return in which stratum a pair is: for each measure its part, for each attribute its value.

    Examples
    --------
    >>> item = Item(1, "a", 12, None, {"genre": "news"})
    >>> stratum_of(item, ("length", "genre"), {"length": (10.0, 20.0)})
    ('1', 'news')
    """
    return tuple(_part(item, name, cuts) for name in names)


def _part(item: Item, name: str, cuts: Cuts) -> str:
    if name not in MEASURES:
        return item.attributes.get(name, "")
    value = item.length if name == "length" else item.doubt
    return "" if value is None else str(bisect_right(cuts.get(name, ()), value))


def named_stratum(stratum: Stratum, names: Sequence[str], cuts: Cuts) -> str:
    """Return a stratum in words.

    Examples
    --------
    >>> named_stratum(("1", "news"), ("length", "genre"), {"length": (10.0, 20.0)})
    'middle, 10 to 19; genre news'
    """
    parts = []
    for part, name in zip(stratum, names, strict=True):
        if name not in MEASURES:
            parts.append(f"{name} {part or '-'}")
        elif not part:
            parts.append(f"no {name}")
        else:
            parts.append(_named_part(int(part), name, list(cuts.get(name, ()))))
    return "; ".join(parts) or "all"


def _named_part(part: int, name: str, cuts: list[float]) -> str:
    if not cuts:
        return f"any {name}"
    # two parts are the outer ones
    word = _NAMES[name][part if len(cuts) == _PARTS - 1 or part == 0 else _PARTS - 1]
    step = 1 if name == "length" else 0
    if part == 0:
        return f"{word}, below {cuts[0]:.3g}"
    if part == len(cuts):
        return f"{word}, from {cuts[-1]:.3g}"
    return f"{word}, {cuts[part - 1]:.3g} to {cuts[part] - step:.3g}"
