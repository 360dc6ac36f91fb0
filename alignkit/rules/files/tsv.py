"""Read and write rules as lines ``TREE ||| TREE ||| count p(t|s) p(s|t) name=value ...``.

For sides see `notation`. What is not known of the count and the two probabilities is ``-``. Then
follow, where known, ``pairs=``, ``p_rule=``, ``lexical_target=``, ``lexical_source=``, the word
alignment as ``links=0-0,1-2`` (positions of symbols) and other features; see `named_features`.
"""

from __future__ import annotations

from typing import Any

from alignkit.errors import FormatError
from alignkit.rules.files.fields import (
    RuleFormat,
    columns,
    extra_texts,
    joined_fields,
    leaves,
    number_text,
    parse_links,
    parse_weight,
    read_weights,
    split_fields,
    weight_texts,
)
from alignkit.rules.files.notation import made_rule, side_text
from alignkit.rules.grammar import Rule, RuleType

_FIRST = ("count", "p_target", "p_source")
_OTHERS = ("pairs", "p_rule", "lexical_target", "lexical_source")
_KNOWN = {*_FIRST, *_OTHERS, "links"}
_UNKNOWN = "-"


def _line(type: RuleType, number: int, joined: bool) -> str:
    values = (getattr(type, name) for name in _FIRST)
    texts = [_UNKNOWN if value is None else number_text(value) for value in values]
    texts += weight_texts(type, _OTHERS)
    if type.alignment is not None:
        texts.append("links=" + ",".join(f"{i}-{j}" for i, j in type.alignment))
    texts += extra_texts(type.extra, _KNOWN)
    sides = map(side_text, type.rule)
    return joined_fields([*sides, " ".join(texts)])


def _parse(line: str, number: int) -> RuleType:
    fields = split_fields(line)
    if len(fields) != 3:
        expected = "expected SOURCE ||| TARGET ||| count p(t|s) p(s|t)"
        raise FormatError(f"{len(fields)} fields divided by |||; {expected}")
    source, target, told = fields
    try:
        return _told(made_rule(source, target), told, 1)
    except FormatError:  # once more, to find the column
        first, second, third = columns(line)
        return _told(made_rule(source, target, first, second), told, third)


def _told(rule: Rule, told: str, column: int) -> RuleType:
    pieces = told.split(" ", 3)
    if len(pieces) < 3:
        message = f"found {told[:40]!r}, expected count p(t|s) p(s|t), each a number or -"
        raise FormatError(message, "", None, column)
    weights: dict[str, Any] = {}
    at = column
    for name, text in zip(_FIRST, pieces, strict=False):
        if text != _UNKNOWN:
            try:
                weights[name] = parse_weight(name, text)
            except FormatError as problem:
                raise FormatError(problem.message, "", None, at) from None
        at += len(text) + 1
    if len(pieces) == 3:
        return RuleType(rule, **weights)
    try:
        more, extra, others = read_weights(pieces[3], _KNOWN)
        if twice := weights.keys() & more.keys():
            raise FormatError(f"{min(twice)} stands twice")
        alignment = None
        if "links" in others:
            links = others["links"][0]
            sizes = len(leaves(rule.source)), len(leaves(rule.target))
            alignment = parse_links(links.split(",") if links else [], *sizes)
    except FormatError as problem:
        raise FormatError(problem.message, "", None, at + (problem.column or 1) - 1) from None
    return RuleType(rule, **weights, **more, alignment=alignment, extra=tuple(extra))


FORMAT = RuleFormat(
    line=_line, parse=_parse, holds=frozenset({"trees", "alignment", "extra", *_FIRST, *_OTHERS})
)
