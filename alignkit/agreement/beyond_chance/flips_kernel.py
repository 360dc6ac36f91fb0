"""Draw which cells of an initial alignment flip: the compiled loops of one chance annotation.

Each cell flips independently, at the rate of its kind. The kernels jump from flip to flip (the gaps
are geometric) over the cells of each kind, so that drawing takes time in proportion to the flips;
there is no N x M table. Where equal words have rates of their own, or some cells alone can flip,
those cells are listed once for all samples.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.jit import inlined

Cells = NDArray[np.int64]
Ints = NDArray[np.int32]
Floats = NDArray[np.float64]
Kinds = NDArray[np.uint8]
States = NDArray[np.uint64]

_KEPT = 4
"""The kind of a link that never flips; see `list_cells`."""

_FAR = 2**61
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
    """Draw how many cells stay before the next flip; `log_keep` is log(1 - rate)."""
    if log_keep == 0.0:
        return _FAR
    # a geometric number, floor(log(u) / log(1 - rate)); at rate 1, log_keep is -inf and it is 0
    jump = np.log(uniform(state)) / log_keep
    return int(jump) if jump < _FAR else _FAR


@inlined
def draw_flips(
    state: States,
    links: Cells,
    filled: int,
    total: int,
    log_empty: float,
    log_filled: float,
    added: Cells,
    dropped: Cells,
) -> tuple[int, int]:
    """Draw which of the first `filled` numbers of `links` are dropped, and which cells are added.

    A cell is numbered i M + j; there are `total`. Sets `dropped` to the places of links and
    `added` to the numbers of cells, both rising. Returns how many are added and dropped; -1 and 0
    where `added` is too short. (To return a longer array would take longer than all the rest.)
    """
    empty = total - filled
    adds, drops, passed = 0, 0, 0
    drop = gap(state, log_filled)
    add = gap(state, log_empty)  # counted over the empty cells
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
            add += 1 + gap(state, log_empty)
        elif drop < filled:
            dropped[drops] = drop
            drops += 1
            drop += 1 + gap(state, log_filled)
        else:
            return adds, drops


@inlined
def list_cells(
    initial: Ints, begin: int, end: int, source: Ints, target: Ints, bounded: bool, universe: Ints
) -> tuple[Cells, Kinds]:
    """List the cells that are not empty cells of different words, rising, and what each is.

    These are 0 to 3, by the columns of the rates, or `_KEPT`. Where the universe is bounded, all
    its cells are listed, links outside it are kept, and what is not listed never flips.
    """
    m = len(target)
    count, stage = 0, 0
    cells, kinds = np.empty(0, np.int64), np.empty(0, np.uint8)
    while stage < 2:  # the first time, to count
        if stage == 1:
            cells, kinds = np.empty(count, np.int64), np.empty(count, np.uint8)
        # row by row, as links and universe are sorted: a and u are the next of either
        count, a, u = 0, begin, 0
        for i in range(len(source)):
            for j in range(m):
                filled = a < end and initial[a, 0] == i and initial[a, 1] == j
                inside = u < len(universe) and universe[u, 0] == i and universe[u, 1] == j
                a += filled
                u += inside
                equal = source[i] == target[j]
                if filled or inside or (equal and not bounded):
                    if stage == 1:
                        cells[count] = i * m + j
                        kinds[count] = (2 if equal else 0) + (1 if filled else 0)
                        if bounded and not inside:
                            kinds[count] = _KEPT
                    count += 1
        stage += 1
    return cells, kinds


@inlined
def sort_by_kind(kinds: Kinds, ends: Cells, places: Cells, order: Cells) -> None:
    """Sort what `list_cells` lists by the kinds that flip.

    Sets `ends` (5,) to 0 and where each kind ends; `places` to the places of the cells in the
    list, kind by kind; and `order` to the number of links before each cell of the list.
    """
    count, links = 0, 0
    ends[0] = 0
    for kind in range(4):
        for c in range(len(kinds)):
            if kinds[c] == kind:
                places[count] = c
                count += 1
        ends[kind + 1] = count
    for c in range(len(kinds)):
        order[c] = links
        links += kinds[c] == _KEPT or kinds[c] & 1 == 1


@inlined
def draw_flips_by_kind(
    state: States,
    listed: Cells,
    ends: Cells,
    places: Cells,
    order: Cells,
    total: int,
    logs: Floats,
    log_rest: float,
    upcoming: Cells,
    added: Cells,
    dropped: Cells,
    flips: Cells,
) -> tuple[int, int]:
    """Draw as `draw_flips` does, by the kinds of the listed cells.

    `ends`, `places` and `order` are those of `sort_by_kind`. `logs` are log(1 - rate) of each
    kind, `log_rest` that of the cells that are not listed, which are empty. Sets the numbers of
    `flips` of each kind; `upcoming` is room for as many numbers.
    """
    rest = total - len(listed)
    for kind in range(4):
        upcoming[kind] = ends[kind] + gap(state, logs[kind])
        flips[kind] = 0
    adds, drops, passed = 0, 0, 0
    add = gap(state, log_rest)  # counted over the cells that are not listed
    while True:
        # of the next flips of the four kinds, the one that is first in the list; -1: none is left
        which, cell = -1, len(listed)
        for kind in range(4):
            if upcoming[kind] < ends[kind + 1] and places[upcoming[kind]] < cell:
                which, cell = kind, places[upcoming[kind]]
        # an unlisted cell before it flips; its number is found as in `draw_flips`
        if add < rest and (which < 0 or listed[cell] - cell > add):
            while passed < len(listed) and listed[passed] - passed <= add:
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
            if which & 1:
                dropped[drops] = order[cell]
                drops += 1
            else:
                if adds == len(added):
                    return -1, 0
                added[adds] = listed[cell]
                adds += 1
            flips[which] += 1
            upcoming[which] += 1 + gap(state, logs[which])
