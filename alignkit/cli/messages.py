"""Tell people things on stderr: visibly, and without harm where nobody listens."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from logging import WARNING, Handler, LogRecord, getLogger
from typing import TextIO

from alignkit.visible import visible

_ACTING = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class _Voice:
    """Remember how the command that runs speaks, and what it has told."""

    def __init__(self) -> None:
        self.quiet = False
        self.told: set[str] = set()


_voice = _Voice()


def begin(*, quiet: bool) -> None:
    """Begin a command: it has told nothing yet; a quiet one prints only warnings and errors."""
    _voice.quiet = quiet
    _voice.told.clear()


def is_quiet() -> bool:
    """Return whether only warnings and errors are printed."""
    return _voice.quiet


def say(text: str, *, error: bool = False, once: bool = False) -> None:
    """Tell something in a line on stderr, if it is an error or errors are not all that is wanted.

    Nothing in it can act on the terminal. With `once`, a command does not tell it again.
    """
    if error or not (_voice.quiet or (once and text in _voice.told)):
        _voice.told.update({text} if once else ())
        wipe = "\r\x1b[K" if sys.stderr.isatty() else ""  # a line of progress
        tell_raw(f"{wipe}alignkit: {visible(text)}\n")


def warn(text: str) -> None:
    """Print a warning in a line on stderr, once; --quiet does not silence it."""
    if text not in _voice.told:
        _voice.told.add(text)
        say(text, error=True)


class _Told(Handler):
    def emit(self, record: LogRecord) -> None:
        if hasattr(record, "again"):  # of a state that may come back
            say(record.getMessage(), error=True)
        else:
            (say if hasattr(record, "note") else warn)(record.getMessage())


@contextmanager
def heard() -> Iterator[None]:
    """Tell what the library warns of while a command runs."""
    logger, handler = getLogger("alignkit"), _Told(WARNING)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def tell_raw(text: str) -> None:
    """Write to stderr as it is; what nobody can read is lost, but the work goes on."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        silence(sys.stderr)


def visible_lines(text: str) -> str:
    """Return a text of several lines, in none of which anything can act on a terminal."""
    return "\n".join(map(visible, text.split("\n")))


def json_text(value: object, *, indent: int | None = 2) -> str:
    """Return a value as JSON, with escapes for what could act on a terminal; it means the same."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _ACTING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def silence(stream: TextIO) -> None:
    """Let a stream that failed write to nowhere, so that it does not fail again at the exit."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
