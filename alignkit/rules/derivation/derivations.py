"""Derive sentence pairs by matched nodes: the arrays of many derivations at once.

A *derivation* takes two trees apart into rules. Its nodes are the matched pairs of nodes (see
`alignkit.rules.derivation.nodes_kernel`, which also says what consistent nodes, chains and classes
are). Of the trees ::

    (S (NP he) (VP (VBD left)))        (S (NP he) (VP (VBD went) (RP off)))

with the links 0-0 1-1 1-2 they are S S, NP NP and VP VP: again a tree, with S S at its root. A
*rule* goes from a matched pair, its *root*, down to the pairs where it is *cut*, its *variables*.
Minimal rules are cut at the next pairs below: ``S(x0:NP x1:VP) ||| S(x0:NP x1:VP)``. Several of
them can be *composed* to a larger one: ``S(x0:NP VP(VBD("left"))) ||| ...``.

`Cuts` has the nodes of rules, and `Fragments` their labels and words. The *after* of a node is the
next one in preorder that is not below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from threading import Lock

import numpy as np

from alignkit._support.arguments import check_count
from alignkit._support.array_types import I4, I8
from alignkit._support.jit import all_readonly, readonly
from alignkit.errors import OptionError
from alignkit.model.arrays import LinkArrays, gather, offsets_of
from alignkit.model.trees import Tree
from alignkit.rules.derivation import composed_kernel, cuts_kernel, nodes_kernel
from alignkit.rules.derivation.cuts_kernel import Cuts, Fragments
from alignkit.rules.derivation.nodes_kernel import AFTER, END, START
from alignkit.rules.tables.runs import places_within

SPAN = slice(START, END + 1)
"""The rows of `TreeArrays.nodes` with the starts and ends of the spans."""

_ROWS = ("parents", "starts", "ends", "afters")  # as in `nodes_kernel`
_NO_NODES = np.empty(0, np.int32)
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

    nodes: I4  # (4, n) int32: parents, starts, ends and afters of all nodes, as `Tree` has them
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
        rows = []
        for name in _ROWS:
            arrays = [getattr(tree, name) for tree in known]
            rows.append(np.concatenate([_NO_NODES, *arrays]))
        names = chain.from_iterable(tree.labels for tree in known)
        return cls(
            readonly(np.stack(rows)),
            readonly(labels.encode(names, int(offsets[-1]))),
            readonly(offsets),
            readonly(words.encode(chain.from_iterable(sentences), int(word_offsets[-1]))),
            readonly(word_offsets),
        )

    @property
    def for_kernels(self) -> nodes_kernel.TreeNodes:
        """The nodes with their labels, as kernels take them."""
        return nodes_kernel.TreeNodes(self.nodes, self.offsets, self.labels)

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
            self.labels[nodes],
            _from_zero(self.offsets, k),
            self.words[words],
            _from_zero(self.word_offsets, k),
        )


MOST = 20_000_000
"""The most composed rules in one block of pairs; their number grows fast with the size."""


@dataclass(frozen=True, eq=False)
class Classes:
    """The C classes of P pairs: in each, a chain of nodes on both sides, with the same links."""

    source_chains: I4  # the nodes of the chains of all classes, each from the top down
    source_begins: I8  # (C + 1,) int64: where the chain of each class begins
    target_chains: I4
    target_begins: I8
    offsets: I8  # (P + 1,) int64: where the classes of each pair begin
    of_source: I4  # (n,) int32: the class of each node of all trees, from 0 in each pair; -1: none
    of_target: I4


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

    @cached_property
    def classes(self) -> Classes | None:
        """The classes of nodes; None if a side is a string."""
        if any(self.strings):
            return None
        of_source, of_target, offsets = nodes_kernel.find_classes(
            self.source.for_kernels, self.target.for_kernels, *_positions(self.links)
        )
        source_chains = nodes_kernel.find_chains(of_source, self.source.offsets, offsets)
        target_chains = nodes_kernel.find_chains(of_target, self.target.offsets, offsets)
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
        below, begins = _children(self.parents, self.offsets)
        pairs = _pair_of_each(self.offsets)
        return Cuts(self.matched, self.matched[below], begins, pairs, np.ones(len(pairs)))

    def composed(self, size: int) -> Cuts:
        """Return the rules of `size` connected nodes of a derivation each."""
        if size == 1:
            return self.minimal()
        total = composed_kernel.count_composed(self.parents, self.offsets, size).sum()
        if total > MOST:
            raise OptionError(
                f"{total:,.0f} rules are made of {size} minimal ones each; at most "
                f"{MOST:,} fit in memory: use a smaller size"
            )
        count = int(total)
        cuts = composed_kernel.compose(self.matched, self.afters, self.offsets, size, count)
        return Cuts(*cuts, np.ones(count))

    def everywhere(self) -> Cuts:
        """Return the rule of every consistent pair of nodes, with its count.

        The pairs of a class are each node of its source chain with each of its target chain. With p
        and q nodes, at most min(p, q) of the p q pairs are in one derivation, so the count of each
        is min(p, q) / (p q).

        If both chains go on below the nodes of a pair, the next nodes of both are the only variable
        of its rule. Else the variables are the classes below, at the tops of their chains.
        """
        if self.classes is None:
            raise OptionError("the rules of all consistent nodes require trees on both sides")
        classes = self.classes
        sources = classes.source_chains
        targets = classes.target_chains
        source_begins = classes.source_begins
        target_begins = classes.target_begins
        # of each pair of nodes: its class, and its places in both chains
        of_class, i, j = _chain_pairs(classes)
        source_goes_on = i + 1 < source_begins[of_class + 1]
        target_goes_on = j + 1 < target_begins[of_class + 1]
        goes_on = source_goes_on & target_goes_on
        # classes are above each other as the tops of their source chains are
        tops = np.stack([sources[source_begins[:-1]], targets[target_begins[:-1]]], axis=1)
        parents, _ = _nested(self.source, tops[:, 0], classes.offsets)
        below, below_begins = _children(parents, classes.offsets)
        sizes = np.where(goes_on, 1, np.diff(below_begins)[of_class])
        # the variables of a rule are of one kind: next nodes, or tops of classes below
        are_next = np.repeat(goes_on, sizes)
        places, _ = gather(below_begins, of_class[~goes_on])
        variables = np.empty((len(are_next), 2), np.int32)
        variables[are_next, 0] = sources[i[goes_on] + 1]
        variables[are_next, 1] = targets[j[goes_on] + 1]
        variables[~are_next] = tops[below[places]]
        p = np.diff(source_begins)
        q = np.diff(target_begins)
        counts = np.minimum(p, q) / (p * q)
        return Cuts(
            roots=np.stack([sources[i], targets[j]], axis=1),
            variables=variables,
            offsets=offsets_of(sizes),
            pairs=_pair_of_each(classes.offsets)[of_class],
            counts=counts[of_class],
        )

    def fragments(self, cuts: Cuts, *, deletions: bool = False) -> Fragments:
        """Write the rules between these nodes."""
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
        return cuts_kernel.write_fragments(all_readonly(cuts), source, target, far, deletions)


def derive(
    source: TreeArrays, target: TreeArrays, links: LinkArrays, *, string: str | None = None
) -> Derivations:
    """Derive sentence pairs from their trees and links; `string` is the side that is a string."""
    if string is not None:
        return _derive_string(source, target, links, string)
    matched, parents, afters, offsets = nodes_kernel.match_nodes(
        source.for_kernels, target.for_kernels, *_positions(links)
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


def _children(parents: I4, offsets: I8) -> tuple[I8, I8]:
    """Return the nodes right below each node of P derivations, and where those of each begin."""
    inner = np.flatnonzero(parents >= 0)
    above = offsets[_pair_of_each(offsets)[inner]] + parents[inner]
    begins = offsets_of(np.bincount(above, minlength=len(parents)))
    by_parent = above.argsort(kind="stable")
    return inner[by_parent], begins


def _pair_of_each(offsets: I8) -> I4:
    """Return the pair of each node, given where those of each pair begin."""
    return np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets))


def _links_before(links: LinkArrays, side: TreeArrays, column: int) -> I8:
    """Return how many links come before each word of a side, and before each sentence's end.

    Every sentence has a slot for each word and one for its end. For example, two sentences of two
    words, with a link of the first word of each, give 0 1 1 1 2 2.
    """
    pairs = links.pair_of
    # as many slots for ends come before a sentence as there are sentences before it
    slots = side.word_offsets[pairs] + pairs + links.links[:, column]
    count = side.word_offsets[-1] + len(links)
    # a link is before the slots that follow its own
    return np.bincount(slots + 1, minlength=count).cumsum()


def _positions(links: LinkArrays) -> tuple[I4, I8]:
    """Return the source and target positions of links, (2, L), and where each pair begins."""
    return readonly(links.links.T), readonly(links.offsets)


def _nested(trees: TreeArrays, nodes: I4, offsets: I8) -> tuple[I4, I4]:
    """Return the parents and afters of some nodes of P trees among each other; see `nest`.

    A node with all nodes below it is a span of node numbers, and these spans nest.
    """
    afters = trees.nodes[AFTER, trees.offsets[_pair_of_each(offsets)] + nodes]
    return nodes_kernel.nest(np.ascontiguousarray(nodes), afters, offsets)


def _derive_string(
    source: TreeArrays, target: TreeArrays, links: LinkArrays, string: str
) -> Derivations:
    """Derive sentence pairs of which one side is a string.

    The spans that the frontier of the tree is linked to become the nodes of the string, in the
    order of a preorder: by start, the longer first, then the higher node of the tree.
    """
    source_is_string = string == "source"
    if source_is_string:
        tree = target
        words = source
        string_ends, tree_ends = links.links.T
    else:
        tree = source
        words = target
        tree_ends, string_ends = links.links.T
    frontier, spans, offsets = nodes_kernel.find_frontiers(
        tree.for_kernels,
        readonly(tree_ends),
        readonly(string_ends),
        readonly(links.offsets),
        np.diff(words.word_offsets).astype(np.int32),
    )
    pair = _pair_of_each(offsets)
    order = np.lexsort((frontier, -spans[:, 1], spans[:, 0], pair))
    starts = spans[order, 0]
    ends = spans[order, 1]
    span_parents, span_afters = nodes_kernel.nest(starts, ends, offsets)
    spanned = replace(
        words,
        nodes=readonly(np.array([span_parents, starts, ends, span_afters], np.int32)),
        labels=readonly(np.zeros(len(order), np.int32)),
        offsets=readonly(offsets),
    )
    numbers = (np.arange(len(order)) - offsets[pair]).astype(np.int32)  # from 0 in each pair
    # nodes are matched in preorder of the source: of the spans, or of the frontier
    if source_is_string:
        matched = np.stack([numbers, frontier[order]], axis=1)
        nested = span_parents, span_afters
        return Derivations(spanned, tree, links, matched, *nested, offsets, (True, False))
    span_of = np.empty(len(order), np.int32)  # the span of each frontier node
    span_of[order] = numbers
    matched = np.stack([frontier, span_of], axis=1)
    nested = _nested(tree, frontier, offsets)
    return Derivations(tree, spanned, links, matched, *nested, offsets, (False, True))


def _from_zero(offsets: I8, k: int) -> I8:
    """Return the offsets of item k alone: 0 and its size."""
    return readonly(offsets[k : k + 2] - offsets[k])
