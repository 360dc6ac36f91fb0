"""Make the tables of a shard of the word pairs: those of some source words, by their stems."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_count
from alignkit.align.cooccurrence import PLACES, Cooccurrence, merged
from alignkit.align.estimators import Shard, counts_of
from alignkit.align.maximization_kernel import UNITS
from alignkit.align.priors import Backing, add_dictionary, spelling_prior
from alignkit.align.training import is_learned, prunes, schedule_of
from alignkit.cluster.plan import TrainingPlan, opened, sparse, write_arrays
from alignkit.cluster.run import WorkerMemory
from alignkit.cluster.vocabulary import SharedVocabulary, stems_in

F4 = NDArray[np.float32]
I8 = NDArray[np.int64]

NO_CELLS = np.empty(0, np.int32)


@dataclass(frozen=True)
class Made:
    """What a shard that was made has."""

    places: int  # how many word pairs it has
    entries: int  # how many entries of the dictionary are among them


def make_shard(plan: TrainingPlan, number: int, dictionary: str) -> Made:
    """Merge the word pairs of all parts, find where each stands, and what is known before."""
    keys = np.empty(0, np.int64)
    waiting: list[I8] = []
    for part in range(plan.parts):
        waiting.append(_keys(plan, number, part))
        if sum(map(len, waiting)) >= len(keys):  # each key is moved a few times, not once a part
            keys, waiting = merged([keys, *waiting]), []
    keys = merged([keys, *waiting])
    check_count(PLACES, len(keys))
    settings = plan.settings
    source, target = (SharedVocabulary.read(plan.words_file(side)) for side in ("source", "target"))
    index = Cooccurrence.of_keys(keys, len(source.words), NO_CELLS)
    prior = spelling_prior(index, source.words, target.words, settings.spelling, settings.identity)
    known = json.loads(Path(dictionary).read_text("utf-8"))
    entries = {(word, other): count for word, other, count in known}
    met = add_dictionary(prior, index, source.words, target.words, entries)
    prior += np.float32(settings.floor)
    arrays: dict[str, NDArray[Any]] = {"keys": keys, "prior": prior}
    for part in range(plan.parts):
        places = np.searchsorted(keys, _keys(plan, number, part))
        arrays[f"places-{part}"] = places.astype(np.int32)
    write_arrays(plan.shard_file(number), arrays)
    return Made(len(keys), met)


def _keys(plan: TrainingPlan, number: int, part: int) -> I8:
    with opened(plan.index_file(part)) as arrays:
        keys: I8 = arrays[f"keys-{number}"]
    return keys


@dataclass(frozen=True, eq=False)
class _Known:
    """What stays the same of a shard from round to round."""

    shard: Shard
    keys: I8
    places: Sequence[NDArray[np.int32]]


_kept: WorkerMemory[_Known] = WorkerMemory()


def _known(plan: TrainingPlan, number: int) -> _Known:
    return _kept.get(plan.run, plan.shard_file(number), plan.memory, lambda: _read(plan, number))


def _read(plan: TrainingPlan, number: int) -> tuple[_Known, int]:
    with opened(plan.shard_file(number)) as arrays:
        keys, prior = arrays["keys"], arrays["prior"]
        places = [arrays[f"places-{part}"] for part in range(plan.parts)]
    stems = []
    for side in ("source", "target"):
        with opened(plan.words_file(side)) as arrays:
            stems.append(stems_in(arrays))
    sources, targets = (len(side.numbers) for side in stems)
    index = Cooccurrence.of_keys(keys, sources, NO_CELLS)
    backing = None
    if plan.settings.stem_weight > 0:
        backing = Backing(index, stems[0], stems[1], strength=plan.settings.stem_weight)
    size = 24 * len(keys) + 4 * sum(map(len, places)) + 16 * (sources + targets)
    return _Known(Shard(index, prior, backing, targets), keys, places), size


def add_counts(plan: TrainingPlan, number: int, done: int) -> None:
    """Add up what the parts expect to be linked after `done` rounds, and that by target stem."""
    known = _known(plan, number)
    sums = np.zeros(len(known.keys), np.int64)
    for part, places in enumerate(known.places):
        file = plan.found_file(part, done) if done else plan.index_file(part)
        with opened(file) as expected:
            sums[places] += expected.dense(f"sums-{number}", len(places))
    counts = counts_of(sums) if done else counts_of(sums, UNITS)
    pruned = _pruned(plan)
    if done and done == pruned:
        forgotten = known.shard.to_forget(counts, plan.settings.floor)
        write_arrays(plan.forgotten_file(number), {"bits": np.packbits(forgotten)})
    if done and pruned and done >= pruned:
        counts = _forgetting(plan, number, known).kept(counts)
    arrays = sparse("counts", counts)
    stems = known.shard.stem_sums(counts)
    if stems is not None:
        arrays |= sparse("stems", stems.target)
    write_arrays(plan.counts_file(number, done), arrays)


def _pruned(plan: TrainingPlan) -> int:
    for done, (model, number) in enumerate(schedule_of(plan.settings), start=1):
        if prunes(model, number, plan.settings):
            return done
    return 0


def _forgetting(plan: TrainingPlan, number: int, known: _Known) -> Shard:
    """Return a shard that has forgotten what it was to forget, perhaps by another worker."""
    shard = copy(known.shard)
    with opened(plan.forgotten_file(number)) as arrays:
        shard.forgotten = np.unpackbits(arrays["bits"], count=len(known.keys)).astype(np.bool_)
    return shard


def weigh(plan: TrainingPlan, number: int, done: int, last: bool) -> None:
    """Make the weights of the next round, those that each part needs, and their totals."""
    known = _known(plan, number)
    rest = float(np.float32(plan.settings.floor))
    pruned = _pruned(plan)
    shard = _forgetting(plan, number, known) if pruned and done >= pruned else known.shard
    with opened(plan.counts_file(number, done)) as before:
        counts: F4 = before.dense("counts", len(known.keys))
    stems = shard.stem_sums(counts)
    if stems is not None:
        with opened(plan.common_file(done)) as common:
            stems = stems._replace(target=common["stems"])
    weights, source, target = shard.weights(counts, stems)
    arrays = sparse("source", source) | sparse("target", target)
    for part, places in enumerate(known.places):
        arrays |= sparse(f"weights-{part}", weights[places], rest)
    if last:
        learned = is_learned(weights, plan.settings)
        arrays |= {"keys": known.keys[learned], "weights": weights[learned]}
    write_arrays(plan.weights_file(number, done), arrays)
