"""Count, sort and merge sequences of numbers: the compiled loops behind `Runs`.

A record is a sequence of numbers from 0 on, with a row of values. Sequences are ordered number by
number; one that another goes on from comes before it: 1 2, 1 2 3, 1 4, 5. The two numbers of a
sequence from place d on, in one word of 64 bits, are its *key* at depth d: most comparisons need no
more than the keys. At depth 0, the keys of 1 2 and 1 2 3 are equal; at depth 2, that of 1 2 is 0,
as nothing is left of it, and that of 1 2 3 is greater.

A *run* is a file of records in order, read in blocks. `absorb` collects records in memory, each
sequence once; `sort` puts them in order for a run; `merge` reads several runs side by side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import F8, I4, I8, U8
from alignkit._support.jit import inlined, jit

DONE = -1
FULL = -2
"""What `merge` returns: nothing is left, or the output is full."""

HEAPED = 0  # how many runs the heap holds; -1: it is to be made
WRITTEN = 1  # how many records are written to the output
USED_UP = 2  # 1 if the run at the top of the heap was used up, and has a new block (or none)
STATES = 3
"""The places of the state of `merge`, which goes on from call to call, and their number."""

_FEW = 12  # so many are sorted by insertion
_MIX = np.uint64(0x9E3779B97F4A7C15)


class Records(NamedTuple):
    """R records, or room for as many."""

    symbols: I4  # (S,) the numbers of all sequences, one after the other
    offsets: I8  # (R + 1,) sequence k is symbols[offsets[k]:offsets[k + 1]]
    values: F8  # (R, K) the values of each sequence


class RunFront(NamedTuple):
    """A block of records of each of F runs, and how far they are merged."""

    symbols: I4  # (F, S), (F, R + 1) and (F, R, K): the blocks, each as in `Records`
    offsets: I8
    values: F8
    counts: I8  # (F,) the records of each block; 0 where a run is at its end
    places: I8  # (F,) the next record of each block
    keys: U8  # (F,) the key of this record, at depth 0
    heap: I8  # (F,) the runs that have records: the one with the first record of all comes first
    state: I8  # (3,) see `HEAPED`, `WRITTEN` and `USED_UP`


@inlined
def key_at(symbols: I4, start: int, end: int) -> np.uint64:
    """Return the key of what a sequence has from `start` on; 0 stands for its end."""
    key = np.uint64(0)
    if start < end:
        # numbers are raised by one, so that the end of a sequence sorts first
        key = np.uint64(symbols[start] + 1) << np.uint64(32)
        if start + 1 < end:
            key |= np.uint64(symbols[start + 1] + 1)
    return key


@inlined
def compare(left: I4, i: int, end: int, right: I4, j: int, stop: int) -> int:
    """Return -1, 0 or 1: how left[i:end] compares with right[j:stop]."""
    while i < end and j < stop:
        if left[i] != right[j]:
            return -1 if left[i] < right[j] else 1
        i += 1
        j += 1
    if i < end:
        return 1
    return -1 if j < stop else 0


@inlined
def combine(into: F8, row: int, values: F8, other: int, sums: int) -> None:
    """Add the first values of a row to those of another; of the rest keep the greater."""
    for k in range(sums):
        into[row, k] += values[other, k]
    for k in range(sums, into.shape[1]):
        into[row, k] = max(into[row, k], values[other, k])


@inlined
def hash_of(symbols: I4, begin: int, end: int) -> np.uint64:
    """Return a hash of a sequence: its length and numbers, mixed one by one."""
    mixed = np.uint64(end - begin)
    for i in range(begin, end):
        mixed = (mixed ^ np.uint64(symbols[i])) * _MIX
        mixed ^= mixed >> np.uint64(32)
    return mixed


@jit
def absorb(
    records: Records, first: int, sums: int, held: Records, slots: U8, size: int
) -> tuple[int, int]:
    """Take in the records from number `first` on, each sequence once.

    first: The record to go on with.
    sums: How many of the K values are added up; of the rest the greatest stays.
    held: The records that were taken in, `size` of them, and room for more; `offsets[0]` is 0.
    slots: A hash table: half a hash and the number of a record, from 1 on; 0 where there is none.
    Returns: The first record that did not fit (R when all did), and how many are held now.
    """
    symbols, offsets, values = records
    kept, ends, kept_values = held
    count = np.uint64(len(slots))
    low = np.uint64(0xFFFFFFFF)
    for k in range(first, len(offsets) - 1):
        begin = offsets[k]
        end = offsets[k + 1]
        length = end - begin
        mixed = hash_of(symbols, begin, end)
        mark = mixed & low
        # the high bits, scaled to the number of slots; then linear probing
        slot = ((mixed * _MIX) >> np.uint64(32)) * count >> np.uint64(32)
        row = -1
        while slots[slot] != 0:
            # half of the hash is kept in the slot: sequences are compared only where it is equal
            if slots[slot] >> np.uint64(32) == mark:
                known = np.int64(slots[slot] & low) - 1
                start = ends[known]
                if ends[known + 1] - start == length:
                    i = 0
                    while i < length and kept[start + i] == symbols[begin + i]:
                        i += 1
                    if i == length:
                        row = int(known)
                        break
            slot += np.uint64(1)
            if slot == count:
                slot = np.uint64(0)
        if row >= 0:
            combine(kept_values, row, values, k, sums)
            continue
        start = ends[size]
        # no room: the caller writes what is held and begins again with this record
        if size == len(kept_values) or start + length > len(kept):
            return k, size
        for i in range(length):
            kept[start + i] = symbols[begin + i]
        for i in range(kept_values.shape[1]):
            kept_values[size, i] = values[k, i]
        size += 1
        ends[size] = start + length
        slots[slot] = (mark << np.uint64(32)) | np.uint64(size)
    return len(offsets) - 1, size


@jit
def sort(records: Records, order: I4, keys: U8) -> None:
    """Put the numbers of records, `order`, into the order of their sequences, which all differ.

    Quicksort in three parts by the keys; those with equal keys are sorted by their next ones
    (Bentley & Sedgewick 1997, Fast algorithms for sorting and searching strings, SODA).

    order: (R,): set to the numbers of the first R records, in order.
    keys: (R,): room to work in.
    """
    symbols = records.symbols
    ends = records.offsets
    n = len(order)
    for k in range(n):
        order[k] = k
        keys[k] = key_at(symbols, ends[k], ends[k + 1])
    stack = [(0, n, 0)]
    while len(stack) > 0:
        lo, hi, depth = stack.pop()
        # invariant: all in lo..hi are equal up to `depth`, and keys are what follows
        while hi - lo > _FEW:
            middle = median(keys[lo], keys[(lo + hi) // 2], keys[hi - 1])
            below = lo
            k = lo
            above = hi
            # less than the middle: lo..below, equal: below..k, greater: above..hi
            while k < above:
                key = keys[k]
                if key < middle:
                    swap(order, keys, below, k)
                    below += 1
                    k += 1
                elif key > middle:
                    above -= 1
                    swap(order, keys, k, above)
                else:
                    k += 1
            if below - lo > 1:
                stack.append((lo, below, depth))
            if hi - above > 1:
                stack.append((above, hi, depth))
            # the two outer parts wait on the stack; the equal ones go on with their next key
            lo = below
            hi = above
            if hi - lo < 2:  # equal keys that end a sequence are one record
                break
            depth += 2
            for k in range(lo, hi):
                start = ends[order[k]]
                keys[k] = key_at(symbols, start + depth, ends[order[k] + 1])
        if hi - lo > 1:
            insert(symbols, ends, order, keys, lo, hi, depth)


@inlined
def median(first: np.uint64, second: np.uint64, third: np.uint64) -> np.uint64:
    """Return the middle of three keys."""
    return max(min(first, second), min(max(first, second), third))


@inlined
def swap(order: I4, keys: U8, i: int, j: int) -> None:
    """Exchange two records."""
    order[i], order[j] = order[j], order[i]
    keys[i], keys[j] = keys[j], keys[i]


@inlined
def insert(symbols: I4, ends: I8, order: I4, keys: U8, lo: int, hi: int, depth: int) -> None:
    """Sort a few records that are equal up to a depth."""
    for k in range(lo + 1, hi):
        # lo..k is sorted; the record goes down to its place
        record = order[k]
        key = keys[k]
        start = ends[record] + depth + 2
        end = ends[record + 1]
        j = k
        while j > lo:
            if keys[j - 1] < key:
                break
            if keys[j - 1] == key:
                other = order[j - 1]
                begin = ends[other] + depth + 2
                if compare(symbols, begin, ends[other + 1], symbols, start, end) < 0:
                    break
            order[j] = order[j - 1]
            keys[j] = keys[j - 1]
            j -= 1
        order[j] = record
        keys[j] = key


@jit
def fitting(ends: I8, order: I4, begin: int, most: int, room: int) -> int:
    """Return where a block ends that begins at a place of `order`: it has `most` records at most.

    ends: The offsets of the records.
    room: The most numbers of a block that has more than one record.
    """
    end = begin
    used = 0
    while end < len(order) and end - begin < most:
        used += ends[order[end] + 1] - ends[order[end]]
        # one that is longer than the room still makes a block of its own
        if used > room and end > begin:
            break
        end += 1
    return end


@jit
def take(records: Records, order: I4) -> Records:
    """Return some records, in an order, as arrays of their own."""
    symbols, ends, values = records
    offsets = np.zeros(len(order) + 1, np.int64)
    for k in range(len(order)):
        offsets[k + 1] = offsets[k] + ends[order[k] + 1] - ends[order[k]]
    taken = np.empty(offsets[-1], np.int32)
    rows = np.empty((len(order), values.shape[1]), np.float64)
    for k in range(len(order)):
        start = ends[order[k]]
        for i in range(offsets[k + 1] - offsets[k]):
            taken[offsets[k] + i] = symbols[start + i]
        for i in range(values.shape[1]):
            rows[k, i] = values[order[k], i]
    return Records(taken, offsets, rows)


@inlined
def before(front: RunFront, run: int, other: int) -> bool:
    """Return whether the next record of a run comes before that of another; equal ones by run."""
    key = front.keys[run]
    other_key = front.keys[other]
    if key != other_key:
        return bool(key < other_key)
    offsets = front.offsets
    i = front.places[run]
    j = front.places[other]
    order = compare(
        front.symbols[run],
        offsets[run, i],
        offsets[run, i + 1],
        front.symbols[other],
        offsets[other, j],
        offsets[other, j + 1],
    )
    return order < 0 or (order == 0 and run < other)


@inlined
def sift(front: RunFront, size: int, node: int) -> None:
    """Let the run at a node of the heap, which holds `size` runs, sink to its place.

    The children of a node are at 2 node + 1 and 2 node + 2; neither comes before its parent.
    """
    heap = front.heap
    while 2 * node + 1 < size:
        child = 2 * node + 1
        if child + 1 < size and before(front, heap[child + 1], heap[child]):
            child += 1
        if not before(front, heap[child], heap[node]):
            break
        heap[child], heap[node] = heap[node], heap[child]
        node = child


@jit
def merge(front: RunFront, sums: int, to: Records) -> int:
    """Merge the blocks of several runs until one is used up, or the output is full.

    The caller gives the run a new block, or takes what is written, and calls again.

    sums: As of `absorb`.
    to: Where to write; `front.state` has how many records are written.
    Returns: The run whose next block is needed, or FULL, or DONE.
    """
    symbols = front.symbols
    offsets = front.offsets
    values = front.values
    counts = front.counts
    places = front.places
    keys = front.keys
    heap = front.heap
    state = front.state
    out, out_offsets, out_values = to
    # the first call: a heap of the runs that have records
    if state[HEAPED] < 0:
        state[HEAPED] = 0
        for run in range(len(counts)):
            if counts[run] > 0:
                keys[run] = key_at(symbols[run], offsets[run, 0], offsets[run, 1])
                heap[state[HEAPED]] = run
                state[HEAPED] += 1
        for node in range(state[HEAPED] // 2 - 1, -1, -1):
            sift(front, state[HEAPED], node)
    # the top of the heap is the run with the first record of all
    written = state[WRITTEN]
    while state[HEAPED] > 0:
        run = int(heap[0])
        numbers = symbols[run]
        if state[USED_UP] == 0:
            place = places[run]
            start = offsets[run, place]
            end = offsets[run, place + 1]
            last = max(written - 1, 0)
            # equal to the last one written: their values are put together
            same = written > 0 and not compare(
                numbers, start, end, out, out_offsets[last], out_offsets[written]
            )
            if same:
                combine(out_values, last, values[run], place, sums)
            else:
                at = out_offsets[written]
                if written == len(out_values) or at + end - start > len(out):
                    state[WRITTEN] = written
                    return FULL
                for i in range(end - start):
                    out[at + i] = numbers[start + i]
                for i in range(out_values.shape[1]):
                    out_values[written, i] = values[run, place, i]
                written += 1
                out_offsets[written] = at + end - start
            places[run] += 1
            # the block is used up: the state says so to the next call, which comes with a new one
            if places[run] == counts[run]:
                state[WRITTEN] = written
                state[USED_UP] = 1
                return run
        # the run at the top goes on: no more records, and it leaves the heap; else it sinks
        state[USED_UP] = 0
        if counts[run] == 0:
            state[HEAPED] -= 1
            heap[0] = heap[state[HEAPED]]
        else:
            place = places[run]
            keys[run] = key_at(numbers, offsets[run, place], offsets[run, place + 1])
        sift(front, state[HEAPED], 0)
    state[WRITTEN] = written
    return DONE


@jit
def between(symbols: I4, offsets: I8, keys: I4, key_offsets: I8) -> I4:
    """Return how many of some sorted phrases the first phrase of each record is not before.

    symbols, offsets: The records.
    keys, key_offsets: The phrases.
    """
    counts = np.empty(len(offsets) - 1, np.int32)
    for k in range(len(counts)):
        low = 0
        high = len(key_offsets) - 1
        # binary search: keys before `low` are not after the phrase, those from `high` on are
        while low < high:
            middle = (low + high) // 2
            if is_before(symbols, offsets[k], keys, key_offsets[middle], key_offsets[middle + 1]):
                high = middle
            else:
                low = middle + 1
        counts[k] = low
    return counts


@inlined
def is_before(symbols: I4, i: int, keys: I4, j: int, end: int) -> bool:
    """Return whether the phrase that begins at i, and ends before 0, comes before keys[j:end]."""
    while j < end:
        if symbols[i] != keys[j]:
            return bool(symbols[i] < keys[j])
        i += 1
        j += 1
    return False
