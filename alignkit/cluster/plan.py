"""Say how a training is divided, and which file holds what: all that tasks are told."""

from __future__ import annotations

import os
from dataclasses import dataclass

from alignkit.aligner.settings import Settings

__all__ = ["Plan"]


@dataclass(frozen=True)
class Plan:
    """Hold what all tasks of a training know.

    Parameters
    ----------
    folder
        Of the run.
    run
        What it is called, as no other one is.
    settings, casefold
        How it trains.
    parts, shards
        How many there are.
    pairs
        How many sentence pairs all parts have, long ones cut.
    firsts
        The number of the first pair of each part.
    sizes
        How many source and target words there are.
    memory
        Bytes of a worker; 0: not known.
    threads
        Of a task; None: one for each core.
    """

    folder: str
    run: str
    settings: Settings
    casefold: bool
    parts: int
    shards: int
    pairs: int
    firsts: tuple[int, ...]
    sizes: tuple[int, int]
    memory: int = 0
    threads: int | None = None

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

    def round_folder(self, done: int) -> str:
        """Name the folder of the files that `done` rounds leave."""
        return os.path.join(self.folder, f"round-{done}")

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
