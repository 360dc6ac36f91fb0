"""Merge the links of two directions, for many sentence pairs: the compiled loops of `symmetrize`.

For each sentence pair, the links of either direction are the *candidates*. Those of both directions
are kept (or all of them, which is the union). Then neighbours of kept links are added (`grow`), and
at the end links between words that are still free (`add_free`). With the candidates::

    forward  0-0 1-1 1-2 4-4          kept by both      0-0 1-1
    reverse  0-0 1-1 3-0              grown             1-2, next to 1-1: target word 2 was free
                                      added at the end  4-4, as both words are free; 3-0 only if
                                                        one free word is enough: 0 has a link

Candidates are visited by target word, then by source word, which is the order in which symal scans.
Memory, without the output, is 19 bytes for each link of the two, N bytes and 9 M bytes, each for
the sentence pair that needs most; there is no N x M table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import I4, I8, U1
from alignkit._support.jit import jit
from alignkit.model.phrase_kernel import PairLinks

FORWARD = 1
REVERSE = 2
BOTH = 3
"""Which direction a candidate is from."""

NOTHING = 0
IF_ONE_IS_FREE = 1
IF_BOTH_ARE_FREE = 2
"""Which further candidates are added at the end: by how many of the two words have no link yet."""

NEIGHBOURS = np.array(  # (target, source) steps, in the order of symal
    [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)], np.int32
)


class Method(NamedTuple):
    """A way to merge two directions: the start, whether to grow, and the end."""

    everything: bool = False  # begin with the union (and be done), else with the intersection
    growing: bool = False  # add neighbours in the union that align a word, until none is left
    final: int = NOTHING  # add further links of the union, or those that align both their words


class CandidateLinks(NamedTuple):
    """The links of either direction of a sentence pair: the first of the arrays are in use."""

    links: I4  # (C, 2) source and target word, sorted by source word, then target word
    origin: U1  # (C,) FORWARD, REVERSE or BOTH
    order: I8  # (C,) the numbers of the links, sorted by target word, then source word
    rows: I8  # (M + 2,) the links of target word j are `order[rows[j]:rows[j + 1]]`


class Kept(NamedTuple):
    """Which candidates belong to the merged alignment, and which words they link."""

    links: U1  # (C,) 1 for each candidate that is kept
    source: U1  # (N,) 1 for each source word that has a kept link
    target: U1  # (M,) the same for target words


@jit
def union(forward: PairLinks, reverse: PairLinks, pair: int, to: CandidateLinks) -> int:
    """Set the links of a sentence pair and the origin of each; return their number."""
    # A merge of two sorted runs, forward.links[f:f_end] and reverse.links[r:r_end]; `order`
    # compares the next links of both, source word first. It is negative if that of forward is
    # first, positive if that of reverse is, and 0 if they are equal.
    f, f_end = forward.offsets[pair], forward.offsets[pair + 1]
    r, r_end = reverse.offsets[pair], reverse.offsets[pair + 1]
    size = 0
    while f < f_end or r < r_end:
        if r == r_end:
            order = -1
        elif f == f_end:
            order = 1
        else:
            order = forward.links[f, 0] - reverse.links[r, 0]
            if order == 0:
                order = forward.links[f, 1] - reverse.links[r, 1]
        if order <= 0:
            to.links[size, 0] = forward.links[f, 0]
            to.links[size, 1] = forward.links[f, 1]
            to.origin[size] = BOTH if order == 0 else FORWARD
        else:
            to.links[size, 0] = reverse.links[r, 0]
            to.links[size, 1] = reverse.links[r, 1]
            to.origin[size] = REVERSE
        f += order <= 0
        r += order >= 0
        size += 1
    return size


@jit
def sort_by_target(size: int, m: int, candidates: CandidateLinks) -> None:
    """Set the order and the rows of the first `size` links, of a pair with m target words."""
    # A counting sort: rows[j + 2] counts the links of j; summed up, rows[j + 1] is where those of
    # j begin; each link that is placed moves it on, so that in the end it is where they end.
    links, _, order, rows = candidates
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
def find(source: int, target: int, candidates: CandidateLinks) -> int:
    """Return the place in `order` of the link of two words; -1 if it is no candidate."""
    # binary search: the links of the target word are sorted by source word
    links, _, order, rows = candidates
    low = rows[target]
    high = end = rows[target + 1]
    while low < high:
        middle = (low + high) // 2
        if links[order[middle], 0] < source:
            low = middle + 1
        else:
            high = middle
    if low < end and links[order[low], 0] == source:
        return int(low)
    return -1


@jit
def grow(size: int, n: int, m: int, candidates: CandidateLinks, kept: Kept, waiting: U1) -> None:
    """Keep neighbours of kept links, in symal's order, until nothing is added.

    A neighbour is kept if one of its two words has no link yet. A scan visits the links that it
    adds ahead of itself, as with symal's sorted set. No link needs a second visit: after the first,
    all its neighbours are kept or have both words taken. So each later scan begins at the first
    link that was added behind.

    waiting: (C,): room to work in; 1 for kept links that were not visited yet.
    """
    links = candidates.links
    order = candidates.order
    waiting[:size] = kept.links[:size]
    # All links that wait lie in order[begin:end] or, if added behind the scan, in
    # order[again_begin:again_end].
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
                    if j < 0 or j >= m or i < 0 or i >= n:
                        continue
                    if kept.source[i] and kept.target[j]:
                        continue
                    spot = find(i, j, candidates)
                    if spot < 0:  # the neighbour is no candidate
                        continue
                    kept.links[order[spot]] = 1
                    waiting[order[spot]] = 1
                    kept.source[i] = 1
                    kept.target[j] = 1
                    if spot > place:  # ahead: met in this scan
                        end = max(end, spot + 1)
                    else:  # behind: met in the next one
                        again_begin = min(again_begin, spot)
                        again_end = max(again_end, spot + 1)
            place += 1
        begin = again_begin
        end = again_end


@jit
def add_free(size: int, side: int, final: int, candidates: CandidateLinks, kept: Kept) -> None:
    """Keep the links of only one side whose words are free, as `final` says."""
    # Each link that is kept takes its words, so those behind see fewer free ones.
    for place in range(size):
        k = candidates.order[place]
        if candidates.origin[k] != side or kept.links[k]:
            continue
        i, j = candidates.links[k, 0], candidates.links[k, 1]
        taken = kept.source[i] + kept.target[j]
        if taken == 0 or (taken == 1 and final == IF_ONE_IS_FREE):
            kept.links[k] = 1
            kept.source[i] = 1
            kept.target[j] = 1


@jit
def merge(
    forward: PairLinks, reverse: PairLinks, lengths: I4, method: Method, links: I4, offsets: I8
) -> None:
    """Write the merged links of all sentence pairs.

    lengths: (P, 2): the numbers of words of each pair.
    links: (C, 2): set to the merged links; there is room for the links of both sides together.
    offsets: (P + 1,): set to where the links of each pair begin, and those of the last one end.
    """
    room = 0
    most_n = 0
    most_m = 0
    for k in range(len(lengths)):
        n_forward = forward.offsets[k + 1] - forward.offsets[k]
        n_reverse = reverse.offsets[k + 1] - reverse.offsets[k]
        room = max(room, n_forward + n_reverse)
        most_n = max(most_n, lengths[k, 0])
        most_m = max(most_m, lengths[k, 1])
    candidates = CandidateLinks(
        np.empty((room, 2), np.int32),
        np.empty(room, np.uint8),
        np.empty(room, np.int64),
        np.empty(most_m + 2, np.int64),
    )
    kept = Kept(np.empty(room, np.uint8), np.empty(most_n, np.uint8), np.empty(most_m, np.uint8))
    waiting = np.empty(room, np.uint8)
    offsets[0] = 0
    for pair in range(len(lengths)):
        n, m = lengths[pair, 0], lengths[pair, 1]
        size = union(forward, reverse, pair, candidates)
        kept.source[:n] = 0
        kept.target[:m] = 0
        for k in range(size):
            kept.links[k] = method.everything or candidates.origin[k] == BOTH
            if kept.links[k]:
                kept.source[candidates.links[k, 0]] = 1
                kept.target[candidates.links[k, 1]] = 1
        if method.growing or method.final != NOTHING:
            sort_by_target(size, m, candidates)
        if method.growing:
            grow(size, n, m, candidates, kept, waiting)
        if method.final != NOTHING:
            for side in (FORWARD, REVERSE):
                add_free(size, side, method.final, candidates, kept)
        written = offsets[pair]
        for k in range(size):
            if kept.links[k]:
                links[written, 0] = candidates.links[k, 0]
                links[written, 1] = candidates.links[k, 1]
                written += 1
        offsets[pair + 1] = written
