"""Derive sentence pairs by matched nodes: the arrays of many derivations at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from threading import Lock

import numpy as np

from alignkit._support.arguments import check_count
from alignkit._support.jit import readonly
from alignkit.errors import OptionError
from alignkit.model.arrays import LinkArrays, gather
from alignkit.model.trees import Tree
from alignkit.rules.derivation import cuts_kernel, nodes_kernel
from alignkit.rules.tables.runs import F8, I4, I8, ends_of

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
            self[name] = number = len(self)
        return number

    def encode(self, texts: Iterable[str], count: int) -> I4:
        """Return the numbers of `count` texts."""
        return np.fromiter(map(self.__getitem__, texts), np.int32, count)


@dataclass(frozen=True, eq=False)
class TreeArrays:
    """P trees, or strings, one after the other."""

    nodes: I4
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
        sizes = [0 if tree is None else len(tree.labels) for tree in trees]
        offsets = ends_of(sizes)
        word_offsets = ends_of([*map(len, sentences)])
        check_count("nodes", int(offsets[-1]))
        known = [tree for tree in trees if tree is not None]
        columns = [getattr(tree, name) for name in _COLUMNS for tree in known]
        names = chain.from_iterable(tree.labels for tree in known)
        return cls(
            readonly(np.concatenate([_NONE, *columns]).reshape(4, -1)),
            readonly(labels.encode(names, int(offsets[-1]))),
            readonly(offsets),
            readonly(words.encode(chain.from_iterable(sentences), int(word_offsets[-1]))),
            readonly(word_offsets),
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

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

    source_chains: I4
    source_begins: I8  # (C + 1,) int64: where the chains of each class begin
    target_chains: I4
    target_begins: I8
    offsets: I8
    of_source: I4  # the class of each node of all trees, counted within its pair; -1 for none
    of_target: I4


@dataclass(frozen=True, eq=False)
class Cuts:
    """The nodes at the borders of R rules, which define a rule apart from labels and words."""

    roots: I4
    variables: I4
    offsets: I8  # (R + 1,) int64: where the variables of each rule begin
    pairs: I4  # (R,) int32: the sentence pair of each rule, rising
    counts: F8 | None = None

    def __len__(self) -> int:
        return len(self.roots)


@dataclass(frozen=True, eq=False)
class Fragments:
    """R rules as sequences of numbers; see `alignkit.rules.derivation.cuts_kernel`."""

    symbols: I4  # (S,) int32: source and target side of each rule
    offsets: I8  # (2 R + 1,) int64: where each side begins
    links: I4
    link_offsets: I8  # (R + 1,) int64: where those of each rule begin
    figures: I4


@dataclass(frozen=True, eq=False)
class Derivations:
    """The derivations of P sentence pairs."""

    source: TreeArrays  # the trees; of a side that is a string, the spans of its frontier
    target: TreeArrays
    links: LinkArrays  # the links that were derived from; all of them count
    matched: I4
    parents: I4
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
        source, target = self.source, self.target
        of_source, of_target, offsets = nodes_kernel.find_classes(
            source.nodes, source.offsets, target.nodes, target.offsets, *_positions(self.links)
        )
        left = nodes_kernel.find_chains(of_source, source.offsets, offsets)
        right = nodes_kernel.find_chains(of_target, target.offsets, offsets)
        return Classes(*left, *right, offsets, of_source, of_target)

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
        counts = cuts_kernel.count_composed(self.parents, self.offsets, size)
        if counts.sum() > MOST:
            raise OptionError(
                f"{counts.sum():,.0f} rules are made of {size} minimal ones each; at most "
                f"{MOST:,} fit in memory: use a smaller size"
            )
        arrays = self.matched, self.afters, self.offsets
        return Cuts(*cuts_kernel.compose(*arrays, size, int(counts.sum())))

    def everywhere(self) -> Cuts:
        """Return the rule of every consistent pair of nodes, with its count."""
        if self.classes is None:
            raise OptionError("the rules of all consistent nodes require trees on both sides")
        classes = self.classes
        sources = classes.source_begins
        targets = classes.target_begins
        chains = classes.source_chains, classes.target_chains
        tops = np.stack([chains[0][sources[:-1]], chains[1][targets[:-1]]], axis=1)
        parents, _ = _nested(self.source, tops[:, 0], classes.offsets)
        below, begins, pairs = _children(parents, classes.offsets)
        # a rule for each source node i and target node j of a class, from the top of both chains
        p = np.diff(sources)
        q = np.diff(targets)
        of = np.repeat(np.arange(len(p)), p * q)
        within = np.arange(int((p * q).sum()))
        within -= np.repeat(np.cumsum(p * q) - p * q, p * q)
        i = sources[of] + within // q[of]
        j = targets[of] + within % q[of]
        # within the class: the next node of both chains is the one variable
        inside = (i + 1 < sources[of + 1]) & (j + 1 < targets[of + 1])
        offsets = ends_of(np.where(inside, 1, np.diff(begins)[of]))
        variables = np.empty((offsets[-1], 2), np.int32)
        single = np.zeros(len(variables), np.bool_)
        single[offsets[:-1][inside]] = True
        for side, at in enumerate((i, j)):
            variables[single, side] = chains[side][at[inside] + 1]
        # at the end of a chain: the classes below are the variables
        variables[~single] = tops[below[gather(begins, of[~inside])[0]]]
        # of the p q pairs of a class at most min(p, q) are in one derivation
        counts = (np.minimum(p, q) / (p * q))[of]
        roots = np.stack([chains[0][i], chains[1][j]], axis=1)
        return Cuts(roots, variables, offsets, pairs[of], counts)

    def fragments(self, cuts: Cuts, *, deletions: bool = False) -> Fragments:
        """Write the rules between these nodes."""
        source, target = self.source, self.target
        return Fragments(
            *cuts_kernel.write_fragments(
                readonly(cuts.roots),
                readonly(cuts.variables),
                readonly(cuts.offsets),
                readonly(cuts.pairs),
                source.nodes,
                source.offsets,
                source.labels,
                source.words,
                source.word_offsets,
                target.nodes,
                target.offsets,
                target.labels,
                target.words,
                target.word_offsets,
                readonly(self.links.links[:, 1]),
                _links_before(self.links, source, 0),
                _links_before(self.links, target, 1),
                self.strings,
                deletions,
            )
        )


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


def _children(parents: I4, offsets: I8) -> tuple[I8, I8, I4]:
    """Return what is below each node of P derivations, where that begins, and the pair of each."""
    pairs = np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets))
    inner = np.flatnonzero(parents >= 0)
    above = offsets[pairs[inner]] + parents[inner]
    begins = ends_of(np.bincount(above, minlength=len(pairs)))
    return inner[above.argsort(kind="stable")], begins, pairs


def _links_before(links: LinkArrays, side: TreeArrays, column: int) -> I8:
    """Return how many links come before each word of a side, and before each sentence's end."""
    pairs = links.pair_of
    at = side.word_offsets[pairs] + pairs + links.links[:, column] + 1
    return np.bincount(at, minlength=side.word_offsets[-1] + len(links)).cumsum()


