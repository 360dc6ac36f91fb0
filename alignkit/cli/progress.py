"""Show how far long work is, on stderr, where somebody looks."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from alignkit.cli.messages import is_quiet, tell_raw
from alignkit.visible import visible

T = TypeVar("T")

_PATIENCE = 1.0  # seconds before anything is shown
_EVERY = 0.25


class Progress:
    """Count steps; after a second of work show them with the time left, if stderr is a terminal."""

    def __init__(
        self,
        label: str,
        fraction: Callable[[], float | None] | int | None,
        unit: str | None = "pairs",
    ) -> None:
        self._label, self._unit = label, unit
        self.detail = ""
        self._steps, self._share = 0, 0.0
        self._fraction: Callable[[], float | None]
        if fraction is None:
            self._fraction = lambda: self._share
        elif callable(fraction):
            self._fraction = fraction
        else:
            self._fraction = lambda: self._steps / max(fraction, 1)
        self._start = time.monotonic()
        self._next = self._start + _PATIENCE
        self._shown = False
        self.active = sys.stderr.isatty() and not is_quiet()

    def step(self, count: int = 1) -> None:
        """Count some work done."""
        self._steps += count
        if self.active and (count > 1 or not self._steps & 255) and time.monotonic() > self._next:
            self._show()

    def reach(self, share: float, detail: str = "") -> None:
        """Take in the share that is done, 0 to 1, and what is being done now."""
        self._share, self.detail = share, detail
        self.step(256)

    def _show(self) -> None:
        now = time.monotonic()
        self._next = now + _EVERY
        passed = now - self._start
        done = self._fraction()
        parts = [self.detail] if self.detail else []
        parts += [] if self._unit is None else [f"{self._steps:,} {self._unit}"]
        if done:
            parts += [f"{done:.0%}", f"{passed / done - passed:.0f} s left"]
        text = visible(f"{self._label}: {', '.join(parts)}")
        text = text[: shutil.get_terminal_size().columns - 1]  # a line that wraps cannot be wiped
        tell_raw(f"\r\x1b[K{text}")
        self._shown = True

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            tell_raw("\r\x1b[K")


def counted(items: Iterable[T], label: str, total: int, unit: str | None = "pairs") -> Iterator[T]:
    """Yield items, and show how many of the total were taken; see `Progress`."""
    with Progress(label, total, unit) as progress:
        for item in items:
            yield item
            progress.step()
