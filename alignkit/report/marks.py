"""How the state of a cell is named and marked, in every medium and without colour."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from string import ascii_uppercase

from alignkit.report.cells import Grid, States

_LONE_LETTER = re.compile(r"(?<![^\W\d_])[A-Z](?![^\W\d_])")


@dataclass(frozen=True, slots=True)
class Mark:
    """Show one state of a cell."""

    kind: str
    sign: str
    ascii_sign: str
    meaning: str  # the words of the legend
    rank: int  # the place in the legend


@lru_cache(maxsize=4096)
def find_mark(states: States, annotators: tuple[str, ...]) -> Mark:
    """Return the mark of a cell that at least one annotator filled."""
    number = len(annotators)
    if min(states) == max(states):
        everybody = {1: "", 2: " for both"}.get(number, f" for all {number}")
        if states[0] == 2:
            return Mark("sure", "■", "S", f"sure{everybody}", 0)
        return Mark("possible", "□", "P", f"possible{everybody}", 1)
    if number == 2:
        return _mark_of_two(states, *annotators)
    have = sum(map(bool, states))
    sign = str(have) if have < 10 else "+"
    meaning = f"sure for some of all {number}" if have == number else f"{have} of {number} have it"
    return Mark("some", sign, sign, meaning, 2 + number - have)


def letters(first: str, second: str) -> tuple[str, str]:
    """Return the letters that stand for two annotators."""
    own = [set(_LONE_LETTER.findall(name.upper())) for name in (first, second)]
    for one, other in ("AB", "XY", "PQ", *pairwise(ascii_uppercase)):
        if [lone & {one, other} for lone in own] in ([set(), set()], [{one}, {other}]):
            break
    return one, other


def _mark_of_two(states: States, a: str, b: str) -> Mark:
    one, other = letters(a, b)
    return {
        (2, 1): Mark("first-surer", "◧", "<", f"sure for {a}, possible for {b}", 2),
        (1, 2): Mark("second-surer", "◨", ">", f"possible for {a}, sure for {b}", 3),
        (2, 0): Mark("first-sure", one, one, f"only {a}, sure", 4),
        (1, 0): Mark("first-possible", one.lower(), one.lower(), f"only {a}, possible", 5),
        (0, 2): Mark("second-sure", other, other, f"only {b}, sure", 6),
        (0, 1): Mark("second-possible", other.lower(), other.lower(), f"only {b}, possible", 7),
    }[states[0], states[1]]


def tally(grids: Iterable[Grid]) -> tuple[Counter[Mark], int]:
    """Count the cells that bear each mark, and how many of them are explicit nulls, not links."""
    cells: Counter[Mark] = Counter()
    nulls = 0
    for grid in grids:
        for drawn in (grid.cells, grid.nulls):
            cells.update(find_mark(states, grid.annotators) for states in drawn.values())
        nulls += len(grid.nulls)
    return cells, nulls


def legend(cells: Counter[Mark]) -> list[tuple[Mark, int]]:
    """Order the counted marks as legends show them."""
    return sorted(cells.items(), key=lambda item: (item[0].rank, item[0].meaning))
