"""Make the standard streams what the commands expect, closed ones too."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import Any

from alignkit.cli.messages import silence
from alignkit.errors import AlignkitError

_CLOSED = "standard output is closed; open it, or name a file for the output"


def prepare_streams(*, own: bool) -> None:
    """Write UTF-8, and put something harmless where a stream is closed, as under cron.

    A message to a closed stderr is lost; a result for a closed stdout is an error.
    """
    if own:
        _occupy_numbers()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for good
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(_Closed(), "utf-8", write_through=True)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            errors = "strict" if stream is sys.stdout else "backslashreplace"
            stream.reconfigure(encoding="utf-8", errors=errors, newline="\n")


def require_output() -> None:
    """Refuse work whose result could not be printed."""
    if isinstance(getattr(sys.stdout, "buffer", None), _Closed):
        raise AlignkitError(_CLOSED)


def outlive_reader() -> None:
    """Lose what is printed once nobody reads it any more, for there are files to be written too."""
    with suppress(OSError, ValueError):  # stdout is closed, and no file
        raw = _Unread(sys.stdout.fileno(), "w", closefd=False)
        sys.stdout.flush()
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw), "utf-8", newline="\n", line_buffering=raw.isatty()
        )


class _Unread(io.FileIO):
    """Write as long as somebody reads."""

    def write(self, data: Any) -> Any:
        try:
            return super().write(data)
        except BrokenPipeError:
            return len(data)


def finish_output() -> None:
    """Write what is left for stdout after a failure; if that fails too, drop it in silence."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        silence(sys.stdout)


def _occupy_numbers() -> None:
    """Open what is closed of the numbers 0, 1 and 2 on nothing.

    The next file would else get the number, and with it what others print to stdout or stderr.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):
                os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest free number


class _Closed(io.BufferedIOBase):
    """Refuse all that is written."""

    def writable(self) -> bool:
        return True

    def write(self, _data: object) -> int:
        raise AlignkitError(_CLOSED)
