r"""Files of models, written completely and read back with every byte checked.

Specification
-------------
A model is a zip file of stored (not compressed) members, in this order:

- ``header.json``: a JSON object with ``"alignkit": "model"``, the ``"version"`` of the file format
  (6), ``"header"`` (an object that describes the model), ``"arrays"`` (for each name its
  ``"dtype"`` and ``"shape"``) and ``"words"`` (its ``"count"`` and ``"bytes"``);
- ``arrays/NAME.npy``, by name: a NumPy file, version 1.0, of little-endian numbers in C order;
- ``words/NAME.txt``, by name: UTF-8, each word followed by a line feed; within words ``\n`` stands
  for a line feed and ``\\`` for a backslash.

alignkit never runs code from a model: nothing is unpickled. The header declares all sizes, and a
file that differs is rejected before memory is reserved for it. Every version begins with
``header.json`` and its entries for kind and version: a reader can recognize all other versions.

The page docs/align/model_files.md has the layout byte by byte.
"""

from __future__ import annotations

import json
import os
import re
import stat
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EISDIR
from io import BufferedReader
from math import prod
from os import PathLike
from typing import Any, BinaryIO, NamedTuple, Union
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from alignkit._support.values import FrozenMap
from alignkit.errors import FileError, FormatError, IsFolderError
from alignkit.io.atomic_files import WriteError, replacing_bytes
from alignkit.io.opening import open_input, plain_size
from alignkit.version import __version__

VERSION = 6  # of the file format; others are not read

LONGEST_HEADER = 1 << 26  # the most bytes of a header: beyond is damage

_SIGNED = ("int8", "int16", "int32", "int64")
_UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
_KINDS = ("float32", "float64", *_SIGNED, *_UNSIGNED)
DTYPES = {name: np.dtype(name).newbyteorder("<") for name in _KINDS}
"""The number types that a model can contain, as written in its file."""

_DIMENSIONS = 32
_MOST = 1 << 58  # elements of an array: its bytes still fit in 64 bits
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_FIRST = "header.json"
_NPY_START = 10  # bytes of a NumPy file before its text: what it is, its version, the text's length
_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)
_ESCAPED = {"\\": "\\", "n": "\n"}

Arrays = Mapping[str, NDArray[Any]]
_Path = Union[str, "PathLike[str]"]


@dataclass(frozen=True, eq=False)
class StoredModel:
    """The contents of a model file."""

    header: Mapping[str, object]  # what the model says of itself, as JSON has it: lists for tuples
    arrays: Arrays  # the tables, read-only
    words: Mapping[str, tuple[str, ...]]  # the lists of words


