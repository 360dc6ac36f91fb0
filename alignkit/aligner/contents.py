"""The member ``header.json`` of a model's file, which declares what the file holds."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

import numpy as np

from alignkit.errors import FormatError
from alignkit.version import __version__

VERSION = 1  # the version of the file format that is written, and the newest that is read

LONGEST = 1 << 26  # the most bytes of a header: beyond is damage

DTYPES = {
    name: np.dtype(name).newbyteorder("<")
    for name in (
        *("float32", "float64", "int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64"),
    )
}
"""The kinds of numbers that a model can hold, as they stand in its file."""

_DIMENSIONS = 32
_MOST = 1 << 58  # elements of an array: its bytes still fit in 64 bits
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


class Table(NamedTuple):
    """The kind and shape of an array."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def prefix(self) -> bytes:
        """The bytes before the numbers in a NumPy file."""
        text = (
            f"{{'descr': {DTYPES[self.dtype].str!r}, 'fortran_order': False, "
            f"'shape': {self.shape!r}, }}"
        )
        length = -(-(10 + len(text) + 1) // 64) * 64 - 10
        start = b"\x93NUMPY\1\0" + length.to_bytes(2, "little")
        return start + text.ljust(length - 1).encode("ascii") + b"\n"

    @property
    def size(self) -> int:
        """The number of bytes of the NumPy file."""
        return len(self.prefix) + prod(self.shape) * DTYPES[self.dtype].itemsize


class WordList(NamedTuple):
    """The numbers of words and bytes of a list of words."""

    words: int
    size: int


class Contents(NamedTuple):
    """What the model says of itself, and its arrays and lists of words by name."""

    header: Mapping[str, object]
    tables: Mapping[str, Table]
    lists: Mapping[str, WordList]

    def encode(self) -> bytes:
        """Return the bytes of ``header.json``."""
        tables = {key: {"dtype": one.dtype, "shape": one.shape} for key, one in self.tables.items()}
        content = {
            "alignkit": "model",
            "version": VERSION,
            "header": _plain(self.header),
            "arrays": tables,
            "words": {
                key: {"count": one.words, "bytes": one.size} for key, one in self.lists.items()
            },
        }
        text = json.dumps(content, allow_nan=False, sort_keys=True, indent=1) + "\n"
        if len(text) > LONGEST:
            raise ValueError(f"the header takes {len(text)} bytes, more than {LONGEST}")
        return text.encode("ascii")

    @classmethod
    def decode(cls, text: bytes, path: str) -> Contents:
        """Read the bytes of ``header.json``."""
        content = _object(text, path)
        version: Any = content.get("version")
        if not _is_count(version) or version == 0:
            raise _odd(f"its version is {str(version)[:40]!r}", path)
        if version > VERSION:
            raise FormatError(
                f"is a model of file version {version}, made by a newer alignkit; this one "
                f"({__version__}) reads versions up to {VERSION}: install a newer alignkit, or "
                "train and save the model with this one",
                path,
            )
        if set(content) != {"alignkit", "version", "header", "arrays", "words"}:
            raise _odd(f"it has the entries {', '.join(sorted(content))[:200]}", path)
        for key in ("header", "arrays", "words"):
            if not isinstance(content[key], dict):
                raise _odd(f"its {key} are no object", path)
        arrays, words = content["arrays"], content["words"]
        return cls(
            content["header"],
            {key: _table(key, arrays[key], path) for key in sorted(arrays)},
            {key: _word_list(key, words[key], path) for key in sorted(words)},
        )


def check_name(key: object) -> None:
    """Refuse what cannot be the name of an array or a list of words."""
    if not isinstance(key, str) or not _NAME.fullmatch(key):
        raise ValueError(
            f"{str(key)[:40]!r} is no name; expected lower-case letters, digits and '_'"
        )


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"the name {key!r} in the header is no text")
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value


def _object(text: bytes, path: str) -> dict[str, Any]:
    odd: list[str] = []
    try:
        content = json.loads(text, parse_constant=odd.append)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.get("alignkit") != "model":
        raise FormatError(
            "is no model of alignkit: its header.json does not say that it is one; "
            "name a file that alignkit saved",
            path,
        )
    if odd:
        raise _odd(f"it holds {odd[0]}, which is no number of JSON", path)
    return content


def _table(key: str, declared: object, path: str) -> Table:
    kind, shape = _entries(key, declared, ("dtype", "shape"), path)
    if not isinstance(kind, str) or kind not in DTYPES:
        raise _odd(f"array {key!r} is of {str(kind)[:40]!r}, not of {', '.join(DTYPES)}", path)
    if not isinstance(shape, list) or not all(map(_is_count, shape)):
        raise _odd(f"array {key!r} has the shape {str(shape)[:40]}", path)
    if len(shape) > _DIMENSIONS or prod(max(1, length) for length in shape) > _MOST:
        raise _odd(f"array {key!r} has the impossible shape {str(shape)[:40]}", path)
    return Table(kind, tuple(shape))


def _word_list(key: str, declared: object, path: str) -> WordList:
    count, size = _entries(key, declared, ("count", "bytes"), path)
    if not (_is_count(count) and _is_count(size)):
        raise _odd(f"words {key!r} have odd numbers of words and bytes", path)
    return WordList(count, size)


def _entries(key: str, declared: object, names: tuple[str, str], path: str) -> tuple[Any, Any]:
    try:
        check_name(key)
    except ValueError as problem:
        raise _odd(str(problem), path) from None
    if not isinstance(declared, dict) or set(declared) != set(names):
        raise _odd(f"{key!r} has not just the entries {' and '.join(names)}", path)
    return declared[names[0]], declared[names[1]]


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _odd(what: str, path: str) -> FormatError:
    return FormatError(
        f"its header.json is not as the format says: {what}; train and save the model again", path
    )
