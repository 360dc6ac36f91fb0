"""Put trees together again from the rules of a derivation."""

from __future__ import annotations

from collections.abc import Sequence

from alignkit.model.trees import Tree
from alignkit.rules.grammar import Item, Node, Rule, Side, Variable, variables


def recompose(rules: Sequence[Rule]) -> tuple[Tree | tuple[str, ...], Tree | tuple[str, ...]]:
    """Put both sides together from rules, each followed by those of its variables, x0 first."""
    below: list[list[int]] = [[] for _ in rules]  # the rules of the variables of each
    wanted = [len(variables(rule.source)) for rule in rules]  # how many these will be
    open_rules = [0]  # the last rule, and those above it
    for k in range(1, len(rules)):
        while len(below[open_rules[-1]]) == wanted[open_rules[-1]]:
            open_rules.pop()
        below[open_rules[-1]].append(k)
        open_rules.append(k)
    source = _expanded([rule.source for rule in rules], below)
    target = _expanded([rule.target for rule in rules], below)
    return source, target


def _expanded(sides: Sequence[Side], below: Sequence[Sequence[int]]) -> Tree | tuple[str, ...]:
    """Put one side together: the tree, or the words if the sides are strings.

    below: The rules that replace the variables of each rule, by the number of the variable.
    """
    words: list[str] = []
    labels: list[str] = []
    parents: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    afters: list[int] = []
    top = -1
    # a stack of what is still to be read, and its rule; None is the end of a node
    left: list[tuple[Item | Side | None, int]] = [(sides[0], 0)]
    while left:
        item, rule = left.pop()
        if item is None:
            ends[top] = len(words)
            afters[top] = len(labels)
            top = parents[top]
        elif isinstance(item, Variable):
            inner = below[rule][item.number]
            left.append((sides[inner], inner))
        elif isinstance(item, str):
            words.append(item)
        elif not isinstance(item, Node):  # a string
            left += ((part, rule) for part in reversed(item))
        else:
            parents.append(top)
            starts.append(len(words))
            ends.append(0)
            afters.append(0)
            top = len(labels)
            labels.append(item.label)
            left.append((None, rule))
            left += ((child, rule) for child in reversed(item.children))
    if labels:
        return Tree.trusted(tuple(words), tuple(labels), parents, starts, ends, afters)
    return tuple(words)
