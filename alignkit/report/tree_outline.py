"""Turn trees and sides of rules into the outline from which every drawing of them is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from alignkit.rules.rule import Node, Side, Variable
from alignkit.trees import Tree
from alignkit.trees.brackets import walk

Kind = Literal["node", "word", "variable", "unpaired"]


@dataclass(frozen=True, slots=True)
class Outline:
    """What a drawing shows of a tree or of a string, in preorder."""

    texts: tuple[str, ...]
    kinds: tuple[Kind, ...]  # what each is; "unpaired" is a variable that the other side has not
    parents: tuple[int, ...]  # (n,) the item above each; -1 for a root. A string is a row of roots
    numbers: tuple[int, ...]
    places: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.texts)

    def children(self) -> list[list[int]]:
        """List the items below each item, in order."""
        below: list[list[int]] = [[] for _ in self.texts]
        for k, parent in enumerate(self.parents):
            if parent >= 0:
                below[parent].append(k)
        return below

    def levels(self) -> list[int]:
        """Return how far each item stands above the words: words and variables at 0."""
        levels = [int(kind == "node") for kind in self.kinds]
        for k in range(len(levels) - 1, -1, -1):
            if (parent := self.parents[k]) >= 0:
                levels[parent] = max(levels[parent], levels[k] + 1)
        return levels


def outline_tree(tree: Tree, numbers: Mapping[int, int] | None = None) -> Outline:
    """Outline a tree with its words."""
    rows: list[_Row] = []
    above = [-1]
    for step, at in walk(tree.starts.tolist(), tree.ends.tolist(), tree.afters.tolist()):
        if step == "open":
            rows.append((tree.labels[at], "node", above[-1], (numbers or {}).get(at, -1), at))
            above.append(len(rows) - 1)
        elif step == "word":
            rows.append((tree.words[at], "word", above[-1], -1, at))
        else:
            above.pop()
    return _outline(rows)


_Row = tuple[str, Kind, int, int, int]


def _outline(rows: list[_Row]) -> Outline:
    columns: list[Any] = [*zip(*rows, strict=True)] or [()] * 5
    return Outline(*columns)


def outline_side(side: Side) -> Outline:
    """Outline a side of a rule: a fragment of a tree, or a string."""
    rows: list[_Row] = []
    items = [side] if isinstance(side, Node) else list(side)
    stack = [(item, -1) for item in reversed(items)]
    while stack:
        item, above = stack.pop()
        if isinstance(item, Node):
            stack += [(child, len(rows)) for child in reversed(item.children)]
            rows.append((item.label, "node", above, -1, -1))
        elif isinstance(item, Variable):
            name = f"{item.kind}{item.number}"
            text = f"{name}:{item.label}" if item.label else name
            paired = item.kind == "x"
            kind: Kind = "variable" if paired else "unpaired"
            rows.append((text, kind, above, item.number if paired else -1, -1))
        else:
            rows.append((item, "word", above, -1, -1))
    return _outline(rows)
