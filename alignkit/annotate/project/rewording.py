"""Carry the work on a pair over to corrected words, and list what is lost.

The tokens of both texts are compared by their longest common subsequence. Equal tokens keep their
links. If tokens are replaced by equally many others, they are matched in order. All other tokens
are new or gone. A link that loses an end becomes a mark, "was linked".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal

from msgspec import structs

from alignkit.annotate.project.events import Cell, Mark, comment_key
from alignkit.annotate.project.state import PairState

Words = Sequence[str]
Side = Literal["source", "target"]


@dataclass(frozen=True)
class Rewording:
    """The new place of each word of a pair after its text was corrected."""

    old: tuple[Words, Words]  # source and target words before and after
    new: tuple[Words, Words]
    source: list[int | None] = field(init=False)
    target: list[int | None] = field(init=False)
    _near: dict[Side, list[int]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", places(self.old[0], self.new[0]))
        object.__setattr__(self, "target", places(self.old[1], self.new[1]))
        near: dict[str, list[int]] = {}  # where each word went, or the last before it that stays
        for side, went in (("source", self.source), ("target", self.target)):
            known = accumulate(went, lambda last, k: last if k is None else k, initial=0)
            near[side] = [0 if k is None else k for k in known][1:]
        object.__setattr__(self, "_near", near)

    def cell(self, cell: Cell) -> Cell | None:
        """Return the new place of a cell; None if one of its words is gone."""
        i = -1 if cell[0] < 0 else self.source[cell[0]]
        j = -1 if cell[1] < 0 else self.target[cell[1]]
        return None if i is None or j is None else (i, j)

    def near(self, side: Side, place: int) -> int:
        """Return the word at which to show something that had this place."""
        words = self.new[0] if side == "source" else self.new[1]
        before = self._near[side][place] if self._near[side] else 0
        return min(before, max(len(words) - 1, 0))


def places(old: Words, new: Words) -> list[int | None]:
    """Return for each old word its place among the new words; None if it is gone."""
    new_places: list[int | None] = [None] * len(old)
    start_old = start_new = 0
    for i, j in [*_common(old, new), (len(old), len(new))]:
        if i - start_old == j - start_new:  # as many in the place of others
            new_places[start_old:i] = range(start_new, j)
        if i < len(old):
            new_places[i] = j
        start_old = i + 1
        start_new = j + 1
    return new_places


def _common(old: Words, new: Words) -> list[tuple[int, int]]:
    begin = 0
    end = 0
    most = min(len(old), len(new))
    while begin < most and old[begin] == new[begin]:
        begin += 1
    while end < most - begin and old[-1 - end] == new[-1 - end]:
        end += 1
    a = old[begin : len(old) - end]
    b = new[begin : len(new) - end]
    rows = _rows(a, b)
    inside = []
    i = 0
    j = 0
    left = _length(rows[0], len(b))
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            inside.append((begin + i, begin + j))
            i += 1
            j += 1
            left -= 1
        elif _length(rows[i + 1], len(b) - j) == left:
            i += 1
        else:
            j += 1
    last = [(len(old) - k, len(new) - k) for k in range(end, 0, -1)]
    return [(k, k) for k in range(begin)] + inside + last


def _rows(a: Words, b: Words) -> list[int]:
    """Return for each place in `a` the length of the common rest, as bits; see `_length`."""
    places: dict[str, int] = {}
    for bit, word in enumerate(reversed(b)):
        places[word] = places.get(word, 0) | 1 << bit
    every = row = (1 << len(b)) - 1
    rows = [row]
    for word in reversed(a):
        here = row & places.get(word, 0)
        row = (row + here | row - here) & every
        rows.append(row)
    return rows[::-1]


def _length(row: int, words: int) -> int:
    return words - (row & (1 << words) - 1).bit_count()


def reword(state: PairState, rewording: Rewording, rev: int) -> PairState:
    """Return a state for corrected words; lost links become marks."""
    new = PairState(state.seq, rev, judgment=state.judgment, flags=state.flags)
    new.provenance = state.provenance
    new.rewrites = dict(state.rewrites)
    new.extracts = dict(state.extracts)
    if not state.done:
        new.marks = [structs.replace(x, at=rewording.near(x.side, x.at)) for x in state.marks]
    notes = dict(state.comments)
    for cell, value in sorted(state.cells.items()):
        place = rewording.cell(cell)
        if place is None:
            new.marks.append(_mark(cell, value, notes.pop(f"{cell[0]}-{cell[1]}", ""), rewording))
            continue
        new.cells[place] = value
        if cell in state.bulk:
            new.bulk.add(place)
        if cell in state.weights:
            new.weights[place] = state.weights[cell]
    moved = ((rewording.cell(cell), why) for cell, why in state.whys.items())
    new.whys = {place: why for place, why in moved if place is not None}
    new.rejected = {place for cell in state.rejected if (place := rewording.cell(cell))}
    for key, text in notes.items():
        if (old := comment_key(key)) is None:
            new.comments[key] = text
        elif (place := rewording.cell(old)) is not None:
            new.comments[f"{place[0]}-{place[1]}"] = text
        else:
            new.marks.append(_mark(old, 0, text, rewording))
    return new


def _mark(cell: Cell, value: int, note: str, rewording: Rewording) -> Mark:
    i, j = cell
    source = "" if i < 0 else rewording.old[0][i]
    target = "" if j < 0 else rewording.old[1][j]
    if i >= 0 and j >= 0:
        text = f"{source} - {target}"
    else:
        text = source or target
    at_target = j >= 0 and (i < 0 or rewording.target[j] is not None)
    side: Side = "target" if at_target else "source"
    return Mark(side, rewording.near(side, j if at_target else i), text, (i, j, value), note)
