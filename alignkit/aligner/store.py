r"""Files of models, written whole and read back with every byte checked.

Specification
-------------
A model is a zip file of stored (not compressed) members, in this order:

- ``header.json``: a JSON object with ``"alignkit": "model"``, the ``"version"`` of the file format
  (1), ``"header"`` (an object, whatever the model says of itself), ``"arrays"`` (for each name its
  ``"dtype"`` and ``"shape"``) and ``"words"`` (for each name its ``"count"`` and ``"bytes"``);
- ``arrays/NAME.npy``, by name: a NumPy file, version 1.0, of little-endian numbers in C order;
- ``words/NAME.txt``, by name: UTF-8, each word followed by a line feed; within words ``\n`` stands
  for a line feed and ``\\`` for a backslash.

No code is ever read from a model: nothing is unpickled. The header settles all sizes, and what the
file says otherwise is refused before anything is reserved for it. Every version begins with
``header.json`` and the two entries that say what it is, so that old readers know newer files.

The page docs/model_files.md has the layout byte by byte.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EISDIR
from io import BufferedReader
from os import PathLike
from typing import Any, BinaryIO, Union
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.container import (
    Member,
    checksum_in,
    directory,
    head_length,
    member_head,
    size_in,
    total,
)
from alignkit.aligner.contents import DTYPES, LONGEST, Contents, Table, WordList, check_name
from alignkit.errors import FileError, FormatError, IsFolderError
from alignkit.frozen import FrozenMap
from alignkit.input import refuse_unread
from alignkit.output import WriteError, replacing_bytes

_FIRST = "header.json"
_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)
_ESCAPED = {"\\": "\\", "n": "\n"}

_Path = Union[str, "PathLike[str]"]


@dataclass(frozen=True, eq=False)
class StoredModel:
    """What a file of a model holds."""

    header: Mapping[str, object]  # what the model says of itself, as JSON has it: lists for tuples
    arrays: Mapping[str, NDArray[Any]]  # the tables, read-only
    words: Mapping[str, tuple[str, ...]]  # the lists of words


def write_model(
    path: _Path,
    *,
    header: Mapping[str, object],
    arrays: Mapping[str, NDArray[Any]],
    words: Mapping[str, Sequence[str]],
) -> None:
    """Write a model; the file takes its place only when it is whole."""
    name = os.fspath(path)
    try:
        tables = {key: _plain(key, arrays[key]) for key in sorted(arrays)}
        texts = {key: _text(key, words[key]) for key in sorted(words)}
        declared = {key: Table(table.dtype.name, table.shape) for key, table in tables.items()}
        lists = {key: WordList(len(words[key]), len(text)) for key, text in texts.items()}
        start = Contents(header, declared, lists).encode()
    except (TypeError, ValueError, RecursionError) as problem:
        raise WriteError(f"{name}: cannot hold this model: {problem}") from None
    if name == "-":
        raise WriteError("a model cannot go to standard output: name a file")
    with replacing_bytes(name) as out:
        members = [_put(out, _FIRST, start)]
        for key, table in tables.items():
            members.append(_put(out, f"arrays/{key}.npy", declared[key].prefix, table.data))
        for key, text in texts.items():
            members.append(_put(out, f"words/{key}.txt", text))
        out.write(directory(members))


def _plain(key: str, array: NDArray[Any]) -> NDArray[Any]:
    check_name(key)
    kind = array.dtype.name if isinstance(array, np.ndarray) else type(array).__name__
    if kind not in DTYPES:
        raise ValueError(f"array {key!r} is of {kind}; expected one of {', '.join(DTYPES)}")
    return np.asarray(array, DTYPES[kind], order="C")


def _text(key: str, words: Sequence[str]) -> bytes:
    check_name(key)
    if isinstance(words, str) or not all(isinstance(word, str) for word in words):
        raise TypeError(f"words {key!r} must be a list of texts")
    text = "".join([f"{word}\n" for word in words])
    if "\\" in text or text.count("\n") != len(words):
        escaped = [word.replace("\\", "\\\\").replace("\n", "\\n") for word in words]
        text = "".join([f"{word}\n" for word in escaped])
    return text.encode("utf-8", "surrogatepass")


def _put(out: BinaryIO, name: str, *parts: bytes | memoryview) -> Member:
    size = checksum = 0
    for part in parts:
        size += part.nbytes if isinstance(part, memoryview) else len(part)
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


def check_head(path: _Path) -> None:
    """Check that a file is a model and of the right size; its tables are not read."""
    with _opened(path) as reading:
        reading.contents()


@contextmanager
def _opened(path: _Path) -> Iterator[_Reading]:
    name = os.fspath(path)
    try:
        mode = os.stat(name).st_mode
        if not stat.S_ISREG(mode):
            if stat.S_ISDIR(mode):
                raise IsFolderError(name, EISDIR, "is a folder; name the file of a model")
            raise FormatError("is a device or a pipe; name the file of a model", name)
        with open(name, "rb") as stream:
            yield _Reading(stream, name)
    except FormatError:
        raise
    except OSError as problem:
        raise FileError.of(problem, name) from None
    except ValueError as problem:  # a NUL in the name
        raise FormatError(f"cannot be read: {problem}", repr(name)) from None
    except MemoryError:
        raise FormatError("cannot be read: it needs more memory than there is", name) from None


class _Reading:
    """A model read from its first byte to its last, compared with what must stand there."""

    def __init__(self, stream: BufferedReader, path: str) -> None:
        self._stream = stream
        self._path = path
        self._size = os.fstat(stream.fileno()).st_size
        self._members: list[Member] = []

    def contents(self) -> Contents:
        """Return what is declared to follow; the size of the file fits it."""
        contents = Contents.decode(self._first(), self._path)
        sizes = [(_FIRST, self._members[0].size)]
        sizes += [(f"arrays/{key}.npy", table.size) for key, table in contents.tables.items()]
        sizes += [(f"words/{key}.txt", words.size) for key, words in contents.lists.items()]
        expected = total(sizes)
        if self._size < expected:
            raise self._damage(f"it is cut short, {self._size} bytes of {expected}")
        if self._size > expected:
            raise self._damage(f"it has {self._size} bytes where {expected} are expected")
        return contents

    def model(self) -> StoredModel:
        contents = self.contents()
        arrays = {key: self._array(key, table) for key, table in contents.tables.items()}
        words = {key: self._words(key, declared) for key, declared in contents.lists.items()}
        if self._stream.read() != directory(self._members):
            raise self._damage("the directory at its end does not fit its members")
        return StoredModel(FrozenMap(contents.header), FrozenMap(arrays), FrozenMap(words))

    def _first(self) -> bytes:
        length = head_length(_FIRST)
        head = self._stream.read(length)
        if not head:
            raise self._stranger("it is empty")
        refuse_unread(head, self._path)
        start, name = b"PK\3\4", _FIRST.encode("ascii")
        if head[:4] != start[: len(head)] or head[30:41] != name[: max(0, len(head) - 30)]:
            raise self._stranger(f"it begins with {head[:12]!r}")
        if len(head) < length:
            raise self._damage("it is cut short")
        member = Member(_FIRST, size_in(head), checksum_in(head))
        if head != member_head(member):
            raise self._damage(f"the record before {_FIRST} is not as it should be")
        if member.size > min(LONGEST, self._size):
            raise self._damage(f"it is cut short within {_FIRST}")
        self._members.append(member)
        text = self._take(member.size)
        self._check(text)
        return text

    def _array(self, key: str, table: Table) -> NDArray[Any]:
        member = f"arrays/{key}.npy"
        self._begin(member, table.size)
        prefix = self._take(len(table.prefix))
        if prefix != table.prefix:
            raise self._damage(f"{member} is not of the declared kind and shape")
        array = np.empty(table.shape, DTYPES[table.dtype])
        flat = array.reshape(-1).view(np.uint8)
        if self._stream.readinto(flat.data) != len(flat):
            raise self._damage("it is cut short")
        self._check(prefix, flat.data)
        array = array.astype(table.dtype, copy=False)  # the machine's own order of bytes
        array.flags.writeable = False
        return array

    def _words(self, key: str, declared: WordList) -> tuple[str, ...]:
        member = f"words/{key}.txt"
        self._begin(member, declared.size)
        data = self._take(declared.size)
        self._check(data)
        try:
            words = data.decode("utf-8", "surrogatepass").split("\n")
            if b"\\" in data:
                words = [_ESCAPE.sub(lambda match: _ESCAPED[match[1]], word) for word in words]
        except UnicodeDecodeError:
            raise self._damage(f"{member} is not UTF-8") from None
        except KeyError:
            raise self._damage(f"{member} has a backslash before neither 'n' nor another") from None
        if words.pop() or len(words) != declared.words:
            raise self._damage(f"{member} has not the {declared.words} words declared")
        return tuple(words)

    def _begin(self, name: str, size: int) -> None:
        head = self._take(head_length(name))
        self._members.append(Member(name, size, checksum_in(head)))
        if head != member_head(self._members[-1]):
            raise self._damage(f"the record before {name} is not as it should be")

    def _take(self, count: int) -> bytes:
        data = self._stream.read(count)
        if len(data) != count:
            raise self._damage("it is cut short")
        return data

    def _check(self, *parts: bytes | memoryview) -> None:
        checksum = 0
        for part in parts:
            checksum = crc32(part, checksum)
        if checksum != self._members[-1].checksum:
            raise self._damage(f"the checksum of {self._members[-1].name} is wrong")

    def _damage(self, what: str) -> FormatError:
        return FormatError(
            f"is a damaged model: {what}; copy the file anew from where it came, or train and "
            "save the model again",
            self._path,
        )

    def _stranger(self, what: str) -> FormatError:
        return FormatError(
            f"is no model of alignkit: {what}; name a file that alignkit saved", self._path
        )
