"""Do the steps of training that a part of the corpus is for: index it, align it, remember it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alignkit.align.bitext import Bitext, Pieces
from alignkit.align.cooccurrence import Cooccurrence, keys_of_places
from alignkit.align.decoding import Decoder
from alignkit.align.estimators import FEW
from alignkit.align.expectation import BitextPart, Workers, kinds_of
from alignkit.align.expectation_kernel import Own, Tables
from alignkit.align.maximization_kernel import add_chances, add_levels
from alignkit.align.parameters import Memory, keys_of
from alignkit.align.positions import Positions
from alignkit.align.training import pairs_for_a_jump
from alignkit.cluster.plan import TrainingPlan, opened, sparse, write_arrays
from alignkit.cluster.run import WorkerMemory
from alignkit.cluster.vocabulary import SIDES, shards_of, stored

F4 = NDArray[np.float32]
I4 = NDArray[np.int32]
U1 = NDArray[np.uint8]

NO_LEVELS = np.empty(0, np.uint8)
NO_POSTERIORS = np.empty(0, np.float32)


def index_part(plan: TrainingPlan, number: int, read: str) -> int:
    """Give words of a part their numbers among all, and find its word pairs; return how many."""
    arrays: dict[str, NDArray[Any]] = {}
    for side in SIDES:
        with opened(plan.words_file(side)) as words:
            numbers = words[f"numbers-{number}"]
        with opened(read) as part:
            arrays[f"{side}-ids"] = numbers[part[f"{side}-ids"]]
            arrays[f"{side}-starts"] = part[f"{side}-starts"]
    text = stored(arrays, plan.sizes, plan.casefold)
    index = Cooccurrence.of(_cut(text))
    known = _kept.get(
        plan.run, plan.index_file(number), plan.memory, lambda: _indexed(plan, number, text, index)
    )
    chances = np.zeros(len(index.columns), np.int64)
    add_chances(known.part.pairs.starts, index.cells, chances)
    keys = keys_of_places(index.rows, index.columns)
    for shard, places in enumerate(known.places):
        arrays[f"keys-{shard}"] = keys[places]
        arrays[f"sums-{shard}"] = chances[places]
    write_arrays(plan.index_file(number), arrays)
    return len(keys)


def _cut(bitext: Bitext) -> Bitext:
    pieces = Pieces.of(bitext)
    return bitext if pieces is None else pieces.bitext


def _divided(plan: TrainingPlan, index: Cooccurrence) -> list[I4]:
    if plan.shards == 1:
        return [np.arange(len(index.columns), dtype=np.int32)]
    with opened(plan.words_file("source")) as words:
        shards = shards_of(words["stems"], plan.shards)[index.source]
    return [np.flatnonzero(shards == shard).astype(np.int32) for shard in range(plan.shards)]


@dataclass(frozen=True, eq=False)
class _Known:
    """What stays the same of a part from round to round; `text` is not cut."""

    text: Bitext
    part: BitextPart
    places: list[I4]
    size: int


_kept: WorkerMemory[_Known] = WorkerMemory()
workers_of = cache(Workers)


def _known(plan: TrainingPlan, number: int) -> _Known:
    return _kept.get(plan.run, plan.index_file(number), plan.memory, lambda: _read(plan, number))


def _read(plan: TrainingPlan, number: int) -> tuple[_Known, int]:
    with opened(plan.index_file(number)) as arrays:
        text = stored(arrays, plan.sizes, plan.casefold)
    return _indexed(plan, number, text, Cooccurrence.of(_cut(text)))


def _indexed(
    plan: TrainingPlan, number: int, text: Bitext, index: Cooccurrence
) -> tuple[_Known, int]:
    bitext = _cut(text)
    part = BitextPart(bitext, index, workers_of(plan.threads), plan.firsts[number])
    known = _Known(text, part, _divided(plan, index), len(index.columns))
    tokens = len(bitext.source.ids) + len(bitext.target.ids)
    return known, 4 * len(index.cells) + 4 * len(index.columns) + 12 * tokens + 64 * len(bitext)


def _tables(plan: TrainingPlan, number: int, done: int) -> tuple[Tables, F4]:
    known, settings = _known(plan, number), plan.settings
    weights = np.empty(known.size, np.float32)
    rest = float(np.float32(settings.floor))
    for shard, places in enumerate(known.places):
        with opened(plan.weights_file(shard, done)) as arrays:
            weights[places] = arrays.dense(f"weights-{number}", len(places), rest)
    with opened(plan.totals_file(done)) as totals, opened(plan.common_file(done)) as common:
        kinds = [kinds_of(np.arange(size, dtype=np.int32), settings.kinds) for size in plan.sizes]
        units = common["null_units"]
        tables = Tables(
            weights,
            weights,
            totals["source"],
            totals["target"],
            common["source_null"],
            common["target_null"],
            kinds[0],
            kinds[1],
            np.float32(settings.null),
            units[0],
            units[1],
        )
        return tables, common["jumps"]


def _own(plan: TrainingPlan, number: int, done: int) -> Own:
    if not done or plan.pairs < FEW:
        return Own(NO_LEVELS, NO_LEVELS, NO_LEVELS)
    cells = len(_known(plan, number).part.pairs.cells)
    with opened(plan.found_file(number, done)) as arrays:
        return Own(arrays.dense("links", cells), arrays["source_own"], arrays["target_own"])


class _Evidence:
    """What an E-step expects to be linked."""

    def __init__(self, cells: int) -> None:
        self.agreement: U1 = np.zeros(cells, np.uint8)
        self.forward = self.reverse = NO_POSTERIORS


def expect(plan: TrainingPlan, number: int, done: int, model: str) -> tuple[int, int]:
    """Run a round's E-step on a part, after `done` rounds; return its log-likelihoods, in units."""
    known = _known(plan, number)
    part, own = known.part, _own(plan, number, done)
    tables, jumps = _tables(plan, number, done)
    to = _Evidence(len(part.pairs.cells))
    if model == "hmm":
        sums = part.hmm_step(tables, jumps, pairs_for_a_jump(plan.pairs), own, to)
    else:
        uniform = Positions.uniform()
        sums = part.lexical_step(tables, uniform, jumps.shape, own, to)
    levels = np.zeros(known.size, np.int64)
    add_levels(part.pairs.cells, to.agreement, levels)
    arrays = sparse("links", to.agreement)
    for shard, places in enumerate(known.places):
        arrays |= sparse(f"sums-{shard}", levels[places])
    taken = part.own(to.agreement)
    arrays |= {"source_own": taken.source, "target_own": taken.target, "jumps": sums.jumps}
    arrays |= sparse("source_nulls", sums.source_nulls)
    arrays |= sparse("target_nulls", sums.target_nulls)
    write_arrays(plan.found_file(number, done + 1), arrays)
    forward, reverse = sums.likelihoods.tolist()
    return forward, reverse


def decoder_of(plan: TrainingPlan, number: int, done: int, jumping: bool) -> tuple[Bitext, Decoder]:
    """Return a part, and what aligns it, its long lines cut, after all rounds."""
    known = _known(plan, number)
    tables, jumps = _tables(plan, number, done)
    if not jumping:
        jumps = np.empty((0, 0, 0), np.float32)
    part = known.part
    uniform = Positions.uniform()
    return known.text, Decoder(part.pairs, tables, _own(plan, number, done), jumps, uniform)


def remember(plan: TrainingPlan, number: int, done: int) -> None:
    """Write what the model is to remember of a part."""
    pairs, own = _known(plan, number).part.pairs, _own(plan, number, done)
    keys = keys_of((pairs.source, pairs.source_starts), (pairs.target, pairs.target_starts))
    memory = Memory.of(keys, pairs, own)
    names = ("keys", "offsets", "cells", "levels")
    write_arrays(plan.memory_file(number), {name: getattr(memory, name) for name in names})
