"""Turn trees and sides of rules into the outline from which every drawing of them is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

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
        found = [int(kind == "node") for kind in self.kinds]
        for k in range(len(found) - 1, -1, -1):
            parent = self.parents[k]
            if parent >= 0:
                found[parent] = max(found[parent], found[k] + 1)
        return found


def outline_tree(tree: Tree, numbers: Mapping[int, int] | None = None) -> Outline:
    """Outline a tree with its words."""
    known = numbers or {}
    texts: list[str] = []
    kinds: list[Kind] = []
    parents: list[int] = []
    found: list[int] = []
    places: list[int] = []
    above = [-1]
    for step, at in walk(tree.starts.tolist(), tree.ends.tolist(), tree.afters.tolist()):
        if step == "close":
            above.pop()
            continue
        parents.append(above[-1])
        places.append(at)
        if step == "open":
            above.append(len(texts))
            texts.append(tree.labels[at])
            kinds.append("node")
            found.append(known.get(at, -1))
        else:
            texts.append(tree.words[at])
            kinds.append("word")
            found.append(-1)
    return Outline(tuple(texts), tuple(kinds), tuple(parents), tuple(found), tuple(places))


def outline_side(side: Side) -> Outline:
    """Outline a side of a rule: a fragment of a tree, or a string."""
    texts: list[str] = []
    kinds: list[Kind] = []
    parents: list[int] = []
    numbers: list[int] = []
    items = [side] if isinstance(side, Node) else list(side)
    stack = [(item, -1) for item in reversed(items)]
    while stack:
        item, above = stack.pop()
        here, number = len(texts), -1
        parents.append(above)
        if isinstance(item, Node):
            texts.append(item.label)
            kinds.append("node")
            stack += [(child, here) for child in reversed(item.children)]
        elif isinstance(item, Variable):
            name = f"{item.kind}{item.number}"
            texts.append(f"{name}:{item.label}" if item.label else name)
            kinds.append("variable" if item.kind == "x" else "unpaired")
            number = item.number if item.kind == "x" else -1
        else:
            texts.append(item)
            kinds.append("word")
        numbers.append(number)
    empty = (-1,) * len(texts)
    return Outline(tuple(texts), tuple(kinds), tuple(parents), tuple(numbers), empty)
