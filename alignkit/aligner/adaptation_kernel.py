"""Carry lexical tables over to the word pairs of another bitext."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.memory_kernel import pair_keys
from alignkit.aligner.priors_kernel import add_similarity
from alignkit.jit import jit

F4 = NDArray[np.float32]
I4 = NDArray[np.int32]
I8 = NDArray[np.int64]
U4 = NDArray[np.uint32]


class PairTables(NamedTuple):
    """What an aligner knows of one sentence pair, each word of which stands for itself.

    `key` (1,) is the pair's in the memory; `places` number the words of the longer side, `cells`
    the word pairs of `forward` and `reverse`. The rest is as in `Pairs` and `Tables`.
    """

    key: NDArray[np.uint64]
    forward: F4
    reverse: F4
    source_kinds: I4
    target_kinds: I4
    places: I4
    cells: I4
    source_starts: I8
    target_starts: I8
    starts: I8


@jit
def adapt(
    rows: I8,
    columns: I4,
    source_numbers: I4,
    target_numbers: I4,
    known_rows: I8,
    known_columns: I4,
    forward: F4,
    reverse: F4,
    new_forward: F4,
    new_reverse: F4,
) -> None:
    """Replace new_forward and new_reverse (K',) where the word pair is known.

    source_numbers (Vs',) and target_numbers (Vt',) are the known numbers of the words, or -1.
    """
    for row in range(len(rows) - 1):
        word = source_numbers[row]
        if word < 0:
            continue
        for place in range(rows[row], rows[row + 1]):
            other = target_numbers[columns[place]]
            if other < 0:
                continue
            low = known_rows[word]
            high = min(known_rows[word + 1], low + other + 1)  # columns rise, by 1 at least
            while low < high:
                middle = (low + high) // 2
                if known_columns[middle] < other:
                    low = middle + 1
                else:
                    high = middle
            if low < known_rows[word + 1] and known_columns[low] == other:
                new_forward[place] = forward[low]
                new_reverse[place] = reverse[low]


@jit
def kinds_in(numbers: I4, kinds: int) -> I4:
    """Return the kinds of words by their numbers; see `kinds_of`."""
    found = np.full(len(numbers), kinds - 1, np.int32)
    for at in range(len(numbers)):
        if 0 <= numbers[at] < kinds:
            found[at] = numbers[at]
    return found


@jit
def pair_tables(
    source: I4,
    target: I4,
    source_letters: U4,
    source_letter_starts: I8,
    target_letters: U4,
    target_letter_starts: I8,
    known_rows: I8,
    known_columns: I4,
    known_forward: F4,
    known_reverse: F4,
    least: int,
    spelling: float,
    identity: float,
    floor: np.float32,
    always: bool,
    kinds: int,
) -> PairTables:
    """Lay out the lexical tables of one pair, given as known numbers (N,) and (M,), or -1.

    Word pairs that are not known get what spelling tells, and the floor; that where a word was
    never seen alone, if not `always`.
    """
    n, m = len(source), len(target)
    rows = np.arange(n + 1) * m
    columns = np.empty(n * m, np.int32)
    for i in range(n):
        for j in range(m):
            columns[i * m + j] = j
    forward = np.zeros(n * m, np.float32)
    add_similarity(
        rows, columns, source_letters, source_letter_starts, target_letters, target_letter_starts,
        least, spelling, identity, forward,
    )  # fmt: skip
    for i in range(n):
        for j in range(m):
            if always or source[i] < 0 or target[j] < 0:
                forward[i * m + j] += floor
    reverse = forward.copy()
    adapt(
        rows, columns, source, target, known_rows, known_columns, known_forward, known_reverse,
        forward, reverse,
    )  # fmt: skip
    source_starts = np.array([0, n])
    target_starts = np.array([0, m])
    key = np.empty(1, np.uint64)
    pair_keys(source, source_starts, target, target_starts, key)
    places = np.arange(max(n, m)).astype(np.int32)
    cells = np.arange(n * m).astype(np.int32)
    starts = np.array([0, n * m])
    kinds_of_source, kinds_of_target = kinds_in(source, kinds), kinds_in(target, kinds)
    return PairTables(
        key, forward, reverse, kinds_of_source, kinds_of_target, places, cells,
        source_starts, target_starts, starts,
    )  # fmt: skip
