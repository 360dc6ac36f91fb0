"""Inputs as bytes: files, standard input, packed files, within the limits of memory.

Two limits stand between a made-up file and the machine's memory: `MAX_MEGABYTES` for what has to be
held as one piece (a line, an XML element, a JSON text that is no line), unpacked, and `MAX_WORDS`
for a sentence.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from io import BufferedReader
from typing import Any, NamedTuple, cast

from alignkit.errors import FileError, FormatError, OptionError

MAX_MEGABYTES = 64
MAX_WORDS = 10_000

CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
"""A character that no text holds: NUL and the other controls of ASCII, but for white space."""

_MAGIC = b"\x1f\x8b"  # how gzip begins
_PACKERS = (
    ("zstd", re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"), "zstd -d"),
    ("xz", re.compile(rb"\xfd7zXZ\0"), "xz -dk"),
    ("bzip2", re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"), "bzip2 -dk"),
)
"""Packers of files that are not read: how such a file begins, and what unpacks it."""
_WIDE = (
    ("UTF-32", re.compile(rb"\xff\xfe\0\0|\0\0\xfe\xff")),
    ("UTF-16", re.compile(rb"\xff\xfe|\xfe\xff")),
    ("UTF-32LE", re.compile(rb"([^\0]\0\0\0){4}")),
    ("UTF-32BE", re.compile(rb"(\0\0\0[^\0]){4}")),
    ("UTF-16LE", re.compile(rb"([^\0]\0){4}")),
    ("UTF-16BE", re.compile(rb"(\0[^\0]){4}")),
)
"""Encodings with several bytes a character: their marks, else how characters of ASCII begin one."""
_LOOKED_AT = 512  # bytes
_BUFFER = 1 << 16
_SWELLING = 100  # text shrinks to a third or a tenth
_HARMLESS = 16  # what swells to this part of the limit does no harm
_CHUNK = 1 << 20  # bytes
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r"))


@contextmanager
def open_input(name: str, megabytes: int = MAX_MEGABYTES) -> Iterator[BufferedReader]:
    """Open a file, or standard input (``-``), for reading bytes, unpacked if it begins as gzip."""
    try:
        if name == "-":
            stream = _standard_input()
            packed = _begins_packed(stream)
            yield _unpacked(stream, name, megabytes) if packed else looked_at(stream, name)
            return
        ahead = _ahead.pop(name, None)
        with open(name, "rb") if ahead is None else ahead.again as stream:
            if name.endswith(".gz") or _begins_packed(stream):
                with _unpacked(stream, name, megabytes) as unpacked:
                    yield unpacked
            else:
                yield looked_at(stream, name)
    except (EOFError, zlib.error) as problem:
        raise FormatError(f"cannot be unpacked: {problem}", name) from None
    except gzip.BadGzipFile as problem:
        message = f"cannot be read: is named .gz, but cannot be unpacked ({problem})"
        raise FormatError(message, name) from None
    except FileError:  # of another file, that was read meanwhile
        raise
    except OSError as problem:
        raise FileError.of(problem, name) from None


def looked_at(stream: BufferedReader, name: str, encoding: str | None = None) -> BufferedReader:
    """Return a stream whose beginning `refuse_unread` has seen, where one can look ahead."""
    if hasattr(stream, "peek"):
        refuse_unread(stream.peek(_LOOKED_AT)[:_LOOKED_AT], name, encoding)
    return stream


def refuse_unread(head: bytes, name: str, encoding: str | None = None) -> None:
    """Refuse what begins as packed by zstd, xz or bzip2 or, unless of the `encoding`, as UTF-16."""
    file = "FILE" if name == "-" else name
    for packer, begins, unpack in _PACKERS:
        if begins.match(head):
            message = f"packed by {packer}, which alignkit cannot read; unpack it first: {unpack}"
            raise FormatError(f"{message} {file}", name)
    with suppress(LookupError, ValueError):  # which is refused elsewhere
        encoding = encoding and codecs.lookup(encoding).name
    if encoding is None or encoding.startswith(("utf-16", "utf-32")):
        return
    for wide, begins in _WIDE:
        if begins.match(head):
            message = f"the text is {wide}, not {encoding}; convert it: iconv -f {wide} -t UTF-8"
            raise FormatError(f"{message} {file}, or name its encoding by `encoding`", name)


def _standard_input() -> BufferedReader:
    if sys.stdin is None:
        raise OptionError("standard input is closed; name a file")
    stream = cast("BufferedReader", sys.stdin.buffer)
    ahead = _ahead.get("-")
    return ahead.again if ahead is not None and ahead.stream is stream else stream


def is_standard(stream: BufferedReader) -> bool:
    """Return whether a stream is standard input, or stands for it."""
    return sys.stdin is not None and stream is _standard_input()


class _Ahead(NamedTuple):
    """A stream that cannot be read twice, its first bytes, and a stream that gives all of it."""

    stream: BufferedReader
    head: bytes
    again: BufferedReader


_ahead: dict[str, _Ahead] = {}
"""What was looked at before it is read: standard input, and pipes by their names."""


def look_ahead(
    name: str, size: int, megabytes: int = MAX_MEGABYTES, encoding: str | None = None
) -> tuple[bytes, bool]:
    """Return the first bytes of an input, unpacked, as if unread, and whether there are more."""
    if name != "-" and (os.path.isfile(name) or not os.path.exists(name)):
        with open_input(name, megabytes) as stream:
            looked_at(stream, name, encoding)
            return stream.read(size), bool(stream.peek(1))
    ahead = _ahead.get(name)
    if ahead is None or (name == "-" and ahead.stream is not sys.stdin.buffer):
        try:
            stream = _standard_input() if name == "-" else open(name, "rb")  # noqa: SIM115
            head = stream.read(size)
        except OSError as problem:
            raise FileError.of(problem, name) from None
        ended = len(head) < size
        again = cast("BufferedReader", BufferedReader(_Again(head, stream, ended), _BUFFER))
        ahead = _ahead[name] = _Ahead(stream, head, again)
    if ahead.head[:2] != _MAGIC:
        refuse_unread(ahead.head[:_LOOKED_AT], name, encoding)
        return ahead.head, len(ahead.head) == size
    with suppress(zlib.error):
        unpacking = zlib.decompressobj(wbits=31)
        head = unpacking.decompress(ahead.head, size)
        return head, bool(unpacking.unconsumed_tail) or not unpacking.eof
    return b"", True  # reading it in earnest will say why


class _Again(io.RawIOBase):
    """Give bytes that were read before, then the rest of their stream, unless it has ended."""

    def __init__(self, head: bytes, stream: BufferedReader, ended: bool) -> None:
        self._head = io.BytesIO(head)
        self._stream, self._ended = stream, ended

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


def _begins_packed(stream: BufferedReader) -> bool:
    return hasattr(stream, "peek") and stream.peek(2)[:2] == _MAGIC


def _unpacked(stream: BufferedReader, name: str, megabytes: int) -> BufferedReader:
    return cast("BufferedReader", BufferedReader(_Unpacked(stream, name, megabytes), _BUFFER))


class _Unpacked(io.RawIOBase):
    """Unpack a stream; refuse one that was made to swell."""

    def __init__(self, stream: BufferedReader, name: str, megabytes: int) -> None:
        self.packed = _Counted(stream)
        self._stream = gzip.GzipFile(fileobj=self.packed, mode="rb")  # type: ignore[call-overload]
        self._name = name
        self._size, self._most = 0, (megabytes << 20) // _HARMLESS

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count: int = self._stream.readinto(buffer)
        self._size += count
        if self._size > max(self._most, _SWELLING * self.packed.count):
            message = f"swells to more than {_SWELLING} times its size when it is unpacked"
            advice = "if that is no mistake, unpack it first, or allow more by `max_size`"
            raise FormatError(f"{message}; {advice}", self._name)
        return count


class _Counted:
    """Count what is read of a stream."""

    def __init__(self, stream: BufferedReader) -> None:
        self._stream = stream
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self.count += len(data)
        return data


def bytes_read(stream: BufferedReader) -> int:
    """Return how much of a file was read; of a packed one, how many of its packed bytes."""
    return stream.raw.packed.count if isinstance(stream.raw, _Unpacked) else stream.tell()


def head_of(name: str, size: int = 512) -> bytes:
    """Return the first bytes of a file, unpacked; none of a named pipe or an unreadable file."""
    with suppress(FormatError, OSError, ValueError, zlib.error):
        if name == "-":
            begin = _standard_input().peek(size)
            packed = begin[:2] == _MAGIC
            return zlib.decompressobj(wbits=31).decompress(begin, size) if packed else begin
        if os.path.isfile(name):
            with open_input(name) as stream:
                return stream.read(size)
    return b""


def bounded_lines(
    stream: BufferedReader | io.BytesIO, name: str, megabytes: int
) -> Iterator[bytes]:
    """Yield the lines of a stream; refuse too long ones and ends of carriage returns alone."""
    most = megabytes << 20
    for number, line in enumerate(iter(partial(stream.readline, most + 1), b""), start=1):
        if len(line) > most:
            raise too_large("a line", name, megabytes, number)
        if number == 1 and line[-1:] != b"\n":
            _refuse_returns(line, name)
        yield line


def bounded_chunks(
    stream: BufferedReader | io.BytesIO, name: str, megabytes: int, *, cut: bool = False,
    one_line: bool = False,
) -> Iterator[bytes]:  # fmt: skip
    """Yield the whole lines that have come in, each with a line feed, longer ones `cut` if so."""
    most = megabytes << 20
    held: list[bytes] = []
    lines = size = 0
    while data := stream.read1(_CHUNK):
        begins = data.find(b"\n")
        ends = data.rfind(b"\n") + 1
        if size + (begins if ends else len(data)) > most and not cut:
            raise too_large("a line", name, megabytes, lines + 1)
        if ends:
            chunk = b"".join((*held, data[:ends]))
            lines += chunk.count(b"\n")
            yield chunk
            held, size = [], 0
        if size <= most:
            held.append(data[ends:])
            size += len(data) - ends
    if rest := b"".join(held):
        if not lines and not one_line:
            _refuse_returns(rest, name)
        yield rest + b"\n"


def _refuse_returns(text: bytes, name: str) -> None:
    """Refuse a text without line feeds whose lines seem to end in carriage returns."""
    if b"\r" in text.rstrip(b"\r"):
        message = "lines end in carriage returns alone, as on old Macs; turn them into line feeds"
        raise FormatError(message, name)


def read_bounded(stream: BufferedReader | io.BytesIO, name: str, megabytes: int) -> bytes:
    """Read all of a stream that has to be held as one piece; refuse one larger than the limit."""
    raw = stream.read((megabytes << 20) + 1)
    if len(raw) > megabytes << 20:
        raise too_large("a file that is read in one piece", name, megabytes)
    return raw


def too_large(what: str, name: str, megabytes: int, line: int | None = None) -> FormatError:
    """Return the error of something too large to be held."""
    message = f"{what} of more than {megabytes} MB; if that is no mistake, allow more by `max_size`"
    return FormatError(message, name, line)


def has_controls(raw: bytes) -> bool:
    """Return whether bytes hold a `CONTROL`, in an encoding that holds ASCII."""
    return len(raw.translate(None, _CONTROLS)) != len(raw)
