"""Learn a grammar of synchronous tree rules from a corpus: `learn_grammar`.

Pairs are read in blocks. The rules of a block are counted (`RuleCounts`), and so are the links
between its words (`Lexicon`), from which rules get lexical weights. Both give the rule types with
their weights at the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from alignkit._support.arguments import check_arguments, each, naming_keywords
from alignkit._support.array_types import B1
from alignkit.errors import OptionError
from alignkit.io.inputs import Choice
from alignkit.model.alignment import SIDES, Alignment
from alignkit.model.sentence_pair import SentencePair, tree_of_pair
from alignkit.model.trees import Tree
from alignkit.rules.derivation import derivation
from alignkit.rules.derivation.cuts_kernel import (
    SOURCE_DEPTH,
    SOURCE_NODES,
    TARGET_DEPTH,
    TARGET_NODES,
    VARIABLE_COUNT,
    Cuts,
    Fragments,
)
from alignkit.rules.derivation.derivation import Derived
from alignkit.rules.derivation.derivations import Derivations
from alignkit.rules.derivation.rule_reader import RuleReader
from alignkit.rules.grammar import Grammar
from alignkit.rules.rule_counts import Lexicon, RuleCounts

_BLOCK = 1024  # sentence pairs


@dataclass(frozen=True)
class Bounds:
    """The limits of the rules of a grammar; None is no limit."""

    variables: int | None = None  # the most variables; deleted and inserted constituents are none
    nodes: int | None = None  # the most nodes of either side, variables counted
    depth: int | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            least = 0 if name == "variables" else 1
            if value is not None and value < least:
                raise OptionError(f"max_{name} is {value}, which excludes every rule")

    def split(self, fragments: Fragments) -> tuple[B1, Counter[str]]:
        """Return which rules are within the limits, and how many each limit drops first."""
        figures = fragments.figures
        kept = np.ones(len(figures), bool)
        dropped: Counter[str] = Counter()
        limits = (
            (self.variables, [VARIABLE_COUNT], "more than {} variables"),
            (self.nodes, [SOURCE_NODES, TARGET_NODES], "more than {} nodes on a side"),
            (self.depth, [SOURCE_DEPTH, TARGET_DEPTH], "deeper than {}"),
        )
        for most, columns, what in limits:
            if most is not None:
                beyond = kept & (figures[:, columns].max(axis=1) > most)
                dropped[what.format(most)] = int(beyond.sum())
                kept &= ~beyond
        return kept, dropped


@naming_keywords
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
    """Learn the synchronous tree rules of a corpus, as rule types with weights.

    Parameters
    ----------
    pairs : The sentence pairs, aligned and parsed; read once, a thousand at a time. Pairs that are
        not aligned, have no words or lack a tree are skipped and counted.
    annotator : The annotator whose alignments are used; None if only one annotator aligned them.
    links, grammar, string, deletions : As for `extract_rules`.
    source_tree, target_tree : The names of trees; None if each side has only one.
    size : Learn rules made of up to so many connected minimal rules.
    all : Use a rule for each pair of consistent nodes instead of the minimal rules of one
        derivation; it counts as a fraction if nodes have the same links.
    max_variables, max_nodes, max_depth : The limits of `Bounds`; rules beyond them are counted in
        `Grammar.dropped`.
    examples : The number of places to keep for each type, in different pairs.

    Returns
    -------
    Grammar
        Weights are over all rules within the limits, identities included. p_source is the share of
        the rule among those with the same target side, with variables numbered as on that side: the
        p_target of the same grammar with the sides exchanged.

    Raises
    ------
    UnknownNameError : If `links`, `annotator`, `grammar`, `string` or a tree has an unknown name.
    OptionError : If there are several annotators or trees and none is named, a limit or size is
        less than 1, `size` is given with `all`, or there are too many rules of the size.

    Examples
    --------
    >>> tree = Tree.parse("(S (NP (NNS dogs)) (VP (VBP bark)))")
    >>> other = Tree.parse("(S (NP (NNS hounds)) (VP (VBP bark)))")
    >>> pair = SentencePair("1", tree.words, other.words, {"gold": Alignment.parse("0-0 1-1")})
    >>> grammar = learn_grammar([pair.with_trees("gold", source=tree, target=other)])
    >>> grammar
    Grammar(5 types of 5 rules, stsg)
    >>> [entry.rule.target for entry in grammar.select(identity=False)]
    [Node(label='NNS', children=('hounds',))]
    """
    check_arguments(learn_grammar, locals(), apart=["pairs"])
    derivation.check_names(links, grammar, string)
    derivation.check_size(size)
    bounds = Bounds(max_variables, max_nodes, max_depth)
    if examples < 0:
        raise OptionError(f"`examples` is {examples}; it must be 0 or more")
    if all and size > 1:
        raise OptionError("`all` and `size` exclude each other: leave out one of them")
    if all and grammar != "stsg":
        raise OptionError("`all` needs trees on both sides: leave it out, or use `grammar='stsg'`")
    learner = _Learner(
        choice=Choice("the corpus", annotator),
        links=links,
        grammar=grammar,
        trees=(source_tree, target_tree),
        string=string,
        size=size,
        everywhere=all,
        deletions=deletions,
        bounds=bounds,
        examples=examples,
    )
    return learner.learn(pairs)


_ParsedPair = tuple[SentencePair, Alignment, Tree | None, Tree | None]


@dataclass
class _Learner:
    """Learn from blocks of pairs; see `learn_grammar`."""

    choice: Choice
    links: str
    grammar: str
    trees: tuple[str | None, str | None]
    string: str | None  # the side; in `_parsed`, the first pair with a tree may decide it
    size: int
    everywhere: bool  # learn the rules of all consistent nodes, in place of those up to a size
    deletions: bool
    bounds: Bounds
    examples: int

    def __post_init__(self) -> None:
        self._reader = RuleReader()
        self._lexicon = Lexicon()
        self._counts = RuleCounts(self.examples)
        self._dropped: Counter[str] = Counter()  # rules beyond the limits, by the limit
        self._passed: Counter[str] = Counter()  # pairs that give no rules, by the reason
        self._sizes: Counter[int] = Counter()  # rules, by size

    def learn(self, pairs: Iterable[SentencePair]) -> Grammar:
        """Return the grammar of a corpus, which is read block by block."""
        read = 0
        parsed = self._parsed(pairs)
        while block := list(islice(parsed, _BLOCK)):
            read += len(block)
            self._add(block)
        self.choice.check()
        weights = self._lexicon.weights(len(self._reader.words))
        return Grammar(
            types=self._counts.types(self._reader, weights),
            kind=self.grammar,
            dropped=+self._dropped,  # without zeros
            pairs=read,
            passed_over=+self._passed,
            sizes=dict(self._sizes),
        )

    def _parsed(self, pairs: Iterable[SentencePair]) -> Iterator[_ParsedPair]:
        """Yield the pairs that give rules, with their trees; the others are counted."""
        for pair in each("pairs", pairs, SentencePair):
            alignment = self.choice.of(pair)
            if alignment is None:
                self._passed["not aligned"] += 1
                continue
            if not pair.has_text:
                self._passed["without words"] += 1
                continue
            source = self._tree(pair, 0)
            target = self._tree(pair, 1)
            has_tree = source is not None or target is not None
            if self.grammar == "s2t" and self.string is None and has_tree:
                # the first pair with a tree decides which side is the string
                self.string = derivation.string_side("s2t", None, [source], [target])
                if self.string == "source":
                    source = None
            lacks_source = source is None and self.string != "source"
            lacks_target = target is None and self.string != "target"
            if lacks_source or lacks_target:
                self._passed["not parsed"] += 1
            else:
                yield pair, alignment, source, target

    def _tree(self, pair: SentencePair, side: int) -> Tree | None:
        """Return the tree of a side; None for the side that is a string, or without the tree."""
        where = SIDES[side]
        if self.string == where:
            return None
        return tree_of_pair(pair, where, self.trees[side])

    def _add(self, block: list[_ParsedPair]) -> None:
        """Count the words and rules of a block of pairs."""
        pairs, alignments, sources, targets = zip(*block, strict=True)
        string = self.string if self.grammar == "s2t" else None
        derived = Derived(
            pairs, alignments, (sources, targets), self.links, string, reader=self._reader
        )
        derivations = derived.arrays
        self._lexicon.add(derivations)
        if self.everywhere:
            self._count(derivations, derivations.everywhere(), pairs)
        else:
            for size in range(1, self.size + 1):
                kept = self._count(derivations, derivations.composed(size), pairs)
                self._sizes[size] += kept
        self._counts.end_block()

    def _count(self, derivations: Derivations, cuts: Cuts, pairs: Sequence[SentencePair]) -> int:
        """Count the rules that are within the limits; return how many these are."""
        fragments = derivations.fragments(cuts, deletions=self.deletions)
        kept, dropped = self.bounds.split(fragments)
        self._dropped.update(dropped)
        self._counts.add(derivations, cuts, fragments, kept, pairs)
        return int(kept.sum())
