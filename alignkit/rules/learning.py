"""Learn a grammar of synchronous tree rules from a corpus: `learn_grammar`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments, each
from alignkit.errors import OptionError
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import TokenArrays
from alignkit.model.coercion import Choice
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.trees import Tree
from alignkit.rules.counting import Lexicon, RuleCounts
from alignkit.rules.derivation.derivation import Derived, RuleReader, check_size
from alignkit.rules.derivation.derivations import Cuts, Derivations, Fragments
from alignkit.rules.derivation.extraction import check_names, string_side, tree_of
from alignkit.rules.grammar import Grammar

_BLOCK = 1024


@dataclass(frozen=True)
class Bounds:
    """The bounds of the rules of a grammar; None is no bound."""

    variables: int | None = None  # the most variables; deleted and inserted constituents are none
    nodes: int | None = None  # the most nodes of either side, variables counted
    depth: int | None = None

    def split(self, fragments: Fragments) -> tuple[NDArray[np.bool_], Counter[str]]:
        """Return which rules are within the bounds, and how many each bound drops first."""
        figures = fragments.figures
        kept = np.ones(len(figures), bool)
        dropped: Counter[str] = Counter()
        for most, columns, what in (
            (self.variables, [0], "more than {} variables"),
            (self.nodes, [1, 2], "more than {} nodes on a side"),
            (self.depth, [3, 4], "deeper than {}"),
        ):
            if most is not None:
                beyond = kept & (figures[:, columns].max(axis=1) > most)
                dropped[what.format(most)] = int(beyond.sum())
                kept &= ~beyond
        return kept, dropped


def learn_grammar(
    pairs: Iterable[SentencePair],
    *,
    annotator: str | None = None,
    links: str = "sure",
    grammar: str = "stsg",
    source_tree: str | None = None,
    target_tree: str | None = None,
    string: str | None = None,
    size: int = 1,
    all: bool = False,
    deletions: bool = False,
    max_variables: int | None = None,
    max_nodes: int | None = None,
    max_depth: int | None = None,
    examples: int = 0,
) -> Grammar:
    """Learn the synchronous tree rules of a corpus, merged into types with weights.

    Parameters
    ----------
    pairs
        The sentence pairs, aligned and parsed; gone through once, a thousand at a time. Those that
        are not aligned, have no words or lack a tree are passed over, and counted.
    annotator
        Whose alignments; None where one annotator alone aligned them.
    links, grammar, string, deletions
        As `extract_rules` has them.
    source_tree, target_tree
        The names of trees; None where each side has one.
    size
        Rules made of at most so many minimal ones, which are connected.
    all
        Take a rule for each pair of consistent nodes, which counts a fraction where nodes have the
        same links, instead of the minimal rules of one derivation.
    max_variables, max_nodes, max_depth
        The bounds of `Bounds`; what is beyond is counted in `Grammar.dropped`.
    examples
        How many places of each type to keep, in different pairs.

    Returns
    -------
    Grammar
        Weights are over all rules that are within the bounds, identities included. p_source is the
        share of the rule in those of its target side, with its variables numbered as that side has
        them: p_target of the same grammar with sides exchanged.

    Raises
    ------
    UnknownNameError
        If `links`, `annotator`, `grammar`, `string` or a tree names nothing.
    OptionError
        If there are several annotators or trees and none is named, a bound or size is less than 1,
        `size` is given with `all`, or rules of the size are too many.

    Examples
    --------
    >>> tree = Tree.parse("(S (NP (NNS dogs)) (VP (VBP bark)))")
    >>> other = Tree.parse("(S (NP (NNS hounds)) (VP (VBP bark)))")
    >>> pair = SentencePair("1", tree.words, other.words, {"gold": Alignment.parse("0-0 1-1")})
    >>> grammar = learn_grammar([pair.with_trees("gold", source=tree, target=other)])
    >>> grammar
    Grammar(5 types of 5 rules, stsg)
    >>> [one.rule.target for one in grammar.select(identity=False)]
    [Node(label='NNS', children=('hounds',))]
    """
    check_arguments(learn_grammar, locals(), apart=["pairs"])
    check_names(links, grammar, string)
    check_size(size)
    for name in ("max_variables", "max_nodes", "max_depth"):
        value = locals()[name]
        if value is not None and value < (name != "max_variables"):
            raise OptionError(f"{name} is {value}; no rule would be left")
    if examples < 0:
        raise OptionError(f"examples are {examples}; give 0 or more")
    if all and size > 1:
        raise OptionError("`all` and `size` exclude each other: leave out one")
    if all and grammar != "stsg":
        raise OptionError("`all` needs trees on both sides: leave it out, or say `grammar='stsg'`")
    return _Learner(
        Choice("the corpus", annotator), links, grammar, (source_tree, target_tree), string,
        0 if all else size, deletions, Bounds(max_variables, max_nodes, max_depth), examples,
    ).learn(pairs)  # fmt: skip


_Known = tuple[SentencePair, Alignment, Tree | None, Tree | None]


@dataclass
class _Learner:
    """Learns from blocks of pairs; `size` 0 takes the rules of all consistent nodes."""

    choice: Choice
    links: str
    grammar: str
    trees: tuple[str | None, str | None]
    string: str | None
    size: int
    deletions: bool
    bounds: Bounds
    examples: int

    def __post_init__(self) -> None:
        self._reader, self._lexicon = RuleReader(), Lexicon()
        self._counts: RuleCounts | None = None
        self._dropped: Counter[str] = Counter()
        self._passed: Counter[str] = Counter()
        self._sizes: Counter[int] = Counter()

    def learn(self, pairs: Iterable[SentencePair]) -> Grammar:
        read = 0
        known = self._known(pairs)
        while block := list(islice(known, _BLOCK)):
            read += len(block)
            self._add(block)
        self.choice.check()
        counts = self._counts
        weights = self._lexicon.weights(len(self._reader.words))
        types = () if counts is None else counts.types(self._reader, weights)
        sizes = dict(self._sizes) if self.size else {}
        return Grammar(types, self.grammar, +self._dropped, read, +self._passed, sizes)

    def _known(self, pairs: Iterable[SentencePair]) -> Iterator[_Known]:
        for pair in each("pairs", pairs, SentencePair):
            alignment = self.choice.of(pair)
            if alignment is None:
                self._passed["not aligned"] += 1
            elif not pair.has_text:
                self._passed["without words"] += 1
            else:
                source = None if self.string == "source" else self._tree(pair, 0)
                target = None if self.string == "target" else self._tree(pair, 1)
                parsed = source is not None or target is not None
                if self.grammar == "s2t" and self.string is None and parsed:
                    self.string = string_side("s2t", None, [source], [target])
                    source = None if self.string == "source" else source
                if (source is None and self.string != "source") or (
                    target is None and self.string != "target"
                ):
                    self._passed["not parsed"] += 1
                else:
                    yield pair, alignment, source, target

    def _tree(self, pair: SentencePair, side: int) -> Tree | None:
        name, sides = self.trees[side], ("source", "target")
        trees = (pair.source_trees, pair.target_trees)[side]
        return tree_of(pair, sides[side], name) if name is None or name in trees else None

    def _add(self, block: list[_Known]) -> None:
        pairs = [row[0] for row in block]
        derivations = Derived(
            pairs,
            [row[1] for row in block],
            ([row[2] for row in block], [row[3] for row in block]),
            links=self.links,
            string=self.string if self.grammar == "s2t" else None,
            reader=self._reader,
        ).arrays
        source, target = (
            TokenArrays(side.words, side.word_offsets)
            for side in (derivations.source, derivations.target)
        )
        self._lexicon.add(derivations.links, source, target)
        for size in range(1, self.size + 1):
            cuts = derivations.minimal() if size == 1 else derivations.composed(size)[0]
            self._count(size, derivations, cuts, pairs)
        if not self.size:
            self._count(0, derivations, derivations.everywhere(), pairs)
        if self._counts is not None:
            self._counts.end_block()

    def _count(
        self, size: int, derivations: Derivations, cuts: Cuts, pairs: list[SentencePair]
    ) -> None:
        fragments = derivations.fragments(cuts, deletions=self.deletions)
        kept, dropped = self.bounds.split(fragments)
        self._dropped.update(dropped)
        self._sizes[size] += int(kept.sum())
        if self._counts is None:
            self._counts = RuleCounts(derivations.strings, self.examples)
        self._counts.add(derivations, cuts, fragments, kept, pairs)
