"""The tasks of training: the work of a worker on a part, on a shard, or on the sum of all.

A part is a set of sentence pairs. A shard is the word pairs of some source words, selected by their
stems. In each round, `expect` computes the expected links of the parts, `add_counts` and
`add_parts` add them up, and `weigh` and `add_shards` compute the weights of the next round.

Expected links are counted in 255ths, their *levels*: sums of whole numbers do not depend on their
order. A part's *own* expected links of the last round are subtracted from the counts with which it
is aligned. Tasks exchange arrays in files, which `TrainingPlan` lists; ``done`` is the number of
rounds after which they were written. What stays the same in all rounds is also kept in memory.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_count
from alignkit._support.array_types import F4, I4, I8
from alignkit.align import expectation, rounds
from alignkit.align.bitext import Bitext, Pieces
from alignkit.align.calibration import Calibrator, TrainingText, words_of
from alignkit.align.cooccurrence import PLACES, Cooccurrence, keys_of_places, merged
from alignkit.align.decoders import Decoder
from alignkit.align.decoding import decode, likelihoods_by
from alignkit.align.expectation import Positions
from alignkit.align.expectation_kernel import Own, Tables
from alignkit.align.maximization_kernel import UNITS, add_chances, add_levels, add_up
from alignkit.align.model_contents import save_parameters
from alignkit.align.numbered_texts import score_lines
from alignkit.align.parameters import Memory, Parameters, Round, with_unseen
from alignkit.align.priors import (
    Backing,
    add_dictionary,
    add_mean_shares,
    spelling_prior,
    sums_of_shares,
)
from alignkit.align.settings import FEW
from alignkit.cluster import training_files
from alignkit.cluster.part_outputs import LinkOutput
from alignkit.cluster.training_files import TrainingPlan, opened
from alignkit.cluster.worker_memory import WorkerMemory
from alignkit.io.atomic_files import apart, replacing, replacing_bytes
from alignkit.io.link_lines import format_lines
from alignkit.model.alignment import SIDES
from alignkit.model.arrays import gather, offsets_of

NO_CELLS = np.empty(0, np.int32)
_MIX = np.uint64(0x9E3779B97F4A7C15)

workers_of = cache(expectation.Workers)


# Parts


@dataclass(frozen=True, eq=False)
class _KnownPart:
    """Data of a part that stay the same in all rounds; `text` is not cut."""

    text: Bitext
    part: expectation.BitextPart
    places: list[I4]  # where its word pairs of each shard are
    size: int  # how many word pairs it has


_parts: WorkerMemory[_KnownPart] = WorkerMemory()


def _known_part(
    plan: TrainingPlan, number: int, given: tuple[Bitext, Bitext, Cooccurrence] | None = None
) -> _KnownPart:
    """Return the data of a part, from its file if they are not `given`.

    These are its text, its text with long pairs cut, and the index of its word pairs.
    """

    def make() -> tuple[_KnownPart, int]:
        if given is None:
            with opened(plan.file("parts", number)) as arrays:
                text = training_files.stored(plan, arrays)
            bitext = training_files.cut_pairs(text)
            index = Cooccurrence.of(bitext)
        else:
            text, bitext, index = given
        part = expectation.BitextPart(bitext, index, workers_of(plan.threads), plan.firsts[number])
        known = _KnownPart(text, part, _divided(plan, index), len(index.columns))
        tokens = len(bitext.source.ids) + len(bitext.target.ids)
        size = 4 * (len(index.cells) + known.size) + 12 * tokens + 64 * len(bitext)
        return known, size

    return _parts.get(plan.run, plan.file("parts", number), plan.memory, make)


def _divided(plan: TrainingPlan, index: Cooccurrence) -> list[I4]:
    """Return which word pairs of a part belong to each shard."""
    if plan.shards == 1:
        return [np.arange(len(index.columns), dtype=np.int32)]
    # by stem: words with the same stem share a shard
    stems = training_files.stems_of(plan, "source").numbers.astype(np.uint64)
    mixed = (stems + np.uint64(1)) * _MIX >> np.uint64(32)
    shards = (mixed % np.uint64(plan.shards))[index.source]
    return [np.flatnonzero(shards == shard).astype(np.int32) for shard in range(plan.shards)]


def index_part(plan: TrainingPlan, number: int, read: str) -> None:
    """Map words of a part to shared numbers, and find its word pairs."""
    arrays: dict[str, NDArray[Any]] = {}
    for side in SIDES:
        with opened(plan.file("words", side)) as words, opened(read) as part:
            arrays[f"{side}-ids"] = words[f"numbers-{number}"][part[f"{side}-ids"]]
            arrays[f"{side}-starts"] = part[f"{side}-starts"]
    text = training_files.stored(plan, arrays)
    bitext = training_files.cut_pairs(text)
    index = Cooccurrence.of(bitext)
    known = _known_part(plan, number, (text, bitext, index))
    chances = np.zeros(known.size, np.int64)
    add_chances(known.part.pairs.starts, index.cells, chances)
    keys = keys_of_places(index.rows, index.columns)
    for shard, places in enumerate(known.places):
        arrays[f"keys-{shard}"] = keys[places]
        arrays[f"sums-{shard}"] = chances[places]
    if plan.encoder is not None:
        with opened(plan.file("encoded", number)) as encoded:
            shares, cells = sums_of_shares(index, encoded["shares"])
        for shard, places in enumerate(known.places):
            arrays[f"shares-{shard}"] = shares[places]
            arrays[f"cells-{shard}"] = cells[places]
    training_files.write_arrays(plan.file("parts", number), arrays)


def expect(plan: TrainingPlan, number: int, done: int, model: str) -> tuple[int, ...]:
    """Run the E-step of a round on a part; return log-likelihoods, links in 255ths, and words."""
    known = _known_part(plan, number)
    part = known.part
    own = _own_links(plan, number, done)
    tables, jumps = _tables(plan, number, done)
    none = expectation.NO_POSTERIORS
    agreement = np.zeros(len(part.pairs.cells), np.uint8)
    to: Any = SimpleNamespace(agreement=agreement, forward=none, reverse=none)
    if model == "hmm":
        every = rounds.pairs_for_a_jump(plan.pairs)
        sums = part.hmm_step(tables, jumps, every, own, to)
    else:
        sums = part.lexical_step(tables, Positions.uniform(), jumps.shape, own, to)
    levels = np.zeros(known.size, np.int64)
    add_levels(part.pairs.cells, agreement, levels)
    arrays = training_files.sparse("links", agreement)
    for shard, places in enumerate(known.places):
        arrays |= training_files.sparse(f"sums-{shard}", levels[places])
    taken = part.own(agreement)
    arrays |= {"source_own": taken.source, "target_own": taken.target, "jumps": sums.jumps}
    arrays |= training_files.sparse("source_nulls", sums.source_nulls)
    arrays |= training_files.sparse("target_nulls", sums.target_nulls)
    training_files.write_arrays(plan.after(done + 1, f"part-{number}"), arrays)
    forward, reverse = sums.likelihoods.tolist()
    return forward, reverse, int(levels.sum()), words_of(part.bitext)


def _tables(plan: TrainingPlan, number: int, done: int) -> tuple[Tables, F4]:
    """Return the tables of a part after `done` rounds, and the jumps."""
    known = _known_part(plan, number)
    settings = plan.settings
    weights = np.empty(known.size, np.float32)
    rest = float(np.float32(settings.floor))  # the weight of most word pairs
    for shard, places in enumerate(known.places):
        with opened(plan.after(done, f"weights-{shard}")) as arrays:
            weights[places] = arrays.dense(f"weights-{number}", len(places), rest)
    source, target = (rounds.kinds(size, settings) for size in plan.sizes)
    with opened(plan.after(done, "totals")) as totals, opened(plan.after(done, "common")) as common:
        source_unit, target_unit = common["null_units"]
        tables = Tables(
            forward=weights,
            reverse=weights,
            source_totals=totals["source"],
            target_totals=totals["target"],
            source_null=common["source_null"],
            target_null=common["target_null"],
            source_kinds=source,
            target_kinds=target,
            p0=np.float32(settings.null),
            source_unit=source_unit,
            target_unit=target_unit,
        )
        return tables, common["jumps"]


def _own_links(plan: TrainingPlan, number: int, done: int) -> Own:
    """Return a part's own expected links, which are subtracted from the counts."""
    if not done or plan.pairs < FEW:
        return Own(expectation.NO_LEVELS, expectation.NO_LEVELS, expectation.NO_LEVELS)
    cells = len(_known_part(plan, number).part.pairs.cells)
    with opened(plan.after(done, f"part-{number}")) as arrays:
        return Own(arrays.dense("links", cells), arrays["source_own"], arrays["target_own"])


