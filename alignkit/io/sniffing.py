"""The beginning of an input, of which each format says how much it looks like its own files."""

from __future__ import annotations

import codecs
import os
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from pathlib import Path

from alignkit.io.opening import head_of, look_ahead
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import line_encoding

FIRST = 100
"""The number of first lines or records that decide about a format."""

SPACE = "\ufeff \t\r\n\v\f"
"""What may come before the first character of a file."""

_HEAD = 1 << 19  # bytes that hold the first records
_HEAD_IN_FOLDER = 1 << 16  # bytes of a file in a folder
_JSON = re.compile(r'.{0,2}["{\[]|[^\n]*\n\s*["{\[]')
_XML = re.compile(r".{0,2}<|[^\n]*\n\s*<")
_MEMBER = re.compile(r'"([\w-]+)"\s*:')
_ELEMENT = re.compile(r"<(?:[\w-]+:)?(\w[\w-]*)")
_LINKS = re.compile(r"(?:\s*[0-9]{1,9}-[0-9]{1,9}(?!\S))*\s*")


class Likeness(IntEnum):
    """How much an input looks like a format."""

    NO = 0
    MAYBE = 1
    """The parser has to try."""
    LIKELY = 2
    """If no other format is as likely, it is this one, and its parser says what is wrong."""
    SURE = 3
    """No other format looks like this, even if a record is damaged."""


@dataclass
class Head:
    """The beginning of an input; each view of it is made when a format first asks for it.

    Parameters
    ----------
    path : The path of the input.
    raw : Its first bytes, which end with a line if the input goes on; None: it is no file, but a
        folder, or the name that several files have in common.
    more : Whether the input goes on.
    encoding : The encoding of the bytes.
    """

    path: str
    raw: bytes | None
    more: bool
    encoding: str

    @property
    def is_file(self) -> bool:
        """Whether the input is a file, standard input or a pipe."""
        return self.raw is not None

    @cached_property
    def folder(self) -> Path | None:
        """The folder, if the input is one."""
        folder = Path(self.path)
        if self.is_file or not folder.is_dir():
            return None
        return folder

    @cached_property
    def decoded(self) -> str:
        """The text with everything before its first character."""
        return (self.raw or b"").decode(self.encoding, "replace")

    @cached_property
    def text(self) -> str:
        """The text from its first character on."""
        return self.decoded.lstrip(SPACE)

    @cached_property
    def lines(self) -> list[str]:
        """The first lines, empty ones too."""
        lines = self.decoded.removeprefix("\ufeff").split("\n", FIRST)
        if len(lines) > FIRST or not lines[-1]:
            lines.pop()
        return [line.rstrip("\r") for line in lines]

    @cached_property
    def rows(self) -> list[list[str]]:
        """The columns of the first lines."""
        return [line.split("\t") for line in self.lines]

    @cached_property
    def width(self) -> int:
        """How many columns most of the first lines have."""
        counts = Counter(map(len, self.rows))
        return max(counts, key=counts.__getitem__, default=0)

    @cached_property
    def columns(self) -> list[str]:
        """The columns of the first line that is not empty."""
        return self.text.partition("\n")[0].split("\t")

    @cached_property
    def headings(self) -> set[str]:
        """These columns as names."""
        return {column.strip().casefold() for column in self.columns}

    @cached_property
    def members(self) -> set[str]:
        """The names of the members of JSON objects; a first character or line may be damaged."""
        if not _JSON.match(self.text):
            return set()
        return set(_MEMBER.findall(self.text))

    @cached_property
    def elements(self) -> set[str]:
        """The names of XML elements, likewise; their namespaces are left out."""
        if not _XML.match(self.text):
            return set()
        return set(_ELEMENT.findall(self.text))


def read_head(path: str, options: ReadOptions) -> Head:
    """Return the beginning of an input; a pipe or standard input can still be read afterwards."""
    encoding = options.encoding
    if path != "-" and (os.path.isdir(path) or not os.path.exists(path)):
        return Head(path, None, False, encoding)
    raw, more = look_ahead(path, _HEAD, options.max_size, encoding)
    line_encoding(encoding)  # refuses unknown ones
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(raw, final=not more)
    except UnicodeError:  # of UTF-16 without its mark, not of decoding
        encoding = "latin-1"  # whatever it is, the format shows
        text = raw.decode(encoding)
    if more and "\n" in text:
        raw = text[: text.rindex("\n") + 1].encode(encoding, "surrogatepass")
    return Head(path, raw, more, encoding)


def head_of_file(path: str) -> Head:
    """Return the beginning of a file in a folder; an empty one if it cannot be read."""
    raw = head_of(path, _HEAD_IN_FOLDER)
    return Head(path, raw, len(raw) == _HEAD_IN_FOLDER, "utf-8")


Sniffer = Callable[[Head], Likeness]


def matching(pattern: re.Pattern[str]) -> Sniffer:
    """Return the sniffer of a format whose files all begin with a pattern that no others have."""

    def sniff(head: Head) -> Likeness:
        if pattern.match(head.text):
            return Likeness.SURE
        return Likeness.NO

    return sniff


def by_share(fitting: int, count: int) -> Likeness:
    """Return how likely a format is if so many of the first lines or words fit it."""
    if not fitting or fitting * 2 < count:
        return Likeness.NO
    if fitting < count:
        return Likeness.LIKELY
    return Likeness.SURE


def by_names(present: set[str], own: set[str]) -> Likeness:
    """Return how likely a format is whose names of members or columns are these: two are enough."""
    if len(present & own) > 1:
        return Likeness.SURE
    return Likeness.NO


def are_links(text: str) -> bool:
    """Return whether a text has only links ``i-j``, or nothing."""
    return _LINKS.fullmatch(text) is not None
