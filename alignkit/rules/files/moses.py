"""Rule tables of Moses: ``F [X][NP] [X] ||| by [X][NP] [PP] ||| .5 ||| 0-0 1-1``.

A variable is ``[SOURCE LABEL][TARGET LABEL]`` on both sides, and each side ends in its own root
label; a side that is a string has the label X. So no label is lost. A line without root labels is
a phrase pair.

The scores are the probabilities p(s|t), the lexical weight of the source side, p(t|s), and the
lexical weight of the target side; without lexical weights only p(s|t) and p(t|s). The alignment
links variables, and words if known. The counts are those of the target side, the source side and
the rule. Other scores and counts, and properties, are kept in `RuleType.extra` and written back.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from alignkit.errors import FormatError
from alignkit.model.texts import split_words
from alignkit.rules.files import fields
from alignkit.rules.files.escapes import MOSES_LABEL, WORD
from alignkit.rules.files.fields import in_field
from alignkit.rules.files.flat_rules import NO_LABEL, flatten, renumbered, variable_links
from alignkit.rules.grammar import Node, Rule, RuleType, Symbols, Variable, variables

_PROBABILITIES = ("p_source", "p_target")
_SCORES = ("p_source", "lexical_source", "p_target", "lexical_target")
_VARIABLE = re.compile(r"\[([^\]\[\s]+)\]\[([^\]\[\s]+)\]", re.ASCII)
_LABEL = re.compile(r"\[([^\]\[\s]+)\]", re.ASCII)


def _line(type: RuleType, number: int, joined: bool) -> str:
    """Return the line of a rule; without any label it is a phrase pair.

    Its number and `joined` are for other formats.
    """
    flat = flatten(type.rule)
    names: dict[int, str] = {}
    for item in variables(flat.source):
        mate = flat.mates[item.number]
        names[item.number] = _bracketed(item.label or None) + _bracketed(mate.label or None)
    source = fields.symbol_texts(flat.source, names)
    target = fields.symbol_texts(flat.target, names)
    if names or flat.source_label is not None or flat.target_label is not None:
        source.append(_bracketed(flat.source_label))
        target.append(_bracketed(flat.target_label))
    links = {*(type.alignment or ()), *variable_links(flat.source, flat.target)}
    given = dict(type.extra)
    parts = [
        " ".join(source),
        " ".join(target),
        _scores_text(type, given.get("scores")),
        fields.link_texts(links),
        _counts_text(type, given.get("counts")),
    ]
    if "properties" in given:
        parts.append(" ".join(split_words(given["properties"])))
    else:  # properties are the sixth field; without them, empty fields at the end are left out
        while not parts[-1] and len(parts) > 3:
            parts.pop()
    return fields.joined_fields(parts)


def _bracketed(label: str | None) -> str:
    """Return a label in brackets; None, unlike an empty label, is written as X."""
    return f"[{MOSES_LABEL.escape(NO_LABEL if label is None else label)}]"


def _scores_text(type: RuleType, given: str | None) -> str:
    """Return the scores: as they were read, `given`, if the rule still has these numbers."""
    if given is not None:
        with suppress(FormatError):  # `given` may be anything if the rule was made in Python
            read = _read_scores(given)
            if all(getattr(type, name) == read.get(name) for name in _SCORES):
                return " ".join(split_words(given))
    for names in (_SCORES, _PROBABILITIES):
        values = [getattr(type, name) for name in names]
        if None not in values:
            return " ".join(format(value, ".10g") for value in values)
    return ""


def _counts_text(type: RuleType, given: str | None) -> str:
    """Return the counts of the target side, the source side and the rule; see `_scores_text`."""
    if given is not None:
        with suppress(FormatError):
            if _read_counts(given) == type.count:
                return " ".join(split_words(given))
    if type.count is None or not type.p_source or not type.p_target:
        return ""
    counts = type.count / type.p_source, type.count / type.p_target, type.count
    return " ".join(format(count, ".10g") for count in counts)


def _read_scores(text: str) -> dict[str, float]:
    """Read the scores that alignkit knows: both of two, the first four of more, else none."""
    tokens = split_words(text)
    names: tuple[str, ...] = ()
    if len(tokens) == 2:
        names = _PROBABILITIES
    elif len(tokens) >= 4:
        names = _SCORES
    pairs = zip(names, tokens, strict=False)
    return {name: fields.parse_weight(name, token) for name, token in pairs}


def _read_counts(text: str) -> float | None:
    """Read the count of the rule, the last of three."""
    tokens = split_words(text)
    if len(tokens) == 3:
        return fields.parse_weight("count", tokens[2])
    return None


def _parse(line: str, number: int) -> RuleType:
    """Read a rule; `RuleType.extra` gets all scores if they would be written differently."""
    parts = fields.split_fields(line)
    if len(parts) < 3:
        raise FormatError(
            f"{len(parts)} fields separated by |||; expected SOURCE [LABEL] ||| TARGET "
            "[LABEL] ||| SCORES ||| LINKS ||| COUNTS"
        )
    scores = parts[2]
    links = parts[3] if len(parts) > 3 else ""
    counts = parts[4] if len(parts) > 4 else ""
    source, source_label = in_field(line, 0, _symbols, parts[0], 0)
    target, target_label = in_field(line, 1, _symbols, parts[1], 1)
    pairs = in_field(line, 3, fields.parse_links, split_words(links), source, target)
    rule = in_field(line, 0, _rule, source, target, pairs, source_label, target_label)
    known: dict[str, Any] = in_field(line, 2, _read_scores, scores)
    known["count"] = in_field(line, 4, _read_counts, counts)
    known["alignment"] = fields.word_links(pairs, source, target) or None
    extra: tuple[tuple[str, str], ...] = ()
    if len(parts) > 5:
        extra = (("properties", fields.joined_fields(parts[5:])),)
    parsed = RuleType(rule, **known, extra=extra)
    if _line(parsed, 1, True) == line:
        return parsed
    # scores or counts have further numbers, or other digits: their texts are kept
    return RuleType(rule, **known, extra=(("scores", scores), ("counts", counts), *extra))


def _symbols(text: str, side: int) -> tuple[Symbols, str | None]:
    """Read a side (0: source, 1: target) and its root label.

    The number of each variable is its place in the side, until `_rule` pairs those of both sides.
    """
    tokens = split_words(text)
    label = _LABEL.fullmatch(tokens[-1]) if tokens else None
    if label is not None:
        tokens.pop()
    symbols: list[Variable | str] = []
    for token in tokens:
        match = _VARIABLE.fullmatch(token) if token[0] == "[" else None
        if match is not None:
            symbols.append(Variable(len(symbols), MOSES_LABEL.unescape(match[side + 1])))
        else:
            symbols.append(WORD.unescape(token))
    if not symbols:
        raise FormatError("expected words and variables, found nothing")
    return tuple(symbols), None if label is None else MOSES_LABEL.unescape(label[1])


def _rule(
    source: Symbols,
    target: Symbols,
    pairs: tuple[tuple[int, int], ...],
    source_label: str | None,
    target_label: str | None,
) -> Rule:
    """Make a rule of both sides, whose variables are paired by the links `pairs`."""
    if (source_label is None) != (target_label is None):
        raise FormatError("only one of the sides ends in its label ([X]); expected both or none")
    mates = _mates(source, target, pairs)
    if source_label is None or target_label is None:
        if not mates:
            return Rule(source, target)
        source_label = target_label = NO_LABEL
    source_numbers = {}
    target_numbers = {}
    for number, i in enumerate(sorted(mates)):
        source_numbers[i] = number
        target_numbers[mates[i]] = number
    return Rule(
        Node(source_label, renumbered(source, source_numbers)),
        Node(target_label, renumbered(target, target_numbers)),
    )


def _mates(source: Symbols, target: Symbols, pairs: tuple[tuple[int, int], ...]) -> dict[int, int]:
    """Return the places of the target's variables, by those of the source's."""
    source_places = {i for i, item in enumerate(source) if isinstance(item, Variable)}
    target_places = {j for j, item in enumerate(target) if isinstance(item, Variable)}
    of_variables = [(i, j) for i, j in pairs if i in source_places and j in target_places]
    linked = ({i for i, _ in of_variables}, {j for _, j in of_variables})
    if linked != (source_places, target_places):
        raise FormatError(
            "each variable must be linked to a variable of the other side in the alignment"
        )
    if len(of_variables) > min(len(source_places), len(target_places)):
        raise FormatError("a variable is linked to two variables in the alignment; expected one")
    return dict(of_variables)


FORMAT = fields.RuleFormat(
    line=_line, parse=_parse, holds=frozenset({"labels", "alignment", "extra", "count", *_SCORES})
)
