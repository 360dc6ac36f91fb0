"""Derive sentence pairs by matched nodes: the arrays of many derivations at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from threading import Lock

import numpy as np

from alignkit._support.arguments import check_count
from alignkit._support.array_types import F8, I4, I8
from alignkit._support.jit import readonly
from alignkit.errors import OptionError
from alignkit.model.arrays import LinkArrays, gather
from alignkit.model.trees import Tree
from alignkit.rules.derivation import cuts_kernel, nodes_kernel
from alignkit.rules.tables.runs import offsets_of, places_within

SPAN = slice(1, 3)
"""The rows of `TreeArrays.nodes` with the starts and ends of the spans."""

_COLUMNS = ("parents", "starts", "ends", "afters")
_NONE = np.empty(0, np.int32)
_NUMBERING = Lock()


class NameNumbers(dict[str, int]):
    """Number labels or words as they come: ``names["NP"]``; texts are compared exactly."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __missing__(self, name: str) -> int:
        with _NUMBERING:
            if name in self:  # another thread came first
                return self[name]
            check_count("different labels or words", len(self) + 1)
            self.texts.append(name)
            number = len(self)
            self[name] = number
        return number

    def encode(self, texts: Iterable[str], count: int) -> I4:
        """Return the numbers of `count` texts."""
        return np.fromiter(map(self.__getitem__, texts), np.int32, count)