def _positions(links: LinkArrays) -> tuple[I4, I8]:
    return readonly(links.links.T), readonly(links.offsets)


def _nested(trees: TreeArrays, nodes: I4, offsets: I8) -> tuple[I4, I4]:
    pair = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return nodes_kernel.nest(
        np.ascontiguousarray(nodes), trees.nodes[3, trees.offsets[pair] + nodes], offsets
    )


def _spanned(source: TreeArrays, target: TreeArrays, links: LinkArrays, string: str) -> Derivations:
    to_source = string == "source"
    tree, side = (target, source) if to_source else (source, target)
    near = links.links[:, int(to_source)]
    far = links.links[:, 1 - int(to_source)]
    nodes, spans, offsets = nodes_kernel.find_frontiers(
        tree.nodes,
        tree.offsets,
        readonly(near),
        readonly(far),
        readonly(links.offsets),
        np.diff(side.word_offsets).astype(np.int32),
    )
    pair = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((nodes, -spans[:, 1], spans[:, 0], pair))
    starts, ends = (np.ascontiguousarray(spans[order, k]) for k in (0, 1))
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
    back = np.empty(len(order), np.int32)
    back[order] = places
    parents, afters = _nested(tree, nodes, offsets)
    matched = np.stack([nodes, back], axis=1)
    return Derivations(tree, spanned, links, matched, parents, afters, offsets, (False, True))


def _from_zero(offsets: I8, k: int) -> I8:
    return np.asarray(offsets[k : k + 2] - offsets[k])
