"""What a worker keeps in memory from task to task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

_ROOM = 1 << 30  # bytes to keep if the size of the memory is unknown


class WorkerMemory(Generic[T]):
    """Items of one run, kept while they fit into memory, otherwise created again each time."""

    def __init__(self) -> None:
        self._run = ""
        self._items: dict[str, T] = {}
        self._size = 0

    def get(self, run: str, name: str, memory: int, make: Callable[[], tuple[T, int]]) -> T:
        """Return an item by name; create it if needed.

        run : The name of the run; items of another one are dropped.
        memory : The bytes of memory of the worker, of which items take a quarter; 0 if not known.
        make : Returns the item and its size in bytes.
        """
        if run != self._run:
            self._run = run
            self._items = {}
            self._size = 0
        if name in self._items:
            return self._items[name]
        item, size = make()
        if self._size + size <= (memory // 4 or _ROOM):
            self._items[name] = item
            self._size += size
        return item
