"""Outline trees and sides of rules, lay out the outlines, and collect what a drawing shows.

Texts and SVG images are drawn from this (`alignkit.rules.drawings.text`, `.svg`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from alignkit._support.arguments import check_known
from alignkit._support.wording import brief, brief_annotators
from alignkit.errors import OptionError
from alignkit.model.alignment import Alignment
from alignkit.model.sentence_pair import SentencePair, tree_of_pair
from alignkit.model.trees import Tree
from alignkit.rules.grammar import Node, Side, Variable, preorder

Kind = Literal["node", "word", "variable", "unpaired"]


class OutlineItem(NamedTuple):
    """An item that a drawing of a tree, a string or a side of a rule shows."""

    text: str
    kind: Kind  # "unpaired" is a variable that the other side lacks
    parent: int  # the item above; -1 for a root
    number: int = -1  # what is drawn at a node or variable; -1 for none
    place: int = -1  # the number of a node or word within its tree; -1 for none


Outline = Sequence[OutlineItem]
"""The n items of a drawing, in preorder; those of a string are n roots."""


def children(outline: Outline) -> list[list[int]]:
    """List the items below each item, in order."""
    below: list[list[int]] = [[] for _ in outline]
    for k, item in enumerate(outline):
        if item.parent >= 0:
            below[item.parent].append(k)
    return below


def _levels(outline: Outline) -> list[int]:
    """Return the height of each item above the words; words and variables are at 0."""
    levels = [int(item.kind == "node") for item in outline]
    for k in range(len(levels) - 1, -1, -1):
        parent = outline[k].parent
        if parent >= 0:
            levels[parent] = max(levels[parent], levels[k] + 1)
    return levels


def outline_tree(tree: Tree, numbers: Mapping[int, int] | None = None) -> Outline:
    """Outline a tree with its words; `numbers` has the numbers of matched nodes."""
    numbers = numbers or {}
    items: list[OutlineItem] = []
    above = [-1]  # the open nodes, by their places in `items`
    for step, at in tree.walk():
        if step == "open":
            number = numbers.get(at, -1)
            items.append(OutlineItem(tree.labels[at], "node", above[-1], number, place=at))
            above.append(len(items) - 1)
        elif step == "word":
            items.append(OutlineItem(tree.words[at], "word", above[-1], place=at))
        else:
            above.pop()
    return items


def outline_side(side: Side) -> Outline:
    """Outline a side of a rule: a fragment of a tree, or a string."""
    items: list[OutlineItem] = []
    above = [-1]
    for item in preorder(side):
        if item is None:
            above.pop()
        elif isinstance(item, Node):
            items.append(OutlineItem(item.label, "node", above[-1]))
            above.append(len(items) - 1)
        elif isinstance(item, Variable):
            text = f"{item.kind}{item.number}"
            if item.label:
                text += f":{item.label}"
            if item.kind == "x":
                items.append(OutlineItem(text, "variable", above[-1], item.number))
            else:
                items.append(OutlineItem(text, "unpaired", above[-1]))
        else:
            items.append(OutlineItem(item, "word", above[-1]))
    return items


@dataclass(frozen=True, slots=True)
class TreeLayout:
    """The positions of the items of an outline."""

    middles: Sequence[float]  # (n,) the middle of each item, in pixels from the left
    levels: Sequence[int]  # (n,) the rows above the words, see `_levels`
    width: float  # the pixels that all take
    height: int  # the rows above the words

    def stretched(self, width: float) -> TreeLayout:
        """Return the layout with its middles spread out to fill a width."""
        if not self.width or width <= self.width:
            return self
        factor = width / self.width
        return TreeLayout([x * factor for x in self.middles], self.levels, width, self.height)


def lay_out(outline: Outline, measure: Callable[[OutlineItem], float], gap: float) -> TreeLayout:
    """Place the items of an outline; `measure` gives the pixels of an item, `gap` those beside it.

    Each item has a column of its own that is wide enough for its text and for the columns of the
    items below. Within its column, it is put above the middle of these items.
    """
    texts = [measure(item) + gap for item in outline]  # the width of each text
    within = [0.0] * len(texts)  # the width of the columns below
    wide = texts[:]  # the width of each column
    for k in range(len(texts) - 1, -1, -1):
        wide[k] = max(texts[k], within[k])
        parent = outline[k].parent
        if parent >= 0:
            within[parent] += wide[k]
    lefts, total = _lefts(outline, wide, within)
    middles = [left + width / 2 for left, width in zip(lefts, wide, strict=True)]
    _put_above_children(outline, middles, lefts, wide, texts)
    levels = _levels(outline)
    return TreeLayout(middles, levels, total, max(levels, default=0))


def _lefts(outline: Outline, wide: list[float], within: list[float]) -> tuple[list[float], float]:
    """Return the left end of each column, and the width of all roots."""
    lefts: list[float] = []
    next_lefts: list[float] = []  # where the next item below each starts
    next_root = 0.0
    for k, item in enumerate(outline):
        if item.parent < 0:
            left = next_root
            next_root += wide[k]
        else:
            left = next_lefts[item.parent]
            next_lefts[item.parent] += wide[k]
        lefts.append(left)
        next_lefts.append(left + (wide[k] - within[k]) / 2)
    return lefts, next_root


def _put_above_children(
    outline: Outline,
    middles: list[float],
    lefts: list[float],
    wide: list[float],
    texts: list[float],
) -> None:
    """Move each item above the middle of the items below, as far as its column allows.

    lefts, wide, texts: The left end and the width of each column, and the width of its text.
    """
    below = children(outline)
    for k in reversed(range(len(below))):  # items come before those below them
        if below[k]:
            low = lefts[k] + texts[k] / 2
            high = lefts[k] + wide[k] - texts[k] / 2
            middle = (middles[below[k][0]] + middles[below[k][-1]]) / 2
            middles[k] = min(max(middle, low), high)


_NO_LINKS = Alignment()
_MOST_WORDS = 12  # of a node, in the text about it


@dataclass(frozen=True)
class TreePair:
    """Two trees (either may be missing) with their links and matched nodes."""

    id: str  # the id of the sentence pair
    words: tuple[tuple[str, ...], tuple[str, ...]]  # the source and the target words
    trees: tuple[Tree | None, Tree | None]
    annotator: str = ""  # whose links are drawn; none if nobody's are
    alignment: Alignment = _NO_LINKS
    links: str = "sure"  # "sure" or "possible": the links by which nodes are matched
    matched: Sequence[tuple[int, int]] = ()

    def outlines(self) -> tuple[Outline, Outline]:
        """Outline both sides; a side without a tree is a row of words."""
        return self._outline(0), self._outline(1)

    def _outline(self, side: int) -> Outline:
        """Outline a side: 0 is the source, 1 the target."""
        tree = self.trees[side]
        if tree is None:
            words = enumerate(self.words[side])
            return [OutlineItem(word, "word", -1, place=k) for k, word in words]
        numbers = {pair[side]: number for number, pair in enumerate(self.matched, 1)}
        return outline_tree(tree, numbers)

    def node_texts(self, side: int) -> dict[int, str]:
        """Describe each node of a side: its words, and the words of its matched node."""
        tree = self.trees[side]
        other = self.trees[1 - side]
        if tree is None:
            return {}
        texts = {node: _node_text(tree, node) for node in range(len(tree.labels))}
        if other is not None:
            for pair in self.matched:
                texts[pair[side]] += f" ~ {_node_text(other, pair[1 - side])}"
        return texts

    def link_texts(self) -> dict[tuple[int, int], str]:
        """Describe each link: ``they ~ they: sure``."""
        source, target = self.words
        texts: dict[tuple[int, int], str] = {}
        for link, sure in self.alignment.items():
            kind = "sure" if sure else "possible"
            texts[link] = f"{source[link.i]} ~ {target[link.j]}: {kind}"
        return texts

    def counts(self) -> tuple[int, int]:
        """Return the number of sure links, and of links that are only possible."""
        sure = len(self.alignment.sure)
        return sure, len(self.alignment.possible) - sure


def make_tree_pair(
    pair: SentencePair,
    annotator: str | None = None,
    *,
    links: str = "sure",
    source_tree: str | None = None,
    target_tree: str | None = None,
) -> TreePair:
    """Collect the content of a drawing of a sentence pair and its trees.

    Parameters
    ----------
    pair : The sentence pair.
    annotator : Whose links are drawn; None if there is only one, or none.
    links : The links by which nodes are matched: ``"sure"`` or ``"possible"``.
    source_tree, target_tree : The names of the trees; None for the only one of a side. A side
        without a tree of the name is drawn without a tree, unless neither side has one.

    Raises
    ------
    OptionError : If several annotators aligned the pair and none is named, or a tree is ambiguous.
    """
    check_known("kind of links", links, ("sure", "possible"))
    aligned = pair.alignments
    if annotator is None:
        if len(aligned) > 1:
            names = brief_annotators(aligned)
            raise OptionError(f"pair {brief(pair.id)!r} is aligned by {names}; name one of them")
        annotator = next(iter(aligned), "")
    alignment = pair.alignment(annotator) if annotator else _NO_LINKS
    source = tree_of_pair(pair, "source", source_tree)
    target = tree_of_pair(pair, "target", target_tree)
    if source is None and target is None:
        for side, name in (("source", source_tree), ("target", target_tree)):
            if name:
                pair.tree(side, name)  # raises the error of a tree that is missing
    matched: list[tuple[int, int]] = []
    if annotator and source is not None and target is not None:
        from alignkit.rules.derivation import derivation  # compiled code, which takes a second

        rules = derivation.extract_rules(
            pair, links=links, annotator=annotator, source_tree=source, target_tree=target
        )
        matched = [(u, v) for u, v in rules.matched.tolist()]
    return TreePair(pair.id, pair.words, (source, target), annotator, alignment, links, matched)


def _node_text(tree: Tree, node: int) -> str:
    """Return the label and the first words of a node."""
    start, end = tree.span(node)
    words = tree.words[start : min(end, start + _MOST_WORDS)]
    more = " …" if end > start + _MOST_WORDS else ""
    if words:
        return f"{tree.labels[node]}: {' '.join(words)}{more}"
    return tree.labels[node]