def remember(plan: TrainingPlan, number: int, done: int) -> None:
    """Write the expected links of a part that the model will keep."""
    pairs = _known_part(plan, number).part.pairs
    own = _own_links(plan, number, done)
    memory = Memory.of(pairs, own)
    training_files.write_arrays(plan.file("memory", number), vars(memory))


def training_text(plan: TrainingPlan, done: int, levels: int, words: int) -> TrainingText | None:
    """Return what calibration needs after `done` rounds, the last with these expected links."""
    if not plan.settings.calibrated:
        return None
    counts = []
    for side in SIDES:
        with opened(plan.file("words", side)) as known:
            counts.append(known["frequencies"])
    with opened(plan.after(done, "common")) as common:
        return TrainingText.of(counts, plan.pairs, words, levels, common["null_units"])


def write_links(
    plan: TrainingPlan,
    number: int,
    done: int,
    jumping: bool,
    text: TrainingText | None,
    files: tuple[str | None, str | None],
    how: LinkOutput,
) -> None:
    """Align a part with the model after `done` rounds."""
    known = _known_part(plan, number)
    workers = workers_of(plan.threads)
    tables, jumps = _tables(plan, number, done)
    if not jumping:
        jumps = rounds.NO_JUMPS
    own = _own_links(plan, number, done)
    words = []
    if text:
        words = [training_files.shared_words(plan, side) for side in SIDES]
    calibrator = Calibrator.of_training(text, words)
    decoder = Decoder(known.part.pairs, tables, own, jumps, Positions.uniform(), calibrator)
    pieces = Pieces.of(known.text)
    least = plan.settings.threshold if how.threshold is None else how.threshold
    decoded = decode(decoder, workers, how.symmetrize, least, how.sure)
    arrays = decoded.arrays
    if pieces is not None:
        arrays = pieces.joined(arrays, known.text)
    links, scores = files
    with apart(), ExitStack() as stack:
        if links is not None:
            out = stack.enter_context(replacing_bytes(links))
            weights = decoded.probabilities if how.probabilities else None
            out.write(format_lines(arrays, probabilities=weights))
        if scores is not None:
            likelihoods = likelihoods_by(decoder, workers)
            if pieces is not None:
                likelihoods = pieces.added(likelihoods, len(known.text))
            stack.enter_context(replacing(scores)).write(score_lines(likelihoods))


