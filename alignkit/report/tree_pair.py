"""Collect what a drawing of two trees shows, in no particular medium."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from alignkit.alignment import Alignment
from alignkit.brief import brief, brief_annotators
from alignkit.errors import OptionError, UnknownNameError
from alignkit.report.tree_outline import Kind, Outline, outline_tree
from alignkit.sentence_pair import SentencePair
from alignkit.trees import Tree

_NO_LINKS = Alignment()
_MOST_WORDS = 12  # that a remark on a node tells


@dataclass(frozen=True)
class TreePair:
    """Two trees, either of which may be missing, with their links and matched nodes."""

    id: str  # the id of the sentence pair
    words: tuple[tuple[str, ...], tuple[str, ...]]  # the source and the target words
    trees: tuple[Tree | None, Tree | None]
    annotator: str = ""  # whose links are drawn; none if nobody's are
    alignment: Alignment = _NO_LINKS
    links: str = "sure"  # "sure" or "possible": the links by which nodes are matched
    matched: Sequence[tuple[int, int]] = ()

    def outlines(self) -> tuple[Outline, Outline]:
        """Outline both sides; a side without a tree is a row of words."""
        first, second = (
            outline_tree(tree, {pair[side]: k for k, pair in enumerate(self.matched, 1)})
            if (tree := self.trees[side]) is not None
            else _row(self.words[side])
            for side in (0, 1)
        )
        return first, second

    def said_of_nodes(self, side: int) -> dict[int, str]:
        """Describe each node of a side: what is below it, and what is below its mate."""
        tree, other = self.trees[side], self.trees[1 - side]
        said = {} if tree is None else {u: _said(tree, u) for u in range(len(tree.labels))}
        if other is not None:
            for pair in self.matched:
                said[pair[side]] += f" ~ {_said(other, pair[1 - side])}"
        return said

    def said_of_links(self) -> dict[tuple[int, int], str]:
        """Describe each link: ``they ~ they: sure``."""
        source, target = self.words
        return {
            link: f"{source[link.i]} ~ {target[link.j]}: {'sure' if sure else 'possible'}"
            for link, sure in self.alignment.items()
        }

    def counts(self) -> tuple[int, int]:
        """Return how many links are sure, and how many are only possible."""
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
    """Collect what is drawn of a sentence pair and its trees."""
    if links not in ("sure", "possible"):
        raise UnknownNameError("kind of links", links, ("sure", "possible"))
    aligned = pair.alignments
    if annotator is None:
        if len(aligned) > 1:
            names = brief_annotators(aligned)
            raise OptionError(f"pair {brief(pair.id)!r} is aligned by {names}; name one of them")
        annotator = next(iter(aligned), "")
    alignment = pair.alignment(annotator) if annotator else _NO_LINKS
    source, target = _tree(pair, "source", source_tree), _tree(pair, "target", target_tree)
    if source is None is target and (source_tree or target_tree):
        pair.tree("source" if source_tree else "target", source_tree or target_tree)  # an error
    matched: list[tuple[int, int]] = []
    if annotator and source is not None and target is not None:
        from alignkit.rules import extract_rules  # compiled code, which takes a second

        rules = extract_rules(
            pair, links=links, annotator=annotator, source_tree=source, target_tree=target
        )
        matched = [(u, v) for u, v in rules.matched.tolist()]
    return TreePair(pair.id, pair.words, (source, target), annotator, alignment, links, matched)


def _row(words: tuple[str, ...]) -> Outline:
    word: Kind = "word"
    none = (-1,) * len(words)
    return Outline(words, (word,) * len(words), none, none, tuple(range(len(words))))


def _said(tree: Tree, node: int) -> str:
    start, end = int(tree.starts[node]), int(tree.ends[node])
    words = tree.words[start : min(end, start + _MOST_WORDS)]
    more = " …" if end > start + _MOST_WORDS else ""
    return f"{tree.labels[node]}: {' '.join(words)}{more}" if words else tree.labels[node]


def _tree(pair: SentencePair, side: str, name: str | None) -> Tree | None:
    trees = pair.source_trees if side == "source" else pair.target_trees
    return pair.tree(side, name) if trees and name in {None, *trees} else None
