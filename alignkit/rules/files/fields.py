"""Code shared by the formats of rules: ``|||`` fields, numbers, links, escapes and features."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from alignkit.errors import ArgumentError, FormatError
from alignkit.rules.files.notation import QUOTED, AtColumn, quoted, rule_text, unquoted
from alignkit.rules.grammar import Node, Rule, RuleType, Symbols, Variable, leaves

_BARS = re.compile(r"(?<!\S)\|\|\|(?!\S)", re.ASCII)
_LINK = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
_POWER = re.compile(r"(e|10)\^(.+)")
_ROUNDING = 1e-9  # by which sums of fractions exceed 1

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
        raise FormatError(problem.message, "", None, column) from None


def number_text(value: float) -> str:
    """Return a number as text that is read back as the same number."""
    value = float(value)
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


def _number(name: str, text: str) -> float:
    """Read a number; it may be a power, ``e^-2.5``."""
    try:
        power = _POWER.fullmatch(text) if "^" in text else None
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


def link_texts(links: Iterable[tuple[int, int]]) -> str:
    """Return links as text, sorted."""
    return " ".join(f"{i}-{j}" for i, j in sorted(links))


def symbol_texts(symbols: Symbols, names: Mapping[int, str]) -> list[str]:
    """Return the words of a side, escaped, and the names of its variables."""
    return [WORD.escape(x) if isinstance(x, str) else names[x.number] for x in symbols]


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


_EMPTY = "&#;"


class Escapes:
    """The characters to escape in one kind of text: as ``&#32;``, by their numbers.

    What looks like such a reference gets ``&amp;`` for its ``&``. With `bars`, three and more bars
    are escaped too.
    """

    def __init__(self, chars: str, *, bars: bool = False) -> None:
        held = "".join(map(re.escape, chars))
        odd = rf"[\x00-\x20\ufeff{held}]"
        numbers = {*range(33), 0xFEFF, *map(ord, chars)}
        if bars:
            odd += r"|\|{3,}"
            numbers.add(ord("|"))
        self._odd = re.compile(odd)
        codes = "|".join(map(str, sorted(numbers, reverse=True)))
        self._like = re.compile(rf"&((?:amp;)*#(?:{codes})?;)")
        self._written = re.compile(rf"&(?:amp;((?:amp;)*#(?:{codes})?;)|#({codes});)")
        self.escape = lru_cache(maxsize=1 << 16)(self._escape)

    def _escape(self, text: str) -> str:
        if not text:
            return _EMPTY
        if "&" in text:
            text = self._like.sub(r"&amp;\1", text)
        return self._odd.sub(_references, text)

    def unescape(self, text: str) -> str:
        """Return the original of an escaped text."""
        if "&" not in text:
            return text
        if text == _EMPTY:
            return ""
        return self._written.sub(_referenced, text)


def _references(match: re.Match[str]) -> str:
    """Escape the characters of a match."""
    return "".join(f"&#{ord(char)};" for char in match[0])


def _referenced(match: re.Match[str]) -> str:
    """Return the original of an escaped character, or of what looks like one."""
    if match[1]:
        return f"&{match[1]}"
    return chr(int(match[2]))


WORD = Escapes("[]|")
LABEL = Escapes("[]|,~")
MOSES_LABEL = Escapes("[]|")
FEATURE = Escapes("=", bars=True)
VALUE = Escapes("", bars=True)

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
    """Read features: the weights, other features, and other `known` names.

    The latter are with their texts and columns.
    """
    weights: dict[str, Any] = {}
    extra: list[tuple[str, str]] = []
    others: dict[str, tuple[str, int]] = {}
    for match in _FEATURE.finditer(text):
        name, value, other = match.groups()
        at = match.end() - len(match[0].lstrip(" \t")) + 1
        if other is not None:
            raise FormatError(f"found {other[:40]!r}, expected NAME=VALUE", "", None, at)
        is_quoted = name[0] == '"'
        try:
            if is_quoted:
                name = unquoted(name)
            if value[:1] == '"':
                value = unquoted(value)
        except ValueError:
            message = f"{match[0].strip()[:40]} is not quoted as in JSON"
            raise FormatError(message, "", None, at) from None
        if match[2][:3] == "{{{":
            value = value[3:-3]
        if is_quoted or (name not in WEIGHTS and name not in known):
            extra.append((name, value))
        elif name in weights or name in others:
            raise FormatError(f"{name} is given twice", "", None, at)
        elif name in WEIGHTS:
            with AtColumn(at):
                weights[name] = parse_weight(name, value)
        else:
            others[name] = value, at
    return weights, extra, others


NO_LABEL = "X"  # the label in formats that require one, for nodes without labels such as strings


class FlatRule(NamedTuple):
    """The root labels of a rule (None: a string, which has no label) and the symbols below."""

    source_label: str | None
    target_label: str | None
    source: Symbols
    target: Symbols
    mates: Mapping[int, Variable]  # the variable of the target side, by its number


def flatten(rule: Rule) -> FlatRule:
    """Return the symbols of a rule."""
    source = leaves(rule.source)
    target = leaves(rule.target)
    ours = [item for item in source if type(item) is Variable]
    theirs = [item for item in target if type(item) is Variable]
    if any(item.kind != "x" for item in (*ours, *theirs)):
        raise LeftOutError("deleted or inserted variables")
    if not source or not target:
        raise LeftOutError("a side without words and variables")
    mates = {item.number: item for item in theirs}
    if len(mates) < len(theirs) or sorted(mates) != sorted(item.number for item in ours):
        raise ArgumentError(f"the variables of both sides differ: {rule_text(rule)[:200]}")
    source_label, target_label = (side.label if type(side) is Node else None for side in rule)
    return FlatRule(source_label, target_label, source, target, mates)


def labels_differ(flat: FlatRule) -> bool:
    """Return whether a root or a variable has different labels on the two sides."""
    labels = {flat.source_label, flat.target_label} - {None}
    if len(labels) == 2:
        return True
    for item in flat.source:
        if type(item) is Variable and item.label:
            mate = flat.mates[item.number]
            if mate.label not in ("", item.label):
                return True
    return False


def variable_links(source: Symbols, target: Symbols) -> list[tuple[int, int]]:
    """Return the positions of each variable that is on both sides."""
    places: dict[tuple[str, int], int] = {}
    for j, item in enumerate(target):
        if type(item) is Variable:
            places[item.kind, item.number] = j
    links = []
    for i, item in enumerate(source):
        if type(item) is Variable and (item.kind, item.number) in places:
            links.append((i, places[item.kind, item.number]))
    return links
