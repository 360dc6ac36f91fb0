"""Merge the links of two directions, for many sentence pairs: the compiled loops of `symmetrize`.

The union of the two is sorted by target word, then by source word, which is the order in which
symal scans. Memory, without the output, is 19 bytes for each link of the two, N bytes and 9 M
bytes, each for the sentence pair that needs most; there is no N x M table.
"""

from __future__ import annotations

import numpy as np

from alignkit._support.array_types import I4, I8, U1
from alignkit._support.jit import jit

FORWARD = 1
REVERSE = 2
BOTH = 3

NEIGHBOURS = np.array(  # (target, source) steps, in the order of symal
    [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)], np.int32
)


@jit
def union(
    forward: I4, f: int, f_end: int, reverse: I4, r: int, r_end: int, links: I4, origin: U1
) -> int:
    """Merge two sorted runs of links into `links`, with the side of each; return the number.

    The runs are `forward[f:f_end]` and `reverse[r:r_end]`.
    """
    # A merge of two sorted runs; `order` compares the next links, source word first.
    size = 0
    while f < f_end or r < r_end:
        if r == r_end:
            order = -1
        elif f == f_end:
            order = 1
        else:
            order = forward[f, 0] - reverse[r, 0]
            if order == 0:
                order = forward[f, 1] - reverse[r, 1]
        links[size] = forward[f] if order <= 0 else reverse[r]
        if order < 0:
            origin[size] = FORWARD
        elif order > 0:
            origin[size] = REVERSE
        else:
            origin[size] = BOTH
        f += order <= 0
        r += order >= 0
        size += 1
    return size


@jit
def by_target(links: I4, size: int, m: int, rows: I8, order: I8) -> None:
    """Sort links by target word, then source word.

    `order` becomes the numbers of the sorted links; those of target word j are
    `order[rows[j]:rows[j + 1]]`.
    """
    # A counting sort: rows[j + 2] counts the links of j; summed up, rows[j + 1] is where those of
    # j begin; each link that is placed moves it on, so that in the end it is where they end.
    rows[: m + 2] = 0
    for k in range(size):
        rows[links[k, 1] + 2] += 1
    for j in range(2, m + 2):
        rows[j] += rows[j - 1]
    for k in range(size):
        j = links[k, 1]
        order[rows[j + 1]] = k
        rows[j + 1] += 1


@jit
def find(links: I4, order: I8, low: int, high: int, source: int) -> int:
    """Return the place of a source word in the row `order[low:high]`; -1 if it is not there."""
    end = high
    while low < high:
        middle = (low + high) // 2
        if links[order[middle], 0] < source:
            low = middle + 1
        else:
            high = middle
    if low < end and links[order[low], 0] == source:
        return low
    return -1


@jit
def grow(
    links: I4,
    size: int,
    m: int,
    rows: I8,
    order: I8,
    kept: U1,
    waiting: U1,
    source_taken: U1,
    target_taken: U1,
) -> None:
    """Add neighbours of kept links, in symal's order, until nothing is added.

    A scan visits the links that it adds ahead of itself, as with symal's sorted set. No link needs
    a second visit: after the first, all its neighbours are kept or have both words taken. So each
    later scan begins at the first link that was added behind.
    """
    # `waiting` are the kept links that were not visited; all of them lie in order[begin:end] or,
    # if added behind the scan, in order[again_begin:again_end].
    waiting[:size] = kept[:size]
    begin = 0
    end = size
    while begin < end:
        again_begin = size
        again_end = 0
        place = begin
        while place < end:
            k = order[place]
            if waiting[k]:
                waiting[k] = 0
                for d in range(len(NEIGHBOURS)):
                    j = links[k, 1] + NEIGHBOURS[d, 0]
                    i = links[k, 0] + NEIGHBOURS[d, 1]
                    if j < 0 or j >= m or i < 0 or i >= len(source_taken):
                        continue
                    if source_taken[i] and target_taken[j]:
                        continue
                    spot = find(links, order, rows[j], rows[j + 1], i)
                    if spot < 0:  # the neighbour is not in the union
                        continue
                    kept[order[spot]] = 1
                    waiting[order[spot]] = 1
                    source_taken[i] = 1
                    target_taken[j] = 1
                    if spot > place:  # ahead: met in this scan
                        end = max(end, spot + 1)
                    else:  # behind: met in the next one
                        again_begin = min(again_begin, spot)
                        again_end = max(again_end, spot + 1)
            place += 1
        begin = again_begin
        end = again_end


@jit
def add_free(
    links: I4,
    size: int,
    order: I8,
    origin: U1,
    side: int,
    both: bool,
    kept: U1,
    source_taken: U1,
    target_taken: U1,
) -> None:
    """Add the links of only one side with one word, or both words, not taken yet."""
    # Each link that is added takes its words, so those behind see fewer free ones.
    for place in range(size):
        k = order[place]
        if origin[k] != side or kept[k]:
            continue
        i, j = links[k, 0], links[k, 1]
        taken = source_taken[i] + target_taken[j]
        if taken == 0 or (taken == 1 and not both):
            kept[k] = 1
            source_taken[i] = 1
            target_taken[j] = 1


@jit
def merge(
    forward: I4,
    forward_offsets: I8,
    reverse: I4,
    reverse_offsets: I8,
    lengths: I4,
    everything: bool,
    growing: bool,
    final: int,
    out: I4,
    offsets: I8,
) -> None:
    """Write the merged links of all sentence pairs.

    `everything`, `growing` and `final` are those of `Method`. `out` (C, 2) has room for the links
    of both sides together; `offsets` (P + 1,) becomes the start of the links of each pair.
    """
    room = 0
    most_n = 0
    most_m = 0
    for k in range(len(lengths)):
        n_forward = forward_offsets[k + 1] - forward_offsets[k]
        n_reverse = reverse_offsets[k + 1] - reverse_offsets[k]
        room = max(room, n_forward + n_reverse)
        most_n = max(most_n, lengths[k, 0])
        most_m = max(most_m, lengths[k, 1])
    links = np.empty((room, 2), np.int32)
    origin = np.empty(room, np.uint8)
    kept = np.empty(room, np.uint8)
    waiting = np.empty(room, np.uint8)
    order = np.empty(room, np.int64)
    rows = np.empty(most_m + 2, np.int64)
    source_taken = np.empty(most_n, np.uint8)
    target_taken = np.empty(most_m, np.uint8)
    offsets[0] = 0
    for pair in range(len(lengths)):
        n, m = lengths[pair, 0], lengths[pair, 1]
        size = union(
            forward,
            forward_offsets[pair],
            forward_offsets[pair + 1],
            reverse,
            reverse_offsets[pair],
            reverse_offsets[pair + 1],
            links,
            origin,
        )
        source_taken[:n] = 0
        target_taken[:m] = 0
        for k in range(size):
            kept[k] = everything or origin[k] == BOTH
            if kept[k]:
                source_taken[links[k, 0]] = 1
                target_taken[links[k, 1]] = 1
        if growing or final:
            by_target(links, size, m, rows, order)
        if growing:
            grow(links, size, m, rows, order, kept, waiting, source_taken[:n], target_taken)
        if final:
            for side in (FORWARD, REVERSE):
                add_free(
                    links, size, order, origin, side, final == 2, kept, source_taken, target_taken
                )
        written = offsets[pair]
        for k in range(size):
            if kept[k]:
                out[written] = links[k]
                written += 1
        offsets[pair + 1] = written
