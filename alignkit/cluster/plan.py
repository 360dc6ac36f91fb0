"""How a training is divided, and which file holds what: all that its tasks know."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from alignkit.align.estimators import divisors
from alignkit.align.expectation import Sums
from alignkit.align.maximization_kernel import add_up, numbers_in
from alignkit.align.settings import Settings
from alignkit.align.training import first_jumps, jumps_of, nulls_of, uniform_null
from alignkit.cluster.run import RunError, placing


@dataclass(frozen=True)
class TrainingPlan:
    """What all tasks of a training know."""

    folder: str
    run: str  # as no other one is called
    settings: Settings
    casefold: bool
    parts: int
    shards: int
    pairs: int  # of all parts, long ones cut
    firsts: tuple[int, ...]  # the number of the first pair of each part
    sizes: tuple[int, int]  # source and target words
    memory: int = 0  # bytes of a worker; 0: not known
    threads: int | None = None  # of a task; None: one for each core

    def words_file(self, side: str) -> str:
        """Name the file of the words of a side; see `merge_words`."""
        return self._path("words", f"{side}.npz")

    def index_file(self, part: int) -> str:
        """Name the file of a part: its words as numbers, its word pairs, their first counts."""
        return self._path("parts", f"{part}.npz")

    def shard_file(self, shard: int) -> str:
        """Name the file of a shard: its word pairs, their prior, where those of each part are."""
        return self._path("shards", f"{shard}.npz")

    def forgotten_file(self, shard: int) -> str:
        """Name the file of which word pairs of a shard are forgotten."""
        return self._path("shards", f"{shard}-forgotten.npz")

    def round_files(self, done: int) -> list[str]:
        """Name the files that `done` rounds leave."""
        of_parts = [self.found_file(part, done) for part in range(self.parts)]
        of_shards = [
            file(shard, done)
            for shard in range(self.shards)
            for file in (self.counts_file, self.weights_file)
        ]
        return [*of_parts, *of_shards, self.common_file(done), self.totals_file(done)]

    def found_file(self, part: int, done: int) -> str:
        """Name the file of what a round expects to be linked in a part."""
        return self._path(f"round-{done}", f"part-{part}.npz")

    def counts_file(self, shard: int, done: int) -> str:
        """Name the file of what a round expects to be linked in a shard."""
        return self._path(f"round-{done}", f"counts-{shard}.npz")

    def common_file(self, done: int) -> str:
        """Name the file of tables of the empty word, jumps and sums of stems after a round."""
        return self._path(f"round-{done}", "common.npz")

    def weights_file(self, shard: int, done: int) -> str:
        """Name the file of the weights after a round, for each part, and the sums of all."""
        return self._path(f"round-{done}", f"weights-{shard}.npz")

    def totals_file(self, done: int) -> str:
        """Name the file of what weights are divided by after a round."""
        return self._path(f"round-{done}", "totals.npz")

    def memory_file(self, part: int) -> str:
        """Name the file of what the model is to remember of a part."""
        return self._path("memory", f"{part}.npz")

    def _path(self, *names: str) -> str:
        return os.path.join(self.folder, *names)


class Arrays:
    """Give the arrays of a file by name."""

    def __init__(self, path: str, members: Mapping[str, NDArray[Any]]) -> None:
        self._path, self._members = path, members

    def __getitem__(self, name: str) -> NDArray[Any]:
        with _run_errors(self._path):
            return self._members[name]

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def dense(self, name: str, size: int, rest: float = 0) -> NDArray[Any]:
        """Return an array that `sparse` took apart."""
        values = self[name]
        if f"{name}-at" not in self:
            return values
        whole = np.full(size, rest, values.dtype)
        whole[self[f"{name}-at"]] = values
        return whole


def write_arrays(path: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays into a file, which is there when it is whole."""
    with placing(path) as beside, open(beside, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


@contextmanager
def opened(path: str) -> Iterator[Arrays]:
    """Open a file of arrays."""
    with _run_errors(path):
        members = np.load(path, allow_pickle=False)
    with members:
        yield Arrays(path, members)


@contextmanager
def _run_errors(path: str) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, ValueError, KeyError, BadZipFile) as problem:
        raise RunError(
            f"{path}: a file of the run is missing or damaged ({problem}); begin anew in another "
            "folder, named by `work`"
        ) from None


def sparse(name: str, values: NDArray[Any], rest: float = 0) -> dict[str, NDArray[Any]]:
    """Return what is to be kept of values (N,) of which most are `rest`; see `Arrays.dense`."""
    at = np.flatnonzero(values != values.dtype.type(rest))
    kind = np.int32 if len(values) <= np.iinfo(np.int32).max else np.int64
    if len(at) * (values.itemsize + np.dtype(kind).itemsize) >= values.nbytes:
        return {name: values}
    return {name: values[at], f"{name}-at": at.astype(kind)}


def add_parts(plan: TrainingPlan, done: int, model: str, stems: int) -> None:
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


def _sums(plan: TrainingPlan, done: int) -> Sums:
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


def add_shards(plan: TrainingPlan, done: int) -> None:
    """Add up the weights of all shards by source and by target word, to divide them by that."""
    arrays: dict[str, NDArray[Any]] = {}
    for side, size in zip(("source", "target"), plan.sizes, strict=True):
        total = np.zeros(size, np.int64)
        for shard in range(plan.shards):
            with opened(plan.weights_file(shard, done)) as weights:
                total = add_up([total, weights.dense(side, size)])
        arrays[side] = divisors(numbers_in(total) + plan.settings.concentration)
    write_arrays(plan.totals_file(done), arrays)
