"""Rule types of hiero and syntax-augmented grammars as numbers, many at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_count
from alignkit._support.jit import readonly
from alignkit.errors import OptionError
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays, TokenArrays
from alignkit.model.phrase_arrays import PhraseArrays
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.trees import Tree
from alignkit.rules.grammar import Item, Node, Rule, RuleType, Variable
from alignkit.rules.hiero.extraction import HieroOptions, Part, check_tree, derivations, words_of
from alignkit.rules.hiero.extraction_kernel import BITS, encode
from alignkit.rules.hiero.samt import Labels


@dataclass(frozen=True, eq=False)
class HieroBlock:
    """R rule types of a hiero or syntax-augmented grammar, in order, as numbers."""

    symbols: NDArray[np.int32]
    offsets: NDArray[np.int64]  # (R + 1,) int64: rule k is symbols[offsets[k]:offsets[k + 1]]
    counts: NDArray[np.float64]  # (R, 2): count, number of sentence pairs
    weights: NDArray[np.float64]
    words: list[str]  # the texts that numbers stand for, in order
    labels: list[str]
    most_symbols: int  # the most symbols of a side

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def types(self) -> Iterator[RuleType]:
        """Yield the rule types."""
        symbols, offsets = self.symbols.tolist(), self.offsets.tolist()
        counts, weights = self.counts.tolist(), self.weights.tolist()
        for k, (count, pairs) in enumerate(counts):
            part = symbols[offsets[k] : offsets[k + 1]]
            rule, alignment = self._decoded(part)
            p_target, p_source, p_rule, *lexical = weights[k]
            of_target, of_source = lexical or (None, None)
            yield RuleType(
                rule, count, int(pairs), p_target, p_source, p_rule, of_target, of_source, alignment
            )

    def _decoded(self, symbols: list[int]) -> tuple[Rule, tuple[tuple[int, int], ...]]:
        middle = symbols.index(0, 1)
        end = symbols.index(0, middle + 1)
        base = 2 * len(self.labels) + 1
        source: list[Item] = []
        number = 0
        for symbol in symbols[1:middle]:
            if symbol < base:
                source.append(Variable(number, self.labels[symbol - 1]))
                number += 1
            else:
                source.append(self.words[symbol - base])
        target: list[Item] = [
            Variable((symbol - 1) % 2, self.labels[(symbol - 1) // 2])
            if symbol < base
            else self.words[symbol - base]
            for symbol in symbols[middle + 1 : end]
        ]
        most = self.most_symbols
        alignment = tuple(
            divmod(bit, most)
            for k, mask in enumerate(symbols[end + 1 :])
            for bit in range(BITS * k, BITS * k + mask.bit_length())
            if mask >> bit - BITS * k & 1
        )
        label = self.labels[symbols[0]]
        return Rule(Node(label, tuple(source)), Node(label, tuple(target))), alignment


def kept_of(block: HieroBlock, kept: NDArray[np.int64]) -> HieroBlock:
    """Return the block of some of its rules, by their places."""
    symbols, offsets = taken(block.symbols, block.offsets, kept)
    return replace(
        block,
        symbols=symbols,
        offsets=offsets,
        counts=block.counts[kept],
        weights=block.weights[kept],
    )


def taken(
    symbols: NDArray[np.int32], offsets: NDArray[np.int64], kept: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the sequences of some records."""
    if len(kept) == len(offsets) - 1:
        return symbols, offsets
    sizes = np.diff(offsets)[kept]
    ends = np.zeros(len(kept) + 1, np.int64)
    np.cumsum(sizes, out=ends[1:])
    chosen = np.repeat(offsets[kept] - ends[:-1], sizes) + np.arange(ends[-1])
    return symbols[chosen], ends


Row: TypeAlias = "tuple[SentencePair, Alignment, Tree | None]"
"""A sentence pair, its alignment, and the tree that gives labels."""


@dataclass(frozen=True, eq=False)
class Encoded:
    """The rules of some sentence pairs as sequences, R in all."""

    symbols: NDArray[np.int32]  # the sequences; see alignkit.rules.hiero.extraction_kernel
    ends: NDArray[np.int64]
    values: NDArray[np.float64]
    places: NDArray[np.int64]  # (R,): the row of the first derivation of each
    rows: NDArray[np.int32]  # the derivations, and how many there are up to each sentence pair
    row_ends: NDArray[np.int64]
    spans: NDArray[np.int32]  # those of phrase pairs


