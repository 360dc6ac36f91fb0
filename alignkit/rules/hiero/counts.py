"""Count the hiero rules of a corpus in bounded memory, and compute their weights.

Rules are sequences of numbers; see `alignkit.rules.hiero.extraction_kernel` for the counted ones,
target side first, and `alignkit.rules.hiero.counts_kernel` for those of a grammar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain, count, islice
from typing import Any, TypeAlias

import numpy as np

from alignkit._support.arguments import check_count
from alignkit._support.jit import readonly
from alignkit.errors import OptionError
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays, TokenArrays, gather
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.trees import Tree
from alignkit.rules.derivation.derivations import NameNumbers
from alignkit.rules.grammar import Example, Node, Rule, RuleType, Variable, leaves, variables
from alignkit.rules.hiero import extraction
from alignkit.rules.hiero.counts_kernel import settle, turn
from alignkit.rules.hiero.extraction import HieroOptions
from alignkit.rules.hiero.extraction_kernel import BITS, encode
from alignkit.rules.learning import Lexicon, Weights
from alignkit.rules.tables.phrase_tables import whole_groups
from alignkit.rules.tables.runs import F8, I4, I8, Block, Runs, ends_of, ranked

ROOM = 256 << 20  # the default number of bytes for counting and sorting rules

PAIRS = 512  # the number of sentence pairs processed at a time

WEIGHTS = ("p_target", "p_source", "p_rule", "lexical_target", "lexical_source")
"""The weights of a rule; the last two only if words are weighted."""

OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class HieroBlock:
    """R rule types of a hiero or syntax-augmented grammar, in order, as numbers."""

    symbols: I4
    offsets: I8  # (R + 1,) int64: rule k is symbols[offsets[k]:offsets[k + 1]]
    counts: F8  # (R, 2): count, number of sentence pairs
    weights: F8
    words: list[str]  # the texts that numbers stand for, in order
    labels: list[str]
    most_symbols: int  # the most symbols of a side

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, kept: I8) -> HieroBlock:
        """Return the block of some of its rules, by position."""
        symbols, offsets = taken(self.symbols, self.offsets, kept)
        counts, weights = self.counts[kept], self.weights[kept]
        return replace(self, symbols=symbols, offsets=offsets, counts=counts, weights=weights)

    def types(self) -> Iterator[RuleType]:
        """Yield the rule types."""
        symbols, offsets = self.symbols.tolist(), self.offsets.tolist()
        counts, weights = self.counts.tolist(), self.weights.tolist()
        for k, (tokens, pairs) in enumerate(counts):
            rule, alignment = self._decoded(symbols[offsets[k] : offsets[k + 1]])
            known: dict[str, Any] = dict(zip(WEIGHTS, weights[k], strict=False))
            yield RuleType(rule, tokens, int(pairs), **known, alignment=alignment)

    def _decoded(self, symbols: list[int]) -> tuple[Rule, tuple[tuple[int, int], ...]]:
        middle = symbols.index(0, 1)
        end = symbols.index(0, middle + 1)
        label, base, numbers = self.labels[symbols[0]], 2 * len(self.labels) + 1, count()

        def side(symbols: list[int], variable: Callable[[int], Variable]) -> Node:
            words = (self.words[x - base] if x >= base else variable(x - 1) for x in symbols)
            return Node(label, tuple(words))

        source = side(symbols[1:middle], lambda x: Variable(next(numbers), self.labels[x]))
        target = side(symbols[middle + 1 : end], lambda x: Variable(x % 2, self.labels[x // 2]))
        alignment = tuple(
            divmod(bit, self.most_symbols)
            for k, mask in enumerate(symbols[end + 1 :])
            for bit in range(BITS * k, BITS * k + mask.bit_length())
            if mask >> bit - BITS * k & 1
        )
        return Rule(source, target), alignment


def taken(symbols: I4, offsets: I8, kept: I8) -> tuple[I4, I8]:
    """Return the sequences of some records."""
    if len(kept) == len(offsets) - 1:
        return symbols, offsets
    chosen, ends = gather(offsets, kept)
    return symbols[chosen], ends


Row: TypeAlias = "tuple[SentencePair, Alignment, Tree | None]"
"""A sentence pair, its alignment, and the tree for the labels."""


@dataclass(frozen=True, eq=False)
class Encoded:
    """The rules of some sentence pairs as sequences, R in total."""

    symbols: I4  # the sequences; see alignkit.rules.hiero.extraction_kernel
    ends: I8
    values: F8
    places: I8  # (R,): the row of the first derivation of each
    rows: I4  # the derivations, and how many there are up to each sentence pair
    row_ends: I8
    spans: I4  # those of phrase pairs


class HieroEncoder:
    """Number words and labels, and turn the rules of sentence pairs into sequences."""

    def __init__(self, options: HieroOptions, links: str, side: str | None) -> None:
        self._options, self._links, self._side = options, links, side
        self.numbers = NameNumbers()
        self.labels = extraction.Labels()
        self.masks = -(-(options.max_symbols**2) // BITS)

    def encode(
        self, block: list[Row]
    ) -> tuple[tuple[LinkArrays, TokenArrays, TokenArrays], Iterator[Encoded]]:
        """Return the links and words of sentence pairs, and their rules in parts."""
        texts = [pair.words for pair, _, _ in block]
        source, target = (self._encoded([text[side] for text in texts]) for side in (0, 1))
        arrays = LinkArrays.pack(
            (alignment for _, alignment, _ in block), [(len(s), len(t)) for s, t in texts]
        )
        if self._links == "sure":
            arrays = arrays.sure_only()
        longest = max(1, min(self._options.max_length, int(arrays.lengths.max(initial=0))))
        trees = [tree for *_, tree in block if tree is not None]
        chart = self.labels.chart(trees, longest) if self._side else np.zeros(0, np.int32)
        phrases, parts = extraction.derivations(arrays, self._options)
        most = self._options.max_symbols

        def encoded() -> Iterator[Encoded]:
            for first, stop, rows, row_ends in parts:
                if not len(rows):
                    continue
                symbols = np.empty(len(rows) * (2 * most + 3 + self.masks), np.int32)
                ends, places = (np.zeros(len(rows) + k, np.int64) for k in (1, 0))
                values = np.empty((len(rows), 2))
                count = encode(
                    rows, row_ends, readonly(phrases.spans),
                    readonly(arrays.links), readonly(arrays.offsets), readonly(arrays.lengths),
                    readonly(source.ids), readonly(source.offsets),
                    readonly(target.ids), readonly(target.offsets),
                    chart, longest, self._side == "source", most,
                    first, stop, symbols, ends, values, places,
                )  # fmt: skip
                yield Encoded(
                    symbols[: ends[count]], ends[: count + 1], values[:count], places[:count],
                    rows, row_ends[: stop + 1], phrases.spans,
                )  # fmt: skip

        return (arrays, source, target), encoded()

    def _encoded(self, sentences: list[tuple[str, ...]]) -> TokenArrays:
        offsets = ends_of([*map(len, sentences)])
        ids = self.numbers.encode(chain.from_iterable(sentences), int(offsets[-1]))
        check_count("symbols", 2 * len(self.numbers) + 2)
        return TokenArrays(ids, offsets)

    def sequence(self, rule: Rule) -> bytes:
        """Return the sequence of a rule with known words and labels, without an alignment."""
        source, target = rule
        if not isinstance(source, Node) or not isinstance(target, Node):
            raise OptionError("each side of a hiero rule must be a node with its label")
        labels = self.labels
        symbols = [labels[source.label]]
        order = [item.number for item in variables(target)]
        for side in (target, source):
            for item in leaves(side):
                if isinstance(item, str):
                    symbols.append(2 * self.numbers[item] + 2)
                elif side is target:
                    symbols.append(2 * labels[item.label] + 1)
                else:
                    symbols.append(2 * (2 * labels[item.label] + order.index(item.number)) + 1)
            symbols.append(0)
        return np.array(symbols, np.int32).tobytes()


class HieroCounts(ExitStack):
    """Count hiero rules, or syntax-augmented rules if there are trees."""

    def __init__(
        self, folder: str, options: HieroOptions, links: str, side: str | None, lexical: bool,
        room: int,
    ) -> None:  # fmt: skip
        super().__init__()
        self._folder, self._options = folder, options
        self._room = room // 2
        self._runs = self.enter_context(Runs(folder, sums=2, room=self._room))
        self.encoder = HieroEncoder(options, links, side)
        self._totals = np.zeros(0)
        self._lexical, self._lexicon = lexical, Lexicon()
        self.tokens = self.pairs = self.rare = self.sorted_bytes = 0

    def add(self, rows: Iterable[Row]) -> None:
        """Count the rules of sentence pairs, each with its alignment and its tree."""
        iterator = iter(rows)
        while block := list(islice(iterator, PAIRS)):
            words, parts = self.encoder.encode(block)
            if self._lexical:
                self._lexicon.add(*words)
            for part in parts:
                self.tokens += len(part.rows)
                self._runs.add(part.symbols, part.ends, part.values)
                labels, counts = part.symbols[part.ends[:-1]], part.values[:, 0]
                sums = np.bincount(labels, counts, len(self._totals))
                self._totals = np.pad(self._totals, (0, len(sums) - len(self._totals))) + sums
            self.pairs += len(block)

    def rules(self, *, min_count: int, progress: OnProgress | None) -> Iterator[HieroBlock]:
        """Yield all rule types, sorted by label, source side and target side, variables first."""
        words, word_ranks = ranked(self.encoder.numbers.texts)
        labels, label_ranks = ranked(self.encoder.labels.texts)
        check_count("symbols", 2 * len(labels) + 1 + len(words))
        totals = np.zeros(len(labels))
        totals[label_ranks[: len(self._totals)]] = self._totals
        weights = self._lexicon.weights(len(words))
        done = 0

        def step(block: Block) -> None:
            nonlocal done
            done += int(block.values[:, 0].sum())
            if progress is not None:
                progress(done, 2 * self.tokens)

        with Runs(self._folder, sums=5, room=self._room) as turned:
            with self._runs:
                for block, groups in whole_groups(self._runs, head=1):
                    self._turn(block, groups, weights, (word_ranks, label_ranks), min_count, turned)
                    step(block)
                self.sorted_bytes += self._runs.written
            for block, groups in whole_groups(turned, head=1):
                step(block)
                whole = _total(block.values[:, 0], groups)
                kept = np.flatnonzero(block.values[:, 1])
                symbols, offsets = taken(block.symbols, block.offsets, kept)
                counts, sums = block.values[kept, 0], block.values[kept, 2]
                of_label = totals[symbols[offsets[:-1]]]
                columns = [counts / whole[kept], counts / sums, counts / of_label]
                if self._lexical:
                    columns += [block.values[kept, 3], block.values[kept, 4]]
                yield HieroBlock(
                    symbols, offsets, block.values[kept, :2], np.stack(columns, axis=1),
                    words, labels, self._options.max_symbols,
                )  # fmt: skip
            self.sorted_bytes += turned.written

    def _turn(
        self, block: Block, groups: I8, weights: Weights, ranks: tuple[I4, I4], least: int,
        turned: Runs,
    ) -> None:  # fmt: skip
        best, settled = np.empty(len(block), np.int64), np.empty((len(block), 4))
        count = settle(
            readonly(block.symbols), readonly(block.offsets), readonly(block.values),
            self.encoder.masks, self._options.max_symbols, *weights, best, settled,
        )  # fmt: skip
        best, settled = best[:count], settled[:count]
        counts = settled[:, 0]
        values = np.empty((count, 5))
        values[:, :2], values[:, 3:] = settled[:, :2], settled[:, 2:]
        values[:, 2] = _total(counts, groups[best])
        rare = counts < least
        self.rare += int(rare.sum())
        values[rare, 1:] = 0
        symbols = np.empty(len(block.symbols) + count, np.int32)
        ends = np.empty(count + 1, np.int64)
        turn(
            readonly(block.symbols), readonly(block.offsets), best, readonly(counts), least,
            self.encoder.masks, *ranks, symbols, ends,
        )  # fmt: skip
        turned.add(symbols[: ends[-1]], ends, values)


def _total(counts: F8, groups: I8) -> F8:
    """Return the sum of the counts of each group, for each of its records."""
    numbers = groups - groups[:1]
    sums: F8 = np.bincount(numbers, counts)[numbers]
    return sums


def with_examples(
    types: Sequence[RuleType], rows: Sequence[Row], encoder: HieroEncoder, most: int
) -> list[RuleType]:
    """Return rule types with some places where they were seen."""
    places: list[list[Example]] = [[] for _ in types]
    numbers = {encoder.sequence(type.rule): k for k, type in enumerate(types)}
    for start in range(0, len(rows), PAIRS):
        block = list(rows[start : start + PAIRS])
        for part in encoder.encode(block)[1]:
            data, ends = part.symbols.tobytes(), (4 * part.ends).tolist()
            pairs = np.searchsorted(part.row_ends, part.places, "right") - 1
            spans = part.spans[part.rows[part.places, 0]]
            for record in np.flatnonzero(part.values[:, 1]).tolist():  # once for each sentence pair
                key = data[ends[record] : ends[record + 1] - 4 * encoder.masks]
                examples = places[numbers[key]] if key in numbers else None
                if examples is not None and len(examples) < most:
                    pair = block[pairs[record]][0]
                    a, b, c, d = spans[record].tolist()
                    source, target = pair.words
                    examples.append(Example(pair.id, source, target, (a, b), (c, d)))
    both = zip(types, places, strict=True)
    return [replace(type, examples=tuple(seen)) if seen else type for type, seen in both]
