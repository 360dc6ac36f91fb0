"""Numbers for the words of many lines at once, from bytes.

A hash table with open addressing and linear probing; it holds the number of each distinct word, and
its slots are four times the words that there is room for, so that at most a quarter is taken.
"""

from __future__ import annotations

import numpy as np

from alignkit._support.array_types import I4, I8, U1, U8
from alignkit._support.jit import jit

_EMPTY = -1
_FIRST = 1024
"""Words that there is room for at first; a power of two, and always doubled."""
_SLOTS = 4
"""Slots of the table for each word that there is room for; a power of two."""


@jit
def _table(hashes: U8, words: int) -> I4:
    """Return a table of some words, with slots for as many as there is room for hashes."""
    table = np.full(_SLOTS * len(hashes), _EMPTY, np.int32)
    mask = np.uint64(len(table) - 1)
    for word in range(words):
        # linear probing, from the low bits of the hash on
        slot = hashes[word] & mask
        while table[slot] != _EMPTY:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = word
    return table


@jit
def _number(
    text: U1,
    place: I8,
    ids: I4,
    starts: I8,
    begins: I8,
    ends: I8,
    hashes: U8,
    table: I4,
) -> None:
    """Go on until there is no room for a new word; `place` has byte, line, tokens and words.

    No array is made here: one that may be another in each turn is counted by numba in each.
    """
    # Invariant: text[:at] is done, and ids[:tokens] are the numbers of its words. Each w < words is
    # a distinct word, text[begins[w]:ends[w]], whose hash is hashes[w]; the table holds them all.
    at, line, tokens, words = place
    mask = np.uint64(len(table) - 1)
    while at < len(text):
        byte = text[at]
        if byte == 32 or 9 <= byte <= 13:
            if byte == 10:
                line += 1
                starts[line] = tokens
            at += 1
            continue
        begin = at
        hash = np.uint64(14695981039346656037)  # FNV-1a: h = (h ^ byte) * prime, modulo 2^64
        while at < len(text) and not (text[at] == 32 or 9 <= text[at] <= 13):
            hash = (hash ^ np.uint64(text[at])) * np.uint64(1099511628211)
            at += 1
        hash ^= hash >> np.uint64(29)  # the slot is taken from the low bits: mix in the high ones
        length = at - begin
        slot = hash & mask
        word = table[slot]
        while word != _EMPTY:  # ends: the table always has empty slots
            if hashes[word] == hash and ends[word] - begins[word] == length:
                first = begins[word]
                k = 0
                while k < length and text[first + k] == text[begin + k]:
                    k += 1
                if k == length:
                    break
            slot = (slot + np.uint64(1)) & mask
            word = table[slot]
        if word == _EMPTY:
            if words == len(begins):  # no room: this word is begun anew in a larger table
                at = begin
                break
            word = words
            table[slot] = word
            begins[word] = begin
            ends[word] = at
            hashes[word] = hash
            words += 1
        ids[tokens] = word
        tokens += 1
    place[:] = at, line, tokens, words


@jit
def number_words(text: U1, lines: int) -> tuple[I4, I8, I8, I8]:
    """Return the words of lines as numbers, in the order in which they first occur.

    text: (B,) bytes; each line ends in a line feed, and words are divided by ASCII white space.
    lines: How many lines there are.
    Returns: ids: (T,) the number of each word; starts: (lines + 1,) line k has the words from
        `starts[k]` to before `starts[k + 1]`; begins, ends: (V,) where each distinct word is in
        `text`.

    Takes 2 bytes a byte of text for `ids`, and 40 to 120 bytes a distinct word while it runs.
    """
    ids = np.empty(len(text) // 2 + 1, np.int32)
    starts = np.zeros(lines + 1, np.int64)
    begins = np.empty(_FIRST, np.int64)
    ends = np.empty(_FIRST, np.int64)
    hashes = np.empty(_FIRST, np.uint64)
    place = np.zeros(4, np.int64)
    while True:
        _number(text, place, ids, starts, begins, ends, hashes, _table(hashes, place[3]))
        if place[0] == len(text):
            break
        room = np.empty(len(begins), np.int64)
        begins = np.append(begins, room)
        ends = np.append(ends, room)
        hashes = np.append(hashes, np.empty(len(room), np.uint64))
    tokens, words = place[2:]
    return ids[:tokens].copy(), starts, begins[:words].copy(), ends[:words].copy()
