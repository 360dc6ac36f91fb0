"""Training on the parts of a corpus in stages; the results of each stage are kept in files."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from alignkit.align.encoder.encoding import EncoderUsed
from alignkit.align.encoder.encoding_counts import EncodingCounts
from alignkit.align.maximization_kernel import LIKELIHOOD_UNITS
from alignkit.align.parameters import Round
from alignkit.align.priors import check_dictionary, folded_dictionary
from alignkit.align.rounds import schedule_of
from alignkit.align.settings import Settings, check_sure
from alignkit.cluster import training_tasks
from alignkit.cluster.connecting import open_session
from alignkit.cluster.encoding import PartEncoder, counts_from, encode_part, spread_of_parts
from alignkit.cluster.estimate import PLACE, word_pairs, worker_memory
from alignkit.cluster.part_facts import check_parts, inputs_of
from alignkit.cluster.part_outputs import PartOutputs
from alignkit.cluster.parts import Part, find_parts
from alignkit.cluster.run import Run, running
from alignkit.cluster.session import Connection, OnProgress, Session, Task
from alignkit.cluster.training_files import Reader, TrainingPlan, cut_size, merge_words
from alignkit.errors import AlignerError, OptionError
from alignkit.io.options import ReadOptions
from alignkit.model.alignment import SIDES

if TYPE_CHECKING:
    from alignkit.align.encoder.transformer import Encoder

T = TypeVar("T")

_STATE = "state.json"
_MODELS = ("ibm1", "hmm")


@dataclass(frozen=True)
class TrainedParts:
    """A summary of a training on parts.

    Long pairs are cut and count as several; `entries_met`: dictionary entries that occurred.

    Returned by `train`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from alignkit.cluster import train
    >>> with TemporaryDirectory() as folder:
    ...     german, english = Path(folder, "german.txt"), Path(folder, "english.txt")
    ...     _ = german.write_text("das haus", "utf-8")
    ...     _ = english.write_text("the house", "utf-8")
    ...     trained = train(None, str(german), str(english), work=folder, save=folder + "/model")
    >>> trained.pairs, trained.source_words
    (1, 2)
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
    encoding: EncodingCounts | None = None  # what the encoder did, if there is one


