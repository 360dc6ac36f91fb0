"""Training on the parts of a corpus in stages; the results of each stage are kept in files."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar
from uuid import uuid4

from alignkit.align.maximization_kernel import LIKELIHOOD_UNITS
from alignkit.align.parameters import Round
from alignkit.align.priors import check_dictionary
from alignkit.align.settings import Settings, check_sure
from alignkit.align.training import schedule_of
from alignkit.cluster import training_tasks
from alignkit.cluster.estimate import PLACE, word_pairs, worker_memory
from alignkit.cluster.parts import Part, PartOutputs, check_parts, find_parts, inputs_of
from alignkit.cluster.run import Run, running
from alignkit.cluster.session import Connection, OnProgress, Session, Task, open_session
from alignkit.cluster.training_files import Reader, TrainingPlan, cut_size, merge_words
from alignkit.errors import AlignerError, OptionError
from alignkit.io.options import ReadOptions
from alignkit.model.alignment import SIDES

T = TypeVar("T")

_STATE = "state.json"
_MODELS = ("ibm1", "hmm")


@dataclass(frozen=True)
class TrainedParts:
    """A summary of a training on parts.

    Long pairs are cut and count as several; `entries_met`: dictionary entries that occurred.
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
    """The stages of a training; finished ones are recorded in a file and not repeated."""

    def __init__(
        self,
        session: Session,
        run: Run,
        parts: Sequence[Part],
        settings: Settings,
        progress: OnProgress | None,
    ) -> None:
        self._session = session
        self._run = run
        self._parts = parts
        self._settings = settings
        self._progress = progress
        self._schedule = list(schedule_of(settings))
        self._state: dict[str, Any] = run.read(_STATE) or {"run": uuid4().hex, "history": []}
        self._plan: TrainingPlan
        self.stages = 1 + len(self._schedule)
        self._stage = 0

    def merge_words(self, files: list[str]) -> Settings:
        """Assign numbers to the words of all parts, from their files; return the settings."""
        self._files = files
        sizes = self._state.get("sizes") or [cut_size(file) for file in files]
        self._settings = self._settings.settled(sum(pairs for pairs, _ in sizes))
        if "words" in self._state:
            return self._settings
        if not sum(cells for _, cells in sizes):
            raise AlignerError("nothing to learn from: no pair has words on both sides")
        if self._settings.stem_weight > 0:
            stem = self._settings.stem
        else:
            stem = 0
        tasks = [(files, side, stem, self._run.path("words", f"{side}.npz")) for side in SIDES]
        words = self._each("merging words", merge_words, tasks, names=SIDES)
        self._keep(sizes=sizes, words=words)
        return self._settings

    def divide(self, shards: int | None, threads: int | None, casefold: bool) -> None:
        """Choose the number of shards, and find the word pairs of each part."""
        state = self._state
        sizes = self._state["sizes"]
        if "shards" not in state:
            needed = 2 * PLACE * word_pairs(sum(cells for _, cells in sizes))
            at_least = math.ceil(needed / (self._session.memory or needed))
            state["shards"] = shards or max(min(self._session.workers, 8), at_least)
        pairs = [pairs for pairs, _ in sizes]
        self._plan = TrainingPlan(
            folder=self._run.folder,
            run=state["run"],
            settings=self._settings,
            casefold=casefold,
            parts=len(sizes),
            shards=state["shards"],
            pairs=sum(pairs),
            firsts=tuple(sum(pairs[:k]) for k in range(len(pairs))),
            sizes=(state["words"][0][0], state["words"][1][0]),
            memory=self._session.memory,
            threads=threads,
        )
        if "indexed" in state:
            self._stage = 1 + state.get("weighed", 0)
        else:
            self._claim("parts", len(sizes))
            self._over_parts("indexing", training_tasks.index_part, lambda k: (self._files[k],))
            self._keep(indexed=True)
        self._run.drop(*self._files)

    def make_shards(self, dictionary: Mapping[tuple[str, str], float]) -> None:
        """Merge the word pairs of the parts."""
        if "places" in self._state:
            return
        for kind in ("shards", "forgotten"):
            self._claim(kind, self._plan.shards)
        if self._plan.casefold:
            dictionary = {(a.casefold(), b.casefold()): n for (a, b), n in dictionary.items()}
        file = self._run.path("dictionary.json")
        self._run.write([[*entry, float(n)] for entry, n in dictionary.items()], file)
        places, met = zip(
            *self._over_shards("merging word pairs", training_tasks.make_shard, file), strict=True
        )
        self._keep(places=places, entries=sum(met))

    def rounds(self) -> None:
        """Run all remaining rounds."""
        if "weighed" not in self._state:
            self._learn("beginning", "", 0, [])
        for done in range(self._state["weighed"], len(self._schedule)):
            model, number = self._schedule[done]
            name = f"{model} round {number}"
            self._run.claim(*self._plan.round_files(done + 1))
            likelihoods = self._over_parts(name, training_tasks.expect, lambda _: (done, model))  # noqa: B023
            *units, levels, words = map(sum, zip(*likelihoods, strict=True))
            self._state |= {"levels": levels, "text_words": words}
            sums = [total / LIKELIHOOD_UNITS for total in units]
            self._learn(name, model, done + 1, [[model, number, *sums]])
            self._run.drop(*self._plan.round_files(done))

    def _learn(self, name: str, model: str, done: int, history: list[list[Any]]) -> None:
        """Compute the weights of the next round from the expected links after `done` rounds."""
        plan = self._plan
        if self._settings.stem_weight > 0:
            stems = self._state["words"][1][1]
        else:
            stems = 0
        self._run.claim(*plan.round_files(done))
        self._over_shards(name, training_tasks.add_counts, done)
        self._each(name, training_tasks.add_parts, [(plan, done, model, stems)], names=["the sums"])
        self._over_shards(name, training_tasks.weigh, done, done == len(self._schedule))
        self._each(name, training_tasks.add_shards, [(plan, done)], names=["the totals"])
        self._keep(weighed=done, history=self._state["history"] + history)

    def finish(self, save: str | None, outputs: PartOutputs) -> None:
        """Write the model and the links."""
        done = len(self._schedule)
        jumping = any(model == "hmm" for model, _ in self._schedule)
        known = (self._state.get(name, 0) for name in ("levels", "text_words"))
        text = training_tasks.training_text(self._plan, done, *known)
        if save is not None:
            memory = self._claim("memory", self._plan.parts)
            self._over_parts("remembering", training_tasks.remember, lambda _: (done,))
            training_tasks.write_model(self._plan, save, done, self._history, jumping, text)
            self._run.drop(*memory)
        if outputs.some:
            files = outputs.files(self._parts)
            how = (done, jumping, text)
            with outputs.naming_written(self._parts):
                write = training_tasks.write_links
                self._over_parts("aligning", write, lambda k: (*how, files[k], outputs.how))

    def summary(self, source_words: int, target_words: int) -> TrainedParts:
        """Return a summary of the training."""
        plan = self._plan
        state = self._state
        return TrainedParts(
            self._history,
            plan.pairs,
            sum(cells for _, cells in state["sizes"]),
            source_words,
            target_words,
            *plan.sizes,
            sum(state["places"]),
            state["entries"],
            plan.parts,
            plan.shards,
        )

    @property
    def _history(self) -> tuple[Round, ...]:
        return tuple(Round(*row) for row in self._state["history"])

    def _keep(self, **values: object) -> None:
        self._state |= values
        self._run.write(self._state, _STATE)

    def _claim(self, kind: str, count: int) -> list[str]:
        files = [self._plan.file(kind, k) for k in range(count)]
        self._run.claim(*files)
        return files

    def _over_parts(
        self, name: str, function: Callable[..., T], more: Callable[[int], tuple[Any, ...]]
    ) -> list[T]:
        tasks = [(self._plan, k, *more(k)) for k in range(len(self._parts))]
        return self._each(name, function, tasks)

    def _over_shards(self, name: str, function: Callable[..., T], *more: Any) -> list[T]:
        tasks = [(self._plan, k, *more) for k in range(self._plan.shards)]
        return self._each(name, function, tasks, names=[f"shard {k + 1}" for _, k, *_ in tasks])

    def _each(
        self,
        name: str,
        function: Callable[..., T],
        tasks: Sequence[tuple[Any, ...]],
        names: Sequence[str] | None = None,
    ) -> list[T]:
        """Do tasks; those without names are for parts, largest first, and report progress."""
        order = list(range(len(tasks)))
        if names is None:
            order.sort(key=lambda k: -self._state["sizes"][k][1])
        called = list(map(str, self._parts)) if names is None else names
        pairs, cells = map(max, zip(*self._state.get("sizes", [(0, 0)]), strict=True))
        needs = worker_memory(pairs, cells, max(self._state.get("places", [0])))
        jobs = [Task(called[k], tasks[k], needs, home=home) for home, k in enumerate(order)]
        values: dict[int, T] = {}
        for place, value in self._session.each(function, jobs):
            values[order[place]] = value
            if self._progress is not None and names is None:
                text = f"{name}: {len(values):,} of {len(jobs):,} parts"
                count = len(jobs)
                self._progress(self._stage * count + len(values), self.stages * count, text)
        self._stage += names is None
        return [values[k] for k in range(len(tasks))]


