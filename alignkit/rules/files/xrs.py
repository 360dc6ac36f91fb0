"""Read and write rules as GHKM and ISI's tools do: ``NP(x0:DT NN("car")) -> x0 "auto" ### id=1``.

Where one side is a tree and the other a string, the tree stands left of the arrow, and its
variables are numbered from left to right, as in Galley et al. (2004, 2006). By their custom the
tree is the target side; ``tree=source`` among the features says otherwise. Of two trees (or two
strings) the source side stands left.

Features follow ``###``: ``id`` (the number of the rule in the file), the weights of `RuleType` by
their names, where known, the alignment as ``align={{{[#s=2 #t=2 0,0 1,1]}}}`` (source symbol,
target symbol; variables included, as ISI does) and other features (see `named_features`). Values
without names after ``|||``, as Galley's extractor writes them, are kept as features without names.
Lines that begin with ``$$$`` or ``%%%``, alone, hold no rule.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from alignkit.errors import FormatError
from alignkit.io.text_files import split_words
from alignkit.rules.files.fields import (
    WEIGHTS,
    RuleFormat,
    extra_texts,
    is_head,
    is_plain_value,
    leaves,
    read_weights,
    variable_links,
    weight_texts,
)
from alignkit.rules.files.notation import made_rule, parsed_at, side_text
from alignkit.rules.grammar import Node, Rule, RuleType, Variable

_KNOWN = {*WEIGHTS, "id", "align", "tree"}
_ALIGN = re.compile(r"\[([^\]]*)\]")
_SIZE = re.compile(r"#[st]=[0-9]+")
_PAIR = re.compile(r"([0-9]{1,9}),([0-9]{1,9})")


def _line(type: RuleType, number: int, joined: bool) -> str:
    source, target = type.rule
    id, extra = _id_of(type, number)
    features = [f"id={id}"]
    if isinstance(target, Node) and not isinstance(source, Node):
        variables = [item for item in leaves(target) if isinstance(item, Variable)]
        shared = [item.number for item in variables if item.kind == "x"]
        numbers = {number: k for k, number in enumerate(shared)}
        sides = side_text(target, numbers), side_text(source, numbers)
    else:
        sides = side_text(source), side_text(target)
        if isinstance(source, Node) and not isinstance(target, Node):
            features.append("tree=source")
    features += weight_texts(type, WEIGHTS)
    if type.alignment is not None:
        features.append(f"align={{{{{{{_align_text(type.rule, type.alignment)}}}}}}}")
    features += extra_texts(extra, _KNOWN)
    return f"{sides[0]} -> {sides[1]} ### {' '.join(features)}"


def _id_of(type: RuleType, number: int) -> tuple[str, Sequence[tuple[str, str]]]:
    if type.extra and type.extra[0][0] == "id":
        id = type.extra[0][1]
        if id != str(number) and is_plain_value(id):
            return id, type.extra[1:]
    return str(number), type.extra


def _align_text(rule: Rule, alignment: tuple[tuple[int, int], ...]) -> str:
    source, target = map(leaves, rule)
    links = variable_links(source, target)
    texts = (f"{i},{j}" for i, j in sorted({*alignment, *links}))
    return " ".join([f"[#s={len(source)}", f"#t={len(target)}", *texts]) + "]"


def _parse(line: str, number: int) -> RuleType | None:
    if is_head(line):
        return None
    text, marks, told = line.partition(" ### ")
    if not marks:
        text, marks, told = line.removesuffix(" ###").partition(" ||| ")
        told = " ".join(f'""={value}' for value in split_words(told))
    left, arrow, right = text.partition(" -> ")
    if not arrow:
        raise FormatError("expected LEFT -> RIGHT ### NAME=VALUE ...", "", None, len(text) + 1)
    column = len(text) + len(marks)
    try:
        weights, extra, others = read_weights(told, _KNOWN)
        tree = _tree(*others.get("tree", ("target", 1)))
    except FormatError as problem:
        at = column + (problem.column or 1)
        raise FormatError(problem.message, "", None, at) from None
    texts = [(left, 1), (right, len(left) + len(arrow) + 1)]
    if tree == "target" and _is_tree(*texts[0]) and not _is_tree(*texts[1]):
        texts.reverse()
    (source, first), (target, second) = texts
    rule = made_rule(source, target, first, second)
    if "id" in others and others["id"][0] != str(number):
        extra.insert(0, ("id", others["id"][0]))
    alignment = None
    if "align" in others:
        value, at = others["align"]
        alignment = _alignment(rule, value, column + at)
    return RuleType(rule, **weights, alignment=alignment, extra=tuple(extra))


def _tree(text: str, column: int) -> str:
    if text not in ("source", "target"):
        message = f"tree is {text[:40]!r}; expected source or target"
        raise FormatError(message, "", None, column)
    return text


def _is_tree(text: str, column: int) -> bool:
    return isinstance(parsed_at(text, column)[0], Node)


def _alignment(rule: Rule, text: str, column: int) -> tuple[tuple[int, int], ...]:
    inside = _ALIGN.fullmatch(text)
    tokens = split_words(inside[1]) if inside else [text]
    source, target = map(leaves, rule)
    links = []
    for token in tokens:
        match = _PAIR.fullmatch(token)
        if match is None:
            if _SIZE.fullmatch(token):
                continue
            message = f"align holds {token[:40]!r}; expected {{{{{{[#s=2 #t=2 0,0 1,1]}}}}}}"
            raise FormatError(message, "", None, column)
        i, j = int(match[1]), int(match[2])
        if i >= len(source) or j >= len(target):
            sizes = f"{len(source)} and {len(target)} symbols"
            raise FormatError(f"link {token} is beyond the sides, of {sizes}", "", None, column)
        if not (isinstance(source[i], Variable) and isinstance(target[j], Variable)):
            links.append((i, j))
    return tuple(sorted(set(links)))


FORMAT = RuleFormat(
    line=_line, parse=_parse, holds=frozenset({"trees", "alignment", "extra", *WEIGHTS})
)
