"""Sample and compare chance annotations: the compiled loops behind `monte_carlo`.

A sample is stored as its changes of the initial alignment (`draw_flips`); links are counted from
these changes. So time is proportional to the flips for links, and to the links plus N + M for
phrase pairs.

Each cell flips (gets a link, or loses it) by itself, at a rate. Instead of a number for each cell,
the number of cells up to the next flip is drawn (`gap`). With one rate for all empty cells and one
for all links (`draw_flips`), these are two streams. If cells of equal words have rates of their
own (`draw_flips_by_kind`), there are four kinds of cells, and a stream for each: 0 empty, 1 link
(of different words), 2 empty, 3 link (of equal words). Nearly all cells are of kind 0; only the
others are listed. For example, with the words "a b" / "b c" and the link 0-0::

    cells    0 (a b): kind 1, listed     1 (a c): kind 0
             2 (b b): kind 2, listed     3 (b c): kind 0

Every sentence pair has its own random generator (xoshiro256++, Blackman & Vigna 2021), and its
state continues from one call to the next. So the number of workers and the division into rounds do
not change the samples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import B1, F8, I4, I8, U1, U8
from alignkit._support.jit import inlined, jit
from alignkit.agreement.chance.items_kernel import (
    PHRASE_ITEMS,
    atomic_boxes,
    common_boxes,
    common_numbers,
    drop_identical_boxes,
    drop_identical_cells,
    drop_identical_links,
    partners,
)
from alignkit.model.phrase_kernel import PairLinks, PairWords

Cells = I8
Kinds = U1
States = U8

_KEPT = 4
"""The kind of a link that never flips; see `list_cells`."""

_FAR = 2**61  # a gap beyond the last cell: no flip
_UNIT = 2.0**-53
_11, _17, _19, _23, _41, _45 = (np.uint64(shift) for shift in (11, 17, 19, 23, 41, 45))


@inlined
def uniform(state: States) -> float:
    """Draw from (0, 1]."""
    # xoshiro256++: rotl(s0 + s3, 23) + s0; its upper 53 bits, plus 1, over 2^53
    total = state[0] + state[3]
    drawn = ((total << _23) | (total >> _41)) + state[0]
    shifted = state[1] << _17
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = (state[3] << _45) | (state[3] >> _19)
    return (np.float64(drawn >> _11) + 1.0) * _UNIT


@inlined
def gap(state: States, log_keep: float) -> int:
    """Draw the number of cells before the next flip; `log_keep` is log(1 - rate)."""
    if log_keep == 0.0:
        return _FAR
    # a geometric number, floor(log(u) / log(1 - rate)); at rate 1, log_keep is -inf and it is 0
    jump = np.log(uniform(state)) / log_keep
    return int(jump) if jump < _FAR else _FAR


@inlined
def draw_flips(
    state: States, links: Cells, total: int, logs: F8, added: Cells, dropped: Cells
) -> tuple[int, int]:
    """Draw which links to drop, and which cells to add.

    links: The numbers of the cells of all links, rising; there are `total` cells.
    logs: log(1 - rate) of empty cells and of links.
    added, dropped: Set to the numbers of the cells that get a link, and to the places of the links
        that go, both rising.
    Returns: The numbers added and dropped; -1 and 0 if `added` is too short. (Returning a longer
        array would take longer than everything else.)
    """
    filled = len(links)
    empty = total - filled
    adds, drops, passed = 0, 0, 0
    drop = gap(state, logs[1])
    add = gap(state, logs[0])  # counted over the empty cells
    # The two streams of flips are merged by cell number. Before link k stand links[k] - k empty
    # cells, so the empty cell `add` has the number add + passed, where `passed` links stand before.
    while True:
        if add < empty and (drop >= filled or links[drop] - drop > add):
            while passed < filled and links[passed] - passed <= add:
                passed += 1
            if adds == len(added):
                return -1, 0
            added[adds] = add + passed
            adds += 1
            add += 1 + gap(state, logs[0])
        elif drop < filled:
            dropped[drops] = drop
            drops += 1
            drop += 1 + gap(state, logs[1])
        else:
            return adds, drops


@inlined
def list_cells(
    initial: I4, begin: int, end: int, source: I4, target: I4, bounded: bool, universe: I4
) -> tuple[Cells, Kinds]:
    """List the cells that are not empty cells of different words, sorted, with their kinds.

    The kinds are 0 to 3, by the columns of the rates, or `_KEPT`. If the universe is bounded, all
    its cells are listed, links outside it are kept, and other cells never flip.
    """
    m = len(target)
    cells = np.empty(len(source) * m, np.int64)
    kinds = np.empty(len(source) * m, np.uint8)
    # row by row, as links and universe are sorted: a and u are the next of either
    count = 0
    a = begin
    u = 0
    for i in range(len(source)):
        for j in range(m):
            filled = a < end and initial[a, 0] == i and initial[a, 1] == j
            inside = u < len(universe) and universe[u, 0] == i and universe[u, 1] == j
            a += filled
            u += inside
            equal = source[i] == target[j]
            if filled or inside or (equal and not bounded):
                cells[count] = i * m + j
                kinds[count] = (2 if equal else 0) + (1 if filled else 0)
                if bounded and not inside:
                    kinds[count] = _KEPT
                count += 1
    return cells[:count], kinds[:count]


class ListedCells(NamedTuple):
    """The cells of a sentence pair that `list_cells` lists, and those of each kind.

    In the module's example: cells 0 2, before 0 1, places 0 1, ends 0 0 1 2 2.
    """

    cells: Cells  # (L,) the numbers of the cells, rising
    before: Cells  # (L,) how many links stand before each
    places: Cells  # (L,) the places in this list of the cells that may flip, kind by kind
    ends: Cells  # (5,) the places of kind k are from ends[k] to before ends[k + 1]


@inlined
def sort_by_kind(cells: Cells, kinds: Kinds) -> ListedCells:
    """Sort the cells of `list_cells` by the kinds that flip."""
    before = np.empty(len(kinds), np.int64)
    places = np.empty(len(kinds), np.int64)
    ends = np.zeros(5, np.int64)
    count, links = 0, 0
    for kind in range(4):
        for c in range(len(kinds)):
            if kinds[c] == kind:
                places[count] = c
                count += 1
        ends[kind + 1] = count
    for c in range(len(kinds)):
        before[c] = links
        links += kinds[c] == _KEPT or kinds[c] & 1 == 1
    return ListedCells(cells, before, places, ends)


class KindLogs(NamedTuple):
    """The logs of how probable it is that a cell does not flip: log(1 - rate)."""

    of_kind: F8  # (4,) of the listed cells of each kind
    rest: float  # of the cells that are not listed


@inlined
def draw_flips_by_kind(
    state: States,
    listed: ListedCells,
    total: int,
    logs: KindLogs,
    upcoming: Cells,
    added: Cells,
    dropped: Cells,
    flips: Cells,
) -> tuple[int, int]:
    """Draw as `draw_flips` does, by the kinds of the listed cells.

    upcoming: (4,): room for the next flip of each kind, as an index of `listed.places`.
    flips: (4,): set to the number of flips of each kind.
    """
    cells, before, places, ends = listed
    of_kind, log_rest = logs
    rest = total - len(cells)
    for kind in range(4):
        upcoming[kind] = ends[kind] + gap(state, of_kind[kind])
        flips[kind] = 0
    adds, drops, passed = 0, 0, 0
    add = gap(state, log_rest)  # counted over the cells that are not listed
    while True:
        # of the next flips of the four kinds, the one that is first in the list; -1: none is left
        which = -1
        cell = len(cells)
        for kind in range(4):
            if upcoming[kind] < ends[kind + 1] and places[upcoming[kind]] < cell:
                which = kind
                cell = places[upcoming[kind]]
        # an unlisted cell before it flips; its number is found as in `draw_flips`
        if add < rest and (which < 0 or cells[cell] - cell > add):
            while passed < len(cells) and cells[passed] - passed <= add:
                passed += 1
            if adds == len(added):
                return -1, 0
            added[adds] = add + passed
            adds += 1
            flips[0] += 1
            add += 1 + gap(state, log_rest)
        elif which < 0:
            return adds, drops
        else:
            if which & 1:  # a link
                dropped[drops] = before[cell]
                drops += 1
            else:
                if adds == len(added):
                    return -1, 0
                added[adds] = cells[cell]
                adds += 1
            flips[which] += 1
            upcoming[which] += 1 + gap(state, of_kind[which])


MOMENTS = (
    "samples",
    "filled",
    "ratio",
    "ratio_squared",
    "common",
    "norm",
    "common_squared",
    "common_norm",
    "norm_squared",
)
"""The columns that `run` sums for each pair; `filled`: samples with a set that is not empty."""

RECORD = (
    "common",
    "first",
    "second",
    "first_adds",
    "first_deletes",
    "second_adds",
    "second_deletes",
)
"""The columns that `run` keeps of each sample on request; with four rates, four kinds of flips for
each annotator: empty and filled cells of different words, then of equal words."""


class ItemChoice(NamedTuple):
    """What is compared.

    items: `items_kernel.PHRASE_ITEMS` or `items_kernel.LINK_ITEMS`.
    drop: Whether to leave identical items out of the samples.
    largest: Whether the larger of the two sets is the norm; otherwise the smaller is.
    """

    items: int
    drop: bool
    largest: bool


class SampleDraws(NamedTuple):
    """What is drawn: `samples` for each of the pairs from `begin` to before `stop`.

    states: (P, 4): the random generators; they are advanced.
    """

    states: States
    begin: int
    stop: int
    samples: int


class SampleSums(NamedTuple):
    """Where samples are added.

    moments: (P, 9): sums over the samples are added; the columns are `MOMENTS`.
    totals: (samples, 4): sums over the pairs are added: ratio, filled, common, norm.
    records: (P, samples, 7 or 11): every sample, the columns `RECORD`; of length 0 to skip them.
    """

    moments: F8
    totals: F8
    records: I4


@jit
def run(
    initial: PairLinks,
    lengths: I4,
    words: PairWords,
    compared: ItemChoice,
    rates: F8,
    bounded: bool,
    universe: PairLinks,
    draws: SampleDraws,
    to: SampleSums,
) -> None:
    """Draw samples for some sentence pairs, and sum them.

    initial, lengths: The initial alignments, and the numbers of words of each pair.
    words: The words of both sides.
    rates: (P, 4): the probability that an empty and that a filled cell flips, for each annotator;
        or (P, 8): for each annotator the same for different, then for equal words.
    bounded, universe: Whether only some cells can flip, and which; this needs (P, 8) rates.
    """
    offsets = initial.offsets
    items, drop, largest = compared
    states, begin, stop, samples = draws
    moments, totals, records = to
    # room for the largest of the pairs, made once
    most_n, most_m, most_links = 0, 0, 0
    for p in range(begin, stop):
        most_n = max(most_n, lengths[p, 0])
        most_m = max(most_m, lengths[p, 1])
        most_links = max(most_links, offsets[p + 1] - offsets[p])
    of_source = np.empty((most_n, 2), np.int64)
    of_target = np.empty((most_m, 2), np.int64)
    last = np.empty(most_n, np.int64)
    chains = np.empty((most_n, 2), np.int64)
    # of the first and of the second annotator
    boxes = np.empty((2, most_n, 4), np.int64)
    added = np.empty((2, most_links + 64), np.int64)
    dropped = np.empty((2, most_links), np.int64)
    adds = np.empty(2, np.int64)
    drops = np.empty(2, np.int64)
    flips = np.zeros((2, 4), np.int64)
    sizes = np.empty(2, np.int64)
    rest = np.zeros(2)
    upcoming = np.empty(4, np.int64)
    state = np.empty(4, np.uint64)
    before = np.empty(4, np.uint64)
    by_kind = rates.shape[1] == 8
    listed = sort_by_kind(np.empty(0, np.int64), np.empty(0, np.uint8))
    for p in range(begin, stop):
        n, m = int(lengths[p, 0]), int(lengths[p, 1])
        source = words.source[words.source_offsets[p] : words.source_offsets[p + 1]]
        target = words.target[words.target_offsets[p] : words.target_offsets[p + 1]]
        links = initial.links[offsets[p] : offsets[p + 1]]
        numbers = np.empty(len(links), np.int64)
        counted = len(links)  # the links that are items
        for k in range(len(links)):
            numbers[k] = links[k, 0] * m + links[k, 1]
            counted -= drop and source[links[k, 0]] == target[links[k, 1]]
        logs = np.log1p(-rates[p]).reshape(2, -1)
        if by_kind:
            inside = universe.links[:0]
            if bounded:
                inside = universe.links[universe.offsets[p] : universe.offsets[p + 1]]
            else:
                rest[:] = logs[:, 0]
            cells, kinds = list_cells(
                initial.links, offsets[p], offsets[p + 1], source, target, bounded, inside
            )
            listed = sort_by_kind(cells, kinds)
            for kind in range(4):  # without cells, nothing need be drawn
                if listed.ends[kind] == listed.ends[kind + 1]:
                    logs[:, kind] = 0.0
        state[:] = states[p]  # here `state` is the generator of pair p, before sample s
        sums = moments[p].copy()
        s = 0
        while s < samples:
            for k in range(4):
                before[k] = state[k]
            for who in range(2):
                if by_kind:
                    adds[who], drops[who] = draw_flips_by_kind(
                        state,
                        listed,
                        n * m,
                        KindLogs(logs[who], rest[who]),
                        upcoming,
                        added[who],
                        dropped[who],
                        flips[who],
                    )
                else:
                    adds[who], drops[who] = draw_flips(
                        state, numbers, n * m, logs[who], added[who], dropped[who]
                    )
                    flips[who, 0] = adds[who]
                    flips[who, 1] = drops[who]
            if min(adds[0], adds[1]) < 0:  # once more, with more room
                state[:] = before
                added = np.empty((2, 2 * added.shape[1]), np.int64)
                continue
            for who in range(2):
                if items == PHRASE_ITEMS:
                    partners(
                        links,
                        dropped[who],
                        drops[who],
                        added[who],
                        adds[who],
                        n,
                        m,
                        of_source,
                        of_target,
                    )
                    sizes[who] = atomic_boxes(n, of_source, of_target, last, boxes[who])
                    if drop:
                        sizes[who] = drop_identical_boxes(boxes[who], sizes[who], source, target)
                else:
                    if drop:
                        drops[who] = drop_identical_links(
                            links, dropped[who], drops[who], source, target
                        )
                        adds[who] = drop_identical_cells(added[who], adds[who], source, target)
                    sizes[who] = counted - drops[who] + adds[who]
            a = sizes[0]
            b = sizes[1]
            if items == PHRASE_ITEMS:
                common = common_boxes(boxes[0], a, boxes[1], b, n, chains)
            else:
                # |A & B|: initial links that neither dropped, and cells that both added;
                # |I - Da - Db| = |I| - |Da| - |Db| + |Da & Db|
                both = common_numbers(dropped[0], drops[0], dropped[1], drops[1])
                common = counted - drops[0] - drops[1] + both
                common += common_numbers(added[0], adds[0], added[1], adds[1])
            norm = max(a, b) if largest else min(a, b)
            # a ratio is 0 where one set is empty; where both are, the sample is not in `filled`
            ratio = common / norm if norm > 0 else 0.0
            full = 1.0 if a + b > 0 else 0.0
            sums[0] += 1.0  # in the order of MOMENTS
            sums[1] += full
            sums[2] += ratio
            sums[3] += ratio * ratio
            sums[4] += common
            sums[5] += norm
            sums[6] += common * common
            sums[7] += common * norm
            sums[8] += norm * norm
            totals[s, 0] += ratio
            totals[s, 1] += full
            totals[s, 2] += common
            totals[s, 3] += norm
            if len(records):
                record = records[p, s]
                record[0], record[1], record[2] = common, a, b
                for who in range(2):
                    for c in range(logs.shape[1]):
                        record[3 + who * logs.shape[1] + c] = flips[who, c]
            s += 1
        states[p] = state
        moments[p] = sums


@jit
def reweigh(
    records: I4,
    largest: bool,
    shifts: F8,
    wanted: B1,
    means: F8,
    effective: F8,
) -> None:
    """Average stored samples as if they were drawn with other rates.

    records: (P, S, 7 or 11): as `run` writes them.
    largest: As in `run`.
    shifts: (P, 4 or 8): added to the log weight of a sample for each flip: the logit of the new
        rate minus that of the old one.
    wanted: (P,): the pairs to process; the others are skipped.
    means: (P, 3): set to the mean ratio of the samples with a set that is not empty (NaN: none),
        the mean number of common items and the mean norm.
    effective: (P,): set to the effective number of samples, (sum w)^2 / sum w^2.
    """
    samples = records.shape[1]
    weights = np.empty(samples)
    for p in range(len(records)):
        if not wanted[p]:
            continue
        # log w = sum of flips * (logit(new rate) - logit(old rate)); (1 - rate)^cells is the same
        # in all samples and cancels, as does exp(-top), which keeps the weights from overflowing
        top = -np.inf
        for s in range(samples):
            record = records[p, s]
            weight = 0.0
            for c in range(shifts.shape[1]):
                if record[3 + c] > 0:  # 0 flips weigh nothing, even at a shift of -inf
                    weight += record[3 + c] * shifts[p, c]
            weights[s] = weight
            top = max(top, weight)
        total = 0.0
        squares = 0.0
        filled = 0.0
        ratios = 0.0
        commons = 0.0
        norms = 0.0
        if top > -np.inf:
            for s in range(samples):
                weight = np.exp(weights[s] - top)
                record = records[p, s]
                common = record[0]
                a = record[1]
                b = record[2]
                norm = max(a, b) if largest else min(a, b)
                total += weight
                squares += weight * weight
                if a + b > 0:
                    filled += weight
                if norm > 0:
                    ratios += weight * common / norm
                commons += weight * common
                norms += weight * norm
        if squares > 0.0:
            effective[p] = total * total / squares
        else:
            effective[p] = 0.0
        means[p, 0] = ratios / filled if filled > 0.0 else np.nan
        means[p, 1] = commons / total if total > 0.0 else np.nan
        means[p, 2] = norms / total if total > 0.0 else np.nan
