"""Standard output and stderr, whether they are open, closed, or left by their reader."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import Any, TextIO

from alignkit.errors import AlignkitError

_CLOSED = "standard output is closed; name a file for the output"


def prepare_streams(*, own: bool) -> None:
    """Write UTF-8; messages to a closed stderr are lost, a closed stdout is an error.

    `own`: the process is ours alone.
    """
    if own:
        _open_standard_numbers()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for good
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(_Closed(), "utf-8", write_through=True)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            if stream is sys.stdout:
                errors = "strict"
            else:
                errors = "backslashreplace"
            stream.reconfigure(encoding="utf-8", errors=errors, newline="\n")


def _open_standard_numbers() -> None:
    """Open those of the file numbers 0 to 2 that are closed, to nowhere.

    Else the next file that is opened gets such a number, and whatever is printed goes into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):
                os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest free number


def require_output() -> None:
    """Raise an error before any work if standard output is closed."""
    if isinstance(getattr(sys.stdout, "buffer", None), _Closed):
        raise AlignkitError(_CLOSED)


def outlive_reader() -> None:
    """Ignore a closed reader of standard output, because files are written too."""
    with suppress(OSError, ValueError):  # stdout is closed, and no file
        raw = _Unread(sys.stdout.fileno(), "w", closefd=False)
        sys.stdout.flush()
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw), "utf-8", newline="\n", line_buffering=raw.isatty()
        )


class _Unread(io.FileIO):
    """Write until the reader closes the stream."""

    def write(self, data: Any) -> Any:
        try:
            return super().write(data)
        except BrokenPipeError:
            return len(data)


def finish_output() -> None:
    """Write the rest of stdout after a failure; ignore a second failure."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        silence(sys.stdout)


class _Closed(io.BufferedIOBase):
    """A stream that refuses everything."""

    def writable(self) -> bool:
        return True

    def write(self, _data: object) -> int:
        raise AlignkitError(_CLOSED)


def silence(stream: TextIO) -> None:
    """Redirect a stream that failed to nowhere, so that it does not fail again at the exit."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