@dataclass(frozen=True, eq=False)
class TreeArrays:
    """P trees, or strings, one after the other."""

    nodes: I4  # (4, n) int32: parents, starts, ends and afters of all nodes; see `Tree`
    labels: I4  # (n,) int32: the numbers of their labels
    offsets: I8  # (P + 1,) int64: where the nodes of each tree begin
    words: I4  # (T,) int32: the numbers of all words
    word_offsets: I8  # (P + 1,) int64: where the words of each tree begin

    @classmethod
    def pack(
        cls,
        trees: Sequence[Tree | None],
        sentences: Sequence[Sequence[str]],
        labels: NameNumbers,
        words: NameNumbers,
    ) -> TreeArrays:
        """Make the arrays of some sentences, with their trees if they have any."""
        offsets = offsets_of([0 if tree is None else len(tree.labels) for tree in trees])
        word_offsets = offsets_of([len(sentence) for sentence in sentences])
        check_count("nodes", int(offsets[-1]))
        known = [tree for tree in trees if tree is not None]
        columns = [_NONE]  # so that there is one without trees
        for name in _COLUMNS:
            columns += [getattr(tree, name) for tree in known]
        names = chain.from_iterable(tree.labels for tree in known)
        return cls(
            readonly(np.concatenate(columns).reshape(4, -1)),
            readonly(labels.encode(names, int(offsets[-1]))),
            readonly(offsets),
            readonly(words.encode(chain.from_iterable(sentences), int(word_offsets[-1]))),
            readonly(word_offsets),
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def span(self, k: int, node: int) -> tuple[int, int]:
        """Return the half-open span of words below a node of tree k."""
        start, end = self.nodes[SPAN, self.offsets[k] + node].tolist()
        return start, end

    def of(self, k: int) -> TreeArrays:
        """Return the arrays of tree k only."""
        nodes = slice(*self.offsets[k : k + 2])
        words = slice(*self.word_offsets[k : k + 2])
        return TreeArrays(
            readonly(self.nodes[:, nodes]),
            readonly(self.labels[nodes]),
            readonly(_from_zero(self.offsets, k)),
            readonly(self.words[words]),
            readonly(_from_zero(self.word_offsets, k)),
        )


MOST = 20_000_000
"""The most composed rules in one block of pairs; their number grows fast with the size."""


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of P pairs: chains of nodes on both sides with the same links."""

    source_chains: I4  # the nodes of the chains of C classes, each from the top down
    source_begins: I8  # (C + 1,) int64: where the chains of each class begin
    target_chains: I4
    target_begins: I8
    offsets: I8  # (P + 1,) int64: where the classes of each pair begin
    of_source: I4  # the class of each node of all trees, counted within its pair; -1 for none
    of_target: I4


@dataclass(frozen=True, eq=False)
class Cuts:
    """The nodes at the borders of R rules, which define a rule apart from labels and words."""

    roots: I4  # (R, 2) int32: the source and the target node
    variables: I4  # (V, 2) int32: likewise
    offsets: I8  # (R + 1,) int64: where the variables of each rule begin
    pairs: I4  # (R,) int32: the sentence pair of each rule, rising
    counts: F8 | None = None  # (R,) float64; None if each counts 1

    def __len__(self) -> int:
        return len(self.roots)


@dataclass(frozen=True, eq=False)
class Fragments:
    """R rules as sequences of numbers; see `alignkit.rules.derivation.cuts_kernel`."""

    symbols: I4  # (S,) int32: source and target side of each rule
    offsets: I8  # (2 R + 1,) int64: where each side begins
    links: I4  # the positions i, j of linked words, one pair after the other
    link_offsets: I8  # (R + 1,) int64: where those of each rule begin
    figures: I4  # (R, 5) int32: the variables, the nodes of each side, the depth of each side


@dataclass(frozen=True, eq=False)
class Derivations:
    """The derivations of P sentence pairs."""

    source: TreeArrays  # the trees; of a side that is a string, the spans of its frontier
    target: TreeArrays
    links: LinkArrays  # the links that were derived from; all of them count
    matched: I4  # (R, 2) int32: the matched nodes, source and target, in preorder of the source
    parents: I4  # (R,) int32: the place in `matched` of the next above, within its pair; or -1
    afters: I4  # (R,) int32: the first that is not below each, likewise
    offsets: I8  # (P + 1,) int64: where the derivation of each pair begins
    strings: tuple[bool, bool] = (False, False)  # whether the source, and the target, is a string

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def classes(self) -> Classes | None:
        """The classes of nodes; None if a side is a string."""
        if any(self.strings):
            return None
        source = self.source
        target = self.target
        links, link_offsets = _positions(self.links)
        of_source, of_target, offsets = nodes_kernel.find_classes(
            source.nodes, source.offsets, target.nodes, target.offsets, links, link_offsets
        )
        source_chains = nodes_kernel.find_chains(of_source, source.offsets, offsets)
        target_chains = nodes_kernel.find_chains(of_target, target.offsets, offsets)
        return Classes(*source_chains, *target_chains, offsets, of_source, of_target)

    def of(self, k: int) -> Derivations:
        """Return the derivation of pair k only."""
        nodes = slice(*self.offsets[k : k + 2])
        return Derivations(
            self.source.of(k),
            self.target.of(k),
            self.links.part(k, k + 1),
            self.matched[nodes],
            self.parents[nodes],
            self.afters[nodes],
            _from_zero(self.offsets, k),
            self.strings,
        )

    def minimal(self) -> Cuts:
        """Return a rule for each matched pair of nodes, cut at the next matched pairs below."""
        below, begins, pairs = _children(self.parents, self.offsets)
        return Cuts(self.matched, self.matched[below], begins, pairs)

    def composed(self, size: int) -> Cuts:
        """Return the rules of `size` connected nodes of a derivation each."""
        if size == 1:
            return self.minimal()
        total = cuts_kernel.count_composed(self.parents, self.offsets, size).sum()
        if total > MOST:
            raise OptionError(
                f"{total:,.0f} rules are made of {size} minimal ones each; at most "
                f"{MOST:,} fit in memory: use a smaller size"
            )
        cuts = cuts_kernel.compose(self.matched, self.afters, self.offsets, size, int(total))
        return Cuts(*cuts)

    def everywhere(self) -> Cuts:
        """Return the rule of every consistent pair of nodes, with its count.

        The pairs of a class are each node of its source chain with each of its target chain. With p
        and q nodes, at most min(p, q) of the p q pairs are in one derivation, so the count of each
        is min(p, q) / (p q).
        """
        if self.classes is None:
            raise OptionError("the rules of all consistent nodes require trees on both sides")
        classes = self.classes
        sources = classes.source_chains
        targets = classes.target_chains
        source_begins = classes.source_begins
        target_begins = classes.target_begins
        tops = np.stack([sources[source_begins[:-1]], targets[target_begins[:-1]]], axis=1)
        parents, _ = _nested(self.source, tops[:, 0], classes.offsets)
        below, below_begins, pairs = _children(parents, classes.offsets)
        of_class, i, j = _chain_pairs(classes)
        # inside the class, the next node of both chains is the only variable
        goes_on_in_source = i + 1 < source_begins[of_class + 1]
        goes_on_in_target = j + 1 < target_begins[of_class + 1]
        inside = goes_on_in_source & goes_on_in_target
        sizes = np.where(inside, 1, np.diff(below_begins)[of_class])
        offsets = offsets_of(sizes)
        next_nodes = np.stack([sources[i[inside] + 1], targets[j[inside] + 1]], axis=1)
        # at the end of a chain, the classes below are the variables
        places, _ = gather(below_begins, of_class[~inside])
        variables = np.empty((offsets[-1], 2), np.int32)
        of_inside = np.zeros(len(variables), np.bool_)
        of_inside[offsets[:-1][inside]] = True
        variables[of_inside] = next_nodes
        variables[~of_inside] = tops[below[places]]
        roots = np.stack([sources[i], targets[j]], axis=1)
        p = np.diff(source_begins)
        q = np.diff(target_begins)
        counts = np.minimum(p, q) / (p * q)
        return Cuts(roots, variables, offsets, pairs[of_class], counts[of_class])

    def fragments(self, cuts: Cuts, *, deletions: bool = False) -> Fragments:
        """Write the rules between these nodes."""
        rules = cuts_kernel.CutRules(
            readonly(cuts.roots),
            readonly(cuts.variables),
            readonly(cuts.offsets),
            readonly(cuts.pairs),
        )
        sides = []
        for column, trees in enumerate((self.source, self.target)):
            side = cuts_kernel.TreeSide(
                trees.nodes,
                trees.offsets,
                trees.labels,
                trees.words,
                trees.word_offsets,
                _links_before(self.links, trees, column),
                self.strings[column],
            )
            sides.append(side)
        source, target = sides
        far = readonly(self.links.links[:, 1])
        return Fragments(*cuts_kernel.write_fragments(rules, source, target, far, deletions))


def derive(
    source: TreeArrays, target: TreeArrays, links: LinkArrays, *, string: str | None = None
) -> Derivations:
    """Derive sentence pairs from their trees and links."""
    if string is not None:
        return _spanned(source, target, links, string)
    matched, parents, afters, offsets = nodes_kernel.match_nodes(
        source.nodes,
        source.offsets,
        source.labels,
        target.nodes,
        target.offsets,
        target.labels,
        *_positions(links),
    )
    return Derivations(source, target, links, matched, parents, afters, offsets)


def _chain_pairs(classes: Classes) -> tuple[I8, I8, I8]:
    """Return all pairs of a node of a source chain and one of the target chain of its class.

    For each pair: its class, and the places of both nodes in `source_chains` and `target_chains`.
    """
    p = np.diff(classes.source_begins)
    q = np.diff(classes.target_begins)
    of_class = np.repeat(np.arange(len(p)), p * q)
    # the pairs of a class are a grid of p rows and q columns
    row, column = np.divmod(places_within(p * q), q[of_class])
    i = classes.source_begins[of_class] + row
    j = classes.target_begins[of_class] + column
    return of_class, i, j


def _children(parents: I4, offsets: I8) -> tuple[I8, I8, I4]:
    """Return what is below each node of P derivations, where that begins, and the pair of each."""
    pairs = np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets))
    inner = np.flatnonzero(parents >= 0)
    above = offsets[pairs[inner]] + parents[inner]
    begins = offsets_of(np.bincount(above, minlength=len(pairs)))
    by_parent = above.argsort(kind="stable")
    return inner[by_parent], begins, pairs


def _links_before(links: LinkArrays, side: TreeArrays, column: int) -> I8:
    """Return how many links come before each word of a side, and before each sentence's end.

    Every sentence has a slot for each word and one for its end. For example, two sentences of two
    words, with a link of the first word of each, give 0 1 1 1 2 2.
    """
    pairs = links.pair_of
    slots = side.word_offsets[pairs] + pairs + links.links[:, column]
    count = side.word_offsets[-1] + len(links)
    # a link is before the slots that follow its own
    return np.bincount(slots + 1, minlength=count).cumsum()


def _positions(links: LinkArrays) -> tuple[I4, I8]:
    """Return the source and target positions of links, (2, L), and where each pair begins."""
    return readonly(links.links.T), readonly(links.offsets)


def _nested(trees: TreeArrays, nodes: I4, offsets: I8) -> tuple[I4, I4]:
    """Return the parents and afters of some nodes of P trees, as `nodes_kernel.nest`."""
    pair = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    afters = trees.nodes[3, trees.offsets[pair] + nodes]
    return nodes_kernel.nest(np.ascontiguousarray(nodes), afters, offsets)


def _spanned(source: TreeArrays, target: TreeArrays, links: LinkArrays, string: str) -> Derivations:
    """Derive sentence pairs of which one side is a string.

    The spans that the frontier of the tree is linked to become the nodes of the string, in the
    order of a preorder: by start, the longer first, then the higher node of the tree.
    """
    to_source = string == "source"
    if to_source:
        tree = target
        side = source
        string_words, tree_words = links.links.T
    else:
        tree = source
        side = target
        tree_words, string_words = links.links.T
    nodes, spans, offsets = nodes_kernel.find_frontiers(
        tree.nodes,
        tree.offsets,
        readonly(tree_words),
        readonly(string_words),
        readonly(links.offsets),
        np.diff(side.word_offsets).astype(np.int32),
    )
    pair = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((nodes, -spans[:, 1], spans[:, 0], pair))
    starts = np.ascontiguousarray(spans[order, 0])
    ends = np.ascontiguousarray(spans[order, 1])
    parents, afters = nodes_kernel.nest(starts, ends, offsets)
    spanned = replace(
        side,
        nodes=readonly(np.array([parents, starts, ends, afters], np.int32)),
        labels=readonly(np.zeros(len(order), np.int32)),
        offsets=readonly(offsets),
    )
    # the frontier in preorder of the source, which is the string or the tree
    places = (np.arange(len(order)) - offsets[pair]).astype(np.int32)
    if to_source:
        matched = np.stack([places, nodes[order]], axis=1)
        return Derivations(spanned, tree, links, matched, parents, afters, offsets, (True, False))
    rank = np.empty(len(order), np.int32)  # the place of each node's span in the string
    rank[order] = places
    parents, afters = _nested(tree, nodes, offsets)
    matched = np.stack([nodes, rank], axis=1)
    return Derivations(tree, spanned, links, matched, parents, afters, offsets, (False, True))


def _from_zero(offsets: I8, k: int) -> I8:
    """Return the offsets of item k alone: 0 and its size."""
    return np.asarray(offsets[k : k + 2] - offsets[k])
