"""Learn a grammar of synchronous tree rules from a corpus: `learn_grammar`.

Rules are counted in blocks of sentence pairs, as sequences of numbers; weights come at the end.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count as numbering
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from alignkit._support.arguments import check_arguments, each, naming_keywords
from alignkit._support.array_types import B1
from alignkit._support.jit import readonly
from alignkit.errors import OptionError
from alignkit.io.inputs import Choice
from alignkit.model.alignment import SIDES, Alignment
from alignkit.model.arrays import LinkArrays, TokenArrays
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.trees import Tree
from alignkit.rules.derivation import derivation
from alignkit.rules.derivation.derivation import Derived, RuleReader
from alignkit.rules.derivation.derivations import Cuts, Derivations, Fragments
from alignkit.rules.files.notation import rule_text
from alignkit.rules.grammar import Example, Grammar, Rule, RuleType
from alignkit.rules.scores_kernel import weigh_words
from alignkit.rules.tables.runs import F8, I4, I8, ends_of

_BLOCK = 1024
_PENDING = 1 << 20


Weights: TypeAlias = tuple[I8, F8, F8]
"""Keys (W,), source word << 32 | target word, rising; w(target | source) and w(source | target)
(W, 2); w(target | NULL) and w(source | NULL) of words (V, 2)."""


class Lexicon:
    """Count links between words, and words without links, by word number."""

    def __init__(self) -> None:
        self._keys, self._counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._pending: list[tuple[I8, I8]] = []
        self._size = 0
        self._lone = [np.zeros(0), np.zeros(0)]

    def add(self, links: LinkArrays, source: TokenArrays, target: TokenArrays) -> None:
        """Count the links of some sentence pairs, and their words without links."""
        pair = links.pair_of
        sides = enumerate((source, target))
        places = [side.offsets[pair] + links.links[:, column] for column, side in sides]
        sources = source.ids[places[0]].astype(np.int64)
        keys, counts = np.unique(sources << 32 | target.ids[places[1]], return_counts=True)
        self._pending.append((keys, counts))
        self._size += len(keys)
        if self._size > max(_PENDING, len(self._keys)):
            self._settle()
        for column, side in ((0, target), (1, source)):
            free = np.ones(len(side.ids), bool)
            free[places[1 - column]] = False
            self._lone[column] = _added(self._lone[column], side.ids[free])

    def _settle(self) -> None:
        """Add up the pending counts."""
        keys = np.concatenate([self._keys, *(keys for keys, _ in self._pending)])
        counts = np.concatenate([self._counts, *(counts for _, counts in self._pending)])
        self._keys, places = np.unique(keys, return_inverse=True)
        self._counts = np.bincount(places, counts, len(self._keys)).astype(np.int64)
        self._pending = []
        self._size = 0

    def weights(self, words: int) -> Weights:
        """Return the weights of the words numbered below `words`."""
        self._settle()
        columns = []
        for word in (self._keys >> 32, self._keys & 0xFFFFFFFF):
            totals = np.bincount(word, weights=self._counts, minlength=words)
            columns.append(self._counts / totals[word])
        lone = np.zeros((words, 2))
        for column, counts in enumerate(self._lone):
            lone[: len(counts), column] = counts / max(1, counts.sum())
        return readonly(self._keys), readonly(np.stack(columns, axis=1)), readonly(lone)


class RuleCounts:
    """Rule types and their counts."""

    def __init__(self, strings: tuple[bool, bool], examples: int = 0) -> None:
        self._strings = strings
        self._most = examples
        self._types: dict[bytes, int] = defaultdict(numbering().__next__)  # numbers of rules
        self._sides: list[tuple[bytes, bytes]] = []
        self._alignments: dict[tuple[int, bytes], int] = {}
        self._counts, self._pairs, self._aligned = np.zeros(0), np.zeros(0), np.zeros(0)
        self._seen: list[I8] = []
        self._examples: dict[int, list[Example]] = {}

    def add(
        self,
        derivations: Derivations,
        cuts: Cuts,
        fragments: Fragments,
        kept: B1,
        pairs: Sequence[SentencePair],
    ) -> None:
        """Count the rules of a block that are kept; `end_block` ends it."""
        chosen = np.flatnonzero(kept)
        text = fragments.symbols.tobytes()
        ends = (fragments.offsets * 4).tolist()
        numbers = np.empty(len(chosen), np.int64)
        for k, rule in enumerate(chosen.tolist()):
            start, middle, end = ends[2 * rule : 2 * rule + 3]
            numbers[k] = number = self._types[text[start:end]]
            if number == len(self._sides):
                self._sides.append((text[start:middle], text[middle:end]))
        counts = (np.ones(len(cuts)) if cuts.counts is None else cuts.counts)[chosen]
        self._counts = _added(self._counts, numbers, counts)
        self._seen.append(numbers << 32 | cuts.pairs[chosen])
        text = fragments.links.tobytes()
        ends = (fragments.link_offsets * 4).tolist()
        keys = self._alignments
        places = [
            keys.setdefault((number, text[ends[rule] : ends[rule + 1]]), len(keys))
            for number, rule in zip(numbers.tolist(), chosen.tolist(), strict=True)
        ]
        self._aligned = _added(self._aligned, np.array(places, np.int64), counts)
        if not self._most:
            return
        sides = derivations.source, derivations.target
        for rule, number in zip(chosen.tolist(), numbers.tolist(), strict=True):
            known = self._examples.setdefault(number, [])
            pair = pairs[k := int(cuts.pairs[rule])]
            if len(known) == self._most or any(example.id == pair.id for example in known):
                continue
            roots = zip(sides, cuts.roots[rule], strict=True)
            spans = (side.nodes[1:3, side.offsets[k] + node].tolist() for side, node in roots)
            first, second = ((start, end) for start, end in spans)
            known.append(Example(pair.id, *pair.words, first, second))

    def end_block(self) -> None:
        """Count the pairs of a block, once per type, even if it is a rule of several sizes."""
        if self._seen:
            self._pairs = _added(self._pairs, np.unique(np.concatenate(self._seen)) >> 32)
            self._seen = []

    def types(self, reader: RuleReader, weights: Weights) -> tuple[RuleType, ...]:
        """Return the rule types with their weights, by count, then by their text."""
        sources = [source for source, _ in self._sides]
        targets = [derivation.mirrored(target) for _, target in self._sides]
        labels = [4 * (not string) for string in self._strings]  # a string has none
        roots = [(source[: labels[0]], target[: labels[1]]) for source, target in self._sides]
        columns = []
        for keys in (sources, targets, roots):
            numbers: dict[Hashable, int] = defaultdict(numbering().__next__)
            groups = np.array([numbers[key] for key in keys], np.int64)
            totals = np.bincount(groups, weights=self._counts)
            columns.append((self._counts / totals[groups]).tolist())
        lexical = self._lexical(weights).tolist()
        alignments = self._best_alignments()
        rows = []
        for k, (source, target) in enumerate(self._sides):
            rule = Rule(reader.side(source), reader.side(target))
            count = float(self._counts[k])
            if abs(count - round(count)) < 1e-9:
                count = round(count)
            known: list[Any] = [*(column[k] for column in columns), *lexical[k], alignments[k]]
            known.append(tuple(self._examples.get(k, ())))
            entry = RuleType(rule, count, int(self._pairs[k]), *known)
            rows.append((-count, rule_text(rule), entry))
        return tuple(entry for *_, entry in sorted(rows, key=lambda row: row[:2]))

    def _lexical(self, weights: Weights) -> F8:
        """Return both lexical weights of each type: the best over its alignments."""
        numbers = [number for number, _ in self._alignments]
        sides = _joined([side for number in numbers for side in self._sides[number]])
        links = _joined([links for _, links in self._alignments])
        by_alignment = weigh_words(*sides, *links, weights[0], weights[1], weights[2])
        best = np.zeros((len(self._sides), 2))
        np.maximum.at(best, numbers, by_alignment)
        return best

    def _best_alignments(self) -> list[tuple[tuple[int, int], ...]]:
        best: dict[int, tuple[float, bytes]] = {}
        for (number, links), count in zip(self._alignments, self._aligned.tolist(), strict=True):
            if number not in best or count > best[number][0]:
                best[number] = count, links
        flat = (array("i", best[k][1]).tolist() for k in range(len(self._types)))
        return [tuple(zip(links[::2], links[1::2], strict=True)) for links in flat]


def _added(known: F8, numbers: I4 | I8, more: F8 | None = None) -> F8:
    """Add `more` (1 if None) to the counts of some numbers, which may be new."""
    counts = np.bincount(numbers, weights=more, minlength=len(known)).astype(np.float64)
    counts[: len(known)] += known
    return counts


def _joined(parts: Sequence[bytes]) -> tuple[I4, I8]:
    return np.frombuffer(b"".join(parts), np.int32), ends_of([len(part) // 4 for part in parts])


@dataclass(frozen=True)
class Bounds:
    """The limits of the rules of a grammar; None is no limit."""

    variables: int | None = None  # the most variables; deleted and inserted constituents are none
    nodes: int | None = None  # the most nodes of either side, variables counted
    depth: int | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and value < (name != "variables"):
                raise OptionError(f"max_{name} is {value}, which excludes every rule")

    def split(self, fragments: Fragments) -> tuple[B1, Counter[str]]:
        """Return which rules are within the limits, and how many each limit drops first."""
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
    return _Learner(
        Choice("the corpus", annotator),
        links,
        grammar,
        (source_tree, target_tree),
        string,
        0 if all else size,
        deletions,
        bounds,
        examples,
    ).learn(pairs)


_Known = tuple[SentencePair, Alignment, Tree | None, Tree | None]


@dataclass
class _Learner:
    """Learn from blocks of pairs; with `size` 0, the rules of all consistent nodes."""

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
        self._reader = RuleReader()
        self._lexicon = Lexicon()
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
        weights = self._lexicon.weights(len(self._reader.words))
        types = () if self._counts is None else self._counts.types(self._reader, weights)
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
                if self.string == "source":
                    source = None
                else:
                    source = self._tree(pair, 0)
                if self.string == "target":
                    target = None
                else:
                    target = self._tree(pair, 1)
                parsed = source is not None or target is not None
                if self.grammar == "s2t" and self.string is None and parsed:
                    self.string = derivation.string_side("s2t", None, [source], [target])
                    if self.string == "source":
                        source = None
                sides = (("source", source), ("target", target))
                if any(tree is None and self.string != side for side, tree in sides):
                    self._passed["not parsed"] += 1
                else:
                    yield pair, alignment, source, target

    def _tree(self, pair: SentencePair, side: int) -> Tree | None:
        name = self.trees[side]
        where = SIDES[side]
        if name is None or name in getattr(pair, f"{where}_trees"):
            return derivation.tree_of(pair, where, name)
        return None

    def _add(self, block: list[_Known]) -> None:
        pairs, alignments, sources, targets = zip(*block, strict=True)
        string = self.string if self.grammar == "s2t" else None
        how = self.links, string, False, self._reader
        derivations = Derived(pairs, alignments, (sources, targets), *how).arrays
        trees = derivations.source, derivations.target
        words = (TokenArrays(side.words, side.word_offsets) for side in trees)
        self._lexicon.add(derivations.links, *words)
        for size in range(1, self.size + 1):
            self._count(size, derivations, derivations.composed(size), pairs)
        if not self.size:
            self._count(0, derivations, derivations.everywhere(), pairs)
        if self._counts is not None:
            self._counts.end_block()

    def _count(self, size: int, of: Derivations, cuts: Cuts, pairs: Sequence[SentencePair]) -> None:
        fragments = of.fragments(cuts, deletions=self.deletions)
        kept, dropped = self.bounds.split(fragments)
        self._dropped.update(dropped)
        self._sizes[size] += int(kept.sum())
        if self._counts is None:
            self._counts = RuleCounts(of.strings, self.examples)
        self._counts.add(of, cuts, fragments, kept, pairs)
