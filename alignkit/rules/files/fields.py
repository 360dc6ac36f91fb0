"""Divide lines at ``|||``, and write and read the numbers that the formats share."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from alignkit.errors import FormatError

_BARS = re.compile(r"(?<!\S)\|\|\|(?!\S)", re.ASCII)
_HEAD = re.compile(r"(?:\${3}|%{3})(?!\S)", re.ASCII)
_LINK = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
_POWER = re.compile(r"(e|10)\^(.+)")
_ROUNDING = 1e-9  # by which sums of fractions exceed 1

T = TypeVar("T")
Links = tuple[tuple[int, int], ...]


def split_fields(line: str) -> list[str]:
    """Divide a line at each ``|||`` between spaces, or at its ends."""
    if line.count("|||") == line.count(" ||| "):
        return line.split(" ||| ")
    return [field.strip(" \t") for field in _BARS.split(line)]


def joined_fields(fields: Sequence[str]) -> str:
    """Join what `split_fields` divides."""
    line = " ||| ".join(fields)
    if "" in fields:
        line = " |||".join([fields[0], *(f" {field}" if field else "" for field in fields[1:])])
    return line.lstrip(" ")


def is_head(line: str) -> bool:
    """Return whether a line of xrs holds no rule, but tells of the file: ``$$$ filetype=rule``."""
    return _HEAD.match(line) is not None


def columns(line: str) -> list[int]:
    """Return the columns, from 1, where the fields of a line begin."""
    starts = [0, *(match.end() for match in _BARS.finditer(line))]
    return [at + len(line[at:]) - len(line[at:].lstrip(" \t")) + 1 for at in starts]


def in_field(line: str, field: int, read: Callable[..., T], *given: Any) -> T:
    """Return what `read` makes of something in a field of a line."""
    try:
        return read(*given)
    except FormatError as problem:
        starts = columns(line)
        column = starts[field] + (problem.column or 1) - 1 if field < len(starts) else 1
        raise FormatError(problem.message, "", None, column) from None


def number_text(value: float) -> str:
    """Return a number such that the same number is read back."""
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _number(name: str, text: str) -> float:
    try:
        power = _POWER.fullmatch(text) if "^" in text else None
        if power:  # as the tools of ISI write small numbers
            return math.pow(math.e if power[1] == "e" else 10, plain_float(power[2]))
        return plain_float(text)
    except (ValueError, OverflowError):
        raise FormatError(f"{name} is {text[:40]!r}, which is no number") from None


def plain_float(text: str) -> float:
    """Read a number as other languages do too: no underscores, no digits of other scripts."""
    if "_" in text or not text.isascii():
        raise ValueError
    return float(text)


def parse_count(text: str, name: str = "count") -> float:
    """Read a count."""
    value = _number(name, text)
    if not 0 <= value < math.inf:
        raise FormatError(f"{name} is {text[:40]}; expected a number from 0 up")
    return value


def parse_pairs(text: str, name: str = "pairs") -> int:
    """Read a whole count; see `parse_count`."""
    value = parse_count(text, name)
    if not value.is_integer():
        raise FormatError(f"{name} is {text[:40]}; expected a whole number")
    return int(value)


def parse_probability(text: str, name: str) -> float:
    """Read a probability."""
    value = _number(name, text)
    if not 0 <= value <= 1 + _ROUNDING:
        raise FormatError(f"{name} is {text[:40]}; expected a probability, from 0 to 1")
    return value


def parse_links(tokens: Sequence[str], source: int, target: int) -> Links:
    """Read links ``i-j`` between symbols."""
    links: list[tuple[int, int]] = []
    for token in tokens:
        match = _LINK.fullmatch(token)
        if match is None:
            raise FormatError(f"found {token[:40]!r}, expected a link such as 0-1")
        i, j = int(match[1]), int(match[2])
        if i >= source or j >= target:
            message = f"link {token} is beyond the sides, of {source} and {target} symbols"
            raise FormatError(message)
        links.append((i, j))
    return tuple(sorted(set(links)))
