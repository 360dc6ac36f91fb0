"""Rules of GHKM and ISI's tools: ``NP(x0:DT NN("car")) -> x0 "auto" ### id=1``.

If one side is a tree and the other a string, the tree is left of the arrow, and its variables are
numbered from left to right, as in Galley et al. (2004, 2006). By their convention the tree is the
target side; ``tree=source`` among the features overrides this. Of two trees (or two strings) the
source side is left.

Features follow ``###``: ``id`` (the number of the rule in the file), the known weights of
`RuleType` by their names, the alignment as ``align={{{[#s=2 #t=2 0,0 1,1]}}}`` (source symbol,
target symbol; variables included, as in ISI's files) and other features (see `extra_texts`).
Values after ``|||``, as Galley's extractor writes them, become features without names. Lines that
begin with ``$$$`` or ``%%%`` have no rule.
"""

from __future__ import annotations

import re

from alignkit.errors import FormatError
from alignkit.model.texts import split_words
from alignkit.rules.files import fields
from alignkit.rules.files.fields import WEIGHTS
from alignkit.rules.files.flat_rules import variable_links
from alignkit.rules.files.notation import AtColumn, made_rule, parse_side, side_text
from alignkit.rules.grammar import Node, RuleType, Symbols, leaves, variables

_KNOWN = {*WEIGHTS, "id", "align", "tree"}
_HEAD = re.compile(r"(?:\${3}|%{3})(?!\S)", re.ASCII)
_ALIGN = re.compile(r"\[([^\]]*)\]")
_SIZE = re.compile(r"#[st]=[0-9]+")
_PAIR = re.compile(r"([0-9]{1,9}),([0-9]{1,9})")


def _line(type: RuleType, number: int, joined: bool) -> str:
    """Return the line of a rule; the only tree is on the left. `joined` is for other formats."""
    source, target = type.rule
    id = str(number)
    extra = type.extra
    if extra:  # `_parse` puts an id that is not the rule's number first
        name, text = extra[0]
        if name == "id" and text != id and fields.is_plain_value(text):
            id = text
            extra = extra[1:]
    features = [f"id={id}"]
    if isinstance(target, Node) and not isinstance(source, Node):
        shared = [item.number for item in variables(target) if item.kind == "x"]
        numbers = {number: k for k, number in enumerate(shared)}
        left = side_text(target, numbers)
        right = side_text(source, numbers)
    else:
        left = side_text(source)
        right = side_text(target)
        if isinstance(source, Node) and not isinstance(target, Node):
            features.append("tree=source")
    features += fields.weight_texts(type, WEIGHTS)
    if type.alignment is not None:
        features.append("align={{{[" + _links_text(type) + "]}}}")
    features += fields.extra_texts(extra, _KNOWN)
    return f"{left} -> {right} ### {' '.join(features)}"


def _links_text(type: RuleType) -> str:
    """Return the numbers of symbols, and the links between words and between variables."""
    source = leaves(type.rule.source)
    target = leaves(type.rule.target)
    links = {*(type.alignment or ()), *variable_links(source, target)}
    texts = [f"#s={len(source)}", f"#t={len(target)}"]
    texts += [f"{i},{j}" for i, j in sorted(links)]
    return " ".join(texts)


def _parse(line: str, number: int) -> RuleType | None:
    """Read a rule; None if the line describes the file."""
    if is_head(line):
        return None
    text, marks, features = line.partition(" ### ")
    if not marks:
        text, marks, features = line.removesuffix(" ###").partition(" ||| ")
        # features without names, for `read_weights`; columns of errors count these quotes too
        features = " ".join(f'""={value}' for value in split_words(features))
    left, arrow, right = text.partition(" -> ")
    if not arrow:
        raise FormatError("expected LEFT -> RIGHT ### NAME=VALUE ...", column=len(text) + 1)
    features_column = len(text) + len(marks) + 1
    with AtColumn(features_column):
        weights, extra, others = fields.read_weights(features, _KNOWN)
        tree, at = others.get("tree", ("target", 1))
        if tree not in ("source", "target"):
            raise FormatError(f"tree is {tree[:40]!r}; expected source or target", column=at)
    right_column = len(left) + len(arrow) + 1
    if tree == "target" and _is_tree(left, 1) and not _is_tree(right, right_column):
        rule = made_rule(right, left, right_column, 1)
    else:
        rule = made_rule(left, right, 1, right_column)
    if "id" in others and others["id"][0] != str(number):
        extra.insert(0, ("id", others["id"][0]))
    alignment = None
    if "align" in others:
        value, at = others["align"]
        with AtColumn(features_column + at - 1):
            alignment = _read_links(value, *map(leaves, rule))
    return RuleType(rule, **weights, alignment=alignment, extra=tuple(extra))


def is_head(line: str) -> bool:
    """Return whether a line describes the file instead of a rule: ``$$$ filetype=rule``."""
    return _HEAD.match(line) is not None


def _is_tree(text: str, column: int) -> bool:
    with AtColumn(column):
        return isinstance(parse_side(text)[0], Node)


def _read_links(text: str, source: Symbols, target: Symbols) -> fields.Links:
    """Read an alignment; links between two variables are left out."""
    inside = _ALIGN.fullmatch(text)
    tokens = [text]  # without brackets, a single pair or what is refused below
    if inside is not None:
        tokens = split_words(inside[1])
    tokens = [token for token in tokens if not _SIZE.fullmatch(token)]
    for token in tokens:
        if not _PAIR.fullmatch(token):
            expected = "{{{[#s=2 #t=2 0,0 1,1]}}}"
            raise FormatError(f"align contains {token[:40]!r}; expected {expected}")
    return fields.parse_word_links(tokens, source, target, _PAIR)


FORMAT = fields.RuleFormat(
    line=_line, parse=_parse, holds=frozenset({"trees", "alignment", "extra", *WEIGHTS})
)
