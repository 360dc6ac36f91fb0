"""Write and read features ``name=value`` of tsv and xrs: a rule's weights, and what else is told.

A name or value that holds white space, ``=``, quotation marks or bars is quoted as in JSON, and so
is a name of `extra` that would be taken for a weight.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from alignkit.errors import FormatError
from alignkit.rules.files.fields import number_text, parse_count, parse_pairs, parse_probability
from alignkit.rules.files.notation import QUOTED, quoted, unquoted
from alignkit.rules.grammar import RuleType

WEIGHTS: dict[str, Callable[[str, str], float]] = {
    "count": parse_count,
    "p_target": parse_probability,
    "p_source": parse_probability,
    "pairs": parse_pairs,
    "p_rule": parse_probability,
    "lexical_target": parse_probability,
    "lexical_source": parse_probability,
}
"""The weights of a rule by name, and what reads each."""

_PLAIN_NAME = re.compile(r'[^="{}\x00-\x20|\ufeff]+')
_PLAIN_VALUE = re.compile(r'[^"{}\x00-\x20|\ufeff]*')
_FEATURE = re.compile(
    rf'\s*(?:({QUOTED}|[^\s="]+)=({QUOTED}|\{{\{{\{{[^{{}}]*\}}\}}\}}|[^\s"]*)(?!\S)|(\S+))',
    re.ASCII,
)


def parse_weight(name: str, text: str) -> float:
    """Read a weight; see `WEIGHTS`."""
    return WEIGHTS[name](text, name)


def weight_texts(type: RuleType, names: Iterable[str]) -> Iterator[str]:
    """Yield ``name=value`` of those weights that are known."""
    for name in names:
        value = getattr(type, name)
        if value is not None:
            yield f"{name}={number_text(value)}"


def is_plain_value(text: str) -> bool:
    """Return whether a value is written as it is."""
    return _PLAIN_VALUE.fullmatch(text) is not None


def extra_texts(extra: Iterable[tuple[str, str]], known: Collection[str]) -> Iterator[str]:
    """Yield what else is told of a rule; `known` names are taken."""
    for name, text in extra:
        plain = _PLAIN_NAME.fullmatch(name) and name not in known
        value = text if is_plain_value(text) else quoted(text)
        yield f"{name if plain else quoted(name)}={value}"


def _feature_pairs(text: str) -> Iterator[tuple[str, str, bool, int]]:
    for match in _FEATURE.finditer(text):
        name, value, other = match.groups()
        at = match.start() + len(match[0]) - len(match[0].lstrip(" \t")) + 1
        if other is not None:
            raise FormatError(f"found {other[:40]!r}, expected NAME=VALUE", "", None, at)
        apart = name[0] == '"'
        try:
            name = unquoted(name) if apart else name
            if value[:1] == '"':
                value = unquoted(value)
            elif value[:3] == "{{{":
                value = value[3:-3]
        except ValueError:
            raise FormatError(
                f"{match[0].strip()[:40]} is not quoted as in JSON", "", None, at
            ) from None
        yield name, value, apart, at


def read_weights(
    text: str, known: Collection[str]
) -> tuple[dict[str, Any], list[tuple[str, str]], dict[str, tuple[str, int]]]:
    """Read features: the weights, what else is told, and the texts of other `known` names."""
    weights: dict[str, Any] = {}
    extra: list[tuple[str, str]] = []
    others: dict[str, tuple[str, int]] = {}
    for name, value, apart, at in _feature_pairs(text):
        if apart or (name not in WEIGHTS and name not in known):
            extra.append((name, value))
        elif name in weights or name in others:
            raise FormatError(f"{name} stands twice", "", None, at)
        elif name in WEIGHTS:
            try:
                weights[name] = parse_weight(name, value)
            except FormatError as problem:
                raise FormatError(problem.message, "", None, at) from None
        else:
            others[name] = value, at
    return weights, extra, others
