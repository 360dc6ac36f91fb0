"""Compressed files: read by their first bytes, written by the ending of their name.

A file may have several members (gzip, bzip2), streams (xz) or frames (Zstandard), one after the
other, and zeros between and after them.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from alignkit.errors import AlignkitError, FormatError

_BUFFER = 1 << 16
_SMALL = 1 << 10  # bytes of a package without bounds; they unpack to 32 MB at most
_MEMORY = 1 << 28  # bytes that xz may take
_SWELLING = 100  # text shrinks to a third or a tenth
_HARMLESS = 16  # what swells to this part of the limit does no harm


class Codec(NamedTuple):
    """A kind of compression: its name, ending and first bytes; how to read and write it."""

    name: str
    ending: str
    begins: re.Pattern[bytes]
    reader: Callable[[Any], Any]  # of a compressed stream
    packer: Callable[[], Any]  # has `compress` and `flush`


def codec_of(head: bytes) -> Codec | None:
    """Return the compression of a file with these first bytes, None if it has none."""
    return next((codec for codec in _CODECS if codec.begins.match(head)), None)


def codec_named(path: str) -> Codec | None:
    """Return the compression of a file to write, None if it has none."""
    return next((codec for codec in _CODECS if path.endswith(codec.ending)), None)


def plain_name(path: str) -> str:
    """Return the name of a file without the ending of its compression."""
    codec = codec_named(path)
    return path.removesuffix(codec.ending) if codec else path


def unpacked_start(head: bytes, size: int) -> tuple[bytes, bool]:
    """Return at most `size` first bytes of a compressed file, and whether `head` ends before it."""
    codec, data = codec_of(head), b""
    if codec is not None:
        with suppress(EOFError, OSError, zlib.error):  # reading it in earnest will say why
            stream = io.BufferedReader(codec.reader(io.BytesIO(head)), _BUFFER)
            while len(data) < size:
                if not (part := stream.read1(size - len(data))):
                    return data, False
                data += part
    return data, True


class Unpacked(io.RawIOBase):
    """Decompress a stream; reject a damaged one, and one that grows suspiciously."""

    def __init__(self, stream: io.BufferedReader, codec: Codec, name: str, megabytes: int) -> None:
        self.packed = _Counted(stream)
        self._stream, self._codec, self._name = codec.reader(self.packed), codec, name
        self._size, self._most = 0, (megabytes << 20) // _HARMLESS

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read uncompressed bytes."""
        try:
            count: int = self._stream.readinto(buffer)
        except EOFError:
            raise self._damage(f"it is cut off after byte {self.packed.count:,}") from None
        except (OSError, zlib.error) as problem:
            if isinstance(problem, OSError) and problem.errno is not None:
                raise  # of the disk
            place = f"before byte {self.packed.count:,} of the compressed file"
            raise self._damage(f"it is damaged {place} ({problem})") from None
        self._size += count
        if self._size > max(self._most, _SWELLING * self.packed.count):
            message = f"grows to more than {_SWELLING} times its size when it is unpacked"
            advice = "if this is correct, unpack it first, or allow more with `max_size`"
            raise FormatError(f"{message}; {advice}", self._name)
        return count

    def _damage(self, what: str) -> FormatError:
        return FormatError(f"cannot be unpacked ({self._codec.name}): {what}", self._name)


class _Counted:
    """Count the bytes read from a stream."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream = stream
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self.count += len(data)
        return data


class _Members(io.RawIOBase):
    """Decompress the members of a stream; Python's own classes ignore what follows damaged ones."""

    def __init__(
        self, stream: Any, new: Callable[[], Any], error: type[Exception], *, bounded: bool = True
    ) -> None:
        self._stream, self._new, self._error = stream, new, error
        self._block, self._most = (_BUFFER, [_BUFFER]) if bounded else (_SMALL, [])
        self._member: Any = None
        self._data = memoryview(b"")  # unpacked, and not read yet

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._data:
            packed = b""
            if self._member is None or self._member.eof:
                packed = self._member.unused_data.lstrip(b"\0") if self._member else b""
                while not packed:
                    if not (block := self._stream.read(self._block)):
                        return 0
                    packed = block.lstrip(b"\0")
                self._member = self._new()
            elif getattr(self._member, "needs_input", True):
                packed = self._stream.read(self._block)
                if not packed:
                    raise EOFError
            try:
                self._data = memoryview(self._member.decompress(packed, *self._most))
            except self._error as problem:
                raise OSError(str(problem)) from None
        count = min(len(buffer), len(self._data))
        buffer[:count] = self._data[:count]
        self._data = self._data[count:]
        return count


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        raise AlignkitError(
            "Zstandard files (.zst) need the package zstandard; run: pip install 'alignkit[zstd]'"
        ) from None
    return zstandard


if sys.version_info >= (3, 14):
    from compression import zstd

    def _zstd_reader(stream: Any) -> _Members:
        return _Members(stream, zstd.ZstdDecompressor, zstd.ZstdError)

    def _zstd_packer() -> Any:
        return zstd.ZstdCompressor(options={zstd.CompressionParameter.checksum_flag: 1})
else:

    def _zstd_reader(stream: Any) -> _Members:
        new = _zstandard().ZstdDecompressor().decompressobj
        return _Members(stream, new, _zstandard().ZstdError, bounded=False)

    def _zstd_packer() -> Any:
        return _zstandard().ZstdCompressor(write_checksum=True).compressobj()


_CODECS = (
    Codec(
        "gzip", ".gz", re.compile(rb"\x1f\x8b"), lambda stream: gzip.GzipFile(fileobj=stream),
        partial(zlib.compressobj, 6, wbits=31),
    ),
    Codec(
        "xz", ".xz", re.compile(rb"\xfd7zXZ\0"),
        lambda stream: _Members(
            stream, partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, _MEMORY), lzma.LZMAError
        ),
        lzma.LZMACompressor,
    ),
    Codec(
        "bzip2", ".bz2", re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
        lambda stream: _Members(stream, bz2.BZ2Decompressor, OSError), bz2.BZ2Compressor,
    ),
    Codec(
        "zstd", ".zst", re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"), _zstd_reader,
        _zstd_packer,
    ),
)  # fmt: skip
