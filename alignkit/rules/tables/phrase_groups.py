"""Read sorted records in groups: those with the same first phrase, which lie next to each other.

A record is two phrases with 0 between them (see `alignkit.rules.tables.table_kernel`); groups are
numbered from 0. `Runs.merge` yields records in blocks, and a group may go on from block to block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from alignkit._support.array_types import F8, I8
from alignkit._support.jit import all_readonly, readonly
from alignkit.rules.tables import table_kernel as kernel
from alignkit.rules.tables.runs import Runs, concatenated, part
from alignkit.rules.tables.runs_kernel import Records


def grouped(runs: Runs) -> Iterator[tuple[Records, I8]]:
    """Yield the records of `Runs`, and the group of each."""
    phrase = readonly(np.empty(0, np.int32))  # the first phrase of the record before, and its 0
    group = -1
    for block in map(all_readonly, runs.merge()):
        groups = kernel.number_groups(block.symbols, block.offsets, phrase, group)
        yield block, groups
        last_record = block.symbols[block.offsets[-2] :]
        divider = int((last_record == 0).argmax())
        phrase = last_record[: divider + 1]
        group = int(groups[-1])


def with_totals(runs: Runs) -> Iterator[tuple[Records, F8]]:
    """Yield the records of `Runs`, and for each the sum of the first values of its group.

    The records are merged twice, as the sum of a group is known only behind its last record.
    """
    totals = _totals(runs)
    for block, groups in grouped(runs):
        yield block, totals[groups]


def _totals(runs: Runs) -> F8:
    """Return the sum of the first values of each group."""
    complete: list[F8] = []
    open_group = 0  # the last one so far, which may go on in the next block
    open_sum = 0.0
    for block, groups in grouped(runs):
        # of the open group and those after it; the open one may have no records in this block
        sums = np.bincount(groups - open_group, block.values[:, 0]).astype(np.float64)
        sums[0] += open_sum
        complete.append(sums[:-1])
        open_group = int(groups[-1])
        open_sum = float(sums[-1])
    return np.concatenate([*complete, [open_sum]])


def whole_groups(runs: Runs) -> Iterator[tuple[Records, I8]]:
    """Yield the records of `Runs` in blocks that divide no group, and the group of each."""
    waiting: list[tuple[Records, I8]] = []  # the records of the last group so far
    waiting_group = -1
    for block, groups in grouped(runs):
        last_group = int(groups[-1])
        begin = int(np.searchsorted(groups, last_group))
        # all before `begin` is complete, and so is what waits, unless it is of the same group
        if begin > 0 or (waiting and waiting_group != last_group):
            yield _joined([*waiting, (part(block, 0, begin), groups[:begin])])
            waiting = []
        waiting.append((part(block, begin, len(groups)), groups[begin:]))
        waiting_group = last_group
    if waiting:
        yield _joined(waiting)


def _joined(parts: Sequence[tuple[Records, I8]]) -> tuple[Records, I8]:
    """Return blocks with the groups of their records as one."""
    blocks, groups = zip(*parts, strict=True)
    return all_readonly(concatenated(blocks)), np.concatenate(groups)
