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
from alignkit.rules.files.escapes import FEATURE, LABEL, VALUE, WORD
from alignkit.rules.files.flat_rules import (
    NO_LABEL,
    FlatRule,
    flatten,
    labels_differ,
    renumbered,
    variable_links,
)
from alignkit.rules.files.notation import AtColumn, new_numbers
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
    """Return the line of a rule, in ppdb with the links between its variables."""
    flat = flatten(type.rule)
    if not joined and labels_differ(flat):
        raise fields.LeftOutError("labels that differ between the sides")
    names: dict[int, str] = {}
    for item in variables(flat.source):
        label = _joined(item.label or None, flat.mates[item.number].label or None)
        names[item.number] = f"[{label},{len(names) + 1}]"
    given = dict(type.extra)
    parts = [
        f"[{_joined(flat.source_label, flat.target_label)}]",
        " ".join(fields.symbol_texts(flat.source, names)),
        " ".join(fields.symbol_texts(flat.target, names)),
        " ".join(_features(type)),
        _links_text(type, flat, link_variables, given.get(_ALIGNMENT)),
    ]
    if _ENTAILMENT in given:
        parts.append(VALUE.escape(given[_ENTAILMENT]))
    while not parts[-1] and len(parts) > 3:  # bars at the end are no bars to Joshua
        parts.pop()
    return fields.joined_fields(parts)


def _joined(source: str | None, target: str | None) -> str:
    """Return the label of a symbol, from those of both sides; None is none."""
    if source is None or source == target:
        return LABEL.escape(NO_LABEL if target is None else target)
    if target is None:
        return LABEL.escape(source)
    return f"{LABEL.escape(source)}~{LABEL.escape(target)}"


def _features(type: RuleType) -> list[str]:
    """Return the features: those of the file it was read from, then the other weights.

    A weight keeps its text in the file if it still has this value.
    """
    texts: list[str] = []
    done: set[str] = set()  # the weights that the file had
    for name, text in type.extra:
        attribute = _READ.get(name)
        if attribute is None:
            if name not in (_ALIGNMENT, _ENTAILMENT):
                texts.append(_feature(name, text))
            continue
        try:
            value = _value(attribute, name, text)
        except FormatError:  # made in Python: not the text of a number
            continue
        if value is None:
            texts.append(_feature(name, text))
            continue
        done.add(attribute)
        current = getattr(type, attribute)
        if current == value:
            texts.append(_feature(name, text))
        elif current is not None:
            texts.append(_feature(name, _text(name, current)))
    for name, attribute in _WRITTEN.items():
        value = getattr(type, attribute)
        if value is not None and attribute not in done:
            texts.append(f"{name}={_text(name, value)}")
    return texts


def _feature(name: str, text: str) -> str:
    """Return a feature as text."""
    if not name:
        return FEATURE.escape(text)
    value = VALUE.escape(text) if text else ""
    return f"{FEATURE.escape(name)}={value}"


def _text(name: str, value: float) -> str:
    """Return a count as text, or the negative logarithm of a probability."""
    if name in _COUNTS:
        return fields.number_text(value)
    if value > 0:
        return format(max(0.0, -math.log(value)), ".10g")
    return "inf"


def _value(attribute: str, name: str, text: str) -> float | None:
    """Read a weight, the reverse of `_text`; None if it is missing, or no probability."""
    if text in _MISSING:
        return None
    if attribute in _COUNTS:
        return fields.parse_weight(attribute, text, name)
    try:
        logarithm = fields.plain_float(text)
    except ValueError:
        message = f"{name} is {text[:40]!r}; expected a negative natural logarithm (a number)"
        raise FormatError(message) from None
    if logarithm >= 0:
        return math.exp(-logarithm)
    return None  # PPDB has some that are no probability


def _links_text(type: RuleType, flat: FlatRule, link_variables: bool, given: str | None) -> str:
    """Return the links: as they are in the file, `given`, if that says the same."""
    if given is not None:
        tokens = split_words(given)
        with suppress(FormatError):
            if type.alignment == fields.parse_word_links(tokens, flat.source, flat.target):
                return " ".join(tokens)
    if type.alignment is None:
        return ""
    links = set(type.alignment)
    if link_variables:
        links.update(variable_links(flat.source, flat.target))
    return fields.link_texts(links)