class TableHeader(NamedTuple):
    """The kind and shape of an array."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def prefix(self) -> bytes:
        """The bytes before the numbers in a NumPy file."""
        text = (
            f"{{'descr': {DTYPES[self.dtype].str!r}, 'fortran_order': False, 'shape': "
            f"{self.shape!r}, }}"
        )
        # the text is padded, and ends with a line feed: the numbers begin at a multiple of 64 bytes
        needed = _NPY_START + len(text) + 1
        padded = (needed + 63) // 64 * 64
        length = padded - _NPY_START
        start = b"\x93NUMPY\1\0" + length.to_bytes(2, "little")
        return start + text.ljust(length - 1).encode("ascii") + b"\n"

    @property
    def size(self) -> int:
        """The number of bytes of the NumPy file."""
        return len(self.prefix) + prod(self.shape) * DTYPES[self.dtype].itemsize


class Contents(NamedTuple):
    """The header of the model, and its arrays and word lists by name."""

    header: Mapping[str, object]
    tables: Mapping[str, TableHeader]
    lists: Mapping[str, tuple[int, int]]  # the numbers of words and of bytes

    def encode(self) -> bytes:
        """Return the bytes of ``header.json``."""
        words = {}
        for key, (count, size) in self.lists.items():
            words[key] = {"count": count, "bytes": size}
        content = {
            "alignkit": "model",
            "version": VERSION,
            "header": self.header,
            "arrays": {key: table._asdict() for key, table in self.tables.items()},
            "words": words,
        }
        text = json.dumps(content, allow_nan=False, sort_keys=True, indent=1) + "\n"
        if len(text) > LONGEST_HEADER:
            raise ValueError(f"the header has {len(text)} bytes, more than {LONGEST_HEADER}")
        return text.encode("ascii")

    @classmethod
    def decode(cls, text: bytes, path: str) -> Contents:
        """Read the bytes of ``header.json``."""
        try:
            content = _object(text, path)
            version: Any = content.get("version")
            _require(_is_count(version) and version != 0, f"its version is {_cut(version)!r}")
            if version != VERSION:
                raise FormatError(_other_version(version), path)
            entries = {"alignkit", "version", "header", "arrays", "words"}
            known = ", ".join(sorted(content))[:200]
            _require(set(content) == entries, f"it has the entries {known}")
            for key in ("header", "arrays", "words"):
                _require(isinstance(content[key], dict), f"its {key} must be an object")
            arrays = content["arrays"]
            words = content["words"]
            tables = {key: _table(key, arrays[key]) for key in sorted(arrays)}
            lists = {}
            for key in sorted(words):
                lists[key] = _entries(key, words[key], ("count", "bytes"))
                odd = f"words {key!r} have invalid numbers of words and bytes"
                _require(all(map(_is_count, lists[key])), odd)
            return cls(content["header"], tables, lists)
        except _OddError as odd:
            raise FormatError(
                f"its header.json does not follow the format: {odd}; train and save the "
                "model again",
                path,
            ) from None


class _OddError(ValueError):
    """A header does not follow the format."""


def _other_version(version: int) -> str:
    """Return the message about a model of another version of the file format."""
    if version > VERSION:
        made = "a newer"
        advice = "install a newer one, or train again"
    else:
        made = "an older"
        advice = "train it again"
    return (
        f"is a model of file version {version}, made by {made} alignkit; this one ({__version__}) "
        f"reads version {VERSION}: {advice}"
    )


def _require(fine: bool, problem: str) -> None:
    """Raise an error with this problem unless all is fine."""
    if not fine:
        raise _OddError(problem)


def _cut(value: object) -> str:
    """Return the begin of a value, for a message."""
    return str(value)[:40]


def _check_name(key: str) -> None:
    """Refuse a name of an array or of a list of words that a model cannot contain."""
    fits = _NAME.fullmatch(key) is not None
    _require(fits, f"invalid name {_cut(key)!r}; expected lower-case letters, digits and '_'")


def _object(text: bytes, path: str) -> dict[str, Any]:
    """Return the object of a header.json that declares a model."""
    odd: list[str] = []
    try:
        # Python reads NaN and Infinity too: it calls parse_constant with each of them
        content = json.loads(text, parse_constant=odd.append)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.get("alignkit") != "model":
        raise FormatError(
            "is not a model of alignkit: its header.json does not declare one; give a file "
            "that alignkit saved",
            path,
        )
    if odd:
        raise _OddError(f"it contains {odd[0]}, which is not a JSON number")
    return content


def _table(key: str, declared: object) -> TableHeader:
    """Read the kind and shape of an array."""
    kind, shape = _entries(key, declared, ("dtype", "shape"))
    known = isinstance(kind, str) and kind in DTYPES
    _require(known, f"array {key!r} has type {_cut(kind)!r}, not one of {', '.join(DTYPES)}")
    counts = isinstance(shape, list) and all(map(_is_count, shape))
    _require(counts, f"array {key!r} has the shape {_cut(shape)}")
    elements = prod(max(1, length) for length in shape)
    possible = len(shape) <= _DIMENSIONS and elements <= _MOST
    _require(possible, f"array {key!r} has the impossible shape {_cut(shape)}")
    return TableHeader(kind, tuple(shape))


def _entries(key: str, declared: object, names: tuple[str, str]) -> tuple[Any, Any]:
    """Return the two entries that an array or a list of words must have."""
    _check_name(key)
    if not isinstance(declared, dict) or set(declared) != set(names):
        raise _OddError(f"{key!r} must have exactly the entries {' and '.join(names)}")
    return declared[names[0]], declared[names[1]]


def _is_count(value: Any) -> bool:
    """Return whether a value is a whole number from 0."""
    return type(value) is int and value >= 0


_ZIP = 45  # the least version of zip that knows zip64
_UNIX = 3 << 8
_MODE = 0o100644 << 16
# 1980-01-01 00:00
_MIDNIGHT = 0
_FIRST_DAY = 1 << 5 | 1
# the number stands in the zip64 record
_ELSEWHERE = 2**32 - 1
_MANY = 2**16 - 1

_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_SIZES = struct.Struct("<2H2Q")
_PLACE = struct.Struct("<2H3Q")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_END = struct.Struct("<4s4H2LH")

_SIGNATURE = b"PK\3\4"  # the first four bytes of _LOCAL


class Member(NamedTuple):
    """A file in the zip file, with its number of bytes and their CRC-32."""

    name: str
    size: int
    checksum: int


def member_head(member: Member) -> bytes:
    """Return the bytes before the data of a member."""
    name = member.name.encode("ascii")
    local = _LOCAL.pack(
        _SIGNATURE,
        _ZIP,
        0,
        0,
        _MIDNIGHT,
        _FIRST_DAY,
        member.checksum,
        _ELSEWHERE,
        _ELSEWHERE,
        len(name),
        _SIZES.size,
    )
    return local + name + _SIZES.pack(1, _SIZES.size - 4, member.size, member.size)


def head_length(name: str) -> int:
    """Return the number of bytes of `member_head`."""
    return _LOCAL.size + len(name) + _SIZES.size


def directory(members: Sequence[Member]) -> bytes:
    """Return the bytes after the last member: the list of all members, and its place."""
    parts: list[bytes] = []
    place = 0
    for member in members:
        name = member.name.encode("ascii")
        central = _CENTRAL.pack(
            b"PK\1\2",
            _UNIX | _ZIP,
            _ZIP,
            0,
            0,
            _MIDNIGHT,
            _FIRST_DAY,
            member.checksum,
            _ELSEWHERE,
            _ELSEWHERE,
            len(name),
            _PLACE.size,
            0,
            0,
            0,
            _MODE,
            _ELSEWHERE,
        )
        zip64 = _PLACE.pack(1, _PLACE.size - 4, member.size, member.size, place)
        parts += [central, name, zip64]
        place += head_length(member.name) + member.size
    length = sum(map(len, parts))
    count = len(members)
    end64 = _END64.pack(
        b"PK\6\6",
        _END64.size - 12,
        _UNIX | _ZIP,
        _ZIP,
        0,
        0,
        count,
        count,
        length,
        place,
    )
    locator = _LOCATOR.pack(b"PK\6\7", 0, place + length, 1)
    end = _END.pack(b"PK\5\6", 0, 0, _MANY, _MANY, _ELSEWHERE, _ELSEWHERE, 0)
    return b"".join([*parts, end64, locator, end])


def total(sizes: Iterable[tuple[str, int]]) -> int:
    """Return the size of a zip file with members of these names and sizes, in bytes."""
    length = _END64.size + _LOCATOR.size + _END.size
    for name, size in sizes:
        length += head_length(name) + size
        length += _CENTRAL.size + len(name) + _PLACE.size
    return length


def write_model(
    path: _Path,
    *,
    header: Mapping[str, object],
    arrays: Arrays,
    words: Mapping[str, Sequence[str]],
) -> None:
    """Write a model; the file appears only when it is complete."""
    name = os.fspath(path)
    try:
        tables = {key: _stored(key, arrays[key]) for key in sorted(arrays)}
        texts = {key: _text(key, words[key]) for key in sorted(words)}
        declared = {}
        for key, table in tables.items():
            declared[key] = TableHeader(table.dtype.name, table.shape)
        lists = {key: (len(words[key]), len(text)) for key, text in texts.items()}
        start = Contents(header, declared, lists).encode()
    except (TypeError, ValueError, RecursionError) as problem:
        raise WriteError(f"{name}: cannot store this model: {problem}") from None
    if name == "-":
        raise WriteError("cannot write a model to standard output: give a file name")
    with replacing_bytes(name) as out:
        members = [_write_member(out, _FIRST, start)]
        for key, table in tables.items():
            prefix = declared[key].prefix
            members.append(_write_member(out, f"arrays/{key}.npy", prefix, table.data))
        for key, text in texts.items():
            members.append(_write_member(out, f"words/{key}.txt", text))
        out.write(directory(members))


def _stored(key: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return an array as it is stored: little-endian numbers in C order."""
    _check_name(key)
    kind = array.dtype.name
    _require(kind in DTYPES, f"array {key!r} has type {kind}; expected one of {', '.join(DTYPES)}")
    return np.asarray(array, DTYPES[kind], order="C")


