"""Count rule types, and links between words, block by block; make types with weights at the end.

Types and alignments are known by the bytes of their numbers, see `Fragments`: a rule is read into
objects only once, when all are counted.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import count as numbering

import numpy as np

from alignkit._support.array_types import B1, F8, I4, I8
from alignkit._support.jit import all_readonly
from alignkit.model.arrays import offsets_of
from alignkit.model.sentence_pair import SentencePair
from alignkit.rules.derivation.cuts_kernel import Cuts, Fragments
from alignkit.rules.derivation.derivations import Derivations
from alignkit.rules.derivation.rule_reader import RuleReader, mirrored
from alignkit.rules.files.notation import rule_text
from alignkit.rules.grammar import Example, Rule, RuleType, root_labels
from alignkit.rules.scores_kernel import WordWeights, weigh_words

_PENDING = 1 << 20  # word pairs whose counts wait to be added up
_HALF = 32  # a key is two numbers in 64 bits: first << 32 | second


class Lexicon:
    """Count links between words, and words without links, by word number."""

    def __init__(self) -> None:
        self._keys = np.zeros(0, np.int64)  # as in `WordWeights`
        self._counts = np.zeros(0, np.int64)
        self._pending: list[tuple[I8, I8]] = []  # keys and counts to be added
        self._size = 0  # how many are pending
        # of words without links, by number
        self._lone_targets = np.zeros(0)
        self._lone_sources = np.zeros(0)

    def add(self, derivations: Derivations) -> None:
        """Count the links of some sentence pairs, and their words without links."""
        links = derivations.links
        source = derivations.source
        target = derivations.target
        pair = links.pair_of
        source_places = source.word_offsets[pair] + links.links[:, 0]
        target_places = target.word_offsets[pair] + links.links[:, 1]
        source_words = source.words[source_places].astype(np.int64)
        target_words = target.words[target_places]
        keys, counts = np.unique(source_words << _HALF | target_words, return_counts=True)
        self._pending.append((keys, counts))
        self._size += len(keys)
        if self._size > max(_PENDING, len(self._keys)):
            self._settle()
        lone_targets = _without_links(target.words, target_places)
        lone_sources = _without_links(source.words, source_places)
        self._lone_targets = _added(self._lone_targets, lone_targets)
        self._lone_sources = _added(self._lone_sources, lone_sources)

    def _settle(self) -> None:
        """Add up the pending counts."""
        keys, counts = zip((self._keys, self._counts), *self._pending, strict=True)
        self._keys, places = np.unique(np.concatenate(keys), return_inverse=True)
        total = np.bincount(places, np.concatenate(counts), len(self._keys))
        self._counts = total.astype(np.int64)
        self._pending = []
        self._size = 0

    def weights(self, words: int) -> WordWeights:
        """Return the weights of the words numbered below `words`."""
        self._settle()
        sources = self._keys >> _HALF
        targets = self._keys & ((1 << _HALF) - 1)
        columns = []
        for given in (sources, targets):
            totals = np.bincount(given, weights=self._counts, minlength=words)
            columns.append(self._counts / totals[given])
        lone = np.zeros((words, 2))
        for column, counts in enumerate((self._lone_targets, self._lone_sources)):
            lone[: len(counts), column] = counts / max(1, counts.sum())
        linked = np.stack(columns, axis=1)
        return all_readonly(WordWeights(self._keys, linked, lone))


def _without_links(words: I4, linked: I8) -> I4:
    """Return the words of a side but for those at the places that are linked."""
    free = np.ones(len(words), bool)
    free[linked] = False
    return words[free]


class RuleCounts:
    """Rule types and their counts.

    A type has a number and is known by the bytes of its symbols, see `Fragments`; each alignment of
    its words has a number of its own.
    """

    def __init__(self, examples: int) -> None:
        self._most = examples
        self._types: dict[bytes, int] = defaultdict(numbering().__next__)  # a new one: the next
        self._sides: list[tuple[bytes, bytes]] = []  # the symbols of each type
        self._alignments: dict[tuple[int, bytes], int] = {}  # by type and links
        self._counts = np.zeros(0)  # of each type
        self._pairs = np.zeros(0)  # in how many pairs each type is
        self._aligned = np.zeros(0)  # the count of each alignment
        self._seen: list[I8] = []  # type << 32 | pair, of the block
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
        numbers = self._numbers(fragments, chosen)
        counts = cuts.counts[chosen]
        self._counts = _added(self._counts, numbers, counts)
        self._seen.append(numbers << _HALF | cuts.pairs[chosen])
        alignments = self._alignment_numbers(fragments, chosen, numbers)
        self._aligned = _added(self._aligned, alignments, counts)
        if self._most:
            self._add_examples(derivations, cuts, chosen, numbers, pairs)

    def _numbers(self, fragments: Fragments, chosen: I8) -> I8:
        """Return the number of the type of each chosen rule; new types get the next number."""
        text = fragments.symbols.tobytes()
        ends = (fragments.offsets * 4).tolist()  # in bytes, of both sides of each rule
        numbers = np.empty(len(chosen), np.int64)
        for k, rule in enumerate(chosen.tolist()):
            start, middle, end = ends[2 * rule : 2 * rule + 3]
            number = self._types[text[start:end]]
            numbers[k] = number
            if number == len(self._sides):
                self._sides.append((text[start:middle], text[middle:end]))
        return numbers

    def _alignment_numbers(self, fragments: Fragments, chosen: I8, numbers: I8) -> I8:
        """Return the number of the alignment of each chosen rule, whose types are `numbers`."""
        text = fragments.links.tobytes()
        ends = (fragments.link_offsets * 4).tolist()
        keys = self._alignments
        places = np.empty(len(chosen), np.int64)
        for k, (number, rule) in enumerate(zip(numbers.tolist(), chosen.tolist(), strict=True)):
            links = text[ends[rule] : ends[rule + 1]]
            places[k] = keys.setdefault((number, links), len(keys))
        return places

    def _add_examples(
        self,
        derivations: Derivations,
        cuts: Cuts,
        chosen: I8,
        numbers: I8,
        pairs: Sequence[SentencePair],
    ) -> None:
        """Keep the places of rules whose types still lack examples, in different pairs."""
        for rule, number in zip(chosen.tolist(), numbers.tolist(), strict=True):
            known = self._examples.setdefault(number, [])
            k = int(cuts.pairs[rule])
            pair = pairs[k]
            if len(known) == self._most or any(example.id == pair.id for example in known):
                continue
            source_root, target_root = cuts.roots[rule]
            source_span = derivations.source.span(k, source_root)
            target_span = derivations.target.span(k, target_root)
            known.append(Example(pair.id, *pair.words, source_span, target_span))

    def end_block(self) -> None:
        """Count the pairs of a block, once per type, even if it is a rule of several sizes."""
        if self._seen:
            self._pairs = _added(self._pairs, np.unique(np.concatenate(self._seen)) >> _HALF)
            self._seen = []

    def types(self, reader: RuleReader, weights: WordWeights) -> tuple[RuleType, ...]:
        """Return the rule types with their weights, by count, then by their text."""
        p_target = self._shares([source for source, _ in self._sides])
        p_source = self._shares([mirrored(target) for _, target in self._sides])
        rules = [Rule(*map(reader.side, sides)) for sides in self._sides]
        p_rule = self._shares(list(map(root_labels, rules)))
        lexical = self._lexical(weights).tolist()
        alignments = self._best_alignments()
        rows = []
        for k, rule in enumerate(rules):
            count = float(self._counts[k])
            if abs(count - round(count)) < 1e-9:
                count = round(count)
            lexical_target, lexical_source = lexical[k]
            entry = RuleType(
                rule=rule,
                count=count,
                pairs=int(self._pairs[k]),
                p_target=p_target[k],
                p_source=p_source[k],
                p_rule=p_rule[k],
                lexical_target=lexical_target,
                lexical_source=lexical_source,
                alignment=alignments[k],
                examples=tuple(self._examples.get(k, ())),
            )
            rows.append((-count, rule_text(rule), entry))
        rows.sort(key=lambda row: row[:2])
        return tuple(entry for _, _, entry in rows)

    def _shares(self, keys: Sequence[Hashable]) -> list[float]:
        """Return the share of each type in the count of all types with the same key."""
        numbers: dict[Hashable, int] = defaultdict(numbering().__next__)
        groups = np.array([numbers[key] for key in keys], np.int64)
        totals = np.bincount(groups, weights=self._counts)
        shares: list[float] = (self._counts / totals[groups]).tolist()
        return shares

    def _lexical(self, weights: WordWeights) -> F8:
        """Return both lexical weights of each type: the best over its alignments."""
        numbers = []
        sides: list[bytes] = []
        alignments = []
        for number, links in self._alignments:
            numbers.append(number)
            sides += self._sides[number]
            alignments.append(links)
        by_alignment = weigh_words(*_joined(sides), *_joined(alignments), weights)
        best = np.zeros((len(self._sides), 2))
        np.maximum.at(best, numbers, by_alignment)
        return best

    def _best_alignments(self) -> list[tuple[tuple[int, int], ...]]:
        """Return the links of the most frequent alignment of each type, or the first of these."""
        best_counts = [0.0] * len(self._sides)
        best = [b""] * len(self._sides)
        for (number, links), count in zip(self._alignments, self._aligned.tolist(), strict=True):
            if count > best_counts[number]:
                best_counts[number] = count
                best[number] = links
        alignments = []
        for links in best:
            flat = array("i", links).tolist()
            alignments.append(tuple(zip(flat[::2], flat[1::2], strict=True)))
        return alignments


def _added(known: F8, numbers: I4 | I8, more: F8 | None = None) -> F8:
    """Add `more` (1 if None) to the counts of some numbers, which may be new."""
    counts = np.bincount(numbers, weights=more, minlength=len(known)).astype(np.float64)
    counts[: len(known)] += known
    return counts


def _joined(parts: Sequence[bytes]) -> tuple[I4, I8]:
    """Return the numbers of all parts in one array, and where each part begins in it."""
    numbers = np.frombuffer(b"".join(parts), np.int32)
    return numbers, offsets_of([len(part) // 4 for part in parts])
