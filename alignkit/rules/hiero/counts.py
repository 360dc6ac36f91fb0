"""Count the hiero rules of a corpus in bounded memory, and weigh them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_count
from alignkit._support.jit import readonly
from alignkit.rules.counting import Lexicon, Weights
from alignkit.rules.grammar import Example, RuleType
from alignkit.rules.hiero.block import Encoded, HieroBlock, HieroEncoder, Row, taken
from alignkit.rules.hiero.counts_kernel import heads, settle, turn
from alignkit.rules.hiero.extraction import HieroOptions
from alignkit.rules.tables.phrase_tables import joined, part_of
from alignkit.rules.tables.runs import Block, Runs

ROOM = 256 << 20
"""The bytes in which rules are counted and sorted, unless more or less is asked for."""

PAIRS = 512
"""How many sentence pairs are taken at a time."""

OnProgress = Callable[[int, int], None]


class HieroCounts:
    """Counts hiero rules, or with trees syntax-augmented ones."""

    def __init__(
        self,
        folder: str,
        options: HieroOptions,
        *,
        links: str = "sure",
        side: str | None = None,
        lexical: bool = True,
        room: int = ROOM,
    ) -> None:
        self._folder, self._options = folder, options
        self._room = room // 2
        self._runs = Runs(folder, sums=2, room=self._room)
        self.encoder = HieroEncoder(options, links, side)
        self._totals = np.zeros(0)
        self._lexicon = Lexicon() if lexical else None
        self.tokens = self.pairs = self.rare = self.sorted_bytes = 0

    def __enter__(self) -> HieroCounts:
        return self

    def __exit__(self, *_: object) -> None:
        self._runs.close()

    def add(self, rows: Iterable[Row]) -> None:
        """Count the rules of sentence pairs, each with its alignment and the tree of its side."""
        iterator = iter(rows)
        while block := list(islice(iterator, PAIRS)):
            self._count(block)

    def _count(self, block: list[Row]) -> None:
        words, parts = self.encoder.encode(block)
        if self._lexicon is not None:
            self._lexicon.add(*words)
        for part in parts:
            self.tokens += len(part.rows)
            self._runs.add(part.symbols, part.ends, part.values)
            sums = np.bincount(part.symbols[part.ends[:-1]], part.values[:, 0], len(self._totals))
            self._totals = np.pad(self._totals, (0, len(sums) - len(self._totals))) + sums
        self.pairs += len(block)

    def rules(
        self, *, min_count: int = 1, progress: OnProgress | None = None
    ) -> Iterator[HieroBlock]:
        """Yield all rule types, sorted by label, source side and target side, variables first."""
        words, word_ranks = _ranked(list(self.encoder.numbers))
        labels, label_ranks = _ranked(self.encoder.labels.texts)
        check_count("symbols", 2 * len(labels) + 1 + len(words))
        totals = np.zeros(len(labels))
        totals[label_ranks[: len(self._totals)]] = self._totals
        weights = Weights.nothing()
        if self._lexicon is not None:
            weights = self._lexicon.weights(len(words))
        done = 0

        def step(block: Block) -> None:
            nonlocal done
            done += int(block.values[:, 0].sum())
            if progress is not None:
                progress(done, 2 * self.tokens)

        with Runs(self._folder, sums=5, room=self._room) as turned:
            with self._runs:
                for block, new in _groups(self._runs.merge()):
                    self._turn(block, new, weights, (word_ranks, label_ranks), min_count, turned)
                    step(block)
                self.sorted_bytes += self._runs.written
            for block, new in _groups(turned.merge()):
                step(block)
                whole = _total(block.values[:, 0], new)
                kept = np.flatnonzero(block.values[:, 1])
                symbols, offsets = taken(block.symbols, block.offsets, kept)
                counts, sums = block.values[kept, 0], block.values[kept, 2]
                columns = [
                    counts / whole[kept],
                    counts / sums,
                    counts / totals[symbols[offsets[:-1]]],
                ]
                if self._lexicon is not None:
                    columns += [block.values[kept, 3], block.values[kept, 4]]
                yield HieroBlock(
                    symbols, offsets, block.values[kept, :2], np.stack(columns, axis=1),
                    words, labels, self._options.max_symbols,
                )  # fmt: skip
            self.sorted_bytes += turned.written

    def _turn(
        self,
        block: Block,
        new: NDArray[np.uint8],
        weights: Weights,
        ranks: tuple[NDArray[np.int32], NDArray[np.int32]],
        least: int,
        turned: Runs,
    ) -> None:
        best, group = np.empty(len(block), np.int64), np.empty(len(block), np.uint8)
        settled = np.empty((len(block), 4))
        count = settle(
            readonly(block.symbols), readonly(block.offsets), readonly(block.values), new,
            self.encoder.masks, self._options.max_symbols,
            readonly(weights.keys), readonly(weights.weights), readonly(weights.lone),
            best, group, settled,
        )  # fmt: skip
        best, group, settled = best[:count], group[:count], settled[:count]
        counts = settled[:, 0]
        values = np.empty((count, 5))
        values[:, :2], values[:, 3:] = settled[:, :2], settled[:, 2:]
        values[:, 2] = _total(counts, group)
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


def _ranked(texts: list[str]) -> tuple[list[str], NDArray[np.int32]]:
    order = sorted(range(len(texts)), key=texts.__getitem__)
    ranks = np.empty(len(texts), np.int32)
    ranks[order] = np.arange(len(texts), dtype=np.int32)
    return [texts[place] for place in order], ranks


def _groups(blocks: Iterable[Block]) -> Iterator[tuple[Block, NDArray[np.uint8]]]:
    held: list[Block] = []
    for block in chain(blocks, [None]):
        if block is not None:
            held.append(block)
        if not held:
            return
        whole = held[0] if len(held) == 1 else joined(held)
        new = np.empty(len(whole), np.uint8)
        last = heads(readonly(whole.symbols), readonly(whole.offsets), new)
        stop = len(whole) if block is None else last
        if stop:
            yield part_of(whole, 0, stop), new[:stop]
        held = [part_of(whole, stop, len(whole))] if stop < len(whole) else []


def _total(counts: NDArray[np.float64], new: NDArray[np.uint8]) -> NDArray[np.float64]:
    starts = np.flatnonzero(new)
    if not len(starts):
        return counts
    return np.repeat(np.add.reduceat(counts, starts), np.diff(starts, append=len(new)))


def with_examples(
    types: Sequence[RuleType], rows: Sequence[Row], encoder: HieroEncoder, most: int
) -> list[RuleType]:
    """Return rule types with places where they were seen."""
    places: list[list[Example]] = [[] for _ in types]
    numbers = {encoder.sequence(type.rule): k for k, type in enumerate(types)}
    for start in range(0, len(rows), PAIRS):
        block = list(rows[start : start + PAIRS])
        for part in encoder.encode(block)[1]:
            _collect(part, block, numbers, places, most, 4 * encoder.masks)
    return [
        replace(type, examples=tuple(examples)) if examples else type
        for type, examples in zip(types, places, strict=True)
    ]


def _collect(
    part: Encoded,
    block: list[Row],
    numbers: dict[bytes, int],
    places: list[list[Example]],
    most: int,
    mask_bytes: int,
) -> None:
    data, ends = part.symbols.tobytes(), (4 * part.ends).tolist()
    pairs = np.searchsorted(part.row_ends, part.places, "right") - 1
    spans = part.spans[part.rows[part.places, 0]]
    for record in np.flatnonzero(part.values[:, 1]).tolist():  # once for each sentence pair
        key = data[ends[record] : ends[record + 1] - mask_bytes]
        examples = places[numbers[key]] if key in numbers else None
        if examples is not None and len(examples) < most:
            pair = block[pairs[record]][0]
            source, target = pair.words
            a, b, c, d = spans[record].tolist()
            examples.append(Example(pair.id, source, target, (a, b), (c, d)))