class HieroEncoder:
    """Number words and labels, and make sequences of the rules of sentence pairs."""

    def __init__(self, options: HieroOptions, links: str, side: str | None) -> None:
        self._options, self._links, self._side = options, links, side
        self.numbers: dict[str, int] = {}
        self.labels = Labels()
        self.masks = -(-(options.max_symbols**2) // BITS)

    def encode(
        self, block: list[Row]
    ) -> tuple[tuple[LinkArrays, TokenArrays, TokenArrays], Iterator[Encoded]]:
        """Return the links and words of sentence pairs, and their rules in parts."""
        texts = [words_of(pair) for pair, _, _ in block]
        source, target = (self._encoded([text[side] for text in texts]) for side in (0, 1))
        arrays = LinkArrays.pack(
            (alignment for _, alignment, _ in block), [(len(s), len(t)) for s, t in texts]
        )
        if self._links == "sure":
            arrays = arrays.sure_only()
        longest = max(1, min(self._options.max_length, int(arrays.lengths.max(initial=0))))
        chart = self._chart(block, longest)
        phrases, parts = derivations(arrays, self._options)
        words = arrays, source, target
        return words, (
            self._part(part, phrases, words, chart, longest) for part in parts if len(part[2])
        )

    def _part(
        self,
        part: Part,
        phrases: PhraseArrays,
        words: tuple[LinkArrays, TokenArrays, TokenArrays],
        chart: NDArray[np.int32],
        longest: int,
    ) -> Encoded:
        first, stop, rows, row_ends = part
        arrays, source, target = words
        most = self._options.max_symbols
        symbols = np.empty(len(rows) * (2 * most + 3 + self.masks), np.int32)
        ends, values = np.zeros(len(rows) + 1, np.int64), np.empty((len(rows), 2))
        places = np.empty(len(rows), np.int64)
        count = encode(
            rows, row_ends, readonly(phrases.spans),
            readonly(arrays.links), readonly(arrays.offsets), readonly(arrays.lengths),
            readonly(source.ids), readonly(source.offsets),
            readonly(target.ids), readonly(target.offsets),
            chart, longest, self._side == "source", most,
            first, stop, symbols, ends, values, places,
        )  # fmt: skip
        return Encoded(
            symbols[: ends[count]], ends[: count + 1], values[:count], places[:count],
            rows, row_ends[: stop + 1], phrases.spans,
        )  # fmt: skip

    def _encoded(self, sentences: list[tuple[str, ...]]) -> TokenArrays:
        numbers = self.numbers
        ids = [numbers.setdefault(word, len(numbers)) for words in sentences for word in words]
        check_count("symbols", 2 * len(numbers) + 2)
        offsets = np.zeros(len(sentences) + 1, np.int64)
        np.cumsum([len(words) for words in sentences], out=offsets[1:])
        return TokenArrays(np.array(ids, np.int32), offsets)

    def _chart(self, block: list[Row], longest: int) -> NDArray[np.int32]:
        if self._side is None:
            return np.zeros(0, np.int32)
        trees = []
        for pair, _, tree in block:
            if tree is None:
                raise OptionError(f"pair {pair.id!r} has no tree of the {self._side} side")
            check_tree(tree, pair, self._side)
            trees.append(tree)
        return self.labels.chart(trees, longest)

    def sequence(self, rule: Rule) -> bytes:
        """Return the sequence of a rule of these words and labels, without an alignment."""
        source, target = rule
        if not isinstance(source, Node) or not isinstance(target, Node):
            raise OptionError("a side of a hiero rule is a node of its label")
        label = self.labels.number
        found = [label(source.label)]
        order = [item.number for item in target.children if isinstance(item, Variable)]
        for side in (target, source):
            for item in side.children:
                if isinstance(item, Variable):
                    code = label(item.label)
                    found.append(
                        2 * (code if side is target else 2 * code + order.index(item.number)) + 1
                    )
                elif isinstance(item, str):
                    found.append(2 * self.numbers[item] + 2)
            found.append(0)
        return np.array(found, np.int32).tobytes()