# Shards


@dataclass(frozen=True, eq=False)
class _KnownShard:
    """Data of a shard that stay the same in all rounds."""

    shard: expectation.Shard
    keys: I8
    places: Sequence[I4]  # where the word pairs of each part are among its own


_shards: WorkerMemory[_KnownShard] = WorkerMemory()


def make_shard(plan: TrainingPlan, number: int, dictionary: str) -> tuple[int, int]:
    """Merge the word pairs of all parts; return their number, and those in the dictionary."""
    keys = np.empty(0, np.int64)
    waiting: list[I8] = []
    for part in range(plan.parts):
        waiting.append(_keys(plan, number, part))
        if sum(map(len, waiting)) >= len(keys):  # each key is moved a few times, not once a part
            keys = merged([keys, *waiting])
            waiting = []
    keys = merged([keys, *waiting])
    check_count(PLACES, len(keys))
    settings = plan.settings
    source, target = (training_files.shared_words(plan, side) for side in SIDES)
    index = Cooccurrence.of_keys(keys, len(source), NO_CELLS)
    prior = spelling_prior(index, source, target, settings.spelling, settings.identity)
    known = json.loads(Path(dictionary).read_text("utf-8"))
    entries = {(word, other): count for word, other, count in known}
    met = add_dictionary(prior, index, source, target, entries)
    places = [np.searchsorted(keys, _keys(plan, number, part)) for part in range(plan.parts)]
    if plan.encoder is not None:
        _add_shares(plan, number, places, prior)
    prior += np.float32(settings.floor)
    arrays: dict[str, NDArray[Any]] = {"keys": keys, "prior": prior}
    for part, part_places in enumerate(places):
        arrays[f"places-{part}"] = part_places.astype(np.int32)
    training_files.write_arrays(plan.file("shards", number), arrays)
    return len(keys), met


def _add_shares(
    plan: TrainingPlan, number: int, places: Sequence[NDArray[np.intp]], prior: F4
) -> None:
    """Add the pseudo-counts of the encoder to the prior of a shard.

    `places` are those of the word pairs of each part among its word pairs.
    """
    shares = np.zeros(len(prior))
    cells = np.zeros(len(prior), np.int64)
    for part, part_places in enumerate(places):
        with opened(plan.file("parts", part)) as arrays:
            shares[part_places] += arrays[f"shares-{number}"]
            cells[part_places] += arrays[f"cells-{number}"]
    add_mean_shares(prior, shares, cells, plan.settings.vector_weight)