class Stages:
    """The stages of a training; finished ones are recorded in a file and not repeated.

    Call them in this order: `merge_words`, `encode` (if there is an encoder), `divide`,
    `make_shards`, `rounds`, `finish`.
    """

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
        self._plan: TrainingPlan  # from `divide` on
        self._texts: list[str] = []  # the file of each part that `Reader` wrote
        self._encoded: list[str] = []  # the file of each part that the encoder wrote
        self._encoder: EncoderUsed | None = None
        self.stages = 1 + len(self._schedule)  # those that report progress
        self._stage = 0

    def merge_words(self, files: list[str]) -> Settings:
        """Assign numbers to the words of all parts, from their files; return the settings."""
        self._texts = files
        sizes = self._state.get("sizes") or [cut_size(file) for file in files]
        self._settings = self._settings.settled(sum(pairs for pairs, _ in sizes))
        if "words" in self._state:
            return self._settings
        if not sum(cells for _, cells in sizes):
            raise AlignerError("nothing to learn from: no pair has words on both sides")
        stem = 0
        if self._settings.stem_weight > 0:
            stem = self._settings.stem
        tasks = [(files, side, stem, self._run.path("words", f"{side}.npz")) for side in SIDES]
        words = self._each(merge_words, SIDES, tasks)
        self._keep(sizes=sizes, words=words)
        return self._settings

    def divide(self, shards: int | None, threads: int | None, casefold: bool) -> None:
        """Choose the number of shards, and find the word pairs of each part."""
        state = self._state
        sizes = self._state["sizes"]
        if "shards" not in state:
            needed = 2 * PLACE * word_pairs(sum(cells for _, cells in sizes))
            at_least = math.ceil(needed / (self._session.memory or needed))
            workers = min(self._session.workers, 8)
            state["shards"] = shards or max(workers, at_least)
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
            encoder=self._encoder,
        )
        if "indexed" in state:
            self._stage += 1 + state.get("weighed", 0)
        else:
            self._claim("parts", len(sizes))
            texts = [(file,) for file in self._texts]
            self._over_parts("indexing", training_tasks.index_part, texts)
            self._keep(indexed=True)
        self._run.drop(*self._texts, *self._encoded)

    def encode(self, encoder: PartEncoder, reading: ReadOptions, casefold: bool) -> None:
        """Compute what an encoder says of the cells of each part."""
        paths = [part.paths for part in self._parts]
        if "spread" not in self._state:
            task = (encoder, paths, reading, casefold)
            ((spread, first),) = self._each(
                spread_of_parts, ["the first pairs"], [task], memory=encoder.memory
            )
            self._keep(spread=spread, encoded_first=first)
        used = replace(encoder.used, spread=self._state["spread"])
        settled = replace(encoder, used=used)
        self._encoder = used
        self._encoded = [self._run.path("encoded", f"{k}.npz") for k in range(len(paths))]
        if "encoded" in self._state:
            self._stage += 1
            return
        tasks = []
        for part, file in zip(paths, self._encoded, strict=True):
            tasks.append((settled, part, reading, casefold, file))
        names = list(map(str, self._parts))
        of_parts = self._each(encode_part, names, tasks, memory=encoder.memory, stage="encoding")
        counts = sum(of_parts, EncodingCounts())
        first = min(self._state["encoded_first"], counts.kept)  # which the parts found again
        self._keep(encoded=asdict(counts + EncodingCounts(encoded=first, kept=-first)))

    def make_shards(self, dictionary: Mapping[tuple[str, str], float]) -> None:
        """Merge the word pairs of the parts."""
        if "places" in self._state:
            return
        for kind in ("shards", "forgotten"):
            self._claim(kind, self._plan.shards)
        folded = folded_dictionary(dictionary, casefold=self._plan.casefold)
        file = self._run.path("dictionary.json")
        self._run.write([[*entry, float(count)] for entry, count in folded.items()], file)
        made = self._over_shards(training_tasks.make_shard, file)
        places, met = zip(*made, strict=True)
        self._keep(places=places, entries=sum(met))

    def rounds(self) -> None:
        """Run all remaining rounds."""
        if "weighed" not in self._state:
            self._learn(None, 0, [])
        plan = self._plan
        for done in range(self._state["weighed"], len(self._schedule)):
            model, number = self._schedule[done]
            name = f"{model} round {number}"
            self._run.claim(*plan.round_files(done + 1))
            by_part = self._over_parts(name, training_tasks.expect, [(done, model)] * plan.parts)
            forward, reverse, levels, words = map(sum, zip(*by_part, strict=True))
            self._state |= {"levels": levels, "text_words": words}
            likelihoods = [forward / LIKELIHOOD_UNITS, reverse / LIKELIHOOD_UNITS]
            self._learn(model, done + 1, [[model, number, *likelihoods]])
            self._run.drop(*plan.round_files(done))

    def _learn(self, model: str | None, done: int, history: list[list[Any]]) -> None:
        """Compute the weights of the next round from the expected links after `done` rounds.

        `model` is that of the last round; None before the first one.
        """
        plan = self._plan
        stems = 0
        if self._settings.stem_weight > 0:
            stems = self._state["words"][1][1]
        last = done == len(self._schedule)
        self._run.claim(*plan.round_files(done))
        self._over_shards(training_tasks.add_counts, done)
        self._each(training_tasks.add_parts, ["the sums"], [(plan, done, model, stems)])
        self._over_shards(training_tasks.weigh, done, last)
        self._each(training_tasks.add_shards, ["the totals"], [(plan, done)])
        self._keep(weighed=done, history=self._state["history"] + history)

    def finish(self, save: str | None, outputs: PartOutputs) -> None:
        """Write the model and the links."""
        plan = self._plan
        done = len(self._schedule)
        jumping = any(model == "hmm" for model, _ in self._schedule)
        levels = self._state.get("levels", 0)
        words = self._state.get("text_words", 0)
        text = training_tasks.training_text(plan, done, levels, words)
        if save is not None:
            memory = self._claim("memory", plan.parts)
            self._over_parts("remembering", training_tasks.remember, [(done,)] * plan.parts)
            training_tasks.write_model(plan, save, done, self._history, jumping, text)
            self._run.drop(*memory)
        if outputs.some:
            paths = outputs.files(self._parts)
            given = [(done, jumping, text, files, outputs.how) for files in paths]
            with outputs.naming_written(self._parts):
                self._over_parts("aligning", training_tasks.write_links, given)

    def summary(self, source_words: int, target_words: int) -> TrainedParts:
        """Return a summary of the training."""
        plan = self._plan
        state = self._state
        encoding = None
        if "encoded" in state:
            encoding = counts_from(state["encoded"])
        return TrainedParts(
            history=self._history,
            pairs=plan.pairs,
            cells=sum(cells for _, cells in state["sizes"]),
            source_words=source_words,
            target_words=target_words,
            source_types=plan.sizes[0],
            target_types=plan.sizes[1],
            word_pairs=sum(state["places"]),
            entries_met=state["entries"],
            parts=plan.parts,
            shards=plan.shards,
            encoding=encoding,
        )

    @property
    def _history(self) -> tuple[Round, ...]:
        """The rounds that are done."""
        return tuple(Round(*row) for row in self._state["history"])

    def _keep(self, **values: object) -> None:
        """Record values in the file of the finished stages."""
        self._state |= values
        self._run.write(self._state, _STATE)

    def _claim(self, kind: str, count: int) -> list[str]:
        """Register and return the files of a kind, by number."""
        files = [self._plan.file(kind, k) for k in range(count)]
        self._run.claim(*files)
        return files

    def _over_parts(
        self, name: str, function: Callable[..., T], given: Sequence[tuple[Any, ...]]
    ) -> list[T]:
        """Call a function for each part: with the plan, its number, and what is given for it."""
        tasks = [(self._plan, k, *more) for k, more in enumerate(given)]
        return self._each(function, list(map(str, self._parts)), tasks, stage=name)

    def _over_shards(self, function: Callable[..., T], *given: Any) -> list[T]:
        """Call a function for each shard: with the plan, its number, and what is given."""
        numbers = range(self._plan.shards)
        tasks = [(self._plan, k, *given) for k in numbers]
        return self._each(function, [f"shard {k + 1}" for k in numbers], tasks)

    def _each(
        self,
        function: Callable[..., T],
        names: Sequence[str],
        tasks: Sequence[tuple[Any, ...]],
        *,
        memory: int = 0,
        stage: str = "",
    ) -> list[T]:
        """Do tasks with names, which messages use; return their values.

        memory : What a task needs besides words and word pairs.
        stage : The name of a stage, which has a task for each part: the largest one is started
            first, and progress is reported.
        """
        sizes = self._state.get("sizes", [(0, 0)])
        pairs, cells = map(max, zip(*sizes, strict=True))
        places = max(self._state.get("places", [0]))
        needs = memory + worker_memory(pairs, cells, places)
        count = len(tasks)
        order = list(range(count))
        if stage:
            order.sort(key=lambda k: -sizes[k][1])
        # a worker keeps what it has read of a part or shard: so it gets the same one in each round
        jobs = [Task(names[k], tasks[k], needs, home=home) for home, k in enumerate(order)]
        values: dict[int, T] = {}
        for place, value in self._session.each(function, jobs):
            values[order[place]] = value
            if stage and self._progress is not None:
                text = f"{stage}: {len(values):,} of {count:,} parts"
                self._progress(self._stage * count + len(values), self.stages * count, text)
        if stage:
            self._stage += 1
        return [values[k] for k in range(count)]


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
    encoder: Encoder | str | os.PathLike[str] | None = None,
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
    encoder : As in `Aligner.train`, a folder that all workers see; a function cannot be sent to
        them. Each worker encodes its parts, and keeps what it computed in its own folder.
    shards : Number of shards for word pairs; it does not affect the result. None: as memory allows.

    Raises
    ------
    AlignkitError : If something cannot be read, written, or computed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     german, english = Path(folder, "german.txt"), Path(folder, "english.txt")
    ...     _ = german.write_text("das haus", "utf-8")
    ...     _ = english.write_text("the house", "utf-8")
    ...     trained = train(None, str(german), str(english), work=folder, save=folder + "/model")
    >>> trained.pairs, trained.source_words
    (1, 2)
    """
    with open_session(client, wait=wait) as session:
        return train_parts(
            session,
            find_parts(source, target),
            settings or Settings(),
            work=work,
            save=save,
            outputs=PartOutputs(output),
            dictionary=dictionary,
            casefold=casefold,
            encoder=encoder,
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
    encoder: Encoder | str | os.PathLike[str] | None = None,
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
        reader = Reader(os.path.join(run.folder, "texts"), casefold, reading)
        texts = [reader.file(part.paths) for part in parts]
        run.claim(*texts)
        facts = check_parts(session, parts, reader, run=run, progress=progress)
        contents = {
            "command": "align (training)",
            "settings": asdict(settings),
            "casefold": casefold,
            "encoding": reading.encoding,
            "dictionary": sorted([*pair, float(count)] for pair, count in dictionary.items()),
            "parts": [part.name for part in parts],
            "inputs": inputs_of(parts, facts),
        }
        part_encoder = None
        if encoder is not None:
            part_encoder = PartEncoder.of(encoder, session, threads)
            contents["encoder"] = [part_encoder.used.digest, part_encoder.used.layer]
        run.settle(contents)
        training = Stages(session, run, parts, settings, progress)
        training.stages += sum([save is not None, outputs.some, part_encoder is not None])
        settled = training.merge_words(texts)
        check_sure(outputs.how, settled.threshold)
        if part_encoder is not None:
            training.encode(part_encoder, reading, casefold)
        training.divide(shards, session.threads or threads, casefold)
        training.make_shards(dictionary)
        training.rounds()
        training.finish(save, outputs)
    source_words = sum(fact.source_words for fact in facts)
    target_words = sum(fact.target_words for fact in facts)
    return training.summary(source_words, target_words)


def check_settings(settings: Settings) -> None:
    """Reject settings that need a single machine."""
    name: str
    if settings.model not in _MODELS:
        name = settings.model
        instead = f"use {' or '.join(_MODELS)}"
    elif settings.best:
        name = "best"
        instead = "leave it out"
    elif settings.inference != "collapsed":
        name = settings.inference
        instead = "use collapsed"
    else:
        return
    raise OptionError(f"{name} needs training on a single machine; over parts, {instead}")
