"""The bytes of a zip file of stored members, of which all but the data is known beforehand.

The names and sizes of the members settle every byte of the records around them but the checksums.
A reader compares instead of parsing, and so finds a change of any byte. All sizes stand in 64 bits
(zip64), as `numpy.savez` writes them, so that small and large files are laid out alike; times are
those at which zip's clock starts, so that equal members make equal files.

References
----------
PKWARE 2022, "APPNOTE.TXT - .ZIP File Format Specification", version 6.3.10, sections 4.3 to 4.5.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_VERSION = 45  # the least that knows zip64
_UNIX = 3 << 8
_MODE = 0o100644 << 16
_MIDNIGHT, _FIRST_DAY = 0, 1 << 5 | 1  # 1980-01-01 00:00
_ELSEWHERE, _MANY = 2**32 - 1, 2**16 - 1  # the number stands in the zip64 record

_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_SIZES, _PLACE = struct.Struct("<2H2Q"), struct.Struct("<2H3Q")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_END = struct.Struct("<4s4H2LH")
_CHECKSUM, _SIZE = struct.Struct("<L"), struct.Struct("<Q")


class Member(NamedTuple):
    """A file in the zip file, with its number of bytes and their CRC-32."""

    name: str
    size: int
    checksum: int


def member_head(member: Member) -> bytes:
    """Return the bytes before the data of a member."""
    name = member.name.encode("ascii")
    return b"".join(
        (
            _LOCAL.pack(
                b"PK\3\4", _VERSION, 0, 0, _MIDNIGHT, _FIRST_DAY,
                member.checksum, _ELSEWHERE, _ELSEWHERE, len(name), _SIZES.size,
            ),
            name,
            _SIZES.pack(1, _SIZES.size - 4, member.size, member.size),
        )
    )  # fmt: skip


def head_length(name: str) -> int:
    """Return the number of bytes of `member_head`."""
    return _LOCAL.size + len(name) + _SIZES.size


def checksum_in(head: bytes) -> int:
    """Return the checksum that the bytes before a member claim."""
    return int(_CHECKSUM.unpack_from(head, 14)[0])


def size_in(head: bytes) -> int:
    """Return the size that the bytes before a member claim."""
    return int(_SIZE.unpack_from(head, len(head) - _SIZE.size)[0])


def directory(members: Sequence[Member]) -> bytes:
    """Return the bytes behind the last member: the list of all, and where it stands."""
    parts: list[bytes] = []
    place = 0
    for member in members:
        name = member.name.encode("ascii")
        parts += (
            _CENTRAL.pack(
                b"PK\1\2", _UNIX | _VERSION, _VERSION, 0, 0, _MIDNIGHT, _FIRST_DAY,
                member.checksum, _ELSEWHERE, _ELSEWHERE, len(name), _PLACE.size, 0, 0, 0,
                _MODE, _ELSEWHERE,
            ),
            name,
            _PLACE.pack(1, _PLACE.size - 4, member.size, member.size, place),
        )  # fmt: skip
        place += head_length(member.name) + member.size
    length = sum(map(len, parts))
    count = len(members)
    parts += (
        _END64.pack(
            b"PK\6\6", _END64.size - 12, _UNIX | _VERSION, _VERSION, 0, 0, count, count, length,
            place,
        ),
        _LOCATOR.pack(b"PK\6\7", 0, place + length, 1),
        _END.pack(b"PK\5\6", 0, 0, _MANY, _MANY, _ELSEWHERE, _ELSEWHERE, 0),
    )  # fmt: skip
    return b"".join(parts)


def total(sizes: Iterable[tuple[str, int]]) -> int:
    """Return the number of bytes of a zip file of members of these names and sizes."""
    end = _END64.size + _LOCATOR.size + _END.size
    entry = _CENTRAL.size + _PLACE.size
    return end + sum(head_length(name) + size + entry + len(name) for name, size in sizes)
