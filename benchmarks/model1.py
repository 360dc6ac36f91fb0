"""Align a bitext in both directions by IBM Model 1 with a preference for the diagonal.

Not a good aligner: a quick one, whose errors look like those of real aligners.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alignkit import LinkArrays, TokenArrays

__all__ = ["align"]

_ROUNDS = 4
_NULL = 0.08
_TENSION = 4.0

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class _Cells:
    """Hold every cell (i, j) of every sentence pair, pair after pair.

    `entry` is its row in the translation table, whose words are `table_source`, `table_target`;
    `source` and `target` are the places of its words in the whole text.
    """

    pair: Numbers
    i: Numbers
    j: Numbers
    source: Numbers
    target: Numbers
    entry: Numbers
    table_source: Numbers
    table_target: Numbers
    diagonal: NDArray[np.float64]


def align(source: TokenArrays, target: TokenArrays) -> tuple[LinkArrays, LinkArrays]:
    """Return the forward links (of each target word) and the reverse ones (of each source word)."""
    cells = _cells(source, target)
    lengths = np.stack([np.diff(source.offsets), np.diff(target.offsets)], axis=1).astype(np.int32)
    forward = _chosen(cells, cells.target, cells.table_source, target.ids)
    reverse = _chosen(cells, cells.source, cells.table_target, source.ids)
    return _links(cells, forward, lengths), _links(cells, reverse, lengths)


def _cells(source: TokenArrays, target: TokenArrays) -> _Cells:
    n, m = np.diff(source.offsets), np.diff(target.offsets)
    ends = np.cumsum(n * m)
    pair = np.repeat(np.arange(len(n)), n * m)
    place = np.arange(len(pair)) - np.repeat(ends - n * m, n * m)
    i, j = np.divmod(place, m[pair])
    from_word, to_word = source.offsets[pair] + i, target.offsets[pair] + j
    base = int(target.ids.max()) + 1
    words, entry = np.unique(
        source.ids[from_word].astype(np.int64) * base + target.ids[to_word], return_inverse=True
    )
    away = np.abs((i + 0.5) / n[pair] - (j + 0.5) / m[pair])
    table_source, table_target = np.divmod(words, base)
    diagonal = np.exp(-_TENSION * away)
    return _Cells(pair, i, j, from_word, to_word, entry, table_source, table_target, diagonal)


def _chosen(
    cells: _Cells, owner: Numbers, given: Numbers, words: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Train, and say of each cell whether the word that owns it chooses it.

    Parameters
    ----------
    owner
        The place in the text of each cell's choosing word.
    given
        The word on the other side, for each entry of the table.
    words
        The choosing words of the whole text.
    """
    prior = cells.diagonal / np.bincount(owner, cells.diagonal)[owner] * (1 - _NULL)
    null = _NULL * (np.bincount(words) / len(words))[words]
    counts = np.bincount(cells.entry, prior)
    for _ in range(_ROUNDS):
        table = counts / np.bincount(given, counts)[given]
        weight = table[cells.entry] * prior
        total = np.bincount(owner, weight, len(words)) + null
        counts = np.bincount(cells.entry, weight / total[owner])
    best = null.copy()
    np.maximum.at(best, owner, weight)
    chosen: NDArray[np.bool_] = (weight == best[owner]) & (weight > null[owner])
    return chosen


def _links(cells: _Cells, chosen: NDArray[np.bool_], lengths: NDArray[np.int32]) -> LinkArrays:
    links = np.stack([cells.i[chosen], cells.j[chosen]], axis=1).astype(np.int32)
    sizes = np.bincount(cells.pair[chosen], minlength=len(lengths))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return LinkArrays(links, np.ones(len(links), np.uint8), offsets, lengths)
