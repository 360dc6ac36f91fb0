"""Put what was changed elsewhere into the state of a stream that went on here, too.

What only was changed there is taken, what only was changed here stays; what was changed on both
sides is as there. In the gold standard a value goes along with its reason: a place that was decided
otherwise on both sides loses the votes that its reason stands on, so that it is decided anew.
"""

from __future__ import annotations

import msgspec

from alignkit.alignment import NULL
from alignkit.annotate.log.conversion import difference
from alignkit.annotate.log.decisions import JUDGMENT, read_why, write_why
from alignkit.annotate.log.events import Cell
from alignkit.annotate.log.state import PairState, copied

_Judged = tuple[str, tuple[str, ...]]
_Held = tuple[int | _Judged, str | None]
"""A value with the reason for it."""


def with_both(mine: PairState, old: PairState, theirs: PairState) -> tuple[PairState, int]:
    """Return a state with the changes made there, and how many places both sides changed."""
    new = copied(mine)
    judged = any(JUDGMENT in state.whys for state in (mine, old, theirs))
    places = {JUDGMENT} if judged else set()
    for state in (old, theirs):
        places |= state.cells.keys() | state.whys.keys()
    places = {place for place in places if _held(old, place) != _held(theirs, place)}
    rest = msgspec.structs.replace(difference(old, theirs), how="import", cells=(), whys=())
    if judged:
        rest.label = rest.flags = None
    new.apply("edit", rest)
    both = 0
    for place in places:
        held, there = _held(mine, place), _held(theirs, place)
        if held == _held(old, place):
            _put(new, place, there)
        elif held[0] != there[0]:
            both += 1
            _put(new, place, (there[0], _without_votes(there[1] or held[1])))
        elif held[1] is None:
            _put(new, place, there)
    _clear_nulls(new, places)
    new.rejected -= new.cells.keys()
    new.bulk &= new.cells.keys()
    new.weights = {cell: weight for cell, weight in new.weights.items() if cell in new.cells}
    return new, both


def _held(state: PairState, place: Cell) -> _Held:
    if place == JUDGMENT:
        return (state.judgment, tuple(state.flags)), state.whys.get(place)
    return state.cells.get(place, 0), state.whys.get(place)


def _put(state: PairState, place: Cell, held: _Held) -> None:
    value, why = held
    if not isinstance(value, int):
        state.judgment, state.flags = value[0], list(value[1])
    elif value:
        state.cells[place] = value
    else:
        state.cells.pop(place, None)
    if why is None:
        state.whys.pop(place, None)
    else:
        state.whys[place] = why


def _without_votes(text: str | None) -> str | None:
    if text is None:
        return None
    return write_why(msgspec.structs.replace(read_why(text), votes={}))


def _clear_nulls(state: PairState, places: set[Cell]) -> None:
    nulls = {
        null
        for i, j in state.cells
        if NULL not in (i, j)
        for null in ((i, NULL), (NULL, j))
        if null in state.cells and not places.isdisjoint((null, (i, j)))
    }
    for null in nulls:
        _put(state, null, (0, _without_votes(state.whys.get(null))))
