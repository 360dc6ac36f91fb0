"""Rules as JSON, an object per line; this format can represent everything.

Members: ``source`` and ``target``, texts as in `notation`; if known ``count``, ``pairs``,
``p_target`` (p(t|s)), ``p_source`` (p(s|t)), ``p_rule``, ``lexical_target``, ``lexical_source``,
``alignment`` (links ``[i, j]`` between positions of symbols), ``examples`` (objects with ``id``,
the words ``source`` and ``target``, and half-open ``source_span`` and ``target_span``) and
``extra`` (other features, ``[name, text]``). Any other member that is a text or a number is kept
as such a feature.
"""

from __future__ import annotations

import json
from typing import Any

from alignkit.errors import FormatError
from alignkit.io.strict_json import Object, as_text, member, parse_json, position, texts
from alignkit.model.alignment import SIDES
from alignkit.rules.files.fields import (
    WEIGHTS,
    RuleFormat,
    checked_link,
    parse_weight,
    plain_number,
)
from alignkit.rules.files.notation import made_rule, side_text
from alignkit.rules.grammar import Example, RuleType, leaves

_MEMBERS = {*SIDES, *WEIGHTS, "alignment", "examples", "extra"}


def _line(type: RuleType, number: int, joined: bool) -> str:
    """Return the object of a rule, with all that is known."""
    source, target = type.rule
    members: Object = {"source": side_text(source), "target": side_text(target)}
    for name in WEIGHTS:
        value = getattr(type, name)
        if value is not None:
            members[name] = plain_number(value)
    if type.alignment is not None:
        members["alignment"] = [[int(i), int(j)] for i, j in type.alignment]
    if type.examples:
        members["examples"] = list(map(_example_members, type.examples))
    if type.extra:
        members["extra"] = type.extra
    # reading drops byte order marks, wherever they are
    return json.dumps(members, ensure_ascii=False).replace("\ufeff", "\\ufeff")


def _example_members(example: Example) -> Object:
    return {
        "id": example.id,
        "source": example.source,
        "target": example.target,
        "source_span": [*map(int, example.source_span)],
        "target_span": [*map(int, example.target_span)],
    }


def _parse(line: str, number: int) -> RuleType:
    """Read a rule, and check its weights and links."""
    record = parse_json(line)
    if not isinstance(record, dict):
        raise FormatError("expected an object with 'source' and 'target'")
    sides = [member(record, name, str) for name in SIDES]
    try:
        rule = made_rule(*sides)
    except FormatError as problem:
        where = f"{' ||| '.join(sides)[:80]!r}, column {problem.column}"
        raise FormatError(f"{problem.message}, in {where}") from None
    weights: dict[str, Any] = {}
    for name in WEIGHTS:
        if record.get(name) is not None:
            value = record[name]
            if type(value) not in (int, float):
                raise FormatError(f"{name!r} is {json.dumps(value)[:40]}; expected a number")
            weights[name] = parse_weight(name, repr(value))
    alignment = None
    if record.get("alignment") is not None:
        source = leaves(rule.source)
        target = leaves(rule.target)
        links = set()
        for link in member(record, "alignment", list):
            i, j = _two(link, "alignment")
            links.add(checked_link(i, j, source, target, f"[{i}, {j}]"))
        alignment = tuple(sorted(links))
    examples = tuple(map(_example, member(record, "examples", list, [])))
    return RuleType(rule, **weights, alignment=alignment, examples=examples, extra=_extra(record))


def _extra(record: Object) -> tuple[tuple[str, str], ...]:
    """Return the other features of a rule: those in ``extra``, and unknown members."""
    extra: list[tuple[str, str]] = []
    for feature in member(record, "extra", list, []):
        if not (isinstance(feature, list) and [type(part) for part in feature] == [str, str]):
            raise FormatError("'extra' contains something other than [name, text]")
        name, text = feature
        extra.append((name, text))
    for name, value in record.items():
        if name not in _MEMBERS:
            text = as_text(value)
            if text is None:
                raise FormatError(f"{name[:40]!r} is not a member of a rule and not a feature")
            extra.append((name, text))
    return tuple(extra)


def _two(value: object, name: str) -> tuple[int, int]:
    """Return two positions, given as a list in the member `name`."""
    if not isinstance(value, list) or len(value) != 2:
        raise FormatError(f"{name!r}: found {json.dumps(value)[:40]}, expected two whole numbers")
    return position(value[0]), position(value[1])


def _example(value: object) -> Example:
    """Read an example, and check its spans."""
    if not isinstance(value, dict):
        raise FormatError(f"'examples' contains {json.dumps(value)[:40]}, expected an object")
    source, target = (tuple(texts(value, name)) for name in SIDES)
    source_span = _two(value.get("source_span"), "source_span")
    target_span = _two(value.get("target_span"), "target_span")
    for words, (start, end) in ((source, source_span), (target, target_span)):
        if not start <= end <= len(words):
            raise FormatError(f"span [{start}, {end}] is outside an example of {len(words)} words")
    return Example(member(value, "id", str), source, target, source_span, target_span)


FORMAT = RuleFormat(
    line=_line, parse=_parse, holds=frozenset({"trees", "alignment", "examples", "extra", *WEIGHTS})
)
