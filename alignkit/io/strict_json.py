"""Strict JSON, with line and column in each error.

Stricter than `json`: it rejects repeated keys in an object, NaN and infinities, numbers too large
for a link, lone surrogates (they are not Unicode text), and nesting that is too deep.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import lru_cache
from itertools import chain
from math import isinf
from typing import Any, TextIO

from alignkit.errors import FormatError
from alignkit.io.records import Reading, Record
from alignkit.io.text_files import Line
from alignkit.io.writing import Writing
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import BOM

Object = dict[str, Any]

_SPACE = re.compile(r"[ \t\n\r]*")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_DIGITS = 18  # what fits 64 bits; a link needs 9


class _RefusedError(ValueError):
    """JSON or input for `json` that alignkit rejects."""


def _object(pairs: list[tuple[str, Any]]) -> Object:
    """Make an object of its members; refuse a key that occurs twice."""
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for k, key in enumerate(keys) if key in keys[:k])
        raise _RefusedError(f"key {twice[:40]!r} occurs twice in one object")
    return value


def _whole(digits: str) -> int:
    """Read a whole number that fits 64 bits."""
    if len(digits) > _DIGITS:
        raise _RefusedError(f"number {digits[:20]}... has {len(digits)} digits")
    return int(digits)


def _decimal(digits: str) -> float:
    """Read a finite number."""
    value = float(digits)
    if isinf(value):
        raise _RefusedError(f"number {digits[:40]} is too large")
    return value


def _constant(name: str) -> float:
    raise _RefusedError(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_whole, parse_float=_decimal, parse_constant=_constant
)


class JsonText:
    """One JSON text, read value by value."""

    def __init__(self, text: str, path: str = "", line: int = 1) -> None:
        self._text = text
        self._path = path
        self._at = 0
        self._line = line
        self._counted = 0
        self._skip()

    @property
    def line(self) -> int:
        """The line of the next value."""
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    @property
    def next(self) -> str:
        """The next character that is not whitespace; empty at the end."""
        return self._text[self._at : self._at + 1]

    def value(self) -> Any:
        """Read one value."""
        line = self.line
        start = self._at
        try:
            value, self._at = _DECODER.raw_decode(self._text, start)
        except json.JSONDecodeError as problem:
            raise self.error(problem.msg[:1].lower() + problem.msg[1:], problem.pos) from None
        except _RefusedError as problem:
            raise FormatError(str(problem), self._path, line) from None
        except RecursionError:
            raise FormatError("JSON nested too deeply", self._path, line) from None
        if _SURROGATE.search(self._text, start, self._at):
            try:
                json.dumps(value, ensure_ascii=False).encode()
            except UnicodeEncodeError:
                message = "half a surrogate pair, which is not Unicode text"
                raise FormatError(message, self._path, line) from None
        self._skip()
        return value

    def elements(self) -> Iterator[tuple[int, Any]]:
        """Yield (line, value) of each element of an array."""
        self._expect("[")
        while self.next != "]":
            yield self.line, self.value()
            if self.next != ",":
                break
            self._expect(",")
            if self.next == "]":
                self.value()  # refuses it: a value must follow a comma
        self._expect("]")

    def members(self) -> Iterator[str]:
        """Yield each key of an object; read its value before the next key."""
        self._expect("{")
        seen: set[str] = set()
        while self.next != "}" or seen:
            start = self._at
            key = self.value()
            if not isinstance(key, str):
                raise self.error("expected a key in double quotes", start)
            if key in seen:
                raise self.error(f"key {key[:40]!r} occurs twice in one object", start)
            seen.add(key)
            self._expect(":")
            yield key
            if self.next != ",":
                break
            self._expect(",")
        self._expect("}")

    def finish(self) -> None:
        """Check that nothing follows."""
        if self.next:
            raise self.error("expected the end", self._at)

    def error(self, message: str, position: int) -> FormatError:
        """Return an error with the place and the text found there."""
        text = self._text[position : position + 20].split("\n")[0]
        line = self._line + self._text.count("\n", self._counted, position)
        column = position - self._text.rfind("\n", 0, position)
        there = f"found {text!r}" if text else "the line or file ends here"
        return FormatError(f"not JSON: {message}; {there}", self._path, line, column)

    def _skip(self) -> None:
        """Skip white space."""
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at

    def _expect(self, char: str) -> None:
        """Read a character that must come next."""
        if self.next != char:
            raise self.error(f"expected {char!r}", self._at)
        self._at += 1
        self._skip()


def parse_json(text: str, path: str = "", line: int = 1) -> Any:
    """Read a text that contains one JSON value."""
    whole = JsonText(text, path, line)
    value = whole.value()
    whole.finish()
    return value


def json_objects(reading: Reading) -> Iterator[tuple[int, int, Object]]:
    """Yield (number, line, object) for each line that is not empty; refuse broken ones.

    The number is that of the line. If the file is one array, its elements are yielded: the number
    is then that of the element, from 1, and the file is read as a whole.
    """
    lines = reading.lines()
    is_first = True
    for line, text in lines:
        if not text or text.isspace():
            continue
        if is_first and text.lstrip().startswith("["):
            yield from _elements(reading, chain([(line, text)], lines), line)
            return
        is_first = False
        with reading.refusing(line):
            yield line, line, _one_object(parse_json(text, reading.path, line), "line")


def _elements(
    reading: Reading, lines: Iterable[Line], first: int
) -> Iterator[tuple[int, int, Object]]:
    """Yield (number, line, object) for each element of an array that begins in line `first`."""
    array = JsonText(reading.joined(lines), reading.path, first)
    for number, (line, value) in enumerate(array.elements(), start=1):
        with reading.refusing(line):
            yield number, line, _one_object(value, "element")
    array.finish()


def _one_object(value: Any, place: str) -> Object:
    """Return a value that must be an object."""
    if type(value) is not dict:
        raise FormatError(f"expected one object per {place}")
    return value


def write_line(stream: TextIO, encode: Callable[[Any], str], value: Object) -> None:
    """Write an object as a line; escape byte order marks, because reading removes them."""
    stream.write(encode(value).replace(BOM, "\\ufeff") + "\n")


def write_list(
    stream: TextIO, values: Iterator[Object], start: str, end: str, indent: int | None = None
) -> None:
    """Write objects as a JSON list between the texts `start` and `end`, one at a time."""
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=indent).encode
    divider = f"{start}[\n"
    for value in values:
        stream.write(divider + encode(value).replace(BOM, "\\ufeff"))
        divider = ",\n"
    if divider == ",\n":
        stream.write(f"\n]{end}\n")
    else:
        stream.write(f"{start}[]{end}\n")


_KINDS: dict[type, str] = {str: "a text", list: "a list", dict: "an object"}


def member(record: Object, key: str, kind: type, default: Any = None) -> Any:
    """Return a member of an object, checked for its type; `default` if missing or null."""
    value = record.get(key)
    if value is None:
        if default is None:
            raise FormatError(f"{key!r} is missing; expected {_KINDS[kind]}")
        return default
    if type(value) is not kind:
        raise FormatError(f"{key!r} is {_shown(value)}; expected {_KINDS[kind]}")
    return value


@contextmanager
def numbered(what: str, number: int) -> Iterator[None]:
    """Say in errors which of several values is wrong."""
    try:
        yield
    except FormatError as error:
        raise FormatError(f"{what} {number}: {error.message}") from None


def texts(record: Object, key: str) -> list[str]:
    """Return a member of an object that must be a list of texts; see `member`."""
    values: list[str] = member(record, key, list)
    for value in values:
        if type(value) is not str:
            raise FormatError(f"{key!r} contains {_shown(value)}; expected texts")
    return values


def as_text(value: object) -> str | None:
    """Return a text unchanged, a number or boolean as JSON, None for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return None


