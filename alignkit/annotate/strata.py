"""Strata: groups of pairs that are alike in length, in doubt, or in an attribute.

Pairs are drawn by strata, the same share of each, so that a sample is like the whole. A stratum has
a part for each name by which pairs are divided:

- by a measure (`length`, `uncertainty`), the number of the third of all pairs: "0", "1" or "2". The
  lengths 4, 5, 9, 10, 20 and 30 are cut at 9 and 20, so a pair of 12 words is in "1";
- by an attribute, its value: with the names `length` and `genre`, a stratum is ("1", "news").
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

MEASURES = ("length", "uncertainty")
CONTROL = MEASURES
"""The names by which the control sample is drawn."""

_NAMES = {"length": ("short", "middle", "long"), "uncertainty": ("certain", "middle", "doubtful")}
"""The thirds of each measure, the lowest first."""

Cuts = Mapping[str, Sequence[float]]
"""Where each measure is cut, in order; a value at a cut belongs to the part after it."""
StratumKey = tuple[str, ...]


class StratifiedPair(NamedTuple):
    """The properties of a pair that matter for its assignment."""

    k: int  # its number
    id: str
    length: int  # how many words both sides have
    doubt: float | None  # see `doubt_of`; None if nothing is suggested
    attributes: Mapping[str, str]


def doubt_of(n: int, m: int, cells: Iterable[tuple[int, int, float | None, int]]) -> float:
    """Return the doubt that suggestions leave on a pair of `n` and `m` words, from 0 to 1.

    It is the mean over the words of both sides. The doubt on a word is that on its most doubtful
    suggestion: 1 if its probability is one half, 0 if it is 0, 1 or unknown.
    """
    doubts: dict[tuple[str, int], float] = {}  # by side and word
    for i, j, p, _ in cells:
        doubt = 0.0 if p is None else 1 - abs(2 * p - 1)
        for word in (("source", i), ("target", j)):
            is_null = word[1] < 0
            if not is_null:
                doubts[word] = max(doubt, doubts.get(word, 0.0))
    if n + m:
        return round(sum(doubts.values()) / (n + m), 9)
    return 0.0


def cuts_of(values: Iterable[float]) -> tuple[float, ...]:
    """Return the values that cut values into thirds; fewer cuts if many are equal."""
    ordered = sorted(values)
    if not ordered:
        return ()
    cuts = {float(ordered[len(ordered) * part // 3]) for part in (1, 2)}
    return tuple(cut for cut in sorted(cuts) if cut > ordered[0])


def stratum_of(item: StratifiedPair, names: Iterable[str], cuts: Cuts) -> StratumKey:
    """Return the stratum of a pair: the part for each measure, the value for each attribute."""
    parts = dict(item.attributes)
    for name, value in (("length", item.length), ("uncertainty", item.doubt)):
        if value is None:
            parts[name] = ""
        else:
            parts[name] = str(bisect_right(cuts.get(name, ()), value))
    return tuple(parts.get(name, "") for name in names)


def named_stratum(stratum: StratumKey, names: Sequence[str], cuts: Cuts) -> str:
    """Return a stratum in words, as in "middle, 9 to 19; genre news"."""
    parts = []
    for part, name in zip(stratum, names, strict=True):
        if name not in MEASURES:
            parts.append(f"{name} {part or '-'}")
        elif not part:
            parts.append(f"no {name}")
        else:
            parts.append(_named_part(int(part), name, cuts.get(name, ())))
    return "; ".join(parts) or "all"


def _named_part(part: int, name: str, cuts: Sequence[float]) -> str:
    """Return a part of a measure in words; with one cut there is no middle."""
    if not cuts:
        return f"any {name}"
    low, middle, high = _NAMES[name]
    if part == 0:
        return f"{low}, below {cuts[0]:.3g}"
    if part == len(cuts):
        return f"{high}, from {cuts[-1]:.3g}"
    end = cuts[part]
    if name == "length":
        end -= 1  # the last whole number below the cut
    return f"{middle}, {cuts[part - 1]:.3g} to {end:.3g}"
