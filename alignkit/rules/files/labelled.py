"""Write and read lines ``[LABEL] ||| SOURCE ||| TARGET ||| FEATURES ||| LINKS``.

Thrax, Joshua and PPDB share them. A variable is ``[LABEL,NUMBER]``, numbered from 1. A symbol has
one label: where those of both sides differ it is written ``[SOURCE~TARGET]``.

Features are ``name=value``, or values without names. Probabilities are written as negative natural
logarithms, as Thrax writes them: ``p(e|f)`` is p(target side | source side), ``p(f|e)`` the
converse, ``Lex(e|f)`` and ``Lex(f|e)`` the lexical weights, ``p(e,f|LHS)`` p(rule | both root
labels); ``count`` and ``pairs`` are numbers. Those of PPDB 2.0 (``-logp(e2|e1)``, ...) are read
too. All other features of a file are kept in `RuleType.extra` and written back, and so is the text
of all where alignkit would write another one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from alignkit.errors import FormatError
from alignkit.io.text_files import split_words
from alignkit.rules.files.fields import (
    FEATURE,
    LABEL,
    NO_LABEL,
    VALUE,
    WORD,
    FlatRule,
    LeftOutError,
    Links,
    Symbols,
    flatten,
    in_field,
    joined_fields,
    labels_differ,
    number_text,
    parse_count,
    parse_links,
    parse_pairs,
    plain_float,
    split_fields,
    variable_links,
)
from alignkit.rules.files.notation import numbered_on
from alignkit.rules.grammar import Node, Rule, RuleType, Variable

_LOGARITHMS = {
    "p(e|f)": "p_target",
    "p(f|e)": "p_source",
    "Lex(e|f)": "lexical_target",
    "Lex(f|e)": "lexical_source",
    "p(e,f|LHS)": "p_rule",
}
_COUNTS = {"count": "count", "pairs": "pairs"}
_WRITTEN = {**_LOGARITHMS, **_COUNTS}
_PPDB_2 = {
    "-logp(e2|e1)": "p_target",
    "-logp(e1|e2)": "p_source",
    "Lex(e2|e1)": "lexical_target",
    "Lex(e1|e2)": "lexical_source",
}
_READ = {**_WRITTEN, **_PPDB_2}
_MISSING = ("NA", "NaN", "nan")
_ALIGNMENT, _ENTAILMENT = "alignment", "entailment"  # what else a line holds, as extra features
_FIELDS = (_ALIGNMENT, _ENTAILMENT)

HELD = frozenset({"alignment", "extra", *_WRITTEN.values()})

_VARIABLE = re.compile(r"\[(.*),([0-9]{1,9})\]")
_LABEL = re.compile(r"\[(\S+)\]", re.ASCII)


def labelled_line(type: RuleType, joined: bool, *, link_variables: bool) -> str:
    """Return the line of a rule."""
    flat = flatten(type.rule)
    if not joined and labels_differ(flat):
        raise LeftOutError("labels that differ between the sides")
    label = _joined(flat.source_label, flat.target_label)
    texts: list[str] = []
    numbers: dict[int, str] = {}
    for item in flat.source:
        if isinstance(item, str):
            texts.append(WORD.escape(item))
        else:
            name = _joined(item.label or None, flat.mates[item.number].label or None)
            numbers[item.number] = symbol = f"[{name},{len(numbers) + 1}]"
            texts.append(symbol)
    others = [
        WORD.escape(item) if isinstance(item, str) else numbers[item.number] for item in flat.target
    ]
    fields = [f"[{label}]", " ".join(texts), " ".join(others), " ".join(_features(type))]
    told = dict(type.extra) if type.extra else {}
    links = _links_text(type, flat, link_variables, told.get(_ALIGNMENT))
    fields.append(links or "")
    if _ENTAILMENT in told:
        fields.append(VALUE.escape(told[_ENTAILMENT]))
    while not fields[-1] and len(fields) > 3:  # bars at the end are no bars to Joshua
        fields.pop()
    return joined_fields(fields)


def _joined(source: str | None, target: str | None) -> str:
    if source == target or source is None or target is None:
        label = target if source is None else source
        return LABEL.escape(NO_LABEL if label is None else label)
    return f"{LABEL.escape(source)}~{LABEL.escape(target)}"


def _features(type: RuleType) -> list[str]:
    texts: list[str] = []
    done: set[str] = set()
    for name, text in type.extra:
        attribute = _READ.get(name)
        if attribute is not None:
            known = getattr(type, attribute)
            try:
                value = _value(attribute, name, text)
            except FormatError:
                continue
            if value is not None:
                done.add(attribute)
                if known is not None:
                    texts.append(_feature(name, text if known == value else _text(name, known)))
                continue
        if name not in _FIELDS:
            texts.append(_feature(name, text))
    for name, attribute in _WRITTEN.items():
        value = getattr(type, attribute)
        if value is not None and attribute not in done:
            texts.append(f"{name}={_text(name, value)}")
    return texts


def _feature(name: str, text: str) -> str:
    if not name:
        return FEATURE.escape(text)
    return f"{FEATURE.escape(name)}={VALUE.escape(text) if text else ''}"


def _text(name: str, value: float) -> str:
    if name in _COUNTS:
        return number_text(value)
    if value <= 0:
        return "inf"
    return format(max(0.0, -math.log(value)), ".10g")


def _value(attribute: str, name: str, text: str) -> float | None:
    if text in _MISSING:
        return None
    if attribute == "pairs":
        return parse_pairs(text, name)
    if attribute == "count":
        return parse_count(text, name)
    try:
        logarithm = plain_float(text)
    except ValueError:
        message = f"{name} is {text[:40]!r}; expected a negative natural logarithm, a number"
        raise FormatError(message) from None
    return math.exp(-logarithm) if logarithm >= 0 else None  # PPDB has some that are no probability


def _links_text(type: RuleType, flat: FlatRule, variables: bool, told: str | None) -> str | None:
    if told is not None:
        tokens = split_words(told)
        with suppress(FormatError):
            if type.alignment == _of_words(tokens, flat.source, flat.target):
                return " ".join(tokens)
    if type.alignment is None:
        return None
    links = set(type.alignment)
    if variables:
        links.update(variable_links(flat.source, flat.target))
    return " ".join(f"{i}-{j}" for i, j in sorted(links))


def _of_words(tokens: list[str], source: Symbols, target: Symbols) -> Links | None:
    links = parse_links(tokens, len(source), len(target))
    return tuple(
        (i, j) for i, j in links if isinstance(source[i], str) or isinstance(target[j], str)
    )


def parse_labelled(line: str, line_of: Callable[[RuleType, int, bool], str]) -> RuleType:
    """Read a line."""
    fields = split_fields(line)
    if not 3 <= len(fields) <= 6:
        expected = "expected [LABEL] ||| SOURCE ||| TARGET ||| FEATURES ||| LINKS"
        raise FormatError(f"{len(fields)} fields divided by |||; {expected}")
    labels = in_field(line, 0, _root_labels, fields[0])
    source = in_field(line, 1, _symbols, fields[1], 0)
    target = in_field(line, 2, _symbols, fields[2], 1)
    rule = in_field(line, 2, _rule, labels, source, target)
    weights, features = in_field(line, 3, _read_features, fields[3] if len(fields) > 3 else "")
    alignment = None
    if len(fields) > 4:
        alignment = in_field(line, 4, _of_words, split_words(fields[4]), source, target)
        features.append((_ALIGNMENT, fields[4]))
    if len(fields) > 5:
        features.append((_ENTAILMENT, VALUE.unescape(fields[5])))
    unknown = [(name, text) for name, text in features if name not in _READ and name != _ALIGNMENT]
    parsed = RuleType(rule, **weights, alignment=alignment, extra=tuple(unknown))
    if line_of(parsed, 1, True) == line:
        return parsed
    return RuleType(rule, **weights, alignment=alignment, extra=tuple(features))


def _root_labels(text: str) -> tuple[str, str]:
    match = _LABEL.fullmatch(text)
    if match is None:
        raise FormatError(f"found {text[:40]!r}, expected a label in brackets: [NP]")
    return _labels(match[1])


def _labels(text: str) -> tuple[str, str]:
    source, joined, target = text.partition("~")
    label = LABEL.unescape(source)
    return (label, LABEL.unescape(target)) if joined else (label, label)


def _symbols(text: str, side: int) -> Symbols:
    symbols: list[Variable | str] = []
    for token in split_words(text):
        if token[0] == "[" and token[-1] == "]" and len(token) > 1:
            match = _VARIABLE.fullmatch(token)
            if match is None or not match[2].strip("0"):
                message = f"found {token[:40]!r}, expected a variable such as [NP,1]"
                raise FormatError(message, "", None, text.find(token) + 1)
            symbols.append(Variable(int(match[2]) - 1, _labels(match[1])[side]))
        else:
            symbols.append(WORD.unescape(token))
    if not symbols:
        raise FormatError("expected words and variables, found nothing")
    return tuple(symbols)


def _rule(labels: tuple[str, str], source: Symbols, target: Symbols) -> Rule:
    ours, theirs = (
        tuple((item.kind, item.number) for item in side if type(item) is Variable)
        for side in (source, target)
    )
    try:
        numbers = numbered_on(ours, theirs)
    except FormatError as problem:
        raise FormatError(f"{problem.message}, where they are numbered from 0") from None
    if numbers is not None:
        source, target = (
            tuple(
                item if isinstance(item, str) else item._replace(number=numbers[item.number])
                for item in side
            )
            for side in (source, target)
        )
    return Rule(Node(labels[0], source), Node(labels[1], target))


def _read_features(text: str) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    weights: dict[str, Any] = {}
    features: list[tuple[str, str]] = []
    for token in split_words(text):
        name, equals, value = token.partition("=")
        if not equals:
            features.append(("", FEATURE.unescape(token)))
            continue
        attribute = _READ.get(name)
        if attribute is None:
            features.append((FEATURE.unescape(name), VALUE.unescape(value)))
            continue
        try:
            weight = _value(attribute, name, value)
        except FormatError as problem:
            raise FormatError(problem.message, "", None, text.find(token) + 1) from None
        if weight is not None:
            if attribute in weights and weights[attribute] != weight:
                raise FormatError(f"{name} stands twice", "", None, text.find(token) + 1)
            weights[attribute] = weight
        features.append((name, value))
    return weights, features
