"""Write what stands in cells: yes or no (taken in bulk, rejected), or a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from alignkit.annotate.log.events import Cell, Write

T = TypeVar("T")


def effective_marks(marked: set[Cell], writes: Sequence[Write]) -> list[Write]:
    """Return those writes of a mark that change it."""
    return [(i, j, 1 - after, after) for i, j, _, after in writes if ((i, j) in marked) != after]


def dropped(marked: set[Cell], writes: Sequence[Write], cells: Sequence[Cell]) -> list[Write]:
    """Return the clearing of a mark on cells that no longer can bear it."""
    written = {(i, j) for i, j, *_ in writes}
    return [(*cell, 1, 0) for cell in cells if cell in marked and cell not in written]


def set_bits(marked: set[Cell], writes: Sequence[Write]) -> None:
    """Mark cells, or take marks away."""
    for i, j, _, after in writes:
        if after:
            marked.add((i, j))
        else:
            marked.discard((i, j))


def put_cells(held: dict[Cell, T], writes: Sequence[tuple[int, int, T | None, T | None]]) -> None:
    """Give cells values; None takes one away."""
    for i, j, _, after in writes:
        if after is None:
            held.pop((i, j), None)
        else:
            held[i, j] = after
