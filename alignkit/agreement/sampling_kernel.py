"""Sample chance annotations and compare them: the compiled loops behind `monte_carlo`.

A sample flips each cell of the initial alignment independently. The kernel jumps from flip to flip
(the gaps are geometric) over the empty cells and over the filled ones, each with its own rate, and
merges what is added and what is left into a sorted list of cells. So a sample takes time and memory
in proportion to its links and flips and to N + M; there is no N x M table. Where equal words have
rates of their own, or some cells alone can flip, those cells are listed once for all samples.

Every sentence pair has a random generator of its own (xoshiro256++, Blackman & Vigna 2021), whose
state goes on from one call to the next: neither the number of workers nor the division into rounds
changes what is drawn.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.items_kernel import (
    KEPT,
    PHRASE_ITEMS,
    atomic_boxes,
    common_boxes,
    common_cells,
    drop_identical_boxes,
    drop_identical_cells,
    list_cells,
    partners,
)
from alignkit.jit import inlined, jit

__all__ = ["MOMENTS", "RECORD", "reweigh", "run"]

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
"""The columns that `run` sums up for each pair; `filled`: samples in which a set is not empty."""

RECORD = (
    "common",
    "first",
    "second",
    "first_adds",
    "first_deletes",
    "second_adds",
    "second_deletes",
)
"""The columns that `run` keeps of each sample if asked; with four rates, four kinds of flips for
either annotator: empty and filled cells of different words, the same of equal words."""

Ints = NDArray[np.int32]
Cells = NDArray[np.int64]
Offsets = NDArray[np.int64]
Floats = NDArray[np.float64]
States = NDArray[np.uint64]

_FAR = 2**61
_UNIT = 2.0**-53
_11, _17, _19, _23, _41, _45 = (np.uint64(shift) for shift in (11, 17, 19, 23, 41, 45))


@inlined
def uniform(state: States) -> float:
    """Draw from (0, 1]."""
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
    jump = np.log(uniform(state)) / log_keep
    return int(jump) if jump < _FAR else _FAR


@inlined
def draw(
    state: States,
    initial: Cells,
    filled: int,
    total: int,
    log_empty: float,
    log_filled: float,
    cells: Cells,
) -> tuple[Cells, int, int, int]:
    """Draw one alignment by flipping cells of the initial one, its first `filled` numbers.

    A cell is numbered i M + j; there are `total`. Returns the array of the cells, rising (`cells`,
    or a larger one if that was too small), how many they are, and how many links were added and
    deleted.
    """
    empty = total - filled
    size, adds, deletes = 0, 0, 0
    passed = 0  # initial links that were looked at
    dropped = gap(state, log_filled)
    added = gap(state, log_empty)  # counted over the empty cells
    while True:
        if size + filled - passed >= len(cells):
            more = np.empty(2 * (size + filled) + 8, np.int64)
            more[:size] = cells[:size]
            cells = more
        while passed < filled:
            cell = initial[passed]
            if added < empty and cell > added + passed:
                break
            if passed == dropped:
                deletes += 1
                dropped += 1 + gap(state, log_filled)
            else:
                cells[size] = cell
                size += 1
            passed += 1
        if added >= empty:
            return cells, size, adds, deletes
        cells[size] = added + passed
        size += 1
        adds += 1
        added += 1 + gap(state, log_empty)


@inlined
def draw_by_kind(
    state: States,
    listed: Cells,
    kinds: NDArray[np.uint8],
    total: int,
    logs: Floats,
    log_rest: float,
    gaps: Cells,
    cells: Cells,
    flips: Cells,
) -> tuple[Cells, int]:
    """Draw one alignment as `draw` does, by the kinds of the listed cells.

    `logs` are log(1 - rate) of each kind, `log_rest` that of the cells that are not listed, which
    are empty. Sets the numbers of `flips` of each kind; `gaps` is room for as many numbers.
    """
    rest = total - len(listed)
    for k in range(4):
        gaps[k] = gap(state, logs[k])
        flips[k] = 0
    added = gap(state, log_rest)
    size, passed = 0, 0
    while True:
        if size + len(listed) - passed >= len(cells):
            more = np.empty(2 * (size + len(listed)) + 8, np.int64)
            more[:size] = cells[:size]
            cells = more
        while passed < len(listed):
            cell, kind = listed[passed], kinds[passed]
            if added < rest and cell > added + passed:
                break
            linked = kind == KEPT or kind & 1 == 1
            if kind != KEPT:
                if gaps[kind] == 0:
                    linked = not linked
                    flips[kind] += 1
                    gaps[kind] = gap(state, logs[kind])
                else:
                    gaps[kind] -= 1
            if linked:
                cells[size] = cell
                size += 1
            passed += 1
        if added >= rest:
            return cells, size
        cells[size] = added + passed
        size += 1
        flips[0] += 1
        added += 1 + gap(state, log_rest)


@jit
def run(
    initial: Ints,
    offsets: Offsets,
    lengths: Ints,
    source_ids: Ints,
    source_offsets: Offsets,
    target_ids: Ints,
    target_offsets: Offsets,
    items: int,
    drop: bool,
    largest: bool,
    rates: Floats,
    bounded: bool,
    universe: Ints,
    universe_offsets: Offsets,
    states: States,
    begin: int,
    stop: int,
    samples: int,
    moments: Floats,
    totals: Floats,
    records: NDArray[np.int32],
) -> None:
    """Draw samples for the sentence pairs from `begin` to before `stop`, and sum them up.

    Parameters
    ----------
    initial, offsets, lengths
        The initial alignments, as in `LinkArrays`.
    source_ids, source_offsets, target_ids, target_offsets
        The words, as in `TokenArrays`.
    items
        `items_kernel.PHRASE_ITEMS` or `items_kernel.LINK_ITEMS`.
    drop
        Whether identical items are left out of the samples.
    largest
        Whether the larger of the two sets is the norm, not the smaller.
    rates
        (P, 4): the chance that an empty and that a filled cell flips, for either annotator; or
        (P, 8): for either annotator the same of different, then of equal words.
    bounded, universe, universe_offsets
        Whether only some cells can flip, and which, as `initial`; this needs (P, 8) rates.
    states
        (P, 4): the random generators; they move on.
    begin, stop
        The pairs.
    samples
        How many samples to draw for each.
    moments
        (P, 9): sums over the samples are added; the columns are `MOMENTS`.
    totals
        (samples, 4): sums over the pairs are added: ratio, filled, common, norm.
    records
        (P, samples, 7 or 11): every sample, the columns `RECORD`; of length 0 if not wanted.
    """
    most_n, most_m, most_links = 0, 0, 0
    for p in range(begin, stop):
        most_n, most_m = max(most_n, lengths[p, 0]), max(most_m, lengths[p, 1])
        most_links = max(most_links, offsets[p + 1] - offsets[p])
    of_source, of_target = np.empty((most_n, 2), np.int64), np.empty((most_m, 2), np.int64)
    last, chains = np.empty(most_n, np.int64), np.empty((most_n, 2), np.int64)
    boxes_a, boxes_b = np.empty((most_n, 4), np.int64), np.empty((most_n, 4), np.int64)
    cells_a = np.empty(2 * most_links + 64, np.int64)
    cells_b = np.empty(2 * most_links + 64, np.int64)
    start = np.empty(most_links, np.int64)
    state = np.empty(4, np.uint64)
    by_kind = rates.shape[1] == 8
    listed, kinds = np.empty(0, np.int64), np.empty(0, np.uint8)
    log_rest_a, log_rest_b = 0.0, 0.0
    gaps, flips = np.empty(4, np.int64), np.zeros((2, 4), np.int64)
    for p in range(begin, stop):
        n, m = int(lengths[p, 0]), int(lengths[p, 1])
        source = source_ids[source_offsets[p] : source_offsets[p + 1]]
        target = target_ids[target_offsets[p] : target_offsets[p + 1]]
        filled = offsets[p + 1] - offsets[p]
        for k in range(filled):
            start[k] = initial[offsets[p] + k, 0] * m + initial[offsets[p] + k, 1]
        logs = np.log1p(-rates[p])
        if by_kind:
            inside = universe[:0]
            if bounded:
                inside = universe[universe_offsets[p] : universe_offsets[p + 1]]
            listed, kinds = list_cells(
                initial, offsets[p], offsets[p + 1], source, target, bounded, inside
            )
            log_rest_a, log_rest_b = (0.0, 0.0) if bounded else (logs[0], logs[4])
            for kind in range(4):  # without cells, nothing need be drawn
                if not (kinds == kind).any():
                    logs[kind] = logs[4 + kind] = 0.0
        state[:] = states[p]
        sums = moments[p].copy()
        for s in range(samples):
            if by_kind:
                cells_a, a = draw_by_kind(
                    state, listed, kinds, n * m, logs[:4], log_rest_a, gaps, cells_a, flips[0]
                )
                cells_b, b = draw_by_kind(
                    state, listed, kinds, n * m, logs[4:], log_rest_b, gaps, cells_b, flips[1]
                )
            else:
                cells_a, a, flips[0, 0], flips[0, 1] = draw(
                    state, start, filled, n * m, logs[0], logs[1], cells_a
                )
                cells_b, b, flips[1, 0], flips[1, 1] = draw(
                    state, start, filled, n * m, logs[2], logs[3], cells_b
                )
            if items == PHRASE_ITEMS:
                partners(cells_a, a, n, m, of_source, of_target)
                a = atomic_boxes(n, of_source, of_target, last, boxes_a)
                partners(cells_b, b, n, m, of_source, of_target)
                b = atomic_boxes(n, of_source, of_target, last, boxes_b)
                if drop:
                    a = drop_identical_boxes(boxes_a, a, source, target)
                    b = drop_identical_boxes(boxes_b, b, source, target)
                common = common_boxes(boxes_a, a, boxes_b, b, n, chains)
            else:
                if drop:
                    a = drop_identical_cells(cells_a, a, source, target)
                    b = drop_identical_cells(cells_b, b, source, target)
                common = common_cells(cells_a, a, cells_b, b)
            norm = max(a, b) if largest else min(a, b)
            ratio = common / norm if norm > 0 else 0.0
            full = 1.0 if a + b > 0 else 0.0
            sums[0] += 1.0
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
                each = 4 if by_kind else 2
                for c in range(each):
                    record[3 + c], record[3 + each + c] = flips[0, c], flips[1, c]
        states[p] = state
        moments[p] = sums


@jit
def reweigh(
    records: NDArray[np.int32],
    largest: bool,
    shifts: Floats,
    wanted: NDArray[np.bool_],
    means: Floats,
    effective: Floats,
) -> None:
    """Average stored samples as if they were drawn at other rates.

    Parameters
    ----------
    records
        (P, S, 7 or 11): as `run` writes them.
    largest
        As in `run`.
    shifts
        (P, 4 or 8): what each flip adds to the log weight of its sample: the logit of the new
        rate less that of the old one.
    wanted
        (P,): the pairs to do; the others are skipped.
    means
        (P, 3): set to the mean ratio of the samples with a set that is not empty (NaN: none),
        the mean number of common items and the mean norm.
    effective
        (P,): set to the effective number of samples, (sum w)^2 / sum w^2.
    """
    samples = records.shape[1]
    weights = np.empty(samples)
    for p in range(len(records)):
        if not wanted[p]:
            continue
        top = -np.inf
        for s in range(samples):
            record = records[p, s]
            weight = 0.0
            for c in range(shifts.shape[1]):
                if record[3 + c] > 0:  # 0 flips weigh nothing, even at a shift of -inf
                    weight += record[3 + c] * shifts[p, c]
            weights[s] = weight
            top = max(top, weight)
        total, squares, filled, ratios, commons, norms = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        if top > -np.inf:
            for s in range(samples):
                weight = np.exp(weights[s] - top)
                record = records[p, s]
                common, a, b = record[0], record[1], record[2]
                norm = max(a, b) if largest else min(a, b)
                total += weight
                squares += weight * weight
                if a + b > 0:
                    filled += weight
                if norm > 0:
                    ratios += weight * common / norm
                commons += weight * common
                norms += weight * norm
        effective[p] = total * total / squares if squares > 0.0 else 0.0
        means[p, 0] = ratios / filled if filled > 0.0 else np.nan
        means[p, 1] = commons / total if total > 0.0 else np.nan
        means[p, 2] = norms / total if total > 0.0 else np.nan