def train(
    client: Connection,
    source: str,
    target: str,
    *,
    work: str,
    save: str | None = None,
    output: str | None = None,
    settings: Settings | None = None,
    dictionary: Mapping[tuple[str, str], float] | None = None,
    casefold: bool = True,
    shards: int | None = None,
    wait: float | None = None,
    progress: OnProgress | None = None,
) -> TrainedParts:
    """Train an aligner on the parts of a corpus.

    Parameters
    ----------
    client, wait, progress : As in `alignkit.cluster.align`.
    source, target, output : Paths with one ``*``, for the same text in all: the words, and the
        links.
    work : A folder that all workers see; the run is in its folder ``alignkit-run``. To continue a
        stopped run, repeat the call.
    save : The file for the model.
    settings, dictionary, casefold : As in `Aligner.train`; `dictionary` has pseudo-counts for word
        pairs that are known translations.
    shards : Number of shards for word pairs; it does not affect the result. None: as memory allows.

    Raises
    ------
    AlignkitError : If something cannot be read, written, or computed.
    """
    outputs = PartOutputs() if output is None else PartOutputs(output)
    with open_session(client, wait=wait) as session:
        return train_parts(
            session,
            find_parts(source, target),
            settings or Settings(),
            work=work,
            save=save,
            outputs=outputs,
            dictionary=dictionary,
            casefold=casefold,
            shards=shards,
            progress=progress,
        )


