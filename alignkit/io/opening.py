"""Open inputs as bytes: files, standard input and compressed files, with limits on memory."""

from __future__ import annotations

import codecs
import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from io import BufferedReader
from typing import Any, NamedTuple, cast

from alignkit.errors import FileError, FormatError, OptionError
from alignkit.io.compression import Unpacked, codec_of, unpacked_start
from alignkit.io.limits import MAX_MEGABYTES

CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
"""A character that texts never contain: NUL and other ASCII controls, except whitespace."""

_WIDE = (
    ("UTF-32", re.compile(rb"\xff\xfe\0\0|\0\0\xfe\xff")),
    ("UTF-16", re.compile(rb"\xff\xfe|\xfe\xff")),
    ("UTF-32LE", re.compile(rb"([^\0]\0\0\0){4}")),
    ("UTF-32BE", re.compile(rb"(\0\0\0[^\0]){4}")),
    ("UTF-16LE", re.compile(rb"([^\0]\0){4}")),
    ("UTF-16BE", re.compile(rb"(\0[^\0]){4}")),
)
"""Encodings with several bytes per character: their byte order marks or a start in ASCII."""
_LOOKED_AT = 512  # bytes
_BUFFER = 1 << 16
_CHUNK = 1 << 20  # bytes
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r"))


@contextmanager
def open_input(name: str, megabytes: int = MAX_MEGABYTES) -> Iterator[BufferedReader]:
    """Open a file or standard input (``-``) for reading bytes; compressed files are unpacked."""
    try:
        if name == "-":
            yield _unpacked(_standard_input(), name, megabytes)
            return
        ahead = _ahead.pop(name, None)
        with open(name, "rb") if ahead is None else ahead.again as stream:
            yield _unpacked(stream, name, megabytes)
    except FileError:  # of another file, that was read meanwhile
        raise
    except OSError as problem:
        raise FileError.of(problem, name) from None


def _unpacked(stream: BufferedReader, name: str, megabytes: int) -> BufferedReader:
    """Return a stream of uncompressed bytes; the first bytes say whether it is compressed."""
    if hasattr(stream, "peek"):
        codec = codec_of(stream.peek(_LOOKED_AT))
    else:
        codec = None
    if codec is None:
        return stream
    unpacked = Unpacked(stream, codec, name, megabytes)
    return cast("BufferedReader", BufferedReader(unpacked, _BUFFER))


def look_at(stream: BufferedReader, name: str, encoding: str | None) -> None:
    """Apply `refuse_wide` to the beginning of a stream that can look ahead."""
    if hasattr(stream, "peek"):
        refuse_wide(stream.peek(_LOOKED_AT)[:_LOOKED_AT], name, encoding)


def refuse_wide(head: bytes, name: str, encoding: str | None) -> None:
    """Reject UTF-16 unless that is the `encoding`; without an encoding, nothing."""
    with suppress(LookupError, ValueError):  # which is refused elsewhere
        encoding = encoding and codecs.lookup(encoding).name
    if encoding is None or encoding.startswith(("utf-16", "utf-32")):
        return
    if wide := wide_encoding(head):
        message = f"the text is {wide}, not {encoding}; convert it: iconv -f {wide} -t UTF-8"
        file = "FILE" if name == "-" else name
        raise FormatError(f"{message} {file}, or declare it with `encoding`", name)


def wide_encoding(head: bytes) -> str:
    """Return the encoding of a text with several bytes per character; else an empty text."""
    return next((wide for wide, begins in _WIDE if begins.match(head)), "")


def _standard_input() -> BufferedReader:
    if sys.stdin is None:
        raise OptionError("standard input is closed; name a file")
    stream = cast("BufferedReader", sys.stdin.buffer)
    ahead = _ahead.get("-")
    if ahead is not None and ahead.stream is stream:
        return ahead.again
    return stream


def is_standard(stream: BufferedReader) -> bool:
    """Return whether a stream is standard input, or replaces it."""
    return sys.stdin is not None and stream is _standard_input()


class _Ahead(NamedTuple):
    """A stream that cannot be read twice, its first bytes, and a stream with all bytes."""

    stream: BufferedReader
    head: bytes
    again: BufferedReader


_ahead: dict[str, _Ahead] = {}
"""Inputs that were sampled before reading: standard input, and pipes by name."""


def look_ahead(
    name: str, size: int, megabytes: int = MAX_MEGABYTES, encoding: str | None = None
) -> tuple[bytes, bool]:
    """Return the first bytes of an input, uncompressed, and whether there are more.

    What can be read only once, standard input or a pipe, is sampled; `open_input` then yields the
    sample again before the rest.
    """
    if name != "-" and (os.path.isfile(name) or not os.path.exists(name)):
        with open_input(name, megabytes) as stream:
            look_at(stream, name, encoding)
            return stream.read(size), bool(stream.peek(1))
    ahead = _ahead.get(name)
    if ahead is None or (name == "-" and ahead.stream is not sys.stdin.buffer):
        ahead = _sampled(name, size)
        _ahead[name] = ahead
    if codec_of(ahead.head):
        return unpacked_start(ahead.head, size)
    refuse_wide(ahead.head[:_LOOKED_AT], name, encoding)
    return ahead.head, len(ahead.head) == size


