"""Entries of tables of phrases in arrays: two phrases with three numbers, and their lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from alignkit._support.array_types import F8, I4, I8
from alignkit._support.jit import readonly
from alignkit.rules.tables import table_kernel as kernel
from alignkit.rules.tables.word_pool import WordPool

Words = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class TableBlock:
    """R records of two phrases, with 0 between them; E of them are entries of a table."""

    symbols: I4  # of all records, one after the other; a word's is its number plus 1
    offsets: I8  # (R + 1,): record k is symbols[offsets[k]:offsets[k + 1]]
    shown: I8  # (E,): which records are entries, in their order in the table
    values: F8  # (E, 3): the numbers of each entry

    def rows(self, words: Sequence[str]) -> Iterator[tuple[Words, Words, list[float]]]:
        """Yield both phrases of each entry and its numbers; `words` has the words by symbol."""
        symbols = self.symbols.tolist()
        offsets = self.offsets.tolist()
        for k, values in zip(self.shown.tolist(), self.values.tolist(), strict=True):
            divider = symbols.index(0, offsets[k])
            first = tuple([words[symbol] for symbol in symbols[offsets[k] : divider]])
            second = tuple([words[symbol] for symbol in symbols[divider + 1 : offsets[k + 1]]])
            yield first, second, values


def table_lines(
    blocks: Iterable[TableBlock], words: WordPool, text_of: Callable[[float], str]
) -> Iterator[str]:
    """Yield entries as lines, many in a text: two phrases and three numbers, divided by tabs.

    `words` has the words in the order of their numbers, and `text_of` writes a number.
    """
    for block in blocks:
        # each different number is written once
        different, places = np.unique(block.values, return_inverse=True)
        numbers = WordPool.of(map(text_of, different.tolist()))
        text = kernel.write(
            readonly(block.symbols),
            readonly(block.offsets),
            block.shown,
            readonly(words.text),
            words.ends,
            numbers.text,
            numbers.ends,
            places.reshape(-1, 3),
        )
        yield text.tobytes().decode()
