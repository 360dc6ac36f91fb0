"""Put trees together again from the rules of a derivation."""

from __future__ import annotations

from collections.abc import Sequence

from alignkit.rules.rule import Item, Node, Rule, Side, Variable
from alignkit.trees import Tree


def recompose(rules: Sequence[Rule]) -> tuple[Tree | tuple[str, ...], Tree | tuple[str, ...]]:
    """Put both sides together from rules, each followed by those of its variables, x0 first."""
    below = _below(rules)
    source, target = ([rule[side] for rule in rules] for side in (0, 1))
    return _expanded(source, below), _expanded(target, below)


def _below(rules: Sequence[Rule]) -> list[list[int]]:
    wanted = [_count(rule.source) for rule in rules]
    below: list[list[int]] = [[] for _ in rules]
    open_rules = [0]
    for k in range(1, len(rules)):
        while len(below[open_rules[-1]]) == wanted[open_rules[-1]]:
            open_rules.pop()
        below[open_rules[-1]].append(k)
        open_rules.append(k)
    return below


def _items(side: Side) -> tuple[Item, ...]:
    return (side,) if isinstance(side, Node) else side


def _count(side: Side) -> int:
    count, left = 0, list(_items(side))
    while left:
        item = left.pop()
        if isinstance(item, Node):
            left += item.children
        count += isinstance(item, Variable)
    return count


def _expanded(sides: Sequence[Side], below: Sequence[Sequence[int]]) -> Tree | tuple[str, ...]:
    words: list[str] = []
    labels: list[str] = []
    parents: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    afters: list[int] = []
    top = -1
    left: list[tuple[Item | None, int]] = [(item, 0) for item in reversed(_items(sides[0]))]
    while left:
        item, rule = left.pop()
        if item is None:
            ends[top], afters[top] = len(words), len(labels)
            top = parents[top]
        elif isinstance(item, Variable):
            inner = below[rule][item.number]
            left += ((part, inner) for part in reversed(_items(sides[inner])))
        elif isinstance(item, str):
            words.append(item)
        else:
            parents.append(top)
            starts.append(len(words))
            ends.append(0)
            afters.append(0)
            top = len(labels)
            labels.append(item.label)
            left.append((None, rule))
            left += ((child, rule) for child in reversed(item.children))
    if not labels:
        return tuple(words)
    return Tree.trusted(tuple(words), tuple(labels), parents, starts, ends, afters)
