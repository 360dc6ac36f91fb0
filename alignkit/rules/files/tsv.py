"""Rules as lines ``TREE ||| TREE ||| count p(t|s) p(s|t) name=value ...``.

For sides see `notation`. An unknown count or probability is ``-``. Then follow, if known,
``pairs=``, ``p_rule=``, ``lexical_target=``, ``lexical_source=``, the word alignment as
``links=0-0,1-2`` (positions of symbols) and other features; see `extra_texts`.
"""

from __future__ import annotations

from typing import Any

from alignkit.errors import FormatError
from alignkit.rules.files import fields
from alignkit.rules.files.notation import AtColumn, made_rule, side_text
from alignkit.rules.grammar import Rule, RuleType, leaves

_FIRST = fields.WEIGHTS[:3]  # those without a name: the count, p(t|s) and p(s|t)
_KNOWN = {*fields.WEIGHTS, "links"}
_UNKNOWN = "-"


def _line(type: RuleType, number: int, joined: bool) -> str:
    """Return the line of a rule, with its known weights."""
    texts = []
    for name in _FIRST:
        value = getattr(type, name)
        texts.append(_UNKNOWN if value is None else fields.number_text(value))
    texts += fields.weight_texts(type, fields.WEIGHTS[3:])
    if type.alignment is not None:
        texts.append("links=" + ",".join(f"{i}-{j}" for i, j in type.alignment))
    texts += fields.extra_texts(type.extra, _KNOWN)
    return fields.joined_fields([*map(side_text, type.rule), " ".join(texts)])


def _parse(line: str, number: int) -> RuleType:
    """Read a rule; errors get their column."""
    parts = fields.split_fields(line)
    if len(parts) != 3:
        raise FormatError(
            f"{len(parts)} fields separated by |||; expected SOURCE ||| TARGET ||| count "
            "p(t|s) p(s|t)"
        )
    source, target, figures = parts
    try:
        return _weighted(made_rule(source, target), figures, 1)
    except FormatError:  # once more, to find the column
        first, second, third = fields.columns(line)
        return _weighted(made_rule(source, target, first, second), figures, third)


def _weighted(rule: Rule, text: str, column: int) -> RuleType:
    """Read the weights and features of a rule; they begin at a column of the line."""
    pieces = text.split(" ", 3)
    if len(pieces) < 3:
        message = f"found {text[:40]!r}, expected count p(t|s) p(s|t), each a number or -"
        raise FormatError(message, column=column)
    weights: dict[str, Any] = {}
    at = column
    for name, piece in zip(_FIRST, pieces, strict=False):
        if piece != _UNKNOWN:
            with AtColumn(at):
                weights[name] = fields.parse_weight(name, piece)
        at += len(piece) + 1
    if len(pieces) == 3:
        return RuleType(rule, **weights)
    with AtColumn(at):
        more, extra, others = fields.read_weights(pieces[3], _KNOWN)
        twice = weights.keys() & more.keys()
        if twice:
            raise FormatError(f"{min(twice)} is given twice")
        alignment = None
        if "links" in others:
            links, _ = others["links"]
            tokens = links.split(",") if links else []
            alignment = fields.parse_links(tokens, leaves(rule.source), leaves(rule.target))
    return RuleType(rule, **weights, **more, alignment=alignment, extra=tuple(extra))


FORMAT = fields.RuleFormat(
    line=_line, parse=_parse, holds=frozenset({"trees", "alignment", "extra", *fields.WEIGHTS})
)
