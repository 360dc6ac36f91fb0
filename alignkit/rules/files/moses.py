"""Read and write rule tables of Moses: ``F [X][NP] [X] ||| by [X][NP] [PP] ||| .5 ||| 0-0 1-1``.

A variable is ``[SOURCE LABEL][TARGET LABEL]`` on both sides, and each side ends in its own root
label; a side that is a string has the label X. So no label is lost. A line without root labels is
a phrase pair.

The scores are p(s|t), the lexical weight of the source side, p(t|s), and that of the target side,
as probabilities; without lexical weights p(s|t) and p(t|s) alone. The alignment links variables,
and words where known. The counts are those of the target side, of the source side, and of the
rule. Other scores and counts, and properties, are kept in `RuleType.extra` and written back.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from alignkit.errors import FormatError
from alignkit.io.text_files import split_words
from alignkit.rules.files.fields import (
    MOSES_LABEL,
    NO_LABEL,
    WORD,
    RuleFormat,
    Symbols,
    flatten,
    in_field,
    joined_fields,
    parse_count,
    parse_links,
    parse_probability,
    split_fields,
    variable_links,
)
from alignkit.rules.grammar import Node, Rule, RuleType, Variable

_PROBABILITIES = ("p_source", "p_target")
_SCORES = ("p_source", "lexical_source", "p_target", "lexical_target")
_VARIABLE = re.compile(r"\[([^\]\[\s]+)\]\[([^\]\[\s]+)\]", re.ASCII)
_LABEL = re.compile(r"\[([^\]\[\s]+)\]", re.ASCII)


def _line(type: RuleType, number: int, joined: bool) -> str:
    flat = flatten(type.rule)
    symbols = {}
    for item in flat.source:
        if isinstance(item, Variable):
            names = (
                MOSES_LABEL.escape(one.label or NO_LABEL) for one in (item, flat.mates[item.number])
            )
            symbols[item.number] = "".join(f"[{name}]" for name in names)
    sides = []
    bare = flat.source_label is None and flat.target_label is None and not symbols
    for items, label in ((flat.source, flat.source_label), (flat.target, flat.target_label)):
        texts = [WORD.escape(i) if isinstance(i, str) else symbols[i.number] for i in items]
        if not bare:
            texts.append(f"[{MOSES_LABEL.escape(NO_LABEL if label is None else label)}]")
        sides.append(" ".join(texts))
    links = sorted({*(type.alignment or ()), *variable_links(flat.source, flat.target)})
    told = dict(type.extra) if type.extra else {}
    fields = [*sides, _scores_text(type, told.get("scores"))]
    fields += [" ".join(f"{i}-{j}" for i, j in links), _counts_text(type, told.get("counts"))]
    if "properties" in told:
        fields.append(" ".join(split_words(told["properties"])))
    else:
        while not fields[-1] and len(fields) > 3:
            fields.pop()
    return joined_fields(fields)


def _scores_text(type: RuleType, told: str | None) -> str:
    if told is not None:
        with suppress(FormatError):
            read = _read_scores(told)
            if all(getattr(type, name) == read.get(name) for name in _SCORES):
                return " ".join(split_words(told))
    for names in (_SCORES, _PROBABILITIES):
        values = [getattr(type, name) for name in names]
        if None not in values:
            return " ".join(format(value, ".10g") for value in values)
    return ""


def _counts_text(type: RuleType, told: str | None) -> str:
    if told is not None:
        with suppress(FormatError):
            if _read_counts(told) == type.count:
                return " ".join(split_words(told))
    if type.count is None or not type.p_source or not type.p_target:
        return ""
    counts = type.count / type.p_source, type.count / type.p_target, type.count
    return " ".join(format(count, ".10g") for count in counts)


def _read_scores(text: str) -> dict[str, float]:
    tokens = split_words(text)
    names = _PROBABILITIES if len(tokens) == 2 else _SCORES if len(tokens) >= 4 else ()
    return {
        name: parse_probability(token, name) for name, token in zip(names, tokens, strict=False)
    }


def _read_counts(text: str) -> float | None:
    tokens = split_words(text)
    return parse_count(tokens[2]) if len(tokens) == 3 else None


def _parse(line: str, number: int) -> RuleType:
    fields = split_fields(line)
    if len(fields) < 3:
        expected = "expected SOURCE [LABEL] ||| TARGET [LABEL] ||| SCORES ||| LINKS ||| COUNTS"
        raise FormatError(f"{len(fields)} fields divided by |||; {expected}")
    scores, links, counts = ([*fields[2:], "", ""])[:3]
    source, our_label = in_field(line, 0, _symbols, fields[0], 0)
    target, their_label = in_field(line, 1, _symbols, fields[1], 1)
    pairs = in_field(line, 3, parse_links, split_words(links), len(source), len(target))
    rule = in_field(line, 0, _rule, source, target, pairs, our_label, their_label)
    weights: dict[str, Any] = in_field(line, 2, _read_scores, scores)
    count = in_field(line, 4, _read_counts, counts)
    words = tuple(
        p for p in pairs if isinstance(source[p[0]], str) or isinstance(target[p[1]], str)
    )
    made = {**weights, "count": count, "alignment": words or None}
    extra = (("properties", joined_fields(fields[5:])),) if len(fields) > 5 else ()
    found = RuleType(rule, **made, extra=extra)
    if _line(found, 1, True) == line:
        return found
    told = [("scores", scores), ("counts", counts), *extra]
    return RuleType(rule, **made, extra=tuple(told))


def _symbols(text: str, side: int) -> tuple[Symbols, str | None]:
    tokens = split_words(text)
    label = _LABEL.fullmatch(tokens[-1]) if tokens else None
    if label is not None:
        tokens.pop()
    found: list[Variable | str] = []
    for token in tokens:
        match = _VARIABLE.fullmatch(token) if token[:1] == "[" else None
        if match is not None:
            found.append(Variable(len(found), MOSES_LABEL.unescape(match[side + 1])))
        else:
            found.append(WORD.unescape(token))
    if not found:
        raise FormatError("expected words and variables, found nothing")
    return tuple(found), None if label is None else MOSES_LABEL.unescape(label[1])


def _rule(
    source: Symbols,
    target: Symbols,
    pairs: tuple[tuple[int, int], ...],
    our_label: str | None,
    their_label: str | None,
) -> Rule:
    if (our_label is None) != (their_label is None):
        raise FormatError("one side ends in its label ([X]), the other does not")
    ours = [i for i, item in enumerate(source) if isinstance(item, Variable)]
    theirs = {j for j, item in enumerate(target) if isinstance(item, Variable)}
    mates = {i: j for i, j in pairs if j in theirs and not isinstance(source[i], str)}
    if len(mates) < len(ours) or set(mates.values()) != theirs or len(theirs) != len(ours):
        message = "each variable of a side must be linked with one of the other in the alignment"
        raise FormatError(message)
    if not ours and our_label is None:
        return Rule(source, target)
    items, others = list(source), list(target)
    for number, i in enumerate(ours):
        items[i] = Variable(number, source[i].label)  # type: ignore[union-attr]
        others[mates[i]] = Variable(number, target[mates[i]].label)  # type: ignore[union-attr]
    return Rule(
        Node(NO_LABEL if our_label is None else our_label, tuple(items)),
        Node(NO_LABEL if their_label is None else their_label, tuple(others)),
    )


FORMAT = RuleFormat(
    line=_line, parse=_parse, holds=frozenset({"labels", "alignment", "extra", "count", *_SCORES})
)
