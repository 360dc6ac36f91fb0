"""Sample chance annotations and compare them: the compiled loops behind `monte_carlo`.

A sample flips each cell of the initial alignment independently. The kernel jumps from flip to flip
(the gaps are geometric) over the empty cells and over the filled ones, each with its own rate, and
merges what is added and what is left into a sorted list of cells. So a sample takes time and memory
in proportion to its links and flips and to N + M; there is no N x M table.

Every sentence pair has a random generator of its own (xoshiro256++, Blackman & Vigna 2021), whose
state goes on from one call to the next: neither the number of workers nor the division into rounds
changes what is drawn.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.jit import jit
from alignkit.phrase_kernel import FAR

__all__ = ["LINK_ITEMS", "MOMENTS", "PHRASE_ITEMS", "RECORD", "identical_choices", "reweigh", "run"]

PHRASE_ITEMS, LINK_ITEMS = 0, 1
"""What is compared: atomic phrase pairs or links."""

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
"""The columns that `run` keeps of each sample if asked."""

Ints = NDArray[np.int32]
Cells = NDArray[np.int64]
Offsets = NDArray[np.int64]
Floats = NDArray[np.float64]
States = NDArray[np.uint64]

_FAR = 2**61
_UNIT = 2.0**-53
_11, _17, _19, _23, _41, _45 = (np.uint64(shift) for shift in (11, 17, 19, 23, 41, 45))


@jit
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


@jit
def gap(state: States, log_keep: float) -> int:
    """Draw how many cells stay before the next flip; `log_keep` is log(1 - rate)."""
    if log_keep == 0.0:
        return _FAR
    jump = np.log(uniform(state)) / log_keep
    return int(jump) if jump < _FAR else _FAR


@jit
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


@jit
def partners(cells: Cells, size: int, n: int, m: int, of_source: Cells, of_target: Cells) -> None:
    """Set the least and greatest partner of each word; FAR and -1 where it has none.

    As `phrase_kernel.ranges`, for cells that rise.
    """
    of_target[:m, 0] = FAR
    of_target[:m, 1] = -1
    k = 0
    for i in range(n):
        row = i * m
        if k == size or cells[k] >= row + m:
            of_source[i, 0] = FAR
            of_source[i, 1] = -1
            continue
        of_source[i, 0] = cells[k] - row
        while k < size and cells[k] < row + m:
            j = cells[k] - row
            of_target[j, 0] = min(of_target[j, 0], i)
            of_target[j, 1] = i
            k += 1
        of_source[i, 1] = cells[k - 1] - row


@jit
def atomic_boxes(n: int, of_source: Cells, of_target: Cells, last: Cells, boxes: Cells) -> int:
    """Write the atomic phrase pairs, each once, as (first, last) words of both sides.

    As `phrase_kernel.closures`, but a word is given up as soon as an earlier word is met whose
    closure holds it: its own closure holds that earlier word, so the two are equal. Returns how
    many there are.
    """
    count = 0
    for i in range(n):
        low, high = of_source[i, 0], of_source[i, 1]
        if high < 0:
            last[i] = -1
            continue
        first, end = i, i
        done_low, done_high = low, low - 1
        known = False
        while not known and (done_low > low or done_high < high):
            need_first, need_end = first, end
            for j in range(low, done_low):
                need_first = min(need_first, of_target[j, 0])
                need_end = max(need_end, of_target[j, 1])
            for j in range(done_high + 1, high + 1):
                need_first = min(need_first, of_target[j, 0])
                need_end = max(need_end, of_target[j, 1])
            done_low, done_high = low, high
            for k in range(need_first, first):
                if last[k] >= i:
                    end = last[k]
                    known = True
                    break
                low = min(low, of_source[k, 0])
                high = max(high, of_source[k, 1])
            if not known:
                for k in range(end + 1, need_end + 1):
                    low = min(low, of_source[k, 0])
                    high = max(high, of_source[k, 1])
                first, end = need_first, need_end
        last[i] = end
        if not known:
            boxes[count, 0], boxes[count, 1] = first, end
            boxes[count, 2], boxes[count, 3] = low, high
            count += 1
    return count


@jit
def drop_identical_boxes(boxes: Cells, count: int, source: Ints, target: Ints) -> int:
    """Move the boxes of different words to the front; return how many."""
    kept = 0
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


@jit
def drop_identical_cells(cells: Cells, size: int, source: Ints, target: Ints) -> int:
    """Move the links of different words to the front; return how many."""
    m = len(target)
    kept, i = 0, 0
    for k in range(size):
        cell = cells[k]
        while cell >= (i + 1) * m:
            i += 1
        if source[i] != target[cell - i * m]:
            cells[kept] = cell
            kept += 1
    return kept


@jit
def common_boxes(
    first: Cells, first_count: int, second: Cells, second_count: int, n: int, chains: Cells
) -> int:
    """Count the boxes of both sets; `chains` links those of one set by their first word."""
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


@jit
def common_cells(first: Cells, first_size: int, second: Cells, second_size: int) -> int:
    """Count the links of both."""
    common, a, b = 0, 0, 0
    while a < first_size and b < second_size:
        x, y = first[a], second[b]
        common += x == y
        a += x <= y
        b += y <= x
    return common


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
        The words, as in `TokenArrays`; needed if `drop`.
    items
        `PHRASE_ITEMS` or `LINK_ITEMS`.
    drop
        Whether identical items are left out of the samples.
    largest
        Whether the larger of the two sets is the norm, not the smaller.
    rates
        (P, 4): the chance that an empty and that a filled cell flips, for either annotator.
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
        (P, samples, 7): every sample, the columns `RECORD`; of length 0 if not wanted.
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
    for p in range(begin, stop):
        n, m = int(lengths[p, 0]), int(lengths[p, 1])
        source = source_ids[source_offsets[p] : source_offsets[p + 1]]
        target = target_ids[target_offsets[p] : target_offsets[p + 1]]
        filled = offsets[p + 1] - offsets[p]
        for k in range(filled):
            start[k] = initial[offsets[p] + k, 0] * m + initial[offsets[p] + k, 1]
        logs = np.log1p(-rates[p])
        state[:] = states[p]
        sums = moments[p].copy()
        for s in range(samples):
            cells_a, a, adds_a, deletes_a = draw(
                state, start, filled, n * m, logs[0], logs[1], cells_a
            )
            cells_b, b, adds_b, deletes_b = draw(
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
                record[3], record[4] = adds_a, deletes_a
                record[5], record[6] = adds_b, deletes_b
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
        (P, S, 7): as `run` writes them.
    largest
        As in `run`.
    shifts
        (P, 4): what each flip adds to the log weight of its sample: the logit of the new rate
        less that of the old one.
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
            for c in range(4):
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


@jit
def identical_choices(
    source_ids: Ints,
    source_offsets: Offsets,
    target_ids: Ints,
    target_offsets: Offsets,
    items: int,
) -> Floats:
    """Return the (P,) numbers of identical items that could be chosen in each sentence pair.

    For phrase pairs: at every cell there end as many pairs of equal spans as the longest equal
    stretches that end there are long.
    """
    pairs = len(source_offsets) - 1
    found = np.zeros(pairs)
    for p in range(pairs):
        source = source_ids[source_offsets[p] : source_offsets[p + 1]]
        target = target_ids[target_offsets[p] : target_offsets[p + 1]]
        stretch = np.zeros(len(target) + 1)
        for i in range(len(source)):
            for j in range(len(target) - 1, -1, -1):
                if source[i] != target[j]:
                    stretch[j + 1] = 0.0
                else:
                    stretch[j + 1] = stretch[j] + 1.0 if items == PHRASE_ITEMS else 1.0
                found[p] += stretch[j + 1]
    return found
