"""Rule types of hiero and syntax-augmented grammars as numbers, many at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from alignkit.rules.grammar import RuleType
from alignkit.rules.hiero.extraction_kernel import BITS
from alignkit.rules.rule import Item, Node, Rule, Variable


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
