"""Print messages on stderr, escaped, and without failing if stderr is closed."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from logging import WARNING, Handler, LogRecord, getLogger
from typing import ClassVar, TypeVar

from alignkit._support.wording import visible
from alignkit.cli.common.streams import silence

_ACTING = r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"


class _Voice:
    """Whether the running command is quiet, and the messages it has printed once."""

    quiet = False
    said: ClassVar[set[str]] = set()


def begin(*, quiet: bool) -> None:
    """Reset the messages for a new command; a quiet one prints only warnings and errors."""
    _Voice.quiet = quiet
    _Voice.said.clear()


def say(text: str, *, error: bool = False, once: bool = False) -> None:
    """Print a line on stderr, escaped; with --quiet, only errors; with `once`, only once."""
    if error or not (_Voice.quiet or (once and text in _Voice.said)):
        _Voice.said.update({text} if once else ())
        wipe = "\r\x1b[K" if sys.stderr.isatty() else ""  # a line of progress
        tell_raw(f"{wipe}alignkit: {visible(text)}\n")


def warn(text: str) -> None:
    """Print a warning on stderr once, also with --quiet."""
    if text not in _Voice.said:
        _Voice.said.add(text)
        say(text, error=True)


class _Warnings(Handler):
    def emit(self, record: LogRecord) -> None:
        if hasattr(record, "again"):  # of a state that may come back
            say(record.getMessage(), error=True)
        elif hasattr(record, "note"):
            say(record.getMessage(), once=True)
        else:
            warn(record.getMessage())


@contextmanager
def heard() -> Iterator[None]:
    """Print the warnings of the library while a command runs."""
    logger = getLogger("alignkit")
    handler = _Warnings(WARNING)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def tell_raw(text: str) -> None:
    """Write text to stderr unchanged; if that fails, the text is lost and the work continues."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        silence(sys.stderr)


def visible_lines(text: str) -> str:
    """Escape control characters in the lines of a text."""
    return "\n".join(map(visible, text.split("\n")))


def json_text(value: object, *, indent: int | None = 2) -> str:
    """Return a value as JSON, with control characters escaped; its meaning is the same."""
    import json

    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return re.sub(_ACTING, lambda match: f"\\u{ord(match[0]):04x}", text)


_QUOTES = "\"'"
_ARGUMENT = r"`([a-z][a-z0-9_]*)(?:=([^`\n]*))?`"


def in_words_of(given: argparse.Namespace | None, message: str) -> str:
    """Replace the `arguments` of the library in a message by the command's options."""
    actions: list[argparse.Action] = [] if given is None else given.parser._actions
    options = {action.dest: action for action in actions if action.option_strings}

    def option(match: re.Match[str]) -> str:
        name, value = match.groups()
        action = options.get(name)
        if action is None or (action.nargs == 0 and value not in (None, str(action.const))):
            return match[0].strip("`")
        flag = max(action.option_strings, key=len)
        if value is None or action.nargs == 0:
            return flag
        return f"{flag} {value.strip(_QUOTES)}"

    return re.sub(_ARGUMENT, option, message)


T = TypeVar("T")

_PATIENCE = 1.0  # seconds before anything is shown
_EVERY = 0.25


class ProgressBar:
    """Show progress with the time left if stderr is a terminal and work takes over a second."""

    def __init__(
        self,
        label: str,
        fraction: Callable[[], float | None] | int | None = None,
        unit: str | None = None,
    ) -> None:
        self._label = label
        self._unit = unit
        self.detail = ""
        self._steps = 0
        self._share = 0.0
        self._fraction = fraction
        self._start = time.monotonic()
        self._next = self._start + _PATIENCE
        self._shown = False
        self.active = sys.stderr.isatty() and not _Voice.quiet

    def step(self, count: int = 1) -> None:
        """Count finished steps."""
        self._steps += count
        if self.active and (count > 1 or not self._steps & 255) and time.monotonic() > self._next:
            self._show()

    def reach(self, share: float, detail: str = "") -> None:
        """Set the finished share (0 to 1) and a description of the current work."""
        self._share = share
        self.detail = detail
        self.step(256)

    def _show(self) -> None:
        """Write the line of progress over the one before."""
        now = time.monotonic()
        self._next = now + _EVERY
        passed = now - self._start
        done: float | None = self._share
        if callable(self._fraction):
            done = self._fraction()
        elif self._fraction is not None:
            done = self._steps / max(self._fraction, 1)
        parts = [self.detail] if self.detail else []
        if self._unit is not None:
            parts += [f"{self._steps:,} {self._unit}"]
        if done:
            parts += [f"{done:.0%}", f"{passed / done - passed:.0f} s left"]
        text = visible(f"{self._label}: {', '.join(parts)}")
        text = text[: shutil.get_terminal_size().columns - 1]  # a line that wraps cannot be wiped
        tell_raw(f"\r\x1b[K{text}")
        self._shown = True

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            tell_raw("\r\x1b[K")


def counted(
    items: Iterable[T], label: str, total: int | None, unit: str | None = "pairs"
) -> Iterator[T]:
    """Yield items, and show how many of the total are done; see `ProgressBar`."""
    with ProgressBar(label, total, unit) as progress:
        for item in items:
            yield item
            progress.step()
