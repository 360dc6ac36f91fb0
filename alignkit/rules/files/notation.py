"""Write the sides of rules as text, and read them: ``NP(x0:DT NN("car"))``, ``x0 "auto"``.

A node is its label followed by its children in parentheses; a word is quoted as in JSON; a variable
is ``x0:NP`` (deleted: ``d0:PP``, inserted: ``i0:PP``), its label runs to white space or ``)``, or
``x0`` without a label. A string is only its items. A label that is empty or could be mistaken for
something else is quoted like a word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from sys import intern

from alignkit._support.arguments import check_arguments
from alignkit.errors import FormatError
from alignkit.rules.grammar import Item, Node, Rule, Side, Variable

Numbered = tuple[tuple[str, int], ...]
"""The kinds and numbers of variables, in the order of their places."""

QUOTED = r'"(?:[^"\\]|\\.)*"'
_PLAIN_WORD = re.compile(r'[^"\\\x00-\x20|\ufeff]+')
_PLAIN_LABEL = re.compile(r'[^"()\x00-\x20|\ufeff]+')
_ESCAPED = re.compile("[ \ufeff]")
_LIKE_VARIABLE = re.compile(r"[xdi][0-9]")
_TOKEN = re.compile(
    rf"""\s*(?:
    (\))(?=[\s)]|$)                                                     # 0 the end of a node
  | ({QUOTED})(?:(\()|(?=[\s)]|$))                                      # 1 a word, 2 a node
  | ([xdi])([0-9]{{1,9}})(?: :({QUOTED}(?=[\s)]|$)|[^\s)]+) )?(?=[\s)]|$)   # 3 4 5 a variable
  | ([^\s()"][^\s()]*)\(                                                # 6 a node
  | (\S)                                                                # 7 something else
    )""",
    re.VERBOSE | re.ASCII,
)


@lru_cache(maxsize=1 << 16)
def quoted(text: str) -> str:
    """Return a text in quotation marks, as JSON does, without spaces and ``|||`` inside."""
    if _PLAIN_WORD.fullmatch(text):
        return f'"{text}"'
    escaped = _ESCAPED.sub(lambda m: f"\\u{ord(m[0]):04x}", json.dumps(text, ensure_ascii=False))
    if "|||" in escaped:
        return escaped.replace("|", "\\u007c")
    return escaped


def unquoted(text: str) -> str:
    """Return the original of a quoted text."""
    if "\\" not in text:
        return text[1:-1]
    plain: str = json.loads(text)
    plain.encode()  # half a surrogate pair is a ValueError too
    return plain


@lru_cache(maxsize=1 << 12)
def _label(label: str) -> str:
    """Return a label as text, quoted if it could be mistaken for something else."""
    plain = _PLAIN_LABEL.fullmatch(label) and not _LIKE_VARIABLE.match(label)
    return label if plain else quoted(label)


@lru_cache(maxsize=1 << 12)
def _label_of_variable(label: str) -> str:
    """Return the label of a variable as text, with the colon before it."""
    if label:
        return f":{label if _PLAIN_LABEL.fullmatch(label) else quoted(label)}"
    return ""


def side_text(side: Side, numbers: Mapping[int, int] | None = None) -> str:
    """Return a side of a rule as text; `numbers` replaces those of its variables (kind "x")."""
    out: list[str] = []
    levels = [iter(side.children if type(side) is Node else side)]  # what is left in open nodes
    if type(side) is Node:
        out.append(f"{_label(side.label)}(")
    space = False  # whether a space stands before the next item
    while levels:
        item: Item
        for item in levels[-1]:
            if space:
                out.append(" ")
            space = True
            if type(item) is str:
                out.append(quoted(item))
            elif type(item) is Variable:
                number = item.number
                if numbers is not None and item.kind == "x":
                    number = numbers[number]
                out.append(f"{item.kind}{number}{_label_of_variable(item.label)}")
            else:
                out.append(f"{_label(item.label)}(")  # type: ignore[union-attr]
                levels.append(iter(item.children))  # type: ignore[union-attr]
                space = False
                break
        else:
            levels.pop()
            out.append(")")
            space = True
    if type(side) is not Node:  # a string has no bracket to close
        out.pop()
    return "".join(out)


def rule_text(rule: Rule) -> str:
    """Return a rule as text: its sides, separated by ``|||``.

    Parameters
    ----------
    rule : The rule.

    Examples
    --------
    >>> rule_text(Rule(Node("NP", (Variable(0, "NN"),)), (Variable(0),)))
    'NP(x0:NN) ||| x0'
    """
    return f"{side_text(rule.source)} ||| {side_text(rule.target)}"


def parse_rule(text: str) -> Rule:
    """Read a rule that `rule_text` wrote.

    Parameters
    ----------
    text : The two sides, separated by ``|||``.

    Raises
    ------
    FormatError : If the text is not a rule; the error contains the column.

    Examples
    --------
    >>> parse_rule('NN("car") ||| "auto"')
    Rule(source=Node(label='NN', children=('car',)), target=('auto',))
    """
    check_arguments(parse_rule, locals())
    source, bars, target = text.partition("|||")
    if not bars:
        raise FormatError("expected SOURCE ||| TARGET", column=len(text) + 1)
    return made_rule(source, target, 1, len(source) + 4)


def made_rule(source: str, target: str, column: int = 1, second: int = 1) -> Rule:
    """Read the two sides of a rule, and number its variables as `Rule` requires.

    column, second : The columns at which the sides begin in their line, for errors.
    """
    with AtColumn(column):
        left, in_source = parse_side(source)
    with AtColumn(second):
        right, in_target = parse_side(target)
    numbers = new_numbers(in_source, in_target, second)
    if numbers is not None:
        left, _ = _parse(source, numbers)
        right, _ = _parse(target, numbers)
    return Rule(left, right)


def new_numbers(in_source: Numbered, in_target: Numbered, column: int = 1) -> dict[int, int] | None:
    """Check the variables of both sides; return their new numbers, if they need any.

    In a `Rule`, the variables of kind "x" are numbered from left to right on the source side.
    """
    if not in_source and not in_target:
        return None
    for names in (in_source, in_target):
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            message = f"variable {_joined(twice)} is given twice on one side"
            raise FormatError(message, column=column)
    if in_source == in_target and in_source == tuple(("x", k) for k in range(len(in_source))):
        return None  # the most frequent case
    source_numbers = [number for kind, number in in_source if kind == "x"]
    target_numbers = {number for kind, number in in_target if kind == "x"}
    unpaired = target_numbers.symmetric_difference(source_numbers)
    if unpaired:
        side = "source" if min(unpaired) in source_numbers else "target"
        message = f"variable x{min(unpaired)} is only on the {side} side"
        raise FormatError(message, column=column)
    for names, wrong in ((in_source, "i"), (in_target, "d")):
        for name in names:
            if name[0] == wrong:
                raise FormatError(
                    f"{_joined(name)} is on the wrong side: deleted variables (d) belong to the "
                    "source side, inserted (i) to the target",
                    column=column,
                )
    if source_numbers == list(range(len(source_numbers))):
        return None
    return {number: k for k, number in enumerate(source_numbers)}


def _joined(name: tuple[str, int]) -> str:
    """Return the kind and number of a variable as text."""
    kind, number = name
    return f"{kind}{number}"


class AtColumn:
    """Shift the column of errors in part of a line to the column in the line."""

    __slots__ = ("_column",)

    def __init__(self, column: int) -> None:
        self._column = column

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, problem: object, trace: object) -> None:
        if isinstance(problem, FormatError):
            column = self._column + (problem.column or 1) - 1
            raise FormatError(problem.message, column=column) from None


@lru_cache(maxsize=1 << 14)
def parse_side(text: str) -> tuple[Side, Numbered]:
    """Read a side of a rule; return it and its variables in their order."""
    return _parse(text, None)


def _parse(text: str, numbers: Mapping[int, int] | None) -> tuple[Side, Numbered]:
    """Read a side; `numbers` replaces those of its variables (kind "x")."""
    numbered: list[tuple[str, int]] = []
    labels: list[str] = []
    levels: list[list[Item]] = [[]]
    items = levels[0]
    try:
        for close, word, opens, kind, digits, tag, label, _ in _TOKEN.findall(text):
            if close:
                levels.pop()
                levels[-1].append(Node(labels.pop(), tuple(items)))
                items = levels[-1]
            elif kind:
                number = int(digits)
                numbered.append((kind, number))
                if numbers is not None and kind == "x":
                    number = numbers[number]
                is_quoted = tag[:1] == tag[-1:] == '"' and tag != '"'
                items.append(Variable(number, intern(unquoted(tag) if is_quoted else tag), kind))
            elif label or opens:
                labels.append(intern(label or unquoted(word)))
                items = []
                levels.append(items)
            elif word:
                items.append(intern(unquoted(word)))
            else:
                raise IndexError
        if labels:
            raise IndexError
    except (IndexError, ValueError):
        raise _refused(text) from None
    if len(items) == 1 and type(items[0]) is Node:
        return items[0], tuple(numbered)
    if any(type(item) is Node for item in items):
        raise _refused(text)
    return tuple(items), tuple(numbered)  # type: ignore[arg-type]


def _refused(text: str) -> FormatError:
    """Return the error of a text that is not a side, with its place."""
    open_nodes: list[int] = []
    trees = 0
    for match in _TOKEN.finditer(text):
        close, word, opens, _, _, tag, label, other = match.groups()
        at = match.end() - len(match[0].lstrip(" \t")) + 1
        if other:
            message = (
                f"found {text[at - 1 : at + 19]!r}, expected "
                'a word in quotation marks, a variable (x0:NP), LABEL( or ")"'
            )
            return FormatError(message, column=at)
        for piece in (word, tag):
            try:
                unquoted(piece if piece and piece[0] == '"' else "")
            except ValueError:
                message = f"{piece[:40]} is not quoted as in JSON"
                return FormatError(message, column=at)
        if close:
            if not open_nodes:
                return FormatError("a closing parenthesis has no opening one", column=at)
            open_nodes.pop()
            trees += not open_nodes
        elif not open_nodes and trees:
            return FormatError("a side is one tree, but something follows it", column=at)
        elif label or opens:
            if not open_nodes and text[: at - 1].strip():
                return FormatError("a tree cannot have other items next to it", column=at)
            open_nodes.append(at)
    if open_nodes:
        return FormatError("this node is not closed: expected ')'", column=open_nodes[-1])
    return FormatError("the side of the rule is empty", column=1)