def _parse(line: str, number: int, *, link_variables: bool) -> RuleType:
    """Read a rule; `RuleType.extra` gets all features if it would be written differently."""
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
        tokens = split_words(parts[4])
        alignment = fields.in_field(line, 4, fields.parse_word_links, tokens, source, target)
        features.append((_ALIGNMENT, parts[4]))
    if len(parts) > 5:
        features.append((_ENTAILMENT, VALUE.unescape(parts[5])))
    # if the weights and links are written as in the file, their texts need not be kept
    unknown = [(name, text) for name, text in features if name not in _READ and name != _ALIGNMENT]
    parsed = RuleType(rule, **weights, alignment=alignment, extra=tuple(unknown))
    if _line(parsed, 1, True, link_variables=link_variables) == line:
        return parsed
    return RuleType(rule, **weights, alignment=alignment, extra=tuple(features))


def _root_labels(text: str) -> tuple[str, str]:
    """Read the first field: the labels of both roots."""
    match = _LABEL.fullmatch(text)
    if match is None:
        raise FormatError(f"found {text[:40]!r}, expected a label in brackets: [NP]")
    return _labels(match[1])


def _labels(text: str) -> tuple[str, str]:
    """Read the labels of a symbol on both sides; the reverse of `_joined`."""
    source, joined, target = text.partition("~")
    label = LABEL.unescape(source)
    if joined:
        return label, LABEL.unescape(target)
    return label, label


def _symbols(text: str, side: int) -> Symbols:
    """Read the words and variables of a side (0: source, 1: target)."""
    symbols: list[Variable | str] = []
    for token in split_words(text):
        if token[0] != "[" or token[-1] != "]" or len(token) == 1:
            symbols.append(WORD.unescape(token))
            continue
        match = _VARIABLE.fullmatch(token)
        if match is None or not match[2].strip("0"):
            message = f"found {token[:40]!r}, expected a variable such as [NP,1]"
            raise FormatError(message, column=text.find(token) + 1)
        symbols.append(Variable(int(match[2]) - 1, _labels(match[1])[side]))
    if not symbols:
        raise FormatError("expected words and variables, found nothing")
    return tuple(symbols)


def _rule(labels: tuple[str, str], source: Symbols, target: Symbols) -> Rule:
    """Make a rule, with its variables numbered from left to right on the source side."""
    in_source = tuple((variable.kind, variable.number) for variable in variables(source))
    in_target = tuple((variable.kind, variable.number) for variable in variables(target))
    try:
        numbers = new_numbers(in_source, in_target)
    except FormatError as problem:
        raise FormatError(f"{problem.message} (counted from 0)") from None
    if numbers is not None:
        source = renumbered(source, numbers)
        target = renumbered(target, numbers)
    source_label, target_label = labels
    return Rule(Node(source_label, source), Node(target_label, target))


def _read_features(text: str) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Read the features: the weights by attribute, and all features as texts."""
    weights: dict[str, Any] = {}
    features: list[tuple[str, str]] = []
    for token in split_words(text):
        name, equals, value = token.partition("=")
        if not equals:
            features.append(("", FEATURE.unescape(token)))
            continue
        attribute = _READ.get(name)
        if attribute is None:
            feature = FEATURE.unescape(name)
            if feature in (_ALIGNMENT, _ENTAILMENT):
                message = f"a feature cannot be called {feature}: a field after the features is"
                raise FormatError(message, column=text.find(token) + 1)
            features.append((feature, VALUE.unescape(value)))
            continue
        with AtColumn(text.find(token) + 1):
            weight = _value(attribute, name, value)
            if weight is not None and weights.setdefault(attribute, weight) != weight:
                raise FormatError(f"{name} is given twice")
        features.append((name, value))
    return weights, features


def _format(*, link_variables: bool) -> fields.RuleFormat:
    return fields.RuleFormat(
        line=partial(_line, link_variables=link_variables),
        parse=partial(_parse, link_variables=link_variables),
        holds=frozenset({"alignment", "extra", *_WRITTEN.values()}),
    )


JOSHUA = _format(link_variables=False)
PPDB = _format(link_variables=True)
