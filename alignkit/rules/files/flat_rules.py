"""Rules as formats without trees have them: the labels of both roots, and the symbols below.

``NP(DT("the") x0:NN) ||| NP("das" x0:NN)`` becomes the labels NP and NP, and the symbols ``the x0``
and ``das x0``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from alignkit.errors import ArgumentError
from alignkit.rules.files.fields import LeftOutError
from alignkit.rules.files.notation import rule_text
from alignkit.rules.grammar import Rule, Symbols, Variable, leaves, root_labels, variables

NO_LABEL = "X"  # the label in formats that require one, for nodes without labels such as strings


class FlatRule(NamedTuple):
    """A rule without the nodes between its roots and its words and variables.

    A root label is None if the side is a string.
    """

    source_label: str | None
    target_label: str | None
    source: Symbols
    target: Symbols
    mates: Mapping[int, Variable]  # the variable of the target side, by its number


def flatten(rule: Rule) -> FlatRule:
    """Return the root labels and the symbols of a rule.

    Raises
    ------
    LeftOutError : If formats of flat rules cannot represent the rule.
    ArgumentError : If the variables of both sides differ.
    """
    source = leaves(rule.source)
    target = leaves(rule.target)
    source_variables = variables(source)
    target_variables = variables(target)
    if any(item.kind != "x" for item in (*source_variables, *target_variables)):
        raise LeftOutError("deleted or inserted variables")
    if not source or not target:
        raise LeftOutError("a side without words and variables")
    mates = {item.number: item for item in target_variables}
    numbers = sorted(item.number for item in source_variables)
    if len(mates) < len(target_variables) or sorted(mates) != numbers:
        raise ArgumentError(f"the variables of both sides differ: {rule_text(rule)[:200]}")
    return FlatRule(*root_labels(rule), source, target, mates)


def labels_differ(flat: FlatRule) -> bool:
    """Return whether a root or a variable has different labels on the two sides."""
    labels = {flat.source_label, flat.target_label} - {None}
    if len(labels) == 2:
        return True
    for item in flat.source:
        if type(item) is Variable and item.label:
            mate = flat.mates[item.number]
            if mate.label not in ("", item.label):
                return True
    return False


def renumbered(symbols: Symbols, numbers: Mapping[int, int]) -> Symbols:
    """Return a side with new numbers of its variables, given by the old ones."""
    items: list[Variable | str] = []
    for item in symbols:
        if isinstance(item, Variable):
            items.append(item._replace(number=numbers[item.number]))
        else:
            items.append(item)
    return tuple(items)


def variable_links(source: Symbols, target: Symbols) -> list[tuple[int, int]]:
    """Return the positions of each variable that is on both sides."""
    places: dict[tuple[str, int], int] = {}
    for j, item in enumerate(target):
        if type(item) is Variable:
            places[item.kind, item.number] = j
    links = []
    for i, item in enumerate(source):
        if type(item) is Variable and (item.kind, item.number) in places:
            links.append((i, places[item.kind, item.number]))
    return links