def position(value: object) -> int:
    """Return the position of a word from a JSON value."""
    if type(value) is not int or not 0 <= value < 10**9:
        raise FormatError(f"{_shown(value)} is not a word position; expected a whole number")
    return value


def _shown(value: object) -> str:
    """Return the beginning of a value, for messages."""
    try:
        return json.dumps(value, ensure_ascii=False)[:40]
    except RecursionError:
        return "a deeply nested value"


_LINKS = re.compile(r"[0-9]+-[0-9]+(\s+[0-9]+-[0-9]+)*")
_ALIKE = 0.8


def read_id(value: Object, number: int) -> str:
    """Return the id of a pair, or `number` if it has none."""
    id = as_text(value.get("id", number))
    if id is None:
        raise FormatError("'id' must be a text or a number")
    return id


def as_record(
    reading: Reading,
    value: Any,
    number: int,
    line: int,
    own: Container[str],
    *,
    links: Sequence[str] = (),
) -> Record:
    """Return a record with the id of an object; all members except `own` become attributes."""
    if type(value) is not dict:
        raise FormatError("expected an object for each pair")
    record = Record(read_id(value, number), line)
    missing = tuple(name for name in links if name not in value)
    for key, member in value.items():
        if key in own:
            continue
        if missing and _may_be_links(member):
            meant = _meant(key, missing)
            if meant:
                raise FormatError(f"unknown member {key[:40]!r} of a pair; did you mean {meant!r}?")
        attribute = as_text(member)
        if attribute is None:
            reading.note("member left out", f"{key[:40]!r} is not a text", line)
        else:
            record.attributes[key] = attribute
    return record


def _may_be_links(value: object) -> bool:
    if isinstance(value, str):
        return _LINKS.fullmatch(value.strip()) is not None
    return isinstance(value, list | dict)


def add_attributes(
    value: Object, pair: SentencePair, own: Container[str], writing: Writing
) -> None:
    """Add the attributes of a pair to its object; those named like an `own` member are lost."""
    for key, attribute in pair.attributes.items():
        if key not in own:
            value[key] = attribute
        else:
            writing.lost[f"attribute {key}"] += 1


@lru_cache(maxsize=1000)
def _meant(key: str, names: tuple[str, ...]) -> str:
    """Return the name most similar to a key, ignoring case; empty if none is similar."""
    by_plain = {_plain(name): name for name in reversed(names)}
    near = get_close_matches(_plain(key[:100]), by_plain, n=1, cutoff=_ALIKE)
    return by_plain[near[0]] if near else ""


def _plain(name: str) -> str:
    """Return a name in lower case, without what divides its parts."""
    return re.sub("[-_]", "", name.lower())
