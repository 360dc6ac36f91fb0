"""Learn the synchronous rules of sentence pairs: `extract_rules` makes a `Derivation` for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import overload

import numpy as np

from alignkit._support.arguments import check_arguments, check_known, every, whole_number
from alignkit._support.array_types import I4
from alignkit.errors import MissingTextError, OptionError
from alignkit.model.alignment import SIDES, Alignment
from alignkit.model.arrays import LinkArrays
from alignkit.model.sentence_pair import SentencePair, alignment_of_pair
from alignkit.model.trees import Tree
from alignkit.rules.derivation.cuts_kernel import Cuts
from alignkit.rules.derivation.derivations import SPAN, Derivations, TreeArrays, derive
from alignkit.rules.derivation.recomposing import recompose
from alignkit.rules.derivation.rule_reader import RuleReader
from alignkit.rules.grammar import Rule


@dataclass(frozen=True, slots=True)
class RuleToken:
    """A rule and where it was seen.

    Returned by `Derivation.tokens`.

    Parameters
    ----------
    rule : The rule.
    root : Its source and target node; for a string, the number of a span (see
        `Derivation.matched`).
    variables : The nodes of x0, x1, ...
    source_span, target_span : The half-open spans of words below its root.
    alignment : The links between its words, as positions of symbols in the leaves of each side.
    count : Its count: 1, or a fraction in the rules of all consistent nodes.

    Examples
    --------
    >>> from alignkit import Alignment, SentencePair, Tree
    >>> from alignkit.rules import extract_rules, rule_text
    >>> trees = {"source": Tree.parse("(NP (NN car))"), "target": Tree.parse("(NP (NN auto))")}
    >>> pair = SentencePair("1", ["car"], ["auto"], {"gold": Alignment.parse("0-0")})
    >>> derivation = extract_rules(pair.with_trees("gold", **trees))
    >>> token = next(iter(derivation.tokens()))
    >>> rule_text(token.rule), token.source_span, token.target_span
    ('NP(x0:NN) ||| NP(x0:NN)', (0, 1), (0, 1))
    """

    rule: Rule
    root: tuple[int, int]
    variables: tuple[tuple[int, int], ...]
    source_span: tuple[int, int]
    target_span: tuple[int, int]
    alignment: tuple[tuple[int, int], ...]
    count: float = 1.0


class Derivation:
    """The derivation of a sentence pair by synchronous rules.

    Returned by `extract_rules`.

    Attributes
    ----------
    id, source, target : The id of the pair, and its words.
    source_tree, target_tree : The trees; None if the side is a string.
    alignment : The alignment used for the derivation.

    Examples
    --------
    >>> from alignkit import Alignment, SentencePair, Tree
    >>> from alignkit.rules import extract_rules, rule_text
    >>> trees = {"source": Tree.parse("(NP (NN car))"), "target": Tree.parse("(NP (NN auto))")}
    >>> pair = SentencePair("1", ["car"], ["auto"], {"gold": Alignment.parse("0-0")})
    >>> derivation = extract_rules(pair.with_trees("gold", **trees))
    >>> [rule_text(rule) for rule in derivation.minimal]
    ['NP(x0:NN) ||| NP(x0:NN)', 'NN("car") ||| NN("auto")']
    """

    def __init__(self, derived: Derived, k: int) -> None:
        self._derived = derived
        self._k = k
        self.id = derived.pairs[k].id
        self.source, self.target = derived.pairs[k].words
        source_trees, target_trees = derived.trees
        self.source_tree = source_trees[k]
        self.target_tree = target_trees[k]
        self.alignment = derived.alignments[k]

    @cached_property
    def arrays(self) -> Derivations:
        """The derivation as flat arrays."""
        return self._derived.arrays.of(self._k)

    def __len__(self) -> int:
        offsets = self._derived.arrays.offsets
        return int(offsets[self._k + 1] - offsets[self._k])

    def __repr__(self) -> str:
        return f"Derivation({self.id!r}, {len(self)} minimal rules)"

    @property
    def matched(self) -> I4:
        """The matched source and target nodes, (n, 2), in preorder of the source.

        The nodes of a string are its spans, numbered in order.
        """
        return self.arrays.matched

    @property
    def parents(self) -> I4:
        """The place in `matched` of the next matched pair above each, (n,); -1 for none."""
        return self.arrays.parents

    @property
    def spans(self) -> I4:
        """The half-open spans of words below `matched`, source and target, (n, 4)."""
        sources, targets = self.matched.T
        source_spans = self.arrays.source.nodes[SPAN, sources]
        target_spans = self.arrays.target.nodes[SPAN, targets]
        return np.concatenate([source_spans, target_spans]).T

    @cached_property
    def consistent(self) -> I4:
        """All pairs of nodes with the same links, (c, 2); with a string, the same as `matched`."""
        if self.arrays.classes is None:
            return self.matched
        return self.arrays.everywhere().roots

    @property
    def minimal(self) -> tuple[Rule, ...]:
        """The minimal rules, one for each of `matched`, in the same order."""
        offsets = self._derived.arrays.offsets
        return tuple(self._derived.minimal[offsets[self._k] : offsets[self._k + 1]])

    @property
    def all(self) -> tuple[RuleToken, ...]:
        """A rule for each pair of consistent nodes, with its fractional count.

        Raises
        ------
        OptionError : If a side is a string.
        """
        return self._tokens(self.arrays.everywhere())

    def composed(self, size: int) -> tuple[Rule, ...]:
        """Return the rules made of exactly `size` connected minimal rules.

        Raises
        ------
        OptionError : If `size` is less than 1, or there are too many rules.

        Examples
        --------
        >>> from alignkit import Alignment, SentencePair, Tree
        >>> from alignkit.rules import extract_rules, rule_text
        >>> trees = {"source": Tree.parse("(NP (NN car))"), "target": Tree.parse("(NP (NN auto))")}
        >>> pair = SentencePair("1", ["car"], ["auto"], {"gold": Alignment.parse("0-0")})
        >>> derivation = extract_rules(pair.with_trees("gold", **trees))
        >>> [rule_text(rule) for rule in derivation.composed(2)]
        ['NP(NN("car")) ||| NP(NN("auto"))']
        """
        fragments = self.arrays.fragments(self.cuts(size), deletions=self._derived.deletions)
        return tuple(self._derived.reader.rules(fragments))

    def tokens(self, size: int = 1) -> tuple[RuleToken, ...]:
        """Return the rules made of exactly `size` minimal rules, and where they are.

        Examples
        --------
        >>> from alignkit import Alignment, SentencePair, Tree
        >>> from alignkit.rules import extract_rules
        >>> trees = {"source": Tree.parse("(NP (NN car))"), "target": Tree.parse("(NP (NN auto))")}
        >>> pair = SentencePair("1", ["car"], ["auto"], {"gold": Alignment.parse("0-0")})
        >>> derivation = extract_rules(pair.with_trees("gold", **trees))
        >>> [token.source_span for token in derivation.tokens()]
        [(0, 1), (0, 1)]
        """
        return self._tokens(self.cuts(size))

    def cuts(self, size: int = 1) -> Cuts:
        """Return the nodes of the rules made of exactly `size` minimal rules, as arrays."""
        check_size(size)
        return self.arrays.composed(size)

    def recompose(self) -> tuple[Tree | tuple[str, ...], Tree | tuple[str, ...]]:
        """Return both trees (for a string, its words), put together from the minimal rules.

        Raises
        ------
        OptionError : If there is no derivation because nothing is linked.
        """
        if not len(self):
            raise OptionError(f"pair {self.id!r} has no links, so no rules to put together")
        # without `deletions`: what they would turn into variables is needed to put trees together
        fragments = self.arrays.fragments(self.arrays.minimal())
        return recompose(self._derived.reader.rules(fragments))

    @cached_property
    def source_rules(self) -> I4:
        """The minimal rule that contains each source word, (N,); -1 for none."""
        return self._holders(self.arrays.source, 0)

    @cached_property
    def target_rules(self) -> I4:
        """The minimal rule that contains each target word, (M,); -1 for none."""
        return self._holders(self.arrays.target, 1)

    def _holders(self, trees: TreeArrays, side: int) -> I4:
        """Return the minimal rule that contains each word of a side."""
        holders = np.full(len(trees.words), -1, np.int32)
        nodes = self.matched[:, side]
        # from the top down: a rule further below takes its words from those above
        for place in np.argsort(nodes).tolist():
            start, end = trees.span(0, nodes[place])
            holders[start:end] = place
        return holders

    def _tokens(self, cuts: Cuts) -> tuple[RuleToken, ...]:
        """Return the rules between some nodes, with their places."""
        arrays = self.arrays
        fragments = arrays.fragments(cuts, deletions=self._derived.deletions)
        rules = self._derived.reader.rules(fragments)
        links = _couples(fragments.links.reshape(-1, 2))
        link_ends = (fragments.link_offsets // 2).tolist()
        variables = _couples(cuts.variables)
        ends = cuts.offsets.tolist()
        source_roots, target_roots = cuts.roots.T
        source_spans = _couples(arrays.source.nodes[SPAN, source_roots].T)
        target_spans = _couples(arrays.target.nodes[SPAN, target_roots].T)
        counts = cuts.counts.tolist()
        tokens = []
        for k, root in enumerate(_couples(cuts.roots)):
            token = RuleToken(
                rules[k],
                root,
                tuple(variables[ends[k] : ends[k + 1]]),
                source_spans[k],
                target_spans[k],
                tuple(links[link_ends[k] : link_ends[k + 1]]),
                counts[k],
            )
            tokens.append(token)
        return tuple(tokens)


def _couples(array: I4) -> list[tuple[int, int]]:
    """Return the rows of an array of two columns."""
    return [(first, second) for first, second in array.tolist()]


@dataclass(eq=False)
class Derived:
    """Pairs that were derived together; the fields from `links` on are those of `extract_rules`."""

    pairs: Sequence[SentencePair]
    alignments: Sequence[Alignment]
    trees: tuple[Sequence[Tree | None], Sequence[Tree | None]]  # None for a side that is a string
    links: str
    string: str | None
    deletions: bool = False
    reader: RuleReader = field(default_factory=RuleReader)

    def __post_init__(self) -> None:
        source_trees, target_trees = self.trees
        sentences = [pair.words for pair in self.pairs]
        sources = [source for source, _ in sentences]
        targets = [target for _, target in sentences]
        lengths = [(len(source), len(target)) for source, target in sentences]
        labels = self.reader.labels
        words = self.reader.words
        source = TreeArrays.pack(source_trees, sources, labels, words)
        target = TreeArrays.pack(target_trees, targets, labels, words)
        packed = LinkArrays.pack_fitting(self.alignments, lengths)
        if self.links == "sure":
            packed = packed.sure_only()
        self.arrays = derive(source, target, packed, string=self.string)

    def __reduce__(self) -> tuple[Callable[..., Derived], tuple[object, ...]]:
        settings = (self.links, self.string, self.deletions)
        return Derived, (self.pairs, self.alignments, self.trees, *settings)

    @cached_property
    def minimal(self) -> list[Rule]:
        """The minimal rules of all pairs, one after the other."""
        fragments = self.arrays.fragments(self.arrays.minimal(), deletions=self.deletions)
        return self.reader.rules(fragments)


LINKS = ("sure", "possible")  # the links to learn rules from: the sure ones (S), or all (P)

GRAMMARS = ("stsg", "s2t")
"""The grammars: trees on both sides, or a string and a tree."""


@overload
def extract_rules(
    pairs: SentencePair,
    *,
    links: str = ...,
    annotator: str | None = ...,
    grammar: str = ...,
    source_tree: Tree | str | None = ...,
    target_tree: Tree | str | None = ...,
    string: str | None = ...,
    deletions: bool = ...,
) -> Derivation: ...
@overload
def extract_rules(
    pairs: Iterable[SentencePair],
    *,
    links: str = ...,
    annotator: str | None = ...,
    grammar: str = ...,
    source_tree: str | None = ...,
    target_tree: str | None = ...,
    string: str | None = ...,
    deletions: bool = ...,
) -> list[Derivation]: ...
def extract_rules(
    pairs: SentencePair | Iterable[SentencePair],
    *,
    links: str = "sure",
    annotator: str | None = None,
    grammar: str = "stsg",
    source_tree: Tree | str | None = None,
    target_tree: Tree | str | None = None,
    string: str | None = None,
    deletions: bool = False,
) -> Derivation | list[Derivation]:
    """Learn the synchronous rules of an aligned, parsed sentence pair, or of many.

    Two nodes are *consistent* if they have the same links, at least one: a link is in their box and
    none leaves it. Nodes of one tree with the same links form a chain. Of two chains with the same
    links, as many nodes as the shorter has are *matched*, in order: both roots, then most equal
    labels, then the lowest nodes. A *minimal rule* is the part between matched nodes: the fragments
    of both trees from a matched pair down to the next ones, which become its variables [1]_ [2]_.
    Words without links stay where they are.

    Parameters
    ----------
    pairs : One pair with words, or several; deriving several together is faster.
    links : ``"sure"``: only the sure links count; ``"possible"``: all links count.
    annotator : The annotator whose alignment is used; None if only one annotator aligned it.
    grammar : ``"stsg"``: trees on both sides; ``"s2t"``: a string and a tree [2]_, where a tree
        node is the root of a rule if its words are linked to a span of the string, and no other
        words are linked to that span.
    source_tree, target_tree : The name of one of the pair's trees, or (for one pair) a tree; None
        for the only tree.
    string : For ``"s2t"``, the side that is a string, ``"source"`` or ``"target"``; None for the
        side without a tree, or the source if both have one.
    deletions : Turn a highest constituent without links into a deleted (source) or inserted
        (target) variable instead of keeping its words.

    Raises
    ------
    UnknownNameError : If `links`, `annotator`, `grammar`, `string` or a tree has an unknown name.
    OptionError : If there are several annotators or trees, and no name is given.
    MissingTextError : If the words or a tree are missing.
    TreeError : If the words of a tree differ from those of the pair.

    References
    ----------
    .. [1] Cohn, Callison-Burch & Lapata 2008, Constructing corpora for the development and
       evaluation of paraphrase systems, Computational Linguistics 34(4).
    .. [2] Galley, Hopkins, Knight & Marcu 2004, What's in a translation rule?, HLT-NAACL.

    Examples
    --------
    >>> from alignkit import Alignment
    >>> source = Tree.parse("(NP (NP (NN end)) (PP (IN of) (NP (NN day))))")
    >>> target = Tree.parse("(NP (NP (NN day) (POS 's)) (NN end))")
    >>> pair = SentencePair("1", source.words, target.words, {"gold": Alignment.parse("0-2 2-0")})
    >>> derivation = extract_rules(pair, source_tree=source, target_tree=target)
    >>> derivation
    Derivation('1', 4 minimal rules)
    >>> from alignkit.rules import rule_text
    >>> print(rule_text(derivation.minimal[0]))
    NP(NP(x0:NN) PP(IN("of") x1:NP)) ||| NP(x1:NP x0:NN)
    """
    check_arguments(extract_rules, locals(), apart=["pairs"])
    check_names(links, grammar, string)
    if isinstance(pairs, SentencePair):
        given: tuple[SentencePair, ...] = (pairs,)
        reader = RuleReader.shared()
    else:
        given = every("pairs", pairs, SentencePair)
        reader = RuleReader()
        for name, tree in (("source_tree", source_tree), ("target_tree", target_tree)):
            if isinstance(tree, Tree):
                raise OptionError(f"`{name}` is one tree for several pairs: give its name")
    alignments = [alignment_of_pair(pair, annotator) for pair in given]
    sources = [tree_of(pair, "source", source_tree) for pair in given]
    targets = [tree_of(pair, "target", target_tree) for pair in given]
    string = string_side(grammar, string, sources, targets)
    for side, trees in (("source", sources), ("target", targets)):
        if side != string and None in trees:
            id = given[trees.index(None)].id
            raise MissingTextError(f"pair {id!r} has no {side} tree; add one")
    if string == "source":
        sources = [None] * len(given)
    elif string == "target":
        targets = [None] * len(given)
    derived = Derived(given, alignments, (sources, targets), links, string, deletions, reader)
    derivations = [Derivation(derived, k) for k in range(len(given))]
    if isinstance(pairs, SentencePair):
        return derivations[0]
    return derivations


def check_names(links: str, grammar: str, string: str | None) -> None:
    """Refuse unknown links, sides and grammars, and `string` without a string grammar."""
    if string is not None:
        check_known("side", string, SIDES)
    if string is not None and grammar == "stsg":
        raise OptionError("`string` needs `grammar='s2t'`: add it, or leave out `string`")
    check_known("kind of links", links, LINKS)
    check_known("grammar", grammar, GRAMMARS)


def tree_of(pair: SentencePair, side: str, tree: Tree | str | None) -> Tree | None:
    """Return a tree of a pair; None if the pair has no such tree and none is named."""
    if tree is None and not getattr(pair, f"{side}_trees"):
        return None
    if isinstance(tree, Tree):
        return pair.with_trees("given", **{side: tree}).tree(side, "given")
    return pair.tree(side, tree)


def string_side(
    grammar: str, string: str | None, source: Sequence[Tree | None], target: Sequence[Tree | None]
) -> str | None:
    """Return the side that is a string, if the grammar has one."""
    if grammar == "stsg" or string is not None:
        return string
    has_source_trees = any(tree is not None for tree in source)
    has_target_trees = any(tree is not None for tree in target)
    if has_source_trees and not has_target_trees:
        return "target"
    return "source"


def check_size(size: int) -> None:
    """Refuse an invalid size of composed rules."""
    if whole_number("size", size) < 1:
        raise OptionError(f"`size` is {size}; it must be 1 or more (minimal rules)")