def _keys(plan: TrainingPlan, number: int, part: int) -> I8:
    """Return the keys of the word pairs that a part has in a shard."""
    with opened(plan.file("parts", part)) as arrays:
        return np.asarray(arrays[f"keys-{number}"])


def _known_shard(plan: TrainingPlan, number: int) -> _KnownShard:
    """Return the data of a shard."""

    def read() -> tuple[_KnownShard, int]:
        with opened(plan.file("shards", number)) as arrays:
            keys = arrays["keys"]
            prior = arrays["prior"]
            places = [arrays[f"places-{part}"] for part in range(plan.parts)]
        sources, targets = plan.sizes
        index = Cooccurrence.of_keys(keys, sources, NO_CELLS)
        strength = plan.settings.stem_weight
        backing = None
        if strength > 0:
            source, target = (training_files.stems_of(plan, side) for side in SIDES)
            backing = Backing(index, source, target, strength=strength)
        size = 24 * len(keys) + 4 * sum(map(len, places)) + 16 * (sources + targets)
        shard = expectation.Shard(index, prior, backing, targets)
        return _KnownShard(shard, keys, places), size

    return _shards.get(plan.run, plan.file("shards", number), plan.memory, read)


def add_counts(plan: TrainingPlan, number: int, done: int) -> None:
    """Add up the expected links of parts after `done` rounds, also by target stem."""
    known = _known_shard(plan, number)
    sums = np.zeros(len(known.keys), np.int64)
    for part, places in enumerate(known.places):
        if done:
            file = plan.after(done, f"part-{part}")
        else:
            file = plan.file("parts", part)
        with opened(file) as expected:
            sums[places] += expected.dense(f"sums-{number}", len(places))
    if done:
        counts = expectation.counts_of(sums)
    else:
        counts = expectation.counts_of(sums, UNITS)
    if done and done == _pruned(plan):
        dropped = known.shard.to_forget(counts, plan.settings.floor)
        training_files.write_arrays(plan.file("forgotten", number), {"bits": np.packbits(dropped)})
    counts = _pruned_shard(plan, number, done).kept(counts)
    arrays = training_files.sparse("counts", counts)
    stems = known.shard.stem_sums(counts)
    if stems is not None:
        arrays |= training_files.sparse("stems", stems.target)
    training_files.write_arrays(plan.after(done, f"counts-{number}"), arrays)


def _pruned(plan: TrainingPlan) -> int:
    """Return after how many rounds word pairs are pruned; 0: never."""
    schedule = rounds.schedule_of(plan.settings)
    for done, (model, number) in enumerate(schedule, start=1):
        if rounds.prunes(model, number, plan.settings):
            return done
    return 0


def _pruned_shard(plan: TrainingPlan, number: int, done: int) -> expectation.Shard:
    """Return a shard without pairs pruned after `done` rounds, maybe by another worker."""
    known = _known_shard(plan, number)
    if not 0 < _pruned(plan) <= done:
        return known.shard
    shard = copy(known.shard)
    with opened(plan.file("forgotten", number)) as arrays:
        shard.forgotten = np.unpackbits(arrays["bits"], count=len(known.keys)).astype(np.bool_)
    return shard


def weigh(plan: TrainingPlan, number: int, done: int, last: bool) -> None:
    """Compute the weights of the next round, those that each part needs, and their totals."""
    known = _known_shard(plan, number)
    shard = _pruned_shard(plan, number, done)
    rest = float(np.float32(plan.settings.floor))
    with opened(plan.after(done, f"counts-{number}")) as before:
        counts: F4 = before.dense("counts", len(known.keys))
    stems = shard.stem_sums(counts)
    if stems is not None:
        with opened(plan.after(done, "common")) as common:
            stems = stems._replace(target=common["stems"])
    weights, source, target = shard.weights(counts, stems)
    arrays = training_files.sparse("source", source) | training_files.sparse("target", target)
    for part, places in enumerate(known.places):
        arrays |= training_files.sparse(f"weights-{part}", weights[places], rest)
    if last:
        learned = rounds.is_learned(weights, plan.settings) | (plan.encoder is not None)
        arrays |= {"keys": known.keys[learned], "weights": weights[learned]}
    training_files.write_arrays(plan.after(done, f"weights-{number}"), arrays)


# Sums over all parts, and over all shards


