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
from alignkit.rules.files.fields import MOSES_LABEL, NO_LABEL, WORD, in_field
from alignkit.rules.grammar import Node, Rule, RuleType, Symbols, Variable, variables

_PROBABILITIES = ("p_source", "p_target")
_SCORES = ("p_source", "lexical_source", "p_target", "lexical_target")
_VARIABLE = re.compile(r"\[([^\]\[\s]+)\]\[([^\]\[\s]+)\]", re.ASCII)
_LABEL = re.compile(r"\[([^\]\[\s]+)\]", re.ASCII)


def _line(type: RuleType, number: int, joined: bool) -> str:
    flat = fields.flatten(type.rule)
    pairs = ((item, flat.mates[item.number]) for item in variables(flat.source))
    names = {x.number: "".join(_bracketed(item.label or None) for item in (x, y)) for x, y in pairs}
    bare = flat.source_label is None and flat.target_label is None and not names
    sides = []
    for symbols, label in ((flat.source, flat.source_label), (flat.target, flat.target_label)):
        texts = [WORD.escape(x) if isinstance(x, str) else names[x.number] for x in symbols]
        sides.append(" ".join(texts if bare else [*texts, _bracketed(label)]))
    links = {*(type.alignment or ()), *fields.variable_links(flat.source, flat.target)}
    given = dict(type.extra) if type.extra else {}
    scores = _scores_text(type, given.get("scores"))
    counts = _counts_text(type, given.get("counts"))
    parts = [*sides, scores, fields.link_texts(links), counts]
    if "properties" in given:
        parts.append(" ".join(split_words(given["properties"])))
    else:
        while not parts[-1] and len(parts) > 3:
            parts.pop()
    return fields.joined_fields(parts)


def _bracketed(label: str | None) -> str:
    return f"[{MOSES_LABEL.escape(NO_LABEL if label is None else label)}]"


def _scores_text(type: RuleType, given: str | None) -> str:
    if given is not None:
        with suppress(FormatError):
            read = _read_scores(given)
            if all(getattr(type, name) == read.get(name) for name in _SCORES):
                return " ".join(split_words(given))
    for names in (_SCORES, _PROBABILITIES):
        values = [getattr(type, name) for name in names]
        if None not in values:
            return " ".join(format(value, ".10g") for value in values)
    return ""


def _counts_text(type: RuleType, given: str | None) -> str:
    if given is not None:
        with suppress(FormatError):
            if _read_counts(given) == type.count:
                return " ".join(split_words(given))
    if type.count is None or not type.p_source or not type.p_target:
        return ""
    counts = type.count / type.p_source, type.count / type.p_target, type.count
    return " ".join(format(count, ".10g") for count in counts)


def _read_scores(text: str) -> dict[str, float]:
    tokens = split_words(text)
    names = _PROBABILITIES if len(tokens) == 2 else _SCORES if len(tokens) >= 4 else ()
    pairs = zip(names, tokens, strict=False)
    return {name: fields.parse_weight(name, token) for name, token in pairs}


def _read_counts(text: str) -> float | None:
    tokens = split_words(text)
    if len(tokens) == 3:
        return fields.parse_weight("count", tokens[2])
    return None


def _parse(line: str, number: int) -> RuleType:
    parts = fields.split_fields(line)
    if len(parts) < 3:
        raise FormatError(
            f"{len(parts)} fields separated by |||; expected SOURCE [LABEL] ||| TARGET "
            "[LABEL] ||| SCORES ||| LINKS ||| COUNTS"
        )
    scores, links, counts = ([*parts[2:], "", ""])[:3]
    source, our_label = in_field(line, 0, _symbols, parts[0], 0)
    target, their_label = in_field(line, 1, _symbols, parts[1], 1)
    pairs = in_field(line, 3, fields.parse_links, split_words(links), source, target)
    rule = in_field(line, 0, _rule, source, target, pairs, our_label, their_label)
    weights: dict[str, Any] = in_field(line, 2, _read_scores, scores)
    count = in_field(line, 4, _read_counts, counts)
    words = fields.word_links(pairs, source, target)
    known = {**weights, "count": count, "alignment": words or None}
    extra = (("properties", fields.joined_fields(parts[5:])),) if len(parts) > 5 else ()
    parsed = RuleType(rule, **known, extra=extra)
    if _line(parsed, 1, True) == line:
        return parsed
    return RuleType(rule, **known, extra=(("scores", scores), ("counts", counts), *extra))


def _symbols(text: str, side: int) -> tuple[Symbols, str | None]:
    tokens = split_words(text)
    if label := _LABEL.fullmatch(tokens[-1]) if tokens else None:
        tokens.pop()
    symbols: list[Variable | str] = []
    for token in tokens:
        if token[:1] == "[":
            match = _VARIABLE.fullmatch(token)
        else:
            match = None
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
    our_label: str | None,
    their_label: str | None,
) -> Rule:
    if (our_label is None) != (their_label is None):
        raise FormatError("only one of the sides ends in its label ([X]); expected both or none")
    ours = [i for i, item in enumerate(source) if isinstance(item, Variable)]
    theirs = {j for j, item in enumerate(target) if isinstance(item, Variable)}
    mates = {i: j for i, j in pairs if j in theirs and not isinstance(source[i], str)}
    if len(mates) < len(ours) or set(mates.values()) != theirs or len(theirs) != len(ours):
        message = "each variable must be linked to a variable of the other side in the alignment"
        raise FormatError(message)
    if our_label is None or their_label is None:
        if not ours:
            return Rule(source, target)
        our_label = their_label = NO_LABEL
    items = list(source)
    others = list(target)
    for number, i in enumerate(ours):
        items[i] = Variable(number, source[i].label)  # type: ignore[union-attr]
        others[mates[i]] = Variable(number, target[mates[i]].label)  # type: ignore[union-attr]
    return Rule(Node(our_label, tuple(items)), Node(their_label, tuple(others)))


FORMAT = fields.RuleFormat(
    line=_line, parse=_parse, holds=frozenset({"labels", "alignment", "extra", "count", *_SCORES})
)
