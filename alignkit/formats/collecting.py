"""Seldom collection of garbage while a corpus is read."""

from __future__ import annotations

import gc
from threading import Lock

_OBJECTS = 200_000


class _Seldom:
    """Fewer walks of the collector over millions of words, none of which is in a cycle."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._readers = 0
        self._before: tuple[int, int, int] | None = None

    def __enter__(self) -> None:
        with self._lock:
            self._readers += 1
            if self._before is None and gc.get_threshold()[0]:  # else it never collects
                self._before = gc.get_threshold()
                gc.set_threshold(max(self._before[0], _OBJECTS), *self._before[1:])

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._readers -= 1
            if not self._readers and self._before is not None:
                gc.set_threshold(*self._before)
                self._before = None


seldom_collecting = _Seldom()