def _text(key: str, words: Sequence[str]) -> bytes:
    """Return a list of words as it is stored."""
    _check_name(key)
    text = "".join([f"{word}\n" for word in words])
    if "\\" in text or text.count("\n") != len(words):
        escaped = (word.replace("\\", "\\\\").replace("\n", "\\n") for word in words)
        text = "".join([f"{word}\n" for word in escaped])
    return text.encode("utf-8", "surrogatepass")


def _unescaped(match: re.Match[str]) -> str:
    """Return what an escape in words stands for; a KeyError if it stands for nothing."""
    return _ESCAPED[match[1]]


def _write_member(out: BinaryIO, name: str, *parts: bytes | memoryview) -> Member:
    """Write a member, its data in parts."""
    size = 0
    checksum = 0
    for part in parts:
        size += memoryview(part).nbytes
        checksum = crc32(part, checksum)
    member = Member(name, size, checksum)
    out.write(member_head(member))
    for part in parts:
        out.write(part)
    return member


def read_model(path: _Path) -> StoredModel:
    """Read a model; every byte of the file is checked."""
    with _opened(path) as reading:
        return reading.model()


def check_head(path: _Path) -> int:
    """Check that a file is a model, without reading its tables; return its uncompressed size."""
    with _opened(path) as reading:
        reading.contents()
        return reading.expected


