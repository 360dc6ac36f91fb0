"""Keep in a worker's memory what it would read again in the next round, as far as there is room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

_ROOM = 1 << 30
"""Bytes that are kept where nothing tells how much memory there is."""


class Kept(Generic[T]):
    """Keep what one run made; what does not fit any more is made again each time."""

    def __init__(self) -> None:
        self._run = ""
        self._items: dict[str, T] = {}
        self._size = 0

    def get(self, run: str, name: str, memory: int, make: Callable[[], tuple[T, int]]) -> T:
        """Return what has a name in a run, made if it is not there."""
        if run != self._run:
            self._run, self._items, self._size = run, {}, 0
        if name in self._items:
            return self._items[name]
        item, size = make()
        if self._size + size <= (memory // 4 or _ROOM):
            self._items[name] = item
            self._size += size
        return item
