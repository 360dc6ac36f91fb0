"""Exchange the columns of trees with nltk, in both directions without recursion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from alignkit.arguments import check_kind
from alignkit.errors import TreeError
from alignkit.trees.brackets import Brackets, walk

if TYPE_CHECKING:
    import nltk

_MOST = 500
"""The depth up to which nltk handles trees, unless the user tells it otherwise."""


def to_nltk(
    words: Sequence[str],
    labels: Sequence[str],
    columns: tuple[Sequence[int], Sequence[int], Sequence[int]],
    depth: int,
) -> nltk.Tree:
    """Return a tree of nltk; the columns are starts, ends and afters. See `Tree.to_nltk`."""
    import nltk.tree.tree

    most = int(getattr(nltk.tree.tree, "MAX_TREE_DEPTH", _MOST))
    if depth > most:
        raise TreeError(
            f"the tree is {depth} nodes deep, and nltk handles {most}; alignkit's own tree has no "
            "such limit"
        )
    stack: list[Any] = [[]]
    for kind, at in walk(*columns):
        if kind == "open":
            node = nltk.Tree(labels[at], [])
            stack[-1].append(node)
            stack.append(node)
        elif kind == "word":
            stack[-1].append(words[at])
        else:
            stack.pop()
    root: nltk.Tree = stack[0][0]
    return root


def from_nltk(tree: nltk.Tree) -> Brackets:
    """Return the columns of a tree of nltk; see `Tree.from_nltk`."""
    import nltk

    check_kind("tree", tree, nltk.Tree)
    read = Brackets(joined=1)
    waiting: list[tuple[Any, int]] = [(tree, -1)]  # None and the node where a node ends
    while waiting:
        child, parent = waiting.pop()
        if child is None:
            read.ends[parent], read.afters[parent] = len(read.words), len(read.labels)
        elif isinstance(child, nltk.Tree):
            check_kind("a label", child.label(), str)
            node = len(read.labels)
            read.labels.append(child.label())
            read.parents.append(parent)
            read.starts.append(len(read.words))
            read.ends.append(0)
            read.afters.append(0)
            waiting.append((None, node))
            waiting += ((below, node) for below in reversed(child))
        else:
            check_kind("a leaf", child, str)
            read.words.append(child)
    return read
