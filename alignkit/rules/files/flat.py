"""Flatten rules to their symbols, for formats that know no trees, and make rules of symbols."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from alignkit.errors import ArgumentError
from alignkit.rules.files.format import LeftOutError
from alignkit.rules.files.notation import rule_text
from alignkit.rules.rule import Item, Node, Rule, Side, Variable

NO_LABEL = "X"
"""What formats that ask for a label write where there is none, as of strings."""

Symbols = tuple["Variable | str", ...]


class FlatRule(NamedTuple):
    """The root labels of a rule (None: a string, which has none) and the symbols below."""

    source_label: str | None
    target_label: str | None
    source: Symbols
    target: Symbols
    mates: Mapping[int, Variable]
    """The variable of the target side, by its number."""


def leaves(side: Side) -> Symbols:
    """Return the words and variables of a side, in order."""
    if type(side) is not Node:
        return side  # type: ignore[return-value]
    children = side.children
    if not any(type(item) is Node for item in children):
        return children  # type: ignore[return-value]
    items: list[Variable | str] = []
    rest: list[Item] = [side]
    while rest:
        item = rest.pop()
        if type(item) is Node:
            rest.extend(reversed(item.children))
        else:
            items.append(item)  # type: ignore[arg-type]
    return tuple(items)


def variables(side: Side) -> Iterator[Variable]:
    """Yield the variables of a side, in order."""
    return (item for item in leaves(side) if isinstance(item, Variable))


def flatten(rule: Rule) -> FlatRule:
    """Return the symbols of a rule."""
    source, target = leaves(rule.source), leaves(rule.target)
    ours = [item for item in source if type(item) is Variable]
    theirs = [item for item in target if type(item) is Variable]
    if any(item.kind != "x" for item in (*ours, *theirs)):
        raise LeftOutError("deleted or inserted variables")
    if not source or not target:
        raise LeftOutError("a side without words and variables")
    mates = {item.number: item for item in theirs}
    if len(mates) < len(theirs) or sorted(mates) != sorted(item.number for item in ours):
        raise ArgumentError(f"the variables of both sides differ: {rule_text(rule)[:200]}")
    labels = [side.label if type(side) is Node else None for side in rule]
    return FlatRule(labels[0], labels[1], source, target, mates)


def labels_differ(flat: FlatRule) -> bool:
    """Return whether a root or a variable has two labels, one on each side."""
    if (
        None not in (flat.source_label, flat.target_label)
        and flat.source_label != flat.target_label
    ):
        return True
    return any(
        type(item) is Variable
        and item.label
        and flat.mates[item.number].label not in ("", item.label)
        for item in flat.source
    )


def variable_links(source: Symbols, target: Symbols) -> list[tuple[int, int]]:
    """Return the places of each variable that is on both sides."""
    places = {item[::2]: j for j, item in enumerate(target) if type(item) is Variable}
    return [
        (i, places[item[::2]])
        for i, item in enumerate(source)
        if type(item) is Variable and item[::2] in places
    ]
