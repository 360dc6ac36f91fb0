"""Add up what parts and shards found, into what all of them read in the next round."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.estimators import divisors
from alignkit.aligner.fixed_kernel import add_up, numbers_in
from alignkit.aligner.part import Sums
from alignkit.aligner.training import first_jumps, jumps_of, nulls_of, uniform_null
from alignkit.cluster.plan import Plan
from alignkit.cluster.state import opened, write_arrays


def add_parts(plan: Plan, done: int, model: str, stems: int) -> None:
    """Make the tables of the empty word and of jumps, and add up the target stems of all shards."""
    if done:
        sums = _sums(plan, done)
        tables = nulls_of(sums)
        with opened(plan.common_file(done - 1)) as before:
            jumps = jumps_of(sums, plan.settings) if model == "hmm" else before["jumps"]
    else:
        sources, targets = map(uniform_null, plan.sizes)
        tables = sources, targets, np.zeros(2, np.float32)
        jumps = np.stack([first_jumps(plan.settings)] * 2)
    names = "source_null", "target_null", "null_units", "jumps"
    arrays: dict[str, NDArray[Any]] = dict(zip(names, (*tables, jumps), strict=True))
    if stems:
        arrays["stems"] = np.zeros(stems, np.int64)
        for shard in range(plan.shards):
            with opened(plan.counts_file(shard, done)) as counts:
                arrays["stems"] = add_up([arrays["stems"], counts.dense("stems", stems)])
    write_arrays(plan.common_file(done), arrays)


def _sums(plan: Plan, done: int) -> Sums:
    """Return the sums over all parts, but for the likelihoods."""
    nothing = np.zeros(2, np.int64)
    total = None
    for part in range(plan.parts):
        with opened(plan.found_file(part, done)) as arrays:
            nulls = [
                arrays.dense(f"{side}_nulls", size)
                for side, size in zip(("source", "target"), plan.sizes, strict=True)
            ]
            sums = Sums(nulls[0], nulls[1], arrays["jumps"], nothing)
        total = sums if total is None else Sums.over([total, sums])
    assert total is not None  # there is a part
    return total


def add_shards(plan: Plan, done: int) -> None:
    """Add up the weights of all shards by source and by target word, to divide them by that."""
    arrays: dict[str, NDArray[Any]] = {}
    for side, size in zip(("source", "target"), plan.sizes, strict=True):
        total = np.zeros(size, np.int64)
        for shard in range(plan.shards):
            with opened(plan.weights_file(shard, done)) as weights:
                total = add_up([total, weights.dense(side, size)])
        arrays[side] = divisors(numbers_in(total) + plan.settings.concentration)
    write_arrays(plan.totals_file(done), arrays)
