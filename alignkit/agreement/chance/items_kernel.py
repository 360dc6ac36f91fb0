"""The items of an alignment, and those that two alignments share: the loops for one sample.

A sample is an initial alignment with some links dropped and some cells added, see
`sampling_kernel`; cell (i, j) has the number i M + j. For example, with the initial links 0-0 1-1
2-2 of three words on each side, the sample 0-0 1-2 2-2 drops the link at place 1 and adds cell 5.
Time is linear in links and words, except for closures over many words.
"""

from __future__ import annotations

from typing import Union

import numpy as np

from alignkit._support.array_types import F8, I4, I8
from alignkit._support.jit import inlined, jit
from alignkit.model.phrase_kernel import FAR, PairLinks, PairWords, grown

PHRASE_ITEMS = 0
LINK_ITEMS = 1
"""The items to compare: atomic phrase pairs or links."""

Cells = I8
Whole = Union[int, np.int64]


@inlined
def partners(
    links: I4,
    dropped: Cells,
    drops: int,
    added: Cells,
    adds: int,
    n: int,
    m: int,
    of_source: Cells,
    of_target: Cells,
) -> None:
    """Set the least and greatest partner of each word; FAR and -1 if it has none.

    As `phrase_kernel.set_partners`, for a sample: the links that are not among the first `drops`
    places of `dropped`, and the first `adds` cells of `added`.
    """
    for i in range(n):
        of_source[i, 0] = FAR
        of_source[i, 1] = -1
    for j in range(m):
        of_target[j, 0] = FAR
        of_target[j, 1] = -1
    begin = 0
    for d in range(drops + 1):  # the stretches of links between those that are dropped
        end = dropped[d] if d < drops else len(links)  # dropped[:drops] are rising places
        for k in range(begin, end):
            _extend(of_source, of_target, int(links[k, 0]), int(links[k, 1]))
        begin = end + 1
    for a in range(adds):
        row, column = _place(added[a], m)
        _extend(of_source, of_target, row, column)


@inlined
def _place(cell: Whole, m: int) -> tuple[np.int64, np.int64]:
    """Return the row and the column of a cell; unsigned numbers divide faster."""
    row = np.uint64(cell) // np.uint64(m)
    return np.int64(row), np.int64(np.uint64(cell) - row * np.uint64(m))


@inlined
def _extend(of_source: Cells, of_target: Cells, i: Whole, j: Whole) -> None:
    of_source[i, 0] = min(of_source[i, 0], j)
    of_source[i, 1] = max(of_source[i, 1], j)
    of_target[j, 0] = min(of_target[j, 0], i)
    of_target[j, 1] = max(of_target[j, 1], i)


@inlined
def atomic_boxes(n: int, of_source: Cells, of_target: Cells, last: Cells, boxes: Cells) -> int:
    """Write the atomic phrase pairs, each once, as (first, last) words of both sides.

    They are those of `phrase_kernel.set_closures`. Returns the number of pairs.
    """
    count = 0
    for i in range(n):
        low, high = of_source[i, 0], of_source[i, 1]
        if high < 0:
            last[i] = -1
            continue
        if low == high and of_target[low, 0] == of_target[low, 1]:  # most words: it is alone
            last[i] = i
            boxes[count, 0], boxes[count, 1] = i, i
            boxes[count, 2], boxes[count, 3] = low, low
            count += 1
            continue
        twin, box = grown(i, of_source, of_target, last)
        if twin >= 0:
            last[i] = last[twin]
            continue
        last[i] = box.last
        boxes[count, 0] = box.first
        boxes[count, 1] = box.last
        boxes[count, 2] = box.low
        boxes[count, 3] = box.high
        count += 1
    return count


@inlined
def drop_identical_boxes(boxes: Cells, count: int, source: I4, target: I4) -> int:
    """Move the boxes of different words to the front; return their number."""
    kept = 0  # boxes[:kept] are those of different words among boxes[:b]
    for b in range(count):
        size = boxes[b, 1] - boxes[b, 0]
        same = size == boxes[b, 3] - boxes[b, 2]
        k = 0
        while same and k <= size:
            same = source[boxes[b, 0] + k] == target[boxes[b, 2] + k]
            k += 1
        if not same:
            for c in range(4):
                boxes[kept, c] = boxes[b, c]
            kept += 1
    return kept


@inlined
def drop_identical_links(links: I4, dropped: Cells, drops: int, source: I4, target: I4) -> int:
    """Move the dropped links of different words to the front; return their number."""
    kept = 0
    for d in range(drops):
        k = dropped[d]
        if source[links[k, 0]] != target[links[k, 1]]:
            dropped[kept] = k
            kept += 1
    return kept


