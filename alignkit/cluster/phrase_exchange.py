"""Write a table of phrases on many workers, in three steps with two exchanges of records.

`alignkit.cluster.phrase_buckets` says what records and buckets are. The steps are given as
functions: the first reads a part and writes its records; the second turns a bucket of the records
of all parts; the third writes the lines of a bucket of what was turned. Between the first two, the
words of all parts get shared numbers.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from alignkit.cluster.part_facts import check_parts, file_facts, inputs_of
from alignkit.cluster.part_outputs import one_file, refuse_replacing
from alignkit.cluster.parts import Part, largest_first
from alignkit.cluster.phrase_buckets import BucketExchange, cut_points
from alignkit.cluster.run import Done, Run, running
from alignkit.cluster.session import OnProgress, Session, Task
from alignkit.cluster.shared_words import number_words
from alignkit.io.atomic_files import apart, replacing_bytes
from alignkit.rules.tables.runs import ROOM
from alignkit.rules.tables.word_pool import WordPool

_PROGRAM = 300_000_000  # bytes of Python, its libraries, the kernels, and the words of a part
_SMALLER = "sort tables in less memory"
_ERRORS = 10  # parts that cannot be read, until the others are left


def memory_of(room: int) -> int:
    """Return about how many bytes a task takes that sorts within `room` bytes."""
    return _PROGRAM + room


class TablePart(NamedTuple):
    """A part of a corpus or of a table."""

    key: str  # the name of what the run writes for it
    files: Part
    table: int = 1  # which table the part belongs to: 1, or 2 if two are joined


class Step(NamedTuple):
    """A step of an exchange: a function that is applied to each thing."""

    things: str
    done: str  # what happens to them, e.g. "joined"
    function: Callable[..., Done]
    rooms: int = 1  # how many times a task sorts


class ExchangeSteps(NamedTuple):
    """The three steps; their functions get these arguments."""

    read: Step  # of a part: `TablePart`, `BucketExchange`, the number of parts
    turn: Step  # of a bucket: its number, `BucketExchange`, `SharedWords`, the cuts
    write: Step  # of a bucket: its number, `BucketExchange`, the file of all words
    marks: int = 0  # how many stand behind the 0 of a record


@dataclass(frozen=True)
class ExchangeOptions:
    """Options of an exchange."""

    room: int = ROOM  # the bytes that sorting takes in memory
    buckets: int | None = None  # how many; None: two for each worker
    work: str | None = None  # the folder of the run; see `running`
    progress: OnProgress | None = None


def exchange_records(
    session: Session,
    inputs: Sequence[TablePart],
    output: str,
    steps: ExchangeSteps,
    options: ExchangeOptions,
    *,
    contents: Mapping[str, Any],
    check: Callable[[Iterable[Any]], None] | None = None,
) -> tuple[list[Any], list[Any]]:
    """Write a table by three steps; return the values of the parts, and those of the buckets.

    `contents` describes the run: another run cannot continue it. `check` may refuse the values of
    the parts.
    """
    files = [part.files for part in inputs]
    refuse_replacing([one_file(output)], files)
    files = [part.called(session.path) for part in files]
    with running(options.work, output) as run:
        run.try_workers(session)
        facts = check_parts(session, files, file_facts, run=run)
        run.settle({**contents, "inputs": inputs_of(files, facts)})
        buckets = run.read("buckets.json")
        if buckets is None:
            buckets = options.buckets or 2 * session.workers
            run.write(buckets, "buckets.json")
        exchange = BucketExchange(run.folder, buckets, options.room, steps.marks)
        work = _Work(run, session, exchange, options.progress, len(files) + 2 * buckets)
        order = largest_first(range(len(files)), files)
        values = work.over_parts(steps.read, [inputs[k]._replace(files=files[k]) for k in order])
        if check is not None:
            check(values.values())
        words = number_words(run, session, exchange, list(values))
        samples = []
        for value in values.values():
            samples.extend(value["sample"])
        cuts = cut_points(samples, WordPool.read(words.pool), buckets)
        tallies = work.over_buckets(steps.turn, "turned", buckets, words, cuts)
        written = len(cuts) + 1
        tallies += work.over_buckets(steps.write, "lines", written, words.pool)
        with apart(), replacing_bytes(output) as out:
            for bucket in range(written):
                with open(exchange.path("lines", bucket), "rb") as lines:
                    shutil.copyfileobj(lines, out, 1 << 20)
    return list(values.values()), tallies


@dataclass
class _Work:
    """Does the steps of an exchange, and reports the progress of all of them together."""

    run: Run
    session: Session
    exchange: BucketExchange
    progress: OnProgress | None
    total: int  # tasks of all steps
    done: int = 0

    def over_parts(self, step: Step, inputs: Sequence[TablePart]) -> dict[str, Any]:
        """Do the first step for each part; return the values by key."""
        self.run.claim(*[self.exchange.path("words", part.key) for part in inputs])
        tasks = {}
        for part in inputs:
            tasks[part.key] = str(part.files), (part, self.exchange, len(inputs))
        return self._do(step, "records", tasks, _ERRORS)

    def over_buckets(self, step: Step, folder: str, count: int, *given: Any) -> list[Any]:
        """Do a step for each bucket; return the values in order."""
        tasks = {}
        for bucket in range(count):
            name = f"bucket {bucket} of {step.things}"
            tasks[str(bucket)] = name, (bucket, self.exchange, *given)
        return list(self._do(step, folder, tasks, 1).values())

    def _do(
        self, step: Step, folder: str, given: Mapping[str, tuple[str, Any]], errors: int
    ) -> dict[str, Any]:
        """Do a step with the given names and arguments; stop after so many errors."""
        memory = memory_of(step.rooms * self.exchange.room)
        tasks = {key: Task(*task, memory, _SMALLER) for key, task in given.items()}

        def report(_key: str) -> None:
            self.done += 1
            if self.progress is not None:
                self.progress(self.done, self.total, f"{step.things} are {step.done}")

        return self.run.do(self.session, folder, step.function, tasks, report, errors=errors)
