"""Code shared by the formats of rules: ``|||`` fields, numbers, links and features.

A line such as ``[NP] ||| the [NN,1] ||| das [NN,1] ||| count=2 ||| 0-0`` has *fields* between bars.
The *symbols* of a side are its words and variables; links are between positions of symbols.
*Features* are ``name=value``: the known weights of `RuleType`, and others, which are kept as text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from alignkit.errors import FormatError
from alignkit.rules.files.escapes import WORD
from alignkit.rules.files.notation import QUOTED, AtColumn, quoted, unquoted
from alignkit.rules.grammar import RuleType, Symbols

_BARS = re.compile(r"(?<!\S)\|\|\|(?!\S)", re.ASCII)
_LINK = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
_POWER = re.compile(r"(e|10)\^(.+)")
_ROUNDING = 1e-9  # by which a probability that is a sum of fractions may exceed 1

T = TypeVar("T")
Links = tuple[tuple[int, int], ...]


def split_fields(line: str) -> list[str]:
    """Divide a line at each ``|||`` between spaces, or at the ends of the line."""
    if line.count("|||") == line.count(" ||| "):
        return line.split(" ||| ")
    return [field.strip(" \t") for field in _BARS.split(line)]


def joined_fields(fields: Sequence[str]) -> str:
    """Join fields; the reverse of `split_fields`."""
    line = fields[0]
    for field in fields[1:]:
        line += f" ||| {field}" if field else " |||"
    return line.lstrip(" ")


def columns(line: str) -> list[int]:
    """Return the columns, from 1, at which the fields of a line begin."""
    starts = [0]
    starts += [match.end() for match in _BARS.finditer(line)]
    return [len(line) - len(line[start:].lstrip(" \t")) + 1 for start in starts]


def in_field(line: str, field: int, read: Callable[..., T], *given: Any) -> T:
    """Read a field of a line with `read`; errors get the column."""
    try:
        return read(*given)
    except FormatError as problem:
        starts = columns(line)
        if field < len(starts):
            column = starts[field] + (problem.column or 1) - 1
        else:
            column = 1
        raise FormatError(problem.message, column=column) from None


def plain_number(value: float) -> int | float:
    """Return a number without decimals if it has none; any kind of number may be given."""
    value = float(value)
    if value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value


def number_text(value: float) -> str:
    """Return a number as text that is read back as the same number."""
    return str(plain_number(value))


def _number(name: str, text: str) -> float:
    """Read a number; it may be a power, ``e^-2.5``."""
    try:
        power = _POWER.fullmatch(text)
        if power:  # as the tools of ISI write small numbers
            base = math.e if power[1] == "e" else 10
            return math.pow(base, plain_float(power[2]))
        return plain_float(text)
    except (ValueError, OverflowError):
        raise FormatError(f"{name} is {text[:40]!r}; expected a number") from None


def plain_float(text: str) -> float:
    """Read a number in the common form: no underscores, no digits of other scripts."""
    if "_" in text or not text.isascii():
        raise ValueError
    return float(text)


def parse_weight(weight: str, text: str, name: str = "") -> float:
    """Read one of `WEIGHTS`; messages call it `name`, if that is given."""
    value = _number(name or weight, text)
    expected = ""
    if weight not in ("count", "pairs"):
        if not 0 <= value <= 1 + _ROUNDING:
            expected = "a probability from 0 to 1"
    elif not 0 <= value < math.inf:
        expected = "a number, 0 or more"
    elif weight == "pairs" and not value.is_integer():
        expected = "a whole number"
    if expected:
        raise FormatError(f"{name or weight} is {text[:40]}; expected {expected}")
    return int(value) if weight == "pairs" else value


def parse_links(
    tokens: Iterable[str], source: Symbols, target: Symbols, form: re.Pattern[str] = _LINK
) -> Links:
    """Read links ``i-j`` between the symbols of both sides."""
    links = set()
    for token in tokens:
        match = form.fullmatch(token)
        if match is None:
            raise FormatError(f"found {token[:40]!r}, expected a link such as 0-1")
        links.add(checked_link(int(match[1]), int(match[2]), source, target, token))
    return tuple(sorted(links))


def checked_link(i: int, j: int, source: Symbols, target: Symbols, text: str) -> tuple[int, int]:
    """Return a link after checking that it is between symbols of both sides."""
    if i >= len(source) or j >= len(target):
        raise FormatError(
            f"link {text} is outside the sides, which have {len(source)} and {len(target)} symbols"
        )
    return i, j


def word_links(links: Links, source: Symbols, target: Symbols) -> Links:
    """Return the links except those between two variables."""
    kept = []
    for i, j in links:
        if isinstance(source[i], str) or isinstance(target[j], str):
            kept.append((i, j))
    return tuple(kept)


def parse_word_links(
    tokens: Iterable[str], source: Symbols, target: Symbols, form: re.Pattern[str] = _LINK
) -> Links:
    """Read links as `parse_links` does, except those between two variables."""
    return word_links(parse_links(tokens, source, target, form), source, target)


def link_texts(links: Iterable[tuple[int, int]]) -> str:
    """Return links as text, sorted."""
    return " ".join(f"{i}-{j}" for i, j in sorted(links))


def symbol_texts(symbols: Symbols, names: Mapping[int, str]) -> list[str]:
    """Return the words of a side, escaped, and the names of its variables."""
    texts = []
    for symbol in symbols:
        if isinstance(symbol, str):
            texts.append(WORD.escape(symbol))
        else:
            texts.append(names[symbol.number])
    return texts


class LeftOutError(Exception):
    """A rule that a format cannot represent; the text names the reason."""


@dataclass(frozen=True, kw_only=True)
class RuleFormat:
    """A format of rules; numbers of rules begin with 1."""

    line: Callable[[RuleType, int, bool], str]
    """From a rule, its number and whether two labels of a symbol may be joined, or LeftOutError."""
    parse: Callable[[str, int], RuleType | None]
    """From a line and the number of its rule, if it has one; errors contain only the column."""
    holds: frozenset[str]  # attributes of a rule type that fit in; "trees": nodes below the roots


WEIGHTS = (
    "count",
    "p_target",
    "p_source",
    "pairs",
    "p_rule",
    "lexical_target",
    "lexical_source",
)
"""The weights of a rule, by their names in `RuleType`."""

_PLAIN_NAME = re.compile(r'[^="{}\x00-\x20|\ufeff]+')
_PLAIN_VALUE = re.compile(r'[^"{}\x00-\x20|\ufeff]*')
_FEATURE = re.compile(
    rf'\s*(?:({QUOTED}|[^\s="]+)=({QUOTED}|\{{\{{\{{[^{{}}]*\}}\}}\}}|[^\s"]*)(?!\S)|(\S+))',
    re.ASCII,
)


def weight_texts(type: RuleType, names: Iterable[str]) -> Iterator[str]:
    """Yield ``name=value`` for the known weights."""
    for name in names:
        value = getattr(type, name)
        if value is not None:
            yield f"{name}={number_text(value)}"


def is_plain_value(text: str) -> bool:
    """Return whether a value is written unquoted."""
    return _PLAIN_VALUE.fullmatch(text) is not None


def extra_texts(extra: Iterable[tuple[str, str]], known: Collection[str]) -> Iterator[str]:
    """Yield the other features of a rule; `known` names are reserved."""
    for name, text in extra:
        is_plain = _PLAIN_NAME.fullmatch(name) and name not in known
        shown = name if is_plain else quoted(name)
        value = text if is_plain_value(text) else quoted(text)
        yield f"{shown}={value}"


def read_weights(
    text: str, known: Collection[str]
) -> tuple[dict[str, Any], list[tuple[str, str]], dict[str, tuple[str, int]]]:
    """Read features: the known weights, all other features, and those with a `known` name.

    The last are features of the format itself, such as links; they come with their texts and
    columns, by name.
    """
    weights: dict[str, Any] = {}
    extra: list[tuple[str, str]] = []
    others: dict[str, tuple[str, int]] = {}
    for match in _FEATURE.finditer(text):
        name, value, other = match.groups()
        at = match.end() - len(match[0].lstrip(" \t")) + 1  # the column
        if other is not None:
            raise FormatError(f"found {other[:40]!r}, expected NAME=VALUE", column=at)
        is_quoted = name[0] == '"'
        try:
            if is_quoted:
                name = unquoted(name)
            if value[:1] == '"':
                value = unquoted(value)
        except ValueError:
            message = f"{match[0].strip()[:40]} is not quoted as in JSON"
            raise FormatError(message, column=at) from None
        if match[2][:3] == "{{{":  # as ISI's tools write texts with spaces
            value = value[3:-3]
        if is_quoted or (name not in WEIGHTS and name not in known):
            extra.append((name, value))
        elif name in weights or name in others:
            raise FormatError(f"{name} is given twice", column=at)
        elif name in WEIGHTS:
            with AtColumn(at):
                weights[name] = parse_weight(name, value)
        else:
            others[name] = value, at
    return weights, extra, others