def add_parts(plan: TrainingPlan, done: int, model: str | None, stems: int) -> None:
    """Compute the tables of the empty word and of jumps, and add up all target stems.

    `model` is that of the last round, if there was one; `stems` is their number, 0 if unused.
    """
    if done:
        nulls = []
        for side, size in zip(SIDES, plan.sizes, strict=True):
            nulls.append(_added(plan, done, "part", f"{side}_nulls", size))
        tables = rounds.nulls_of(*nulls)
        if model == "hmm":
            counts = _added(plan, done, "part", "jumps", 0)  # the array is stored whole
            jumps = rounds.jumps_of(counts, plan.settings)
        else:
            with opened(plan.after(done - 1, "common")) as before:
                jumps = before["jumps"]
    else:
        sources, targets = map(rounds.uniform_null, plan.sizes)
        tables = sources, targets, np.zeros(2, np.float32)
        jumps = rounds.first_jumps(plan.settings)
    source_null, target_null, null_units = tables
    arrays: dict[str, NDArray[Any]] = {
        "source_null": source_null,
        "target_null": target_null,
        "null_units": null_units,
        "jumps": jumps,
    }
    if stems:
        arrays["stems"] = _added(plan, done, "counts", "stems", stems)
    training_files.write_arrays(plan.after(done, "common"), arrays)


def _added(plan: TrainingPlan, done: int, kind: str, name: str, size: int) -> I8:
    """Return the sum of an array that all parts, or all shards, wrote after `done` rounds."""
    count = plan.parts if kind == "part" else plan.shards

    def read(k: int) -> I8:
        with opened(plan.after(done, f"{kind}-{k}")) as arrays:
            return arrays.dense(name, size)

    return add_up(map(read, range(count)))


def add_shards(plan: TrainingPlan, done: int) -> None:
    """Add up the weights of all shards by source and by target word, for their divisors."""
    arrays: dict[str, NDArray[Any]] = {}
    for side, size in zip(SIDES, plan.sizes, strict=True):
        total = _added(plan, done, "weights", side, size)
        arrays[side] = expectation.divisors(total / UNITS + plan.settings.concentration)
    training_files.write_arrays(plan.after(done, "totals"), arrays)


def write_model(
    plan: TrainingPlan,
    path: str,
    done: int,
    history: Sequence[Round],
    jumping: bool,
    text: TrainingText | None,
) -> None:
    """Write the model after `done` rounds to a file."""
    source, target = (training_files.shared_words(plan, side) for side in SIDES)
    index, weights = _learned_pairs(plan, done, len(source))
    unseen = rounds.unseen_total(plan.settings, shares=plan.encoder is not None)
    remember = Memory.empty
    if done and plan.pairs >= FEW:
        remember = partial(_joined_memory, plan)
    with opened(plan.after(done, "totals")) as totals, opened(plan.after(done, "common")) as common:
        parameters = Parameters(
            settings=plan.settings,
            casefold=plan.casefold,
            source=source,
            target=target,
            rows=index.rows,
            columns=index.columns,
            forward=weights,
            reverse=weights,
            source_totals=np.append(totals["source"], unseen),
            target_totals=np.append(totals["target"], unseen),
            source_null=with_unseen(common["source_null"]),
            target_null=with_unseen(common["target_null"]),
            null_units=common["null_units"],
            jumps=common["jumps"] if jumping else rounds.NO_JUMPS,
            positions=Positions.uniform(),
            remember=remember,
            text=text,
            history=tuple(history),
            encoder=plan.encoder,
        )
    save_parameters(path, parameters)


def _learned_pairs(plan: TrainingPlan, done: int, sources: int) -> tuple[Cooccurrence, F4]:
    """Return the learned word pairs of all shards, and their weights."""
    keys = []
    weights = []
    for shard in range(plan.shards):
        with opened(plan.after(done, f"weights-{shard}")) as arrays:
            keys.append(arrays["keys"])
            weights.append(arrays["weights"])
    all_keys = np.concatenate(keys)
    order = np.argsort(all_keys, kind="stable")
    index = Cooccurrence.of_keys(all_keys[order], sources, NO_CELLS)
    return index, np.concatenate(weights)[order]


def _joined_memory(plan: TrainingPlan) -> Memory:
    """Join the memories of the parts; of equal pairs, the first is kept."""
    keys = []
    counts = []
    cells = []
    levels = []
    for part in range(plan.parts):
        with opened(plan.file("memory", part)) as arrays:
            keys.append(arrays["keys"])
            counts.append(np.diff(arrays["offsets"]))
            cells.append(arrays["cells"])
            levels.append(arrays["levels"])
    distinct, first = np.unique(np.concatenate(keys), return_index=True)
    links, offsets = gather(offsets_of(np.concatenate(counts)), first)
    return Memory(distinct, offsets, np.concatenate(cells)[links], np.concatenate(levels)[links])
