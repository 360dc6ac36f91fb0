"""Take a training over parts and shards from stage to stage, each of which is kept in files."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import uuid4

from alignkit.aligner.fixed_kernel import LIKELIHOOD_UNITS
from alignkit.aligner.parameters import Round
from alignkit.aligner.priors import stem_length
from alignkit.aligner.settings import Settings
from alignkit.aligner.training import schedule_of
from alignkit.cluster.checking import OnProgress
from alignkit.cluster.common import add_parts, add_shards
from alignkit.cluster.estimate import PLACE, word_pairs, worker_memory
from alignkit.cluster.model import write_model
from alignkit.cluster.outputs import Outputs, write_links
from alignkit.cluster.parts import Part
from alignkit.cluster.plan import Plan
from alignkit.cluster.run import Run
from alignkit.cluster.session import Session, Task
from alignkit.cluster.shards import add_counts, make_shard, weigh
from alignkit.cluster.steps import expect, index_part, remember
from alignkit.cluster.vocabulary import SIDES, cut_size, merge_words
from alignkit.errors import AlignerError

T = TypeVar("T")

_STATE = "state.json"


@dataclass(frozen=True)
class Trained:
    """What a training read and learned.

    Long pairs are cut and count as several; `entries_met`: entries of the dictionary that occurred.
    """

    history: tuple[Round, ...]
    pairs: int
    cells: int
    source_words: int
    target_words: int
    source_types: int
    target_types: int
    word_pairs: int
    entries_met: int
    parts: int
    shards: int


class Stages:
    """Take a run from stage to stage; what is done is told in a file, and not done again."""

    def __init__(
        self,
        session: Session,
        run: Run,
        parts: Sequence[Part],
        settings: Settings,
        progress: OnProgress | None,
    ) -> None:
        self._session, self._run, self._parts = session, run, parts
        self._settings, self._progress = settings, progress
        self._schedule = list(schedule_of(settings))
        self._state: dict[str, Any] = run.read(_STATE) or {"run": uuid4().hex, "history": []}
        self._plan: Plan
        self.stages, self._stage = 1, 0

    # The stages

    def merge_words(self, files: list[str]) -> None:
        """Give numbers to the words of all parts, given their files."""
        self._files = files
        if "words" in self._state:
            return
        sizes = [cut_size(file) for file in files]
        if not sum(cells for _, cells in sizes):
            raise AlignerError("nothing to learn from: no pair has words on both sides")
        settings, stem = self._settings, 0
        if settings.stem_weight:
            stem = settings.stem or stem_length(sum(pairs for pairs, _ in sizes))
        tasks = [(files, side, stem, self._run.path("words", f"{side}.npz")) for side in SIDES]
        words = self._each("merging words", merge_words, tasks, names=SIDES)
        self._keep(sizes=sizes, words=words)

    def divide(self, shards: int | None, threads: int | None, casefold: bool) -> None:
        """Choose the number of shards, and find the word pairs of each part."""
        sizes = self._state["sizes"]
        memory = self._session.memory
        if "shards" not in self._state:
            self._state["shards"] = shards or _shards_for(
                sum(cells for _, cells in sizes), self._session
            )
        pairs = [pairs for pairs, _ in sizes]
        self._plan = Plan(
            self._run.folder,
            self._state["run"],
            self._settings,
            casefold,
            len(sizes),
            self._state["shards"],
            sum(pairs),
            tuple(sum(pairs[:k]) for k in range(len(pairs))),
            (self._state["words"][0][0], self._state["words"][1][0]),
            memory,
            threads,
        )
        if "indexed" in self._state:
            self._stage = 1 + self._state.get("weighed", 0)
        else:
            self._run.claim(*map(self._plan.index_file, range(len(sizes))))
            self._over_parts("indexing", index_part, lambda k: (self._files[k],))
            self._keep(indexed=True)
        self._run.drop(*self._files)

    def make_shards(self, dictionary: Mapping[tuple[str, str], float]) -> None:
        """Merge the word pairs of the parts."""
        if "places" in self._state:
            return
        files = self._plan.shard_file, self._plan.forgotten_file
        self._run.claim(*(file(shard) for file in files for shard in range(self._plan.shards)))
        if self._plan.casefold:
            dictionary = {(a.casefold(), b.casefold()): n for (a, b), n in dictionary.items()}
        file = self._run.path("dictionary.json")
        self._run.write([[*entry, float(n)] for entry, n in dictionary.items()], file)
        made = self._over_shards("merging word pairs", make_shard, lambda _: (file,))
        self._keep(
            places=[shard.places for shard in made], entries=sum(shard.entries for shard in made)
        )

    def rounds(self) -> None:
        """Run all rounds that are not done."""
        if "weighed" not in self._state:
            self._learn("beginning", "", 0, [])
        for done in range(self._state["weighed"], len(self._schedule)):
            model, number = self._schedule[done]
            name = f"{model} round {number}"
            self._run.claim(*self._plan.round_files(done + 1))
            likelihoods = self._over_parts(name, expect, lambda _: (done, model))  # noqa: B023
            forward, reverse = (sum(units[k] for units in likelihoods) for k in (0, 1))
            units = LIKELIHOOD_UNITS
            row = [model, number, forward / units, reverse / units]
            self._learn(name, model, done + 1, [row])
            self._run.drop(*self._plan.round_files(done))

    def _learn(self, name: str, model: str, done: int, history: list[list[Any]]) -> None:
        plan = self._plan
        stems = self._state["words"][1][1] if self._settings.stem_weight > 0 else 0
        last = done == len(self._schedule)
        self._run.claim(*plan.round_files(done))
        self._over_shards(name, add_counts, lambda _: (done,))
        self._each(name, add_parts, [(plan, done, model, stems)], names=["the sums"])
        self._over_shards(name, weigh, lambda _: (done, last))
        self._each(name, add_shards, [(plan, done)], names=["the totals"])
        self._keep(weighed=done, history=self._state["history"] + history)

    def finish(self, save: str | None, outputs: Outputs) -> None:
        """Write the model and the links."""
        done = len(self._schedule)
        jumping = any(model == "hmm" for model, _ in self._schedule)
        if save is not None:
            memory = [*map(self._plan.memory_file, range(self._plan.parts))]
            self._run.claim(*memory)
            self._over_parts("remembering", remember, lambda _: (done,))
            write_model(self._plan, save, done, self._history, jumping)
            self._run.drop(*memory)
        if not outputs.some:
            return
        files = outputs.files(self._parts)
        with outputs.naming_written(self._parts):
            how = outputs.how
            self._over_parts("aligning", write_links, lambda k: (done, jumping, files[k], how))

    def summary(self, source_words: int, target_words: int) -> Trained:
        """Return what was read and learned."""
        plan = self._plan
        return Trained(
            self._history,
            plan.pairs,
            sum(cells for _, cells in self._state["sizes"]),
            source_words,
            target_words,
            *plan.sizes,
            sum(self._state["places"]),
            self._state["entries"],
            plan.parts,
            plan.shards,
        )

    # What they are made of

    @property
    def _history(self) -> tuple[Round, ...]:
        return tuple(Round(*row) for row in self._state["history"])

    def _keep(self, **values: object) -> None:
        self._state |= values
        self._run.write(self._state, _STATE)

    def _over_parts(
        self, name: str, function: Callable[..., T], more: Callable[[int], tuple[Any, ...]]
    ) -> list[T]:
        tasks = [(self._plan, k, *more(k)) for k in range(len(self._parts))]
        return self._each(name, function, tasks)

    def _over_shards(
        self, name: str, function: Callable[..., T], more: Callable[[int], tuple[Any, ...]]
    ) -> list[T]:
        numbers = range(self._plan.shards)
        tasks = [(self._plan, k, *more(k)) for k in numbers]
        return self._each(name, function, tasks, names=[f"shard {k + 1}" for k in numbers])

    def _each(
        self,
        name: str,
        function: Callable[..., T],
        tasks: Sequence[tuple[Any, ...]],
        names: Sequence[str] | None = None,
    ) -> list[T]:
        order = list(range(len(tasks)))
        if names is None:
            order.sort(key=lambda k: -self._state["sizes"][k][1])
        jobs = [
            Task(
                str(self._parts[k]) if names is None else names[k],
                tasks[k],
                memory=self._needs(),
                home=home,
            )
            for home, k in enumerate(order)
        ]
        values: dict[int, T] = {}
        for place, value in self._session.each(function, jobs):
            values[order[place]] = value
            if self._progress is not None and names is None:
                text = f"{name}: {len(values):,} of {len(jobs):,} parts"
                count = len(jobs)
                self._progress(self._stage * count + len(values), self.stages * count, text)
        self._stage += names is None
        return [values[k] for k in range(len(tasks))]

    def _needs(self) -> int:
        pairs, cells = map(max, zip(*self._state.get("sizes", [(0, 0)]), strict=True))
        return worker_memory(pairs, cells, max(self._state.get("places", [0])))


def _shards_for(cells: int, session: Session) -> int:
    needed = 2 * PLACE * word_pairs(cells)
    return max(min(session.workers, 8), math.ceil(needed / (session.memory or needed)))