@inlined
def drop_identical_cells(cells: Cells, size: int, source: I4, target: I4) -> int:
    """Move the cells of different words to the front; return their number."""
    m = len(target)
    kept = 0
    for c in range(size):
        row, column = _place(cells[c], m)
        if source[row] != target[column]:
            cells[kept] = cells[c]
            kept += 1
    return kept


@inlined
def common_boxes(
    first: Cells, first_count: int, second: Cells, second_count: int, n: int, chains: Cells
) -> int:
    """Count the boxes that are in both sets."""
    # the first set as chained lists: chains[i, 0] is a box that starts at word i, chains[b, 1] the
    # next box with the start of box b; -1 ends a list. A box is compared with those of its start
    chains[:n, 0] = -1
    for b in range(first_count):
        start = first[b, 0]
        chains[b, 1] = chains[start, 0]
        chains[start, 0] = b
    common = 0
    for b in range(second_count):
        k = chains[second[b, 0], 0]
        while k >= 0:
            if (
                first[k, 1] == second[b, 1]
                and first[k, 2] == second[b, 2]
                and first[k, 3] == second[b, 3]
            ):
                common += 1
                break
            k = chains[k, 1]
    return common


@inlined
def common_numbers(first: Cells, first_size: int, second: Cells, second_size: int) -> int:
    """Count the numbers that are in both of two sorted lists."""
    # every number before first[a] and second[b] has been compared
    common, a, b = 0, 0, 0
    while a < first_size and b < second_size:
        x, y = first[a], second[b]
        common += x == y
        a += x <= y
        b += y <= x
    return common


@jit
def identical_choices(words: PairWords, items: int) -> F8:
    """Return the (P,) numbers of possible identical items in each sentence pair.

    For phrase pairs: as many pairs of equal spans end at a cell as the longest equal stretch that
    ends there has words. For example, "a b" / "a b" has two of one word, and one of two words.
    """
    pairs = len(words.source_offsets) - 1
    choices = np.zeros(pairs)
    for p in range(pairs):
        source = words.source[words.source_offsets[p] : words.source_offsets[p + 1]]
        target = words.target[words.target_offsets[p] : words.target_offsets[p + 1]]
        # stretch[j + 1]: how long the words that end at (i, j) are equal; from right to left, so
        # that stretch[j] is still that of the row above
        stretch = np.zeros(len(target) + 1)
        for i in range(len(source)):
            for j in range(len(target) - 1, -1, -1):
                if source[i] != target[j]:
                    stretch[j + 1] = 0.0
                elif items == PHRASE_ITEMS:
                    stretch[j + 1] = stretch[j] + 1.0
                else:
                    stretch[j + 1] = 1.0
                choices[p] += stretch[j + 1]
    return choices


@jit
def count_strata(
    initial: PairLinks, annotated: PairLinks, words: PairWords, bounded: bool, universe: PairLinks
) -> tuple[Cells, Cells]:
    """Count the (P, 4) cells of each stratum, and those changed by an annotator.

    The strata are empty and filled cells of different words, then of equal ones. If the universe
    is `bounded`, cells outside it are not counted.
    """
    links = initial.links
    other_links = annotated.links
    cells = universe.links
    pairs = len(words.source_offsets) - 1
    trials = np.zeros((pairs, 4), np.int64)
    flips = np.zeros((pairs, 4), np.int64)
    for p in range(pairs):
        source = words.source[words.source_offsets[p] : words.source_offsets[p + 1]]
        target = words.target[words.target_offsets[p] : words.target_offsets[p + 1]]
        a, a_end = initial.offsets[p], initial.offsets[p + 1]
        b, b_end = annotated.offsets[p], annotated.offsets[p + 1]
        # row by row, as links are sorted: a, b and u are the next link or cell of each
        u, u_end = 0, 0
        if bounded:
            u = universe.offsets[p]
            u_end = universe.offsets[p + 1]
        for i in range(len(source)):
            for j in range(len(target)):
                filled = a < a_end and links[a, 0] == i and links[a, 1] == j
                linked = b < b_end and other_links[b, 0] == i and other_links[b, 1] == j
                inside = not bounded
                if bounded and u < u_end and cells[u, 0] == i and cells[u, 1] == j:
                    inside = True
                    u += 1
                a += filled
                b += linked
                if inside:
                    stratum = (2 if source[i] == target[j] else 0) + (1 if filled else 0)
                    trials[p, stratum] += 1
                    flips[p, stratum] += filled != linked
    return trials, flips