def train_parts(
    session: Session,
    parts: Sequence[Part],
    settings: Settings,
    *,
    work: str,
    save: str | None = None,
    outputs: PartOutputs | None = None,
    dictionary: Mapping[tuple[str, str], float] | None = None,
    casefold: bool = True,
    shards: int | None = None,
    reading: ReadOptions | None = None,
    threads: int | None = None,
    progress: OnProgress | None = None,
) -> TrainedParts:
    """Train on parts in a session; see `train`."""
    check_settings(settings)
    dictionary = dictionary or {}
    check_dictionary(dictionary)
    if shards is not None and shards < 1:
        raise OptionError(f"{shards} shards; expected at least 1")
    reading = reading or ReadOptions()
    outputs = outputs or PartOutputs()
    outputs.check(parts, save)
    parts = [part.called(session.path) for part in parts]
    outputs = outputs.called(session.path)
    with running(work) as run:
        run.try_workers(session)
        reader = Reader(os.path.join(run.folder, "texts"), casefold)
        texts = [reader.file(part.paths) for part in parts]
        run.claim(*texts)
        facts = check_parts(session, parts, reader, reading, run=run, progress=progress)
        entries = sorted([*pair, float(n)] for pair, n in dictionary.items())
        what = {"command": "align (training)", "settings": asdict(settings), "casefold": casefold}
        what |= {"encoding": reading.encoding, "dictionary": entries}
        what |= {"parts": [part.name for part in parts], "inputs": inputs_of(parts, facts)}
        run.settle(what)
        training = Stages(session, run, parts, settings, progress)
        training.stages += (save is not None) + outputs.some
        check_sure(outputs.how, training.merge_words(texts).threshold)
        training.divide(shards, session.threads or threads, casefold)
        training.make_shards(dictionary)
        training.rounds()
        training.finish(save, outputs)
    source, target = zip(*((fact.source_words, fact.target_words) for fact in facts), strict=True)
    return training.summary(sum(source), sum(target))


def check_settings(settings: Settings) -> None:
    """Reject settings that need a single machine."""
    for name, fits, instead in (
        (settings.model, settings.model in _MODELS, f"use {' or '.join(_MODELS)}"),
        ("best", not settings.best, "leave it out"),
        (settings.inference, settings.inference == "collapsed", "use collapsed"),
    ):
        if not fits:
            raise OptionError(f"{name} needs training on a single machine; over parts, {instead}")
