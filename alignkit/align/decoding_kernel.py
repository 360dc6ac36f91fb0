"""Align with learned tables: recall pairs of the training, carry tables over, choose links."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import F4, I4, I8, U1, U4, U8
from alignkit._support.jit import inlined, jit
from alignkit.align.expectation_kernel import Own, Pairs
from alignkit.align.priors_kernel import Similarity, Spellings, WordPairs, add_similarity

STEP = np.uint64(0x9E3779B97F4A7C15)
MIX = np.uint64(0xBF58476D1CE4E5B9)


@jit
def mixed(key: np.uint64, word: int) -> np.uint64:
    """Mix a word into a hash."""
    key = (key ^ np.uint64(word)) * MIX + STEP
    return key ^ (key >> np.uint64(29))


@jit
def pair_keys(source: I4, source_starts: I8, target: I4, target_starts: I8, keys: U8) -> None:
    """Set keys (P,) to a 64-bit number of the words of each pair; 0 where a word is unknown."""
    for pair in range(len(keys)):
        key = STEP
        known = True
        for at in range(source_starts[pair], source_starts[pair + 1]):
            known &= source[at] >= 0
            key = mixed(key, source[at])
        # the length of the source divides the sides, so that words cannot move across
        key = mixed(key, source_starts[pair + 1] - source_starts[pair] + 1000000007)
        for at in range(target_starts[pair], target_starts[pair + 1]):
            known &= target[at] >= 0
            key = mixed(key, target[at])
        # 0 is kept for pairs with unknown words
        if known:
            keys[pair] = max(key, np.uint64(1))
        else:
            keys[pair] = 0


@jit
def count_above(levels: U1, begin: int, end: int) -> int:
    """Return how many levels are above 0."""
    size = 0
    for at in range(begin, end):
        size += levels[at] > 0
    return size


@jit
def count_links(order: I8, pairs: Pairs, own: Own, offsets: I8) -> None:
    """Set offsets (len(order) + 1,) from how many expected links the pairs in order have."""
    offsets[0] = 0
    for k in range(len(order)):
        p = order[k]
        size = count_above(own.links, pairs.starts[p], pairs.starts[p + 1])
        size += count_above(own.source, pairs.source_starts[p], pairs.source_starts[p + 1])
        size += count_above(own.target, pairs.target_starts[p], pairs.target_starts[p + 1])
        offsets[k + 1] = offsets[k] + size


@jit
def keep(given: U1, begin: int, end: int, first: int, to: int, cells: U4, levels: U1) -> int:
    """Keep what is above 0, from place `to` on, numbered from `first`; return the next place."""
    for at in range(begin, end):
        if given[at] > 0:
            cells[to] = first + at - begin
            levels[to] = given[at]
            to += 1
    return to


@jit
def remember(order: I8, pairs: Pairs, own: Own, offsets: I8, cells: U4, levels: U1) -> None:
    """Keep the expected links of the pairs named in order; offsets (len(order) + 1,)."""
    for k in range(len(order)):
        # the N * M cells of the pair come first, then its N source words, then its M target words
        p = order[k]
        begin = pairs.starts[p]
        end = pairs.starts[p + 1]
        first = end - begin
        to = keep(own.links, begin, end, 0, offsets[k], cells, levels)
        begin = pairs.source_starts[p]
        end = pairs.source_starts[p + 1]
        to = keep(own.source, begin, end, first, to, cells, levels)
        first += end - begin
        begin = pairs.target_starts[p]
        end = pairs.target_starts[p + 1]
        keep(own.target, begin, end, first, to, cells, levels)


@jit
def recall(numbers: I8, pairs: Pairs, offsets: I8, cells: U4, levels: U1, own: Own) -> None:
    """Set the expected links of pairs; numbers (P,) is where in the memory each is, or -1."""
    for p in range(len(numbers)):
        if numbers[p] < 0:
            continue
        start = pairs.starts[p]
        source_start = pairs.source_starts[p]
        target_start = pairs.target_starts[p]
        size = pairs.starts[p + 1] - start
        n = pairs.source_starts[p + 1] - source_start
        m = pairs.target_starts[p + 1] - target_start
        for at in range(offsets[numbers[p]], offsets[numbers[p] + 1]):
            # the order of `remember`: cells, source words, target words
            cell = np.int64(cells[at])
            if cell < size:
                own.links[start + cell] = levels[at]
            elif cell < size + n:
                own.source[source_start + cell - size] = levels[at]
            elif cell < size + n + m:
                own.target[target_start + cell - size - n] = levels[at]


class LexicalTables(NamedTuple):
    """K word pairs, and a number for each in both directions."""

    pairs: WordPairs
    forward: F4
    reverse: F4


@jit
def adapt(
    tables: LexicalTables, known: LexicalTables, source_numbers: I4, target_numbers: I4
) -> None:
    """Replace the numbers of `tables` where the word pair is known.

    source_numbers (Vs',) and target_numbers (Vt',) are the known numbers of the words, or -1.
    """
    rows, columns = tables.pairs
    known_rows, known_columns = known.pairs
    for row in range(len(rows) - 1):
        word = source_numbers[row]
        if word < 0:
            continue
        for place in range(rows[row], rows[row + 1]):
            other = target_numbers[columns[place]]
            if other < 0:
                continue
            # a binary search of the known row for the other word
            low = known_rows[word]
            high = min(known_rows[word + 1], low + other + 1)  # columns rise, by 1 at least
            while low < high:
                middle = (low + high) // 2
                if known_columns[middle] < other:
                    low = middle + 1
                else:
                    high = middle
            if low < known_rows[word + 1] and known_columns[low] == other:
                tables.forward[place] = known.forward[low]
                tables.reverse[place] = known.reverse[low]


@jit
def pair_tables(
    source: I4,
    target: I4,
    source_spellings: Spellings,
    target_spellings: Spellings,
    known: LexicalTables,
    similarity: Similarity,
    floor: np.float32,
    always: bool,
) -> tuple[U8, Pairs, F4, F4]:
    """Return the key and lexical tables of one pair, from its known numbers (N,), (M,), or -1.

    Word pairs that are not known get what spelling tells, and the floor; that where a word was
    never seen alone, if not `always`. Each word of the pair stands for itself.
    """
    n = len(source)
    m = len(target)
    # row i is source word i, and has all M columns
    rows = np.arange(n + 1) * m
    columns = np.empty(n * m, np.int32)
    for i in range(n):
        for j in range(m):
            columns[i * m + j] = j
    forward = np.zeros(n * m, np.float32)
    word_pairs = WordPairs(rows, columns)
    add_similarity(word_pairs, source_spellings, target_spellings, similarity, forward)
    for i in range(n):
        for j in range(m):
            if always or source[i] < 0 or target[j] < 0:
                forward[i * m + j] += floor
    # what spelling tells, overwritten where the word pair was learned
    reverse = forward.copy()
    adapt(LexicalTables(word_pairs, forward, reverse), known, source, target)
    source_starts = np.array([0, n])
    target_starts = np.array([0, m])
    key = np.empty(1, np.uint64)
    pair_keys(source, source_starts, target, target_starts, key)
    words = np.arange(max(n, m)).astype(np.int32)
    cells = np.arange(n * m).astype(np.int32)
    starts = np.array([0, n * m])
    pairs = Pairs(words[:n], source_starts, words[:m], target_starts, starts, cells)
    return key, pairs, forward, reverse


@inlined
def best_of(posteriors: F4, first: int, step: int, count: int) -> int:
    """Return which of count posteriors is the greatest, -1 where what they leave is greater."""
    best = np.float32(0)
    rest = np.float32(1)  # in the end what is left to the empty word
    place = -1
    for k in range(count):
        x = posteriors[first + k * step]
        rest -= x
        if x > best:
            best = x
            place = k
    if rest > best:
        return -1
    return place


@jit
def best_positions(
    begin: int,
    end: int,
    source_starts: I8,
    target_starts: I8,
    forward: F4,
    reverse: F4,
    target_path: I4,
    source_path: I4,
) -> None:
    """Set what each word is aligned to where words are aligned one by one; -1 for nothing.

    A word is aligned to nothing when the empty word, which has what the posteriors leave, is more
    probable than each position.
    """
    base = 0
    first_source = source_starts[begin]
    first_target = target_starts[begin]
    for p in range(begin, end):
        a = source_starts[p] - first_source
        b = target_starts[p] - first_target
        n = source_starts[p + 1] - source_starts[p]
        m = target_starts[p + 1] - target_starts[p]
        for j in range(m):
            target_path[b + j] = best_of(forward, base + j, m, n)
        for i in range(n):
            source_path[a + i] = best_of(reverse, base + i * m, 1, m)
        base += n * m
