"""Carry the work on a pair over to corrected words, and list what is lost.

The tokens of both texts are compared by their longest common subsequence. Equal tokens keep their
links. If tokens are replaced by equally many others, they are matched in order. All other tokens
are new or gone. A link that loses an end becomes a mark, "was linked".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from msgspec import structs

from alignkit.annotate.project.events import Cell, Mark, comment_key
from alignkit.annotate.project.state import PairState
from alignkit.model.alignment import NULL

Words = Sequence[str]
Side = Literal["source", "target"]


@dataclass(frozen=True)
class Rewording:
    """The new place of each word of a pair after its text was corrected."""

    old: tuple[Words, Words]  # source and target words before and after
    new: tuple[Words, Words]

    @cached_property
    def source(self) -> list[int | None]:
        """The new place of each source word; None if it is gone."""
        return places(self.old[0], self.new[0])

    @cached_property
    def target(self) -> list[int | None]:
        """The new place of each target word."""
        return places(self.old[1], self.new[1])

    def cell(self, cell: Cell) -> Cell | None:
        """Return the new place of a cell; None if one of its words is gone."""
        i, j = cell
        new_i = -1 if i < 0 else self.source[i]
        new_j = -1 if j < 0 else self.target[j]
        if new_i is None or new_j is None:
            return None
        return new_i, new_j

    def kept(self, cells: Iterable[Cell]) -> dict[Cell, Cell]:
        """Return the new places of cells, by the old ones; those that are gone have none."""
        places = {}
        for cell in cells:
            place = self.cell(cell)
            if place is not None:
                places[cell] = place
        return places

    def near(self, side: Side, place: int) -> int:
        """Return the word at which to show something that had this place."""
        if side == "source":
            places = self.source
            words, _ = self.new
        else:
            places = self.target
            _, words = self.new
        nearest = _nearest(places)
        if not nearest or not words:
            return 0
        return min(nearest[place], len(words) - 1)


def _nearest(places: list[int | None]) -> list[int]:
    """Return for each word its new place, or that of the last word before it that stays."""
    nearest = []
    last = 0
    for place in places:
        if place is not None:
            last = place
        nearest.append(last)
    return nearest


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
    """Return the places of the words of a longest common subsequence, in order.

    What both texts begin and end with belongs to it. Between, two equal words belong to it, and
    otherwise the old word is passed over if the rest has as much in common without it.
    """
    begin = 0
    end = 0
    most = min(len(old), len(new))
    while begin < most and old[begin] == new[begin]:
        begin += 1
    while end < most - begin and old[-1 - end] == new[-1 - end]:
        end += 1
    common = [(k, k) for k in range(begin)]
    old_rest = old[begin : len(old) - end]
    new_rest = new[begin : len(new) - end]
    rows = _rows(old_rest, new_rest)
    i = 0
    j = 0
    left = _length(rows[0], len(new_rest))
    while i < len(old_rest) and j < len(new_rest):
        if old_rest[i] == new_rest[j]:
            common.append((begin + i, begin + j))
            i += 1
            j += 1
            left -= 1
        elif _length(rows[i + 1], len(new_rest) - j) == left:
            i += 1
        else:
            j += 1
    common.extend((len(old) - k, len(new) - k) for k in range(end, 0, -1))
    return common


def _rows(old: Words, new: Words) -> list[int]:
    """Return for each place in `old` what its rest has in common with each rest of `new`.

    It is a row of the table of dynamic programming as bits, one for each new word, the last word
    first: 0 if the rest that begins with this word has one more word in common than the rest after
    it (H. Hyyrö, 2004, Bit-parallel LCS-length computation revisited). See `_length`.
    """
    bits: dict[str, int] = {}
    for bit, word in enumerate(reversed(new)):
        bits[word] = bits.get(word, 0) | 1 << bit
    every = (1 << len(new)) - 1
    row = every
    rows = [row]
    for word in reversed(old):
        matches = row & bits.get(word, 0)
        row = (row + matches | row - matches) & every
        rows.append(row)
    return rows[::-1]


def _length(row: int, words: int) -> int:
    """Return how much a rest has in common with the last words: the zeros among their bits."""
    every = (1 << words) - 1
    return words - (row & every).bit_count()


def reword(state: PairState, rewording: Rewording, rev: int) -> PairState:
    """Return a state for corrected words; lost links become marks."""
    new = PairState(state.seq, rev, judgment=state.judgment, flags=state.flags)
    new.provenance = state.provenance
    new.learned = state.learned
    new.rewrites = dict(state.rewrites)
    new.extracts = dict(state.extracts)
    if not state.done:
        for mark in state.marks:
            new.marks.append(structs.replace(mark, at=rewording.near(mark.side, mark.at)))
    notes = dict(state.comments)
    places = rewording.kept(state.cells)
    settled = set(state.settled)
    for cell, value in sorted(state.cells.items()):
        if cell not in places:
            i, j = cell
            note = notes.pop(f"{i}-{j}", "")
            new.marks.append(_mark(cell, value, note, rewording))
            settled -= {(i, NULL), (NULL, j)}  # these words are to be looked at again
            continue
        place = places[cell]
        new.cells[place] = value
        if cell in state.bulk:
            new.bulk.add(place)
        if cell in state.weights:
            new.weights[place] = state.weights[cell]
    for cell, place in rewording.kept(state.whys).items():
        new.whys[place] = state.whys[cell]
    new.rejected.update(rewording.kept(state.rejected).values())
    new.settled.update(rewording.kept(settled).values())
    _move_comments(new, notes, rewording)
    return new


def _move_comments(new: PairState, notes: dict[str, str], rewording: Rewording) -> None:
    """Add comments at their new places; those on cells that are gone become marks."""
    for key, text in notes.items():
        old = comment_key(key)
        if old is None:
            new.comments[key] = text
            continue
        place = rewording.cell(old)
        if place is None:
            new.marks.append(_mark(old, 0, text, rewording))
        else:
            i, j = place
            new.comments[f"{i}-{j}"] = text


def _mark(cell: Cell, value: int, note: str, rewording: Rewording) -> Mark:
    """Return the mark of a lost link; it stands at the target word if that stays."""
    i, j = cell
    old_source, old_target = rewording.old
    source = "" if i < 0 else old_source[i]
    target = "" if j < 0 else old_target[j]
    if i >= 0 and j >= 0:
        text = f"{source} - {target}"
    else:
        text = source or target
    was = i, j, value
    if j >= 0 and (i < 0 or rewording.target[j] is not None):
        return Mark("target", rewording.near("target", j), text, was, note)
    return Mark("source", rewording.near("source", i), text, was, note)
