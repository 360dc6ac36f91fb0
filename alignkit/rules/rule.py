"""A synchronous rule: two fragments of trees, or strings, that share their variables."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class Variable(NamedTuple):
    """Stand for what another rule rewrites, or (kind "d") for what is deleted or inserted.

    Shown as ``x0:NP``; in a string, which has no labels, as ``x0``.
    """

    number: int
    label: str = ""
    kind: str = "x"


class Node(NamedTuple):
    """A node of a fragment: its label and, in order, nodes, variables and words."""

    label: str
    children: tuple[Item, ...]


Item: TypeAlias = "Node | Variable | str"
Side: TypeAlias = "Node | tuple[Variable | str, ...]"
"""One side of a rule: a fragment of a tree; or, of string-to-tree rules, a string.

A side of a hiero or SAMT rule is a `Node` of its left-hand label with words and variables below.
"""


class Rule(NamedTuple):
    """Pair a source and a target side.

    Variables are numbered from 0, left to right on the source side; a variable stands once on each
    side, but a deleted one (kind "d") on the source side only, an inserted one ("i") on the target
    side only.
    """

    source: Side
    target: Side