def _sampled(name: str, size: int) -> _Ahead:
    """Read the first bytes of standard input or a pipe, more if they are compressed."""
    try:
        stream = _standard_input() if name == "-" else open(name, "rb")  # noqa: SIM115
        head = stream.read(size)
        wanted = size
        if codec_of(head):  # a block of bzip2 may need a megabyte
            wanted += _CHUNK
            head += stream.read(_CHUNK)
    except OSError as problem:
        raise FileError.of(problem, name) from None
    again = _Again(head, stream, ended=len(head) < wanted)
    return _Ahead(stream, head, cast("BufferedReader", BufferedReader(again, _BUFFER)))


class _Again(io.RawIOBase):
    """Yield bytes that were read before, then the rest of their stream, if it is still open."""

    def __init__(self, head: bytes, stream: BufferedReader, *, ended: bool) -> None:
        self._head = io.BytesIO(head)
        self._stream = stream
        self._ended = ended

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._head.readinto(buffer)
        if count or self._ended:
            return count
        data = self._stream.read1(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if sys.stdin is None or self._stream is not sys.stdin.buffer:
            self._stream.close()
        super().close()


def bytes_read(stream: BufferedReader) -> int:
    """Return how many bytes of a file were read; of a compressed file, its compressed bytes."""
    if isinstance(stream.raw, Unpacked):
        return stream.raw.count
    return stream.tell()


def plain_size(stream: BufferedReader) -> int | None:
    """Return the size of an open file in bytes; None if it is compressed."""
    if isinstance(stream.raw, Unpacked):
        return None
    return os.fstat(stream.fileno()).st_size


def head_of(name: str, size: int = 512) -> bytes:
    """Return the first bytes of a file, uncompressed; none of a pipe or an unreadable file."""
    with suppress(FormatError, OSError, ValueError):
        if name == "-":
            begin = _standard_input().peek(size)
            if codec_of(begin):
                return look_ahead(name, _BUFFER)[0][:size]
            return begin
        if os.path.isfile(name):
            with open_input(name) as stream:
                return stream.read(size)
    return b""


def bounded_lines(
    stream: BufferedReader | io.BytesIO, name: str, megabytes: int
) -> Iterator[bytes]:
    """Yield the lines of a stream; reject too long lines and lone carriage returns."""
    most = megabytes << 20
    for number, line in enumerate(iter(partial(stream.readline, most + 1), b""), start=1):
        if len(line) > most:
            raise too_large("a line", name, megabytes, number)
        if number == 1 and line[-1:] != b"\n":
            _refuse_returns(line, name)
        yield line


def bounded_chunks(
    stream: BufferedReader | io.BytesIO,
    name: str,
    megabytes: int,
    *,
    cut: bool = False,
    one_line: bool = False,
) -> Iterator[bytes]:
    """Yield the complete lines that arrived, each with a line feed; `cut` allows longer ones.

    Of a line that is too long, `cut` keeps a little more than the limit: enough to be refused.
    """
    most = megabytes << 20
    lines = 0
    held: list[bytes] = []  # the beginning of a line that has not ended yet
    size = 0  # of what is held
    while data := stream.read1(_CHUNK):
        first_end = data.find(b"\n")
        behind = data.rfind(b"\n") + 1  # the place behind the last end of a line; 0: there is none
        more = first_end if behind else len(data)
        if size + more > most and not cut:
            raise too_large("a line", name, megabytes, lines + 1)
        if behind:
            chunk = b"".join((*held, data[:behind]))
            lines += chunk.count(b"\n")
            yield chunk
            held = []
            size = 0
        if size <= most:
            held.append(data[behind:])
            size += len(data) - behind
    if rest := b"".join(held):
        if not lines and not one_line:
            _refuse_returns(rest, name)
        yield rest + b"\n"


def _refuse_returns(text: bytes, name: str) -> None:
    """Reject a text without line feeds whose lines seem to end in carriage returns."""
    if b"\r" in text.rstrip(b"\r"):
        message = "lines end in carriage returns only, as on old Macs; replace them by line feeds"
        raise FormatError(message, name)


def read_bounded(stream: BufferedReader | io.BytesIO, name: str, megabytes: int) -> bytes:
    """Read a stream as one piece; reject it if it exceeds the limit."""
    raw = stream.read((megabytes << 20) + 1)
    if len(raw) > megabytes << 20:
        raise too_large("a file that is read as a whole", name, megabytes)
    return raw


def too_large(what: str, name: str, megabytes: int, line: int | None = None) -> FormatError:
    """Return the error for something that exceeds the limit."""
    message = f"{what} has more than {megabytes} MB; if this is correct, allow more with `max_size`"
    return FormatError(message, name, line)


def has_controls(raw: bytes) -> bool:
    """Return whether bytes contain a `CONTROL`, in an encoding that includes ASCII."""
    return len(raw.translate(None, _CONTROLS)) != len(raw)
