"""How a training is divided, and which file holds what: all that its tasks know."""

from __future__ import annotations

import os
from dataclasses import dataclass

from alignkit.aligner.settings import Settings


@dataclass(frozen=True)
class Plan:
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
