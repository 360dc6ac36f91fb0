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
_SMALL = 1 << 10  # packed bytes that are unpacked at a time, to 32 MB at most, without other bounds
_MEMORY = 1 << 28  # bytes that xz may take
# a file may grow to this many times its size (text grows to 3 or 10 times), or to this part of the
# limit of sizes
_SWELLING = 100
_HARMLESS = 1 / 32


class Codec(NamedTuple):
    """A kind of compression: its name, ending and first bytes; how to read and write it."""

    name: str
    ending: str
    begins: re.Pattern[bytes]
    # of a member: `decompress` some bytes to a number of bytes at most, `needs_input` to go on,
    # `eof` at its end, and the `unused_data` behind it
    unpacker: Callable[[], Any]
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
    """Return at most `size` first bytes of a compressed file, and whether there may be more.

    There are no more if `head` is the whole file, is not damaged, and unpacks to fewer bytes.
    """
    codec = codec_of(head)
    if codec is None:
        return b"", True
    stream = io.BufferedReader(Unpacked(io.BytesIO(head), codec, ""), _BUFFER)
    data = b""
    with suppress(FormatError):  # reading it in earnest will say why
        while len(data) < size:
            part = stream.read1(size - len(data))
            if not part:
                return data, False
            data += part
    return data, True


class Unpacked(io.RawIOBase):
    """Decompress a stream; reject a damaged one, and one that grows suspiciously.

    Python's own classes ignore what follows a damaged member.

    Parameters
    ----------
    stream, codec : The compressed file, and its compression.
    name : The name of the file for messages.
    limit_mb : The limit of sizes, in megabytes: a file may grow suspiciously to a small part of it.
    """

    def __init__(self, stream: BinaryIO, codec: Codec, name: str, limit_mb: int = 1) -> None:
        self.count = 0  # of compressed bytes
        self._stream = stream
        self._codec = codec
        self._name = name
        self._member: Any = None
        self._data = memoryview(b"")  # unpacked, and not read yet
        self._size = 0
        self._harmless = int((limit_mb << 20) * _HARMLESS)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read uncompressed bytes."""
        while not self._data:
            packed = self._packed()
            if self._member is None:  # there are no further members
                return 0
            try:
                self._data = memoryview(self._member.decompress(packed, _BUFFER))
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
        if self._size > max(self._harmless, _SWELLING * self.count):
            raise FormatError(
                f"grows to more than {_SWELLING} times its size when it is unpacked; if "
                "this is correct, unpack it first, or allow more with `max_size`",
                self._name,
            )
        return count

    def _packed(self) -> bytes:
        """Return the bytes that the member needs; after its end, begin the next member, if any."""
        if self._member is not None and not self._member.eof:
            if self._member.needs_input:
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
    """A member of gzip as a `Codec` needs it."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._zlib.unconsumed_tail

    def decompress(self, data: bytes, most: int) -> bytes:
        return self._zlib.decompress(self._zlib.unconsumed_tail + data, most)


if sys.version_info >= (3, 14):
    from compression import zstd

    _ZSTD_BLOCK = _BUFFER

    _ZstdUnpacker = zstd.ZstdDecompressor

    def _zstd_packer() -> Any:
        return zstd.ZstdCompressor(options={zstd.CompressionParameter.checksum_flag: 1})
else:
    _ZSTD_BLOCK = _SMALL

    def _zstandard() -> Any:
        try:
            import zstandard
        except ImportError:
            from alignkit._support.extras import missing_libraries

            message = missing_libraries("reading or writing .zst", ["zstandard"], "zstd")
            raise AlignkitError(message) from None
        return zstandard

    class _ZstdUnpacker:
        """A frame of Zstandard as a `Codec` needs it; the package has no bounds, see `_SMALL`."""

        needs_input = True

        def __init__(self) -> None:
            self._frame = _zstandard().ZstdDecompressor().decompressobj()

        @property
        def eof(self) -> bool:
            return bool(self._frame.eof)

        @property
        def unused_data(self) -> bytes:
            return bytes(self._frame.unused_data)

        def decompress(self, data: bytes, _most: int) -> bytes:
            return bytes(self._frame.decompress(data))

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
        _ZstdUnpacker,
        _zstd_packer,
        _ZSTD_BLOCK,
    ),
)