def read_header(path: _Path) -> Mapping[str, object]:
    """Return what the header says of the model; the rest of the file is not checked."""
    with _opened(path) as reading:
        return reading.contents().header


@contextmanager
def _opened(path: _Path) -> Iterator[_Reading]:
    """Open a model as a context; all errors name the file."""
    name = os.fspath(path)
    try:
        mode = os.stat(name).st_mode
        if not stat.S_ISREG(mode):
            if stat.S_ISDIR(mode):
                raise IsFolderError(name, EISDIR, "is a folder; give the file of a model")
            raise FormatError("is a device or a pipe; give the file of a model", name)
        with open_input(name) as stream:
            yield _Reading(stream, name)
    except FormatError:
        raise
    except OSError as problem:
        raise FileError.of(problem, name) from None
    except ValueError as problem:  # a NUL in the name
        raise FormatError(f"cannot be read: {problem}", repr(name)) from None
    except MemoryError:
        raise FormatError("cannot be read: not enough memory", name) from None


class _Reading:
    """A model being read from first to last byte, compared with its header."""

    def __init__(self, stream: BufferedReader, path: str) -> None:
        self._stream = stream
        self._path = path
        self._size = plain_size(stream)
        self._members: list[Member] = []
        self.expected = 0  # the bytes of the whole file, once `contents` has read its header

    def contents(self) -> Contents:
        """Return the declared contents, after comparing the size of the file."""
        contents = Contents.decode(self._first(), self._path)
        sizes = [(_FIRST, self._members[0].size)]
        sizes += [(f"arrays/{key}.npy", table.size) for key, table in contents.tables.items()]
        sizes += [(f"words/{key}.txt", size) for key, (_, size) in contents.lists.items()]
        self.expected = total(sizes)
        if self._size in (None, self.expected):
            return contents
        if self._size is not None and self._size < self.expected:
            raise self._damage(f"it is cut off after {self._size} bytes of {self.expected}")
        raise self._damage(f"it has {self._size} bytes, expected {self.expected}")

    def model(self) -> StoredModel:
        """Return the whole model."""
        contents = self.contents()
        arrays = {key: self._array(key, table) for key, table in contents.tables.items()}
        words = {key: self._words(key, *declared) for key, declared in contents.lists.items()}
        if self._stream.read() != directory(self._members):
            raise self._damage("the directory at its end does not match its members")
        return StoredModel(FrozenMap(contents.header), FrozenMap(arrays), FrozenMap(words))

    def _first(self) -> bytes:
        """Return the data of the first member; refuse what does not begin like a model."""
        length = head_length(_FIRST)
        head = self._stream.read(length)
        if not head:
            raise self._stranger("it is empty")
        # a file that is cut off within these bytes is a damaged model, not a stranger
        signature = head[: len(_SIGNATURE)]
        name = head[_LOCAL.size : _LOCAL.size + len(_FIRST)]
        if not _SIGNATURE.startswith(signature) or not _FIRST.encode("ascii").startswith(name):
            raise self._stranger(f"it begins with {head[:12]!r}")
        if len(head) < length:
            raise self._damage("it is cut off")
        *_, size = _SIZES.unpack(head[-_SIZES.size :])
        self._check_head(_FIRST, size, head)
        # no header is longer than that: such a size is refused before its bytes are read
        if size > LONGEST_HEADER or (self._size is not None and size > self._size):
            raise self._damage(f"it is cut off within {_FIRST}")
        text = self._take(size)
        self._check(text)
        return text

    def _array(self, key: str, table: TableHeader) -> NDArray[Any]:
        """Read the next member, an array; it must have the declared type and shape."""
        member = f"arrays/{key}.npy"
        self._check_head(member, table.size)
        prefix = self._take(len(table.prefix))
        if prefix != table.prefix:
            raise self._damage(f"{member} does not have the declared type and shape")
        array = np.empty(table.shape, DTYPES[table.dtype])
        flat = array.reshape(-1).view(np.uint8)
        if self._stream.readinto(flat.data) != len(flat):
            raise self._damage("it is cut off")
        self._check(prefix, flat.data)
        array = array.astype(table.dtype, copy=False)  # the machine's own order of bytes
        array.flags.writeable = False
        return array

    def _words(self, key: str, count: int, size: int) -> tuple[str, ...]:
        """Read the next member, a list of `count` words in `size` bytes."""
        member = f"words/{key}.txt"
        self._check_head(member, size)
        data = self._take(size)
        self._check(data)
        try:
            words = data.decode("utf-8", "surrogatepass").split("\n")
            if b"\\" in data:
                words = [_ESCAPE.sub(_unescaped, word) for word in words]
        except UnicodeDecodeError:
            raise self._damage(f"{member} is not UTF-8") from None
        except KeyError:
            raise self._damage(f"{member} has a backslash without 'n' or '\\\\' after it") from None
        after_last = words.pop()  # what follows the last line feed: nothing
        if after_last or len(words) != count:
            raise self._damage(f"{member} does not have the {count} words declared")
        return tuple(words)

    def _check_head(self, name: str, size: int, head: bytes | None = None) -> None:
        """Check the bytes before the data of the next member, read here unless given."""
        if head is None:
            head = self._take(head_length(name))
        checksum = _LOCAL.unpack_from(head)[6]  # after the signature and five numbers
        member = Member(name, size, checksum)
        self._members.append(member)
        if head != member_head(member):
            raise self._damage(f"the record before {name} is wrong")

    def _take(self, count: int) -> bytes:
        """Read this number of bytes."""
        data = self._stream.read(count)
        if len(data) != count:
            raise self._damage("it is cut off")
        return data

    def _check(self, *parts: bytes | memoryview) -> None:
        """Compare the data of the last member with its checksum."""
        checksum = 0
        for part in parts:
            checksum = crc32(part, checksum)
        if checksum != self._members[-1].checksum:
            raise self._damage(f"the checksum of {self._members[-1].name} is wrong")

    def _damage(self, what: str) -> FormatError:
        """Return the error for a model that is damaged in this way."""
        return FormatError(
            f"is a damaged model: {what}; copy the file again from its origin, or train "
            "and save the model again",
            self._path,
        )

    def _stranger(self, what: str) -> FormatError:
        """Return the error for a file that is no model."""
        other = f"is not a model of alignkit: {what}; give a file that alignkit saved"
        return FormatError(other, self._path)
