"""Compressed files: read by their first bytes, written by the ending of their name.

A file may have several members (gzip, bzip2), streams (xz) or frames (Zstandard), one after the
other, and zeros between and after them.
"""

from __future__ import annotations

import bz2
import io
import lzma
import re
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, BinaryIO, NamedTuple

from alignkit.errors import AlignkitError, FormatError

_BUFFER = 1 << 14
_SMALL = 1 << 10  # bytes at a time for a package without bounds; they unpack to 32 MB at most
_MEMORY = 1 << 28  # bytes that xz may take
_SWELLING = 100  # text shrinks to a third or a tenth
_HARMLESS = 32  # what swells to this part of the limit does no harm


class Codec(NamedTuple):
    """A kind of compression: its name, ending and first bytes; how to read and write it."""

    name: str
    ending: str
    begins: re.Pattern[bytes]
    unpacker: Callable[[], Any]  # of a member: `decompress`, `eof`, `unused_data`, `needs_input`
    packer: Callable[[], Any]  # has `compress` and `flush`
    block: int = _BUFFER  # bytes that are unpacked at a time


def codec_of(head: bytes) -> Codec | None:
    """Return the compression of a file with these first bytes, None if it has none."""
    return next((codec for codec in _CODECS if codec.begins.match(head)), None)


def codec_named(path: str) -> Codec | None:
    """Return the compression of a file to write, None if it has none."""
    return next((codec for codec in _CODECS if path.endswith(codec.ending)), None)


def plain_name(path: str) -> str:
    """Return the name of a file without the ending of its compression."""
    codec = codec_named(path)
    if codec:
        return path.removesuffix(codec.ending)
    return path


def unpacked_start(head: bytes, size: int) -> tuple[bytes, bool]:
    """Return at most `size` first bytes of a compressed file, and whether `head` ends before it."""
    codec = codec_of(head)
    data = b""
    if codec is not None:
        with suppress(FormatError):  # reading it in earnest will say why
            stream = io.BufferedReader(Unpacked(io.BytesIO(head), codec, ""), _BUFFER)
            while len(data) < size:
                if not (part := stream.read1(size - len(data))):
                    return data, False
                data += part
    return data, True


class Unpacked(io.RawIOBase):
    """Decompress a stream; reject a damaged one, and one that grows suspiciously.

    Python's own classes ignore what follows a damaged member.
    """

    def __init__(self, stream: BinaryIO, codec: Codec, name: str, megabytes: int = 1) -> None:
        self.count = 0  # of compressed bytes
        self._stream = stream
        self._codec = codec
        self._name = name
        self._member: Any = None
        self._data = memoryview(b"")  # unpacked, and not read yet
        self._size = 0
        self._most = (megabytes << 20) // _HARMLESS

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read uncompressed bytes."""
        while not self._data:
            packed = self._packed()
            if self._member is None:
                return 0
            if hasattr(self._member, "needs_input"):
                most = [_BUFFER]
            else:
                most = []
            try:
                self._data = memoryview(self._member.decompress(packed, *most))
            except Exception as problem:  # each package has errors of its own
                raise self._damage(
                    f"it is damaged before byte {self.count:,} of the compressed file ({problem})"
                ) from None
            if not (packed or self._data or self._member.eof):
                raise self._damage(f"it is cut off after byte {self.count:,}")
        count = min(len(buffer), len(self._data))
        buffer[:count] = self._data[:count]
        self._data = self._data[count:]
        self._size += count
        if self._size > max(self._most, _SWELLING * self.count):
            raise FormatError(
                f"grows to more than {_SWELLING} times its size when it is unpacked; if "
                "this is correct, unpack it first, or allow more with `max_size`",
                self._name,
            )
        return count

    def _packed(self) -> bytes:
        """Return the bytes that the member needs, a new one if it is complete."""
        if self._member is not None and not self._member.eof:
            if getattr(self._member, "needs_input", True):
                return self._read()
            return b""
        packed = b""
        if self._member is not None:
            packed = self._member.unused_data.lstrip(b"\0")
        while not packed:
            block = self._read()
            if not block:
                break
            packed = block.lstrip(b"\0")
        self._member = self._codec.unpacker() if packed else None
        return packed

    def _read(self) -> bytes:
        """Read packed bytes, and count them."""
        data = self._stream.read(self._codec.block)
        self.count += len(data)
        return data

    def _damage(self, what: str) -> FormatError:
        return FormatError(f"cannot be unpacked ({self._codec.name}): {what}", self._name)


class _Gzip:
    """A member of gzip, with what the other packages have."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(wbits=31)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._zlib, name)

    @property
    def needs_input(self) -> bool:
        return not self._zlib.unconsumed_tail

    def decompress(self, data: bytes, most: int) -> bytes:
        return self._zlib.decompress(self._zlib.unconsumed_tail + data, most)


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

    _ZSTD_BLOCK = _BUFFER

    def _zstd_unpacker() -> Any:
        return zstd.ZstdDecompressor()

    def _zstd_packer() -> Any:
        return zstd.ZstdCompressor(options={zstd.CompressionParameter.checksum_flag: 1})
else:
    _ZSTD_BLOCK = _SMALL

    def _zstd_unpacker() -> Any:
        return _zstandard().ZstdDecompressor().decompressobj()

    def _zstd_packer() -> Any:
        return _zstandard().ZstdCompressor(write_checksum=True).compressobj()


_CODECS = (
    Codec("gzip", ".gz", re.compile(rb"\x1f\x8b"), _Gzip, partial(zlib.compressobj, 6, wbits=31)),
    Codec(
        "xz",
        ".xz",
        re.compile(rb"\xfd7zXZ\0"),
        partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, _MEMORY),
        lzma.LZMACompressor,
    ),
    Codec(
        "bzip2",
        ".bz2",
        re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
        bz2.BZ2Decompressor,
        bz2.BZ2Compressor,
    ),
    Codec(
        "zstd",
        ".zst",
        re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),
        _zstd_unpacker,
        _zstd_packer,
        _ZSTD_BLOCK,
    ),
)
