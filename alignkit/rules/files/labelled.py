"""Grammars of Thrax and Joshua, and PPDB: ``[LABEL] ||| SOURCE ||| TARGET ||| FEATURES ||| LINKS``.

A variable is ``[LABEL,NUMBER]``, numbered from 1. A symbol has one label: if the labels of the
sides differ, it is written ``[SOURCE~TARGET]``. The links are positions of symbols: in *joshua*
only those of the words; in *ppdb* all, variables included, and the relation of PPDB 2.0
(``Equivalence``, ...) may follow.

Features are ``name=value``, or values without names. Probabilities are written as negative natural
logarithms, as Thrax does: ``p(e|f)`` is p(target side | source side), ``p(f|e)`` the reverse,
``Lex(e|f)`` and ``Lex(f|e)`` are the lexical weights, ``p(e,f|LHS)`` is p(rule | both root
labels); ``count`` and ``pairs`` are numbers. Features of PPDB 2.0 (``-logp(e2|e1)``, ...) are read
too. All other features of a file, such as the similarities of PPDB, are kept in `RuleType.extra`
and written back; so is the text of all features if alignkit would write it differently.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from functools import partial
from typing import Any

from alignkit.errors import FormatError
from alignkit.model.texts import split_words
from alignkit.rules.files import fields
from alignkit.rules.files.fields import FEATURE, LABEL, NO_LABEL, VALUE, WORD, FlatRule
from alignkit.rules.files.notation import AtColumn, numbered_on
from alignkit.rules.grammar import Node, Rule, RuleType, Symbols, Variable, variables

_LOGARITHMS = {
    "p(e|f)": "p_target",
    "p(f|e)": "p_source",
    "Lex(e|f)": "lexical_target",
    "Lex(f|e)": "lexical_source",
    "p(e,f|LHS)": "p_rule",
}
_COUNTS = {"count": "count", "pairs": "pairs"}
_WRITTEN = {**_LOGARITHMS, **_COUNTS}
_READ = {
    **_WRITTEN,
    "-logp(e2|e1)": "p_target",
    "-logp(e1|e2)": "p_source",
    "Lex(e2|e1)": "lexical_target",
    "Lex(e1|e2)": "lexical_source",
}
_MISSING = ("NA", "NaN", "nan")
# what else a line holds, as extra features
_ALIGNMENT = "alignment"
_ENTAILMENT = "entailment"

_VARIABLE = re.compile(r"\[(.*),([0-9]{1,9})\]")
_LABEL = re.compile(r"\[(\S+)\]", re.ASCII)


def _line(type: RuleType, number: int, joined: bool, *, link_variables: bool) -> str:
    flat = fields.flatten(type.rule)
    if not joined and fields.labels_differ(flat):
        raise fields.LeftOutError("labels that differ between the sides")
    names: dict[int, str] = {}
    for item in variables(flat.source):
        label = _joined(item.label or None, flat.mates[item.number].label or None)
        names[item.number] = f"[{label},{len(names) + 1}]"
    sides = (
        " ".join(WORD.escape(x) if isinstance(x, str) else names[x.number] for x in side)
        for side in (flat.source, flat.target)
    )
    given = dict(type.extra) if type.extra else {}
    label = f"[{_joined(flat.source_label, flat.target_label)}]"
    links = _links_text(type, flat, link_variables, given.get(_ALIGNMENT))
    parts = [label, *sides, " ".join(_features(type)), links]
    if _ENTAILMENT in given:
        parts.append(VALUE.escape(given[_ENTAILMENT]))
    while not parts[-1] and len(parts) > 3:  # bars at the end are no bars to Joshua
        parts.pop()
    return fields.joined_fields(parts)


def _joined(source: str | None, target: str | None) -> str:
    if source == target or source is None or target is None:
        label = target if source is None else source
        return LABEL.escape(NO_LABEL if label is None else label)
    return f"{LABEL.escape(source)}~{LABEL.escape(target)}"


def _features(type: RuleType) -> list[str]:
    texts: list[str] = []
    done: set[str] = set()
    for name, text in type.extra:
        if (attribute := _READ.get(name)) is not None:
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
        if name not in (_ALIGNMENT, _ENTAILMENT):
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
        return fields.number_text(value)
    if value > 0:
        return format(max(0.0, -math.log(value)), ".10g")
    return "inf"


def _value(attribute: str, name: str, text: str) -> float | None:
    if text in _MISSING:
        return None
    if attribute in _COUNTS:
        return fields.parse_weight(attribute, text, name)
    try:
        logarithm = fields.plain_float(text)
    except ValueError:
        message = f"{name} is {text[:40]!r}; expected a negative natural logarithm (a number)"
        raise FormatError(message) from None
    return math.exp(-logarithm) if logarithm >= 0 else None  # PPDB has some that are no probability


def _links_text(type: RuleType, flat: FlatRule, link_variables: bool, given: str | None) -> str:
    if given is not None:
        tokens = split_words(given)
        with suppress(FormatError):
            if type.alignment == _read_links(tokens, flat.source, flat.target):
                return " ".join(tokens)
    if type.alignment is None:
        return ""
    between = fields.variable_links(flat.source, flat.target) if link_variables else ()
    return fields.link_texts({*type.alignment, *between})


def _read_links(tokens: list[str], source: Symbols, target: Symbols) -> fields.Links:
    return fields.word_links(fields.parse_links(tokens, source, target), source, target)


def _parse(line: str, number: int, *, link_variables: bool) -> RuleType:
    parts = fields.split_fields(line)
    if not 3 <= len(parts) <= 6:
        raise FormatError(
            f"{len(parts)} fields separated by |||; expected [LABEL] ||| SOURCE ||| TARGET "
            "||| FEATURES ||| LINKS"
        )
    labels = fields.in_field(line, 0, _root_labels, parts[0])
    source = fields.in_field(line, 1, _symbols, parts[1], 0)
    target = fields.in_field(line, 2, _symbols, parts[2], 1)
    rule = fields.in_field(line, 2, _rule, labels, source, target)
    text = parts[3] if len(parts) > 3 else ""
    weights, features = fields.in_field(line, 3, _read_features, text)
    alignment = None
    if len(parts) > 4:
        alignment = fields.in_field(line, 4, _read_links, split_words(parts[4]), source, target)
        features.append((_ALIGNMENT, parts[4]))
    if len(parts) > 5:
        features.append((_ENTAILMENT, VALUE.unescape(parts[5])))
    unknown = [(name, text) for name, text in features if name not in _READ and name != _ALIGNMENT]
    parsed = RuleType(rule, **weights, alignment=alignment, extra=tuple(unknown))
    if _line(parsed, 1, True, link_variables=link_variables) == line:
        return parsed
    return RuleType(rule, **weights, alignment=alignment, extra=tuple(features))


def _root_labels(text: str) -> tuple[str, str]:
    if (match := _LABEL.fullmatch(text)) is None:
        raise FormatError(f"found {text[:40]!r}, expected a label in brackets: [NP]")
    return _labels(match[1])


def _labels(text: str) -> tuple[str, str]:
    source, joined, target = text.partition("~")
    label = LABEL.unescape(source)
    if joined:
        return (label, LABEL.unescape(target))
    return (label, label)


def _symbols(text: str, side: int) -> Symbols:
    symbols: list[Variable | str] = []
    for token in split_words(text):
        if token[0] == "[" and token[-1] == "]" and len(token) > 1:
            if not (match := _VARIABLE.fullmatch(token)) or not match[2].strip("0"):
                message = f"found {token[:40]!r}, expected a variable such as [NP,1]"
                raise FormatError(message, "", None, text.find(token) + 1)
            symbols.append(Variable(int(match[2]) - 1, _labels(match[1])[side]))
        else:
            symbols.append(WORD.unescape(token))
    if not symbols:
        raise FormatError("expected words and variables, found nothing")
    return tuple(symbols)


def _rule(labels: tuple[str, str], *sides: Symbols) -> Rule:
    ours, theirs = (tuple((x.kind, x.number) for x in variables(side)) for side in sides)
    try:
        numbers = numbered_on(ours, theirs)
    except FormatError as problem:
        raise FormatError(f"{problem.message} (counted from 0)") from None
    if numbers is not None:
        sides = tuple(
            tuple(x if isinstance(x, str) else x._replace(number=numbers[x.number]) for x in side)
            for side in sides
        )
    return Rule(Node(labels[0], sides[0]), Node(labels[1], sides[1]))


def _read_features(text: str) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    weights: dict[str, Any] = {}
    features: list[tuple[str, str]] = []
    for token in split_words(text):
        name, equals, value = token.partition("=")
        if not equals:
            features.append(("", FEATURE.unescape(token)))
            continue
        if (attribute := _READ.get(name)) is None:
            features.append((FEATURE.unescape(name), VALUE.unescape(value)))
            continue
        with AtColumn(text.find(token) + 1):
            weight = _value(attribute, name, value)
            if weight is not None and weights.setdefault(attribute, weight) != weight:
                raise FormatError(f"{name} is given twice")
        features.append((name, value))
    return weights, features


JOSHUA, PPDB = (
    fields.RuleFormat(
        line=partial(_line, link_variables=link_variables),
        parse=partial(_parse, link_variables=link_variables),
        holds=frozenset({"alignment", "extra", *_WRITTEN.values()}),
    )
    for link_variables in (False, True)
)
