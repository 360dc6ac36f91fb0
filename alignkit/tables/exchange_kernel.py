"""Divide records among buckets, and give their words the numbers of a larger lexicon.

A record is a phrase of words, each numbered from 1 on, 0, perhaps some numbers that are no words,
and another phrase. Lists of words are their bytes, one word after the other, and where each ends.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.jit import inlined, jit

Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]
Marks = NDArray[np.uint64]

_MIX = np.uint64(0x9E3779B97F4A7C15)


@jit
def renumber(symbols: Ints, offsets: Offsets, numbers: Ints, skip: int) -> Ints:
    """Return the symbols of records with other numbers of their words.

    Parameters
    ----------
    symbols, offsets
        The records.
    numbers
        The new number of each word, from 0 on.
    skip
        How many symbols behind the first 0 are no words.
    """
    made = np.empty(len(symbols), np.int32)
    for k in range(len(offsets) - 1):
        as_is = -1
        for i in range(offsets[k], offsets[k + 1]):
            if symbols[i] == 0 and as_is < 0:
                as_is = i + skip
            made[i] = symbols[i]
            if symbols[i] > 0 and i > as_is:
                made[i] = numbers[symbols[i] - 1] + 1
    return made


@jit
def by_mark(symbols: Ints, offsets: Offsets, marks: Marks, count: int) -> Ints:
    """Return a bucket for each record, which its first phrase alone decides.

    Parameters
    ----------
    symbols, offsets
        The records.
    marks
        A number for each word that follows from its text.
    count
        How many buckets there are.
    """
    found = np.empty(len(offsets) - 1, np.int32)
    for k in range(len(found)):
        mixed = np.uint64(0)
        i = offsets[k]
        while symbols[i] != 0:
            mixed = (mixed ^ marks[symbols[i] - 1]) * _MIX
            mixed ^= mixed >> np.uint64(29)
            i += 1
        found[k] = np.int32((mixed >> np.uint64(33)) % np.uint64(count))
    return found


@jit
def between(symbols: Ints, offsets: Offsets, keys: Ints, key_offsets: Offsets) -> Ints:
    """Return how many of some sorted phrases the first phrase of each record is not before.

    Parameters
    ----------
    symbols, offsets
        The records.
    keys, key_offsets
        The phrases.
    """
    found = np.empty(len(offsets) - 1, np.int32)
    for k in range(len(found)):
        low, high = 0, len(key_offsets) - 1
        while low < high:
            middle = (low + high) // 2
            if is_before(symbols, offsets[k], keys, key_offsets[middle], key_offsets[middle + 1]):
                high = middle
            else:
                low = middle + 1
        found[k] = low
    return found


@inlined
def is_before(symbols: Ints, i: int, keys: Ints, j: int, end: int) -> bool:
    """Say whether the phrase that begins at i, and ends before 0, comes before keys[j:end]."""
    while j < end:
        if symbols[i] != keys[j]:
            return bool(symbols[i] < keys[j])
        i += 1
        j += 1
    return False


@inlined
def compare_words(one: Bytes, i: int, end: int, other: Bytes, j: int, stop: int) -> int:
    """Return -1, 0 or 1: how one[i:end] compares with other[j:stop]."""
    while i < end and j < stop:
        if one[i] != other[j]:
            return -1 if one[i] < other[j] else 1
        i += 1
        j += 1
    if i < end:
        return 1
    return -1 if j < stop else 0


@jit
def merge_words(
    one: Bytes, one_ends: Offsets, other: Bytes, other_ends: Offsets
) -> tuple[Bytes, Offsets]:
    """Merge two sorted lists of words, each word once.

    Parameters
    ----------
    one, one_ends, other, other_ends
        The words, and (V + 1,) where each ends, from 0 on.
    """
    text = np.empty(len(one) + len(other), np.uint8)
    ends = np.zeros(len(one_ends) + len(other_ends) - 1, np.int64)
    i = j = at = size = 0
    while i < len(one_ends) - 1 or j < len(other_ends) - 1:
        order = 0
        if j == len(other_ends) - 1:
            order = -1
        elif i == len(one_ends) - 1:
            order = 1
        else:
            order = compare_words(
                one, one_ends[i], one_ends[i + 1], other, other_ends[j], other_ends[j + 1]
            )
        if order <= 0:
            for k in range(one_ends[i], one_ends[i + 1]):
                text[at] = one[k]
                at += 1
            i += 1
            if order == 0:
                j += 1
        else:
            for k in range(other_ends[j], other_ends[j + 1]):
                text[at] = other[k]
                at += 1
            j += 1
        size += 1
        ends[size] = at
    return text[:at].copy(), ends[: size + 1].copy()


@jit
def places(few: Bytes, few_ends: Offsets, all: Bytes, all_ends: Offsets) -> Ints:
    """Return where the words of a sorted list stand in another one, which has them all."""
    found = np.empty(len(few_ends) - 1, np.int32)
    j = 0
    for i in range(len(found)):
        while compare_words(all, all_ends[j], all_ends[j + 1], few, few_ends[i], few_ends[i + 1]):
            j += 1
        found[i] = j
    return found
